"""All entries of ``.debug_info`` (and ``.debug_types``): units, and entries by offset."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import cached_property

from rocdbg.dwarf.architecture import architecture_by_name, architecture_names
from rocdbg.dwarf.attribute_names import attribute_name
from rocdbg.dwarf.errors import IllFormed
from rocdbg.dwarf.info.abbrev import Abbreviation, read_abbreviations
from rocdbg.dwarf.info.attribute_expressions import ExpressionReader
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.lines import LineTable
from rocdbg.dwarf.info.model import AddressRange
from rocdbg.dwarf.info.name_index import names_of_entries
from rocdbg.dwarf.info.sections import Sections
from rocdbg.dwarf.info.split_units import SplitFiles
from rocdbg.dwarf.info.type_reader import TypeReader
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.info.unit_parts import UnitParts
from rocdbg.dwarf.info.whereabouts import whose
from rocdbg.errors import Error, remembered

_LONGEST_NAMES = 256 << 20
"""Limit on the characters of all qualified names built for one object's entries."""


class Entries:
    """Units and their entries.

    ``data`` is ``.debug_info`` followed by ``.debug_types``, then the same sections of split objects and of the
    supplementary file, so that one offset identifies any entry; ``where`` gives the section of an offset.
    ``address_sizes`` gives the pointer size in those DWARF address spaces whose pointers are not as wide as the unit's
    addresses. ``code``, if given, lists the addresses where code can be; what is elsewhere was dropped by the linker.
    ``target`` is the processor for which the expressions are. With ``report``, damage is reported to it and passed
    over; otherwise it is raised.
    """

    def __init__(
        self, sections: Sections, address_sizes: Mapping[int, int] | None, architecture: str,
        code: tuple[AddressRange, ...] | None, split_files: SplitFiles | None = None, target: str = "",
        report: Callable[[Error], None] | None = None,
    ) -> None:
        self.sections = sections
        self.target = target
        self._split_files = split_files
        self._given_sizes = address_sizes
        self._architecture = architecture
        self.code = code
        self.range_lists: dict[int, tuple[AddressRange, ...]] = {}
        """By entry: its range list."""
        self._abbreviations: dict[tuple[Sections, int, int, int, int], dict[int, Abbreviation]] = {}
        self._line_tables: dict[tuple[Sections, int], LineTable] = {}
        self.scope_names: dict[int, tuple[str, ...]] = {}
        """By entry: the names of the namespaces and classes that enclose its children."""
        self._qualified_size = 0
        self._report = report
        self._is_naming = False

    @property
    def passes_over(self) -> bool:
        """Whether damage is reported and passed over; otherwise it is raised."""
        return self._report is not None

    def pass_over(self, error: DebugInfoError, die: Die | None = None, code: int | None = None) -> None:
        """Report damage and the attribute of the entry that it makes unusable; if there is no ``report``, raise the
        damage.
        """
        if self._report is None:
            raise error
        if die is None or code is None:
            self._report(error)
        elif not self._is_naming:
            self._is_naming = True  # the damage may be in the name of the entry
            try:
                known = (attribute_name(code, dialect=dialect) for dialect in ("amd", "llvm22"))
                name = next((name for name in known if name), f"attribute {code:#x}")
                fault = IllFormed(error.reason)
                fault.concern(name, whose(die))
            finally:
                self._is_naming = False
            self._report(fault)

    def qualified(self, names: tuple[str, ...]) -> str:
        """Join names into one: ``ns::S::f``. The total length of all results is limited, because each may contain a
        long name.
        """
        text = "::".join(names)
        self._qualified_size += len(text)
        if self._qualified_size > _LONGEST_NAMES:
            raise self.error(0, f"the qualified names have more than {_LONGEST_NAMES} characters in total")
        return text

    @cached_property
    def address_sizes(self) -> Mapping[int, int]:
        """Bytes of a pointer by DWARF address space, for the spaces in which it is known."""
        if self._given_sizes is not None:
            return self._given_sizes
        if self._architecture not in architecture_names():
            return {}
        spaces = architecture_by_name(self._architecture).address_spaces
        return {number: space.address_bits // 8 for number, space in spaces.items()}

    @cached_property
    def expressions(self) -> ExpressionReader:
        """Reads the expressions of attributes in the form of the specification."""
        return ExpressionReader(self.target)

    @cached_property
    def types(self) -> TypeReader:
        """The reader of types, which returns one object per entry."""
        return TypeReader(self)

    @remembered
    def listed_names(self) -> dict[int, list[str]]:
        """The names of entries by offset, for the entries that the compiler's index lists (``.debug_names``)."""
        try:
            return names_of_entries(self.sections, {unit.offset for unit in self.units})
        except DebugInfoError as error:
            self.pass_over(error)
            return {}

    def is_live(self, address: int) -> bool:
        """True when there can be code at ``address``."""
        return self.code is None or any(address in part for part in self.code)

    @remembered
    def data(self) -> bytes:
        """The entries' bytes."""
        return self._parts.data

    @remembered
    def units(self) -> list[Unit]:
        """All units, in order of offset, except skeletons whose split units were found."""
        return self._parts.units

    @property
    def supplement_base(self) -> int | None:
        """Where the entries of the supplementary file are; None without one."""
        return self._parts.supplement_base

    @remembered
    def _parts(self) -> UnitParts:
        return UnitParts(self, self._split_files)

    def alone(self, sections: Sections) -> Entries:
        """The entries of the given sections only, without those of split objects or a supplementary file."""
        return Entries(sections, self._given_sizes, self._architecture, self.code, target=self.target)

    def where(self, offset: int) -> tuple[str, int]:
        """Convert an offset in ``data`` to a section and the offset in it."""
        return self._parts.where(offset)

    def error(self, offset: int, reason: str) -> DebugInfoError:
        """An error about the entry or unit at ``offset``."""
        section, position = self.where(offset)
        return DebugInfoError(section, position, reason)

    @cached_property
    def _starts(self) -> list[int]:
        return [unit.offset for unit in self.units]

    def unit_of(self, offset: int) -> Unit:
        """The unit that holds the entry at ``offset``."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or not self.units[index].first <= offset < self.units[index].end:
            raise self.error(offset, "a reference to an entry leads outside all units")
        return self.units[index]

    def die(self, offset: int) -> Die:
        """The entry at ``offset``."""
        return Die(self.unit_of(offset), offset)

    @cached_property
    def _type_units(self) -> dict[int, Unit]:
        return {unit.type_signature: unit for unit in self.units if unit.type_signature is not None}

    def type_of_signature(self, signature: int) -> Die | None:
        """The type a type unit describes; None when the unit is not in this object."""
        unit = self._type_units.get(signature)
        return None if unit is None else unit.die(unit.type_offset)

    def abbreviations(self, unit: Unit) -> dict[int, Abbreviation]:
        """The abbreviation table of a unit; units share tables."""
        layout = unit.abbrev_offset, unit.version, unit.address_size, unit.offset_size
        key = unit.sections, *layout
        table = self._abbreviations.get(key)
        if table is None:
            table = self._abbreviations[key] = read_abbreviations(unit.sections, *layout, pass_over=self.pass_over)
        return table

    def line_table(self, offset: int, unit: Unit) -> LineTable:
        """The line table at ``offset`` of ``.debug_line``; type units share that of their compile unit."""
        key = unit.sections, offset
        table = self._line_tables.get(key)
        if table is None:
            table = self._line_tables[key] = LineTable(
                unit.sections, offset, address_size=unit.address_size, comp_dir=unit.comp_dir, code=self.code,
                pass_over=self.pass_over,
            )
        return table
