"""Writing call frame information: .debug_frame from rows of rules (A.6.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rocdbg.dwarf.cfi_rule_types import (
    CfaExpression,
    CfaRule,
    ExpressionRule,
    OffsetRule,
    RegisterRule,
    Rule,
    SameValueRule,
    UndefinedRule,
    ValExpressionRule,
    ValOffsetRule,
)
from rocdbg.dwarf.cfi_unwinding import Row
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.operation_assembler import sleb128, uleb128

__all__ = ["AUGMENTATION", "debug_frame"]

AUGMENTATION = "[amd:v0.0]"
"""The augmentation of a CIE whose instructions and expressions are in dialect "amd"."""

_CODE_FACTOR = 4
_DATA_FACTOR = 4
"""Both factors are those of the AMDGPU usage guide, "Call Frame Information". Rules may change within a call
instruction, because a caller's PC is there: `DW_CFA_set_loc` sets such addresses, which are not a multiple of the code
factor.
"""


def debug_frame(
    functions: Iterable[Sequence[Row]], return_address_register: int, *, address_size: int = 8, before: int = 0
) -> bytes:
    """Return a CIE and an FDE for each function. A function's rows must be in ascending order, without gaps, and in
    dialect "amd".

    ``before`` is how many bytes the section already has. Raises `DwarfError` for rows that break these rules.
    """
    cie = b"\xff\xff\xff\xff\x04" + AUGMENTATION.encode() + b"\0" + bytes([address_size, 0])
    cie += uleb128(_CODE_FACTOR) + sleb128(_DATA_FACTOR) + uleb128(return_address_register)
    out = bytearray(_entry(cie, address_size))
    for rows in functions:
        start, end = rows[0].start, rows[-1].end
        fde = before.to_bytes(4, "little") + start.to_bytes(address_size, "little")
        fde += (end - start).to_bytes(address_size, "little") + _instructions(rows, address_size)
        out += _entry(fde, address_size)
    if before + len(out) > 0xFFFFFFF0:
        raise DwarfError("the call frame information is too large for the 32-bit DWARF format")
    return bytes(out)


def _entry(body: bytes, address_size: int) -> bytes:
    """An entry with its length, padded with DW_CFA_nop."""
    body += bytes(-(len(body) + 4) % address_size)
    return len(body).to_bytes(4, "little") + body


def _instructions(rows: Sequence[Row], address_size: int) -> bytes:
    out = bytearray()
    reached = rows[0].start  # the location to which the instructions have advanced
    follows = reached
    cfa: CfaRule | None = None
    rules: Mapping[int, Rule] = {}
    for row in rows:
        if row.dialect != "amd" or row.start != follows or row.end <= row.start:
            raise DwarfError(
                f"the row at {row.start:#x} does not begin where the one before it ends, or has another dialect"
            )
        changes = bytearray()
        if row.cfa != cfa:
            if row.cfa is None:
                raise DwarfError(
                    f"the row at {row.start:#x} has no rule for the canonical frame address, but earlier rows have one"
                )
            changes += _cfa(row.cfa)
        for number in sorted(rules.keys() | row.rules.keys()):
            rule = row.rules.get(number)
            if rule != rules.get(number):
                changes += _rule(number, rule)
        if changes:
            if row.start != reached:
                out += _advance(reached, row.start, address_size)
            reached = row.start
            out += changes
        cfa, rules, follows = row.cfa, row.rules, row.end
    return bytes(out)


def _advance(reached: int, start: int, address_size: int) -> bytes:
    distance, rest = divmod(start - reached, _CODE_FACTOR)
    if rest:
        return b"\x01" + start.to_bytes(address_size, "little")
    if distance < 0x40:
        return bytes([0x40 | distance])
    for code, size in ((0x02, 1), (0x03, 2), (0x04, 4)):
        if distance >> 8 * size == 0:
            return bytes([code]) + distance.to_bytes(size, "little")
    raise DwarfError(f"the location cannot be advanced by {start - reached} bytes in one instruction")


def _block(data: bytes) -> bytes:
    return uleb128(len(data)) + data


def _cfa(rule: CfaRule) -> bytes:
    if isinstance(rule, CfaExpression):
        return b"\x0f" + _block(rule.expression)
    space = rule.address_space
    if rule.displacement >= 0:
        if space is None:
            return b"\x0c" + uleb128(rule.register) + uleb128(rule.displacement)
        return b"\x30" + uleb128(rule.register) + uleb128(rule.displacement) + uleb128(space)
    factored = _factored(rule.displacement)
    if space is None:
        return b"\x12" + uleb128(rule.register) + sleb128(factored)
    return b"\x31" + uleb128(rule.register) + sleb128(factored) + uleb128(space)


def _factored(offset: int) -> int:
    if offset % _DATA_FACTOR:
        raise DwarfError(f"the offset {offset} in a rule is not a multiple of the data alignment factor {_DATA_FACTOR}")
    return offset // _DATA_FACTOR


def _rule(number: int, rule: Rule | None) -> bytes:
    register = uleb128(number)
    match rule:
        case None | SameValueRule():
            return b"\x08" + register
        case UndefinedRule():
            return b"\x07" + register
        case RegisterRule(register=other):
            return b"\x09" + register + uleb128(other)
        case OffsetRule(offset=offset):
            return b"\x11" + register + sleb128(_factored(offset))
        case ValOffsetRule(offset=offset):
            return b"\x15" + register + sleb128(_factored(offset))
        case ExpressionRule(expression=data):
            return b"\x10" + register + _block(data)
        case ValExpressionRule(expression=data):
            return b"\x16" + register + _block(data)
