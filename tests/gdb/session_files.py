"""Session files: the commands that are typed into both debuggers.

A line is a command; lines after it that begin with ``>`` are the rest of its block. ``# ...`` is a comment, ``%program
NAME`` gives the program to load, and ``%area NAME`` the area to which the commands below it belong. ``[[a|b|c]]`` in a
command represents one command for each of the words; several of them represent one command for each combination. Below
``%first N`` (until ``%first 0``), only the first N lines of the answers are kept. Only the names and the summary of a
help text are compared, because each debugger has its own manual.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.gdb.build import HERE

SESSIONS = HERE / "sessions"
GOLDEN = HERE / "golden"
PROMPT = "(gdb) "
CHOICE = re.compile(r"\[\[(.*?)\]\](?!\])")


@dataclass
class Command:
    """A command with its block's lines, and the area to which it belongs."""

    area: str
    lines: list[str]
    first: int | None = None
    """The number of lines of its answer that are compared; None: all of them."""

    def counted(self, answer: str) -> str:
        """The part of an answer that is compared."""
        return "".join(answer.splitlines(keepends=True)[: self.first])


@dataclass
class Session:
    """The commands for one program."""

    program: str = ""
    commands: list[Command] = field(default_factory=list)


def session_names() -> list[str]:
    """All sessions, in order."""
    return sorted(path.stem for path in SESSIONS.glob("*.txt"))


def read_session(name: str) -> Session:
    """The session file of that name."""
    session, area, first = Session(), "", None
    for line in (SESSIONS / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if not line or line.startswith("# "):
            continue
        if word == "%program":
            session.program = rest
        elif word == "%area":
            area = rest
        elif word == "%first":
            first = int(rest) or None
        elif line.startswith(">"):
            session.commands[-1].lines.append(line[1:])
        else:
            session.commands += [Command(area, [text], first) for text in expanded(line)]
    return session


def expanded(line: str) -> list[str]:
    """The commands that a line represents: ``p/[[x|d]] a`` is ``p/x a`` and ``p/d a``."""
    parts = CHOICE.split(line)
    choices = [part.split("|") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(words) for words in itertools.product(*choices)]


def golden_path(name: str) -> Path:
    """The file with a session's answers."""
    return GOLDEN / f"{name}.txt"


def write_golden(name: str, session: Session, answers: list[str]) -> None:
    """Record the answers, each after its command; lines of a block follow ``>``."""
    text = []
    for command, answer in zip(session.commands, answers, strict=True):
        text.append(PROMPT + "\n>".join(command.lines) + "\n" + answer)
    golden_path(name).write_text("".join(text), encoding="utf-8")


def read_golden(name: str, session: Session) -> list[str]:
    """The recorded answers, one for each command. Raises ValueError if they belong to other commands."""
    text = golden_path(name).read_text(encoding="utf-8")
    answers = []
    for index, command in enumerate(session.commands):
        head = PROMPT + "\n>".join(command.lines) + "\n"
        if not text.startswith(head):
            raise ValueError(f"{name}: {command.lines[0]!r} has no recorded answer; run `python -m tests.gdb.record`")
        text = text[len(head) :]
        following = session.commands[index + 1 : index + 2]
        end = text.find(PROMPT + "\n>".join(following[0].lines) + "\n") if following else len(text)
        answers.append(text[:end])
        text = text[end:]
    return answers
