"""The state of the terminal at the start of the process, and restoring it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any


def is_dumb() -> bool:
    """Whether the terminal cannot move its cursor."""
    return os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown", "")


def shows_unicode() -> bool:
    """Whether the terminal's encoding has more than ASCII."""
    return (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "") == "utf8"


class TerminalState:
    """The terminal's settings when the session began."""

    def __init__(self) -> None:
        self._attributes: list[Any] | None = None
        with suppress(ImportError, OSError, ValueError):
            import termios

            with suppress(termios.error):
                self._attributes = termios.tcgetattr(0)

    def restore(self) -> None:
        """Restore them."""
        if self._attributes is not None:
            import termios

            with suppress(termios.error, OSError):
                termios.tcsetattr(0, termios.TCSADRAIN, self._attributes)
