"""`list`: which lines are shown next, and in which format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocdbg.cli.highlight import shown_lines
from rocdbg.cli.operand_lines import operand_note
from rocdbg.cli.paths import shown_name
from rocdbg.cli.themes import instruction_parts
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.patterns import Pattern
from rocdbg.debugger.reports.disassembly import DisassemblyLine

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.reports.place_resolution import SourceFile


def show_lines(shell: Shell, file: SourceFile, first: int, last: int) -> None:
    """Write lines [first, last] of a file; `list` continues after them. Raises an error past the end of the file."""
    position = shell.session.places.position
    first = max(1, first)
    position.show_lines(file, first, first)
    text = shell.session.sources.text(file)
    shell.warn_of_texts()
    count = len(text.lines)
    if last < first:
        return
    if first > count:
        raise DebuggerError(f"Line number {first} out of range; {shown_name(shell, file)} has {count} lines.")
    last = min(last, count)
    shown = source_lines(shell, text.lines, file.name, first - 1, last - first + 1)
    for number, line in enumerate(shown, first):
        shell.out.raw(f"{number}\t{line}\n")
    position.show_lines(file, first, last + 1)


def source_lines(shell: Shell, lines: Sequence[str], file: str, first: int, count: int) -> list[str]:
    """Return lines [first, first + count) of a file, counted from 0, as the session shows source."""
    colour = shell.out.colour and shell.settings.get("style sources", True) is not False
    return shown_lines(lines, file, first, count, colour, shell.out.palette)


def search(shell: Shell, pattern: Pattern, step: int) -> None:
    """Show the nearest matching line after (``step`` 1) or before (-1) the first line of the last listing.

    `list` then continues around it, and `$_` is its number. Raises `DebuggerError` if there is none.
    """
    position = shell.session.places.position
    # GDB 13 searches from the first line of the last listing; after a stop, from the beginning of the file
    file, line = shell.session.places.default_line().file, position.last
    lines = shell.session.sources.text(file).lines
    line += step
    while 1 <= line <= len(lines) and not pattern.search(lines[line - 1]):
        line += step
    if not 1 <= line <= len(lines):
        raise DebuggerError("Expression not found")
    show_lines(shell, file, line, line)
    shell.session.convenience.set_int("_", line)
    position.show_lines(file, line, around(line, shell.session.settings.list_size)[0])


def around(line: int, size: int) -> tuple[int, int]:
    """Return the lines that GDB shows around a line: five before it if ten are shown."""
    first = max(1, line - size // 2)
    return first, first + size - 1


def write_instructions(
    shell: Shell, lines: Sequence[DisassemblyLine], raw: bool, title: str | None, *, heads: bool = False
) -> None:
    """Write instructions: address, offset, bytes with ``raw``, text. ``title``: the name of the function was shown
    already.

    With ``heads``, labels are on separate lines before the instructions that they name.
    """
    offsets = [
        f"<{'' if title else (line.function or '')}+{line.offset}>" if line.function else "" for line in lines
    ]
    for line, offset in zip(lines, offsets, strict=True):
        for label in line.labels if heads else ():
            shell.out.styled([("function", label), ("", ":\n")])
        mark = "=> " if line.current else "   "
        data = " ".join(f"{byte:02x}" for byte in line.data) + "\t" if raw else ""
        note = operand_note(shell) if line.current else ""
        shell.out.styled([("", mark), ("address", f"{line.address:#018x}"), ("", f" {offset}:\t{data}"),
                          *shown_instruction(shell, line.text), *([("comment", f"\t; {note}")] if note else []),
                          ("", "\n")])


def shown_instruction(shell: Shell, text: str) -> list[tuple[str, str]]:
    """Return the text of an instruction in styles, unless `set style disassembler enabled` is off."""
    styled = shell.out.colour and shell.settings.get("style disassembler enabled", True) is not False
    return instruction_parts(text) if styled else [("", text)]
