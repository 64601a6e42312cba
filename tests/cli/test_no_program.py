"""Output of commands in a session without a program: GDB 13's text."""

from __future__ import annotations

import pytest

from rocdbg import Debugger, Error

NO_TABLE = 'No symbol table is loaded.  Use the "file" command.'
SAID = [
    ("p $pc", "No registers."), ("x/i $pc", "No registers."), ("info registers", "The program has no registers now."),
    ("info frame", "No stack."), ("bt", "No stack."), ("up", "No stack."), ("info locals", "No frame selected."),
    ("disassemble", "No frame selected."), ("next", "The program is not being run."),
    ("stepi", "The program is not being run."), ("finish", "The program is not being run."),
    ("info address x", 'No symbol "x" in current context.'),
    ("list", NO_TABLE), ("ptype int", "type = int"), ("p sizeof(int)", "$1 = 4"),
]


@pytest.mark.parametrize(("line", "answer"), SAID)
def test_without_a_program(line: str, answer: str) -> None:
    try:
        said = Debugger().execute(line, to_string=True).strip()
    except Error as error:
        said = str(error)
    assert said == answer


def test_what_needs_registers_is_displayed_later() -> None:
    made = Debugger()
    made.execute("display/i $pc", to_string=True)
    assert made.execute("info display", to_string=True).splitlines()[-1] == "1:   y  /1bi $pc"
