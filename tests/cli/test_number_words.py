"""Breakpoint numbers given as `$NAME` or as a value of the history: the output equals GDB 13's."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from rocdbg.cli.script import Line
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]
NO_INTEGER = "Convenience variable must have integer value.\n"

CASES = [
    ("condition $bpnum", "Breakpoint 2 now unconditional.\n"),
    ("condition $one", "Breakpoint 1 now unconditional.\n"),
    ("condition $one+1", "Bad breakpoint argument: '$one+1'\n"),
    ("condition $", "Breakpoint 2 now unconditional.\n"),
    ("condition $$1", "Breakpoint 1 now unconditional.\n"),
    ("condition $1", "Breakpoint 1 now unconditional.\n"),
    ("condition $half", f"{NO_INTEGER}Bad breakpoint argument: '$half'\n"),
    ("condition $nosuch", f"{NO_INTEGER}Bad breakpoint argument: '$nosuch'\n"),
    ("condition $pc", f"{NO_INTEGER}Bad breakpoint argument: '$pc'\n"),
    ("condition $9", "History has not yet reached $9.\n"),
    ("ignore $bpnum 2", "Will ignore next 2 crossings of breakpoint 2.\n"),
    ("ignore $nosuch 2", f"{NO_INTEGER}bad breakpoint number: '$nosuch 2'\n"),
    ("disable $one-5", "No breakpoint number 3.\nNo breakpoint number 4.\nNo breakpoint number 5.\n"),
    ("enable $bpnum.1", ""),
    ("delete $one $nosuch", f"{NO_INTEGER}warning: bad breakpoint number at or near '0'\n"),
    ("delete $one-$bpnum", ""),
]


@pytest.mark.parametrize(("line", "wanted"), CASES, ids=[line for line, _ in CASES])
def test_number_words(line: str, wanted: str, make_shell: MakeShell) -> None:
    shell, text = make_shell("saxpy/saxpy.toml")
    shell.execute("set $one = 1\nset $half = 0.5\nbreak saxpy\nbreak saxpy\nprint 1\nprint 2")
    text.seek(0)
    text.truncate()
    shell.run_guarded(Line(line))
    assert text.getvalue() == wanted


def test_commands_of_the_last_breakpoint(make_shell: MakeShell) -> None:
    shell, _ = make_shell("saxpy/saxpy.toml")
    shell.execute("break saxpy\nbreak saxpy\ncommands $bpnum\nsilent\nend")
    assert [row.commands for row in shell.session.breakpoints] == [[], ["silent"]]
