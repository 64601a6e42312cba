"""Branches, barriers, ends, traps, waits and hardware registers."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.builder import I32, I64, Value
from rocdbg.sim.layout import GPR_IDX_EN, Status
from rocdbg.sim.semantics.access import Access, Unsupported
from rocdbg.sim.semantics.registry import Ends, semantic

# -- branches --------------------


def _target(i: Access) -> int:
    if i.insn.branch_target is None:
        raise Unsupported(f"{i.insn.text}: no branch target")
    return i.insn.branch_target


def _conditional(name: str, condition: Callable[[Access], Value]) -> None:
    @semantic(name, ends=Ends.ALWAYS)
    def _(i: Access) -> None:
        i.b.branch(condition(i), _target(i))


for _name, _condition in {
    "s_cbranch_scc0": lambda i: ~i.scc,
    "s_cbranch_scc1": lambda i: i.scc,
    "s_cbranch_vccz": lambda i: i.vcc.eq(0),
    "s_cbranch_vccnz": lambda i: i.vcc.ne(0),
    "s_cbranch_execz": lambda i: i.exec.eq(0),
    "s_cbranch_execnz": lambda i: i.exec.ne(0),
}.items():
    _conditional(_name, _condition)


@semantic("s_branch", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.branch(None, _target(i))


# The debugger's conditions (SYS, USER) are never set here.
@semantic(
    "s_cbranch_cdbgsys", "s_cbranch_cdbguser", "s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user",
    ends=Ends.ALWAYS,
)  # fmt: skip
def _(i: Access) -> None:
    i.b.jump(i.next_pc)


@semantic("s_setpc_b64", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.jump(i.src(0, I64))


@semantic("s_swappc_b64", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    target = i.src(0, I64)
    i.dst(0, i.next_pc)
    i.b.jump(target)


@semantic("s_call_b64", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.dst(0, i.next_pc)
    i.b.branch(None, _target(i))


# -- what leaves native code --------------------


@semantic("s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.stop(Status.END, i.pc)


@semantic("s_barrier", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.stop(Status.BARRIER)


@semantic("s_trap", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.write_field("trap_id", i.const(i.imm() & 0xFF))
    i.b.stop(Status.TRAP, i.pc, counted=False)


@semantic("s_sleep", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.write_field("sleep", i.const(i.imm() & 0x7F))
    i.b.stop(Status.SLEEP)


# -- nothing to do: memory is coherent and in order, there are no caches and no hazards --------------------


@semantic(
    "s_nop", "s_waitcnt", "s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt",
    "s_waitcnt_depctr", "s_wait_idle", "s_wait_event", "s_delay_alu", "s_clause", "s_inst_prefetch",
    "s_set_inst_prefetch_distance",
    "s_setprio", "s_sethalt", "s_icache_inv", "s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol",
    "s_gl1_inv", "s_incperflevel", "s_decperflevel", "s_ttracedata", "s_ttracedata_imm", "s_sendmsg", "s_code_end",
    "s_version", "s_setkill", "s_wakeup", "s_dcache_discard", "s_dcache_discard_x2",
    "s_atc_probe", "s_atc_probe_buffer",
)  # fmt: skip
def _(i: Access) -> None:
    pass


@semantic(
    "buffer_wbinvl1", "buffer_wbinvl1_vol", "buffer_wbl2", "buffer_invl2", "buffer_inv", "buffer_gl0_inv",
    "buffer_gl1_inv",
    "ds_nop", "v_nop", "v_pipeflush", "v_clrexcp",
)  # fmt: skip
def _(i: Access) -> None:
    pass


# -- hardware registers --------------------

MODE, STATUS, TRAPSTS, HW_ID, GPR_ALLOC, LDS_ALLOC = 1, 2, 3, 4, 5, 6
SH_MEM_BASES, FLAT_SCR_LO, FLAT_SCR_HI, HW_ID1, HW_ID2, SHADER_CYCLES = 15, 20, 21, 23, 24, 29
_FIELDS = {
    MODE: "mode", STATUS: "status", TRAPSTS: "trapsts", HW_ID: "hw_id", HW_ID1: "hw_id",
    GPR_ALLOC: "gpr_alloc", LDS_ALLOC: "lds_alloc",
}  # fmt: skip


def _read_register(i: Access, number: int) -> Value:
    b = i.b
    if number == STATUS:
        status = b.read_field("status") & ~0x603 & 0xFFFFFFFF
        status = status | i.scc.zext(I32)
        status = status | i.exec.eq(0).zext(I32).shl(9)
        return status | i.vcc.eq(0).zext(I32).shl(10)
    if number in _FIELDS:
        return b.read_field(_FIELDS[number])
    if number == SH_MEM_BASES:
        # Bits 63:48 of the apertures: private in the low half, shared in the high half.
        private, shared = b.read_env("private_aperture"), b.read_env("shared_aperture")
        return private.lshr(48).trunc(I32) | shared.lshr(48).shl(16).trunc(I32)
    if number in (FLAT_SCR_LO, FLAT_SCR_HI):
        base = b.read_field("flat_scratch")
        return (base if number == FLAT_SCR_LO else base.lshr(32)).trunc(I32)
    if number == SHADER_CYCLES and i.generation >= 10:
        return b.read_field("instructions").trunc(I32) & 0xFFFFF
    if number == HW_ID2:
        return i.const(0)
    raise Unsupported(f"hardware register {number}")


def _write_register(i: Access, number: int, value: Value) -> None:
    b = i.b
    if number in (MODE, TRAPSTS):
        b.write_field(_FIELDS[number], value)
    elif number == STATUS:
        b.write_field("status", value)
    elif number in (FLAT_SCR_LO, FLAT_SCR_HI) and i.generation == 10:
        base, shift = b.read_field("flat_scratch"), 0 if number == FLAT_SCR_LO else 32
        kept = base & (0xFFFFFFFF << 32 if shift == 0 else 0xFFFFFFFF)
        wide = value.zext(I64)
        b.write_field("flat_scratch", kept | (wide.shl(shift) if shift else wide))
    else:
        raise Unsupported(f"write to hardware register {number}")


def _slice(i: Access) -> tuple[int, int, int]:
    word = i.imm()
    return word & 63, word >> 6 & 31, (word >> 11 & 31) + 1


@semantic("s_getreg_b32")
def _(i: Access) -> None:
    number, offset, size = _slice(i)
    value = _read_register(i, number)
    i.dst(0, value.lshr(offset) & (1 << size) - 1)


def _setreg(i: Access, value: Value) -> None:
    number, offset, size = _slice(i)
    field = ((1 << size) - 1) << offset & 0xFFFFFFFF
    merged = _read_register(i, number) & ~field & 0xFFFFFFFF | value.shl(offset) & field
    _write_register(i, number, merged)
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


# -- clocks and messages --------------------


@semantic("s_memtime", "s_memrealtime")
def _(i: Access) -> None:
    # One tick per wave-instruction: advances, and is the same in every run.
    operand = i.insn.operand("sdata") or i.insn.operand("sdst")
    assert operand is not None
    i.b.write_sgpr(i.scalar_code(operand), i.b.read_field("instructions"))


_GET_DOORBELL, _GET_REALTIME = 0x80, 0x83


@semantic("s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64")
def _(i: Access) -> None:
    operand = i.insn.operand("ssrc0")
    message = operand.index if operand is not None else i.imm() & 0xFF  # an operand code on GFX11
    if message == _GET_DOORBELL:
        i.dst(0, i.const(0, I64 if i.name.endswith("b64") else I32))
        return
    if message != _GET_REALTIME:
        raise Unsupported(f"message {message:#x}")
    clock = i.b.read_field("instructions")
    i.dst(0, clock if i.name.endswith("b64") else clock.trunc(I32))
