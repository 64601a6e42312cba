"""rocdbg's answers against those of GDB 13 to the same commands about the same programs.

`scores.txt` is a ratchet: an area's number of equal pairs never falls. ``ROCDBG_UPDATE_GOLDEN=1`` writes it anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.gdb.build import HERE
from tests.gdb.compare import compare, table
from tests.gdb.normalise import normalise
from tests.gdb.session_files import differences, expanded, read_session, session_names

SCORES = HERE / "scores.txt"


def parse_scores(text: str) -> dict[str, tuple[int, int]]:
    """``AREA: EQUAL/TOTAL`` lines as area -> (equal, total)."""
    rows = (line.rpartition(": ") for line in text.splitlines())
    numbers = {area: score.split("/") for area, _, score in rows}
    return {area: (int(equal), int(total)) for area, (equal, total) in numbers.items()}


@pytest.mark.llvm
def test_no_area_gets_worse(tmp_path: Path) -> None:
    pairs = [pair for name in session_names() for pair in compare(name, tmp_path)]
    got = table(pairs)
    print(got)
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        SCORES.write_text(got, encoding="utf-8")
    wanted, now = parse_scores(SCORES.read_text(encoding="utf-8")), parse_scores(got)
    assert {area: total for area, (_, total) in now.items()} == {area: total for area, (_, total) in wanted.items()}
    used = {(pair.session, pair.command) for pair in pairs if pair.reason}
    listed = {(name, command) for name, commands in differences().items() for command in commands}
    assert listed == used, "differences.txt has commands that answer alike, or none"
    worse = {area: (now[area], before) for area, before in wanted.items() if now[area] < before}
    assert not worse, "run `python -m tests.gdb.report` for the pairs"


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
