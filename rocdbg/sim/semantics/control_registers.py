"""Hardware registers: s_getreg and s_setreg, changes of MODE, GFX9's register indexing and VSKIP."""

from __future__ import annotations

from rocdbg.sim.core.builder import I32, I64, Value
from rocdbg.sim.core.hardware_registers import Register, registers, writable
from rocdbg.sim.core.layout import GPR_IDX_EN, VGPR_MSB, VSKIP
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import Ends, semantic

_FIELDS = {
    Register.MODE: "mode",
    Register.TRAPSTS: "trapsts",
    Register.EXCP_FLAG_USER: "trapsts",
    Register.TRAP_CTRL: "trap_ctrl",
    Register.GPR_ALLOC: "gpr_alloc",
    Register.LDS_ALLOC: "lds_alloc",
    Register.SCHED_MODE: "sched_mode",
}
_COMPUTE = 1
"""The number of the micro engine that runs compute work."""


def _status(i: Access) -> Value:
    status = i.b.read_field("status") & 0xFFFFF9FE
    if i.generation < 12:
        status = status | i.scc.zext(I32)
    elif i.wave_size == 64:
        status = status | 1 << 29
    return status | i.exec.eq(0).zext(I32).shl(9) | i.vcc.eq(0).zext(I32).shl(10)


def _read(i: Access, register: Register) -> Value:
    b = i.b
    if register in _FIELDS:
        value = b.read_field(_FIELDS[register])
        return value & 0x7F if register is Register.EXCP_FLAG_USER else value
    match register:
        case Register.STATUS:
            return _status(i)
        case Register.STATE_PRIV:
            return i.scc.zext(I32).shl(9) | b.read_field("scratch_size").ne(0).zext(I32).shl(18)
        case Register.EXCP_FLAG_PRIV:
            # TRAPSTS's memory violation and illegal instruction bits, at GFX12's positions.
            trapsts = b.read_field("trapsts")
            return (trapsts.lshr(8) & 1).shl(4) | (trapsts.lshr(11) & 1).shl(6)
        case Register.SH_MEM_BASES:
            # Bits 63:48 of the apertures: private in the low half, shared in the high half.
            private, shared = b.read_env("private_aperture"), b.read_env("shared_aperture")
            return private.lshr(48).trunc(I32) | shared.lshr(48).shl(16).trunc(I32)
        case Register.FLAT_SCR_LO:
            return b.read_field("flat_scratch").trunc(I32)
        case Register.FLAT_SCR_HI:
            return b.read_field("flat_scratch").lshr(32).trunc(I32)
        case Register.SHADER_CYCLES:
            cycles = b.read_field("instructions").trunc(I32)
            return cycles if i.generation >= 12 else cycles & 0xFFFFF
        case Register.SHADER_CYCLES_HI:
            return b.read_field("instructions").lshr(32).trunc(I32)
        case Register.HW_ID:
            # All fields report the first hardware unit of a kind, so that runs are identical.
            return b.read_field("wave_in_group") & 0xF | _COMPUTE << 30
        case Register.HW_ID1:
            return b.read_field("wave_in_group") & 0x1F
        case Register.HW_ID2:
            return i.const(_COMPUTE << 8)
    raise ValueError(f"register {register.name} has no value")


def _write(i: Access, register: Register, value: Value) -> None:
    b = i.b
    if register in (Register.FLAT_SCR_LO, Register.FLAT_SCR_HI):
        base, high = b.read_field("flat_scratch"), register is Register.FLAT_SCR_HI
        wide = value.zext(I64).shl(32) if high else value.zext(I64)
        b.write_field("flat_scratch", base & (0xFFFFFFFF if high else 0xFFFFFFFF << 32) | wide)
    else:
        if register is Register.MODE and i.generation < 8:
            value = value & ~(1 << GPR_IDX_EN) & 0xFFFFFFFF  # introduced with GFX8
        b.write_field(_FIELDS[register], value)


def _slice(i: Access) -> tuple[Register | None, int, int]:
    """The register, and offset and size of its field."""
    word = i.imm()
    offset = word >> 6 & 31
    return registers(i.target).get(word & 63), offset, min((word >> 11 & 31) + 1, 32 - offset)


@semantic("s_getreg_b32")
def _(i: Access) -> None:
    register, offset, size = _slice(i)
    if register is None:
        i.dst(0, i.const(0))
    else:
        i.dst(0, _read(i, register).lshr(offset) & (1 << size) - 1)


def _setreg(i: Access, value: Value) -> None:
    register, offset, size = _slice(i)
    if register is not None and writable(register, i.target):
        field = ((1 << size) - 1) << offset
        merged = _read(i, register) & ~field & 0xFFFFFFFF | value.shl(offset) & field
        _write(i, register, merged)
    i.b.jump(i.next_pc)


@semantic("s_setreg_b32", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    operand = i.insn.operand("sdst") or i.insn.operand("ssrc0")
    assert operand is not None
    _setreg(i, i.raw_operand(operand))


@semantic("s_setreg_imm32_b32", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    operand = i.insn.operand("literal")
    assert operand is not None
    _setreg(i, i.raw_operand(operand))


def _set_mode_bits(i: Access, shift: int) -> None:
    mode = i.b.read_field("mode")
    i.b.write_field("mode", mode & ~(15 << shift) & 0xFFFFFFFF | (i.imm() & 15) << shift)
    i.b.jump(i.next_pc)


@semantic("s_round_mode", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    _set_mode_bits(i, 0)


@semantic("s_denorm_mode", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    _set_mode_bits(i, 4)


@semantic("s_setvskip", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    """Skip vector instructions from here on if the bit of source 0 that source 1 names is set."""
    bit = i.src(0).lshr(i.src(1) & 31) & 1
    mode = i.b.read_field("mode")
    i.b.write_field("mode", mode & ~(1 << VSKIP) & 0xFFFFFFFF | bit.shl(VSKIP))
    i.b.jump(i.next_pc)


@semantic("s_set_vgpr_msb", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    """Set the highest bits of VGPR numbers: of three sources and the destination, which comes first in MODE."""
    places = i.imm() & 0xFF
    banks = (places >> 6 | places << 2) & 0xFF
    mode = i.b.read_field("mode")
    i.b.write_field("mode", mode & ~(0xFF << VGPR_MSB) & 0xFFFFFFFF | banks << VGPR_MSB)
    i.b.jump(i.next_pc)


# -- GFX9's register indexing: MODE.GPR_IDX_EN, operands in M0[15:12], index in M0[7:0] --------------------


def _set_indexing(i: Access, *, enable: bool | None, operands: Value | None, index: Value | None) -> None:
    b, m0 = i.b, i.m0
    if enable is not None:
        mode = b.read_field("mode") & ~(1 << GPR_IDX_EN) & 0xFFFFFFFF
        b.write_field("mode", mode | enable << GPR_IDX_EN)
    if operands is not None:
        m0 = m0 & 0xFFFF0FFF | operands.shl(12)
    if index is not None:
        m0 = m0 & 0xFFFFFF00 | index & 0xFF
    b.write_sgpr(i.context.m0, m0)
    b.jump(i.next_pc)


@semantic("s_set_gpr_idx_on", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    _set_indexing(i, enable=True, operands=i.const(i.imm("ssrc1") & 15), index=i.src(0))


@semantic("s_set_gpr_idx_off", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    _set_indexing(i, enable=False, operands=None, index=None)


@semantic("s_set_gpr_idx_mode", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    _set_indexing(i, enable=None, operands=i.const(i.imm() & 15), index=None)


@semantic("s_set_gpr_idx_idx", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    _set_indexing(i, enable=None, operands=None, index=i.src(0))


