"""Branches, barriers, ends, traps, waits, messages and clocks."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.isa.instruction import OperandKind
from rocdbg.sim.core.builder import I1, I32, I64, Value
from rocdbg.sim.core.layout import EXEC_LO, Status
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


def _debug_condition(i: Access, bit: int) -> Value:
    """STATUS.COND_DBG_USER (20) or COND_DBG_SYS (21), which debuggers set."""
    return (i.b.read_field("status") & 1 << bit).ne(0)


for _name, _condition in {
    "s_cbranch_cdbguser": lambda i: _debug_condition(i, 20),
    "s_cbranch_cdbgsys": lambda i: _debug_condition(i, 21),
    "s_cbranch_cdbgsys_or_user": lambda i: _debug_condition(i, 20) | _debug_condition(i, 21),
    "s_cbranch_cdbgsys_and_user": lambda i: _debug_condition(i, 20) & _debug_condition(i, 21),
}.items():
    _conditional(_name, _condition)


# Wave64 executes part of the code in two passes, one for each half of EXEC; the SGPR holds the half that waits.
@semantic("s_subvector_loop_begin", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    b = i.b
    low, high = b.read_sgpr(EXEC_LO), b.read_sgpr(EXEC_LO + 1)
    none, only_high = (low | high).eq(0), low.eq(0)
    i.dst(0, none.select(i.old(0), only_high.select(low, high)))
    b.write_sgpr(EXEC_LO + 1, only_high.select(high, 0))
    b.branch(none, _target(i))


@semantic("s_subvector_loop_end", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    b = i.b
    low, high, saved = b.read_sgpr(EXEC_LO), b.read_sgpr(EXEC_LO + 1), i.old(0)
    last = high.ne(0)
    again = ~last & saved.ne(0)
    i.dst(0, again.select(low, saved))
    b.write_sgpr(EXEC_LO, last.select(saved, again.select(0, low)))
    b.write_sgpr(EXEC_LO + 1, again.select(saved, high))
    b.branch(again, _target(i))


@semantic("s_setpc_b64", "s_set_pc_i64", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.jump(i.src(0, I64))


@semantic("s_add_pc_i64", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.jump(i.next_pc + i.src(0, I64))


@semantic("s_swappc_b64", "s_swap_pc_i64", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    target = i.src(0, I64)
    i.dst(0, i.next_pc)
    i.b.jump(target)


@semantic("s_call_b64", "s_call_i64", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.dst(0, i.next_pc)
    i.b.branch(None, _target(i))


# -- instructions that leave native code --------------------


@semantic("s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.stop(Status.END, i.pc)


@semantic("s_barrier", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.stop(Status.BARRIER)


@semantic("s_trap", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    # GFX12 keeps four bits of the number.
    i.b.write_field("trap_id", i.const(i.imm() & (0xF if i.generation >= 12 else 0xFF)))
    i.b.stop(Status.TRAP, i.pc, counted=False)


@semantic("s_rfe_b64", "s_rfe_restore_b64", "v_illegal", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    # Returns from trap handlers are privileged, and a kernel's wave is never in a trap handler.
    i.b.stop(Status.ILLEGAL, i.pc, counted=False)


@semantic("s_sleep", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.write_field("sleep", i.const(i.imm() & 0x7F))
    i.b.stop(Status.SLEEP)


@semantic("s_sleep_var", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.write_field("sleep", i.src(0) & 0x7F)
    i.b.stop(Status.SLEEP)


@semantic("s_sethalt", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    _halt(i, bool(i.imm() & 1))


@semantic("s_sendmsghalt", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    _halt(i, True)


def _halt(i: Access, halts: bool) -> None:
    """Halt the wave until a debugger resumes it."""
    if halts:
        i.b.stop(Status.HALT)
    else:
        i.b.jump(i.next_pc)


@semantic("s_setkill", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    if i.imm() & 1:
        i.b.stop(Status.END, i.pc)
    else:
        i.b.jump(i.next_pc)


_MSG_INTERRUPT = 1


@semantic("s_sendmsg", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    # Other messages have no effect here: those for geometry, for the early release of registers, and for saved waves.
    if i.imm() & (0xFF if i.generation >= 11 else 0xF) == _MSG_INTERRUPT:
        i.b.stop(Status.INTERRUPT)
    else:
        i.b.jump(i.next_pc)


# -- GFX12's split barriers: only number -1, the workgroup's barrier, exists for kernels --------------------

_WORKGROUP = -1 & 0xFFFFFFFF


def _is_workgroup(i: Access) -> bool:
    """Whether the instruction names the workgroup's barrier. The barriers that M0 can name, 0 to 31, exist on later
    targets only: no wave is a member of them."""
    operand = i.sources[0]
    return operand.kind is OperandKind.CONSTANT and operand.value & 0xFFFFFFFF == _WORKGROUP


@semantic("s_barrier_signal", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    if _is_workgroup(i):
        i.b.stop(Status.SIGNAL)
    else:
        i.b.jump(i.next_pc)


@semantic("s_barrier_signal_isfirst", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    if _is_workgroup(i):
        i.b.stop(Status.SIGNAL_FIRST)
    else:
        i.set_scc(i.const(0, I1))
        i.b.jump(i.next_pc)


@semantic("s_barrier_wait", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    if i.simm16 == -1:
        i.b.stop(Status.WAIT)
    else:
        i.b.jump(i.next_pc)


@semantic("s_get_barrier_state", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    code = i.scalar_code(i.destinations[0])
    if _is_workgroup(i) and code != i.context.null:
        i.b.write_field("requested", i.const(code))
        i.b.stop(Status.BARRIER_STATE)
    else:
        i.dst(0, i.const(0))
        i.b.jump(i.next_pc)


@semantic("s_barrier_init", "s_barrier_join")
def _(i: Access) -> None:
    """Instructions on named barriers, which these targets do not have."""


@semantic("s_barrier_leave", "s_alloc_vgpr")
def _(i: Access) -> None:
    # There are neither named barriers that could be left nor dynamic registers: SCC says that nothing was done.
    i.set_scc(i.const(0, I1))


@semantic("s_icache_inv", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    i.b.stop(Status.REFETCH)


# -- no operation: memory is coherent and in order, there are no data caches and no hazards --------------------


@semantic(
    "s_nop", "s_waitcnt", "s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt",
    "s_waitcnt_depctr", "s_wait_idle", "s_wait_event", "s_delay_alu", "s_clause", "s_inst_prefetch",
    "s_set_inst_prefetch_distance",
    "s_setprio", "s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol",
    "s_gl1_inv", "s_incperflevel", "s_decperflevel", "s_ttracedata", "s_ttracedata_imm", "s_code_end",
    "s_version", "s_wakeup", "s_dcache_discard", "s_dcache_discard_x2",
    "s_atc_probe", "s_atc_probe_buffer",
    "s_wait_loadcnt", "s_wait_samplecnt", "s_wait_bvhcnt", "s_wait_expcnt", "s_wait_storecnt", "s_wait_dscnt",
    "s_wait_kmcnt", "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt", "s_wait_alu", "s_wait_xcnt", "s_wait_asynccnt",
    "s_wait_tensorcnt", "s_setprio_inc_wg",
    "s_prefetch_inst", "s_prefetch_inst_pc_rel", "s_prefetch_data", "s_prefetch_data_pc_rel", "s_buffer_prefetch_data",
)
def _(i: Access) -> None:
    pass


@semantic(
    "buffer_wbinvl1", "buffer_wbinvl1_sc", "buffer_wbinvl1_vol", "buffer_wbl2", "buffer_invl2", "buffer_inv",
    "buffer_gl0_inv",
    "buffer_gl1_inv", "global_inv", "global_wb", "global_wbinv", "global_prefetch_b8", "flat_prefetch_b8",
    "ds_nop", "v_nop", "v_pipeflush", "v_clrexcp",
)
def _(i: Access) -> None:
    pass


# -- clocks and messages --------------------


@semantic("s_memtime", "s_memrealtime")
def _(i: Access) -> None:
    # One tick per wave-instruction: the clock advances and is the same in every run.
    operand = i.insn.operand("sdata") or i.insn.operand("sdst")
    assert operand is not None
    code = i.scalar_code(operand, 2)
    if code != i.context.null:
        i.b.write_sgpr(code, i.b.read_field("instructions"))


@semantic("s_get_waveid_in_workgroup")
def _(i: Access) -> None:
    operand = i.insn.operand("sdata")
    assert operand is not None
    code = i.scalar_code(operand)
    if code != i.context.null:
        i.b.write_sgpr(code, i.b.read_field("wave_in_group"))


_GET_REALTIME = 0x83
_GET_ZERO = frozenset((0x80, 0x81, 0x82, 0x85, 0x87))
"""Messages whose answer is 0: doorbell, dispatch id, the trap handler's memory and address, and the shader engine, of
which only number 0 exists.
"""


@semantic("s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64")
def _(i: Access) -> None:
    operand = i.insn.operand("ssrc0")
    message = operand.index if operand is not None else i.imm() & 0xFF  # an operand code on GFX11
    wide = i.name.endswith("b64")
    if message in _GET_ZERO:
        i.dst(0, i.const(0, I64 if wide else I32))
        return
    if message != _GET_REALTIME:
        raise Unsupported(f"message {message:#x}")  # for trap handlers
    clock = i.b.read_field("instructions")
    i.dst(0, clock if wide else clock.trunc(I32))
