"""Where a shell's text goes: a stream or a string, styled or plain.

Commands write through a `Writer` and never print. Styled text is a run of (style, text) parts, with the
style names of `STYLES`; a writer without colour drops the styles.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TextIO

# GDB's default colours for what it styles.
STYLES = {
    "": "",
    "file": "\x1b[32m",
    "function": "\x1b[33m",
    "variable": "\x1b[36m",
    "address": "\x1b[34m",
    "title": "\x1b[1m",
    "highlight": "\x1b[31m",
    "metadata": "\x1b[2m",
    "command": "\x1b[1m",
}
RESET = "\x1b[m"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")

Styled = Iterable[tuple[str, str]]


class Writer:
    """Text output. ``colour`` says whether styles become escape sequences."""

    def __init__(self, stream: TextIO, colour: bool = False) -> None:
        self.stream = stream
        self.colour = colour
        self.at_line_start = True
        self.log: TextIO | None = None  # a copy without colour (`set logging`)

    def write(self, text: str) -> None:
        """Write text as it is; nothing is added."""
        if text:
            self.stream.write(text)
            if self.log is not None:
                self.log.write(ESCAPES.sub("", text))
            self.at_line_start = text.endswith("\n")

    def line(self, text: str = "") -> None:
        """Write a line."""
        self.write(text + "\n")

    def styled(self, parts: Styled) -> None:
        """Write styled parts."""
        self.write(self.render(parts))

    def render(self, parts: Styled) -> str:
        """Styled parts as this writer shows them."""
        if not self.colour:
            return "".join(text for _, text in parts)
        return "".join(
            f"{STYLES[style]}{text}{RESET}" if STYLES[style] and text else text for style, text in parts
        )

    def flush(self) -> None:
        """Push out what is buffered."""
        self.stream.flush()


class Capture(AbstractContextManager[io.StringIO]):
    """Redirects a writer to a string for a while: ``with Capture(writer) as text: ...; text.getvalue()``."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.text = io.StringIO()
        self._saved: tuple[TextIO, bool, bool] | None = None

    def __enter__(self) -> io.StringIO:
        self._saved = (self.writer.stream, self.writer.colour, self.writer.at_line_start)
        self.writer.stream, self.writer.colour, self.writer.at_line_start = self.text, False, True
        return self.text

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._saved is not None
        self.writer.stream, self.writer.colour, self.writer.at_line_start = self._saved
