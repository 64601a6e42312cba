"""Limits on tables and lists that overlap in their section, or that many entries share.

A file needs a few bytes for another reference to a list, and one byte for another table that begins a byte later. If
each were read in full, the time and memory taken would grow with the square of the file's size.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from rocdbg.dwarf.info.errors import DebugInfoError

_SLACK: Final = 1 << 14


class ReadLimit:
    """Limits how much is read in total from each section of one file.

    A section may be read ``times`` as often as its size in bytes allows, and ``slack`` more; ``reason`` says what is
    wrong beyond that. A part counts only once. It is identified by its offset or, if there is one, by its ``key``: if
    each reference from an entry has to count, the key is the offset of the entry.
    """

    def __init__(self, times: int, reason: str, slack: int = _SLACK) -> None:
        self._times, self._reason, self._slack = times, reason, slack
        self._known: set[tuple[str, Hashable]] = set()
        self._total: dict[str, int] = {}
        self._exhausted: set[str] = set()

    def check(self, section: str, offset: int, key: Hashable = None) -> None:
        """Raise DebugInfoError for a part that must not be read, because the parts read before it used up the limit."""
        if section in self._exhausted and (section, offset if key is None else key) not in self._known:
            raise DebugInfoError(section, offset, self._reason)

    def count(self, section: str, offset: int, size: int, available: int, key: Hashable = None) -> None:
        """Count a part of ``size`` at an offset of a section that has ``available`` bytes, each part once. Raises
        DebugInfoError if this exceeds the limit.
        """
        part = section, offset if key is None else key
        if part in self._known:
            return
        total = self._total[section] = self._total.get(section, 0) + size
        if total > self._times * available + self._slack:
            self._exhausted.add(section)
            raise DebugInfoError(section, offset, self._reason)
        self._known.add(part)


__all__ = ["ReadLimit"]
