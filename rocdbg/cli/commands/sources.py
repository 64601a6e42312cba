"""Commands that show code: list, forward-search, reverse-search, disassemble, info line, info source, info sources."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.highlight import shown_lines
from rocdbg.cli.kinds import EVERYTHING, LOCATION, REGEXP, SLASHES, text_of
from rocdbg.cli.listing import around, search, show_lines, write_instructions
from rocdbg.cli.registry import Category, CommandError, Completes, Repeat, command
from rocdbg.debugger.digits import decimal
from rocdbg.debugger.errors import DebuggerError
from rocdbg.debugger.reports.disassembly import DisassemblyLine
from rocdbg.debugger.reports.listings import unit_facts
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

FILES = Category.FILES
STATUS = Category.STATUS


LINES = text_of("LINE|FUNCTION|FILE:LINE|FIRST,LAST|-", Completes.LOCATION)
RANGE = text_of("ADDRESS|START,END|START,+LENGTH", Completes.EXPRESSION)


@command("list", category=FILES, aliases=("l",), repeat=Repeat.BARE, args=Arguments(optional("lines", LINES, "")))
def list_(shell: Shell, lines: str) -> None:
    """List specified function or line.

    With no argument, lists ten more lines after or around previous listing. "list -" lists the ten lines before
    the last ones. One argument specifies a line, and ten lines are listed around that line. Two arguments with
    comma between specify starting and ending lines to list.
    """
    session = shell.session
    size = session.settings.list_size or 1 << 30
    last = shell.state.last_listed
    if lines == "-":
        if last is None:
            raise CommandError("There is no listing to go back from.")
        if last.first == 1:
            raise CommandError(f"Already at the start of {last.file.name}.")
        first = max(1, last.first - size)
        show_lines(shell, last.file, first, last.first - 1)
        return
    if not lines or lines == "+":
        if last is not None:
            show_lines(shell, last.file, last.then, last.then + size - 1)
            return
        location = session.places.default_line()
        show_lines(shell, location.file, *around(location.line, size))
        return
    if "," in lines and not lines.startswith("*"):
        _list_range(shell, lines, size)
        return
    location = session.places.source_line(lines)
    show_lines(shell, location.file, *around(location.line, size))


def _list_range(shell: Shell, text: str, size: int) -> None:
    first_text, _, last_text = (part.strip() for part in text.partition(","))
    session = shell.session
    if not first_text:
        end = session.places.source_line(last_text)
        show_lines(shell, end.file, end.line - size + 1, end.line)
        return
    begin = session.places.source_line(first_text)
    if not last_text:
        show_lines(shell, begin.file, begin.line, begin.line + size - 1)
        return
    if last_text.isdecimal():
        last = decimal(last_text)
    elif last_text.startswith("+") and last_text[1:].isdecimal():
        last = begin.line + decimal(last_text[1:])
    else:
        last = session.places.source_line(last_text).line
    show_lines(shell, begin.file, begin.line, last)


SEARCHED = Arguments(optional("pattern", REGEXP))


def _search(shell: Shell, pattern: re.Pattern[str] | None, step: int) -> None:
    pattern = pattern or shell.state.last_searched
    if pattern is None:
        raise CommandError("No previous regular expression")
    shell.state.last_searched = pattern
    search(shell, pattern, step)


@command("forward-search", category=FILES, aliases=("search", "fo"), args=SEARCHED)
def forward_search(shell: Shell, pattern: re.Pattern[str] | None) -> None:
    """Search for regular expression from last line listed.

    The matching line is also stored as the value of "$_". Without an expression, the previous one again.
    """
    _search(shell, pattern, 1)


@command("reverse-search", category=FILES, aliases=("rev",), args=SEARCHED)
def reverse_search(shell: Shell, pattern: re.Pattern[str] | None) -> None:
    """Search backward for regular expression from last line listed.

    The matching line is also stored as the value of "$_". Without an expression, the previous one again.
    """
    _search(shell, pattern, -1)


@command(
    "disassemble", category=Category.DATA, aliases=("disas", "disass"),
    args=Arguments(optional("flags", SLASHES, "", "/rsm"), optional("place", RANGE, "")),
)
def disassemble(shell: Shell, flags: str, place: str) -> None:
    """Disassemble a specified section of memory.

    Default is the function surrounding the pc of the selected frame. /r shows the raw bytes, /s and /m mix in source
    lines (/s in order of address, /m in order of line).
    """
    session = shell.session
    if set(flags) - set("rsm"):
        raise CommandError("Invalid disassembly modifier.")
    title, low, high = session.places.disassembly_range(place)
    lines = list(session.places.disassemble(low, high))
    if not lines:
        raise CommandError("No instructions in that range.")
    if title:
        shell.line(f"Dump of assembler code for function {title}:")
    else:
        shell.line(f"Dump of assembler code from {low:#x} to {high:#x}:")
    if "s" in flags or "m" in flags:
        _mixed(shell, lines, "r" in flags, in_line_order="m" in flags)
    else:
        write_instructions(shell, lines, "r" in flags, title)
    shell.line("End of assembler dump.")


def _mixed(shell: Shell, lines: list[DisassemblyLine], raw: bool, in_line_order: bool) -> None:
    runs = [(key, list(run)) for key, run in groupby(lines, key=lambda line: (line.file, line.line))]
    if in_line_order:
        merged: dict[object, list[DisassemblyLine]] = {}
        for key, run in runs:
            merged.setdefault(key, []).extend(run)
        order = sorted(merged, key=lambda key: (str(key[0]), key[1] or 0))  # type: ignore[index]
        runs = [(key, merged[key]) for key in order]  # type: ignore[misc]
    previous = None
    for (file, number), run in runs:
        if file is not None and number is not None:
            if file != previous and not in_line_order:
                shell.line(f"{file.name}:")
            previous = file
            try:
                shell.session.sources.line(file, number)
                whole = shell.session.sources.text(file).lines
                [text] = shown_lines(whole, file.name, number - 1, 1, shell.out.colour)
            except Error:
                text = ""
            shell.out.raw(f"{number}\t{text}\n")
        write_instructions(shell, run, raw, "function")
        shell.line()


@command("info line", category=STATUS, args=Arguments(optional("place", LOCATION, "")))
def info_line(shell: Shell, place: str) -> None:
    """Core addresses of the code for a source line."""
    session = shell.session
    location = session.places.source_line(place) if place else session.places.default_line()
    for info in session.symbols.lines(location.file, location.line):
        where = f'Line {info.line} of "{info.file.name}"'
        begins = f"{info.low:#x} <{info.low_name}>" if info.low_name else f"{info.low:#x}"
        ends = f"{info.high:#x} <{info.high_name}>" if info.high_name else f"{info.high:#x}"
        if not info.has_code:
            shell.line(f"{where} is at address {begins} but contains no code.")
        else:
            shell.line(f"{where} starts at address {begins} and ends at {ends}.")


@command("info source", category=STATUS, args=Arguments())
def info_source(shell: Shell) -> None:
    """Information about the current source file."""
    session = shell.session
    try:
        location = session.places.default_line()
    except DebuggerError:
        shell.line("No current source file.")
        return
    file = location.file
    shell.line(f"Current source file is {file.name}")
    shell.line(f"Compilation directory is {file.directory}")
    found = session.sources.text(file)
    shell.line(f"Located in {found.path}" if found.path else "Embedded in the debug information.")
    shell.line(f"Contains {len(found.lines)} line{'s' if len(found.lines) != 1 else ''}.")
    for line in unit_facts(session.inferior.need_program(), file):
        shell.line(line)


@command("info sources", category=STATUS, args=Arguments(optional("pattern", REGEXP, EVERYTHING)))
def info_sources(shell: Shell, pattern: re.Pattern[str]) -> None:
    """All source files in the program or those matching REGEXP."""
    names = sorted({file.path for file in shell.session.symbols.sources() if pattern.search(file.path)})
    for name in names:
        shell.line(name)
