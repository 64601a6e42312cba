"""A quick pass over a unit's entries that finds its functions, variables, types and inlined calls.

The pass runs the compiled skip program of every entry once and does not read attributes. Only entries to which a name
outside functions can refer are recorded, with their parent entry.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from rocdbg import work
from rocdbg.dwarf.info.constants import Tag
from rocdbg.dwarf.info.entry_skipping import skip_attributes
from rocdbg.dwarf.info.forms import SKIP_BLOCK, SKIP_OTHER, SKIP_ULEB, uleb
from rocdbg.errors import remembered

if TYPE_CHECKING:
    from rocdbg.dwarf.info.unit import Unit

CLASS_TAGS: Final = frozenset({Tag.STRUCTURE_TYPE, Tag.CLASS_TYPE, Tag.UNION_TYPE, Tag.INTERFACE_TYPE})
NAMED_TYPE_TAGS: Final = CLASS_TAGS | {
    Tag.ENUMERATION_TYPE, Tag.TYPEDEF, Tag.BASE_TYPE, Tag.UNSPECIFIED_TYPE, Tag.TEMPLATE_ALIAS,
}
_UNIT_TAGS: Final = frozenset({Tag.COMPILE_UNIT, Tag.PARTIAL_UNIT, Tag.TYPE_UNIT, Tag.SKELETON_UNIT})
_CONTAINERS: Final = CLASS_TAGS | _UNIT_TAGS | {Tag.NAMESPACE, Tag.MODULE, Tag.ENUMERATION_TYPE}
_RECORDED: Final = NAMED_TYPE_TAGS | _CONTAINERS | {
    Tag.SUBPROGRAM, Tag.VARIABLE, Tag.CONSTANT, Tag.ENUMERATOR, Tag.IMPORTED_DECLARATION, Tag.IMPORTED_MODULE,
}
_DEEPEST: Final = 512
SLICE: Final = 1 << 13
"""Bytes of entries between two pauses of a pass; to pass over them takes about a millisecond."""

_RECORD, _CONTAINER, _INLINED, _ENTRY, _FUNCTION, _UNIT = 1, 2, 4, 8, 16, 32


class Records(Struct):
    """Recorded entries in order of offset: offset, tag, and index of the parent entry (-1 for the top)."""

    offsets: list[int] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    inlined: list[int] = field(default_factory=list)
    entry_points: list[int] = field(default_factory=list)
    nested: list[int] = field(default_factory=list)
    """Subprograms inside subprograms and blocks, including declarations."""


class UnitIndex:
    """The index of one unit, which is made on first use. Raises DebugInfoError if an entry cannot be skipped."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._children: dict[int, list[int]] = {}
        self._found = Records()
        self._pass: Iterator[None] | None = None
        self._passed = False

    @remembered
    def records(self) -> Records:
        """The recorded entries; makes the pass if needed."""
        with work.doing("reading debug information"):
            while not self._passed:
                for _ in self.reading():
                    pass
        return self._found

    def reading(self) -> Generator[None, None, None]:
        """Make the pass in steps, continuing where it was interrupted; `records` completes it in one go.

        A pass that is cut short (by an interrupt or damage) starts again from the beginning.
        """
        if self._pass is None:
            self._found = Records()
            self._pass = _scan(self._unit, self._found)
        try:
            for _ in self._pass:
                yield
        except GeneratorExit:
            raise
        except BaseException:
            self._pass = None
            raise
        self._passed = True

    def tagged(self, *tags: int) -> list[int]:
        """Offsets of the recorded entries with one of the tags."""
        records = self.records
        return [offset for offset, tag in zip(records.offsets, records.tags, strict=True) if tag in tags]

    @property
    def inlined(self) -> list[int]:
        """Offsets of all inlined subroutines."""
        return self.records.inlined

    def parent_of(self, offset: int) -> int | None:
        """Offset of the parent of the entry at ``offset``; None for the top entry."""
        if offset == self._unit.first:
            return None
        records = self.records
        index = bisect_left(records.offsets, offset)
        if index < len(records.offsets) and records.offsets[index] == offset:
            above = records.offsets[records.parents[index]]
        else:
            above = self._search_parent(offset)
        # a parent precedes its children; in damaged data it may not, which would create a cycle
        return above if above < offset else None

    def _search_parent(self, offset: int) -> int:
        """Find the parent of an entry that was not recorded by descending from the nearest recorded entry around it.

        If the entry is not below any other and damage is passed over, the parent is the top entry.
        """
        unit, records = self._unit, self.records
        index = bisect_right(records.offsets, offset) - 1
        while index > 0:
            die = unit.die(records.offsets[index] - unit.offset)
            if die.end > offset:
                break
            index = records.parents[index]
        parent = records.offsets[max(index, 0)] if records.offsets else unit.first
        for _ in range(_DEEPEST):
            children = self._children_of(parent)
            place = bisect_right(children, offset) - 1
            if place < 0:
                break
            if children[place] == offset:
                return parent
            parent = children[place]
        unit.entries.pass_over(unit.entries.error(offset, "no entry starts at this offset"))
        return unit.first

    def _children_of(self, offset: int) -> list[int]:
        """Offsets of the entries directly below one; cached, as they are requested often."""
        found = self._children.get(offset)
        if found is None:
            die = self._unit.die(offset - self._unit.offset)
            found = self._children[offset] = [child.offset for child in die.children]
        return found


def _kind(tag: int) -> int:
    kind = {Tag.INLINED_SUBROUTINE: _INLINED, Tag.ENTRY_POINT: _ENTRY, Tag.SUBPROGRAM: _FUNCTION}.get(tag, 0)
    if tag in _RECORDED:
        kind |= _RECORD
    if tag in _CONTAINERS:
        kind |= _CONTAINER
    if tag in _UNIT_TAGS:
        kind |= _UNIT
    return kind


def _scan(unit: Unit, records: Records) -> Iterator[None]:
    """Pass over a unit's entries, with a pause after each `SLICE` of bytes."""
    entries = unit.entries
    data, end, pos = entries.data, unit.end, unit.first
    table = {
        code: (_kind(abbreviation.tag), abbreviation.tag, abbreviation.has_children, abbreviation.steps,
               SKIP_OTHER in abbreviation.steps)
        for code, abbreviation in unit.abbreviations.items()
    }
    offsets, tags, parents, inlined = records.offsets, records.tags, records.parents, records.inlined
    stack: list[int] = []
    parent = -1
    inside = 0  # depth below an entry whose contents are not recorded
    start = pos
    try:
        while pos < end:
            work.unit()
            stop = min(pos + SLICE, end)
            while pos < stop:
                start = pos
                code = data[pos]
                pos += 1
                if code == 0:
                    if inside:
                        inside -= 1
                        continue
                    if not stack:
                        return
                    parent = stack.pop()
                    if parent < 0:
                        return
                    continue
                if code >= 0x80:
                    code, pos = uleb(data, start)
                kind, tag, has_children, steps, other = table[code]
                if kind and not inside and kind & _RECORD:
                    offsets.append(start)
                    tags.append(tag)
                    parents.append(parent)
                elif kind == _INLINED:
                    inlined.append(start)
                elif kind == _ENTRY:
                    records.entry_points.append(start)
                elif kind == _RECORD | _FUNCTION:
                    records.nested.append(start)
                if kind & _UNIT and start != unit.first:
                    entries.pass_over(entries.error(start, "an entry of a unit is inside another unit"))
                if other:
                    pos = skip_attributes(unit, pos, steps)
                else:
                    for step in steps:
                        if step >= 0:
                            pos += step
                        elif step == SKIP_BLOCK:
                            size = data[pos]
                            if size < 0x80:
                                pos += size + 1
                            else:
                                size, pos = uleb(data, pos)
                                pos += size
                        elif step == SKIP_ULEB:
                            while data[pos] >= 0x80:
                                pos += 1
                            pos += 1
                if has_children:
                    if inside or not kind & _CONTAINER:
                        inside += 1
                    else:
                        stack.append(parent)
                        parent = len(offsets) - 1
                        if len(stack) > _DEEPEST:
                            entries.pass_over(entries.error(start, f"scopes are nested deeper than {_DEEPEST}"))
                            return
            yield
        if len(stack) + inside > 1:  # only the top entry's list of children may end with the unit
            entries.pass_over(
                entries.error(start, f"{len(stack) + inside} lists of children do not end within the unit")
            )
    except IndexError:
        entries.pass_over(entries.error(start, "the entry is truncated"))
    except KeyError:
        entries.pass_over(entries.error(start, f"abbreviation {code} is not defined"))
