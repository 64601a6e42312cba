"""Limits on tables and lists that overlap in their section, or that many entries share.

A file needs a few bytes for another reference to a list, and one byte for another table that begins a byte later. If
each were read in full, the time and memory taken would grow with the square of the file's size.
"""

from __future__ import annotations

from typing import Final

from rocdbg.dwarf.info.errors import DebugInfoError

_TIMES: Final = 4
_SLACK: Final = 1 << 14


class SharedTables:
    """Counts the bytes of the tables that are read from sections, each once."""

    def __init__(self) -> None:
        self._known: set[tuple[str, int]] = set()
        self._total: dict[str, int] = {}
        self._exhausted: set[str] = set()

    def check(self, section: str, offset: int) -> None:
        """Raise DebugInfoError for a table that must not be read, because the tables read before it used up the limit.
        """
        if section in self._exhausted and (section, offset) not in self._known:
            raise DebugInfoError(section, offset, "tables overlap: they are several times as long as the section")

    def count(self, section: str, offset: int, size: int, available: int) -> None:
        """Count a table of ``size`` bytes at an offset of a section that has ``available`` bytes. Raises DebugInfoError
        if the tables read are together several times as long as the section.
        """
        if (section, offset) in self._known:
            return
        total = self._total[section] = self._total.get(section, 0) + size
        if total > _TIMES * available + _SLACK:
            self._exhausted.add(section)
            self.check(section, offset)
        self._known.add((section, offset))


class SharedLists:
    """Counts the ranges or locations that lists give to entries of the debug information, for each entry once."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._total: dict[str, int] = {}
        self._exhausted: set[str] = set()

    def check(self, section: str, offset: int, entry: int) -> None:
        """Raise DebugInfoError for an entry whose list must not be read, because the lists read before it used up the
        limit.
        """
        if section in self._exhausted and entry not in self._known:
            raise DebugInfoError(section, offset, "lists are shared by more entries than compilers let share them")

    def count(self, section: str, offset: int, entry: int, count: int, available: int) -> None:
        """Count the elements of an entry's list, which is at an offset of a section of ``available`` bytes. A list's
        element takes several bytes. Raises DebugInfoError if there are more elements than the section has bytes."""
        if entry in self._known:
            return
        total = self._total[section] = self._total.get(section, 0) + count
        if total > available + _SLACK:
            self._exhausted.add(section)
            self.check(section, offset, entry)
        self._known.add(entry)


__all__ = ["SharedLists", "SharedTables"]
