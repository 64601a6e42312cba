"""Facts about source operands: constants, the float types as which a text reads them, and the source lanes of DPP."""

from __future__ import annotations

import re

from tests.sim.pcode import values as v
from tests.sim.pcode.words import FLOAT_CONSTANTS, INVERSE_TWO_PI


def constant(code: int, bits: int, kind: str, literal: int | None, target: str) -> int:
    """An inline constant or literal as the operand's bits. ``kind``: the operand's format (F16, PK2_I16, B64 ...)."""
    scalar = {"F16": 16, "BF16": 16, "F32": 32, "F64": 64}.get(kind)
    if code == 255:
        assert literal is not None
        if bits <= 32:
            return literal & (1 << bits) - 1
        if kind == "F64":
            return literal << 32
        if kind == "I64" and literal >> 31:
            return literal | 0xFFFFFFFF << 32
        return literal
    if 128 <= code <= 208:
        number = code - 128 if code <= 192 else 192 - code
        if bits == 32 and kind in ("PK2_F16", "PK2_BF16", "PK_F16"):
            return number & 0xFFFFFFFF
        if kind == "PK2_F32":
            return number & 0xFFFFFFFF  # the upper number is 0
        return number & (1 << bits) - 1
    if kind in ("PK2_F16", "PK_F16"):
        size = 16
    elif kind in ("PK2_BF16",) or kind == "BF16":
        return value_bits(code, 32) >> 16
    elif scalar:
        size = scalar
    else:
        size = min(bits, 64) if bits in (16, 32, 64) else 32
    if kind == "PK2_F32":
        size = 32
    return value_bits(code, size)


def value_bits(code: int, size: int) -> int:
    if code == 248:
        return INVERSE_TWO_PI[size]
    return int(v.from_float(FLOAT_CONSTANTS[code], "f", size, 0).raw)  # type: ignore[call-overload]


_USES = re.compile(r"\b(S[012]|D0|SIMM32|SIMM16)((?:\.\w+|\[[^][]*(?:\[[^][]*\][^][]*)*\])*)")
_FLOAT = re.compile(r"\.(bf16|f16|f32|f64)\b")


def float_type(text: str, name: str) -> tuple[str, bool]:
    """The float type as which the text reads ``name`` ("" if none), and whether in halves."""
    for match in _USES.finditer(text):
        if match.group(1) != name:
            continue
        found = _FLOAT.search(re.sub(r"\[.*\]", "[]", match.group(2)))  # not inside the brackets
        if found:
            return found.group(1), "[" in match.group(2)
    return "", False


def dpp_source(ctrl: int, lane: int, size: int) -> tuple[int, bool]:
    """The lane from which DPP16 reads, and whether it is inside the row (or wave)."""
    row, n = lane & ~15, ctrl & 15
    at = lane & 15
    if ctrl < 0x100:
        return lane & ~3 | ctrl >> 2 * (lane & 3) & 3, True
    if 0x101 <= ctrl <= 0x10F:
        return row + at + n, at + n < 16
    if 0x111 <= ctrl <= 0x11F:
        return row + at - n, at - n >= 0
    if 0x121 <= ctrl <= 0x12F:
        return row + (at - n) % 16, True
    if ctrl == 0x130:
        return lane + 1, lane + 1 < size
    if ctrl == 0x134:
        return (lane + 1) % size, True
    if ctrl == 0x138:
        return lane - 1, lane >= 1
    if ctrl == 0x13C:
        return (lane - 1) % size, True
    if ctrl == 0x140:
        return row + 15 - at, True
    if ctrl == 0x141:
        return lane & ~7 | 7 - (lane & 7), True
    if ctrl == 0x142:
        return (lane & ~15) - 1, lane >= 16
    if ctrl == 0x143:
        return 31, lane >= 32
    if 0x150 <= ctrl <= 0x15F:
        return row + n, True
    return row + (at ^ n), True


def split_type(kind: str) -> tuple[str, int]:
    return ("bf", 16) if kind == "bf16" else ("f", int(kind[1:]))
