"""Text of arrays, strings, structures and enumerations, as GDB 13 prints the same values."""

from __future__ import annotations

import math
import struct

import pytest

from rocdbg.debugger.base.engine_settings import PrintSettings
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.appearance import Pretty
from rocdbg.debugger.values.format_letters import Format
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Absence
from rocdbg.debugger.values.value_text import Formatter
from rocdbg.dwarf.info.types import (
    ArrayType,
    BaseClass,
    ClassBody,
    ClassKind,
    ClassType,
    Enumerator,
    EnumType,
    Member,
    PointerType,
    Type,
    VectorType,
)


def ints(*numbers: int) -> Value:
    return Value(ArrayType(c_types.INT, len(numbers)), data=struct.pack(f"<{len(numbers)}i", *numbers))


def chars(data: bytes, size: int) -> Value:
    return Value(ArrayType(c_types.CHAR, size), data=data.ljust(size, b"\0"))


def enum(*values: tuple[str, int], scoped: bool = False) -> EnumType:
    members = tuple(Enumerator(*value) for value in values)
    return EnumType("E", "E", members, c_types.UNSIGNED_INT, 4, scoped, enumerator_scope="E::" if scoped else "")


def record(*members: Member, size: int, bases: tuple[BaseClass, ...] = (), name: str = "S") -> ClassType:
    return ClassType(ClassKind.STRUCT, name, name, size, lambda: ClassBody(members, bases))


IN = record(Member("s", c_types.SHORT, 0), Member("f", c_types.UNSIGNED_INT, 16, 3),
            Member("g", c_types.INT, 19, 5), size=4)
OUT = record(Member("a", c_types.FLOAT, 0), Member("b", ArrayType(c_types.INT, 3), 32), Member("in", IN, 128), size=20)
OUT_DATA = struct.pack("<f3ih", 1.5, 1, 2, 3, -4) + bytes([5 | (-3 & 31) << 3, 0])
BASE = record(Member("x", c_types.INT, 0), size=4, name="B")
DERIVED = record(Member("y", c_types.INT, 32), Member("q", c_types.BOOL, 64), size=12,
                 bases=(BaseClass(BASE, 0),), name="D")
FLAGS = enum(("FA", 1), ("FB", 2), ("FC", 4))
COLOUR = enum(("RED", 0), ("GREEN", 5), ("BLUE", 6))

CASES: list[tuple[str, Value, str]] = [
    ("repeats", ints(*[1] * 12, 2, 3, *[0] * 16), "{1 <repeats 12 times>, 2, 3, 0 <repeats 16 times>}"),
    ("ten are not folded", ints(*[1] * 10), "{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}"),
    ("limit", ints(*range(201)), "{" + ", ".join(map(str, range(200))) + "...}"),
    ("string with nulls", chars(b"abc", 10), '"abc\\000\\000\\000\\000\\000\\000"'),
    ("string with many nulls", chars(b"abc", 20), "\"abc\", '\\000' <repeats 16 times>"),
    ("only nulls", chars(b"", 20), "'\\000' <repeats 19 times>"),
    ("runs in a string", chars(b"a" * 16 + b"bc" + b"d" * 16, 40),
     "'a' <repeats 16 times>, \"bc\", 'd' <repeats 16 times>, \"\\000\\000\\000\\000\\000\""),
    ("long string", chars(b"ab" * 150, 300), '"' + "ab" * 100 + '"...'),
    ("structure", Value(OUT, data=OUT_DATA), "{a = 1.5, b = {1, 2, 3}, in = {s = -4, f = 5, g = -3}}"),
    ("base class", Value(DERIVED, data=struct.pack("<iii", 1, 2, 1)), "{<B> = {x = 1}, y = 2, q = true}"),
    ("no fields", Value(record(size=1), data=b"\0"), "{<No data fields>}"),
    ("two dimensions", Value(ArrayType(ArrayType(c_types.INT, 2), 2), data=struct.pack("<4i", 1, 2, 3, 4)),
     "{{1, 2}, {3, 4}}"),
    ("enumerator", Value.of_int(COLOUR, 5), "GREEN"),
    ("no enumerator", Value.of_int(COLOUR, 3), "3"),
    ("flags", Value.of_int(FLAGS, 5), "(FA | FC)"),
    ("unknown flag", Value.of_int(FLAGS, 9), "(FA | unknown: 0x8)"),
    ("only unknown", Value.of_int(FLAGS, 8), "(unknown: 0x8)"),
    ("no flag", Value.of_int(FLAGS, 0), "0"),
    ("scoped", Value.of_int(enum(("X", 1), scoped=True), 1), "E::X"),
    ("bools", Value(ArrayType(c_types.BOOL, 2), data=b"\1\0"), "{true, false}"),
    ("odd bool", Value(c_types.BOOL, data=b"\5"), "5"),
    ("vector", Value(VectorType(c_types.FLOAT, 3, 16), data=struct.pack("<4f", 1, 2, 3, 0)), "{1, 2, 3}"),
    ("half", Value(c_types.HALF, data=b"\x66\x2e"), "0.099976"),
    ("bfloat16", Value(c_types.BFLOAT16, data=b"\xcd\x3d"), "0.1001"),
    ("NaN", Value(c_types.FLOAT, data=struct.pack("<I", 0xFFC00000)), "-nan(0x400000)"),
    ("double NaN", Value(c_types.DOUBLE, data=struct.pack("<Q", 0x7FF8 << 48)), "nan(0x8000000000000)"),
    ("infinity", Value.of_float(c_types.HALF, 1e9), "inf"),
    ("minus zero", Value.of_float(c_types.FLOAT, -0.0), "-0"),
    ("optimised out", Value.absent(c_types.INT), "<optimized out>"),
    ("synthetic", Value.absent(PointerType(c_types.INT), Absence.SYNTHETIC_POINTER), "<synthetic pointer>"),
    ("pointer to pointer", Value.of_int(PointerType(PointerType(c_types.CHAR)), 16), "(char **) 0x10"),
    ("null string", Value.of_int(PointerType(c_types.CHAR), 0), "0x0"),
    ("local pointer", Value.of_int(PointerType(c_types.INT, byte_size=4, address_class=3), 8), "(int *) local#0x8"),
]


@pytest.mark.parametrize(("value", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_plain(value: Value, expected: str) -> None:
    assert Formatter().format(value) == expected


LETTERS = [
    ("c", Value.of_float(c_types.FLOAT, -1.5), r"-1 '\377'"),
    ("c", Value.of_float(c_types.DOUBLE, 65.25), "65 'A'"),
    ("c", Value.of_float(c_types.DOUBLE, 1e10), r"0 '\000'"),
    ("c", Value.of_float(c_types.FLOAT, 1e20), r"-1 '\377'"),
    ("a", Value.of_float(c_types.DOUBLE, 65.25), "0x41"),
    ("a", Value.of_float(c_types.FLOAT, -1.5), "0xffffffffffffffff"),
    ("a", Value.of_float(c_types.FLOAT, math.nan), "0x7fffffffffffffff"),
    ("a", Value.of_float(c_types.FLOAT, math.inf), "0x7fffffffffffffff"),
    ("a", Value.of_int(c_types.SHORT, -17), "0xffffffffffffffef"),
    ("a", Value.of_int(c_types.UNSIGNED_INT, 0xFFFFFFFF), "0xffffffff"),
]


@pytest.mark.parametrize(("letter", "value", "expected"), LETTERS)
def test_letters(letter: str, value: Value, expected: str) -> None:
    assert Formatter().format(value, Format(letter)) == expected


NIBBLES = [  # as GDB 13's `set print nibbles on` groups them
    (0, "0"),
    (1, "0001"),
    (0x41, "0100 0001"),
    (12, "1100"),
    (0x8000, "1000 0000 0000 0000"),
    (1000000, "1111 0100 0010 0100 0000"),
]


@pytest.mark.parametrize(("number", "expected"), NIBBLES)
def test_binary_digits_in_groups(number: int, expected: str) -> None:
    shown = Formatter(PrintSettings(nibbles=True)).format(Value.of_int(c_types.UNSIGNED_INT, number), Format("t"))
    assert shown == expected


def test_structure_in_hexadecimal() -> None:
    text = Formatter().format(Value(OUT, data=OUT_DATA), Format("x"))
    assert text == "{a = 0x3fc00000, b = {0x1, 0x2, 0x3}, in = {s = 0xfffc, f = 0x5, g = 0xfffffffd}}"


def test_pretty_structure() -> None:
    settings = PrintSettings(pretty=True)
    assert Formatter(settings).format(Value(OUT, data=OUT_DATA)) == (
        "{\n  a = 1.5,\n  b = {1, 2, 3},\n  in = {\n    s = -4,\n    f = 5,\n    g = -3\n  }\n}"
    )
    assert Formatter(settings).format(Value(DERIVED, data=struct.pack("<iii", 1, 2, 1))) == (
        "{\n  <B> = {\n    x = 1\n  }, \n  members of D:\n  y = 2,\n  q = true\n}"
    )


def test_settings_change_arrays() -> None:
    assert Formatter(PrintSettings(array_indexes=True)).format(ints(7, 8)) == "{[0] = 7, [1] = 8}"
    assert Formatter(PrintSettings(elements=2)).format(ints(7, 8, 9)) == "{7, 8...}"
    assert Formatter(PrintSettings(repeats=0)).format(ints(*[0] * 12)) == "{" + ", ".join("0" * 12) + "}"
    assert Formatter(PrintSettings(array=True)).format(ints(7, 8)) == "{\n  7,\n  8\n}"
    assert Formatter(PrintSettings(null_stop=True)).format(chars(b"abc", 10)) == '"abc"'


INNER = ClassType(
    ClassKind.UNION, "", "", 4, lambda: ClassBody((Member("in", IN, 0), Member("raw", c_types.INT, 0)), ())
)
UNNAMED = record(Member("b", ArrayType(c_types.INT, 2), 0), Member("", INNER, 64), size=12, name="")
NESTED = Value(
    record(Member("a", c_types.INT, 0), Member("", UNNAMED, 32), Member("c", ArrayType(IN, 2), 128), size=24),
    data=struct.pack("<3i", 1, 2, 3) + OUT_DATA[16:] + struct.pack("<hHhH", 6, 7 | 8 << 3, 6, 7 | 8 << 3),
)
ROWS = Value(ArrayType(ArrayType(c_types.INT, 4), 3), data=struct.pack("<12i", 1, 1, 1, 2, 1, 1, 1, 2, 5, 5, 5, 5))
RUN = ints(1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5)
FOLDED = "{{1 <repeats 3 times>, 2}, {1 <repeats 3 times>, 2}, {5 <repeats 4 times>}}"
SETTINGS: list[tuple[PrintSettings, Value, str]] = [  # as GDB 13 prints them; unnamed members are no level
    (PrintSettings(max_depth=0), NESTED, "{...}"),
    (PrintSettings(max_depth=1), NESTED, "{a = 1, {b = {...}, {in = {...}, raw = 15597564}}, c = {...}}"),
    (PrintSettings(max_depth=2), NESTED,
     "{a = 1, {b = {2, 3}, {in = {s = -4, f = 5, g = -3}, raw = 15597564}}, c = {{...}, {...}}}"),
    (PrintSettings(max_depth=3), NESTED, "{a = 1, {b = {2, 3}, {in = {s = -4, f = 5, g = -3}, raw = 15597564}}, "
     "c = {{s = 6, f = 7, g = 8}, {s = 6, f = 7, g = 8}}}"),
    (PrintSettings(repeats=2), ROWS, FOLDED),
    (PrintSettings(repeats=2, elements=3), ROWS, FOLDED),
    (PrintSettings(repeats=2, elements=3), RUN, "{1 <repeats 8 times>, 2...}"),
    (PrintSettings(repeats=2, elements=5), RUN, "{1 <repeats 8 times>, 2, 3, 4...}"),
    (PrintSettings(repeats=2, array_indexes=True), ROWS, "{[0] = {[0] = 1 <repeats 3 times>, [3] = 2}, "
     "[1] = {[0] = 1 <repeats 3 times>, [3] = 2}, [2] = {[0] = 5 <repeats 4 times>}}"),
    (PrintSettings(repeats=2, array=True), ROWS, "{\n  {\n    1 <repeats 3 times>,\n    2\n  },\n  {\n"
     "    1 <repeats 3 times>,\n    2\n  },\n  {\n    5 <repeats 4 times>\n  }\n}"),
    (PrintSettings(union=False, max_depth=2), NESTED, "{a = 1, {b = {2, 3}, {...}}, c = {{...}, {...}}}"),
]


@pytest.mark.parametrize(("settings", "value", "expected"), SETTINGS)
def test_settings_apply_at_every_level(settings: PrintSettings, value: Value, expected: str) -> None:
    assert Formatter(settings).format(value) == expected


def test_partly_optimised_structure() -> None:
    class Half:
        """Storage whose second word is unavailable."""

        address = register = None

        def read(self, offset: int, size: int) -> bytes:
            from rocdbg.debugger.values.value_storage import AbsentError

            if offset + size > 4:
                raise AbsentError(Absence.OPTIMIZED_OUT)
            return struct.pack("<i", 42)[offset : offset + size]

        def write(self, offset: int, data: bytes) -> None:
            raise AssertionError

    two: Type = record(Member("x", c_types.INT, 0), Member("y", c_types.INT, 32), size=8)
    assert Formatter().format(Value(two, Half())) == "{x = 42, y = <optimized out>}"


def test_pretty_printers_come_first_and_raw_goes_past_them() -> None:
    def printer(value: Value) -> Pretty | str | None:
        if value.bare is not OUT:
            return None
        return Pretty("Out", [("in", value.part(IN, 16))])

    formatter = Formatter(printers=printer)
    value = Value(OUT, data=OUT_DATA)
    assert formatter.format(value) == "Out = {in = {s = -4, f = 5, g = -3}}"
    assert formatter.format(value, Format(raw=True)).startswith("{a = 1.5")
