"""Checks every unit, entry, attribute, list, table and frame of a file against its rules."""

from __future__ import annotations

from contextlib import suppress

from rocdbg import work
from rocdbg.dwarf.architecture import UNSPECIFIED, Architecture, architecture_by_name
from rocdbg.dwarf.cfi import FrameTable, parse_frames
from rocdbg.dwarf.checker.attribute_rules import AttributeRules
from rocdbg.dwarf.checker.entry_rules import entry_problems
from rocdbg.dwarf.checker.findings import Finding, Findings
from rocdbg.dwarf.checker.probe import Probe
from rocdbg.dwarf.checker.tables import (
    augmentation_problem,
    frame_problems,
    header_problems,
    index_problems,
    is_indexed_by_the_extensions,
)
from rocdbg.dwarf.errors import DwarfError, EvaluationError, IllFormed
from rocdbg.dwarf.info.attribute_values import Address, Rnglist
from rocdbg.dwarf.info.code_ranges import raw_ranges
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.name_index import NameIndex, read_name_indexes
from rocdbg.dwarf.reader.entry import Entry
from rocdbg.dwarf.reader.file import DebugFile, DebugUnit
from rocdbg.errors import Error

__all__ = ["check"]

_MOST_ROWS = 64
"""The most addresses at which the frame table of one function is evaluated."""


def check(file: DebugFile) -> list[Finding]:
    """Find everything that breaks a rule (A.2 to A.7), sorted by section and offset. Damage is reported, not raised."""
    checker = _Checker(file)
    with work.doing("checking debug information"):
        checker.run()
    return sorted(checker.findings.found, key=lambda found: (found.section, found.offset, found.rule.id, found.message))


class _Checker:
    def __init__(self, file: DebugFile) -> None:
        self.file = file
        self.findings = Findings(file)
        self._tags: dict[int, int] = {}
        """The tags of all entries by offset."""
        self._units: tuple[DebugUnit, ...] = ()
        self.architecture: Architecture = (
            architecture_by_name(file.architecture) if file.architecture is not None else UNSPECIFIED
        )
        self._attributes = AttributeRules(self.findings, self.architecture, self._tags)

    # The whole file

    def run(self) -> None:
        try:
            units = self.file.units
        except Error as error:
            self.findings.damage(error)
            units = ()
        self._units = units
        for unit in units:
            with suppress(Error):  # reported where the unit is checked
                self._tags |= {entry.offset: entry.die.tag for entry in unit.entries}
        for unit in units:
            work.unit()
            self._unit(unit)
        if units:
            sizes = {unit.address_size for unit in units}
            for section, offset, words in header_problems(self.file.sections, sizes):
                self.findings.add("address-size", words, section, offset)
        self._lines(units)
        self._names()
        self._frames()

    def _unit(self, unit: DebugUnit) -> None:
        try:
            entries = unit.entries
            augmentation = unit.augmentation
        except Error as error:
            self.findings.damage(error)
            return
        words = augmentation_problem(augmentation, is_theirs=True) if augmentation else None
        if words is not None:
            self.findings.at_entry("augmentation-format", words, unit.top)
        for entry in entries:
            work.unit()
            try:
                self._entry(entry)
            except Error as error:
                self.findings.damage(error, entry)

    def _entry(self, entry: Entry) -> None:
        die = entry.die
        self._ranges(entry)
        for rule, words in entry_problems(die, self._tags):
            self.findings.at_entry(rule, words, entry)
        for code in die.attributes:
            for value in die.attribute_values(code):
                self._attributes.check(entry, code, value)
        self._attributes.check_lanes(entry)

    def _ranges(self, entry: Entry) -> None:
        """Check the code addresses of an entry, whether they are in a range list or given as low and high PC."""
        die = entry.die
        low, high, ranges = die.attribute(At.LOW_PC), die.attribute(At.HIGH_PC), die.attribute(At.RANGES)
        try:
            if isinstance(ranges, Rnglist):
                for part in raw_ranges(die.unit, ranges.offset):
                    if part[1] < part[0]:
                        words = f"a range ends at {part[1]:#x}, before it begins at {part[0]:#x}"
                        self.findings.at_entry("range-list", words, entry)
        except Error as error:
            self.findings.damage(error, entry, "range-list")
        if isinstance(low, Address) and isinstance(high, Address) and high.value < low.value:
            words = f"the code of the entry ends at {high.value:#x}, before it begins at {low.value:#x}"
            self.findings.at_entry("range-list", words, entry)

    # Other sections

    def _lines(self, units: tuple[DebugUnit, ...]) -> None:
        for unit in units:
            work.unit()
            try:
                table = unit.raw.line_table
                if table is not None:
                    _ = table.sequences
                    for words in table.header.problems:
                        self.findings.add("line-content", words, ".debug_line", table.offset, unit.top)
            except Error as error:
                self.findings.damage(error, None, "line-table")

    def _names(self) -> None:
        try:
            for index in read_name_indexes(self.file.info.entries.sections):
                for words in index_problems(index, self._tags) if self._tags else ():
                    self.findings.add("name-index", words, ".debug_names", index.offset)
                self._indexed(index)
        except Error as error:
            self.findings.damage(error, None, "name-index")

    def _indexed(self, index: NameIndex) -> None:
        """Check that a name index lists the variables of its units that the extensions require (A.6.1.1.1)."""
        known = {entry.die_offset for _, entry in index.items()}
        for unit in self._units:
            if unit.offset not in index.compile_units or unit.dialect == "llvm22":
                continue
            for entry in unit.entries:
                if entry.offset not in known and is_indexed_by_the_extensions(entry.die):
                    self.findings.at_entry("name-index-variable", f"the name index does not list '{entry.name}'", entry)

    def _frames(self) -> None:
        sections: list[tuple[str, bytes, bool, int]] = []
        data = self.file.sections.get(".debug_frame")
        if data:
            sections.append((".debug_frame", data, False, 0))
        if self.file.eh_frame is not None:
            sections.append((".eh_frame", self.file.eh_frame[0], True, self.file.eh_frame[1]))
        for name, content, is_eh, address in sections:
            self._frame_section(name, content, is_eh, address)
            if not is_eh:
                size = next((unit.address_size for unit in self._units), 8)
                for offset, rule, words in frame_problems(content, size):
                    self.findings.add(rule, words, name, offset)

    def _frame_section(self, name: str, content: bytes, is_eh: bool, address: int) -> None:
        faults: list[DwarfError] = []
        tables: dict[str, FrameTable] = {}

        def table_of(dialect: str) -> FrameTable:
            if dialect not in tables:
                tables[dialect] = parse_frames(
                    content, dialect=dialect, eh_frame=is_eh, section_address=address, faults=faults
                )
            return tables[dialect]

        for fde in table_of("amd").fdes:
            work.unit()
            scopes = self._scopes(fde.start)
            dialect = scopes[-1].die.unit.dialect if scopes else "amd"
            self._frame(table_of(dialect), fde.offset, fde.start, fde.end, name)
        for fault in faults:
            self.findings.add("call-frame", fault.detail, name, fault.offset or 0)

    def _scopes(self, pc: int) -> list[Entry]:
        try:
            return self.file.at(pc)
        except Error:
            return []

    def _frame(self, table: FrameTable, offset: int, start: int, end: int, section: str) -> None:
        pc, looked = start, 0
        try:
            while pc < end and looked < _MOST_ROWS:
                work.unit()
                row = table.row(pc)
                if row is None:
                    return
                context = Probe(self.architecture, pc, 0, 64)
                if self.architecture is not UNSPECIFIED:
                    for ask in (
                        *((lambda: row.cfa_location(context),) if row.cfa is not None else ()),  # noqa: B023
                        *(lambda n=number: row.register_location(n, context) for number in row.rules),  # noqa: B023
                    ):
                        try:
                            ask()
                        except EvaluationError:
                            continue
                pc, looked = max(row.end, pc + 1), looked + 1
        except IllFormed as error:
            self.findings.add("call-frame", error.detail, section, offset, pc=pc)
