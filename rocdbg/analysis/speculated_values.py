"""Detects descriptions of values that LLVM computes before it is known whether the program assigns them.

Where a branch only assigns variables, LLVM may execute its arithmetic for all lanes and select the result:

    y = ...                           v7
    if (y > 3) y = lerp(y, x)         v_fma     v8, ...           DBG_VALUE v8, although not each lane assigns
                                      v_cndmask v7, v7, v8, vcc

The DBG_VALUE of the assignment often remains after the arithmetic. A description is therefore true for only some lanes
if the code after it selects between its place and the previous place of the variable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from rocdbg.analysis.machine_state import vector_key
from rocdbg.analysis.value_flow import CONSTANT, VECTOR
from rocdbg.isa import Instruction, OperandKind

_DWORD = 0xFFFF_FFFF
_SELECTED = (("src0", "vsrc1"), ("src0", "src1"), ("ssrc0", "ssrc1"))


def is_speculated(
    instructions: Sequence[Instruction], index: int, place: int, earlier: Collection[int],
    written: Callable[[Instruction], frozenset[int]],
) -> bool:
    """Whether code of a block, from an index on, selects between a place and one of the ``earlier`` places of the same
    variable. Places are registers, numbered as in ``value_flow``, and numbers.
    """
    left = set(earlier) - {place}
    for instruction in instructions[index:]:
        if any(place in choice and not left.isdisjoint(choice) for choice in _choices(instruction)):
            return True
        changed = written(instruction)
        left -= changed
        if place in changed or not left:
            return False
    return False


def _choices(instruction: Instruction) -> Iterator[tuple[int | None, int | None]]:
    """Yield the two places between which an instruction selects; two such pairs if it has two operations."""
    name = instruction.name
    if name in ("v_cndmask_b32", "s_cselect_b32"):
        for one, other in _SELECTED:
            if instruction.operand(one) is not None and instruction.operand(other) is not None:
                yield _place(instruction, one), _place(instruction, other)
    elif instruction.encoding == "VOPD":
        for half, operation in (("x", name), ("y", instruction.modifiers.get("opy"))):
            if operation == "v_dual_cndmask_b32":
                yield _place(instruction, f"src0{half}"), _place(instruction, f"vsrc1{half}")


def _place(instruction: Instruction, name: str) -> int | None:
    operand = instruction.operand(name)
    if operand is None or operand.neg or operand.abs or operand.sext or operand.half is not None:
        return None
    if operand.kind in (OperandKind.CONSTANT, OperandKind.LITERAL):
        return CONSTANT + (operand.value & _DWORD)
    if operand.kind is OperandKind.SGPR:
        return operand.index
    key = vector_key(operand)
    return None if key is None else VECTOR + key
