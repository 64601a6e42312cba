"""Detects descriptions whose constant counts an advance of the register twice.

In a loop that LLVM has rewritten, the register that holds a counter often differs from the variable by a constant:

    dg is v7 - 1            v_add_u32  v7, -1, v7
                            ...
    --dg: dg is v7 - 2      s_cbranch  loop

The second description refers to v7 before the addition, a value that the coalesced register no longer holds: the
variable is v7 - 1 again. If one description is right in each iteration, the variable advances by the same step as the
register. After the instruction that advances the register, the variable is therefore the register plus the constant
minus the step until the program assigns the variable. A description whose constant includes the step counts the step
twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from rocdbg.analysis.control_flow import Block
from rocdbg.analysis.mask_effects import Number, OwnLane, term_of
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.analysis.scheduled_code import Extent
from rocdbg.analysis.value_flow import VECTOR
from rocdbg.isa import Flow, Instruction, Operand

_DWORD: Final = 0xFFFF_FFFF
_MOST_BLOCKS: Final = 64
_ADDITIONS: Final = frozenset({
    "v_add_u32", "v_add_nc_u32", "v_add_co_u32", "s_add_u32", "s_add_i32", "s_add_co_u32", "s_add_co_i32",
    "v_dual_add_nc_u32",
})
_DIFFERENCES: Final = frozenset({
    "v_sub_u32", "v_sub_nc_u32", "v_sub_co_u32", "s_sub_u32", "s_sub_i32", "s_sub_co_u32", "s_sub_co_i32",
})
_REVERSED: Final = frozenset({"v_subrev_u32", "v_subrev_nc_u32", "v_subrev_co_u32"})
_TO_ITSELF: Final = frozenset({"s_addk_i32", "s_addk_co_i32"})


class Sum(Struct, frozen=True):
    """A variable described by a register, numbered as in ``value_flow``, plus a constant."""

    extent: Extent
    register: int
    addend: int


def is_advanced_twice(
    analysis: Analysis, before: Mapping[int, Sequence[int]], written: Callable[[Instruction], frozenset[int]],
    described: Sum, others: Sequence[Sum],
) -> bool:
    """Whether the constant of a description includes a step by which its register has been advanced already.

    ``others`` are all descriptions of the variable by a register plus a constant. Only instructions that certainly ran
    before the description are considered; ``before`` has the predecessors of each block.
    """
    place = analysis.place_of(described.extent[0])
    if place is None:
        return False
    start, index = place
    for _ in range(_MOST_BLOCKS):
        block: Block = analysis.blocks[start]
        for instruction in reversed(block.instructions[:index]):
            if instruction.flow is Flow.CALL:
                return False
            if described.register in written(instruction):
                step = step_of(instruction, described.register)
                return step is not None and step != 0 and any(
                    other.register == described.register
                    and other.extent[0] <= instruction.address < other.extent[1]
                    and (other.addend + step - described.addend) & _DWORD == 0
                    for other in others
                )
        sources = before.get(start, ())
        if len(sources) != 1 or sources[0] == start:
            return False
        start = sources[0]
        index = len(analysis.blocks[start].instructions)
    return False


def step_of(instruction: Instruction, register: int) -> int | None:
    """The number (modulo 2^32) that an instruction adds to a register; None if it does not add a constant to it."""
    if instruction.encoding == "VOPD":
        for half, operation in (("x", instruction.name), ("y", instruction.modifiers.get("opy"))):
            if _register(instruction.operand(f"vdst{half}")) == register:
                first, second = instruction.operand(f"src0{half}"), instruction.operand(f"vsrc1{half}")
                return _sum(str(operation), first, second, register)
        return None
    destination = next((one for one in instruction.operands if one.name in ("vdst", "sdst")), None)
    if instruction.modifiers or _register(destination) != register:
        return None
    rest = [one for one in instruction.operands if one.name not in ("vdst", "sdst")]
    if instruction.name in _TO_ITSELF:
        immediate = instruction.operand("simm16")
        return None if immediate is None else ((immediate.value & 0xFFFF ^ 0x8000) - 0x8000) & _DWORD
    return _sum(instruction.name, rest[0], rest[1], register) if len(rest) == 2 else None


def _sum(name: str, first: Operand | None, second: Operand | None, register: int) -> int | None:
    if name in _REVERSED:
        name, first, second = "v_sub_u32", second, first
    if name not in _ADDITIONS | _DIFFERENCES:
        return None
    number, other = _number(second), _register(first)
    if number is None and name in _ADDITIONS:
        number, other = _number(first), _register(second)
    if number is None or other != register:
        return None
    return number if name in _ADDITIONS else -number & _DWORD


def _number(operand: Operand | None) -> int | None:
    term = None if operand is None else term_of(operand)
    return term.value if isinstance(term, Number) else None


def _register(operand: Operand | None) -> int | None:
    term = None if operand is None or operand.dwords != 1 else term_of(operand)
    if isinstance(term, OwnLane):
        return VECTOR + term.register
    return term if isinstance(term, int) else None
