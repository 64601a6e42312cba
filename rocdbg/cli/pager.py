"""Pages of output on a terminal, as in GDB: after each, the user is asked whether to continue."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from rocdbg.cli.interrupts import Interrupted

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
QUESTION = "--Type <RET> for more, q to quit, c to continue without paging--"


def _answer(question: str) -> str:
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        sys.stdout.write("\n")
        return "q"
    return line.strip()


class Pager:
    """Counts the rows that a command writes to a stream. The page has the size of the terminal, or that of ``set
    height|width``.

    ``ask`` returns the answer to `QUESTION`.
    """

    def __init__(self, shell: Shell, stream: TextIO, ask: Callable[[str], str] = _answer) -> None:
        self._shell = shell
        self.stream = stream
        self._ask = ask
        self._rows = 0
        self._column = 0
        self._continues = False
        self._found: dict[str, int] = {}

    def begin(self) -> None:
        """Begin a new page for a command. The terminal's size applies unless the user has set another one."""
        self._rows = self._column = 0
        self._continues = False
        settings = self._shell.settings
        try:
            size = os.get_terminal_size(self.stream.fileno())
        except (OSError, ValueError):
            return
        for name, now in (("height", size.lines), ("width", size.columns)):
            if name not in settings or settings[name] == self._found.get(name):
                settings[name] = self._found[name] = now

    def pieces(self, text: str) -> Iterator[str]:
        """Yield a text in pieces that may be written; between them the user reads. Raises `Interrupted` for ``q``."""
        height, width = (self._size(name) for name in ("height", "width"))
        if not height or self._continues or self._shell.settings.get("pagination", True) is False:
            yield text
            return
        for line in _lines(text):
            if self._rows >= max(1, height - 1) and not self._continues:
                self._pause()
            yield line
            self._column += _columns(ESCAPES.sub("", line.rstrip("\n")))
            if line.endswith("\n"):
                self._rows += 1 + (max(0, self._column - 1) // width if width else 0)
                self._column = 0

    def _pause(self) -> None:
        self._rows = 0
        answer = self._ask(QUESTION)
        if answer[:1] == "q":
            raise Interrupted
        self._continues = answer[:1] == "c"

    def _size(self, name: str) -> int:
        value = self._shell.settings.get(name, 0)
        return value if isinstance(value, int) else 0


def _lines(text: str) -> list[str]:
    """Split a text at newlines only."""
    *whole, last = text.split("\n")
    return [line + "\n" for line in whole] + ([last] if last else [])


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    from prompt_toolkit.utils import get_cwidth  # cheap here: the terminal's prompt has already imported it

    return get_cwidth(text)
