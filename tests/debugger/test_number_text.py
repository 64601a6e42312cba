"""Numbers and characters by format letter, as in GDB 13."""

from __future__ import annotations

import struct

import pytest
from msgspec.structs import replace

from rocdbg.debugger.base.engine_settings import PrintSettings
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.number_text import (
    escape,
    format_binary,
    format_char,
    format_float,
    format_integer,
    format_string,
)
from rocdbg.dwarf.info.types import BaseType, Encoding, Type

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


NUMBERS = [
    # number, size, whether it is padded, and in nibbles
    (0, 2, True, False, "0000000000000000"), (0, 2, False, False, "0"), (0x8000, 2, False, False, "1000000000000000"),
    (0x8000, 2, True, True, "1000 0000 0000 0000"), (0x4000, 2, False, True, "0100 0000 0000 0000"),
    (0x15, 4, False, True, "0001 0101"), (0x15, 4, False, False, "10101"), (0x100, 2, False, True, "0001 0000 0000"),
]


@pytest.mark.parametrize(("number", "size", "padded", "nibbles", "text"), NUMBERS)
def test_binary_numbers(number: int, size: int, padded: bool, nibbles: bool, text: str) -> None:
    assert format_binary(number, size, padded, nibbles) == text


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


C16, C32 = BaseType("char16_t", Encoding.UTF, 2), BaseType("char32_t", Encoding.UTF, 4)
STRINGS: list[tuple[bytes, Type, dict[str, object], str]] = [
    (b"abc", c_types.CHAR, {}, '"abc"'),
    (b"abc\0", c_types.CHAR, {}, '"abc"'),
    (b"abc\0\0", c_types.CHAR, {}, '"abc\\000"'),
    (b"abc\0def", c_types.CHAR, {}, '"abc\\000def"'),
    (b"abc\0def", c_types.CHAR, {"null_stop": True}, '"abc"'),
    (b"abcdef", c_types.CHAR, {"null_stop": True, "elements": 3}, '"abc"...'),
    (b"\0", c_types.CHAR, {}, '""'),
    (b"a\tb\"c'd\\", c_types.CHAR, {}, '"a\\tb\\"c\'d\\\\"'),
    # runs
    (b"a" * 10, c_types.CHAR, {}, '"aaaaaaaaaa"'),
    (b"a" * 11, c_types.CHAR, {}, "'a' <repeats 11 times>"),
    (b"b" + b"a" * 11 + b"c", c_types.CHAR, {}, "\"b\", 'a' <repeats 11 times>, \"c\""),
    (b"a" * 11, c_types.CHAR, {"repeats": 0}, '"aaaaaaaaaaa"'),
    (b"'" * 3, c_types.CHAR, {"repeats": 2}, "'\\'' <repeats 3 times>"),
    # limits
    (b"abcdef", c_types.CHAR, {"elements": 3}, '"abc"...'),
    (b"abc", c_types.CHAR, {"elements": 3}, '"abc"'),
    (b"aaab", c_types.CHAR, {"elements": 2}, '"aaa"...'),
    # UTF-8, and bytes that are none: of up to six bytes as in the original, if a character is incomplete at the end
    ("äß€😀".encode(), c_types.CHAR, {}, '"äß€😀"'),
    ("ä".encode(), c_types.CHAR, {"sevenbit_strings": True}, '"\\303\\244"'),
    (b"\xc3", c_types.CHAR, {}, "<incomplete sequence \\303>"),
    (b"x\xe2\x82", c_types.CHAR, {}, '"x", <incomplete sequence \\342\\202>'),
    (b"x\xf0\x9f\x98", c_types.CHAR, {}, '"x", <incomplete sequence \\360\\237\\230>'),
    (b"x\xf8\x88\x80\x80", c_types.CHAR, {}, '"x", <incomplete sequence \\370\\210\\200\\200>'),
    (b"x\xfc\x88\x80\x80\x80", c_types.CHAR, {}, '"x", <incomplete sequence \\374\\210\\200\\200\\200>'),
    (b"x\xe2\x82y", c_types.CHAR, {}, '"x\\342\\202y"'),
    (b"x\xe2\xc0", c_types.CHAR, {}, '"x\\342\\300"'),
    (b"x\xc1", c_types.CHAR, {}, '"x\\301"'),
    (b"x\x80", c_types.CHAR, {}, '"x\\200"'),
    (b"\x80x", c_types.CHAR, {}, '"\\200x"'),
    # wide characters
    ("aä€".encode("utf-16-le"), C16, {}, 'u"aä€"'),
    (b"a\0b", C16, {}, 'u"a"'),
    (b"a\0" * 12, C16, {}, "u'a' <repeats 12 times>"),
    ("😀".encode("utf-32-le"), C32, {}, 'U"😀"'),
    (b"\0\0\x11\0", C32, {}, 'U"\\4200000"'),
    (b"\x80\0\0\0", C32, {}, 'U"\\200"'),
]


@pytest.mark.parametrize(("data", "element", "settings", "text"), STRINGS)
def test_strings(data: bytes, element: Type, settings: dict[str, object], text: str) -> None:
    assert format_string(data, element, replace(PrintSettings(), **settings), truncated=True) == text
