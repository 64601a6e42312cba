"""Source text: where its files are found, and their lines."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from rocdbg import work
from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.warnings import Warnings
from rocdbg.dwarf.info import SourceFile
from rocdbg.regular_file import FileAccessError, read_regular
from rocdbg.text import raw_text

MAX_SOURCE_SIZE = 64 << 20
_SECOND = 1_000_000_000


class SourceError(DebuggerError):
    """A source file cannot be read; ``name`` and ``line`` are those that were requested."""

    def __init__(self, name: str, line: int | None, reason: str) -> None:
        self.name = name
        self.line = line
        self.reason = reason
        where = f"{line}\t" if line is not None else ""
        super().__init__(f"{where}{name}: {reason}.")


class SourceText(Struct, frozen=True):
    """A file that was found: its lines, and its path (``None`` for text embedded in debug information)."""

    file: SourceFile
    lines: tuple[str, ...]
    path: Path | None

    def line(self, number: int) -> str | None:
        """Return line ``number`` (from 1) without its line end, ``None`` past the end of the file."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else None


def _current_directory() -> Path | None:
    """Return the current directory, ``None`` if it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        return None


def split_lines(text: str) -> tuple[str, ...]:
    r"""Split a text into lines as compilers do: only ``\n`` and ``\r\n`` end a line, not form feed, NEL or U+2028."""
    return tuple(line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")) if text else ()


def modified(path: Path) -> int | None:
    """Return when a file was last modified, in nanoseconds; None if it does not exist."""
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):
        return None


def checksum(data: bytes) -> bytes:
    """Return the checksum of a text in the form that line tables use."""
    return hashlib.md5(data, usedforsecurity=False).digest()


class SourceFiles:
    """Finds source texts, and caches them until settings change (`forget`).

    ``built`` is when the program was written (nanoseconds), None if that is not known. ``warnings`` lists texts that
    differ from those that were compiled, judging by their checksums or, without one, by their times.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.warnings = Warnings()
        self.built: int | None = None
        self._texts: dict[str, SourceText] = {}
        self.program_directory: Path | None = None
        """The directory of the code object, which is searched last."""

    def use(self, directory: Path, built: int | None) -> None:
        """Switch to the texts of another program, with its ``program_directory`` and ``built``."""
        self.forget()
        self.program_directory, self.built = directory, built

    def forget(self) -> None:
        """Drop cached texts, because ``directory`` or ``set substitute-path`` was used."""
        self._texts.clear()

    def candidates(self, file: SourceFile) -> list[Path]:
        """Return the paths at which a file may be, in the order in which they are tried."""
        paths = [self._substitute(file.path)]
        name = self._substitute(file.name)
        compile_directory = file.directory
        relative = Path(name)
        for directory in self._settings.directories:
            if directory == "$cdir":
                base = Path(self._substitute(compile_directory)) if compile_directory else None
            elif directory == "$cwd":
                base = _current_directory()
            else:
                base = Path(directory)
                with suppress(RuntimeError, KeyError):  # there is no such home directory
                    base = base.expanduser()
            if base is None:
                continue
            if not relative.is_absolute():
                paths.append(str(base / relative))
            elif directory not in ("$cdir", "$cwd"):
                paths.append(str(base) + str(relative))
            paths.append(str(base / relative.name))
        if self.program_directory is not None:
            if not relative.is_absolute():
                paths.append(str(self.program_directory / relative))
            paths.append(str(self.program_directory / relative.name))
        # A name that is not valid UTF-8 is looked up with the bytes that debug information has.
        paths += [raw_text(path) for path in paths]
        return [Path(path) for path in dict.fromkeys(paths)]

    def _substitute(self, path: str) -> str:
        for old, new in self._settings.substitute_path:
            if path == old or path.startswith(old.rstrip("/") + "/"):
                return new.rstrip("/") + path[len(old.rstrip("/")) :]
        return path

    def text(self, file: SourceFile) -> SourceText:
        """Return the file's text: embedded text, or else that on disk. Raises `SourceError`, which names the file."""
        found = self._texts.get(file.path)
        if found is not None:
            return found
        if file.source is not None:
            text = SourceText(file, split_lines(file.source), None)
        else:
            text = self._read(file)
        self._texts[file.path] = text
        return text

    def _read(self, file: SourceFile) -> SourceText:
        reason = "No such file or directory"
        for path in self.candidates(file):
            work.unit()
            try:
                if not path.is_file():
                    continue
                data = read_regular(path, MAX_SOURCE_SIZE)
            except FileAccessError as error:
                reason = error.reason
                continue
            except (OSError, ValueError) as error:  # ValueError: not a valid path
                reason = getattr(error, "strerror", None) or str(error)
                continue
            self._warn_if_changed(file, path, data)
            return SourceText(file, split_lines(data.decode("utf-8", "replace")), path)
        raise SourceError(file.name, None, reason)

    def _warn_if_changed(self, file: SourceFile, path: Path, data: bytes) -> None:
        if file.md5 is not None and checksum(data) == file.md5:
            return
        changed = modified(path)
        if changed is not None and self.built is not None and changed // _SECOND > self.built // _SECOND:
            self.warnings.add("Source file is more recent than executable.")
        elif file.md5 is not None:
            self.warnings.add(f"{file.name} is not the text that was compiled: its checksum differs.")

    def line(self, file: SourceFile, number: int) -> str:
        """Return one line. Raises `SourceError` with GDB's wording: ``12\\tk.hip: No such file or directory.``"""
        try:
            text = self.text(file)
        except SourceError as error:
            raise SourceError(file.name, number, error.reason) from None
        line = text.line(number)
        if line is None:
            raise SourceError(file.name, number, f"source file has {len(text.lines)} lines")
        return line

    def line_or_none(self, file: SourceFile, number: int) -> str | None:
        """Return one line, ``None`` if it does not exist or its file is not found."""
        try:
            return self.text(file).line(number)
        except SourceError:
            return None
