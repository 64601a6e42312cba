"""Types in words: ``whatis`` and ``ptype``."""

from __future__ import annotations

from rocdbg.debugger.expr.data import Data
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.reports.offsets import offset_lines
from rocdbg.debugger.reports.symbols import Symbols
from rocdbg.dwarf.info.types import TypedefType


class Types:
    """The types of expressions at the focus."""

    def __init__(self, inferior: Inferior, data: Data, symbols: Symbols) -> None:
        self._inferior = inferior
        self._data = data
        self._symbols = symbols

    def whatis(self, text: str) -> str:
        """``whatis``: the type's name; one level of typedef is unrolled for a type name."""
        type_, is_type_name = self._data.expression_type(text)
        if is_type_name and isinstance(type_, TypedefType):
            type_ = type_.target
        return str(type_)

    def ptype(self, text: str, letters: str = "") -> list[str]:
        """The lines of ``ptype``: ``type = struct S {`` and so on; with the letter ``o`` offsets and sizes too."""
        type_, _ = self._data.expression_type(text)
        if "o" in letters:
            program = self._inferior.program
            return offset_lines(program.complete_type(type_) if program is not None else type_)
        lines = self._symbols.describe_type(type_)
        return [f"type = {lines[0]}", *lines[1:]] if lines else []
