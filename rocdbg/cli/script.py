"""Command scripts: lines that form commands and blocks (`if`, `while`, `define`, `document`, `commands`).

Parsing is separate from execution: `parse` turns lines into statements, which the shell runs. Lines may come from a
file, a string, or a prompt; at a prompt, more lines are read while a block is open.
"""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, field

from rocdbg.errors import Error


class ScriptError(Error):
    """A script cannot be read, or a block in it is not closed; ``file`` and ``line`` are the position."""

    def __init__(self, message: str, file: str = "", line: int = 0) -> None:
        self.file = file
        self.line = line
        super().__init__(f"{file}:{line}: {message}" if file else message)


class Line(Struct, frozen=True):
    """One command line; ``number`` is its number in the file, from 1."""

    text: str
    number: int = 0


class Block(Struct, frozen=True):
    """A block command: its head line, its body, and for `if` the `else` body."""

    head: Line
    body: list[Statement] = field(default_factory=list)
    otherwise: list[Statement] = field(default_factory=list)

    @property
    def keyword(self) -> str:
        """``if``, ``while``, ``define``, ``document``, ``commands`` or ``python``."""
        return self.head.text.split(None, 1)[0]

    @property
    def argument(self) -> str:
        """The rest of the head line."""
        parts = self.head.text.split(None, 1)
        return parts[1].strip() if len(parts) > 1 else ""


Statement: TypeAlias = Line | Block

STEPPING = ("while-stepping", "stepping", "ws")
BLOCKS = ("if", "while", "define", "document", "commands", "actions", *STEPPING, "python", "py")
VERBATIM = ("document", "python", "py")  # their bodies are text, not commands
MAX_DEPTH = 100
MAX_SIZE = 16 << 20
"""The maximum size of a command file in bytes."""
FIFO_SECONDS = 2.0
"""How many seconds to wait for a FIFO to have a writer."""


def opens_block(text: str) -> bool:
    """Whether a line begins a block that runs to its `end`."""
    words = text.split(None, 1)
    if not words or words[0] not in BLOCKS:
        return False
    return not (words[0] in ("python", "py") and len(words) > 1)  # `python CODE` is only one line


def parse(
    lines: Iterator[Line], file: str = "", check: Callable[[str], None] = lambda head: None
) -> Iterator[Statement]:
    """Yield the statements of a script. Lines are read only as needed, so that each statement runs before the next is
    read.

    ``check`` is called with the head of a block before the block is read. Raises `ScriptError` for a block without its
    `end` or its condition, and what ``check`` raises.
    """
    for line in lines:
        text = line.text.lstrip()  # blanks at the end can be significant
        if not text or text.startswith("#"):
            continue
        if opens_block(text):
            text = text.rstrip()
            _need_argument(text)
            check(text)
        yield _statement(Line(text, line.number), lines, file, 0)


def _need_argument(head: str) -> None:
    """Report a missing condition before the block is read."""
    if head in ("if", "while"):
        raise ScriptError(f"{head} command requires an argument.")


def _statement(line: Line, lines: Iterator[Line], file: str, depth: int) -> Statement:
    if not opens_block(line.text):
        return line
    if depth >= MAX_DEPTH:
        raise ScriptError("control structures are nested too deeply", file, line.number)
    block = Block(line)
    body = block.body
    for inner in lines:
        text = inner.text.strip()
        if text == "end":
            return block
        if block.keyword in VERBATIM:
            body.append(Line(inner.text.rstrip("\n"), inner.number))
        elif text == "else" and block.keyword == "if" and body is block.body:
            body = block.otherwise
        elif text and not text.startswith("#"):
            _need_argument(text)
            body.append(_statement(Line(inner.text.strip(), inner.number), lines, file, depth + 1))
    raise ScriptError(f'"{block.keyword}" without a matching "end"', file, line.number)


def read_script(path: Path) -> str:
    """Return the text of a command file. Raises `ScriptError` if it is too large or reading it would block.

    A pipe is read (``source <(command)``), up to `MAX_SIZE`; the writer of a FIFO is not waited for.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            mode = os.fstat(handle).st_mode
            if stat.S_ISDIR(mode):
                raise ScriptError(f"{path}: Is a directory.")
            if stat.S_ISFIFO(mode):
                if not _has_writer(handle):
                    raise ScriptError(f"{path}: This pipe has no writer.")
            elif not stat.S_ISREG(mode) and not os.isatty(handle) and str(path) != os.devnull:
                raise ScriptError(f"{path}: Not a regular file.")
            os.set_blocking(handle, True)
            data = file.read(MAX_SIZE + 1)
    except OSError as error:
        raise ScriptError(f"{path}: {error.strerror}.") from None
    except ValueError as error:  # a null character in the name
        raise ScriptError(f"{path}: {error}.") from None
    if len(data) > MAX_SIZE:
        raise ScriptError(f"{path}: File too big for a command file.")
    return data.decode("utf-8", "surrogateescape")


def _has_writer(handle: int) -> bool:
    """Whether a FIFO has, will have or had a writer; a writer has a short time to open it."""
    if select.select([handle], [], [], FIFO_SECONDS)[0]:
        return True
    try:
        os.read(handle, 1)  # no data: either there is no writer, and this is the end of the FIFO,
    except BlockingIOError:  # or the writer is slow
        return True
    return False


def numbered(text: str) -> Iterator[Line]:
    """Yield the lines of a text, numbered from 1; a backslash at the end of a line continues it."""
    pending, first = "", 0
    for number, line in enumerate(text.replace("\r\n", "\n").removesuffix("\n").split("\n"), 1):
        first = first or number
        if line.endswith("\\"):
            pending += line[:-1]
            continue
        yield Line(pending + line, first)
        pending, first = "", 0
    if pending:
        yield Line(pending, first)


def asking(first: str, more: Callable[[str], str]) -> Iterator[Line]:
    """Yield a typed line, and the lines that are read while its block is open; ``more`` is given the prompt ``>``."""
    yield Line(first)
    if opens_block(first.strip()):
        while True:
            yield Line(more(">"))
