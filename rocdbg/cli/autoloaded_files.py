"""Files that run automatically, but, as in GDB, only if the user has declared them safe.

They are ``.rocdbginit`` in the current directory, and ``FILE-rocdbg.rocdbg`` next to a program FILE. Such a file can
run anything (`shell`), so it is not run, and a warning is shown, unless it is below an entry of the safe path.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import CommandError
from rocdbg.cli.internal_errors import home_directory
from rocdbg.cli.paths import expand

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

INIT_FILE = ".rocdbginit"
SCRIPT_SUFFIX = "-rocdbg.rocdbg"


def default_safe_path() -> str:
    """Return ``~/.config/rocdbg/auto-load``; empty for a user without a home directory."""
    home = home_directory()
    return str(home / ".config" / "rocdbg" / "auto-load") if home is not None else ""


class AutoLoad:
    """The safe path, and the files that were found.

    Attributes:
        safe_path: folders, files and patterns joined by colons; ``/`` allows everything.
        enabled: by kind (``local-rocdbginit``, ``rocdbg-scripts``), whether such files are searched for.
        found: by kind, the files found and whether they were run.
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self.safe_path: str = default_safe_path()
        self.enabled = {"local-rocdbginit": True, "rocdbg-scripts": True}
        self.found: dict[str, dict[Path, bool]] = {kind: {} for kind in self.enabled}

    def set_safe_path(self, text: str) -> None:
        """``set auto-load safe-path``: an empty text restores the default. Relative entries are made absolute."""
        self.safe_path = ":".join(_entries(text)) if text else default_safe_path()

    def add_safe_path(self, text: str) -> None:
        """``add-auto-load-safe-path``: append entries to the safe path."""
        self.safe_path = ":".join([*filter(None, [self.safe_path]), *_entries(text)])

    def is_safe(self, file: Path) -> bool:
        """Whether a file, after resolving all links, is an entry of the safe path or below one."""
        place = str(file.resolve())
        return any(_covers(entry, place) for entry in self.safe_path.split(":") if entry)

    def local_init(self) -> None:
        """Run the init file in the current directory if it is safe. The one in the home directory is run separately."""
        try:
            file = Path.cwd() / INIT_FILE
        except OSError:  # the directory no longer exists
            return
        home = home_directory()
        if home is None or not _same(file, home / INIT_FILE):
            self._load("local-rocdbginit", file)

    def program_script(self) -> None:
        """Run the script next to the loaded program, if that is safe."""
        program = self._shell.session.inferior.program
        path = program.path if program is not None else None
        if path is not None:
            file = Path(path).resolve()
            self._load("rocdbg-scripts", file.with_name(file.name + SCRIPT_SUFFIX))

    def _load(self, kind: str, file: Path) -> None:
        if not self.enabled[kind] or not _is_there(file):
            return
        place = file.resolve()
        safe = self.is_safe(place)
        self.found[kind][file] = safe
        if safe:
            self._shell.source(place)  # the resolved path, because the link in its place may change meanwhile
        else:
            self._shell.warn(_declined(file, self.safe_path))


def _entries(text: str) -> list[str]:
    try:
        return [str(expand(entry).absolute()) for entry in text.split(":") if entry] or ["/"]
    except OSError as error:
        raise CommandError(f"The current directory is not known: {error.strerror}.") from None


def _covers(entry: str, place: str) -> bool:
    """Whether an entry of the safe path matches a file; ``*`` and ``?`` do not match a slash."""
    folder = entry.rstrip("/")
    if not folder:
        return True
    plain = str(Path(folder).resolve())
    if place == plain or place.startswith(plain + "/"):
        return True
    words = {"*": "[^/]*", "?": "[^/]"}
    pattern = "".join(words.get(char) or re.escape(char) for char in folder)
    return re.fullmatch(f"{pattern}(?:/.*)?", place, re.DOTALL) is not None


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except (OSError, ValueError):
        return False


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _declined(file: Path, safe_path: str) -> str:
    """Return GDB's warning about a file that was not run."""
    home = home_directory()
    configuration = home / INIT_FILE if home is not None else Path("~") / INIT_FILE
    return (
        f'File "{file}" auto-loading has been declined by your `auto-load safe-path\' set to "{safe_path}".\n'
        f"To enable execution of this file add\n\tadd-auto-load-safe-path {file}\n"
        f'line to your configuration file "{configuration}".\n'
        f"To completely disable this security protection add\n\tset auto-load safe-path /\n"
        f'line to your configuration file "{configuration}".'
    )
