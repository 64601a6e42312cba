"""Checks what operands of operations refer to (A.2.5.4), whether or not an evaluation reaches them."""

from __future__ import annotations

from collections.abc import Container, Iterator

from rocdbg.dwarf.decoding import Operation, decode
from rocdbg.dwarf.errors import DwarfError, missing_address
from rocdbg.dwarf.info.constants import Tag
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.operation_table import Operand
from rocdbg.dwarf.reader.content import base_type

__all__ = ["operand_problems"]

_OF_UNIT = (Operand.UNIT_DIE2, Operand.UNIT_DIE4)
_GENERIC = ("convert", "reinterpret")
"""Operations for which type 0 is the generic type."""
_COUNTED = ("extend", "select_bit_piece")
_INDEXED = ("addrx", "constx")
_MOST_LEVELS = 8


def operand_problems(
    data: bytes, unit: Unit, entries: Container[int], level: int = 0
) -> Iterator[str]:
    """Yield the errors in the operands of an expression that can be decoded; ``entries`` holds the offsets of all
    entries.
    """
    operations = decode(data, unit.dialect, address_size=unit.address_size, offset_size=unit.offset_size)
    begins = {operation.offset for operation in operations} | {len(data)}
    for operation in operations:
        if operation.info.operands == (Operand.BRANCH,):
            yield from _branch_problem(operation, begins)
        for kind, operand in zip(operation.info.operands, operation.operands, strict=False):
            words = _problem(operation, kind, operand, unit, entries)
            if words is not None:
                yield f"{operation.name} at offset {operation.offset:#x}: {words}"
            if kind is Operand.EXPRESSION and isinstance(operand, bytes) and level < _MOST_LEVELS:
                try:
                    yield from operand_problems(operand, unit, entries, level + 1)
                except DwarfError as error:
                    yield f"{operation.name} at offset {operation.offset:#x}: in its operand: {error.detail}"


def _branch_problem(operation: Operation, begins: Container[int]) -> Iterator[str]:
    """Yield an error for a branch that does not lead to an operation or to the end (A.2.5.4.2), whether or not it is
    taken.
    """
    [distance] = operation.operands
    assert isinstance(distance, int)
    target = operation.offset + operation.size + distance
    if target not in begins:
        yield f"{operation.name} at offset {operation.offset:#x}: it leads to {target:#x}, where no operation begins"


def _problem(
    operation: Operation, kind: Operand, operand: int | bytes, unit: Unit, entries: Container[int]
) -> str | None:
    meaning = operation.info.meaning
    if isinstance(operand, bytes):
        return None
    if kind is Operand.BASE_TYPE:
        if not operand and meaning in _GENERIC:
            return None
        return _type_problem(operation, operand, unit, entries)
    if kind in _OF_UNIT and unit.offset + operand not in entries:
        return f"there is no entry at offset {operand:#x} of the unit"
    if kind is Operand.SECTION_DIE and operand and unit.reference_base + operand not in entries:
        return f"there is no entry at offset {operand:#x}"
    if meaning in _COUNTED and not operand:
        return "neither the size nor the count may be 0"
    if meaning in _INDEXED and operand >= len(unit.debug_addr):
        return missing_address(operand, len(unit.debug_addr))
    return None


def _type_problem(operation: Operation, offset: int, unit: Unit, entries: Container[int]) -> str | None:
    if unit.offset + offset not in entries:
        return f"there is no entry at offset {offset:#x} of the unit"
    die = unit.die(offset)
    if die.tag != Tag.BASE_TYPE:
        return f"the entry at offset {offset:#x} of the unit is not a base type"
    type_ = base_type(die)
    if type_ is None:
        return None
    first, *rest = operation.operands
    size = None
    if operation.info.meaning in ("deref_type", "xderef_type") and isinstance(first, int):
        size = first
    elif operation.info.meaning == "const_type" and rest and isinstance(rest[0], bytes):
        size = len(rest[0])
    if size is not None and size != type_.byte_size:
        return f"the operand has {size} bytes, but base type '{type_.name}' has {type_.byte_size}"
    return None
