"""`list`: which lines come next, and how they look."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.cli.highlight import shown_lines
from rocdbg.debugger.errors import DebuggerError
from rocdbg.debugger.reports.disassembly import DisassemblyLine

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.reports.places import SourceFile


class Listing(Struct, frozen=True):
    """What was listed last: lines of a file from ``first``; the next `list` begins at line ``then``."""

    file: SourceFile
    first: int
    then: int


def show_lines(shell: Shell, file: SourceFile, first: int, last: int, mark: int | None = None) -> None:
    """Write lines [first, last] of a file and remember them. Raises past the end of the file."""
    text = shell.session.sources.text(file)
    count = len(text.lines)
    first = max(1, first)
    if first > count:
        raise DebuggerError(f"Line number {first} out of range; {file.name} has {count} lines.")
    last = min(last, count)
    shown = shown_lines(text.lines, file.name, first - 1, last - first + 1, shell.out.colour)
    for number, line in enumerate(shown, first):
        shell.out.raw(f"{number}\t{line}\n")
    shell.state.last_listed = Listing(file, first, last + 1)
    shell.session.places.listed(file, (first + last) // 2)


def search(shell: Shell, pattern: re.Pattern[str], step: int) -> None:
    """Show the nearest line after (``step`` 1) or before (-1) the first one listed last that matches.

    It is the line that `list` goes on around, and `$_` is its number. Raises `DebuggerError` where there is none.
    """
    last = shell.state.last_listed
    # GDB 13 counts from the first line of a listing; after a stop from the file's beginning
    file, line = (last.file, last.first) if last is not None else (shell.session.places.default_line().file, 0)
    lines = shell.session.sources.text(file).lines
    line += step
    while 1 <= line <= len(lines) and not pattern.search(lines[line - 1]):
        line += step
    if not 1 <= line <= len(lines):
        raise DebuggerError("Expression not found")
    show_lines(shell, file, line, line)
    shell.session.convenience.set_int("_", line)
    shell.state.last_listed = Listing(file, line, around(line, shell.session.settings.list_size)[0])


def around(line: int, size: int) -> tuple[int, int]:
    """The lines that GDB shows around one: five before it where ten are shown."""
    first = max(1, line - size // 2)
    return first, first + size - 1


def write_instructions(shell: Shell, lines: Sequence[DisassemblyLine], raw: bool, title: str | None) -> None:
    """Write instructions: address, offset, bytes with ``raw``, text. With a ``title`` the function's name is known."""
    offsets = [
        f"<{'' if title else (line.function or '')}+{line.offset}>" if line.function else "" for line in lines
    ]
    for line, offset in zip(lines, offsets, strict=True):
        mark = "=> " if line.current else "   "
        data = " ".join(f"{byte:02x}" for byte in line.data) + "\t" if raw else ""
        shell.out.styled([("", mark), ("address", f"{line.address:#018x}"),
                          ("", f" {offset}:\t{data}{line.text}\n")])
