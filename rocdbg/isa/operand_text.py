"""Operands made from their texts, and the source modifiers that LLVM prints around them."""

from __future__ import annotations

import re

from rocdbg.isa.encoding_layouts import GFX12
from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.isa.operands import PAIRS, SPECIAL_CODES

_REGISTER = re.compile(r"^(v|a|s|ttmp)(?:(\d+)|\[(\d+):(\d+)\])(?:\.([lh]))?(?:/\*.*\*/)?$")
_LOW_REGISTERS = "32_Lo128' register class*/"
_KINDS = {"v": OperandKind.VGPR, "a": OperandKind.AGPR, "s": OperandKind.SGPR, "ttmp": OperandKind.TTMP}
_FLAT_SCRATCH_GFX7 = {"flat_scratch": (104, 2), "flat_scratch_lo": (104, 1), "flat_scratch_hi": (105, 1)}
"""Operand code and number of registers on GFX7; GFX8 has these instead of s102 and s103."""
_NULL_FIRST = ("gfx11", *GFX12)
"""Families in which NULL has code 124 and M0 125; elsewhere it is the other way round."""


def register_operand(name: str, text: str, family: str) -> Operand | None:
    """An operand from its text, if that is a register or ``off``."""
    if match := _REGISTER.match(text):
        prefix, single, low, high, half = match.groups()
        first = int(single or low)
        if _LOW_REGISTERS in text:
            # LLVM has only 32-bit registers for this 16-bit operand (GFX12 by default). For hardware, and for compilers
            # that support halves, the field's highest bit selects the half.
            return Operand(name, _KINDS[prefix], first - 128, half=1, bits=16, text=text)
        dwords = 1 if single else int(high) - first + 1
        return Operand(
            name, _KINDS[prefix], first, dwords, half=None if half is None else int(half == "h"),
            bits=16 if half else 32, text=text,
        )
    if text == "off":
        return Operand(name, OperandKind.OFF, dwords=0, text=text)
    plain = text.partition("/*")[0]
    if family == "gfx7" and plain in _FLAT_SCRATCH_GFX7:
        code, dwords = _FLAT_SCRATCH_GFX7[plain]
        return Operand(name, OperandKind.SPECIAL, code, dwords, text=text)
    if plain in PAIRS:
        return Operand(name, OperandKind.SPECIAL, SPECIAL_CODES[PAIRS[plain]], 2, text=text)
    if plain in SPECIAL_CODES:
        return Operand(name, OperandKind.SPECIAL, SPECIAL_CODES[plain], text=text)
    if plain in ("m0", "null"):
        swapped = family in _NULL_FIRST
        return Operand(name, OperandKind.SPECIAL, 124 if (plain == "null") == swapped else 125, text=text)
    return None


def with_modifiers(operand: Operand, neg: bool, absolute: bool, sext: bool) -> Operand:
    """The operand with source modifiers, as LLVM prints it."""
    text = operand.text
    immediate = operand.kind in (OperandKind.CONSTANT, OperandKind.IMMEDIATE) or (
        operand.kind is OperandKind.LITERAL and not text.startswith("lit(")
    )
    if sext:
        text = f"sext({text})"
    if absolute:
        text = f"|{text}|"
    if neg:
        text = f"neg({text})" if immediate and not absolute else f"-{text}"
    return Operand(
        operand.name, operand.kind, operand.index, operand.dwords, operand.value, neg, absolute, sext,
        operand.half, operand.bits, operand.type, text,
    )
