"""Functions and files that `step` does not enter."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator

from msgspec import Struct

from rocdbg.debugger.base.patterns import Pattern
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Function, SourceFile


class Skip(Struct):
    """One ``skip`` request: functions by name or regular expression, in files by name or pattern."""

    number: int
    file: str | None = None
    is_glob: bool = False
    function: str | None = None
    expression: Pattern | None = None
    """The compiled pattern, if ``function`` is a regular expression."""
    enabled: bool = True

    def covers(self, function: Function, file: SourceFile | None) -> bool:
        """Whether a function whose code is in a file is skipped."""
        return self._covers_file(file) and self._covers_function(Program.function_title(function))

    def _covers_file(self, file: SourceFile | None) -> bool:
        if self.file is None:
            return True
        if file is None:
            return False
        if not self.is_glob:
            return file.matches(self.file)
        return any(fnmatch.fnmatchcase(name, self.file) for name in (file.name, file.path, file.basename))

    def _covers_function(self, title: str) -> bool:
        if self.function is None:
            return True
        if self.expression is not None:
            return self.expression.search(title) is not None
        title, wanted = "".join(title.split()), "".join(self.function.split())
        return title == wanted or title.startswith(wanted + "(")


class SkipList:
    """All ``skip`` requests, by number."""

    def __init__(self) -> None:
        self._skips: dict[int, Skip] = {}
        self._next = 1

    def __iter__(self) -> Iterator[Skip]:
        return iter(self._skips.values())

    def add(self, skip: Skip) -> None:
        """Add a request, and give it a number."""
        skip.number = self._next
        self._skips[self._next] = skip
        self._next += 1

    def delete(self, numbers: Iterable[int]) -> None:
        """Delete the requests with these numbers."""
        for number in numbers:
            self._skips.pop(number, None)

    def covers(self, function: Function, file: SourceFile | None) -> bool:
        """Whether any enabled request keeps `step` out of a function whose code is in a file."""
        return any(skip.enabled and skip.covers(function, file) for skip in self)
