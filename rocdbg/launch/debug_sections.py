"""The debug sections of a code object, in the form that `rocdbg.dwarf.info.DebugInfo` needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rocdbg.codeobject import CodeObject, CodeObjectError, Section, uncompressed_name
from rocdbg.codeobject.compression import Budget
from rocdbg.codeobject.debug_relocation import DebugRelocations
from rocdbg.codeobject.elf import Elf


class DebugSections(Mapping[str, bytes]):
    """Bytes by section name, read and uncompressed on demand.

    A section has its usual name (``.debug_info``) even if compressed; in an unlinked object its relocations are
    applied. The total size is limited; raises `CodeObjectError` for sections that are too large or damaged. With
    ``report``, the error is reported instead, and the section is empty.
    """

    def __init__(self, code_object: CodeObject | Elf) -> None:
        """``code_object``, or a file that only has such sections (a split object, a package)."""
        self._sections: dict[str, Section] = {}
        for name, section in code_object.sections.items():
            plain = uncompressed_name(name)
            if plain.startswith(".debug_"):
                self._sections.setdefault(plain, section)
        self._budget = Budget()
        self._relocations = (
            DebugRelocations(code_object)
            if isinstance(code_object, CodeObject) and code_object.is_relocatable else None
        )
        self._failures: dict[str, CodeObjectError] = {}
        self.report: Callable[[CodeObjectError], None] | None = None

    def __getitem__(self, name: str) -> bytes:
        try:
            return self._read(name)
        except CodeObjectError as error:
            if self.report is None:
                raise
            self.report(error)
            return b""

    def _read(self, name: str) -> bytes:
        failure = self._failures.get(name)
        if failure is not None:
            raise failure.with_traceback(None)
        try:
            section = self._sections[name]
            data = section.uncompressed(self._budget)
            return data if self._relocations is None else self._relocations.apply(section, data)
        except CodeObjectError as error:
            self._failures[name] = error  # remembered, because unpacking it again would take as long
            raise

    def __iter__(self) -> Iterator[str]:
        return iter(self._sections)

    def __len__(self) -> int:
        return len(self._sections)


def has_debug_info(code_object: CodeObject) -> bool:
    """Whether there is any debug information about types, functions and variables."""
    sections = code_object.sections
    return ".debug_info" in sections or ".zdebug_info" in sections
