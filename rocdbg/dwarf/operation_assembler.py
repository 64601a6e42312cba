"""Encoding of operations into bytes: the inverse of decoding, from the same table.

    assemble(("regx", 0xa00), "push_lane", ("constu", 4), "mul", "offset")

Operations are named by their meaning (`OperationInfo.meaning`), so the same call works in every dialect.
"""

from __future__ import annotations

from functools import lru_cache

from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.operation_table import OPERATIONS, Operand, OperationInfo

__all__ = ["assemble", "encode_operand", "encode_operation", "sleb128", "uleb128"]

OperandValue = int | bytes
Item = str | tuple[str | OperandValue, ...]

_FIXED = {
    Operand.U1: (1, False),
    Operand.S1: (1, True),
    Operand.U2: (2, False),
    Operand.S2: (2, True),
    Operand.U4: (4, False),
    Operand.S4: (4, True),
    Operand.U8: (8, False),
    Operand.S8: (8, True),
    Operand.BRANCH: (2, True),
    Operand.UNIT_DIE2: (2, False),
    Operand.UNIT_DIE4: (4, False),
}


def uleb128(value: int) -> bytes:
    """The shortest unsigned LEB128 encoding of a non-negative number."""
    if value < 0:
        raise DwarfError(f"{value} is negative and cannot be encoded as unsigned LEB128")
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def sleb128(value: int) -> bytes:
    """The shortest signed LEB128 encoding of a number."""
    out = bytearray()
    while not -0x40 <= value < 0x40:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0x7F)
    return bytes(out)


@lru_cache(maxsize=1)
def _by_meaning() -> dict[tuple[str, str], OperationInfo]:
    table: dict[tuple[str, str], OperationInfo] = {}
    for row in OPERATIONS:
        for dialect in row.dialects:
            table.setdefault((row.meaning, dialect), row)
    return table


def encode_operand(kind: Operand, value: OperandValue, address_size: int, offset_size: int) -> bytes:
    """The bytes of one operand; `DwarfError` if the value does not fit its kind."""
    if isinstance(value, bytes):
        if kind is Operand.BLOCK1 and len(value) < 256:
            return bytes([len(value)]) + value
        if kind in (Operand.BLOCK, Operand.EXPRESSION):
            return uleb128(len(value)) + value
        raise DwarfError(f"a block of {len(value)} bytes cannot be encoded as an operand of kind '{kind.value}'")
    if kind is Operand.SLEB:
        return sleb128(value)
    if kind in (Operand.ULEB, Operand.REGISTER, Operand.BASE_TYPE):
        return uleb128(value)
    if kind is Operand.ADDRESS:
        size, signed = address_size, False
    elif kind is Operand.SECTION_DIE:
        size, signed = offset_size, False
    elif kind in _FIXED:
        size, signed = _FIXED[kind]
    else:
        raise DwarfError(f"the number {value} cannot be encoded as an operand of kind '{kind.value}'")
    try:
        return value.to_bytes(size, "little", signed=signed)
    except OverflowError:
        raise DwarfError(f"{value} does not fit into an operand of kind '{kind.value}'") from None


def encode_operation(
    info: OperationInfo, operands: tuple[OperandValue, ...] = (), address_size: int = 8, offset_size: int = 4
) -> bytes:
    """The bytes of one operation; `DwarfError` if the operands do not fit its row of the table."""
    if len(operands) != len(info.operands):
        raise DwarfError(f"{info.name} takes {len(info.operands)} operands, but {len(operands)} are given")
    return info.encoding + b"".join(
        encode_operand(kind, value, address_size, offset_size)
        for kind, value in zip(info.operands, operands, strict=True)
    )


def assemble(*items: Item, dialect: str = "amd", address_size: int = 8, offset_size: int = 4) -> bytes:
    """The bytes of an expression (A.7.7); items are a meaning, or a tuple of a meaning and its operands."""
    return b"".join([_assembled(item, dialect, address_size, offset_size) for item in items])


def _assemble_one(item: Item, dialect: str, address_size: int, offset_size: int) -> bytes:
    name, *operands = (item,) if isinstance(item, str) else item
    info = _by_meaning().get((str(name), dialect))
    if info is None:
        raise DwarfError(f"there is no operation '{name!s}' in dialect '{dialect}'")
    values = tuple(operand for operand in operands if not isinstance(operand, str))
    if len(values) != len(operands):
        raise DwarfError(f"operands of {info.name} must be numbers or bytes")
    return encode_operation(info, values, address_size, offset_size)


_kept = lru_cache(maxsize=4096)(_assemble_one)


def _assembled(item: Item, dialect: str, address_size: int, offset_size: int) -> bytes:
    """An operation; the most frequent ones are cached."""
    short = isinstance(item, str) or (isinstance(item, tuple) and not any(isinstance(part, bytes) for part in item))
    return (_kept if short else _assemble_one)(item, dialect, address_size, offset_size)
