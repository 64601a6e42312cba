"""Labels: named places in code that are not functions.

Symbols without a type are labels, and so are label entries in the debug information of assembly. Assemblers drop names
that begin with ``.L``, and numbers (``1:``), but the source still has them. The line table gives the address of such a
label if the next statement of the source has a row. A label is ignored if the source around it was not assembled, if it
is in a macro, or if another section follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.codeobject.elf_symbols import Symbol, SymbolType
from rocdbg.dwarf.info import SourceFile
from rocdbg.dwarf.info.scopes import Label, Scope
from rocdbg.dwarf.info.unit import Unit

if TYPE_CHECKING:
    from rocdbg.debugger.program.program import Program

ASSEMBLER = 0x8001
"""DW_LANG_Mips_Assembler, which LLVM and GNU tools use for all assembly."""
_MOST_LINES = 500_000
_LABEL = re.compile(r"\s*(?:/\*.*?\*/\s*)*([A-Za-z_.$][\w.$@]*|\d+)\s*:(?![:=])")
_SILENT = re.compile(
    r"\s*(?:\.(?:set|equ|equiv|globl|global|hidden|protected|local|weak|type|size|loc|cfi_\w+|print|warning|ident)\b.*"
    r"|[A-Za-z_.$][\w.$]*\s*=[^=].*)?$"
)
"""Matches a line without code that does not affect the address of the next line."""
_BODY = re.compile(r"\s*\.(macro|rept|irpc?|altmacro|rep)\b")
_END_BODY = re.compile(r"\s*\.(endm|endmacro|endr)\b")
_INVOCATION = re.compile(
    r"\s*(?!(?:s|v|ds|buffer|tbuffer|global|flat|scratch|image|exp|lds)_)\.?[A-Za-z_][\w.$]*(?:\s|$)"
)
"""Matches what may begin with the name of a macro and cannot begin with an instruction."""
_COMMENT = re.compile(r"//.*|;.*|/\*.*?\*/|^\s*#.*")


class NamedLabel(Struct, frozen=True):
    """A label with a name; ``file`` and ``line`` are those of the label itself, if known."""

    name: str
    address: FileAddress
    file: SourceFile | None = None
    line: int | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is a numeric label, to which branches refer as ``1f`` and ``1b``."""
        return self.name.isdecimal()


class Labels:
    """The labels of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def named(self, name: str) -> list[NamedLabel]:
        """Return the labels of a name that no symbol has, by address."""
        return self._by_name.get(name, [])

    def names(self) -> Iterator[str]:
        """Yield the names that can be looked up, which excludes numeric labels."""
        return (name for name in self._by_name if not name.isdecimal())

    def of_unit(self, unit: Unit) -> Iterator[Label]:
        """Yield the labels of a unit that are outside its functions; assemblers put a file's labels there.

        LLVM describes ``_end`` as ``end``, without the leading underscore.
        """
        symbols = self._program.code_object.symbols
        for label in Scope(unit.top).labels:
            symbol = symbols.get(f"_{label.name}")
            full = symbol is not None and symbol.value == label.address
            yield Label(f"_{label.name}", label.address, label.line, label.file) if full else label

    def heads(self, address: LoadedAddress) -> list[str]:
        """Return the labels at an address, without names of functions."""
        place = self._program.to_file(address)
        symbols = [symbol.name for symbol in self._symbols(place) if symbol.type == SymbolType.NOTYPE]
        return [*symbols, *(label.name for label in self._by_address.get(place, ()) if label.name not in symbols)]

    def _symbols(self, place: FileAddress) -> list[Symbol]:
        """Return the labels at the address where some code begins; the label by which the address is shown comes first.
        """
        code_object = self._program.code_object
        found = [symbol for symbol in code_object.symbols.starting_in(place, place + 1) if code_object.is_code(symbol)]
        return found[::-1]

    def target(self, address: LoadedAddress, branch: LoadedAddress) -> str | None:
        """Return the name that the source uses for a branch target; ``None`` if it uses none."""
        place = self._program.to_file(address)
        for symbol in self._symbols(place):
            return symbol.name
        for label in self._by_address.get(place, ()):
            return label.name if not label.is_number else label.name + ("b" if address <= branch else "f")
        return None

    # -- collecting labels

    @cached_property
    def _by_name(self) -> dict[str, list[NamedLabel]]:
        found: dict[str, list[NamedLabel]] = {}
        for label in sorted(self._all, key=lambda label: label.address):
            found.setdefault(label.name, []).append(label)
        return found

    @cached_property
    def _by_address(self) -> dict[int, list[NamedLabel]]:
        found: dict[int, list[NamedLabel]] = {}
        for label in sorted(self._all, key=lambda label: label.name.isdecimal()):
            found.setdefault(label.address, []).append(label)
        return found

    @cached_property
    def _all(self) -> list[NamedLabel]:
        program = self._program
        if not program.has_debug_info:
            return []
        found: dict[tuple[str, int], NamedLabel] = {}
        for unit in program.info.units:
            if unit.language != ASSEMBLER:
                continue
            declared = [
                NamedLabel(label.name, label.address, label.file, label.line) for label in self.of_unit(unit)
            ]
            for label in (*declared, *self._of_source(unit, declared)):
                found.setdefault((label.name, label.address), label)
        return list(found.values())

    def _of_source(self, unit: Unit, declared: list[NamedLabel]) -> Iterator[NamedLabel]:
        """Yield the labels of a unit's files that exist only in the source."""
        table = unit.line_table
        if table is None:
            return
        for file in unit.files:
            rows = {
                line: min(row.address for row in found)
                for line in self._program.info.lines_with_code(file)
                if (found := self._program.info.rows_of_line(file, line))
            }
            if not rows:
                continue
            known = {label.line: label.name for label in declared if label.file == file and not self._expanded(label)}
            yield from self._in_file(file, rows, known)

    def _expanded(self, label: NamedLabel) -> bool:
        """Whether a macro produced a label: LLVM numbers its line within the text of the expansion."""
        row = self._program.info.line_at(label.address)
        text = self._program.source_line(row.file, row.line) if row is not None and row.line else None
        return text is not None and _may_expand(text)

    def _in_file(
        self, file: SourceFile, rows: dict[int, FileAddress], known: dict[int | None, str]
    ) -> Iterator[NamedLabel]:
        found: list[NamedLabel] = []
        waiting: list[tuple[str, int]] = []
        depth = 0
        for number in range(1, min(max(rows), _MOST_LINES) + 1):
            text = self._program.source_line(file, number)
            if text is None:
                return
            if number in known and f"{known[number]}:" not in re.sub(r"\s+:", ":", text):
                return  # this is not the text that was assembled
            rest = _COMMENT.sub("", text)
            if _END_BODY.match(rest):
                depth = max(0, depth - 1)
                waiting.clear()
                continue
            if _BODY.match(rest):
                depth += 1
                waiting.clear()
            if depth:
                continue
            while (label := _LABEL.match(rest)) is not None:
                waiting.append((label[1], number))
                rest = rest[label.end() :]
            if _SILENT.match(rest):
                continue
            if number in rows:
                found += [NamedLabel(name, rows[number], file, line) for name, line in waiting]
            waiting.clear()
        yield from (
            label for label in found if label.is_number or label.name.startswith((".", "$")) or label.line not in known
        )


def _may_expand(text: str) -> bool:
    """Whether a line may invoke a macro, or begin a repeated block."""
    text = _COMMENT.sub("", text)
    while (label := _LABEL.match(text)) is not None:
        text = text[label.end() :]
    return _BODY.match(text) is not None or _INVOCATION.match(text) is not None
