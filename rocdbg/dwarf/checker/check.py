"""Checks every unit, entry, attribute, list, table and frame of a file against its rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from rocdbg import work
from rocdbg.dwarf.architecture import UNSPECIFIED, Architecture, architecture_by_name
from rocdbg.dwarf.attribute_names import ATTRIBUTES, attribute_name
from rocdbg.dwarf.cfi import FrameTable, parse_frames
from rocdbg.dwarf.checker.entry_rules import entry_problems, is_nested
from rocdbg.dwarf.checker.operands import operand_problems
from rocdbg.dwarf.checker.probe import Probe
from rocdbg.dwarf.checker.rule_table import RULES, Finding
from rocdbg.dwarf.checker.tables import (
    augmentation_problem,
    frame_problems,
    header_problems,
    index_problems,
    is_indexed_by_the_extensions,
)
from rocdbg.dwarf.context import LocationList
from rocdbg.dwarf.decoding import decode
from rocdbg.dwarf.errors import DwarfError, EvaluationError, IllFormed
from rocdbg.dwarf.info.attribute_expressions import as_written, written_list
from rocdbg.dwarf.info.attribute_values import (
    Address,
    AttributeValue,
    Constant,
    Exprloc,
    Loclist,
    Reference,
    Rnglist,
    SectionOffset,
)
from rocdbg.dwarf.info.code_ranges import raw_ranges
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.name_index import NameIndex, read_name_indexes
from rocdbg.dwarf.info.scopes import Entity
from rocdbg.dwarf.info.whereabouts import function_around
from rocdbg.dwarf.reader import results
from rocdbg.dwarf.reader.entry import Entry
from rocdbg.dwarf.reader.file import DebugFile, DebugUnit
from rocdbg.dwarf.reader.numbers import tag_name
from rocdbg.dwarf.reader.prepared import first_expression
from rocdbg.errors import Error

__all__ = ["check"]

_OBJECTS = (Tag.VARIABLE, Tag.FORMAL_PARAMETER, Tag.CONSTANT, Tag.COMMON_BLOCK)
_CALL_PARAMETERS = (Tag.CALL_SITE_PARAMETER, Tag.GNU_CALL_SITE_PARAMETER)
_FUNCTIONS = (Tag.SUBPROGRAM, Tag.INLINED_SUBROUTINE, Tag.ENTRY_POINT)
_VENDOR_CODES = {row.code for row in ATTRIBUTES}
_LAST_MEMORY_SPACE, _VENDOR_MEMORY_SPACES = 4, range(0x8000, 0x10000)
_FILLS = (0x00, 0x11)
_MOST_PLACES = 64
"""The most addresses at which one location list, or the frame table of one function, is evaluated."""

_WITHOUT_OBJECT = frozenset({
    At.LOCATION, At.RETURN_ADDR, At.FRAME_BASE, At.STATIC_LINK, At.LLVM_LANE_PC, At.LLVM22_LANE_PC, At.LLVM_ACTIVE_LANE,
    At.CALL_VALUE, At.CALL_DATA_VALUE,
})
"""Attributes that are evaluated without an object (A.3.3.5, A.3.4.2, A.4.1)."""
_OF_FUNCTIONS = {
    At.RETURN_ADDR: _FUNCTIONS, At.FRAME_BASE: (Tag.SUBPROGRAM, Tag.ENTRY_POINT),
    At.STATIC_LINK: (Tag.SUBPROGRAM, Tag.ENTRY_POINT),
}
"""Attributes that only functions have (A.3.3.5)."""
_ADDRESS_ENCODING = 0x01
"""DW_ATE_address."""

_TYPES = ("typedef", "template_alias", "subrange", "generic_subrange")
"""Tags of types whose names do not end in "_type"."""
_FIRST_OF_VENDORS = 0x4080

_Ask = Callable[[Entry, Probe], object]


def check(file: DebugFile) -> list[Finding]:
    """Find everything that breaks a rule (A.2 to A.7), sorted by section and offset. Damage is reported, not raised."""
    checker = _Checker(file)
    with work.doing("checking debug information"):
        checker.run()
    return sorted(checker.findings, key=lambda found: (found.section, found.offset, found.rule.id, found.message))


class _Checker:
    def __init__(self, file: DebugFile) -> None:
        self.file = file
        self.findings: list[Finding] = []
        self._known: set[tuple[str, str, int]] = set()
        self._tags: dict[int, int] = {}
        """The tags of all entries by offset."""
        self._units: tuple[DebugUnit, ...] = ()
        self.architecture: Architecture = (
            architecture_by_name(file.architecture) if file.architecture is not None else UNSPECIFIED
        )

    # Findings

    def add(self, rule: str, message: str, section: str, offset: int, entry: Entry | None = None, pc: int = -1) -> None:
        """Record a finding, once for each rule and place."""
        key = rule, section, offset
        if key in self._known:
            return
        self._known.add(key)
        function, path, line, dialect = "", "", 0, ""
        try:
            if entry is not None:
                dialect = entry.die.unit.dialect
                around = function_around(entry.die)
                function = (Entity(around).qualified_name or "") if around is not None else ""
                for die in (entry.die, around):
                    own = Entity(die) if die is not None else None
                    if own is not None and own.decl_line:
                        line, path = own.decl_line, own.decl_file.path if own.decl_file is not None else ""
                        break
                path = path or entry.die.unit.name
            elif pc >= 0:
                scopes = self.file.at(pc)
                function = (scopes[-1].qualified_name or "") if scopes else ""
                dialect = scopes[-1].die.unit.dialect if scopes else ""
                path, line = self.file.line_at(pc) or ("", 0)
        except Error:  # reported as a finding of its own
            pass
        self.findings.append(Finding(RULES[rule], message, section, offset, function, path, line, dialect))

    def at_entry(self, rule: str, message: str, entry: Entry) -> None:
        """A finding about an attribute of an entry."""
        section, offset = entry.die.unit.entries.where(entry.offset)
        self.add(rule, message, section, offset, entry)

    def damage(self, error: Error, entry: Entry | None = None, rule: str = "readable") -> None:
        """A finding about an unreadable part."""
        if isinstance(error, DebugInfoError):
            if error.section == ".debug_info":
                rule = "readable"
            self.add(rule, error.reason, error.section, error.offset or 0, entry)
        elif entry is not None:
            self.at_entry(rule, str(error), entry)
        else:
            self.add(rule, str(error), ".debug_info", 0)

    # The whole file

    def run(self) -> None:
        try:
            units = self.file.units
        except Error as error:
            self.damage(error)
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
                self.add("address-size", words, section, offset)
        self._lines(units)
        self._names()
        self._frames()

    def _unit(self, unit: DebugUnit) -> None:
        try:
            entries = unit.entries
            augmentation = unit.augmentation
        except Error as error:
            self.damage(error)
            return
        words = augmentation_problem(augmentation) if augmentation.startswith("[") or not augmentation else (
            f"the augmentation '{augmentation}' does not have the form [vendor:vX.Y:options]"
        )
        if words is not None:
            self.at_entry("augmentation-format", words, unit.top)
        for entry in entries:
            work.unit()
            try:
                self._entry(entry)
            except Error as error:
                self.damage(error, entry)

    def _entry(self, entry: Entry) -> None:
        die = entry.die
        self._ranges(entry)
        for rule, words in entry_problems(die, self._tags):
            self.at_entry(rule, words, entry)
        for code in die.attributes:
            for value in die.attribute_values(code):
                self._attribute(entry, code, value)
        if die.tag in _FUNCTIONS:
            self._static("lanes", entry, lambda: results.lanes(die))
            if results.has_iterations(die):
                told = first_expression(die, (At.LLVM_LANES,))
                self._probe("iterations", entry, told, lambda entry, context: results.iterations(entry.die, context))

    def _attribute(self, entry: Entry, code: int, value: AttributeValue) -> None:
        self._vendor(entry, code, value)
        self._standard(entry, code, value)
        if isinstance(value, Exprloc | Loclist) and not self._decodes(entry, code, value):
            return
        self._by_code(entry, code, value)

    def _vendor(self, entry: Entry, code: int, value: AttributeValue) -> None:
        """Check that a code of the extensions has a meaning on this tag, in this class. Codes that only upstream has
        are not checked.
        """
        dialect = entry.die.unit.dialect
        if code not in _VENDOR_CODES or dialect == "llvm22":
            return
        kind = {"sectionoffset": "sec_offset"}.get(type(value).__name__.lower(), type(value).__name__.lower())
        if not any(attribute_name(code, entry.tag, kind, each) for each in (dialect, "amd", "llvm22")):
            self.at_entry(
                "attribute-class",
                f"attribute {code:#x} of class {kind} is not defined for {tag_name(entry.die.tag)}",
                entry,
            )

    def _standard(self, entry: Entry, code: int, value: AttributeValue) -> None:
        """Check the rules that apply to an attribute in any entry: its tag, the entries it refers to, the files it
        names.
        """
        tag = entry.die.tag
        if code in _OF_FUNCTIONS and tag not in _OF_FUNCTIONS[code]:
            self.at_entry("attribute-tag", f"{entry.tag} must not have {_name(code, entry)}", entry)
        elif isinstance(value, Reference) and code != At.SIBLING:
            if value.offset not in self._tags:
                words = f"{_name(code, entry)} refers to offset {value.offset:#x}, where no entry begins"
                self.at_entry("reference", words, entry)
            elif code == At.TYPE and not _is_type(self._tags[value.offset]):
                target = tag_name(self._tags[value.offset])
                words = f"DW_AT_type refers to the entry at {value.offset:#x}, which is a {target}, not a type"
                self.at_entry("reference", words, entry)
        elif code in (At.DECL_FILE, At.CALL_FILE) and isinstance(value, Constant):
            self._source_file(entry, value.value)
        elif code in (At.CALL_VALUE, At.CALL_DATA_VALUE, At.CALL_DATA_LOCATION, At.DATA_LOCATION) and isinstance(
            value, Loclist | SectionOffset
        ):
            rule = "data-location" if code == At.DATA_LOCATION else "call-site"
            words = f"{_name(code, entry)} must be an operation expression, but is a location list"
            self.at_entry(rule, words, entry)

    def _source_file(self, entry: Entry, number: int) -> None:
        unit = entry.die.unit
        try:
            table = unit.line_table
            header = table.header if table is not None else None
        except Error:
            return  # reported as a finding of its own
        if header is None or (number == 0 and header.version < 5):
            return
        if not header.first_file <= number < header.first_file + len(header.files):
            files = len(header.files)
            self.at_entry("source-file", f"there is no file {number}: the line table has {files} files", entry)

    def _ranges(self, entry: Entry) -> None:
        """Check the code addresses of an entry, whether they are in a range list or given as low and high PC."""
        die = entry.die
        low, high, ranges = die.attribute(At.LOW_PC), die.attribute(At.HIGH_PC), die.attribute(At.RANGES)
        try:
            if isinstance(ranges, Rnglist):
                for part in raw_ranges(die.unit, ranges.offset):
                    if part[1] < part[0]:
                        words = f"a range ends at {part[1]:#x}, before it begins at {part[0]:#x}"
                        self.at_entry("range-list", words, entry)
        except Error as error:
            self.damage(error, entry, "range-list")
        if isinstance(low, Address) and isinstance(high, Address) and high.value < low.value:
            words = f"the code of the entry ends at {high.value:#x}, before it begins at {low.value:#x}"
            self.at_entry("range-list", words, entry)

    def _decodes(self, entry: Entry, code: int, value: Exprloc | Loclist) -> bool:
        """Whether an expression, or every expression of a list, is a sequence of operations."""
        unit = entry.die.unit
        name = _name(code, entry)
        try:
            what = written_list(value, unit) if isinstance(value, Loclist) else as_written(value, unit)
        except DwarfError as error:
            offset = value.offset if isinstance(value, Loclist) else 0
            section = value.section_name if isinstance(value, Loclist) else ".debug_info"
            self.add("location-list", f"{name}: {error.detail}", section, offset, entry)
            return False
        good = True
        parts = list(what) if isinstance(what, LocationList) else [(None, None, what.data)]
        for low, high, data in parts:
            if low is not None and high is not None and high < low and isinstance(value, Loclist):
                self.add(
                    "location-list", f"{name}: a range ends at {high:#x}, before it begins at {low:#x}",
                    value.section_name, value.offset, entry,
                )
            try:
                operations = decode(
                    data, unit.dialect, address_size=unit.address_size, offset_size=unit.offset_size
                )
                if code in _WITHOUT_OBJECT and any(
                    operation.info.meaning == "push_object_address" for operation in operations
                ):
                    good = False
                    words = f"{name}: DW_OP_push_object_address cannot be used, because there is no object"
                    self.at_entry("object", words, entry)
                for words in operand_problems(data, unit, self._tags):
                    good = False
                    self.at_entry("operand", f"{name}: {words}", entry)
            except IllFormed as error:
                good = False
                self.at_entry("expression", f"{name}: {error.detail}", entry)
            except Error as error:
                self.damage(error, entry)
        return good

    def _by_code(self, entry: Entry, code: int, value: AttributeValue) -> None:
        die = entry.die
        there = value if isinstance(value, Exprloc | Loclist) else None
        match code:
            case At.LOCATION if die.tag in _CALL_PARAMETERS and there is not None:
                self._probe("call-parameter", entry, there, lambda entry, context: results.location(entry.die, context))
            case At.CALL_TARGET | At.CALL_TARGET_CLOBBERED | At.GNU_CALL_SITE_TARGET:
                self._probe("call-target", entry, there, lambda entry, context: results.call_target(entry.die, context))
            case At.LOCATION if die.tag in _OBJECTS:
                self._probe("location", entry, there, lambda entry, context: results.location(entry.die, context))
            case At.RETURN_ADDR | At.FRAME_BASE | At.STATIC_LINK if die.tag not in _OF_FUNCTIONS[code]:
                pass  # reported as a finding of its own
            case At.RETURN_ADDR:
                self._probe("return-addr", entry, there, lambda entry, context: results.return_addr(entry.die, context))
            case At.FRAME_BASE:
                self._probe("frame-base", entry, there, lambda entry, context: results.frame_base(entry.die, context))
            case At.STATIC_LINK:
                self._probe("static-link", entry, there, lambda entry, context: results.static_link(entry.die, context))
                if not is_nested(die):
                    self.at_entry("static-link", f"{tag_name(die.tag)} is not nested in a subprogram", entry)
            case At.LLVM_LANE_PC | At.LLVM22_LANE_PC if there is not None and die.tag in _FUNCTIONS:
                self._probe("lane-pc", entry, there, lambda entry, context: results.lane_pc(entry.die, context))
            case At.LLVM_ACTIVE_LANE if there is not None and die.tag in _FUNCTIONS:
                self._probe("active-lane", entry, there, lambda entry, context: results.active_lane(entry.die, context))
            case At.LLVM_VECTOR_SIZE | At.LLVM22_VECTOR_SIZE if die.tag == Tag.BASE_TYPE:
                self._static("vector-size", entry, entry.vector_size)
            case At.LLVM22_MEMORY_SPACE if isinstance(value, Constant):
                if value.value > _LAST_MEMORY_SPACE and value.value not in _VENDOR_MEMORY_SPACES:
                    self.at_entry("memory-space", f"there is no memory space {value.value:#x}", entry)
            case At.LLVM22_ADDRESS_SPACE if die.tag == Tag.BASE_TYPE and die.number(At.ENCODING) != _ADDRESS_ENCODING:
                words = "only a base type with encoding DW_ATE_address can have an address space"
                self.at_entry("address-space", words, entry)
            case At.LLVM22_ADDRESS_SPACE if isinstance(value, Constant) and self.architecture is not UNSPECIFIED:
                if self.architecture.address_space(value.value, die.unit.dialect) is None:
                    self.at_entry(
                        "address-space", f"{self.architecture.name} has no address space {value.value:#x}", entry
                    )
            case At.DATA_MEMBER_LOCATION if not isinstance(value, Constant):
                self._probe("member-location", entry, there, _member)
            case At.VTABLE_ELEM_LOCATION if there is not None:
                self._probe("vtable-elem", entry, there, _slot)
            case At.USE_LOCATION:
                self._probe("use-location", entry, there, _used)
            case At.DATA_LOCATION:
                self._probe("data-location", entry, there, _data)
            case At.CALL_VALUE | At.CALL_DATA_VALUE | At.CALL_DATA_LOCATION:
                self._probe("call-site", entry, there, {
                    At.CALL_VALUE: lambda entry, context: results.call_value(entry.die, context),
                    At.CALL_DATA_VALUE: lambda entry, context: results.call_data_value(entry.die, context),
                    At.CALL_DATA_LOCATION: lambda entry, context: results.call_data_location(entry.die, context),
                }[code])

    # Evaluation

    def _static(self, rule: str, entry: Entry, ask: Callable[[], object]) -> None:
        try:
            ask()
        except IllFormed as error:
            self.at_entry(rule, error.detail, entry)

    def _probe(self, rule: str, entry: Entry, value: Exprloc | Loclist | None, ask: _Ask) -> None:
        """Evaluate an attribute at the addresses where it applies; report it if it is ill-formed whatever the contents
        of registers and memory are.
        """
        if ("reference", *entry.die.unit.entries.where(entry.offset)) in self._known:
            return  # a broken reference, which was reported: the object cannot be known
        for pc in self._places(entry, value):
            broken: set[str] = set()
            for fill in _FILLS:
                try:
                    ask(entry, Probe(self.architecture, pc, fill, 64))
                except IllFormed as error:
                    if error.attribute == "DW_AT_LLVM_lanes" and rule != "lanes":
                        break  # reported by the rule for lanes
                    if _is_of_gcc(error, entry):
                        break
                    broken.add(error.detail)
                except EvaluationError:
                    break
                else:
                    break
            else:
                if len(broken) == 1:
                    self.at_entry(rule, broken.pop(), entry)
                    return

    def _places(self, entry: Entry, value: Exprloc | Loclist | None) -> Iterator[int]:
        """Addresses at which an attribute is evaluated: for a list, the beginnings of its ranges."""
        if isinstance(value, Loclist):
            what = as_written(value, entry.die.unit)
            if isinstance(what, LocationList):
                lows = {low for low, high, _ in what if low is not None and high is not None and low < high}
                yield from sorted(lows)[:_MOST_PLACES]
            return
        around = function_around(entry.die)
        low = around.attribute(At.LOW_PC) if around is not None else None
        yield low.value if isinstance(low, Address) else 0

    # Other sections

    def _lines(self, units: tuple[DebugUnit, ...]) -> None:
        for unit in units:
            work.unit()
            try:
                table = unit.raw.line_table
                if table is not None:
                    _ = table.sequences
                    for words in table.header.problems:
                        self.add("line-content", words, ".debug_line", table.offset, unit.top)
            except Error as error:
                self.damage(error, None, "line-table")

    def _names(self) -> None:
        try:
            for index in read_name_indexes(self.file.info.entries.sections):
                for words in index_problems(index, self._tags) if self._tags else ():
                    self.add("name-index", words, ".debug_names", index.offset)
                self._indexed(index)
        except Error as error:
            self.damage(error, None, "name-index")

    def _indexed(self, index: NameIndex) -> None:
        """Check that a name index lists the variables of its units that the extensions require (A.6.1.1.1)."""
        known = {entry.die_offset for _, entry in index.items()}
        for unit in self._units:
            if unit.offset not in index.compile_units or unit.dialect == "llvm22":
                continue
            for entry in unit.entries:
                if entry.offset not in known and is_indexed_by_the_extensions(entry.die):
                    self.at_entry("name-index-variable", f"the name index does not list '{entry.name}'", entry)

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
                    self.add(rule, words, name, offset)

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
            self.add("call-frame", fault.detail, name, fault.offset or 0)

    def _scopes(self, pc: int) -> list[Entry]:
        try:
            return self.file.at(pc)
        except Error:
            return []

    def _frame(self, table: FrameTable, offset: int, start: int, end: int, section: str) -> None:
        pc, looked = start, 0
        try:
            while pc < end and looked < _MOST_PLACES:
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
            self.add("call-frame", error.detail, section, offset, pc=pc)


def _name(code: int, entry: Entry) -> str:
    """Return the name of an attribute of an entry, or its number if it has no name."""
    return attribute_name(code, entry.tag, None, entry.die.unit.dialect) or f"attribute {code:#x}"


def _is_of_gcc(error: IllFormed, entry: Entry) -> bool:
    """Whether an error is about operand types in an expression by GCC. For AMD's GPUs, GCC mixes typed and generic
    32-bit values and relies on their bits.
    """
    return "type" in error.reason and entry.die.unit.producer.startswith("GNU ")


def _is_type(tag: int) -> bool:
    """Whether an entry with this tag can be a type; every vendor tag can."""
    name = tag_name(tag)
    return tag >= _FIRST_OF_VENDORS or name.endswith("_type") or name.removeprefix("DW_TAG_") in _TYPES


def _member(entry: Entry, context: Probe) -> object:
    return results.member_location(entry.die, context, context.somewhere)


def _slot(entry: Entry, context: Probe) -> object:
    return results.vtable_elem_location(entry.die, context, context.somewhere)


def _used(entry: Entry, context: Probe) -> object:
    return results.use_location(entry.die, context, 0, context.somewhere)


def _data(entry: Entry, context: Probe) -> object:
    return results.data_location(entry.die, context, context.somewhere)
