"""Rewrites the entries of debug information with changes to their attributes.

Entries keep their order. Everything that refers to them is updated: references, expressions, location lists.
Abbreviations and location lists are written again; strings, addresses, ranges and lines keep their positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import Struct

from rocdbg import work
from rocdbg.dwarf.context import LocationListEntry
from rocdbg.dwarf.info.abbrev import Abbreviation
from rocdbg.dwarf.info.attribute_values import Constant, Exprloc, Loclist, Reference
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.entries import Entries
from rocdbg.dwarf.info.form_conversion import convert
from rocdbg.dwarf.info.forms import FORMS, IMPLICIT_CONST, Kind, raw_reader, read_indirect, uleb
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.location_list_reader import parse_location_list
from rocdbg.dwarf.operation_assembler import sleb128, uleb128
from rocdbg.dwarf.rewriting.entry_references import padded_uleb, with_movable_references
from rocdbg.dwarf.rewriting.location_list_writer import encode_list, loclists_header

__all__ = ["Editor", "NewValue", "Rewritten", "rewrite_entries"]

_LOCVIEWS: Final = 0x2137
"""DW_AT_GNU_locviews: numbers that belong to the entries of the original location list."""

_DATA4, _DATA8, _STRING, _BLOCK, _UDATA, _SEC_OFFSET, _EXPRLOC = 0x06, 0x07, 0x08, 0x09, 0x0F, 0x17, 0x18
_REF_ADDR, _REF4, _REF8 = 0x10, 0x13, 0x14
_LOOKED_AT = frozenset({
    Kind.BLOCK, Kind.EXPRLOC, Kind.CONSTANT, Kind.SECTION_OFFSET, Kind.LOCLIST_INDEX, Kind.UNIT_REFERENCE,
    Kind.SECTION_REFERENCE,
})

NewValue = int | str | Exprloc | Sequence[LocationListEntry]
"""A new value of an attribute: a constant, a string, an expression, or a location list with absolute addresses."""


class Editor(Protocol):
    """Decides what changes in the entries."""

    def dialect(self, unit: Unit) -> str:
        """The dialect of a unit's expressions as they are written."""

    def code(self, unit: Unit, code: int) -> int:
        """The code with which an attribute of a unit is written."""

    def changed(
        self, die: Die, code: int, value: Constant | Exprloc | Sequence[LocationListEntry]
    ) -> NewValue | None:
        """The new value of an attribute, or ``None`` to keep the old one."""

    def added(self, die: Die) -> Sequence[tuple[int, NewValue]]:
        """Additional attributes of an entry."""


class Rewritten(Struct):
    """The new sections by name, and the new offsets of entries by their old ones.

    Old offsets are those of `Entries`, with ``.debug_types`` after ``.debug_info``; new ones are relative to their
    section.
    """

    sections: dict[str, bytes]
    entries: dict[int, int]
    units: dict[int, int]


class _Fixup(Struct, frozen=True):
    """A reference that is written once all entries have been placed. ``unit`` is the one to which it is relative, if
    any.
    """

    section: str
    position: int
    size: int
    is_leb: bool
    target: int
    unit: Unit | None


def rewrite_entries(entries: Entries, editor: Editor) -> Rewritten:
    """Rewrites all units with an editor's changes.

    Raises `DebugInfoError` and `DwarfError` if debug information is damaged or a reference does not lead to an entry.
    """
    return _Writer(entries, editor).run()


class _Writer:
    def __init__(self, entries: Entries, editor: Editor) -> None:
        self.source = entries
        self.editor = editor
        self.sections: dict[str, bytearray] = {
            name: bytearray() for name in (".debug_info", ".debug_types", ".debug_loclists", ".debug_loc")
        }
        self.abbreviations: dict[tuple[int, bool, tuple[tuple[int, int, int | None], ...]], int] = {}
        self.fixups: list[_Fixup] = []
        self.entries: dict[int, int] = {}
        self.units: dict[int, int] = {}

    def run(self) -> Rewritten:
        info = len(self.source.sections[".debug_info"])
        end = 0
        for unit in self.source.units:
            self._unit(unit, ".debug_types" if unit.offset >= info else ".debug_info")
            end = unit.end
        if any(self.source.data[end:]):
            raise self.source.error(
                end, "the header of this unit is damaged, so this unit and those after it cannot be rewritten"
            )
        for fixup in self.fixups:
            work.unit()
            self._fix(fixup)
        sections = {name: bytes(data) for name, data in self.sections.items() if data}
        sections[".debug_abbrev"] = self._abbreviation_table()
        return Rewritten(sections, self.entries, self.units)

    def _unit(self, unit: Unit, section: str) -> None:
        out = self.sections[section]
        start = len(out)
        self.units[unit.offset] = start
        header = bytearray(self.source.data[unit.offset:unit.first])
        length_size = 4 if unit.offset_size == 4 else 12
        abbreviations_at = length_size + (4 if unit.version >= 5 else 2)
        header[abbreviations_at:abbreviations_at + unit.offset_size] = bytes(unit.offset_size)
        out += header
        lists = _Lists(unit, self.sections[".debug_loclists" if unit.version >= 5 else ".debug_loc"])
        pos = unit.first
        while pos < unit.end:
            work.unit()
            pos = self._entry(unit, section, pos, lists)
        self._lists(lists)
        if unit.type_signature is not None:
            where = start + len(header) - unit.offset_size
            self.fixups.append(
                _Fixup(section, where, unit.offset_size, False, unit.offset + unit.type_offset, unit)
            )
        size = unit.offset_size
        length = len(out) - start - length_size
        if size == 4 and length >= 0xFFFFFFF0:
            raise self.source.error(unit.offset, "the rewritten unit is too large for the 32-bit DWARF format")
        out[start + length_size - size:start + length_size] = length.to_bytes(size, "little")

    def _entry(self, unit: Unit, section: str, pos: int, lists: _Lists) -> int:
        """Write the entry, or the end of a list of children, at a position; returns the position after it."""
        out, data = self.sections[section], self.source.data
        try:
            code, after = uleb(data, pos)
            if not code:
                out.append(0)
                return after
            abbreviation = unit.abbreviations.get(code)
            if abbreviation is None:
                raise self.source.error(pos, f"abbreviation {code} is not defined")
            self.entries[pos] = len(out)
            entry = _Entry(self, Die(unit, pos), section, lists)
            after = entry.read(abbreviation, after)
        except IndexError:
            raise self.source.error(pos, "the entry is truncated") from None
        if after > unit.end:
            raise self.source.error(pos, "the entry goes beyond the end of its unit")
        key = abbreviation.tag, abbreviation.has_children, tuple(entry.specs)
        number = self.abbreviations.setdefault(key, len(self.abbreviations) + 1)
        prefix = uleb128(number)
        at = len(out) + len(prefix)
        out += prefix
        out += entry.data
        self.fixups += [
            _Fixup(section, at + one.position, one.size, one.is_leb, one.target, one.unit) for one in entry.fixups
        ]
        return after

    def _lists(self, lists: _Lists) -> None:
        """Write the location lists of a unit after those of the units before it."""
        if not lists.data:
            return
        unit = lists.unit
        if unit.version >= 5:
            lists.section += loclists_header(len(lists.data), unit.address_size, unit.offset_size)
        name = ".debug_loclists" if unit.version >= 5 else ".debug_loc"
        self.fixups += [
            _Fixup(name, lists.base + one.position, one.size, one.is_leb, one.target, one.unit)
            for one in lists.fixups
        ]
        lists.section += lists.data

    def _fix(self, fixup: _Fixup) -> None:
        target = self.entries.get(fixup.target)
        if target is None:
            raise self.source.error(fixup.target, "a reference leads to this offset, where no entry begins")
        if fixup.unit is not None:
            target -= self.units[fixup.unit.offset]
        try:
            raw = padded_uleb(target, fixup.size) if fixup.is_leb else target.to_bytes(fixup.size, "little")
        except OverflowError:
            raise self.source.error(
                fixup.target, f"the new offset of this entry, {target:#x}, does not fit into a {fixup.size}-byte "
                "reference"
            ) from None
        self.sections[fixup.section][fixup.position:fixup.position + fixup.size] = raw

    def _abbreviation_table(self) -> bytes:
        out = bytearray()
        for (tag, has_children, specs), number in self.abbreviations.items():
            out += uleb128(number) + uleb128(tag) + bytes([has_children])
            for code, form, implicit in specs:
                out += uleb128(code) + uleb128(form)
                if implicit is not None:
                    out += sleb128(implicit)
            out += b"\0\0"
        return bytes(out) + b"\0"


class _Lists:
    """Collects the location lists of a unit; ``base`` is the position of the first of them in ``section``."""

    def __init__(self, unit: Unit, section: bytearray) -> None:
        self.unit = unit
        self.section = section
        header = len(loclists_header(0, unit.address_size, unit.offset_size)) if unit.version >= 5 else 0
        self.base = len(section) + header
        self.data = bytearray()
        self.fixups: list[_Fixup] = []


class _Entry:
    """An entry to be written: the codes and forms of its attributes, their bytes, and the references in those bytes."""

    def __init__(self, writer: _Writer, die: Die, section: str, lists: _Lists) -> None:
        self.writer, self.die, self.section, self.lists = writer, die, section, lists
        self.unit = die.unit
        self.specs: list[tuple[int, int, int | None]] = []
        self.data = bytearray()
        self.fixups: list[_Fixup] = []

    def read(self, abbreviation: Abbreviation, pos: int) -> int:
        """Copy the attributes at a position; returns the position after them."""
        unit, data = self.unit, self.writer.source.data
        for spec in abbreviation.attributes:
            form = spec.form
            if form == IMPLICIT_CONST:
                self._constant(spec.code, spec.implicit or 0)
                continue
            if spec.reader is not None:
                start = pos
                raw, pos = spec.reader(data, pos)
            else:
                form, start = read_indirect(data, pos)
                raw, pos = raw_reader(form, unit.version, unit.address_size, unit.offset_size)(data, start)
            if pos > unit.end:
                raise IndexError
            kind = FORMS[form][2]
            if spec.code == _LOCVIEWS or (spec.code == At.LOCLISTS_BASE and unit.version >= 5):
                continue  # it belongs to the original lists
            value = convert(unit, spec.code, kind, form, raw) if kind in _LOOKED_AT else None
            if isinstance(value, Reference):
                self._reference(spec.code, value.offset, kind is Kind.SECTION_REFERENCE)
            elif isinstance(value, Exprloc):
                self._put(spec.code, self._new(spec.code, value) or value)
            elif isinstance(value, Loclist):
                found = parse_location_list(
                    value.section, value.offset, version=unit.version, address_size=unit.address_size,
                    base_address=unit.base_address, debug_addr=unit.debug_addr,
                )
                new = self._new(spec.code, found)
                self._put(spec.code, found if new is None else new)
            else:
                new = self._new(spec.code, value) if isinstance(value, Constant) else None
                if new is not None:
                    self._put(spec.code, new)
                else:
                    self._spec(spec.code, form)
                    self.data += data[start:pos]
        for code, new in self.writer.editor.added(self.die):
            self._put(code, new, is_new=True)
        return pos

    def _new(self, code: int, value: Constant | Exprloc | Sequence[LocationListEntry]) -> NewValue | None:
        return self.writer.editor.changed(self.die, code, value)

    def _spec(self, code: int, form: int, implicit: int | None = None, *, is_new: bool = False) -> None:
        self.specs.append((code if is_new else self.writer.editor.code(self.unit, code), form, implicit))

    def _constant(self, code: int, value: int) -> None:
        new = self._new(code, Constant(value))
        if new is None:
            self._spec(code, IMPLICIT_CONST, value)
        else:
            self._put(code, new)

    def _reference(self, code: int, target: int, of_section: bool) -> None:
        unit = self.unit
        size = unit.offset_size
        if of_section:
            size = unit.address_size if unit.version <= 2 else size
            self._spec(code, _REF_ADDR)
        else:
            self._spec(code, _REF4 if size == 4 else _REF8)
        self.fixups.append(
            _Fixup(self.section, len(self.data), size, False, target, None if of_section else unit)
        )
        self.data += bytes(size)

    def _put(self, code: int, value: NewValue, *, is_new: bool = False) -> None:
        unit = self.unit
        if isinstance(value, int):
            self._spec(code, _UDATA, is_new=is_new)
            self.data += uleb128(value)
        elif isinstance(value, str):
            self._spec(code, _STRING, is_new=is_new)
            self.data += value.encode() + b"\0"
        elif isinstance(value, Exprloc):
            self._spec(code, _EXPRLOC if unit.version >= 4 else _BLOCK, is_new=is_new)
            data, fixups = self._expression(value.data)
            self.data += uleb128(len(data))
            self.fixups += _moved(fixups, len(self.data))
            self.data += data
        else:
            size = unit.offset_size
            old_form = _DATA4 if size == 4 else _DATA8
            self._spec(code, _SEC_OFFSET if unit.version >= 4 else old_form, is_new=is_new)
            self.data += self._list(value).to_bytes(size, "little")

    def _list(self, entries: Sequence[LocationListEntry]) -> int:
        """Write a location list; returns its offset in its section."""
        lists = self.lists
        expressions = [self._expression(data) for _, _, data in entries]
        ready = [
            (low, high, data) for (low, high, _), (data, _) in zip(entries, expressions, strict=True)
        ]
        encoded, positions = encode_list(ready, self.unit.version, self.unit.address_size)
        at = len(lists.data)
        for position, (_, fixups) in zip(positions, expressions, strict=True):
            lists.fixups += _moved(fixups, at + position)
        lists.data += encoded
        return lists.base + at

    def _expression(self, data: bytes) -> tuple[bytes, list[_Fixup]]:
        unit = self.unit
        moved, references = with_movable_references(
            data, self.writer.editor.dialect(unit), unit.address_size, unit.offset_size
        )
        return moved, [
            _Fixup(
                self.section, one.position, one.size, one.is_leb,
                one.target + (unit.offset if one.of_unit else 0), unit if one.of_unit else None,
            )
            for one in references
        ]


def _moved(fixups: list[_Fixup], by: int) -> list[_Fixup]:
    return [
        _Fixup(one.section, one.position + by, one.size, one.is_leb, one.target, one.unit) for one in fixups
    ]
