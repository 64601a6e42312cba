"""The history of command lines: the file that keeps the lines of earlier sessions, and what it is for the prompt."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.internal_errors import home_directory
from rocdbg.cli.shell import Shell

if TYPE_CHECKING:
    from prompt_toolkit.history import History

MAX_HISTORY = 64 << 20
"""The maximum number of bytes that are read of a history file."""


def history_path() -> Path | None:
    """Return the history file: $ROCDBG_HISTFILE, else ~/.rocdbg_history; ``None`` without a home directory."""
    named = os.environ.get("ROCDBG_HISTFILE")
    if named:
        return Path(named)
    home = home_directory()
    return home / ".rocdbg_history" if home is not None else None


def make_history(shell: Shell) -> History:
    """Return the lines of earlier sessions and of this one. An unusable history file does not prevent debugging."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class KeptHistory(FileHistory):
        """A history that continues in memory when the disk is full, after one warning."""

        broken = False

        def load_history_strings(self) -> Iterable[str]:
            try:
                if path is not None and path.stat().st_size > MAX_HISTORY:
                    raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
                return list(super().load_history_strings())
            except (OSError, ValueError) as error:
                self._give_up(error)
                return []

        def store_string(self, string: str) -> None:
            if self.broken:
                return
            try:
                super().store_string(string.encode("utf-8", "replace").decode())
            except (OSError, ValueError) as error:
                self._give_up(error)

        def _give_up(self, error: Exception) -> None:
            self.broken = True
            reason = getattr(error, "strerror", None) or error
            shell.session.warnings.add(f"history file {path}: {reason}; command lines are not saved.")

    path = history_path()
    if path is None:
        return InMemoryHistory()
    try:
        if not path.exists():
            path.touch(mode=0o600)
        elif not path.is_file():  # reading a FIFO would block
            return InMemoryHistory()
    except (OSError, ValueError):
        return InMemoryHistory()
    return KeptHistory(str(path))
