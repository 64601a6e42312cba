"""Conversions of printf, against the C library's own."""

from __future__ import annotations

import ctypes
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocdbg.sim.services.c_format import MAX_TEXT, MAX_WIDTH, Conversion, pieces
from rocdbg.sim.services.print_message import print_arguments
from rocdbg.sim.services.printf_buffer import Format, print_frame, read_formats

_libc = ctypes.CDLL(None)


def by_c(template: str, value: object) -> bytes:
    """The output of the C library."""
    buffer = ctypes.create_string_buffer(70_000)
    _libc.snprintf(buffer, len(buffer), template.encode(), value)
    return buffer.value


def one(template: str) -> Conversion:
    """The conversion that makes up a whole format."""
    (found,) = pieces(template.encode())
    assert isinstance(found, Conversion)
    return found


FLAGS = st.text("-+ #0", max_size=3)
WIDTH = st.one_of(st.just(""), st.integers(1, 30).map(str))
PRECISION = st.one_of(st.just(""), st.just("."), st.integers(0, 25).map(lambda n: f".{n}"))


@settings(max_examples=60)
@given(FLAGS, WIDTH, PRECISION, st.sampled_from(["hh", "h", "", "l", "ll", "j", "z", "t"]),
       st.sampled_from("diouxX"), st.integers(0, 2**64 - 1) | st.integers(0, 300))
def test_integers(flags: str, width: str, precision: str, length: str, kind: str, bits: int) -> None:
    template = f"%{flags}{width}{precision}{length}{kind}"
    assert one(template).integer(bits) == by_c(template, ctypes.c_uint64(bits))


@settings(max_examples=60)
@given(FLAGS, WIDTH, PRECISION, st.sampled_from("eEfFgGaA"),
       st.floats() | st.sampled_from([0.5, 1.5, 2.5, -0.0, 5e-324, 1e300, math.inf, -math.inf]))
def test_floats(flags: str, width: str, precision: str, kind: str, value: float) -> None:
    template = f"%{flags}{width}{precision}{kind}"
    assert one(template).floating(value) == by_c(template, ctypes.c_double(value))


@settings(max_examples=60)
@given(st.text("-", max_size=1), WIDTH, PRECISION, st.binary(max_size=12).map(lambda text: text.replace(b"\0", b"?")))
def test_strings(flags: str, width: str, precision: str, text: bytes) -> None:
    template = f"%{flags}{width}{precision}s"
    assert one(template).string(text) == by_c(template, ctypes.c_char_p(text))


@pytest.mark.parametrize(
    ("template", "bits"), [("%p", 0), ("%p", 0x7F0000300000), ("%12p", 16), ("%-8p|", 0), ("%c", 0x1FF41), ("%4c", 65)]
)
def test_characters_and_pointers(template: str, bits: int) -> None:
    conversion = next(iter(pieces(template.encode())))
    assert isinstance(conversion, Conversion)
    assert conversion.integer(bits) == by_c(template.rstrip("|"), ctypes.c_uint64(bits))


def test_a_format_is_cut_into_text_and_conversions() -> None:
    found = list(pieces(b"100%% of %-*.3lf, %y and %v4hlx%"))
    assert found == [
        b"100% of ", Conversion("-", "*", 3, 0, "l", "f"), b", %y and ", Conversion("", None, None, 4, "hl", "x"), b"%",
    ]


def test_arguments_stand_for_stars() -> None:
    assert one("%*.*d").given([6, 3]).integer(7) == b"   007"
    assert one("%*d").given([-4 & 0xFFFF_FFFF]).integer(7) == b"7   "
    assert one("%.*f").given([-1 & 0xFFFF_FFFF]).floating(0.5) == b"0.500000"


def test_no_format_takes_all_memory() -> None:
    assert len(one("%999999999999999999999d").integer(1)) == MAX_WIDTH
    assert len(one("%.999999999f").floating(0.1)) == MAX_WIDTH + 2
    assert len(one("%*d").given([0x7FFF_FFFF]).integer(1)) == MAX_WIDTH


def test_text_of_a_printf_is_limited_by_what_was_sent() -> None:
    """Widths turn a few bytes into many. Text that a kernel itself sends is never cut."""
    wide = print_arguments(b"%65536d" * 1000, bytes(8 * 1000))
    assert MAX_TEXT < len(wide) < MAX_TEXT + (1 << 18) and wide.endswith(b"make it too long.\n")
    known = Format(b"%65536d" * 1000, (4,) * 1000, ())
    data = bytes(4 * 1000)
    assert len(print_frame(known, known.places(data, None), data)) < MAX_TEXT + (1 << 18)
    text = b"x" * (MAX_TEXT + 1)
    padded = text + b"\0" * (8 - len(text) % 8)
    assert print_arguments(b"%s|%s|%d", padded + text) == text + b"|" + text + b"|"


@pytest.mark.parametrize("part", ["%", "0"])
def test_formats_are_read_in_one_pass(part: str) -> None:
    """If reading took time proportional to the square of the length, this test would take minutes."""
    rest = part.encode() * 400_000
    assert pieces(b"%" + rest) == (b"%" * 200_001 if part == "%" else b"%" + rest,)


@pytest.mark.parametrize("entry", ["1:1:4:a%nb", "1:1:8:a%lnb", "1:2:4:4:a%*nb", "1:1:16:a%v4hlnb", "1:0:a%nb"])
def test_a_kernel_cannot_ask_for_the_number_of_characters(entry: str) -> None:
    known = read_formats([entry]).by_number[1]
    data = bytes(known.size - 4)
    assert print_frame(known, known.places(data, None), data).replace(b",", b"") in (b"ab", b"a")
