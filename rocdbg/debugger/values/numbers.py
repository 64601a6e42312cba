"""Text of numbers, characters and strings as GDB writes them."""

from __future__ import annotations

import math
from itertools import groupby

from rocdbg.debugger.settings import PrintSettings
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.value import decode_float
from rocdbg.dwarf.info.types import BaseType, Type

_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}


def format_integer(number: int, size: int, letter: str) -> str:
    """The unsigned ``number`` of ``size`` bytes by format letter ``x d u o t z``."""
    if letter == "x":
        return f"{number:#x}"
    if letter == "z":
        return f"0x{number:0{2 * size}x}"
    if letter == "o":
        return f"0{number:o}" if number else "0"
    if letter == "t":
        return f"{number:b}"
    if letter == "d" and number >> (8 * size - 1):
        number -= 1 << (8 * size)
    return str(number)


def format_float(type_: Type, data: bytes) -> str:
    """The shortest fixed number of digits that tells all values of the type apart, as ``%g``.

    9 digits for float, 17 for double, 5 for half, 4 for bfloat16. NaNs show their payload.
    """
    size = len(data)
    bits = int.from_bytes(data, "little")
    number = decode_float(type_, data)  # raises for other sizes than these
    fraction_bits = {2: 7 if ctypes.is_bfloat(type_) else 10, 4: 23, 8: 52}[size]
    if math.isnan(number):
        sign = "-" if bits >> (8 * size - 1) else ""
        return f"{sign}nan({bits & ((1 << fraction_bits) - 1):#x})"
    if math.isinf(number):
        return "-inf" if number < 0 else "inf"
    digits = math.ceil(1 + (fraction_bits + 1) * math.log10(2))
    return f"{number:.{digits}g}"


def format_char(number: int, type_: Type) -> str:
    """``97 'a'``; wide characters with their prefix: ``97 L'a'``."""
    stripped = type_.strip_typedefs()
    prefix = ""
    if isinstance(stripped, BaseType):
        prefix = {"wchar_t": "L", "char16_t": "u", "char32_t": "U"}.get(stripped.name, "")
    code = number & ((1 << 8 * ctypes.size_of(type_)) - 1)
    return f"{number} {prefix}'{escape(code, chr(39))}'"


def escape(code: int, quote: str) -> str:
    """One character inside quotes."""
    if code in _ESCAPES:
        return _ESCAPES[code]
    if code == ord(quote):
        return "\\" + quote
    if 32 <= code < 127:
        return chr(code)
    if code < 256:
        return f"\\{code:03o}"
    return chr(code) if code < 0x110000 and chr(code).isprintable() else f"\\{code:o}"


def format_string(data: bytes, element: Type, settings: PrintSettings, truncated: bool) -> str:
    """Characters in quotes, long runs folded: ``"abc", 'x' <repeats 16 times>``.

    ``truncated`` is for arrays: their final null is not shown unless the limit cut it off.
    """
    size = ctypes.size_of(element)
    codes = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data) - size + 1, size)]
    stripped = element.strip_typedefs()
    prefix = ""
    if isinstance(stripped, BaseType):
        prefix = {"wchar_t": "L", "char16_t": "u", "char32_t": "U"}.get(stripped.name, "")
    limit = settings.elements
    if settings.null_stop and truncated and 0 in codes:
        codes = codes[: codes.index(0)]
    elif truncated and codes and codes[-1] == 0 and (not limit or len(codes) <= limit or not any(codes)):
        codes.pop()
    if not codes:
        return prefix + '""'
    cut = False
    parts: list[str] = []
    text = ""
    shown = 0
    for code, group in groupby(codes):
        run = sum(1 for _ in group)
        if limit and shown >= limit:
            cut = True
            break
        if settings.repeats and run > settings.repeats:
            if text:
                parts.append(f'{prefix}"{text}"')
                text = ""
            parts.append(f"{prefix}'{escape(code, chr(39))}' <repeats {run} times>")
            shown += settings.repeats
            continue
        fits = min(run, limit - shown) if limit else run
        text += escape(code, '"') * fits
        shown += fits
        if fits < run:
            cut = True
            break
    if text:
        parts.append(f'{prefix}"{text}"')
    return ", ".join(parts) + ("..." if cut else "")
