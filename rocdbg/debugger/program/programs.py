"""The code objects that are debugged, and which of them is where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rocdbg.addresses import LoadedAddress
from rocdbg.codeobject.uri import FileUri
from rocdbg.debugger.errors import NoProgramError
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.state import LoadedCodeObject


class Programs:
    """Each translation unit of a file has a code object of its own; a target may load more.

    ``first`` is the one whose names are meant first (of a launch, the one with the kernel), ``None`` before ``file``.
    """

    def __init__(self) -> None:
        self.first: Program | None = None
        self._all: Sequence[Program] = ()
        self._loaded: Sequence[LoadedCodeObject] | None = None

    def __iter__(self) -> Iterator[Program]:
        """All, in order of the file and of loading."""
        return iter(self._all)

    def use(self, first: Program, all_: Sequence[Program]) -> None:
        """Debug these from now on, ``first`` among them."""
        self.first, self._all, self._loaded = first, all_, None

    def need(self) -> Program:
        """``first``; raises `NoProgramError`."""
        if self.first is None:
            raise NoProgramError
        return self.first

    def at(self, address: LoadedAddress) -> Program:
        """The one that is loaded at an address, else ``first``. Raises `NoProgramError`."""
        if len(self._all) > 1:
            for program in self._all:
                if program.is_loaded_at(address):
                    return program
        return self.need()

    def update(self, loaded: Sequence[LoadedCodeObject]) -> bool:
        """Take over what a target has loaded and where; whether there are ones not seen before."""
        if loaded is self._loaded:
            return False
        self._loaded, news = loaded, False
        for each in loaded:
            program = next((known for known in self._all if known.code_object is each.code_object), None)
            if program is None:
                uri = each.code_object.uri
                program = Program(each.code_object, Path(uri.path if isinstance(uri, FileUri) else ""))
                self._all = (*self._all, program)
                news = True
            program.base, program.loaded = each.base, True
        if self.first is None and self._all:
            self.first = self._all[0]
        return news

    def symbolize(self, address: int, data: bool = True) -> str | None:
        """``fn+12`` for an address in any of them; ``None`` when nothing is there."""
        return self.at(LoadedAddress(address)).symbolize(address, data) if self.first is not None else None
