"""Simple location expressions: those that consist of registers, a number, or the sum of both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rocdbg.analysis.machine_state import AGPR
from rocdbg.analysis.value_flow import VECTOR
from rocdbg.arch.dwarf_registers import RegisterClass, UnknownRegisterError, dwarf_register
from rocdbg.dwarf.decoding import Operation


def constant_of(operations: Sequence[Operation]) -> int | None:
    """Return the number that an expression consists of; None for other expressions."""
    if len(operations) != 2 or operations[1].info.meaning != "stack_value":
        return None
    return operations[0].literal


def places_of(operations: Sequence[Operation], wave_size: int) -> list[int | None]:
    """Return the registers of an expression that consists of whole dwords in registers; empty for other expressions."""
    pieces: list[Sequence[Operation]] = []
    start = 0
    for index, operation in enumerate(operations):
        if operation.info.meaning == "piece":
            if operation.operands[0] != 4:
                return []
            pieces.append(operations[start:index])
            start = index + 1
    if start < len(operations):
        if pieces:
            return []
        pieces.append(operations)
    found = [_register(piece, wave_size) if piece else None for piece in pieces]
    return [] if any(place is None and piece for place, piece in zip(found, pieces, strict=True)) else found


def sum_of(operations: Sequence[Operation], wave_size: int) -> tuple[int, int] | None:
    """Return the register and the constant whose sum an expression describes; a lone register has the constant 0."""
    places = places_of(operations, wave_size)
    if len(places) == 1 and places[0] is not None:
        return places[0], 0
    meanings = [operation.info.meaning for operation in operations]
    if meanings[-1:] != ["stack_value"] or "deref_size" not in meanings:
        return None
    read = meanings.index("deref_size")
    register = _register(operations[:read], wave_size) if read else None
    rest = operations[read + 1 : -1]
    if register is None or operations[read].operands[0] != 4:
        return None
    if not rest:
        return register, 0
    addend = rest[0].literal
    if len(rest) == 1 and meanings[read + 1] == "plus_uconst":
        addend = rest[0].operands[0] if isinstance(rest[0].operands[0], int) else None
    elif len(rest) != 2 or meanings[read + 2] not in ("plus", "minus"):
        return None
    if addend is None:
        return None
    return register, -addend if len(rest) == 2 and meanings[read + 2] == "minus" else addend


def has_replaced_operand(operations: Sequence[Operation]) -> bool:
    """Whether an expression combines a value with zero in a way that changes nothing.

    No compiler emits such code: LLVM has replaced the operand with zero because no instruction reads its bits, and only
    the description still needs them.
    """
    return any(
        one.literal == 0 and other.info.meaning in ("or", "xor")
        for one, other in pairwise(operations)
    )


def _register(operations: Sequence[Operation], wave_size: int) -> int | None:
    """Return a scalar register, or the lane's dword of a vector register."""
    number = operations[0].register
    try:
        register = dwarf_register(number) if number is not None else None
    except UnknownRegisterError:
        return None
    if register is None or register.wave_size not in (None, wave_size):
        return None
    rest = [(operation.info.meaning, list(operation.operands)) for operation in operations[1:]]
    if register.register_class is RegisterClass.SGPR:
        return register.index if not rest and register.index < 106 else None
    if rest != [("push_lane", []), ("lit4", []), ("mul", []), ("offset", [])]:
        return None
    if register.register_class is RegisterClass.VGPR:
        return VECTOR + register.index
    return VECTOR + AGPR + register.index if register.register_class is RegisterClass.AGPR else None
