"""Expands inline constants of sources for which the encoding tables state another width (mixed precision, dot
products).
"""

from __future__ import annotations

from rocdbg.isa.instruction import OperandKind
from rocdbg.sim.core.builder import I32, Value
from rocdbg.sim.semantics.access import Access

_FLOATS = {
    240: 0x3F000000, 241: 0xBF000000, 242: 0x3F800000, 243: 0xBF800000, 244: 0x40000000, 245: 0xC0000000,
    246: 0x40800000, 247: 0xC0800000, 248: 0x3E22F983,
}
"""Operand codes of +-0.5, +-1, +-2, +-4 and 1 / (2 pi), with their f32 bits."""

_HALVES = {
    240: 0x3800, 241: 0xB800, 242: 0x3C00, 243: 0xBC00, 244: 0x4000, 245: 0xC000, 246: 0x4400, 247: 0xC400,
    248: 0x3118,
}
"""Operand codes of the same numbers, with their f16 bits."""


def expand(code: int) -> int:
    """The 32 bits of the inline constant with this operand code (128 .. 208, 240 .. 248)."""
    if code in _FLOATS:
        return _FLOATS[code]
    return (code - 128 if code <= 192 else 192 - code) & 0xFFFF_FFFF


def source32(i: Access, k: int) -> Value:
    """Source ``k`` as 32 bits, without modifiers; an inline constant is expanded to 32 bits regardless of its type."""
    operand = i.sources[k]
    if operand.kind is OperandKind.CONSTANT and operand.bits == 16:
        return i.const(expand(operand.index), I32)
    return i.raw_operand(operand)


def source16(i: Access, k: int) -> Value:
    """Source ``k`` as 32 bits of which one half is used; an inline constant is an f16 in the low half."""
    operand = i.sources[k]
    if operand.kind is OperandKind.CONSTANT:
        return i.const(_HALVES.get(operand.index, expand(operand.index) & 0xFFFF), I32)
    return i.raw_operand(operand)
