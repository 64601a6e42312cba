"""rocdbg's answers compared with those of GDB 13, for the same commands about the same programs.

Every pair of answers that are not equal is a row of `differences/`, with both answers and the reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.breadth import some_of
from tests.gdb.compare import compare
from tests.gdb.differences import FOLDER, KINDS, Row, read, rows_of, write
from tests.gdb.normalise import normalise
from tests.gdb.session_files import expanded, read_session, session_names


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Caches the programs' code objects, because several sessions share one."""
    return tmp_path_factory.mktemp("gdb")


USUAL = [
    "calls_breakpoints", "calls_called", "calls_sources", "calls_stack", "calls_words", "classes_expressions",
    "convenience", "digits_settings", "digits_words", "errors", "ferry_control", "grid_display", "hashing_session",
    "help_more", "inlined_running", "layout_expressions", "ledger_expressions", "matrix_session", "maze_scripts",
    "maze_settings", "maze_words", "memory", "mixture_values", "parser_data", "printf_modifiers", "queue_types",
    "radio_values", "scalars_expressions", "scalars_formats", "scalars_print_settings", "scalars_x", "scripting",
    "scripting_words", "shapes_running", "steps_running", "steps_stack", "stock_types", "stock_values",
    "steps_session", "twins_units", "vault_hw", "warehouse_words", "watch_location", "watch_read", "watch_words",
]
"""The shortest sessions that together contain every command, option, format and operator of any session. There are
additional sessions for steps and for accesses to watched memory, because the answers of the commands in the shortest
sessions may depend on little.
"""


@pytest.mark.llvm
@pytest.mark.truth
@pytest.mark.parametrize("name", some_of(session_names(), USUAL))
def test_answers_differ_in_the_rows_and_nowhere_else(name: str, built: Path) -> None:
    found, accepted = rows_of(compare(name, built)), list(read(name))
    new = [row for row in found if row not in accepted]
    gone = [row for row in accepted if row not in found]
    assert (new, gone) == ([], []), f"python -m tests.gdb.differences {name}"
    assert found == accepted


def test_rows_are_of_sessions_and_have_reasons() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} <= set(session_names())
    reasons = {why for name in session_names() for why in read(name).values()}
    assert {why.partition(": ")[0] for why in reasons} <= set(KINDS)


def test_rows_are_read_as_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {
        Row("p 1", 1, "$1 = 1", ""): "ours: a", Row("p 1", 2, "", "x\n\n-y\n"): "ours: a",
        Row("p (gdb) # 2", 1, "# b", "(gdb) c"): "GDB: # d",
    }
    monkeypatch.setattr("tests.gdb.differences.FOLDER", tmp_path)
    write("some", rows)
    assert read("some") == rows


def test_there_are_sessions() -> None:
    commands = [command for name in session_names() for command in read_session(name).commands]
    assert len(commands) > 3000


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("p a[0]", ["p a[0]"]),
        ("p/[[x|d]] a", ["p/x a", "p/d a"]),
        ("p [[a[0]|b[1]]]", ["p a[0]", "p b[1]"]),
        ("p [[a|b]]+[[1|2]]", ["p a+1", "p a+2", "p b+1", "p b+2"]),
    ],
)
def test_a_line_stands_for_commands(line: str, commands: list[str]) -> None:
    assert expanded(line) == commands


@pytest.mark.parametrize(
    ("gdb", "rocdbg"),
    [
        ("$1 = (int *) 0x7fffffffe5c8\n", "$1 = (int *) private_lane#0xc\n"),
        ("0x555555558020 <table>:\t1\n", "0x7f00001049f0 <table>:\t1\n"),
        ("\nBreakpoint 1, f (a=7) at a.c:10\n", '\nThread 1 "kern" hit Breakpoint 1, with lane 0, f (a=7) at a.c:10\n'),
        ("Breakpoint 1 at 0x116a: file a.c, line 10.\n", "Breakpoint 1 at 0x199c: file a.c, line 10.\n"),
        ("[Inferior 1 (process 12) exited normally]\n", "[Inferior 1 (dispatch 1, kernel k) exited normally]\n"),
    ],
)
def test_what_must_differ_is_the_same(gdb: str, rocdbg: str) -> None:
    assert normalise(gdb) == normalise(rocdbg)


@pytest.mark.parametrize("text", ["$1 = 0x1234\n", "$1 = 0xdeadbeef\n", "table+4\n", "$1 = -7\n", "line 10\n"])
def test_values_are_left_alone(text: str) -> None:
    assert normalise(text) == text
