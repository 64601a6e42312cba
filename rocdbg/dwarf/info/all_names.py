"""Every name that a program declares outside of functions, found piece by piece: for completion.

The other indexes find what a name refers to and read much of an entry; this one reads only names, and can be
interrupted and resumed, so that a prompt never waits for a big program.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from rocdbg import work
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.entries import Entries
from rocdbg.dwarf.info.scopes import Function, Variable, enclosing_names
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.info.unit_index import NAMED_TYPE_TAGS
from rocdbg.errors import Error


class NameKind(Enum):
    """The kind of entity that has a name. For types, the value is the keyword before the name. Symbols of the object
    file are either code or data.
    """

    FUNCTION = "function"
    VARIABLE = "variable"
    ENUMERATOR = "enumerator"
    STRUCT = "struct"
    UNION = "union"
    CLASS = "class"
    ENUM = "enum"
    TYPE = "type"
    SYMBOL = "symbol"
    DATA_SYMBOL = "data symbol"


KINDS = {
    Tag.STRUCTURE_TYPE: NameKind.STRUCT, Tag.UNION_TYPE: NameKind.UNION, Tag.CLASS_TYPE: NameKind.CLASS,
    Tag.ENUMERATION_TYPE: NameKind.ENUM,
}
PAUSE = 16
"""How many entries are read between two pauses."""
WANTED = frozenset({Tag.SUBPROGRAM, Tag.VARIABLE, Tag.CONSTANT, *NAMED_TYPE_TAGS})


class DeclaredName(Struct, frozen=True):
    """A qualified name, and the offset of its entry in ``.debug_info``."""

    name: str
    kind: NameKind
    offset: int


def all_names(entries: Entries) -> Iterator[DeclaredName | None]:
    """Yield the names in the order of their entries, and ``None`` at each pause. Damaged entries are skipped."""
    for unit in entries.units:
        try:
            for _ in unit.index.reading():
                yield None
            records = unit.index.records
        except Error:
            continue
        for count, (offset, tag) in enumerate(zip(records.offsets, records.tags, strict=True)):
            work.unit()
            if tag in WANTED:
                try:
                    yield from _names_of(unit, offset, tag)
                except Error:
                    continue
            if count % PAUSE == 0:
                yield None


def _names_of(unit: Unit, offset: int, tag: int) -> Iterator[DeclaredName]:
    die = Die(unit, offset)
    if tag == Tag.SUBPROGRAM:
        if die.has(At.LOW_PC) or die.has(At.RANGES) or die.has(At.INLINE):
            name = Function(die).qualified_name
            if name:
                yield DeclaredName(name, NameKind.FUNCTION, offset)
        return
    if tag in (Tag.VARIABLE, Tag.CONSTANT):
        variable = Variable(die)
        if not variable.declaration and variable.qualified_name:
            yield DeclaredName(variable.qualified_name, NameKind.VARIABLE, offset)
        return
    around = enclosing_names(die) if unit.is_cxx else ()
    if die.name is not None:
        name = unit.entries.qualified((*around, die.name))
        kind = KINDS.get(tag, NameKind.TYPE)
        yield DeclaredName(name, kind, offset)
        if unit.is_cxx and kind is not NameKind.TYPE:  # in C++ the tag is also the name of the type
            yield DeclaredName(name, NameKind.TYPE, offset)
    if tag == Tag.ENUMERATION_TYPE:
        scope = (*around, die.name) if unit.is_cxx and die.flag(At.ENUM_CLASS) and die.name is not None else around
        for child in die.children:
            if child.tag == Tag.ENUMERATOR and child.name is not None:
                yield DeclaredName(unit.entries.qualified((*scope, child.name)), NameKind.ENUMERATOR, offset)
