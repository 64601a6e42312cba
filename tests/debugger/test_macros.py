"""The preprocessor's macros: what compilers record of them, where they are in force, and how they expand."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from rocdbg.debugger import Session
from rocdbg.debugger.base.errors import ExpressionError, NoSymbolError
from rocdbg.debugger.expr.parsing.macro_expansion import expand
from rocdbg.debugger.expr.parsing.macro_scope import macros_at
from rocdbg.dwarf.info import DebugInfo, DebugInfoError
from rocdbg.dwarf.info.macro_sections import MacroTable, definition, macros_of

SOURCE = Path(__file__).parent / "sources" / "macros.cl"
OPENCL = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-w", "-fdebug-macro", "-O0"]


def sections_of(path: Path) -> dict[str, bytes]:
    elf = ELFFile(io.BytesIO(path.read_bytes()))
    return {section.name: section.data() for section in elf.iter_sections() if section.name.startswith(".debug")}


def main_table(sections: dict[str, bytes]) -> MacroTable:
    (unit,) = DebugInfo(sections).units
    return macros_of(unit)


@pytest.mark.llvm
@pytest.mark.parametrize(
    "command",
    [["clang-22", *OPENCL, "-gdwarf-5"], ["clang-22", *OPENCL, "-gdwarf-4"], ["gcc", "-xc", "-g3", "-DGIVEN=1"],
     ["gcc", "-xc", "-g3", "-gdwarf-4"]],
    ids=["clang", "clang, .debug_macinfo", "gcc", "gcc, GNU's sections"],
)
def test_at_the_end_they_are_the_preprocessors(command: list[str], tmp_path: Path) -> None:
    """The macros after the last line are those that -dM lists."""
    source = SOURCE
    if command[0] == "gcc":
        command = [*command, "-Dkernel=", "-Dglobal=", "-fPIC", "-shared", "-nostdlib"]
    output = tmp_path / "macros.co"
    subprocess.run([*command, str(source), "-o", str(output)], check=True)
    listed = subprocess.run(
        [*command, "-E", "-dM", str(source)], check=True, capture_output=True, text=True
    ).stdout
    expected = {}
    for line in listed.splitlines():
        macro = definition(line.removeprefix("#define "))
        expected[macro.name] = (macro.parameters, macro.replacement)
    (unit,) = DebugInfo(sections_of(output)).units
    found = macros_of(unit).at(next(file for file in unit.files if file.path.endswith("macros.cl")), 1000)
    assert {name: (macro.parameters, macro.replacement) for name, macro in found.items()} == expected
    assert len(found) > 100


def stopped(folder: Path, *options: str) -> Session:
    """A session stopped after the second definition of WIDTH."""
    output = folder / "macros.co"
    subprocess.run(["clang-22", *OPENCL, "-g", *options, str(SOURCE), "-o", str(output)], check=True, cwd=folder)
    if "package" in folder.name:
        subprocess.run(["llvm-dwp-22", "-e", str(output), "-o", f"{output}.dwp"], check=True, cwd=folder)
        for part in folder.glob("*.dwo"):
            part.unlink()
    session = Session()
    session.load(output)
    session.launch.set_kernel("k")
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.break_at("17")
    session.run()
    return session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    session = stopped(tmp_path_factory.mktemp("macros"))
    yield session
    session.running.kill()


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("expression", "value"),
    [("SQ(i)", "289"), ("WIDTH + 1", "9"), ("NESTED(1)", "8"), ("SQ (2)", "4"), ("EMPTY i", "17"), ("STR(hi)", '"hi"'),
     ("$_lane + WIDTH", "8"), ("sizeof(STR(hello))", "6"), ("TWICE(2)", "8"), ("NESTED(SQ(WIDTH))", "71")],
)
def test_in_expressions(session: Session, expression: str, value: str) -> None:
    assert session.data.format(session.data.evaluate(expression)) == value


def check_where_they_hold(session: Session) -> None:
    scope = macros_at(session.data.environment())
    assert (found := scope.find("WIDTH")) is not None and found.replacement == "8"
    assert [macro.replacement for macro in scope.all_of("WIDTH")] == ["4", "8"]
    assert scope.find("LATE") is None
    header = scope.find("FROM_HEADER")
    assert header is not None and header.place is not None and header.place.parent is not None
    assert header.place.file is not None and header.place.file.basename == "macros.h" and header.place.line == 1
    assert header.place.parent.file == scope.file and header.place.parent.line == 1


@pytest.mark.llvm
def test_where_they_hold(session: Session) -> None:
    check_where_they_hold(session)
    with pytest.raises(NoSymbolError, match="SELF"):
        session.data.evaluate("SELF")


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("folder", "options"),
    [("old", ("-gdwarf-4",)), ("split", ("-gsplit-dwarf",)), ("split old", ("-gsplit-dwarf", "-gdwarf-4")),
     ("package", ("-gsplit-dwarf",))],
)
def test_where_they_hold_in_other_sections(folder: str, options: tuple[str, ...], tmp_path: Path) -> None:
    """Macros of split units number files by a separate line table."""
    (tmp_path / folder).mkdir()
    session = stopped(tmp_path / folder, *options)
    check_where_they_hold(session)
    session.running.kill()


@pytest.mark.llvm
def test_of_the_user(session: Session) -> None:
    session.data.user_macros["MINE"] = definition("MINE(a) a*WIDTH")
    assert session.data.format(session.data.evaluate("MINE(3)")) == "24"
    del session.data.user_macros["MINE"]


MACROS = {
    macro.name: macro
    for macro in map(definition, [
        "SQ(x) ((x)*(x))", "CAT(a,b) a##b", "STR(x) #x", "XSTR(x) STR(x)", "VAR(fmt, ...) f(fmt, __VA_ARGS__)",
        "NAMED(args...) g(args)", "EMPTY", "SELF SELF + 1", "TWICE(x) SQ(x) + SQ(x)", "WIDTH 8",
        "PING PONG", "PONG PING", "NONE() 1", "BOOM(x) x x x x x x x x",
    ])
}


# What GDB 13's `macro expand' answers for the same macros.
@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("SQ(i) + WIDTH", "((i)*(i)) + 8"), ("TWICE(2)", "((2)*(2)) + ((2)*(2))"), ("CAT(x,y)", "xy"),
        ('STR(a + "b")', r'"a + \"b\""'), ("XSTR(WIDTH)", '"8"'), ("STR(WIDTH)", '"WIDTH"'),
        ('VAR("a", 1, 2)', 'f("a", 1, 2)'), ("NAMED(1,2)", "g(1,2)"), ("SELF", "SELF + 1"), ("EMPTY", ""), ("SQ", "SQ"),
        ("SQ(SQ(2))", "((((2)*(2)))*(((2)*(2))))"), ("PING", "PING"), ("NONE()", "1"), ('"WIDTH"', '"WIDTH"'),
        ("$WIDTH", "$WIDTH"), ("SQ((1,2))", "(((1,2))*((1,2)))"), ("x.WIDTHS", "x.WIDTHS"),
    ],
)
def test_expansion(text: str, expanded: str) -> None:
    assert expand(text, MACROS.get) == expanded


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SQ(1", "Malformed argument list for macro `SQ'."),
        ("SQ(1,2)", "Wrong number of arguments to macro `SQ' (expected 1, got 2)."),
        ("SQ(" * 2000 + "1" + ")" * 2000, "The expansion of macros is too long."),
        ("BOOM(" * 12 + "1" + ")" * 12, "The expansion of macros is too long."),
    ],
)
def test_errors_of_expansion(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        expand(text, MACROS.get)
    assert str(caught.value).startswith(message)


def by_hand(body: bytes) -> dict[str, bytes]:
    """A unit whose macros are these bytes after a header."""
    abbreviations = bytes((1, 0x11, 0, 0x79, 0x17, 0, 0, 0))
    unit = (5).to_bytes(2, "little") + bytes((1, 8)) + bytes(4) + b"\x01" + bytes(4)
    return {
        ".debug_abbrev": abbreviations, ".debug_info": len(unit).to_bytes(4, "little") + unit,
        ".debug_macro": b"\x05\x00\x00" + body,
    }


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"\x01\x01A 1", "no string at this offset"),
        (b"\x01", "truncated"), (b"\x04", "an included file ends, but none has begun"),
        (b"\x07\0\0\0\0", "the macro unit imports itself"), (b"\x05\x01\xff\xff\xff\xff", "no string at this offset"),
        (b"\x20\x01", "unknown type of macro entry 0x20"), (b"\x03\x00\x00" * 300, "included files are nested more "
        "than"),
    ],
)
def test_damage(body: bytes, what: str) -> None:
    with pytest.raises(DebugInfoError, match=what):
        main_table(by_hand(body))


def test_of_a_supplementary_file() -> None:
    sections = by_hand(b"\x08\x02\x02\0\0\0" b"\x09\x03\x0a\0\0\0" b"\x0a\x01\0\0\0" b"\x01\x05E 3\0\0")
    supplement = {
        ".debug_str": b"\0\0D 1\0S 2\0D\0",
        ".debug_macro": b"\0\x05\x00\x00" b"\x05\x04\x06\0\0\0" b"\0",
    }
    unit, = DebugInfo(sections, supplement=lambda: supplement).units
    found = [(change.name, change.macro is None) for change in macros_of(unit).changes]
    assert found == [("D", False), ("D", True), ("S", False), ("E", False)]
    unit, = DebugInfo(sections).units  # without the file what it has is left out
    assert [change.name for change in macros_of(unit).changes] == ["E"]


def test_definitions_without_a_file_hold_everywhere() -> None:
    table = main_table(by_hand(b"\x01\x00A 1\0\x01\x00B(x) x\0\x02\x00A\0\0"))
    assert [(change.name, change.macro is None) for change in table.changes] == [
        ("A", False), ("B", False), ("A", True)
    ]
