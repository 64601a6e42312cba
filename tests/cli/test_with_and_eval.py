"""`with` and `eval`: the output equals GDB 13's."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from rocdbg.cli.script import Line
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]
LIMIT = "Limit on string chars or array elements to print is {}.\n"
WRONG_NUMBER = "Wrong number of arguments for specified format-string\n"

CASES = [
    ("with print elements 3 -- show print elements", LIMIT.format(3)),
    ("w print elements 3-- show print elements", LIMIT.format(3)),
    ("with p el 3 -- with output-radix 16 -- print 10", "$1 = 0xa\n"),
    ("with p el 3 -- w p pretty -- show print elements", LIMIT.format(3)),
    ("with print pretty -- show print pretty", "Pretty formatting of structures is on.\n"),
    ("with", "Missing arguments.\n"),
    ("with -- print 1", "Missing setting before '--' delimiter\n"),
    ("with print pretty on", "No previous command to relaunch\n"),
    ("with nosuch on -- print 1", 'Undefined set command: "nosuch".  Try "help set".\n'),
    ("with var x = 1 -- print 1", 'Cannot use this setting with the "with" command\n'),
    ("with print elements x -- print 1", 'No symbol table is loaded.  Use the "file" command.\n'),
    ("with print elements 3 -- nosuch", 'Undefined command: "nosuch".  Try "help".\n'),
    ('eval "print %d", 2 + 3', "$1 = 5\n"),
    ('eval "with output-radix %d -- print 10", 16', "$1 = 0xa\n"),
    ('eval ""', ""),
    ('eval "nosuch %d", 5', 'Undefined command: "nosuch".  Try "help".\n'),
    ('eval "print %d"', WRONG_NUMBER),
    ('eval "print %d", 5, 6', WRONG_NUMBER),
    ("eval", "Argument required (format-control string and values to print).\n"),
    ("eval foo", "Bad format string, missing '\"'.\n"),
]


@pytest.mark.parametrize(("line", "wanted"), CASES, ids=[line for line, _ in CASES])
def test_answers(line: str, wanted: str, make_shell: MakeShell) -> None:
    shell, text = make_shell()
    settings = shell.session.settings
    before = (settings.print, settings.output_radix)
    shell.run_guarded(Line(line))
    assert text.getvalue() == wanted
    assert (settings.print, settings.output_radix) == before


def test_with_alone_repeats_the_last_command(make_shell: MakeShell) -> None:
    shell, text = make_shell()
    for line in ("print 10", "with output-radix 16", "with output-radix 8"):
        shell.run_guarded(Line(line), repeatable=True)
    shell.repeat_last()
    assert text.getvalue() == "$1 = 10\n$2 = 0xa\n$3 = 012\n$4 = 10\n"
