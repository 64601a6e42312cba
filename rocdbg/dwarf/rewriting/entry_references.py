"""References from expressions to entries, which have to be updated when entries move.

LEB128 operands are written with a fixed number of bytes, so that positions do not depend on the values of references.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rocdbg.dwarf.decoding import Operation, decode
from rocdbg.dwarf.errors import DecodeError, DwarfError
from rocdbg.dwarf.operation_assembler import encode_operand, encode_operation, uleb128
from rocdbg.dwarf.operation_table import Operand

__all__ = ["ExpressionReference", "padded_uleb", "with_movable_references"]

_PADDED = 5
"""Bytes of a padded LEB128: they hold 35 bits, enough for 32-bit offsets."""
_DEEPEST = 16
_OF_UNIT = {Operand.BASE_TYPE, Operand.UNIT_DIE2, Operand.UNIT_DIE4}
_FIXED = {Operand.UNIT_DIE2: 2, Operand.UNIT_DIE4: 4}


class ExpressionReference(Struct, frozen=True):
    """An operand that names an entry.

    It has ``size`` bytes at ``position`` of the expression; ``is_leb`` says whether it is a padded ULEB128. ``target``
    is the entry's old offset, relative to its unit if ``of_unit``, else to the section.
    """

    position: int
    size: int
    is_leb: bool
    target: int
    of_unit: bool


def padded_uleb(value: int, size: int) -> bytes:
    """Encode an unsigned LEB128 in exactly `size` bytes. Raises `DwarfError` if the value does not fit."""
    if value >> 7 * size:
        raise DwarfError(f"{value:#x} does not fit into a LEB128 number of {size} bytes")
    return bytes(value >> 7 * i & 0x7F | (0x80 if i < size - 1 else 0) for i in range(size))


def with_movable_references(
    data: bytes, dialect: str, address_size: int, offset_size: int, depth: int = 0
) -> tuple[bytes, list[ExpressionReference]]:
    """Return the expression with references that have room for any offset, and the positions of the references.

    An expression that does not name an entry, or cannot be decoded, is unchanged.
    """
    try:
        operations = decode(data, dialect, address_size, offset_size)
    except DecodeError:
        return data, []
    if depth > _DEEPEST or not any(_refers(operation) for operation in operations):
        return data, []
    parts: list[bytes] = []
    places: dict[int, int] = {}
    references: list[ExpressionReference] = []
    at = 0
    for operation in operations:
        places[operation.offset] = at
        part, found = _moved(operation, dialect, address_size, offset_size, depth)
        references += [
            ExpressionReference(at + one.position, one.size, one.is_leb, one.target, one.of_unit) for one in found
        ]
        parts.append(part)
        at += len(part)
    places[len(data)] = at
    out = b"".join(_branch(operation, part, places) for operation, part in zip(operations, parts, strict=True))
    return out, references


def _refers(operation: Operation) -> bool:
    kinds = operation.info.operands
    return any(kind in _OF_UNIT or kind in (Operand.SECTION_DIE, Operand.EXPRESSION) for kind in kinds)


def _moved(
    operation: Operation, dialect: str, address_size: int, offset_size: int, depth: int
) -> tuple[bytes, list[ExpressionReference]]:
    """Return the bytes of an operation with room for its references, and the references' positions in it."""
    out = bytearray(operation.info.encoding)
    found: list[ExpressionReference] = []
    if not _refers(operation):
        return encode_operation(operation.info, operation.operands, address_size, offset_size), found
    for kind, value, plain in _encoded(operation, address_size, offset_size):
        if kind is Operand.EXPRESSION and isinstance(value, bytes):
            inner, inside = with_movable_references(value, dialect, address_size, offset_size, depth + 1)
            out += uleb128(len(inner))
            found += [
                ExpressionReference(len(out) + one.position, one.size, one.is_leb, one.target, one.of_unit)
                for one in inside
            ]
            out += inner
        elif kind is Operand.BASE_TYPE and isinstance(value, int) and value:  # 0 is the generic type
            found.append(ExpressionReference(len(out), _PADDED, True, value, True))
            out += padded_uleb(0, _PADDED)
        elif kind in _FIXED and isinstance(value, int):
            found.append(ExpressionReference(len(out), _FIXED[kind], False, value, True))
            out += plain
        elif kind is Operand.SECTION_DIE and isinstance(value, int):
            found.append(ExpressionReference(len(out), offset_size, False, value, False))
            out += plain
        else:
            out += plain
    return bytes(out), found


def _encoded(
    operation: Operation, address_size: int, offset_size: int
) -> Iterator[tuple[Operand, int | bytes, bytes]]:
    """The operands of an operation with their kinds, and their bytes."""
    for kind, value in zip(operation.info.operands, operation.operands, strict=True):
        yield kind, value, encode_operand(kind, value, address_size, offset_size)


def _branch(operation: Operation, part: bytes, places: dict[int, int]) -> bytes:
    """Return a branch with the new position of its target; other operations are unchanged."""
    if operation.info.operands != (Operand.BRANCH,):
        return part
    distance = operation.operands[0]
    assert isinstance(distance, int)
    target = operation.offset + operation.size + distance
    if target not in places:
        return part  # it does not lead to an operation, and is kept so
    moved = places[target] - places[operation.offset] - operation.size
    return operation.info.encoding + moved.to_bytes(2, "little", signed=True)
