"""Where a shell's text goes: to a stream or a string, styled or plain.

Commands write through a `Writer` and never print. All their text is made `visible` here, in one place, so that text
from a file or kernel cannot control the terminal; styles are added afterwards. Styled text is a sequence of (style,
text) parts, whose styles are roles of `rocdbg.cli.themes`. A writer's palette has the escape sequences for them; a
writer without colour drops the styles.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from rocdbg.cli.visible_text import encodable, one_line, visible
from rocdbg.debugger.base.errors import ControlFlow
from rocdbg.streams import complain

if TYPE_CHECKING:
    from rocdbg.cli.pager import Pager

# GDB's default colours for what it styles, used if no terminal with a theme is known.
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
DEFAULT_PALETTE = {
    **STYLES,
    "version": "\x1b[35;1m",
    "comment": "\x1b[37;2m",
    "immediate": "\x1b[34m",
    "mnemonic": "\x1b[32m",
    "register": "\x1b[31m",
    "source.comment": "\x1b[90m",
    "source.preprocessor": "\x1b[36m",
    "source.keyword": "\x1b[34m",
    "source.type": "\x1b[36m",
    "source.builtin": "\x1b[36m",
    "source.label": "\x1b[35m",
    "source.name": "\x1b[35m",
    "source.number": "\x1b[34m",
    "source.string": "\x1b[33m",
}
NAMES = ("file", "function", "variable")  # kept on one line, even if they contain newlines
RESET = "\x1b[m"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")

Styled = Iterable[tuple[str, str]]


class OutputLost(ControlFlow):
    """The output is no longer read (``| head``): unwinds to the front end, through all error handlers."""


class Writer:
    """Text output. ``colour``: whether styles become escape sequences.

    A full disk or a closed terminal does not end the session: further output is dropped, ``failure`` is the reason, and
    ``failed`` is called once with it.
    """

    def __init__(self, stream: TextIO, colour: bool = False) -> None:
        self.stream = stream
        self.colour = colour
        self.palette: Mapping[str, str] = DEFAULT_PALETTE  # the escape sequence of each style
        self._base = (stream, colour)
        self.at_line_start = True
        self.log: TextIO | None = None  # receives a copy without colour (`set logging`)
        self.pager: Pager | None = None  # divides output into pages on a terminal
        self.also: TextIO | None = None  # receives what the full screen will show once it is up
        self.log_alone = False  # whether the stream receives nothing (`set logging redirect`)
        self.failure: OSError | ValueError | None = None
        self.failed: Callable[[str], None] = lambda message: None

    def write(self, text: str) -> None:
        """Write text; control characters in it become visible, and nothing is appended."""
        self.raw(visible(text))

    def raw(self, text: str) -> None:
        """Write text unchanged: text that is already visible, or text of the user's own `echo`."""
        if not text:
            return
        self.at_line_start = text.endswith("\n")
        if self.also is not None and self.stream is self._base[0]:
            self.also.write(text)
        if self.log is not None:
            self._copy(self.log, ESCAPES.sub("", text))
            if self.log_alone and self.log is not None:
                return
        if self.failure is not None:
            return
        if self.pager is None or self.pager.stream is not self.stream:
            self._put(text)
            return
        for piece in self.pager.pieces(text):
            self._put(piece)

    def _put(self, text: str) -> None:
        try:
            try:
                self.stream.write(text)
            except UnicodeError:
                self.stream.write(encodable(text, getattr(self.stream, "encoding", None) or "ascii"))
        except (OSError, ValueError) as error:
            self._lost(error)

    def line(self, text: str = "") -> None:
        """Write a line."""
        self.write(text + "\n")

    def styled(self, parts: Styled) -> None:
        """Write styled parts."""
        self.raw(self.render(parts))

    def render(self, parts: Styled) -> str:
        """Return styled parts as this writer shows them, with their text made visible."""
        pieces = []
        for style, text in parts:
            shown = one_line(text) if style in NAMES else visible(text)
            escape = self.palette.get(style, "") if self.colour and text else ""
            pieces.append(f"{escape}{shown}{RESET}" if escape else shown)
        return "".join(pieces)

    def flush(self) -> None:
        """Flush the buffer."""
        if self.failure is not None:
            return
        try:
            self.stream.flush()
            if self.log is not None:
                self.log.flush()
        except (OSError, ValueError) as error:
            self._lost(error)

    def redirect(self, stream: TextIO, colour: bool) -> None:
        """Write to another stream from now on (the full-screen mode)."""
        self.flush()
        self.stream, self.colour = stream, colour
        self._base = (stream, colour)
        self.at_line_start = True

    def restore(self) -> None:
        """Restore the original stream, even after an interrupted `Capture`."""
        self.stream, self.colour = self._base

    def _lost(self, error: OSError | ValueError) -> None:
        """Handle a stream that cannot be written. A ValueError means that it is closed."""
        if isinstance(error, BrokenPipeError):
            raise OutputLost from None
        self.failure = error
        self.failed(f"cannot write output: {getattr(error, 'strerror', None) or error}; further output is not shown.")

    def _copy(self, log: TextIO, text: str) -> None:
        try:
            log.write(text)
            log.flush()
        except (OSError, ValueError) as error:
            self.log = None
            with suppress(OSError, ValueError):
                log.close()
            name = getattr(log, "name", "the log file")
            self.failed(
                f"cannot write to log file {name}: {getattr(error, 'strerror', None) or error}; logging is now off."
            )


class Capture(AbstractContextManager[io.StringIO]):
    """Redirects a writer to a string: ``with Capture(writer) as text: ...; text.getvalue()``."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.text = io.StringIO()
        self._saved: tuple[TextIO, bool, bool, OSError | ValueError | None] | None = None

    def __enter__(self) -> io.StringIO:
        writer = self.writer
        self._saved = (writer.stream, writer.colour, writer.at_line_start, writer.failure)
        writer.stream, writer.colour, writer.at_line_start, writer.failure = self.text, False, True, None
        return self.text

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._saved is not None
        writer = self.writer
        writer.stream, writer.colour, writer.at_line_start, writer.failure = self._saved


def tool_output() -> Writer:
    """Return the output of a tool without a session; a failure to write is reported once."""
    writer = Writer(sys.stdout)
    writer.failed = lambda message: complain(f"rocdbg: {message}")
    return writer
