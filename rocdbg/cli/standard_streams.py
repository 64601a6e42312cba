"""The state of the terminal at the start of the process, and restoring it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


def is_dumb() -> bool:
    """Whether the terminal cannot move its cursor."""
    return os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown", "")


def edits_lines(shell: Shell) -> bool:
    """Whether lines are edited as they are typed: as the user has set, otherwise on terminals that can redraw them."""
    said = shell.settings.get("editing")
    return bool(said) if said is not None else shell.interactive and shell.answers and not is_dumb()


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
        """Restore the terminal's settings."""
        if self._attributes is not None:
            import termios

            with suppress(termios.error, OSError):
                termios.tcsetattr(0, termios.TCSADRAIN, self._attributes)
