"""File names as users type them."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import CommandError

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.reports.place_resolution import SourceFile


def expand(name: str | Path) -> Path:
    """Replace the ``~`` in a name; like the shell, leave the name of an unknown user unchanged."""
    path = Path(name)
    try:
        return path.expanduser()
    except (RuntimeError, KeyError):
        return path


def search_folder(shell: Shell, name: str) -> str:
    """Return a directory of the source search path as it is stored: absolute. Report it if it does not exist."""
    if name in ("$cdir", "$cwd"):
        return name
    try:
        path = Path(os.path.normpath(Path.cwd() / expand(name)))
    except OSError as error:  # the current directory no longer exists
        raise CommandError(f"The current directory is not known: {error.strerror}.") from None
    if not path.exists():
        shell.line(f"Warning: {path}: {os.strerror(errno.ENOENT)}.")
    elif not path.is_dir():
        shell.line(f"warning: {path} is not a directory.")
    return str(path)


def shown_name(shell: Shell, file: SourceFile) -> str:
    """Return the name of a source file in the form that `set filename-display` selects."""
    how = shell.settings.get("filename-display", "relative")
    return file.path if how == "absolute" else file.basename if how == "basename" else file.name
