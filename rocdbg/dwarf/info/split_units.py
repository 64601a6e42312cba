"""Split debug information: what a skeleton unit names, and the sections of the split unit to which it refers.

DWARF 5 sections 3.1.2 and 3.1.3 (skeleton units), 7.3.2 (split object files) and 7.3.5 (packages); before DWARF 5 the
same with GNU attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from msgspec import Struct

from rocdbg import work
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.read_limits import ReadLimit
from rocdbg.dwarf.info.sections import Sections

SUFFIX: Final = ".dwo"
CU_INDEX: Final = ".debug_cu_index"
TU_INDEX: Final = ".debug_tu_index"
_SHARED: Final = frozenset({".debug_addr", ".debug_ranges", ".debug_frame"})
"""Sections of the linked object that split units refer to."""
_COMMON: Final = (".debug_str.dwo", ".debug_line_str.dwo")
"""Sections of a package that all its units share, and which its indexes do not list."""
_MOST_UNITS: Final = 1_000_000
_COLUMNS: Final = {
    2: {
        1: ".debug_info", 2: ".debug_types", 3: ".debug_abbrev", 4: ".debug_line", 5: ".debug_loc",
        6: ".debug_str_offsets", 7: ".debug_macinfo", 8: ".debug_macro",
    },
    5: {
        1: ".debug_info", 3: ".debug_abbrev", 4: ".debug_line", 5: ".debug_loclists", 6: ".debug_str_offsets",
        7: ".debug_macro", 8: ".debug_rnglists",
    },
}
"""DW_SECT_* codes by the version of a package's index; version 2 is GNU's, from before DWARF 5."""


class SplitName(Struct, frozen=True):
    """What a skeleton unit says about its split unit: file, compilation directory, identity (64 bits),
    and the skeleton's own offset in ``.debug_info``."""

    name: str
    comp_dir: str
    id: int
    offset: int


class SplitFiles(Protocol):
    """Finds the files that contain split units."""

    def find(self, name: SplitName) -> Mapping[str, bytes] | None:
        """The sections of a split object or package by their names in the file (``.debug_info.dwo``); ``None`` if the
        file is not found. The same file must give the same mapping object each time. Raises `rocdbg.Error` for a file
        that cannot be read.
        """

    def unread(self, name: SplitName, reason: str) -> None:
        """Record that a file that was found cannot be used."""


class SplitSections(Sections):
    """The sections that a split unit refers to, by their usual names: its own, and those of the linked object that it
    shares."""

    def __init__(self, own: Mapping[str, bytes], linked: Sections) -> None:
        super().__init__(own)
        self._linked = linked

    def __getitem__(self, name: str) -> bytes:
        return self._linked[name] if name in _SHARED else super().__getitem__(name + SUFFIX)


class _Package:
    """The sections of a package, and the parts of them that were read. Units may share a part, but parts may overlap
    only within limits: thousands that each took most of a section would take all of the memory."""

    def __init__(self, sections: Mapping[str, bytes]) -> None:
        self.sections = sections
        self._parts: dict[tuple[str, int, int], bytes] = {}
        self._limit = ReadLimit(4, "the parts that the package's index gives overlap")

    def part(self, name: str, start: int, size: int) -> bytes:
        """The bytes of a part of a section. Raises DebugInfoError."""
        known = self._parts.get((name, start, size))
        if known is not None:
            return known
        data = self.sections[name]
        if start + size > len(data):
            left = max(len(data) - start, 0)
            reason = f"by the package's index, a part has {size} bytes here, but the section has only {left} more"
            raise DebugInfoError(name, start, reason)
        self._limit.count(name, start, size, len(data), (start, size))
        found = self._parts[name, start, size] = data[start:start + size]
        return found


class Contribution(Mapping[str, bytes]):
    """The parts of a package's sections that belong to one unit."""

    def __init__(self, package: _Package, parts: Mapping[str, tuple[int, int]]) -> None:
        self._package, self._parts = package, parts

    def __getitem__(self, name: str) -> bytes:
        if name in _COMMON:
            return self._package.sections[name]
        return self._package.part(name, *self._parts[name])

    def __iter__(self) -> Iterator[str]:
        yield from self._parts
        yield from (name for name in _COMMON if name in self._package.sections)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def contributions(package: Mapping[str, bytes], index: str) -> dict[int, Contribution]:
    """The units of a package by their identity. ``index`` is ``.debug_cu_index``, or ``.debug_tu_index``, where the
    identities are type signatures (DWARF 5 section 7.3.5.3). Raises DebugInfoError for a damaged one.
    """
    data = package.get(index, b"")
    if not data:
        return {}

    def word(at: int, size: int = 4) -> int:
        if at + size > len(data):
            raise DebugInfoError(index, at, "the package's index is truncated")
        return int.from_bytes(data[at:at + size], "little")

    version = word(0) if word(0) == 2 else word(0, 2)
    names = _COLUMNS.get(version)
    if names is None:
        raise DebugInfoError(index, 0, f"version {version} of package indexes is not supported")
    columns, units, slots = word(4), word(8), word(12)
    rows = 16 + 12 * slots  # the rows come after the slots' identities and row numbers
    offsets = rows + 4 * columns
    sizes = offsets + 4 * columns * units
    too_many = units > _MOST_UNITS or slots > 16 + 8 * units or columns > len(_COLUMNS[2])
    if too_many or sizes + 4 * columns * units > len(data):
        raise DebugInfoError(
            index, 0, f"{units} units of {columns} sections in {slots} slots do not fit into the package's index"
        )
    kinds = [names.get(word(rows + 4 * column), "") for column in range(columns)]
    found, shared = {}, _Package(package)
    for slot in range(slots):
        work.unit()
        row = word(16 + 8 * slots + 4 * slot)
        if not row:
            continue
        if row > units:
            raise DebugInfoError(
                index, 16 + 8 * slots + 4 * slot, f"there is no row {row}: the package's index has {units}"
            )
        at = 4 * columns * (row - 1)
        found[word(16 + 8 * slot, 8)] = Contribution(shared, {
            kind + SUFFIX: (word(offsets + at + 4 * column), word(sizes + at + 4 * column))
            for column, kind in enumerate(kinds) if kind
        })
    return found
