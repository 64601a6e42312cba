"""Passing over entries without reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg import work
from rocdbg.dwarf.info.forms import INDIRECT as INDIRECT_FORM
from rocdbg.dwarf.info.forms import (
    SKIP_BLOCK,
    SKIP_OTHER,
    SKIP_ULEB,
    raw_reader,
    read_indirect,
    uleb,
)

if TYPE_CHECKING:
    from rocdbg.dwarf.info.unit import Unit

_LARGE = 512
"""The end of a list of children is cached if the list has at least this many bytes: because lists may be nested, long
ones are skipped repeatedly.
"""
_SLICE = 1 << 14
"""Bytes of entries between two checks for an interrupt."""


def skip_attributes(unit: Unit, pos: int, steps: tuple[int, ...]) -> int:
    """Position after attributes whose compiled skip program is ``steps``. Raises IndexError at the data's
    end."""
    data = unit.entries.data
    other = False
    for step in steps:
        if other:
            other = False
            form = step
            if form == INDIRECT_FORM:
                form, pos = read_indirect(data, pos)
            pos = raw_reader(form, unit.version, unit.address_size, unit.offset_size)(data, pos)[1]
        elif step >= 0:
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
        else:
            assert step == SKIP_OTHER
            other = True
    return pos


def subtree_end(unit: Unit, pos: int) -> int:
    """Position after the list of children (and all below them) that starts at ``pos``.

    A list without a null entry ends at the end of the unit. Raises DebugInfoError for entries that
    cannot be read.
    """
    data, end, table, ends = unit.entries.data, unit.end, unit.abbreviations, unit.subtree_ends
    known = ends.get(pos)
    if known is not None:
        return known
    open_lists = [pos]
    look = pos
    try:
        while pos < end:
            start = pos
            if pos >= look:
                work.unit()
                look = pos + _SLICE
            code = data[pos]
            pos += 1
            if code == 0:
                first = open_lists.pop()
                if pos - first > _LARGE:
                    ends[first] = pos
                if not open_lists:
                    return pos
                continue
            if code >= 0x80:
                code, pos = uleb(data, start)
            abbreviation = table.get(code)
            if abbreviation is None:
                raise unit.entries.error(start, f"abbreviation {code} is not defined")
            pos = skip_attributes(unit, pos, abbreviation.steps)
            if abbreviation.has_children:
                known = ends.get(pos)
                if known is not None:
                    pos = known
                else:
                    open_lists.append(pos)
    except IndexError:
        raise unit.entries.error(start, "the entry is truncated") from None
    for first in open_lists:
        ends[first] = end
    return end
