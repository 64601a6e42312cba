"""Which instructions change the program counter, and how."""

from __future__ import annotations

from rocdbg.isa.instruction import Flow, Instruction, OperandKind

_FLOWS = {
    "s_branch": Flow.BRANCH,
    "s_call_b64": Flow.CALL, "s_swappc_b64": Flow.CALL, "s_swap_pc_i64": Flow.CALL, "s_call_i64": Flow.CALL,
    "s_setpc_b64": Flow.INDIRECT, "s_set_pc_i64": Flow.INDIRECT, "s_rfe_b64": Flow.INDIRECT, "s_rfe_i64": Flow.INDIRECT,
    "s_add_pc_i64": Flow.INDIRECT,
    "s_rfe_restore_b64": Flow.INDIRECT, "s_cbranch_join": Flow.INDIRECT, "s_cbranch_g_fork": Flow.INDIRECT,
    "s_trap": Flow.TRAP,
    "s_subvector_loop_begin": Flow.COND_BRANCH, "s_subvector_loop_end": Flow.COND_BRANCH,
}


def flow_of(name: str) -> Flow:
    """The control flow of the instruction ``name`` (without encoding suffix)."""
    if flow := _FLOWS.get(name):
        return flow
    if name.startswith("s_cbranch_"):
        return Flow.COND_BRANCH
    if name.startswith("s_endpgm"):
        return Flow.END
    return Flow.NEXT


def branch_distance(instruction: Instruction) -> int | None:
    """Distance in dwords from the next instruction to the target of a direct branch or call, otherwise None."""
    if instruction.flow not in (Flow.BRANCH, Flow.COND_BRANCH, Flow.CALL):
        return None
    for operand in instruction.operands:
        if operand.name == "simm16" and operand.kind is OperandKind.IMMEDIATE:
            return operand.value - 0x10000 if operand.value & 0x8000 else operand.value
    return None
