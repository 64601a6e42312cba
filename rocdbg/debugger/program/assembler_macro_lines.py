"""Finds the code of a line that is in a macro, or in a block that an assembler repeats: the line table assigns this
code to another line.

LLVM's assembler assigns the instructions of a macro to the line that invokes it, and those of ``.rept``, ``.irp`` and
``.irpc`` to the directive's line; GNU's assigns those of macros to the line that invokes them. The lines inside have no
code of their own then, and the next line with code is usually somewhere else. The source shows which lines have the
code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct, field

from rocdbg.debugger.program.labels import ASSEMBLER
from rocdbg.dwarf.info import SourceFile

if TYPE_CHECKING:
    from rocdbg.debugger.program.program import Program

MOST_LINES = 200_000
"""The maximum number of lines of a file that are examined."""
_BEGIN = re.compile(r"\s*\.(?:(?P<macro>macro)\s+(?P<name>[^\s,(]+)|rept|rep|irpc?)\b", re.IGNORECASE)
_END = re.compile(r"\s*\.(?:endm|endmacro|endr)\b", re.IGNORECASE)
_COMMENT = re.compile(r"//.*|;.*|/\*.*?\*/|^\s*#.*")
_WORD = re.compile(r"\s*(?:[\w.$@\\]+\s*:\s*)*([A-Za-z_.$][\w.$]*)")


class Block(Struct):
    """A macro (``name``) or a repeated block, between two lines, with the first words of its lines."""

    first: int
    last: int
    name: str | None
    words: dict[str, list[int]] = field(default_factory=dict)
    """The lines outside inner blocks, by their first word, which may be the name of a macro."""
    inside: list[Block] = field(default_factory=list)


class Expansions:
    """The macros and repeated blocks in the assembly of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._files: dict[SourceFile, Block] = {}

    def lines_of(self, file: SourceFile, line: int) -> list[tuple[SourceFile, int]]:
        """Return the lines with the code of a line that has none itself; empty if the source does not show them.

        These are the outermost directive of a repeated block, and all places where a macro is invoked.
        """
        if not self._is_assembly(file) or self._program.info.rows_of_line(file, line):
            return []
        around = [block for block in self._blocks(file).inside if block.first < line < block.last]
        if not around:
            return []
        found = self._invocations(around[0].name, set()) if around[0].name is not None else [(file, around[0].first)]
        return [place for place in found if self._program.info.rows_of_line(*place)]

    def _is_assembly(self, file: SourceFile) -> bool:
        program = self._program
        return program.has_debug_info and any(
            unit.language == ASSEMBLER and file in unit.files for unit in program.info.units
        )

    def _invocations(self, name: str, seen: set[str]) -> list[tuple[SourceFile, int]]:
        """Return the lines that invoke a macro, also through other macros, and have its code."""
        if name in seen:
            return []
        seen.add(name)
        found: list[tuple[SourceFile, int]] = []
        for unit in self._program.info.units:
            if unit.language != ASSEMBLER:
                continue
            for file in unit.files:
                whole = self._blocks(file)
                found += [(file, line) for line in whole.words.get(name, ())]
                for block in whole.inside:
                    if not _invokes(block, name):
                        continue
                    found += self._invocations(block.name, seen) if block.name is not None else [(file, block.first)]
        return list(dict.fromkeys(found))

    def _blocks(self, file: SourceFile) -> Block:
        """Return the whole file as a block that contains the other blocks."""
        known = self._files.get(file)
        if known is None:
            known = self._files[file] = self._read(file)
        return known

    def _read(self, file: SourceFile) -> Block:
        whole = Block(0, 0, None)
        stack = [whole]
        for number in range(1, MOST_LINES + 1):
            text = self._program.source_line(file, number)
            if text is None:
                break
            text = _COMMENT.sub("", text)
            begin = _BEGIN.match(text)
            if begin is not None:
                name = begin["name"] if begin["macro"] else None
                block = Block(number, number, name)
                stack[-1].inside.append(block)
                stack.append(block)
            elif _END.match(text) and len(stack) > 1:
                stack.pop().last = number
            elif (word := _WORD.match(text)) is not None:
                stack[-1].words.setdefault(word[1], []).append(number)
        return whole


def _invokes(block: Block, name: str) -> bool:
    waiting = [block]
    while waiting:
        here = waiting.pop()
        if name in here.words:
            return True
        waiting += here.inside
    return False
