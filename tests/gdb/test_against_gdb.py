"""rocdbg's answers against those of GDB 13 to the same commands about the same programs.

`scores.txt` is a ratchet: a session's number of equal pairs in an area never falls. ``ROCDBG_UPDATE_GOLDEN=1`` writes
it anew (in one process).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.gdb.compare import compare
from tests.gdb.normalise import normalise
from tests.gdb.scores import read_scores, score, write_scores
from tests.gdb.session_files import differences, expanded, read_session, session_names


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keeps the programs' code objects: several sessions share one."""
    return tmp_path_factory.mktemp("gdb")


@pytest.mark.llvm
@pytest.mark.parametrize("name", session_names())
def test_no_session_gets_worse(name: str, built: Path) -> None:
    pairs = compare(name, built)
    now, before = score(pairs), read_scores().get(name, {})
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        write_scores(name, now)
        before = now
    assert {area: total for area, (_, total) in now.items()} == {area: total for area, (_, total) in before.items()}
    used = {pair.command for pair in pairs if pair.reason}
    assert used == set(differences().get(name, {})), "differences.txt has commands that answer alike, or none"
    worse = {area: (now[area], was) for area, was in before.items() if now[area] < was}
    assert not worse, f"run `python -m tests.gdb.report {name}` for the pairs"


def test_scores_and_reasons_are_of_sessions() -> None:
    assert set(read_scores()) == set(session_names())
    assert set(differences()) <= set(session_names())


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
