"""Rules about attributes: the tags and classes they may have, what they refer to, and the results of their expressions.

An expression breaks a rule if it is ill-formed for any contents of registers and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rocdbg.dwarf.architecture import UNSPECIFIED, Architecture
from rocdbg.dwarf.attribute_names import ATTRIBUTES, attribute_name
from rocdbg.dwarf.checker.entry_rules import is_nested
from rocdbg.dwarf.checker.findings import Findings
from rocdbg.dwarf.checker.operands import operand_problems
from rocdbg.dwarf.checker.probe import Probe
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
    SectionOffset,
)
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.whereabouts import function_around
from rocdbg.dwarf.reader import results
from rocdbg.dwarf.reader.entry import Entry
from rocdbg.dwarf.reader.numbers import tag_name
from rocdbg.dwarf.reader.prepared import first_expression
from rocdbg.errors import Error

__all__ = ["AttributeRules"]

_OBJECTS = (Tag.VARIABLE, Tag.FORMAL_PARAMETER, Tag.CONSTANT, Tag.COMMON_BLOCK)
_CALL_PARAMETERS = (Tag.CALL_SITE_PARAMETER, Tag.GNU_CALL_SITE_PARAMETER)
_FUNCTIONS = (Tag.SUBPROGRAM, Tag.INLINED_SUBROUTINE, Tag.ENTRY_POINT)
_VENDOR_CODES = {row.code for row in ATTRIBUTES}
_LAST_MEMORY_SPACE, _VENDOR_MEMORY_SPACES = 4, range(0x8000, 0x10000)
_FILLS = (0x00, 0x11)
_MOST_PLACES = 64
"""The most addresses at which one location list is evaluated."""
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


class AttributeRules:
    """Checks attributes of entries and records what breaks a rule; ``tags`` holds the tags of all entries by offset."""

    def __init__(self, findings: Findings, architecture: Architecture, tags: Mapping[int, int]) -> None:
        self._findings = findings
        self._architecture = architecture
        self._tags = tags

    def check(self, entry: Entry, code: int, value: AttributeValue) -> None:
        """Check one attribute of an entry."""
        self._vendor(entry, code, value)
        self._standard(entry, code, value)
        if isinstance(value, Exprloc | Loclist) and not self._decodes(entry, code, value):
            return
        self._by_code(entry, code, value)

    def check_lanes(self, entry: Entry) -> None:
        """Check how many lanes and iterations a function has, which also applies without the attributes (A.3.3.5)."""
        die = entry.die
        if die.tag not in _FUNCTIONS:
            return
        self._static("lanes", entry, lambda: results.lanes(die))
        if results.has_iterations(die):
            lanes = first_expression(die, (At.LLVM_LANES,))
            self._probe("iterations", entry, lanes, lambda entry, context: results.iterations(entry.die, context))

    def _vendor(self, entry: Entry, code: int, value: AttributeValue) -> None:
        """Check that a code of the extensions has a meaning on this tag, in this class. Codes that only upstream has
        are not checked.
        """
        dialect = entry.die.unit.dialect
        if code not in _VENDOR_CODES or dialect == "llvm22":
            return
        kind = {"sectionoffset": "sec_offset"}.get(type(value).__name__.lower(), type(value).__name__.lower())
        if not any(attribute_name(code, entry.tag, kind, each) for each in (dialect, "amd", "llvm22")):
            self._findings.at_entry(
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
            self._findings.at_entry("attribute-tag", f"{entry.tag} must not have {_name(code, entry)}", entry)
        elif isinstance(value, Reference) and code != At.SIBLING:
            if value.offset not in self._tags:
                words = f"{_name(code, entry)} refers to offset {value.offset:#x}, where no entry begins"
                self._findings.at_entry("reference", words, entry)
            elif code == At.TYPE and not _is_type(self._tags[value.offset]):
                target = tag_name(self._tags[value.offset])
                words = f"DW_AT_type refers to the entry at {value.offset:#x}, which is a {target}, not a type"
                self._findings.at_entry("reference", words, entry)
        elif code in (At.DECL_FILE, At.CALL_FILE) and isinstance(value, Constant):
            self._source_file(entry, value.value)
        elif code in (At.CALL_VALUE, At.CALL_DATA_VALUE, At.CALL_DATA_LOCATION, At.DATA_LOCATION) and isinstance(
            value, Loclist | SectionOffset
        ):
            rule = "data-location" if code == At.DATA_LOCATION else "call-site"
            words = f"{_name(code, entry)} must be an operation expression, but is a location list"
            self._findings.at_entry(rule, words, entry)

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
            words = f"there is no file {number}: the line table has {len(header.files)} files"
            self._findings.at_entry("source-file", words, entry)

    def _decodes(self, entry: Entry, code: int, value: Exprloc | Loclist) -> bool:
        """Whether an expression, or every expression of a list, is a sequence of operations."""
        unit = entry.die.unit
        name = _name(code, entry)
        try:
            what = written_list(value, unit) if isinstance(value, Loclist) else as_written(value, unit)
        except DwarfError as error:
            offset = value.offset if isinstance(value, Loclist) else 0
            section = value.section_name if isinstance(value, Loclist) else ".debug_info"
            self._findings.add("location-list", f"{name}: {error.detail}", section, offset, entry)
            return False
        good = True
        parts = list(what) if isinstance(what, LocationList) else [(None, None, what.data)]
        for low, high, data in parts:
            if low is not None and high is not None and high < low and isinstance(value, Loclist):
                self._findings.add(
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
                    self._findings.at_entry("object", words, entry)
                for words in operand_problems(data, unit, self._tags):
                    good = False
                    self._findings.at_entry("operand", f"{name}: {words}", entry)
            except IllFormed as error:
                good = False
                self._findings.at_entry("expression", f"{name}: {error.detail}", entry)
            except Error as error:
                self._findings.damage(error, entry)
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
                    self._findings.at_entry("static-link", f"{tag_name(die.tag)} is not nested in a subprogram", entry)
            case At.LLVM_LANE_PC | At.LLVM22_LANE_PC if there is not None and die.tag in _FUNCTIONS:
                self._probe("lane-pc", entry, there, lambda entry, context: results.lane_pc(entry.die, context))
            case At.LLVM_ACTIVE_LANE if there is not None and die.tag in _FUNCTIONS:
                self._probe("active-lane", entry, there, lambda entry, context: results.active_lane(entry.die, context))
            case At.LLVM_VECTOR_SIZE | At.LLVM22_VECTOR_SIZE if die.tag == Tag.BASE_TYPE:
                self._static("vector-size", entry, entry.vector_size)
            case At.LLVM22_MEMORY_SPACE if isinstance(value, Constant):
                if value.value > _LAST_MEMORY_SPACE and value.value not in _VENDOR_MEMORY_SPACES:
                    self._findings.at_entry("memory-space", f"there is no memory space {value.value:#x}", entry)
            case At.LLVM22_ADDRESS_SPACE if die.tag == Tag.BASE_TYPE and die.number(At.ENCODING) != _ADDRESS_ENCODING:
                words = "only a base type with encoding DW_ATE_address can have an address space"
                self._findings.at_entry("address-space", words, entry)
            case At.LLVM22_ADDRESS_SPACE if isinstance(value, Constant) and self._architecture is not UNSPECIFIED:
                if self._architecture.address_space(value.value, die.unit.dialect) is None:
                    self._findings.at_entry(
                        "address-space", f"{self._architecture.name} has no address space {value.value:#x}", entry
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
            self._findings.at_entry(rule, error.detail, entry)

    def _probe(self, rule: str, entry: Entry, value: Exprloc | Loclist | None, ask: _Ask) -> None:
        """Evaluate an attribute at the addresses where it applies; report it if it is ill-formed for any contents of
        registers and memory.
        """
        if self._findings.has("reference", *entry.die.unit.entries.where(entry.offset)):
            return  # a broken reference, which was reported: the object cannot be known
        for pc in self._places(entry, value):
            broken: set[str] = set()
            for fill in _FILLS:
                try:
                    ask(entry, Probe(self._architecture, pc, fill, 64))
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
                    self._findings.at_entry(rule, broken.pop(), entry)
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
