"""Reports faults in a program's debug information, each once; the session continues without the faulty parts."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.dwarf.errors import DwarfError
from rocdbg.errors import Error

_MOST = 1000
"""The maximum number of reports: a malicious file may have any number of faults."""


class Complaints:
    """Remembers which faults were reported; ``warn`` shows a report."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._named: set[tuple[str, str]] = set()

    def __bool__(self) -> bool:
        """Whether anything was reported."""
        return bool(self._named)

    def add(self, error: Error, instead: str) -> None:
        """Report a fault and what is used instead ("EXEC is used"), unless that was reported before.

        An attribute is reported only once, even if other faults in it are found at other places in the code.
        """
        if isinstance(error, DwarfError) and error.attribute is not None:
            key = error.attribute, error.entry or ""
        else:
            key = str(error), instead
        if key in self._named or len(self._named) >= _MOST:
            return
        self._named.add(key)
        self._warn(f"{error}; {instead}.")
