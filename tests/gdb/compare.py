"""Run the sessions through rocdbg, and compare its answers with GDB's."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger.session import Session as Debugger
from tests.gdb.build import BOTH_SETTINGS, ELEMENTS, KERNEL, PROGRAMS, SECOND_ARGUMENT, build_device
from tests.gdb.normalise import normalise
from tests.gdb.session_files import Command, Session, read_golden, read_session


@dataclass(frozen=True)
class Pair:
    """A command, and the normalised answers of GDB and rocdbg."""

    session: str
    area: str
    command: str
    gdb: str
    rocdbg: str

    @property
    def equal(self) -> bool:
        """Whether the answers are the same."""
        return self.gdb == self.rocdbg


def make_shell(program: str, folder: Path) -> tuple[Shell, io.StringIO]:
    """A shell with the program loaded and its launch described, and the text that it writes."""
    code_object = folder / f"{program}.co"
    if not code_object.exists():
        build_device(program, folder)
    text = io.StringIO()
    shell = Shell(Debugger(), Writer(text), Writer(text))
    shell.session.load(code_object)
    launch = shell.session.launch
    launch.set_kernel(KERNEL)
    launch.set_grid("1")
    launch.set_workgroup("1")
    launch.set_argument(0, f"i32[{ELEMENTS}]:arange")
    launch.set_argument(1, str(SECOND_ARGUMENT))
    for setting in BOTH_SETTINGS:
        shell.run_line(f"set {setting}")
    return shell, text


def following(rest: Iterator[str]) -> Callable[[str], str]:
    """A reader of the rest of a block; raises EOFError if more lines are requested."""

    def read(prompt: str) -> str:
        for line in rest:
            return line
        raise EOFError

    return read


def answers(session: Session, folder: Path) -> list[str]:
    """rocdbg's answers to the commands. ``folder`` keeps the code objects."""
    with contextlib.chdir(PROGRAMS):
        shell, text = make_shell(session.program, folder)
        found = []
        for command in session.commands:
            text.seek(0)
            text.truncate()
            shell.out.at_line_start = True
            rest = iter(command.lines)
            for line in rest:  # the lines of a block that is refused are commands
                run_statement(shell, line, following(rest))
            answer = text.getvalue()
            found.append(command.counted(answer if not answer or answer.endswith("\n") else answer + "\n"))
    return found


def compare(name: str, folder: Path) -> list[Pair]:
    """The pairs of one session."""
    session = read_session(name)
    recorded = read_golden(name, session)
    pairs = []
    ahead = 0
    """The number of values that rocdbg's history has in addition to GDB's, by pairs that differ."""
    for command, expected, got in zip(session.commands, recorded, answers(session, folder), strict=True):
        line = command.lines[0]
        gdb, rocdbg = _compared(command, expected, _renumbered(got, -ahead))
        rocdbg = rocdbg.replace(str(folder), "<folder>")
        if gdb != rocdbg:
            ahead += len(VALUE.findall(got)) - len(VALUE.findall(expected))
        pairs.append(Pair(name, command.area, line, gdb, rocdbg))
    return pairs


VALUE = re.compile(r"(?m)^\$(\d+) = ")
"""The number that a value has in the history."""


def _renumbered(answer: str, by: int) -> str:
    return VALUE.sub(lambda found: f"${int(found[1]) + by} = ", answer) if by else answer


def _compared(command: Command, expected: str, got: str) -> tuple[str, str]:
    """Both answers in the form for comparison."""
    answers = normalise(expected), normalise(got)
    if command.first is None or not command.lines[0].startswith("help "):
        return answers
    name = answers[0].split(",", 1)[0]  # a line of names stands first where there are several
    summary = (answers[0].splitlines() or [""])[0].endswith(".")
    lines = 2 if answers[0].startswith(f"{name}, ") and len(name.split()) < 4 and not summary else 1
    return "\n".join(answers[0].splitlines()[:lines]), "\n".join(answers[1].splitlines()[:lines])
