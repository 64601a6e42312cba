"""Frames of a host program, found from their addresses: file, function and line of each.

The program's mappings are read from /proc; the rest comes from the files' symbols and debug information. The program
controls all of this data, so it is used only where it is consistent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Final

from msgspec import Struct

from rocdbg.addresses import FileAddress
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.demangle import demangle
from rocdbg.codeobject.elf import Elf
from rocdbg.codeobject.elf_symbols import SymbolTable
from rocdbg.codeobject.file_bytes import FileBytes
from rocdbg.dwarf.info import DebugInfo
from rocdbg.errors import Error
from rocdbg.launch.debug_sections import DebugSections
from rocdbg.regular_file import open_regular

_LARGEST: Final = 1 << 30
_LOADED: Final = 1
_TABLES: Final = (2, 11)  # kinds of sections: symbols, dynamic symbols


class HostFrame(Struct, frozen=True):
    """A frame. ``address`` is None if a call was inlined into it: only the frame inside has an address."""

    address: int | None
    function: str | None
    """The function's name in debug information, with ``parameters``; without debug information, the symbol's name."""
    parameters: bool
    file: str | None
    line: int | None
    module: str
    """The file that contains the code, "" if it is in no file."""


_RUNTIMES: Final = re.compile(
    r"lib(?:amdhip64|hiprtc|hsa-runtime64|hsakmt|amdocl64|OpenCL|omptarget|omp|gomp|c|m|stdc\+\+|gcc_s|pthread|dl)"
    r"(?:-[-.\w]*)?\.so(?:\.|$)|libgomp-plugin|ld-linux|libomptarget\.rtl|\[vdso\]"
)
"""Names of the files of runtimes and of the libraries below them."""
_HEADERS: Final = ("/usr/include/", "/usr/lib/", "/usr/local/include/", "/opt/rocm")
_STUBS: Final = ("__device_stub__", "hipLaunchKernel", "__hip")
"""Name prefixes of the functions that compilers and headers put between a launch and the runtime."""


def runtime_frames(frames: Sequence[HostFrame]) -> int:
    """Count the innermost frames that are not the program's own; return 0 if all frames belong to the runtime."""
    return next((index for index, frame in enumerate(frames) if not _is_of_runtime(frame)), 0)


def _is_of_runtime(frame: HostFrame) -> bool:
    return (
        _RUNTIMES.match(PurePath(frame.module).name) is not None
        or (frame.file or "").startswith(_HEADERS)
        or (frame.function or "").startswith(_STUBS)
    )


class _Mapped(Struct, frozen=True):
    start: int
    end: int
    offset: int
    path: str


class HostModules:
    """The files from which a process has mapped code. Data read from a file is cached for the life of this object."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._modules: dict[str, _Module | None] = {}

    def frames(self, returns: Sequence[int]) -> list[HostFrame]:
        """Return the frames of return addresses, innermost first; inlined calls are frames of their own."""
        mapped = list(self._mapped())
        return [frame for address in returns for frame in self._at(address, mapped)]

    def _mapped(self) -> Iterator[_Mapped]:
        with suppress(OSError):
            for line in Path(f"/proc/{self._pid}/maps").read_text(errors="surrogateescape").splitlines():
                bounds, access, offset, _, _, *path = line.split(maxsplit=5)
                if "x" in access:
                    start, end = (int(word, 16) for word in bounds.split("-"))
                    yield _Mapped(start, end, int(offset, 16), path[0] if path else "")

    def _at(self, address: int, mapped: Sequence[_Mapped]) -> list[HostFrame]:
        found = next((each for each in mapped if each.start < address <= each.end), None)
        plain = HostFrame(address, None, False, None, None, found.path if found is not None else "")
        if found is None or not found.path.startswith("/"):
            return [plain]
        if found.path not in self._modules:
            self._modules[found.path] = _open(found.path)
        module = self._modules[found.path]
        frames: list[HostFrame] = []
        if module is not None:
            with suppress(Error):
                frames = module.frames(address, address - found.start + found.offset)
        return frames or [plain]


def _open(path: str) -> _Module | None:
    with suppress(Error):
        return _Module(path, FileBytes(path, open_regular(path, _LARGEST)))
    return None


class _Module:
    """One file."""

    def __init__(self, path: str, data: FileBytes) -> None:
        source = Source(path, data)
        self.path, self._elf = path, Elf(source)
        self._info = DebugInfo(DebugSections(self._elf))
        sections = self._elf.section_list
        self._tables = [
            SymbolTable(
                source, section.name, section.data, sections[section.link].data,
                lambda: {each.index: (each.address, each.address + each.size) for each in sections if each.flags & 2},
            )
            for section in sorted(sections, key=lambda section: section.type)
            if section.type in _TABLES and 0 < section.link < len(sections)
        ]

    def frames(self, address: int, offset: int) -> list[HostFrame]:
        """Return the frames of a return address, given as an offset in the file."""
        for segment in self._elf.segments:
            if segment.type == _LOADED and segment.offset < offset <= segment.offset + segment.file_size:
                # The call precedes its return address, which may already belong to another function.
                place = offset - segment.offset + segment.address - 1
                return self._by_debug_info(address, FileAddress(place)) or self._by_symbols(address, place)
        return []

    def _by_debug_info(self, address: int, place: FileAddress) -> list[HostFrame]:
        row, function = self._info.line_at(place), self._info.function_at(place)
        if function is None:
            return []
        file, line = (row.file.name, row.line) if row is not None else (None, None)
        found: list[HostFrame] = []
        shown: int | None = address
        for call in self._info.inline_frames_at(place):
            name, parameters = call.function.qualified_name, bool(call.function.type.parameters)
            found.append(HostFrame(shown, name, parameters, file, line, self.path))
            file, line, shown = call.call_file.name if call.call_file is not None else None, call.call_line, None
        name = function.qualified_name
        return [*found, HostFrame(shown, name, bool(function.type.parameters), file, line, self.path)]

    def _by_symbols(self, address: int, place: int) -> list[HostFrame]:
        for table in self._tables:
            symbol = table.at(place)
            if symbol is not None:
                return [HostFrame(address, demangle(symbol.name), False, None, None, self.path)]
        return []


__all__ = ["HostFrame", "HostModules"]
