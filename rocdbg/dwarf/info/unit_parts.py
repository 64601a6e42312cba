"""The units of a linked object and of the split objects that it names, one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from rocdbg.dwarf.info.constants import At, UnitType
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.sections import Sections
from rocdbg.dwarf.info.split_units import (
    CU_INDEX,
    SUFFIX,
    TU_INDEX,
    Contribution,
    SplitFiles,
    SplitName,
    SplitSections,
    contributions,
)
from rocdbg.dwarf.info.unit import Unit, read_unit_headers
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.dwarf.info.entries import Entries

_MOST_SPLIT: Final = 1 << 30
"""Limit on the bytes of the entries of all split objects."""
_INFO, _TYPES = ".debug_info", ".debug_types"


class UnitParts:
    """``.debug_info`` and ``.debug_types`` of the object, of each split object, and ``.debug_info`` of a supplementary
    file: ``data`` is all of it, ``units`` are its units in order.

    Raises DebugInfoError for damaged headers of the object itself. Skeletons whose split units are not found or cannot
    be read are kept.
    """

    def __init__(self, entries: Entries, files: SplitFiles | None) -> None:
        self._entries = entries
        self._starts: list[int] = []
        self._names: list[str] = []
        self._pieces: list[bytes] = []
        self._size = 0
        self._packages: dict[int, dict[int, Contribution]] = {}
        """The unread parts of packages that were opened, by the `id` of the mapping of the package's sections."""
        own = entries.sections
        self.units = self._read(own[_INFO], _INFO, None)
        if own[_TYPES]:
            self.units += self._read(own[_TYPES], _TYPES, None)
        if files is not None:
            self._add_split(files)
        self.supplement_base: int | None = None
        """Where the entries of the supplementary file begin, if there is one."""
        supplement = own.supplement
        if supplement is not None:
            self.supplement_base = self._size
            self._add_supplement(supplement, self._size)
        self.data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def where(self, offset: int) -> tuple[str, int]:
        """Convert an offset in ``data`` to a section and the offset in it."""
        at = max(bisect_right(self._starts, offset) - 1, 0)
        return self._names[at], offset - self._starts[at]

    def _error(self, offset: int, reason: str) -> DebugInfoError:
        return DebugInfoError(*self.where(offset), reason)

    def _read(self, data: bytes, name: str, sections: Sections | None) -> list[Unit]:
        base = self._size
        self._starts.append(base)
        self._names.append(name)
        self._pieces.append(data)
        self._size += len(data)
        is_types = name.startswith(_TYPES)
        return read_unit_headers(
            self._entries, data, base, self._error, types_section=is_types, sections=sections
        )

    def _skeletons(self) -> Iterator[tuple[Unit, SplitName]]:
        """Yield the skeleton units. Before DWARF 5, only a unit's own entry identifies it as a skeleton, and objects
        without a separate address section do not have any.
        """
        old = bool(self._entries.sections[".debug_addr"])
        if not any(unit.unit_type == UnitType.SKELETON or (old and unit.version < 5) for unit in self.units):
            return
        for unit in self._entries.alone(self._entries.sections).units:
            if unit.unit_type == UnitType.SKELETON or (old and unit.version < 5):
                name = unit.split_name
                if name is not None:
                    yield unit, name

    def _add_split(self, files: SplitFiles) -> None:
        """Replace skeletons with their split units."""
        compiled: dict[int, Unit] = {}
        replaced = set()
        for skeleton, name in list(self._skeletons()):
            try:
                sections = files.find(name)
                if sections is None:
                    continue
                for part in self._parts_of(sections, name):
                    self._read_split(part, compiled)
                unit = compiled.pop(name.id, None)
                if unit is None:
                    raise self._error(skeleton.offset, f"the split object has no unit {name.id:#x}")
            except Error as error:
                files.unread(name, str(error))
                continue
            unit.skeleton = skeleton
            replaced.add(skeleton.offset)
        rest = {unit.offset for unit in compiled.values()}
        self.units = [unit for unit in self.units if unit.offset not in replaced | rest]

    def _add_supplement(self, sections: Sections, base: int) -> None:
        """Append the units of the supplementary file."""
        if base + len(sections[_INFO]) > _MOST_SPLIT:
            raise self._error(
                0, f"the entries, with those of the supplementary file, have more than {_MOST_SPLIT} bytes"
            )
        units = self._read(sections[_INFO], f"{_INFO} of the supplementary file", sections)
        for unit in units:
            unit.reference_base = base
        self.units += units

    def _parts_of(self, sections: Mapping[str, bytes], name: SplitName) -> Iterator[Mapping[str, bytes]]:
        """Yield the sections to read from a split object or package for one skeleton. All of a split object is yielded
        for the first skeleton that refers to it.
        """
        is_new = id(sections) not in self._packages
        if CU_INDEX not in sections:
            if is_new:
                self._packages[id(sections)] = {}
                yield sections
            return
        if is_new:
            self._packages[id(sections)] = contributions(sections, CU_INDEX)
        part = self._packages[id(sections)].pop(name.id, None)
        if part is not None:
            yield part
        if is_new:
            yield from contributions(sections, TU_INDEX).values()

    def _read_split(self, part: Mapping[str, bytes], compiled: dict[int, Unit]) -> None:
        sections = SplitSections(part, self._entries.sections)
        for name in (_INFO, _TYPES):
            data = sections[name]
            if self._size + len(data) > _MOST_SPLIT:
                raise self._error(0, f"the entries in split objects have more than {_MOST_SPLIT} bytes in total")
            units = self._read(data, name + SUFFIX, sections) if data else []
            self.units += units
            for index, unit in enumerate(units):
                if not unit.is_type_unit:
                    compiled[self._id_of(unit, index, sections)] = unit

    def _id_of(self, unit: Unit, index: int, sections: Sections) -> int:
        """The identity of a split unit. Before DWARF 5 it is in the unit's own entry, which is read apart from all
        other entries.
        """
        if unit.id is not None:
            return unit.id
        found = self._entries.alone(sections).units[index].top.raw_attribute(At.GNU_DWO_ID)
        return found if isinstance(found, int) else 0
