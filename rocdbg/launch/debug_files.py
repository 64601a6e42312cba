"""Finds debug information in files other than the code object: split objects (``.dwo``), packages (``.dwp``), and the
separate debug files that ``.gnu_debuglink`` and build ids name. It searches the same places as GDB.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from rocdbg.addresses import FileAddress
from rocdbg.codeobject import CodeObject, CodeObjectError
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.elf import Elf
from rocdbg.dwarf.info import DebugInfo
from rocdbg.dwarf.info.split_units import SplitName
from rocdbg.errors import Error
from rocdbg.launch.debug_sections import DebugSections, has_debug_info
from rocdbg.launch.supplementary import SupplementaryFile
from rocdbg.regular_file import FileAccessError, read_regular
from rocdbg.text import decode_text

_LARGEST: Final = 1 << 30
_DEBUG_LINK: Final = ".gnu_debuglink"
_GNU_BUILD_ID: Final = 3


class DebugContents(Struct, frozen=True):
    """The file that contains debug information, and its debug sections."""

    file: CodeObject
    sections: DebugSections


class DebugFiles:
    """Finds files with the debug information of code objects. ``directories`` returns the directories of separate debug
    files, separated by colons (GDB's debug-file-directory); ``warn`` is called with messages about problems.
    """

    def __init__(
        self, directories: Callable[[], str] = lambda: "", warn: Callable[[str], None] = lambda text: None
    ) -> None:
        self._directories = directories
        self.warn = warn

    @property
    def directories(self) -> list[Path]:
        """The directories to search."""
        return [Path(name) for name in self._directories().split(":") if name]

    def separate(self, code_object: CodeObject) -> CodeObject | None:
        """The separate debug file of a code object that has no debug information itself."""
        if has_debug_info(code_object) or code_object.path is None:
            return None
        return self._by_build_id(code_object) or self._by_link(code_object, code_object.path)

    def contents(self, code_object: CodeObject) -> DebugContents:
        """Find a code object's debug information. A code object without a full symbol table gets that of its separate
        debug file.
        """
        separate = self.separate(code_object)
        if separate is None:
            return DebugContents(code_object, DebugSections(code_object))
        code_object.adopt_symbols(separate)
        return DebugContents(separate, DebugSections(separate))

    def info(
        self, contents: DebugContents, code_object: CodeObject, report: Callable[[Error], None] | None = None
    ) -> DebugInfo:
        """The debug information of a code object with these contents. Nothing is read until it is needed.

        ``report`` is called with damage, which is then passed over (`rocdbg.dwarf.info.DebugInfo`).
        """
        file = SupplementaryFile(self, contents.file)
        return DebugInfo(
            contents.sections, split_files=self.split_of(code_object), supplement=file.find,
            starts=partial(_start_of, code_object), target=code_object.target.name, report=report,
        )

    def split_of(self, code_object: CodeObject) -> SplitDebugFiles:
        """The split objects that a code object's skeleton units name."""
        return SplitDebugFiles(self, code_object)

    def _by_build_id(self, code_object: CodeObject) -> CodeObject | None:
        ids = {note.description for note in code_object.notes if note.owner == "GNU" and note.type == _GNU_BUILD_ID}
        for build_id in ids:
            text = build_id.hex()
            for folder in self.directories:
                found = self._opened(folder / ".build-id" / text[:2] / f"{text[2:]}.debug")
                if found is not None and has_debug_info(found):
                    return found
        return None

    def _by_link(self, code_object: CodeObject, path: Path) -> CodeObject | None:
        section = code_object.sections.get(_DEBUG_LINK)
        if section is None:
            return None
        name, _, rest = section.data.partition(b"\0")
        checksum = rest[(3 - len(name)) % 4 :][:4]  # the name is padded to a multiple of 4
        if not name or len(checksum) < 4:
            self.warn(f"section {_DEBUG_LINK} of {path} is damaged, so the separate debug file cannot be found")
            return None
        own = path.absolute().parent
        file = decode_text(name)
        places = [own / file, own / ".debug" / file]
        places += [folder / str(own).lstrip("/") / file for folder in self.directories]
        for place in places:
            data = self._content(place)
            if data is None or place == path.absolute():
                continue
            if zlib.crc32(data) != int.from_bytes(checksum, "little"):
                self.warn(f'the debug information found in "{place}" does not match "{path}" (CRC mismatch).\n')
                continue
            found = self._code_object(data, place)
            if found is not None and has_debug_info(found):
                return found
        return None

    def _content(self, path: Path) -> bytes | None:
        """The bytes of a file, if it exists. Warns if the file cannot be read."""
        try:
            return read_regular(path, _LARGEST) if path.exists() else None
        except FileAccessError as error:
            self.warn(str(error))
        except (OSError, ValueError):  # invalid names, directories without permission
            pass
        return None

    def _opened(self, path: Path) -> CodeObject | None:
        data = self._content(path)
        return None if data is None else self._code_object(data, path)

    def _code_object(self, data: bytes, path: Path) -> CodeObject | None:
        try:
            return CodeObject(data, name=str(path), path=path)
        except Error as error:
            self.warn(str(error))
            return None

    def sections(self, path: Path) -> Mapping[str, bytes] | None:
        """The debug sections of a split object or package, if there is one."""
        elf = self.elf(path)
        if elf is None:
            return None
        found = DebugSections(elf)
        found.report = lambda damage: self.warn(f"{damage}; the section is not used.")
        return found

    def elf(self, path: Path) -> Elf | None:
        """A file with debug sections, if there is one."""
        data = self._content(path)
        if data is None:
            return None
        try:
            return Elf(Source(str(path), data))
        except Error as error:
            self.warn(str(error))
            return None


class SplitDebugFiles:
    """The split objects of one code object: see `rocdbg.dwarf.info.split_units.SplitFiles`."""

    def __init__(self, files: DebugFiles, code_object: CodeObject) -> None:
        self._files = files
        self._code_object = code_object
        self._read: dict[Path, Mapping[str, bytes] | None] = {}

    def find(self, name: SplitName) -> Mapping[str, bytes] | None:
        """A package next to the code object, or the split object that was named."""
        for place in self._places(name.name, name.comp_dir):
            same = _resolved(place)  # thousands of units may each spell the path of the same file differently
            if same not in self._read:
                self._read[same] = self._files.sections(place)
            found = self._read[same]
            if found is not None:
                return found
        self._missing(name)
        return None

    def unread(self, name: SplitName, reason: str) -> None:
        """Warn about a file that was found but cannot be used."""
        self._files.warn(reason)
        self._missing(name)

    def _missing(self, name: SplitName) -> None:
        self._files.warn(
            f"Could not find DWO CU {name.name}({name.id:#x}) referenced by CU at offset {name.offset:#x} "
            f"[in module {self._code_object.name}]"
        )

    def _places(self, name: str, comp_dir: str) -> Iterator[Path]:
        path = self._code_object.path
        if path is not None:
            package = path.absolute()
            yield package.with_name(package.name + ".dwp")
        yield Path(comp_dir) / name
        if path is not None:  # the object was built elsewhere, and all files were moved together
            yield path.absolute().parent / name
            yield path.absolute().parent / Path(name).name


def _resolved(path: Path) -> Path:
    """A path without links and ``..``, by which a file can be recognised."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # invalid names, links in a circle
        return path


def _start_of(code_object: CodeObject, entry: FileAddress) -> FileAddress:
    """Where execution of a function begins: for a kernel, after the code that hardware with argument preloading skips.
    """
    if not code_object.target.supports_kernarg_preload:
        return entry
    symbol = code_object.symbols.at(entry)
    kernel = code_object.kernels.find(symbol.name) if symbol is not None else None
    try:
        return kernel.start_address if kernel is not None and kernel.entry_address == entry else entry
    except CodeObjectError:  # a descriptor that cannot be read
        return entry
