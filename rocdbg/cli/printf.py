"""`printf`, `dprintf` and similar formatting: C's conversions applied to values of the debugger."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rocdbg.cli import escapes
from rocdbg.cli.visible_text import visible
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.parsing.parser import followed_by, followers, split_arguments
from rocdbg.debugger.expr.value_access import decay
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value, decode_float
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.debugger.breakpoints.dynamic_printf import Columns
    from rocdbg.debugger.session import Session

CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?P<length>h|ll|l|z|L)?(?P<kind>.)"
)
LENGTH_BITS = {"h": 16, "": 32, "l": 64, "ll": 64, "z": 64}
MAX_WIDTH = 10_000


class PrintfError(Error):
    """A `printf` has an invalid format or invalid arguments."""


def split_format(text: str) -> tuple[str, list[str]]:
    """Split ``"FORMAT", ARG, ...`` into the format string (with its escapes) and the argument expressions."""
    text = text.strip()
    if not text.startswith('"'):
        raise PrintfError(
            "Bad format string, missing '\"'." if text
            else "Argument required (format-control string and values to print)."
        )
    end = 1
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    if end >= len(text):
        raise PrintfError("Bad format string, non-terminated '\"'.")
    rest = text[end + 1 :].strip()
    if rest and not rest.startswith(","):
        raise PrintfError("Invalid argument syntax")
    arguments = split_arguments(rest[1:]) if rest else []
    if arguments and not arguments[-1]:
        arguments.pop()  # the list may end with a comma
    if rest and not all(arguments):
        missing = re.search(r",\s*(,.*)", rest)
        if missing is not None:
            raise PrintfError(f"A syntax error in expression, near `{missing[1]}'.")
    if not all(arguments):
        raise PrintfError("Bad format string, missing argument")
    return text[1:end], arguments


def format_printf(session: Session, text: str) -> str:
    """Return the output of `printf TEXT` as one text. Raises the errors of `printf_pieces`."""
    return "".join(printf_pieces(session, text))


def printf_pieces(session: Session, text: str) -> Iterator[str]:
    """Yield the output of `printf TEXT` piece by piece, so that the text before an unreadable value is printed.

    The format comes from the user and may contain any escape; text fetched by ``%s`` and ``%c`` is made `visible`.

    Raises `PrintfError`, or what evaluating an argument raises.
    """
    template, expressions = split_format(text)
    values = []
    for expression, rest in zip(expressions, followers(text)[1:], strict=False):
        with followed_by(rest):
            values.append(session.data.evaluate(expression))
    _check(template)
    if "%" in CONVERSION.sub("", template):
        raise PrintfError("Incomplete format specifier at end of format string")
    wanted = sum(1 for match in CONVERSION.finditer(template) if match["kind"] != "%")
    if wanted != len(values):
        raise PrintfError("Wrong number of arguments for specified format-string")
    at = 0
    arguments = iter(values)
    for match in CONVERSION.finditer(template):
        yield unescape(template[at : match.start()])
        yield "%" if match["kind"] == "%" else _convert(session, match, next(arguments))
        at = match.end()
    yield unescape(template[at:])


def numbers_printed(text: str) -> tuple[str, ...] | None:
    """Return the arguments of ``"FORMAT", ARG, ...`` if all are printed as numbers; ``None`` otherwise or on errors."""
    try:
        template, expressions = split_format(text)
        _check(template)
    except PrintfError:
        return None
    kinds = [match["kind"] for match in CONVERSION.finditer(template) if match["kind"] != "%"]
    if len(kinds) != len(expressions) or "s" in kinds or "%" in CONVERSION.sub("", template):
        return None
    return tuple(expressions)


def format_columns(session: Session, text: str, columns: Columns, count: int) -> str:
    """Return the output of `printf TEXT` for ``count`` rows; the columns hold the values of `numbers_printed`."""
    template, _ = split_format(text)
    pieces: list[Sequence[str]] = []
    at, rest = 0, iter(zip(columns.bits.tolist(), columns.types, strict=True))
    for match in CONVERSION.finditer(template):
        pieces.append([unescape(template[at : match.start()])] * count)
        at = match.end()
        if match["kind"] == "%":
            pieces.append(["%"] * count)
            continue
        bits, type_ = next(rest)
        size = c_types.size_of(type_)
        known = {
            one: _convert(session, match, Value(type_, data=one.to_bytes(8, "little")[:size])) for one in set(bits)
        }
        pieces.append([known[one] for one in bits])
    pieces.append([unescape(template[at:])] * count)
    return "".join(map("".join, zip(*pieces, strict=True)))


def unescape(text: str) -> str:
    """Replace the escape sequences in a text; unlike in `echo`, one of them represents ESC."""
    return "".join(
        "\x1b" if piece == "\\e" else escapes.unescape(piece) for piece in re.split(r"(?s)(\\.)", text)
    )


_ESCAPED = re.compile(r"\\(?:([\\\"abefnrtv])|(.))", re.DOTALL)
_SPECIFIER = re.compile(
    r"%(%|(?P<flags>[-+ #0]*)[0-9]*(?P<precision>\.[0-9]*)?(?P<length>ll|h|l|z|L)?(?P<kind>\\?.))", re.DOTALL
)
_NUMBERS = {"d": "", "i": "", "u": "#+ ", "o": "+ ", "x": "+ ", "X": "+ "}
_REFUSED = {
    **{kind: (flags, False, ("L",)) for kind, flags in _NUMBERS.items()},
    "c": ("0+ ", True, ("h", "ll", "L")), "s": ("0+ ", False, ("h", "ll", "L")),
    "p": ("#0+ ", True, ("h", "l", "ll", "L")), **dict.fromkeys("fFeEgG", ("", False, ("h", "l", "ll"))),
}
"""For each conversion, what C allows and GDB refuses: flags, a precision, lengths."""


def _check(template: str) -> None:
    """Raise `PrintfError` for what C allows and GDB refuses: a width from the arguments, ``%n``, other escapes."""
    for escape in _ESCAPED.finditer(template):
        if escape[2] is not None:
            raise PrintfError(f"Unrecognized escape character \\{escape[2]} in format string.")
    for refused in re.finditer(r"%(?:%|[-+ #0-9.hlLjzt]*([*n]))", template):
        if refused[1] == "*":
            raise PrintfError("`*' not supported for precision or width in printf")
        if refused[1]:
            raise PrintfError("Format specifier `n' not supported in printf")
    for match in _SPECIFIER.finditer(template):
        kind = match["kind"]
        if kind is None:
            continue
        if match["length"] in ("j", "t"):  # of j, t and z, GDB supports only z
            raise PrintfError(f"Unrecognized format specifier '{match['length']}' in printf")
        if kind.rstrip("\\") == "" or kind.startswith("\\") or kind not in "diuoxXcsfFeEgGp":
            raise PrintfError(f"Unrecognized format specifier '{unescape(kind)}' in printf")
        flags, precision, lengths = _REFUSED[kind]
        if match["length"] in lengths or (precision and match["precision"]) or set(match["flags"]) & set(flags):
            raise PrintfError(f"Inappropriate modifiers to format specifier '{kind}' in printf")


def _convert(session: Session, match: re.Match[str], value: Value) -> str:
    kind, flags = match["kind"], match["flags"]
    width = decimal(match["width"] or "0")
    precision = decimal(match["precision"] or "0") if match["precision"] is not None else None
    if max(width, precision or 0) > MAX_WIDTH:
        raise PrintfError(f"Bad format string: a width over {MAX_WIDTH}")
    if kind in "diuoxXcs" and c_types.is_void(value.type):
        raise PrintfError("Value can't be converted to integer.")
    if kind != "s":
        value = decay(value)
    if kind in "diuoxXc":
        number = _saturated(value.as_float()) if c_types.is_float(value.type) else value.as_int()
        if kind == "c" and not number & 0xFF:  # a null ends the string in C
            return "" if "-" in flags else " " * (width - 1)
        if kind == "c":
            return _pad(visible(chr(number & 0xFF)), flags, width)
        return _integer(number, kind, match["length"] or "", flags, width, precision)
    if kind in "eEfFgGaA":
        real = _as_float(value)
        flags = flags if math.isfinite(real) else flags.replace("0", "")  # C pads these with blanks, unlike Python
        spec = "%" + flags + (str(width) if width else "") + (f".{precision}" if precision is not None else "") + kind
        if not math.isnan(real):
            return spec % real
        text = spec % (-math.inf if value.contents()[-1] & 0x80 else math.inf)  # Python does not show a NaN's sign
        return text.replace("inf", "nan").replace("INF", "NAN")
    if kind == "p":
        address = value.as_int() & ((1 << 64) - 1)
        is_null = address == c_types.null_number(value.type)
        return _pad("(nil)" if is_null else f"{address:#x}", flags, width)
    if kind == "s":
        is_address = c_types.is_pointer(value.type) or c_types.is_integral(value.type)
        if is_address and value.as_int() == c_types.null_number(value.type):
            return _pad("(null)", flags, width)
        if c_types.is_float(value.type) or c_types.is_integral(value.type):
            place = _saturated(value.as_float()) if c_types.is_float(value.type) else value.as_int()
            value = Value.of_int(c_types.pointer_to(c_types.CHAR), place)
        if not (c_types.is_scalar(value.type) or c_types.is_vector_like(value.type)):
            raise PrintfError("Value can't be converted to integer.")
        string = session.data.read_string(value).decode("utf-8", "replace")
        return _pad(visible(string if precision is None else string[:precision]), flags, width)
    raise PrintfError(f"Unrecognized format specifier '{kind}' in printf")


def _as_float(value: Value) -> float:
    """Return the number for ``%f``. As in GDB, an integer that has a float's width is reinterpreted as a float."""
    if c_types.is_float(value.type):
        return value.as_float()
    if value.address is None and not (c_types.is_scalar(value.type) or c_types.is_vector_like(value.type)):
        raise ExpressionError("Value can't be converted to integer.")
    data = value.contents()[:8]
    wide = {4: c_types.FLOAT, 8: c_types.DOUBLE}.get(len(data))
    return float(value.as_int()) if wide is None else decode_float(wide, data)


def _saturated(number: float) -> int:
    """Convert a float to the nearest 64-bit integer, and NaN to 0."""
    if math.isnan(number):
        return 0
    if math.isinf(number):
        return (1 << 63) - 1 if number > 0 else -1 << 63
    return max(-1 << 63, min(int(number), (1 << 63) - 1))


def _pad(text: str, flags: str, width: int) -> str:
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _integer(number: int, kind: str, length: str, flags: str, width: int, precision: int | None) -> str:
    bits = LENGTH_BITS.get(length, 64)
    number &= (1 << bits) - 1
    if kind in "di" and number >> (bits - 1):
        number -= 1 << bits
    digits = format(abs(number), "d" if kind in "diu" else kind)
    if precision is not None:  # unlike Python's %, C prints nothing for 0 with .0, and no prefix for 0 with #x
        digits = digits.rjust(precision, "0") if number or precision else ""
    if kind == "o" and "#" in flags and not digits.startswith("0"):
        digits = "0" + digits
    prefix = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
    if kind in "xX" and "#" in flags and number:
        prefix = "0" + kind
    if "0" in flags and "-" not in flags and precision is None:
        digits = digits.rjust(width - len(prefix), "0")
    return _pad(prefix + digits, flags, width)
