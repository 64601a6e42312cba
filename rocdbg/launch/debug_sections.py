"""The debug sections of a code object, as `rocdbg.dwarf.info.DebugInfo` wants them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocdbg.codeobject import CodeObject


class DebugSections(Mapping[str, bytes]):
    """Bytes by section name, read when asked for."""

    def __init__(self, code_object: CodeObject) -> None:
        self._sections = code_object.sections
        self._names = [name for name in self._sections if name.startswith(".debug_")]

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        return self._sections[name].data

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
