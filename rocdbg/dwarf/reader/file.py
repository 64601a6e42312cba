"""Files with debug information: units, and entries by name, address, offset and index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from rocdbg.addresses import FileAddress
from rocdbg.dwarf.cfi import FrameTable, parse_frames
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.info.constants import Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.model import AddressRange
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.reader.entry import Entry
from rocdbg.dwarf.reader.opening import OpenedObject, open_object

__all__ = ["DebugFile", "DebugUnit", "open"]

_FUNCTIONS = (Tag.SUBPROGRAM, Tag.INLINED_SUBROUTINE, Tag.ENTRY_POINT)


def open(source: str | Path | bytes, target_id: str | None = None) -> DebugFile:
    """The debug information (A.7) of a file or of its bytes: a code object, bundle, fat binary, or a host's object.

    `target_id` ("gfx90a") selects one of several code objects. Everything is read on demand. Raises a `rocdbg.Error` if
    the file cannot be opened; so do all later queries about damaged parts.
    """
    return DebugFile(open_object(source, target_id))


class DebugUnit:
    """A unit: what its header and its own entry say about the whole unit (A.3.1)."""

    def __init__(self, file: DebugFile, unit: Unit) -> None:
        self.file = file
        self.raw = unit
        self.offset: int = unit.offset
        self.version: int = unit.version
        self.address_size: int = unit.address_size
        self.offset_size: int = unit.offset_size

    def __repr__(self) -> str:
        return f"<DebugUnit {self.name!r} at {self.offset:#x}>"

    @property
    def name(self) -> str:
        """The primary source file, as given to the compiler (A.3.1.1)."""
        return self.raw.name

    @property
    def producer(self) -> str:
        """The compiler's name and version (A.3.1.1); empty if not stated."""
        return self.raw.producer

    @property
    def augmentation(self) -> str:
        """DW_AT_LLVM_augmentation, such as ``[amdgpu:v0.0]`` (A.3.1.1); empty without one."""
        return self.raw.augmentation

    @property
    def dialect(self) -> str:
        """Encoding of the extensions (A.7): "amd", "proposal2020" or "llvm22"."""
        return self.raw.dialect

    @property
    def language(self) -> str:
        """``c``, ``c++``, ``hip``, ``opencl``, ``fortran``, ...; ``unknown`` (A.3.1.1)."""
        return self.raw.language_name

    @property
    def ranges(self) -> tuple[AddressRange, ...]:
        """The unit's code ranges, from its own entry (A.3.1.1); empty if that states none."""
        return self.raw.ranges

    @property
    def top(self) -> Entry:
        """The unit's own entry (A.3.1.1)."""
        return Entry(self.file, self.raw.top)

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """All its entries (A.3) in order, as a sequence that begins with its own entry."""
        found: list[Entry] = []
        waiting: list[Die] = [self.raw.top]
        while waiting:
            die = waiting.pop()
            found.append(Entry(self.file, die))
            waiting += reversed(list(die.children))
        return found


class DebugFile:
    """Debug information of one file (A.3 to A.7).

    ``name`` is the file's, ``target`` the processor its code is for ("gfx90a"), ``architecture`` the name that
    `SimpleContext` takes (None for a host's object), ``sections`` the debug sections' bytes, ``eh_frame`` that section
    and its address, ``info`` the underlying reader (`rocdbg.dwarf.info.DebugInfo`: lines, types and names for
    debuggers). Addresses are the file's.
    """

    def __init__(self, opened: OpenedObject) -> None:
        self.name = opened.name
        self.target = opened.target
        self.architecture = opened.architecture
        self.sections = opened.sections
        self.info = opened.info
        self.eh_frame = opened.eh_frame
        self._units: dict[Unit, DebugUnit] = {}

    def __repr__(self) -> str:
        return f"<DebugFile {self.name!r}>"

    @cached_property
    def units(self) -> tuple[DebugUnit, ...]:
        """All units (A.3.1), in order."""
        return tuple(self.unit_of(unit) for unit in self.info.units)

    def unit_of(self, unit: Unit) -> DebugUnit:
        """Convert a unit of the underlying reader to a unit of this file (A.3.1)."""
        found = self._units.get(unit)
        if found is None:
            found = self._units[unit] = DebugUnit(self, unit)
        return found

    # Entries

    def __iter__(self) -> Iterator[Entry]:
        """All entries, unit by unit."""
        return (entry for unit in self.units for entry in unit.entries)

    def entry(self, offset: int) -> Entry:
        """The entry (A.3) at an offset, as in DW_FORM_ref_addr and in dumps of other tools."""
        return Entry(self, self.info.die(offset))

    def named(self, name: str) -> list[Entry]:
        """All entries (A.3) with a plain (``x``) or qualified (``ns::f``) name, at any depth, including declarations.
        """
        return [
            entry for entry in self
            if entry.name is not None and (
                entry.name == name or ("::" in name and entry.qualified_name == name)
            )
        ]

    def at(self, address: int) -> list[Entry]:
        """The blocks, inlined calls and the function around an address (A.3.3), innermost first; empty without any."""
        return [Entry(self, scope.die) for scope in self.info.scopes_at(FileAddress(address))]

    def functions(self) -> list[Entry]:
        """All functions with code (A.3.3), by address."""
        found = [entry for entry in self if entry.die.tag == Tag.SUBPROGRAM and entry.ranges]
        return sorted(found, key=lambda entry: min(part.low for part in entry.ranges))

    def variables_at(self, address: int) -> list[Entry]:
        """The variables (A.4) that can be named at an address, those of inner scopes first; then those of the units."""
        local = [variable for scope in self.at(address) for variable in scope.variables]
        return local + [variable for unit in self.units for variable in unit.top.variables]

    def line_at(self, address: int) -> tuple[str, int] | None:
        """The path of the source file and the line of an address (A.6.2); None if no line table contains the address.
        """
        row = self.info.line_at(FileAddress(address))
        return None if row is None else (row.file.path, row.line)

    # Call frames

    @cached_property
    def frames(self) -> FrameTable | None:
        """The call frame information (A.6.4) of .debug_frame, else of .eh_frame; None without either.

        Damaged parts are left out.
        """
        faults: list[DwarfError] = []
        dialect = self.units[0].dialect if self.units else "amd"
        data = self.sections.get(".debug_frame")
        if data:
            return parse_frames(data, dialect=dialect, faults=faults)
        if self.eh_frame is not None:
            section, address = self.eh_frame
            return parse_frames(section, dialect=dialect, eh_frame=True, section_address=address, faults=faults)
        return None
