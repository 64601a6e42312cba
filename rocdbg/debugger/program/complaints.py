"""Reports faults of a program's debug information, each once; the session continues without the faulty parts."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.dwarf.errors import DwarfError
from rocdbg.errors import Error

_MOST = 1000
"""Limit on reports: a hostile file may have any number of faults."""


class Complaints:
    """Remembers what was reported; ``warn`` shows a report."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._named: set[tuple[str, str]] = set()

    def __bool__(self) -> bool:
        """Whether anything was named."""
        return bool(self._named)

    def add(self, error: Error, instead: str) -> None:
        """Report what is wrong and what is used instead ("EXEC is used"), unless that was reported before.

        An attribute is reported once, whatever is wrong with it at other places of the code.
        """
        if isinstance(error, DwarfError) and error.attribute is not None:
            key = error.attribute, error.entry or ""
        else:
            key = str(error), instead
        if key in self._named or len(self._named) >= _MOST:
            return
        self._named.add(key)
        self._warn(f"{error}; {instead}.")
