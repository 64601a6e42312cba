"""Numbers that a user types, converted to the type an operand expects ("Type and Size Conversion")."""

from __future__ import annotations

import re

from msgspec import Struct

from rocdbg.isa.assembler.errors import Mismatch
from rocdbg.isa.assembler.instruction_word import Relative, Word
from rocdbg.isa.operand_expressions import Lookup, RelocatableError, Value, evaluate_with, floating, signed
from rocdbg.isa.operands import INV_2PI, float_bits

_MARKED = re.compile(r"^(lit|lit64)\s*\((.*)\)$", re.IGNORECASE | re.DOTALL)
_INVERSE = {0.1592: ("f16",), 0.15915494: ("f16", "f32"), 0.15915494309189532: ("f16", "f32", "f64")}
"""The ways to type the inline constant 1/(2*pi), with the digits that it has at each width; bf16 has those of f32."""
_NAMES = {"f16": "16-bit", "bf16": "16-bit brain", "f32": "32-bit", "f64": "64-bit"}
_LEAST = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 5e-324}
"""The smallest normal numbers above zero."""
_FLOAT_TYPES = {
    "f16": "f16", "b16": "f16", "v2f16": "f16", "bf16": "bf16", "v2bf16": "bf16", "b32": "f32", "f64": "f64",
    "b64": "f64",
}


class Number(Struct, frozen=True):
    """A number as typed: a 64-bit integer, with ``addresses`` as in `rocdbg.isa.operand_expressions.Value`, or a
    floating-point number. ``literal``: `lit(...)`, so never an inline constant; ``wide``: `lit64(...)`; ``part`` is
    that of such a `Value`.
    """

    integer: int = 0
    floating: float | None = None
    addresses: int = 0
    literal: bool = False
    wide: bool = False
    part: str = ""


def read(text: str, symbols: Lookup) -> Number | None:
    """The number, or None if the text is not one. Raises Mismatch for a number without a value."""
    literal = wide = False
    if match := _MARKED.match(text):
        literal, wide, text = True, match[1].lower() == "lit64", match[2].strip()
    try:
        number = floating(text)
    except OverflowError:
        raise Mismatch(f"`{text}' is not a 64-bit floating-point number") from None
    if number is not None:
        return Number(floating=number, literal=literal, wide=wide)
    value = integer(text, symbols)
    return None if value is None else Number(value.value, None, value.addresses, literal, wide, value.part)


def integer(text: str, symbols: Lookup) -> Value | None:
    """The value of an expression, or None if it is not one."""
    try:
        return evaluate_with(text, symbols)
    except OverflowError:
        raise Mismatch(f"`{text}' does not fit into 64 bits") from None
    except ZeroDivisionError:
        raise Mismatch(f"`{text}' divides by zero") from None
    except RelocatableError as error:
        raise Mismatch(f"`{text}': {error}") from None
    except KeyError as error:
        raise Mismatch(f"`{error.args[0]}' is neither a number nor a known symbol") from None


def absolute(text: str, symbols: Lookup) -> int:
    """The value of an absolute expression; raises Mismatch if it is not one."""
    if match := _MARKED.match(text):
        text = match[2].strip()
    value = integer(text, symbols)
    if value is None:
        raise Mismatch(f"`{text}' is not an integer")
    if value.addresses:
        raise Mismatch(f"`{text}' is an address, but only an absolute number is possible here")
    return value.value


def put_address(number: Number, type: str, wide: bool, name: str, word: Word) -> int:
    """Set the literal of a relocatable value: for a plain symbol the distance from the literal to it, as a linker
    would; otherwise what the suffix after ``@`` selects. Returns its size in bytes. Raises Mismatch if there is no such
    literal.

    ``wide`` says that the target has 64-bit literals for this operand; ``name`` is the operand's name.
    """
    part, value = number.part or ("rel64" if type == "b64" else "rel32@lo"), number.integer
    if number.addresses != 1 or type not in ("b32", "b64") or (type == "b64" and not wide):
        raise Mismatch(f"{name} cannot be an address: only 32-bit integers and branch targets can")
    size = 8 if type == "b64" else 4
    if part.endswith("64") and size == 4:
        raise Mismatch(f"`@{part}' has 64 bits, but {name} has only 32")
    high = 32 if part.endswith("@hi") else 0
    if part.startswith("abs"):
        word.put_literal(value >> high & (1 << (32 if "@" in part else 64)) - 1, size)
    else:
        word.put_literal(value, size, Relative(high, 32 if "@" in part else 64))
    return size


def fits(value: int, bits: int) -> bool:
    """Whether a value can be truncated to some bits without loss: the removed bits are all 0, or all 1 as the highest
    remaining bit.
    """
    return -(1 << bits - 1) <= value < 1 << bits


def truncated(value: int, bits: int) -> int:
    """The low bits of a value; raises Mismatch if the other bits are significant."""
    if not fits(value, bits):
        raise Mismatch(f"{value:#x} does not fit into {bits} bits")
    return value & (1 << bits) - 1


def as_float(number: float, kind: str) -> int:
    """Bits of a float of a kind (``f16``, ``bf16``, ``f32``, ``f64``). Precision may be lost, but overflow and
    underflow (an inexact result below the smallest normal number, as in IEEE 754) are errors."""
    for value, kinds in _INVERSE.items():
        if number == value and (kind in kinds or (kind == "bf16" and "f32" in kinds)):
            return INV_2PI[kind]
    try:
        bits = float_bits(number, kind)
    except OverflowError:
        raise Mismatch(f"{number} does not fit into a {_NAMES[kind]} floating-point number") from None
    if kind == "bf16":
        # Rounded to the nearest, ties to even.
        wide = float_bits(number, "f32")
        bits = wide + 0x7FFF + (wide >> 16 & 1) >> 16
    infinite = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[kind]
    magnitude = bits & (1 << infinite.bit_length()) - 1
    if magnitude >= infinite:
        raise Mismatch(f"{number} does not fit into a {_NAMES[kind]} floating-point number")
    fraction = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[kind]
    if not magnitude >> fraction and magnitude * _LEAST[kind] != abs(number):
        raise Mismatch(f"{number} is too small for a {_NAMES[kind]} floating-point number")
    return bits


def constant_bits_of(number: Number, type: str) -> int | None:
    """The bits that a number would have as an inline constant in an operand of this type; None if it cannot be one."""
    if number.literal or number.addresses:
        return None
    if number.floating is not None:
        return as_float(number.floating, _FLOAT_TYPES[type])
    if type == "b16" and not -16 <= number.integer <= 64:
        return None  # 0xffff is a literal
    width = 16 if type in ("f16", "bf16", "b16") else 64 if type in ("f64", "b64") else 32
    return number.integer & (1 << width) - 1 if fits(number.integer, width) else None


def literal_of(number: Number, type: str, wide: bool, high: bool = False) -> tuple[int, int]:
    """The literal that represents a number in an operand of this type: the literal's value and its size in bytes.

    ``wide``: the target has literals of 64 bits for this operand. ``high``: a 64-bit float may be given as a 64-bit
    integer whose low half is zero. Raises Mismatch if there is no such literal.
    """
    if number.floating is not None:
        bits = as_float(number.floating, _FLOAT_TYPES[type])
        if type == "f64":
            return (bits, 8) if wide and (number.wide or bits & 0xFFFFFFFF) else (bits >> 32, 4)
        if type == "b64":
            raise Mismatch(f"{number.floating} cannot be converted to a 64-bit integer: write its bits as an integer")
        return bits, 4
    value = number.integer
    if number.wide and type in ("f64", "b64"):
        if wide:
            return value & (1 << 64) - 1, 8
        if type == "f64":
            raise Mismatch("this operand cannot be a 64-bit literal")
        return truncated(value, 32), 4
    if type in ("f64", "b64"):
        if high and type == "f64" and not fits(value, 32) and not value & 0xFFFFFFFF:
            return value >> 32 & 0xFFFFFFFF, 4
        if wide and (not fits(value, 32) or (type == "b64" and not 0 <= value < 1 << 31)):
            return value & (1 << 64) - 1, 8
        return truncated(value, 32), 4
    if type in ("f16", "bf16", "b16"):
        short = truncated(value, 16)
        return (value & 0xFFFFFFFF if type == "b16" else short), 4
    return truncated(value, 32), 4


__all__ = ["Number", "absolute", "as_float", "constant_bits_of", "fits", "integer", "literal_of", "read", "signed"]
