"""The process's standard streams and terminal, as it finds and leaves them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any


def open_missing_streams() -> None:
    """Give closed standard streams (``<&- >&-``) the null device, so that no file of ours gets their numbers."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            found = os.open(os.devnull, os.O_RDONLY if mode == "r" else os.O_WRONLY)
            if found != number:
                os.dup2(found, number)
                os.close(found)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(
            errors="surrogateescape"
        )  # a byte that is no text is an error of its command, not of the session


def finish_streams() -> None:
    """Push out what is left; what cannot be written must not disturb the way out."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def is_dumb() -> bool:
    """Whether the terminal cannot move its cursor."""
    return os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown", "")


def shows_unicode() -> bool:
    """Whether the terminal is said to show more than ASCII."""
    return (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "") == "utf8"


class TerminalState:
    """How the terminal was set when the session began."""

    def __init__(self) -> None:
        self._attributes: list[Any] | None = None
        with suppress(ImportError, OSError, ValueError):
            import termios

            with suppress(termios.error):
                self._attributes = termios.tcgetattr(0)

    def restore(self) -> None:
        """Set it so again."""
        if self._attributes is not None:
            import termios

            with suppress(termios.error, OSError):
                termios.tcsetattr(0, termios.TCSADRAIN, self._attributes)
