"""Entries by name with the help of the compiler's index, which saves reading entries that have other names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property

from rocdbg import work
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.entries import Entries
from rocdbg.dwarf.info.name_matching import component
from rocdbg.dwarf.info.unit import Unit

Offsets = list[tuple[Unit, int]]


class NamedEntries:
    """Finds the entries that may have a name: those that the compiler's index lists under it, and unlisted entries that
    have that name themselves. Of the entries inside functions, only functions with code are included.

    The index leaves out declarations and functions that are not inlined anywhere; entries that it does not list are
    therefore read, so that the results are the same as without it. ``tags`` selects the kinds of entries, and ``names``
    gives the names of an unlisted one.
    """

    def __init__(self, entries: Entries, tags: tuple[int, ...], names: Callable[[Die], list[str]]) -> None:
        self._entries = entries
        self._tags = tags
        self._names = names

    @property
    def is_usable(self) -> bool:
        """Whether there is an index of names."""
        return bool(self._entries.listed_names)

    @cached_property
    def _tables(self) -> tuple[dict[str, Offsets], dict[str, Offsets]]:
        """Two tables of unlisted entries: by the last component of the name, without template arguments; and by the
        whole name.
        """
        by_base: dict[str, Offsets] = defaultdict(list)
        by_text: dict[str, Offsets] = defaultdict(list)
        listed = self._entries.listed_names
        for unit in self._entries.units:
            work.unit()
            for offset in (*unit.index.tagged(*self._tags), *self._nested(unit)):
                names = listed.get(offset) or self._names(Die(unit, offset))
                for base in dict.fromkeys(component(name).base for name in names):
                    by_base[base].append((unit, offset))
                for text in dict.fromkeys(names):
                    by_text[text].append((unit, offset))
        return by_base, by_text

    def _nested(self, unit: Unit) -> Iterator[int]:
        for offset in unit.index.records.nested if Tag.SUBPROGRAM in self._tags else ():
            die = Die(unit, offset)
            if die.has(At.LOW_PC) or die.has(At.RANGES):
                yield offset

    def by_base(self, base: str) -> Offsets:
        """The entries whose name may be ``base`` with any template arguments, in order of units and offsets."""
        return self._tables[0].get(base, [])

    def by_text(self, text: str) -> Offsets:
        """The entries that may have exactly this name or linkage name."""
        return self._tables[1].get(text, [])
