"""`printf` gives what the C library gives, for all flags, widths, precisions and lengths that GDB accepts."""

from __future__ import annotations

import ctypes
import io
import itertools
import math
from collections.abc import Callable, Iterator

import pytest

from rocdbg.cli.printf import CONVERSION, _convert
from rocdbg.cli.shell import Shell
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value

MakeShell = Callable[..., tuple[Shell, io.StringIO]]
FLAGS = ["".join(chosen) for count in range(4) for chosen in itertools.combinations("-+ #0", count)]
SIZES = [(width, precision) for width in ("", "3", "8") for precision in ("", ".", ".0", ".2", ".6")]
NAN = float("nan")
INTEGERS = (0, 1, -1, 42, 0x7FFF, 0x8000, -0x8001, 0x7FFFFFFF, 0x80000000, 1 << 40, (1 << 63) - 1, -1 << 63)
FLOATS = (0.0, -0.0, 1.0, -1.5, 123456.789, 1e300, 1e-7, float("inf"), float("-inf"), NAN, math.copysign(NAN, -1.0))
REFUSED = {"u": "#+ ", "o": "+ ", "x": "+ ", "X": "+ "}
"""Flags of conversions that GDB refuses."""
printed = ctypes.CDLL(None).snprintf


def in_c(conversion: str, argument: ctypes.c_longlong | ctypes.c_double) -> str:
    room = ctypes.create_string_buffer(400)
    printed(room, ctypes.c_size_t(400), conversion.encode(), argument)
    return room.value.decode()


def conversions(kinds: str, lengths: tuple[str, ...]) -> Iterator[str]:
    for kind, flags, (width, precision), length in itertools.product(kinds, FLAGS, SIZES, lengths):
        if not set(flags) & set(REFUSED.get(kind, "")):
            yield f"%{flags}{width}{precision}{length}{kind}"


@pytest.mark.parametrize("kind", "dioxXu")
def test_integers(kind: str, make_shell: MakeShell) -> None:
    session = make_shell()[0].session
    for n, conversion in enumerate(conversions(kind, ("", "h", "l", "ll", "z"))):
        match = CONVERSION.fullmatch(conversion)
        assert match is not None
        for number in INTEGERS[n % 3 :: 3]:
            value = Value.of_int(c_types.LONG, number)
            assert _convert(session, match, value) == in_c(conversion, ctypes.c_longlong(number)), (conversion, number)


@pytest.mark.parametrize("kind", "eEfFgG")
def test_floats(kind: str, make_shell: MakeShell) -> None:
    session = make_shell()[0].session
    for conversion in conversions(kind, ("",)):
        match = CONVERSION.fullmatch(conversion)
        assert match is not None
        for number in FLOATS:
            value = Value(c_types.DOUBLE, data=bytes(ctypes.c_double(number)))
            assert _convert(session, match, value) == in_c(conversion, ctypes.c_double(number)), (conversion, number)
