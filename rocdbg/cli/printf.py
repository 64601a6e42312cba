"""`printf`, `dprintf` and `$_as_string`-like formatting: C's conversions over debugger values."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from rocdbg.cli.escapes import unescape
from rocdbg.cli.visible import visible
from rocdbg.debugger.digits import decimal
from rocdbg.debugger.expr.parser import split_arguments
from rocdbg.debugger.values import ctypes
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.debugger.session import Session
    from rocdbg.debugger.values.value import Value

CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?P<length>hh|h|ll|l|j|z|t|L)?(?P<kind>.)"
)
LENGTH_BITS = {"hh": 8, "h": 16, "": 32, "l": 64, "ll": 64, "j": 64, "z": 64, "t": 64}
MAX_WIDTH = 10_000


class PrintfError(Error):
    """A `printf` whose format or arguments are wrong."""


def split_format(text: str) -> tuple[str, list[str]]:
    """The format string (escapes still in it) and the argument expressions of ``"FORMAT", ARG, ...``."""
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
        arguments.pop()  # a comma may end the list
    if not all(arguments):
        raise PrintfError("Bad format string, missing argument")
    return text[1:end], arguments


def format_printf(session: Session, text: str) -> str:
    """What `printf TEXT` prints. Raises `PrintfError`, or what an argument's evaluation raises.

    The format is the user's and may hold any escape; what ``%s`` and ``%c`` fetch is made `visible`.
    """
    template, expressions = split_format(text)
    values = [session.data.evaluate(expression) for expression in expressions]
    _check(template)
    wanted = sum(1 for match in CONVERSION.finditer(template) if match["kind"] != "%")
    if wanted != len(values):
        raise PrintfError("Wrong number of arguments for specified format-string")
    pieces, at = [], 0
    arguments = iter(values)
    for match in CONVERSION.finditer(template):
        pieces.append(unescape(template[at : match.start()]))
        pieces.append("%" if match["kind"] == "%" else _convert(session, match, next(arguments)))
        at = match.end()
    tail = template[at:]
    if "%" in tail:
        raise PrintfError("Incomplete format specifier at end of format string")
    return "".join([*pieces, unescape(tail)])


def _check(template: str) -> None:
    """Raise `PrintfError` for what C has and GDB refuses: a width from the arguments, and ``%n``."""
    for refused in re.finditer(r"%(?:%|[-+ #0-9.hlLjzt]*([*n]))", template):
        if refused[1] == "*":
            raise PrintfError("`*' not supported for precision or width in printf")
        if refused[1]:
            raise PrintfError("Format specifier `n' not supported in printf")


def _convert(session: Session, match: re.Match[str], value: Value) -> str:
    kind, flags = match["kind"], match["flags"]
    width = decimal(match["width"] or "0")
    precision = decimal(match["precision"] or "0") if match["precision"] is not None else None
    if max(width, precision or 0) > MAX_WIDTH:
        raise PrintfError(f"Bad format string: a width over {MAX_WIDTH}")
    if kind in "diuoxXc":
        number = _saturated(value.as_float()) if ctypes.is_float(value.type) else value.as_int()
        if kind == "c":
            return _pad(visible(chr(number & 0xFF)), flags, width)
        return _integer(number, kind, match["length"] or "", flags, width, precision)
    if kind in "eEfFgGaA":
        spec = (
            "%" + flags + (str(width) if width else "") + (f".{precision}" if precision is not None else "")
        )
        number_ = value.as_float() if ctypes.is_float(value.type) else float(value.as_int())
        if kind in "aA":
            return _pad(number_.hex(), flags, width)
        return (spec + kind) % number_
    if kind == "p":
        address = value.as_int()
        return _pad(f"{address:#x}" if address else "(nil)", flags, width)
    if kind == "s":
        if (ctypes.is_pointer(value.type) or ctypes.is_integral(value.type)) and value.as_int() == 0:
            return _pad("(null)", flags, width)
        string = session.data.read_string(value).decode("utf-8", "replace")
        return _pad(visible(string if precision is None else string[:precision]), flags, width)
    raise PrintfError(f"Unrecognized format specifier '{kind}' in printf")


def _saturated(number: float) -> int:
    """A float as a 64-bit integer: the nearest there is, 0 for NaN."""
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
    spec = "%" + flags + (str(width) if width else "") + (f".{precision}" if precision is not None else "")
    if kind == "o" and "#" in flags:
        return _pad(f"{'0' if number else ''}{number:o}", flags, width)  # Python's own form is 0o52
    return (spec + ("d" if kind in "diu" else kind)) % number
