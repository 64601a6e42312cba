"""The hardware registers of a wave that s_getreg and s_setreg name, and the layouts of those registers that the
simulator assembles from its own data.
"""

from __future__ import annotations

from enum import Enum

from rocdbg.arch.targets import Generation, Target


class Register(Enum):
    """The contents of a hardware register. Registers that are not listed for a target read as 0 and ignore writes."""

    MODE = "MODE"
    STATUS = "STATUS"
    STATE_PRIV = "STATE_PRIV"
    """GFX12: SCC, priorities and HALT, which were in STATUS before."""
    TRAPSTS = "TRAPSTS"
    EXCP_FLAG_PRIV = "EXCP_FLAG_PRIV"
    EXCP_FLAG_USER = "EXCP_FLAG_USER"
    """GFX12: the arithmetic exceptions, bits 6:0 of TRAPSTS before."""
    TRAP_CTRL = "TRAP_CTRL"
    """GFX12: which exceptions trap, bits 20:12 of MODE before."""
    HW_ID = "HW_ID"
    HW_ID1 = "HW_ID1"
    HW_ID2 = "HW_ID2"
    GPR_ALLOC = "GPR_ALLOC"
    LDS_ALLOC = "LDS_ALLOC"
    SH_MEM_BASES = "SH_MEM_BASES"
    FLAT_SCR_LO = "FLAT_SCR_LO"
    FLAT_SCR_HI = "FLAT_SCR_HI"
    SHADER_CYCLES = "SHADER_CYCLES"
    SHADER_CYCLES_HI = "SHADER_CYCLES_HI"
    SCHED_MODE = "SCHED_MODE"


_EARLY = {
    1: Register.MODE, 2: Register.STATUS, 3: Register.TRAPSTS, 5: Register.GPR_ALLOC, 6: Register.LDS_ALLOC,
    15: Register.SH_MEM_BASES,
}
_SCRATCH = {20: Register.FLAT_SCR_LO, 21: Register.FLAT_SCR_HI, 23: Register.HW_ID1, 24: Register.HW_ID2}
_GFX12 = {
    1: Register.MODE, 2: Register.STATUS, 4: Register.STATE_PRIV, 5: Register.GPR_ALLOC, 6: Register.LDS_ALLOC,
    17: Register.EXCP_FLAG_PRIV, 18: Register.EXCP_FLAG_USER, 19: Register.TRAP_CTRL, **_SCRATCH,
    26: Register.SCHED_MODE, 29: Register.SHADER_CYCLES, 30: Register.SHADER_CYCLES_HI,
}

USER_WRITABLE = frozenset((Register.MODE, Register.TRAPSTS, Register.EXCP_FLAG_USER, Register.SCHED_MODE))
"""The registers that s_setreg may change outside trap handlers. On GFX10 also FLAT_SCR_LO and _HI."""


def registers(target: Target) -> dict[int, Register]:
    """The registers that a wave of the target can name, by number."""
    if target.generation >= Generation.GFX12:
        return _GFX12
    if target.generation < Generation.GFX10:
        known = {**_EARLY, 4: Register.HW_ID}
        if target.generation < Generation.GFX9:
            del known[15]
        return known
    clock = {29: Register.SHADER_CYCLES} if _has_cycles(target) else {}
    return {**_EARLY, **_SCRATCH, **clock}


def _has_cycles(target: Target) -> bool:
    """Whether the target has a cycle counter, as GFX10.3 and GFX11 do."""
    version = target.version
    return version is not None and version >= (10, 3, 0)


def writable(register: Register, target: Target) -> bool:
    """Whether s_setreg outside a trap handler changes the register."""
    if register in (Register.FLAT_SCR_LO, Register.FLAT_SCR_HI):
        return target.generation is Generation.GFX10
    return register in USER_WRITABLE


def gpr_alloc(target: Target, wave_size: int, vgprs: int, agprs: int, sgprs: int) -> int:
    """GPR_ALLOC of a wave whose registers begin at 0. ``vgprs``, ``agprs``, ``sgprs``: how many the wave has."""
    if target.generation >= Generation.GFX11:
        return _blocks(vgprs, 8 if wave_size == 32 else 4) << 12
    if target.generation >= Generation.GFX10:
        return _blocks(vgprs, 8 if wave_size == 32 else 4) << 8 | _blocks(128, 16) << 24
    if target.unified_vgprs:
        # The size counts VGPRs and AGPRs together; ACCV_OFF is where the AGPRs begin.
        return _blocks(vgprs + agprs, 8) << 6 | _blocks(vgprs, 4) << 12 | _blocks(sgprs, 16) << 24
    return _blocks(vgprs, 4) << 8 | _blocks(sgprs, 16) << 24


def _blocks(count: int, size: int) -> int:
    """The number of blocks of ``size`` registers that ``count`` registers occupy, minus one."""
    return max(0, -(-count // size) - 1)


__all__ = ["USER_WRITABLE", "Register", "gpr_alloc", "registers", "writable"]
