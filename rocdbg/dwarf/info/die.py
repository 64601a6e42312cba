"""Debugging information entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from rocdbg import work
from rocdbg.dwarf.info.abbrev import Abbreviation
from rocdbg.dwarf.info.attribute_values import (
    AttributeValue,
    Constant,
    Flag,
    Loclist,
    Reference,
    String,
    TypeSignature,
)
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.entry_skipping import subtree_end
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.form_conversion import convert
from rocdbg.dwarf.info.forms import FORMS, IMPLICIT_CONST, Raw, raw_reader, read_indirect, uleb
from rocdbg.dwarf.info.name_matching import spelled

if TYPE_CHECKING:
    from rocdbg.dwarf.info.unit import Unit

_NOTHING = Abbreviation(0, False, (), ())
_LONGEST_CHAIN = 16
"""Limit on steps through specifications and abstract origins; real entries need at most three."""


class Die:
    """An entry: tag, attributes, children.

    ``offset`` is its position in ``.debug_info``, ``tag`` a DW_TAG_* number (``constants.Tag``). Entries compare equal
    if they are the same entry of the same object.
    """

    def __init__(self, unit: Unit, offset: int) -> None:
        self.unit = unit
        self.offset = offset
        self._repeated: list[tuple[int, int, Raw]] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Die) and self.offset == other.offset and self.unit is other.unit

    def __hash__(self) -> int:
        return hash(self.offset)

    def __repr__(self) -> str:
        return f"<Die {self.offset:#x}>"

    @cached_property
    def _start(self) -> tuple[Abbreviation, int]:
        """The abbreviation and the position of the first attribute; for a damaged entry that is passed over, those of
        an empty entry.
        """
        try:
            return self._read_start()
        except DebugInfoError as error:
            self.unit.entries.pass_over(error)
            return _NOTHING, self.unit.end

    def _read_start(self) -> tuple[Abbreviation, int]:
        unit = self.unit
        try:
            code, pos = uleb(unit.entries.data, self.offset)
        except IndexError:
            raise unit.entries.error(self.offset, "the entry is truncated") from None
        abbreviation = unit.abbreviations.get(code)
        if abbreviation is None:
            reason = f"abbreviation {code} is not defined" if code else "there is no entry at this offset"
            raise unit.entries.error(self.offset, reason)
        return abbreviation, pos

    @property
    def tag(self) -> int:
        """DW_TAG_* number."""
        return self._start[0].tag

    @property
    def has_children(self) -> bool:
        """True when the entry can have children."""
        return self._start[0].has_children

    @cached_property
    def _parsed(self) -> tuple[dict[int, tuple[int, Raw]], int]:
        """Form and raw value by attribute, and the position after the attributes."""
        work.unit()
        abbreviation, pos = self._start
        unit = self.unit
        data = unit.entries.data
        values: dict[int, tuple[int, Raw]] = {}
        self._repeated.clear()
        try:
            for spec in abbreviation.attributes:
                form, value = spec.form, spec.implicit
                if spec.reader is not None:
                    raw, pos = spec.reader(data, pos)
                elif form == IMPLICIT_CONST and value is not None:
                    raw = value
                else:
                    form, pos = read_indirect(data, pos)
                    reader = raw_reader(form, unit.version, unit.address_size, unit.offset_size)
                    raw, pos = reader(data, pos)
                if spec.code in values:
                    self._repeated.append((spec.code, form, raw))
                else:
                    values[spec.code] = form, raw
        except IndexError:
            pos = unit.end + 1
        if pos > unit.end:
            unit.entries.pass_over(unit.entries.error(self.offset, "the entry goes beyond the end of its unit"))
            pos = unit.end
        return values, pos

    def raw_attribute(self, code: int) -> Raw | None:
        """The value of an attribute before its form is resolved (an index remains an index); None when absent."""
        entry = self._parsed[0].get(code)
        return None if entry is None else entry[1]

    def has(self, code: int) -> bool:
        """True when the entry itself has the attribute."""
        return code in self._parsed[0]

    def attribute(self, code: int) -> AttributeValue | None:
        """The attribute with that code of this entry itself, not of its origins; None when absent."""
        entry = self._parsed[0].get(code)
        return None if entry is None else self._converted(code, *entry)

    def _converted(self, code: int, form: int, raw: Raw) -> AttributeValue | None:
        """The value of an attribute; None for a damaged one that is passed over."""
        try:
            value = convert(self.unit, code, FORMS[form][2], form, raw)
            return replace(value, entry=self.offset) if isinstance(value, Loclist) else value
        except DebugInfoError as error:
            self.unit.entries.pass_over(error, self, code)
            return None

    def attribute_values(self, code: int) -> list[AttributeValue]:
        """All values under that code, in order: the extensions have two attributes with the same code (A.7.5.4)."""
        first = self.attribute(code)
        more = [self._converted(code, form, raw) for at, form, raw in self._repeated if at == code]
        return [value for value in (first, *more) if value is not None]

    @property
    def attributes(self) -> dict[int, AttributeValue]:
        """All attributes by code; if a code occurs more than once, its first attribute."""
        found = ((code, self._converted(code, form, raw)) for code, (form, raw) in self._parsed[0].items())
        return {code: value for code, value in found if value is not None}

    def number(self, code: int) -> int | None:
        """A constant attribute of this entry itself; None when absent or of another class."""
        value = self.attribute(code)
        return value.value if isinstance(value, Constant) else None

    def string(self, code: int) -> str | None:
        """A string attribute of this entry itself; None when absent, empty or of another class."""
        value = self.attribute(code)
        return value.value or None if isinstance(value, String) else None

    def flag(self, code: int) -> bool:
        """A flag of this entry itself."""
        value = self.attribute(code)
        return isinstance(value, Flag) and value.value

    @property
    def name(self) -> str | None:
        """DW_AT_name, from this entry or its origins; None when it has none."""
        value = self.find(At.NAME)
        return spelled(value.value) or None if isinstance(value, String) else None

    def reference(self, code: int) -> Die | None:
        """The entry an attribute refers to; None when absent, or when it is in another file."""
        value = self.attribute(code)
        entries = self.unit.entries
        if isinstance(value, TypeSignature):
            return entries.type_of_signature(value.signature)
        if not isinstance(value, Reference):
            return None
        if entries.passes_over:
            try:
                target = entries.die(value.offset)
                target._read_start()
                return target
            except DebugInfoError as error:
                entries.pass_over(error, self, code)
                return None
        return entries.die(value.offset)

    def origins(self) -> Iterator[Die]:
        """This entry, then those to which its specification and abstract origin lead.

        Raises DebugInfoError for a chain that does not end.
        """
        die: Die | None = self
        for _ in range(_LONGEST_CHAIN):
            if die is None:
                return
            yield die
            die = die.reference(At.SPECIFICATION) or die.reference(At.ABSTRACT_ORIGIN)
        if die is not None:
            raise self.unit.entries.error(
                self.offset, "the chain of DW_AT_specification and DW_AT_abstract_origin does not end"
            )

    def find(self, code: int) -> AttributeValue | None:
        """The attribute, from this entry or from one of its `origins`."""
        for die in self.origins():
            value = die.attribute(code)
            if value is not None:
                return value
        return None

    def find_reference(self, code: int) -> Die | None:
        """As ``find``, for an attribute that refers to an entry."""
        for die in self.origins():
            if die.has(code):
                return die.reference(code)
        return None

    @property
    def children(self) -> Iterator[Die]:
        """The entries directly below, in order."""
        if not self.has_children:
            return
        unit = self.unit
        data, end = unit.entries.data, unit.end
        pos = self._parsed[1]
        while pos < end and data[pos] != 0:
            child = Die(unit, pos)
            if unit.entries.passes_over and not child.is_readable:
                return
            yield child
            pos = child.end

    @property
    def is_readable(self) -> bool:
        """Whether the entry and all entries below it can be read; raises damage that is not passed over."""
        try:
            return self.end > self.offset
        except DebugInfoError as error:
            self.unit.entries.pass_over(error)
            return False

    @cached_property
    def end(self) -> int:
        """Position after the entry and everything below it."""
        values, pos = self._parsed
        if not self.has_children:
            return pos
        unit = self.unit
        sibling = values.get(At.SIBLING)
        if sibling is not None and isinstance(sibling[1], int):
            target = self.attribute(At.SIBLING)
            if isinstance(target, Reference) and pos < target.offset <= unit.end:
                return target.offset
        return subtree_end(unit, pos)

    @property
    def parent(self) -> Die | None:
        """The entry above; None for the top entry of a unit."""
        offset = self.unit.index.parent_of(self.offset)
        return None if offset is None else Die(self.unit, offset)
