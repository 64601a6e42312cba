"""The command window: output of commands, with scroll-back. The prompt is below it."""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Callable, Mapping

from prompt_toolkit.formatted_text import ANSI, to_formatted_text

from rocdbg.cli.screen.fragments import Fragment, Line, clean, columns, expanded, first_columns
from rocdbg.cli.screen.pane import Pane
from rocdbg.cli.screen.session_view import View

MOST_LINES = 10_000
"""The maximum number of lines that are kept."""
MOST_CHARACTERS = 1 << 16
"""The maximum number of characters of a line that are kept."""


class CommandPane(Pane):
    """Receives its text through `stream`. `back` is the number of rows below the visible ones."""

    name = "cmd"

    def __init__(self) -> None:
        super().__init__()
        self.stream = _Stream(self.write)
        self.back = 0
        self._done: deque[str] = deque(maxlen=MOST_LINES)
        self._open = ""
        self._version = 0

    def write(self, text: str) -> None:
        """Add text, and scroll to the newest."""
        *done, self._open = (self._open + text.replace("\r\n", "\n")).split("\n")
        self._done.extend(line[:MOST_CHARACTERS] for line in done)
        self._open = self._open[:MOST_CHARACTERS]
        self._version += 1
        self.back = 0

    def restyle(self, before: Mapping[str, str], now: Mapping[str, str]) -> None:
        """Change the theme: text that was written with the escape sequences of the former theme is also shown in the
        styles of the new theme.
        """
        new = {sequence: now.get(role, "") for role, sequence in before.items() if sequence}
        if not new:
            return
        old = re.compile("|".join(map(re.escape, sorted(new, key=len, reverse=True))))
        self._done = deque((old.sub(lambda found: new[found[0]], line) for line in self._done), MOST_LINES)
        self._open = old.sub(lambda found: new[found[0]], self._open)
        self._version += 1

    def take_open_line(self) -> str:
        """Take the text after the last newline, where the prompt continues."""
        text, self._open = self._open, ""
        self._version += 1
        return text

    def clear(self) -> None:
        """Drop all text."""
        self._done.clear()
        self._open = ""
        self._version += 1

    def title(self, view: View) -> list[Fragment]:
        return []

    def state(self) -> object:
        return self.back, self._version

    def scroll(self, rows: int) -> None:
        self.back = max(0, self.back - rows)

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        """Return the rows up to `back` rows before the end; long lines are wrapped."""
        self.height = height
        wanted = height + self.back
        rows: list[Line] = []
        texts = [self._open] if self._open else []
        for text in (*texts, *reversed(self._done)):
            if len(rows) >= wanted:
                break
            rows[:0] = _wrap(_styled(text), width)
        self.back = max(0, min(self.back, len(rows) - height))
        end = len(rows) - self.back
        return rows[max(0, end - height) : end]


def _styled(text: str) -> Line:
    if "\x1b" not in text:
        return [("", expanded(text, 8))]
    found: Line = []
    at = 0
    for style, part, *_ in to_formatted_text(ANSI(text)):
        part = expanded(part, 8, at)
        at += columns(part)
        found.append((style, part))
    return found


def _wrap(line: Line, width: int) -> list[Line]:
    """Wrap a line into rows. As on terminals, a wide character that does not fit begins the next row."""
    if sum(columns(clean(text)) for _, text in line) <= width:
        return [line]
    rows: list[Line] = [[]]
    left = width
    for style, text in line:
        text = clean(text)
        while columns(text) > left:
            here = first_columns(text, left)
            if not here and left == width:
                break  # a wide character does not fit in a window of one column
            rows[-1].append((style, here))
            rows.append([])
            text, left = text[len(here) :], width
        rows[-1].append((style, text))
        left -= columns(text)
    return rows


class _Stream(io.StringIO):
    """A text stream that passes on everything that is written to it."""

    def __init__(self, write: Callable[[str], None]) -> None:
        super().__init__()
        self._write = write
        self.flushed: Callable[[], None] = lambda: None
        self.show_progress: Callable[[str], None] = lambda text: None

    def write(self, text: str) -> int:
        self._write(text)
        return len(text)

    def flush(self) -> None:
        self.flushed()
