"""The history of command lines: the file that keeps the lines of earlier sessions, and the history object of the
prompt.
"""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.internal_errors import home_directory
from rocdbg.cli.paths import expand
from rocdbg.cli.settings.front_end_settings import HISTORY_FILE, HISTORY_SAVE, HISTORY_SIZE
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
    """Return the lines of earlier sessions and of this one. An unusable history file does not prevent debugging.

    By default, all lines are saved, and those of all earlier sessions are available (`set history` changes that).
    """
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class KeptHistory(FileHistory):
        """A history that continues in memory when the disk is full, after one warning."""

        broken = False

        def load_history_strings(self) -> Iterable[str]:
            try:
                if path is not None and path.stat().st_size > MAX_HISTORY:
                    raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
                size = HISTORY_SIZE.read(shell)
                return list(itertools.islice(super().load_history_strings(), None if size == -1 else int(str(size))))
            except (OSError, ValueError) as error:
                self._give_up(error)
                return []

        def store_string(self, string: str) -> None:
            if self.broken or not HISTORY_SAVE.read(shell):
                return
            self.filename = str(expand(str(HISTORY_FILE.read(shell))))
            try:
                super().store_string(string.encode("utf-8", "replace").decode())
            except (OSError, ValueError) as error:
                self._give_up(error)

        def _give_up(self, error: Exception) -> None:
            self.broken = True
            reason = getattr(error, "strerror", None) or error
            name = os.fsdecode(self.filename)
            shell.session.warnings.add(f"history file {name}: {reason}; command lines are not saved.")

    path = expand(str(HISTORY_FILE.read(shell))) if HISTORY_FILE.field in shell.settings else history_path()
    if path is None or not _is_usable(path):
        HISTORY_SAVE.write(shell, False)
        return InMemoryHistory()
    shell.settings.setdefault(HISTORY_FILE.field, str(path))
    shell.settings.setdefault(HISTORY_SAVE.field, True)
    shell.settings.setdefault(HISTORY_SIZE.field, -1)
    return KeptHistory(str(path))


def _is_usable(path: Path) -> bool:
    """Whether the history file is a regular file, or could be made. Reading a FIFO would block."""
    try:
        if not path.exists():
            path.touch(mode=0o600)
        return path.is_file()
    except (OSError, ValueError):
        return False
