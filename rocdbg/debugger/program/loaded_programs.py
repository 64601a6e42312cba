"""The code objects being debugged, and where each is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rocdbg.addresses import LoadedAddress
from rocdbg.codeobject.code_object_uri import FileUri
from rocdbg.codeobject.demangle import demangle
from rocdbg.codeobject.file_bytes import FileBytes
from rocdbg.debugger.base.errors import NoProgramError
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.capabilities.target_state import LoadedCodeObject
from rocdbg.dwarf.info import SourceFile
from rocdbg.sim.device.dispatch import Dispatch


class Programs:
    """The programs being debugged. Each translation unit of a file has its own code object, and a target may load more.

    ``first`` is the program whose names take precedence (for a launch, the one with the kernel); ``None`` before
    ``file``.
    """

    def __init__(self) -> None:
        self.first: Program | None = None
        self._all: Sequence[Program] = ()
        self._loaded: Sequence[LoadedCodeObject] | None = None
        self.source_line: Callable[[SourceFile, int], str | None] = lambda file, line: None
        """Returns the text of a source line, ``None`` if it is not found."""
        self._targets: set[Program] = set()
        """Programs that a target has loaded and that are not from the user's file."""

    def __iter__(self) -> Iterator[Program]:
        """Yield all programs: those of the file in its order, then in the order of loading."""
        return iter(self._all)

    def use(self, first: Program | None, all_: Sequence[Program]) -> None:
        """Debug these programs from now on, including ``first``."""
        self.first, self._all, self._loaded = first, all_, None
        for program in all_:
            program.source_line = self.source_line
        self._targets.clear()

    def need(self) -> Program:
        """Return ``first``; raises `NoProgramError`."""
        if self.first is None:
            raise NoProgramError
        return self.first

    def at(self, address: LoadedAddress) -> Program:
        """Return the program loaded at an address, otherwise ``first``. Raises `NoProgramError`."""
        if len(self._all) > 1:
            for program in self._all:
                if program.is_loaded_at(address):
                    return program
        return self.need()

    def update(self, loaded: Sequence[LoadedCodeObject]) -> bool:
        """Take over a target's loaded code objects; return whether any were loaded or unloaded.

        Programs that are no longer loaded are dropped, unless they are from the user's file.
        """
        if loaded is self._loaded:
            return False
        self._loaded, news = loaded, False
        places: dict[Program, int] = {}
        for each in loaded:
            program = self._of(each, places)
            if program is None:
                uri = each.code_object.uri
                program = Program(each.code_object, Path(uri.path if isinstance(uri, FileUri) else ""))
                program.source_line = self.source_line
                self._all = (*self._all, program)
                self._targets.add(program)
                news = True
            places[program] = each.base
        for program in self._all:
            program.base, program.loaded = places.get(program, 0), program in places
        gone = {program for program in self._targets if program not in places}
        if gone:
            news = True
            self._targets -= gone
            self._all = tuple(program for program in self._all if program not in gone)
            if self.first in gone:
                self.first = None
        if self.first is None and self._all:
            self.first = self._all[0]
        return news

    def _of(self, loaded: LoadedCodeObject, taken: Mapping[Program, int]) -> Program | None:
        """Return the known program of a loaded code object: the same object, otherwise one with the same bytes."""
        free = [known for known in self._all if known not in taken]
        for known in free:
            if known.code_object is loaded.code_object:
                return known
        data = loaded.code_object.source.data
        return next((known for known in free if _same(known.code_object.source.data, data)), None)

    def follow(self, address: LoadedAddress) -> None:
        """Give precedence to the names of the program loaded at an address."""
        self.first = self.at(address)

    def title(self, dispatch: Dispatch) -> str:
        """Return the name of a dispatch's kernel."""
        address, name = LoadedAddress(dispatch.plan.descriptor_address), dispatch.kernel.name
        for program in self._all:
            if program.is_loaded_at(address):
                kernel = program.code_object.kernels.find(name)
                return program.kernel_title(kernel) if kernel is not None else demangle(name)
        return demangle(name)

    def symbolize(self, address: int, data: bool = True, limit: int = 0, mangled: bool = False) -> str | None:
        """Return ``fn+12`` for an address in any program; ``None`` if nothing is there or the offset exceeds ``limit``.
        """
        if self.first is None:
            return None
        return self.at(LoadedAddress(address)).symbolize(address, data, mangled, limit)

    def source_place(self, address: int) -> str | None:
        """Return ``file.c:12`` for a code address in any program; ``None`` if no line is known."""
        program = self.at(LoadedAddress(address)) if self.first is not None else None
        if program is None or not program.has_debug_info:
            return None
        row = program.info.line_at(program.to_file(LoadedAddress(address)))
        return f"{row.file.name}:{row.line}" if row is not None and row.file is not None else None


def _same(one: bytes | bytearray | FileBytes, other: bytes | bytearray | FileBytes) -> bool:
    return len(one) == len(other) and one[:] == other[:]
