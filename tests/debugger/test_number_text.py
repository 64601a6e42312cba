"""Numbers and characters by format letter, as in GDB 13."""

from __future__ import annotations

import struct

import pytest

from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.number_text import escape, format_binary, format_char, format_float, format_integer

INTEGERS = [
    (0, 4, "x", "0x0"), (255, 4, "x", "0xff"), (255, 4, "z", "0x000000ff"), (1, 1, "z", "0x01"),
    (0, 8, "z", "0x" + "0" * 16),
    (0, 4, "o", "0"), (8, 4, "o", "010"), (5, 1, "t", "101"), (0, 4, "t", "0"),
    (0x80, 1, "d", "-128"), (0x7F, 1, "d", "127"), (0xFF, 1, "d", "-1"), (0xFF, 1, "u", "255"), (0xFF, 2, "d", "255"),
    (1 << 63, 8, "d", str(-(1 << 63))), ((1 << 63) - 1, 8, "d", str((1 << 63) - 1)),
]


@pytest.mark.parametrize(("number", "size", "letter", "text"), INTEGERS)
def test_integers(number: int, size: int, letter: str, text: str) -> None:
    assert format_integer(number, size, letter) == text


@pytest.mark.parametrize(
    ("padded", "nibbles", "text"),
    [(False, False, "10101"), (True, False, "00010101"), (False, True, "0001 0101"), (True, True, "0001 0101")],
)
def test_binary(padded: bool, nibbles: bool, text: str) -> None:
    assert format_binary(0b10101, 1, padded, nibbles) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.1, "0.100000001"), (1.5, "1.5"), (-0.0, "-0"), (16777216.0, "16777216"), (float("inf"), "inf"),
        (float("-inf"), "-inf"), (1e-45, "1.40129846e-45"),
    ],
)
def test_floats(number: float, text: str) -> None:
    assert format_float(c_types.FLOAT, struct.pack("<f", number)) == text


@pytest.mark.parametrize(
    ("bits", "text"), [(0x7FC00000, "nan(0x400000)"), (0xFFC00001, "-nan(0x400001)"), (0x7F800001, "nan(0x1)")]
)
def test_numbers_that_are_none(bits: int, text: str) -> None:
    assert format_float(c_types.FLOAT, bits.to_bytes(4, "little")) == text


def test_doubles_have_seventeen_digits() -> None:
    assert format_float(c_types.DOUBLE, struct.pack("<d", 0.1)) == "0.10000000000000001"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (97, "a"), (10, "\\n"), (7, "\\a"), (0, "\\000"), (1, "\\001"), (127, "\\177"), (255, "\\377"), (39, "\\'"),
        (92, "\\\\"),
    ],
)
def test_characters_in_quotes(code: int, text: str) -> None:
    assert escape(code, "'") == text


def test_characters_with_their_numbers() -> None:
    assert [format_char(number, c_types.CHAR) for number in (97, -1, 0)] == ["97 'a'", "-1 '\\377'", "0 '\\000'"]
