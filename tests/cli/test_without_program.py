"""Output of commands before there is a program, as in GDB 13."""

from __future__ import annotations

import pytest

import rocdbg


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("info functions", "All defined functions:\n"),
        ("info variables", "All defined variables:\n"),
        ("info types", "All defined types:\n"),
        ("info functions foo", 'All functions matching regular expression "foo":\n'),
        ("info symbol 0", "No symbol matches 0.\n"),
        ("print $nothing", "$1 = void\n"),
    ],
)
def test_said(command: str, said: str) -> None:
    assert rocdbg.Debugger().execute(command, to_string=True) == said


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("print $pc", "No registers."),
        ("print $sp", "No registers."),
        ("x/i 0", "Cannot access memory at address 0x0"),
        ("info sources", 'No symbol table is loaded.  Use the "file" command.'),
    ],
)
def test_refused(command: str, message: str) -> None:
    with pytest.raises(rocdbg.Error) as caught:
        rocdbg.Debugger().execute(command, to_string=True)
    assert str(caught.value) == message
