"""Where a caller's registers are: rows of rules from CFI, otherwise from analysis of the prologue.

All sources give the same kind of row, and the code that applies a row does not know its source; the row remembers it
for ``info frame``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Protocol

from msgspec import Struct

from rocdbg import dwarf
from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.cfi_rule_types import Rule
from rocdbg.dwarf.context import Context
from rocdbg.dwarf.location import LocationDescription
from rocdbg.errors import Error


class UnwindRow(Protocol):
    """The rules at one PC."""

    @property
    def rules(self) -> Mapping[int, Rule]:
        """The rules of registers, by DWARF number."""

    @property
    def is_empty(self) -> bool:
        """Whether the row has no rule at all: a bare ``.cfi_startproc`` in assembly does not describe the callers."""

    def cfa_location(self, context: Context) -> LocationDescription | None:
        """Return the canonical frame address, evaluated in the frame's context."""

    def register_location(self, number: int, context: Context) -> LocationDescription:
        """Return where the caller's register ``number`` is; undefined if it is lost."""

    def keeps(self, number: int, architecture: Architecture) -> bool:
        """Whether the frame has left a register unchanged."""


class RowSource(Protocol):
    """Gives rows by file address."""

    def row(self, pc: FileAddress) -> UnwindRow | None:
        """Return the row for this file address; ``None`` if this source has none."""


PROLOGUE = "prologue analysis"
"""The name of the source whose rows are derived from machine code; these are the same for all lanes."""


class FoundRow(Struct, frozen=True):
    """A row and the name of the source that gave it."""

    row: UnwindRow
    source: str
    instead: Callable[[], FoundRow | None] | None = None
    """The row of the next source, used if this one turns out to be unusable."""


def complain(program: Program, pc: FileAddress, error: Error, source: str) -> None:
    """Report call frame information that is unusable at a PC, with the function there; ``source`` is the section."""
    if isinstance(error, dwarf.DwarfError):
        try:
            function = program.info.function_at(pc) if program.has_debug_info else None
        except Error:
            function = None
        name = (function.qualified_name if function is not None else None) or f"the code at {pc:#x}"
        section = source.partition("(")[2].rstrip(")") or source
        error.concern("Call frame information", f"{name} in {section}")
    program.complaints.add(error, "the prologue is analysed instead")


class _FrameSection:
    """A section of call frame information, read in the dialect of the unit that contains a PC.

    The 2020 dialect and AMD's have the same augmentation strings: only the unit distinguishes them.
    """

    def __init__(self, program: Program, data: bytes, eh_frame: bool, address: int) -> None:
        self.name = ".eh_frame" if eh_frame else ".debug_frame"
        self._program = program
        self._data = data
        self._eh_frame = eh_frame
        self._address = address
        self._tables: dict[str, RowSource] = {}

    def row(self, pc: FileAddress) -> UnwindRow | None:
        """Return the row at a file address."""
        unit = self._program.info.unit_at(pc) if self._program.has_debug_info else None
        dialect = unit.dialect if unit is not None else "amd"
        table = self._tables.get(dialect)
        if table is None:
            faults: list[dwarf.DwarfError] = []
            table = self._tables[dialect] = dwarf.parse_frames(
                self._data, dialect=dialect, eh_frame=self._eh_frame, section_address=self._address, faults=faults
            )
            for fault in faults:
                complain(self._program, pc, fault, self.name)
        return table.row(pc)


Rows = Callable[[FileAddress, int], FoundRow | None]
"""Returns the rules at a file address for waves of a size."""
Elsewhere = Callable[[LoadedAddress], tuple[Program, Rows]]
"""Returns the code object at an address and its rules: code objects call one another's functions."""


class Unwinder:
    """Asks each source of rows in turn. Exists as long as the program and caches rows, because recursive functions
    request the same few addresses again and again.

    ``prologue(program, wave_size)`` gives the source that reads machine code, which depends on the wave size.
    """

    def __init__(self, program: Program, prologue: Callable[[Program, int], RowSource | None]) -> None:
        self._program = program
        self._prologue = prologue
        self._prologues: dict[int, RowSource | None] = {}
        self._rows: dict[tuple[FileAddress, int], FoundRow | None] = {}
        self.elsewhere: Elsewhere | None = None
        """Finds the code object at an address, and its rules; ``None``: there is no other code object."""

    @cached_property
    def _sources(self) -> Sequence[tuple[str, RowSource]]:
        sources: list[tuple[str, RowSource]] = []
        debug_frame = self._program.debug.sections.get(".debug_frame")
        if debug_frame is not None:
            sources.append(("DWARF CFI (.debug_frame)", _FrameSection(self._program, debug_frame, False, 0)))
        eh_frame = self._program.code_object.sections.get(".eh_frame")
        if eh_frame is not None:
            frames = _FrameSection(self._program, eh_frame.data, True, eh_frame.address)
            sources.append(("DWARF CFI (.eh_frame)", frames))
        return sources

    def row(self, pc: FileAddress, wave_size: int | None = None) -> FoundRow | None:
        """The rules at a file address, for waves of a size (by default the program's), from the first source that has
        any.
        """
        key = pc, wave_size or self._program.wave_size
        if key not in self._rows:
            self._rows[key] = self._find(*key)
        return self._rows[key]

    def _find(self, pc: FileAddress, wave_size: int, first: int = 0) -> FoundRow | None:
        """Return the row of the first source that has one, beginning with the source at index ``first``."""
        for index in range(first, len(self._sources)):
            name, source = self._sources[index]
            try:
                row = source.row(pc)
            except Error as error:
                complain(self._program, pc, error, name)
                continue
            if row is not None and not row.is_empty:
                return FoundRow(row, name, partial(self._find, pc, wave_size, index + 1))
        if wave_size not in self._prologues:
            self._prologues[wave_size] = self._prologue(self._program, wave_size)
        prologue = self._prologues[wave_size]
        row = prologue.row(pc) if prologue is not None else None
        return FoundRow(row, PROLOGUE) if row is not None else None
