"""Text of scalars: in the format of a letter, and of base types and enumerations."""

from __future__ import annotations

import math
from collections.abc import Callable

from rocdbg.arch.address_spaces import AddressSpace, address_space
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.format_letters import SIZE_LETTERS, undefined_format
from rocdbg.debugger.values.number_text import format_binary, format_char, format_float, format_integer
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import BaseType, EnumType, FlagsType, PointerType, Type

_LONG_MASK = (1 << 64) - 1
_LARGEST_LONG = (1 << 63) - 1


def format_base(value: Value, type_: BaseType) -> str:
    """Format a number, character or truth value as it is shown without a format letter."""
    if c_types.is_complex(type_):
        half = BaseType("float", 4, type_.byte_size // 2)
        data = value.contents()
        middle = len(data) // 2
        return f"{format_float(half, data[:middle])} + {format_float(half, data[middle:])}i"
    if c_types.is_float(type_):
        return format_float(type_, value.contents())
    number = value.as_int()
    if c_types.is_bool(type_):
        return {0: "false", 1: "true"}.get(number, str(number))
    if c_types.is_char(value.type):
        return format_char(number, value.type)
    return str(number)


def format_letter(
    value: Value, letter: str, size: str, address_text: Callable[[int, int, bool], str], nibbles: bool = False
) -> str:
    """Format a scalar by a letter; with a size letter, truncated or extended to that size.

    ``address_text`` returns the text of an address in a space, with the symbol there. ``nibbles``: binary digits are in
    groups of four.
    """
    data = value.contents()
    type_ = value.bare
    if letter in "ac" and c_types.is_complex(type_):
        raise ExpressionError("Value can't be converted to integer.")
    if size and letter != "c" and not c_types.is_float(type_):
        width = SIZE_LETTERS[size]
        signed = c_types.is_signed(type_)
        number = int.from_bytes(data, "little", signed=signed and letter in "d")
        data = (number & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    if letter == "f":
        float_type = type_ if c_types.is_float(type_) else _float_of_size(len(data))
        if float_type is not None:
            return format_float(float_type, data)
        return str(value.as_int())
    if letter == "a":
        if c_types.is_float(type_):
            number = _whole(value.as_float())
        else:
            number = int.from_bytes(data, "little", signed=c_types.is_signed(type_) and not size)
        return address_text(c_types.pointer_space(type_), number & _LONG_MASK, True)
    if letter == "c":
        number = value.as_int() if not c_types.is_float(type_) else _whole(value.as_float())
        char_type: Type = c_types.SIGNED_CHAR
        if c_types.is_integral(type_) and not c_types.is_signed(type_):
            char_type = c_types.UNSIGNED_CHAR
        width = 8 * c_types.size_of(char_type)
        number &= (1 << width) - 1
        if c_types.is_signed(char_type) and number >> (width - 1):
            number -= 1 << width
        return format_char(number, char_type)
    if letter not in "xduotz":
        raise undefined_format(letter)
    if nibbles and letter == "t":
        return format_binary(int.from_bytes(data, "little"), len(data), False, True)
    text = format_integer(int.from_bytes(data, "little"), len(data), letter)
    space = c_types.pointer_space(type_) if isinstance(type_, PointerType) else 0
    return text if space in (AddressSpace.GLOBAL, AddressSpace.GENERIC) else f"{address_space(space).name}#{text}"


def _whole(number: float) -> int:
    """Return a float as a ``long``, rounded towards zero; values out of range give the nearest limit, NaN the largest.
    """
    if math.isnan(number):
        return _LARGEST_LONG
    return int(max(-_LARGEST_LONG - 1, min(number, _LARGEST_LONG)))


def _float_of_size(size: int) -> Type | None:
    return {4: c_types.FLOAT, 8: c_types.DOUBLE}.get(size)


def format_enum(value: Value) -> str:
    """Return an enumerator's name, ``(A | B)`` for flags, ``(A | unknown: 0x8)``, or a number."""
    type_ = value.bare
    assert isinstance(type_, EnumType)
    number = value.as_int()
    prefix = type_.enumerator_scope
    for enumerator in type_.enumerators:
        if enumerator.value == number:
            return prefix + enumerator.name
    values = [e.value for e in type_.enumerators]
    is_flags = bool(values) and all(v > 0 and v & (v - 1) == 0 for v in values if v) and not any(
        v < 0 for v in values
    )
    if not is_flags or number == 0:
        return str(number)
    names = []
    rest = number
    for enumerator in type_.enumerators:
        if enumerator.value and rest & enumerator.value:
            names.append(prefix + enumerator.name)
            rest &= ~enumerator.value
    if rest:
        names.append(f"unknown: {rest:#x}")
    return "(" + " | ".join(names) + ")"


def format_flags(value: Value, type_: FlagsType) -> str:
    """Return ``[ FP_ROUND.32=ZERO IEEE ]``: names of the bits that are set, and wider fields with their values."""
    number = value.as_int()
    shown = []
    for field in type_.fields:
        part = number >> field.first & (1 << field.width) - 1
        if field.width > 1:
            named = field.type.enumerators if isinstance(field.type, EnumType) else ()
            shown.append(f"{field.name}={next((item.name for item in named if item.value == part), part)}")
        elif part:
            shown.append(field.name)
    return " ".join(["[", *shown, "]"])
