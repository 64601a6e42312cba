"""Abbreviation tables (``.debug_abbrev``), compiled for reading and for skipping entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from rocdbg import work
from rocdbg.dwarf.info.errors import DebugInfoError, reraise
from rocdbg.dwarf.info.forms import (
    FORMS,
    IMPLICIT_CONST,
    INDIRECT,
    RawReader,
    raw_reader,
    skip_steps,
    sleb,
    uleb,
)
from rocdbg.dwarf.info.sections import Sections

_SECTION: Final = ".debug_abbrev"
_MOST_ATTRIBUTES: Final = 128
"""A limit against hostile files: attributes may take no space in entries, so even an entry with thousands of attributes
may be only one byte long. Compilers write at most 30.
"""


class AttributeSpec(Struct, frozen=True):
    """One attribute of an abbreviation. ``reader`` is None for forms whose value is not stored in the entry itself."""

    code: int
    form: int
    implicit: int | None
    reader: RawReader | None


class Abbreviation(Struct, frozen=True):
    """Shape of an entry: its tag, whether children follow, its attributes, and how to skip over its attributes."""

    tag: int
    has_children: bool
    attributes: tuple[AttributeSpec, ...]
    steps: tuple[int, ...]


def read_abbreviations(
    sections: Sections, offset: int, version: int, address_size: int, offset_size: int,
    pass_over: Callable[[DebugInfoError], None] = reraise,
) -> dict[int, Abbreviation]:
    """The table at ``offset`` of ``.debug_abbrev``, by code, for units of the given parameters.

    A truncated table, an unknown form, a code defined twice or a table that overlaps too many others raises a
    DebugInfoError; if ``pass_over`` suppresses it, the table ends there.
    """
    table: dict[int, Abbreviation] = {}
    section = sections[_SECTION]
    try:
        sections.tables.check(_SECTION, offset)
        try:
            end = _read(table, section, offset, version, address_size, offset_size)
        except DebugInfoError as error:  # reading it up to the damage has taken as long
            sections.tables.count(_SECTION, offset, (error.offset or offset) - offset, len(section))
            raise
        sections.tables.count(_SECTION, offset, end - offset, len(section))
    except DebugInfoError as error:
        pass_over(error)
    return table


def _read(
    table: dict[int, Abbreviation], section: bytes, offset: int, version: int, address_size: int, offset_size: int
) -> int:
    """Read a table; returns its end."""
    if offset >= len(section):
        raise DebugInfoError(_SECTION, offset, f"the table would begin beyond the section's {len(section)} bytes")
    pos = offset
    try:
        while True:
            work.unit()
            start = pos
            code, pos = uleb(section, pos)
            if code == 0:
                return pos
            tag, pos = uleb(section, pos)
            has_children = section[pos] != 0
            pos += 1
            attributes: list[AttributeSpec] = []
            while True:
                at, pos = uleb(section, pos)
                form, pos = uleb(section, pos)
                if at == 0 and form == 0:
                    break
                if len(attributes) == _MOST_ATTRIBUTES:
                    reason = f"abbreviation {code} has more than {_MOST_ATTRIBUTES} attributes"
                    raise DebugInfoError(_SECTION, start, reason)
                if form not in FORMS:
                    raise DebugInfoError(_SECTION, pos, f"unknown form {form:#x} of attribute {at:#x}")
                implicit = None
                if form == IMPLICIT_CONST:
                    implicit, pos = sleb(section, pos)
                reader = None
                if form not in (IMPLICIT_CONST, INDIRECT):
                    reader = raw_reader(form, version, address_size, offset_size)
                attributes.append(AttributeSpec(at, form, implicit, reader))
            if code in table:
                raise DebugInfoError(_SECTION, start, f"abbreviation {code} is defined twice")
            forms = [attribute.form for attribute in attributes]
            table[code] = Abbreviation(
                tag, has_children, tuple(attributes), skip_steps(forms, version, address_size, offset_size)
            )
    except IndexError:
        raise DebugInfoError(_SECTION, pos, "the table is truncated") from None
