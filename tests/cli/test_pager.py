"""Pages of output: when the pager asks the user, and the effect of the answers (as in GDB 13)."""

from __future__ import annotations

import io

import pytest

from rocdbg.cli.interrupts import Interrupted
from rocdbg.cli.pager import QUESTION, Pager
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Capture, Writer
from rocdbg.debugger.session import Session

QUESTION_LINE = QUESTION + "\n"


def paged(text: str, answers: list[str], **settings: object) -> str:
    """A command's output on a terminal of 80 columns; each answer is typed with Enter."""
    stream = io.StringIO()
    writer = Writer(stream)
    shell = Shell(Session(), writer, Writer(io.StringIO()))
    shell.settings.update({"width": 80, **settings})

    def ask(question: str) -> str:
        stream.write(question + "\n")
        return answers.pop(0)

    writer.pager = Pager(shell, stream, ask)
    try:
        writer.raw(text)
    except Interrupted:
        stream.write("Quit\n")
    assert not answers
    return stream.getvalue()


LINES = "".join(f"{number}\n" for number in range(1, 8))

CASES = [
    # name, settings, answers, the text shown of seven lines
    ("a page", {"height": 4}, ["", ""], f"1\n2\n3\n{QUESTION_LINE}4\n5\n6\n{QUESTION_LINE}7\n"),
    ("quit", {"height": 4}, ["q"], f"1\n2\n3\n{QUESTION_LINE}Quit\n"),
    ("no more pages", {"height": 4}, ["c"], f"1\n2\n3\n{QUESTION_LINE}4\n5\n6\n7\n"),
    ("it just fits", {"height": 8}, [], LINES),
    ("unlimited", {"height": 0}, [], LINES),
    ("off", {"height": 4, "pagination": False}, [], LINES),
    ("a page of one line", {"height": 1}, ["", "q"], f"1\n{QUESTION_LINE}2\n{QUESTION_LINE}Quit\n"),
]


@pytest.mark.parametrize(("settings", "answers", "shown"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_pages(settings: dict[str, object], answers: list[str], shown: str) -> None:
    assert paged(LINES, list(answers), **settings) == shown


def test_long_lines_take_several_rows() -> None:
    long = "x" * 25
    assert paged(f"{long}\n1\n2\n", [""], height=4, width=10) == f"{long}\n{QUESTION_LINE}1\n2\n"
    # colours take no room, wide characters take two columns
    red = f"\x1b[31m{'x' * 10}\x1b[m"
    assert paged(f"{red}\n" * 3, [], height=4, width=10) == f"{red}\n" * 3
    assert paged("\u4e2d" * 8 + "\n1\n2\n", [""], height=3, width=10) == f"{chr(0x4e2d) * 8}\n{QUESTION_LINE}1\n2\n"


def test_what_a_program_reads_has_no_pages() -> None:
    shell = Shell(Session(), Writer(io.StringIO()), Writer(io.StringIO()))
    shell.settings["height"] = 3

    def ask(question: str) -> str:
        raise AssertionError(question)

    shell.out.pager = Pager(shell, shell.out.stream, ask)
    with Capture(shell.out) as text:
        shell.out.raw(LINES)
    assert text.getvalue() == LINES
