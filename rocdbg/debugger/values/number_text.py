"""Text of numbers, characters and strings as GDB writes them."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import groupby

from rocdbg.debugger.base.engine_settings import PrintSettings
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import decode_float
from rocdbg.dwarf.info.types import Type

_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}


def format_integer(number: int, size: int, letter: str) -> str:
    """Format the unsigned ``number`` of ``size`` bytes by format letter ``x``, ``d``, ``u``, ``o``, ``t`` or ``z``."""
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


def format_binary(number: int, size: int, padded: bool, nibbles: bool) -> str:
    """Format the unsigned ``number`` in binary: ``padded`` to its ``size`` in bytes, or with ``nibbles`` in groups of
    four.

    As in GDB, leading groups of zeros are omitted.
    """
    digits = f"{number:0{8 * size}b}"
    first = digits.find("1")
    if first < 0:
        return digits if padded else "0"
    if not nibbles:
        return digits if padded else digits[first:]
    start = first // 4 * 4
    groups = [digits[at : at + 4] for at in range(start, len(digits), 4)]
    return (digits[:start] if padded else "") + " ".join(groups)


def format_float(type_: Type, data: bytes) -> str:
    """Format a number as ``%g`` does, with enough digits to distinguish all values of the type.

    These are 9 digits for float, 17 for double, 5 for half, 4 for bfloat16. NaNs show their payload.
    """
    size = len(data)
    bits = int.from_bytes(data, "little")
    number = decode_float(type_, data)  # raises for other sizes
    fraction_bits = {2: 7 if c_types.is_bfloat(type_) else 10, 4: 23, 8: 52}[size]
    if math.isnan(number):
        sign = "-" if bits >> (8 * size - 1) else ""
        return f"{sign}nan({bits & ((1 << fraction_bits) - 1):#x})"
    if math.isinf(number):
        return "-inf" if number < 0 else "inf"
    digits = math.ceil(1 + (fraction_bits + 1) * math.log10(2))
    return f"{number:.{digits}g}"


def format_char(number: int, type_: Type) -> str:
    """Return ``97 'a'``; wide characters have their prefix: ``97 L'a'``."""
    prefix = c_types.text_prefix(type_) or ""
    code = number & ((1 << 8 * c_types.size_of(type_)) - 1)
    return f"{number} {prefix}'{escape(code, chr(39), bool(prefix))}'"


def escape(code: int, quote: str, wide: bool = False) -> str:
    """Return one character inside quotes; for a ``wide`` type the number is a Unicode code point, otherwise a byte."""
    if code in _ESCAPES:
        return _ESCAPES[code]
    if code == ord(quote):
        return "\\" + quote
    if 32 <= code < 127:
        return chr(code)
    if code < 256 and not (wide and chr(code).isprintable()):
        return f"\\{code:03o}"
    return chr(code) if code < 0x110000 and chr(code).isprintable() else f"\\{code:o}"


def format_string(data: bytes, element: Type, settings: PrintSettings, truncated: bool) -> str:
    """Return characters in quotes, with long runs folded: ``"abc", 'x' <repeats 16 times>``.

    ``truncated`` is used for arrays, whose final null is not shown.
    """
    size = c_types.size_of(element)
    codes: list[int] = list(data)
    if size != 1:
        codes = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data) - size + 1, size)]
    prefix = c_types.text_prefix(element) or ""
    limit = settings.elements
    cut = False
    if settings.null_stop and truncated:
        end = codes.index(0) if 0 in codes else len(codes)
        cut = bool(limit) and end > limit
        codes = codes[: limit if cut else end]
    elif truncated and codes and codes[-1] == 0:
        codes.pop()
    if not codes:
        return prefix + '""'
    parts: list[str] = []
    text = ""
    shown = 0
    if size == 1:
        # each byte that is not a character becomes a lone surrogate
        chars = bytes(codes).decode("latin-1" if settings.sevenbit_strings else "utf-8", "surrogateescape")
        units = _characters(bytes(codes), chars, settings.sevenbit_strings)
        if not (limit and len(units) > limit) and not units[-1].startswith(_INCOMPLETE) and (
            not settings.repeats or _long_run(settings.repeats).search(chars) is None
        ):
            return f'{prefix}"{"".join(units)}"' + ("..." if cut else "")
    else:
        units = [escape(code, '"', bool(prefix)) for code in codes]
    for unit, group in groupby(units):
        run = len(list(group))
        if limit and shown >= limit:
            cut = True
            break
        shown += run  # a run that begins within the limit is shown whole
        if unit.startswith(_INCOMPLETE) or (settings.repeats and run > settings.repeats):
            if text:
                parts.append(f'{prefix}"{text}"')
                text = ""
            if unit.startswith(_INCOMPLETE):
                parts.append(unit)
            else:
                parts.append(f"{prefix}'{_in_apostrophes(unit)}' <repeats {run} times>")
            continue
        text += unit * run
    if text:
        parts.append(f'{prefix}"{text}"')
    return ", ".join(parts) + ("..." if cut else "")


_INCOMPLETE = "<incomplete sequence"
_LONGEST = 6
"""The maximum number of bytes in a character; the original UTF-8 allowed six."""
_QUOTED = [escape(code, '"') for code in range(256)]


def _is_incomplete(codes: list[int]) -> bool:
    """Whether the last bytes begin a character (of up to six bytes, as in the original UTF-8) and do not complete it.
    """
    leads = ((0xC2, 0), (0xE0, 2), (0xF0, 3), (0xF8, 4), (0xFC, 5), (0xFE, 6), (0x100, 0))
    wanted = next(size for end, size in leads if codes[0] < end)
    return len(codes) < wanted and all(0x80 <= code < 0xC0 for code in codes[1:])


def _in_apostrophes(unit: str) -> str:
    return {'\\"': '"', "'": "\\'"}.get(unit, unit)


def _characters(data: bytes, text: str, only_ascii: bool) -> list[str]:
    """Return the characters of a byte string as shown in quotes: UTF-8 unchanged, invalid bytes as octal numbers.

    ``text`` is the decoded bytes, with lone surrogates for invalid ones.
    """
    if only_ascii or data.isascii():
        return [_QUOTED[code] for code in data]
    found = [_unit(char) for char in text]
    at, index = len(data), len(text)
    cut: tuple[int, int] | None = None
    while index and len(data) - at < _LONGEST - 1:
        index -= 1
        at -= len(text[index].encode("utf-8", "surrogateescape"))
        if "\udc80" <= text[index] <= "\udcff" and len(data) - at < _LONGEST and _is_incomplete(list(data[at:])):
            cut = index, at
    if cut is None:
        return found
    rest = "".join(f"\\{code:03o}" for code in data[cut[1] :])
    return [*found[: cut[0]], f"{_INCOMPLETE} {rest}>"]


@lru_cache(maxsize=4096)
def _unit(char: str) -> str:
    """Return a character as it appears inside quotes among other characters."""
    data = char.encode("utf-8", "surrogateescape")
    if len(data) > 1 and char.isprintable():
        return char
    return "".join(_QUOTED[code] for code in data)


@lru_cache(maxsize=16)
def _long_run(count: int) -> re.Pattern[str]:
    """Return a pattern for a character that occurs more than ``count`` times in a row."""
    return re.compile(rf"(.)\1{{{min(count, 1 << 20)}}}", re.DOTALL)
