"""Commands that show code: list, forward-search, reverse-search, disassemble, info line, info source, info sources."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import LOCATION, REGEXP, SLASHES, text_of
from rocdbg.cli.arguments import Arguments, Kind, optional
from rocdbg.cli.command_options import Option, Unknown
from rocdbg.cli.command_registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.paths import shown_name
from rocdbg.cli.source_listing import around, search, show_lines, source_lines, write_instructions
from rocdbg.debugger.base.errors import DebuggerError, NoProgramError
from rocdbg.debugger.base.patterns import Pattern, PatternError, Syntax, compile_pattern
from rocdbg.debugger.breakpoints.break_arguments import split_location
from rocdbg.debugger.expr.parsing.brackets import at_comma
from rocdbg.debugger.program.location_lookup import Defaults
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.descriptors import described_kernel
from rocdbg.debugger.reports.disassembly import DisassemblyLine
from rocdbg.debugger.reports.line_info import line_info
from rocdbg.debugger.reports.place_resolution import SourceFile, SourcePlace, UnknownLineError
from rocdbg.debugger.reports.program_tables import unit_facts
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

FILES = Category.FILES
STATUS = Category.STATUS


LINES = text_of("LINE|FUNCTION|FILE:LINE|FIRST,LAST|-", Completes.LOCATION)
INSTRUCTION = text_of("[ADDRESS] INSTRUCTION")
RANGE = text_of("ADDRESS|START,END|START,+LENGTH|KERNEL.kd", Completes.CODE)


@command("list", category=FILES, aliases=("l",), repeat=Repeat.BARE, args=Arguments(optional("lines", LINES, "")))
def list_(shell: Shell, lines: str) -> None:
    """List specified function or line.

    With no argument, lists ten more lines after or around previous listing. "list -" lists the ten lines before
    the last ones. One argument specifies a line, and ten lines are listed around that line. Two arguments with
    comma between specify starting and ending lines to list.
    """
    places = shell.session.places
    size = shell.session.settings.list_size or 1 << 30
    if lines in ("", "+", "-"):
        place = places.default_line()
        if places.position.first == 0:
            back = 1 if lines == "-" and size == 1 and place.line > 1 else 0
            show_lines(shell, place.file, *(line - back for line in around(place.line, size)))
        elif lines != "-":
            show_lines(shell, place.file, place.line, place.line + size - 1)
        elif places.position.first == 1:
            raise CommandError(f"Already at the start of {shown_name(shell, place.file)}.")
        else:
            first = places.position.first
            show_lines(shell, place.file, first - size, first - 1)
        return
    if not shell.session.symbols.any_debug_info:
        raise NoProgramError
    first_text, comma, last_text = at_comma(lines)
    if at_comma(last_text)[1] or split_location(lines)[1]:
        raise CommandError("Junk at end of line specification.")
    if comma and not first_text and not last_text:
        raise CommandError("Two empty args do not say what lines to list.")
    if not first_text:
        ends = _unlike(places.source_lines(last_text))
        if len(ends) > 1:
            _say_ambiguous(shell, "last", last_text, ends)
        else:
            show_lines(shell, ends[0].file, ends[0].line - size + 1, ends[0].line)
        return
    begins = _unlike(places.source_lines(first_text))
    if comma:
        if len(begins) > 1:
            _say_ambiguous(shell, "first", first_text, begins)
            return
        _list_from(shell, begins[0], last_text, size)
        return
    for begin in begins:
        if begin.address is not None:
            shell.line(f"{begin.address:#x} is {_in_function(shell, begin)}.")
        elif len(begins) > 1:
            shell.line(_place_words(shell, begin))
        show_lines(shell, begin.file, *around(begin.line, size))


def _list_from(shell: Shell, begin: SourcePlace, last_text: str, size: int) -> None:
    """``list BEGIN,`` and ``list BEGIN,END``."""
    if begin.address is not None:
        shell.line(f"{begin.address:#x} is {_in_function(shell, begin)}.")
    if not last_text:
        show_lines(shell, begin.file, begin.line, begin.line + size - 1)
        return
    ends = _unlike(shell.session.places.source_lines(last_text, Defaults(begin.file, begin.line)))
    if len(ends) > 1:
        _say_ambiguous(shell, "last", last_text, ends)
    elif ends[0].file.path != begin.file.path:
        raise CommandError("Specified first and last lines are in different files.")
    else:
        show_lines(shell, begin.file, begin.line, ends[0].line)


def _unlike(places: list[SourcePlace]) -> list[SourcePlace]:
    """Places in display order, one for each line: instances of a template share a line."""
    lines = {(place.file, place.line): place for place in reversed(places)}
    return sorted(lines.values(), key=lambda place: (place.file.name, place.line))


def _say_ambiguous(shell: Shell, which: str, text: str, places: list[SourcePlace]) -> None:
    shell.line(f"Specified {which} line '{text}' is ambiguous:")
    for place in places:
        shell.line(_place_words(shell, place))


def _place_words(shell: Shell, place: SourcePlace) -> str:
    symbol = Program.function_title(place.function) if place.function is not None else place.title or "???"
    return f'file: "{shown_name(shell, place.file)}", line number: {place.line}, symbol: "{symbol}"'


def _in_function(shell: Shell, place: SourcePlace) -> str:
    where = f"{shown_name(shell, place.file)}:{place.line}"
    return f"in {Program.function_title(place.function)} ({where})" if place.function is not None else f"at {where}"


def _searched(shell: Shell, text: str) -> Pattern:
    """The pattern to search for, in the Emacs syntax of regular expressions, with short error messages."""
    try:
        return compile_pattern(text, syntax=Syntax.EMACS)
    except PatternError as error:
        raise CommandError(str(error).removeprefix("Invalid regexp: ")) from None


SEARCHED = Arguments(optional("pattern", Kind("REGEXP", "Pattern", _searched)))


def _search(shell: Shell, pattern: Pattern | None, step: int) -> None:
    pattern = pattern or shell.state.last_searched
    if pattern is None:
        raise CommandError("No previous regular expression")
    shell.state.last_searched = pattern
    search(shell, pattern, step)


@command("forward-search", category=FILES, aliases=("search", "fo"), args=SEARCHED)
def forward_search(shell: Shell, pattern: Pattern | None) -> None:
    """Search for regular expression (see regex(3)) from last line listed.

    The matching line is also stored as the value of "$_". Without an expression, the previous one is searched for
    again.
    """
    _search(shell, pattern, 1)


@command("reverse-search", category=FILES, aliases=("rev",), args=SEARCHED)
def reverse_search(shell: Shell, pattern: Pattern | None) -> None:
    """Search backward for regular expression (see regex(3)) from last line listed.

    The matching line is also stored as the value of "$_". Without an expression, the previous one is searched for
    again.
    """
    _search(shell, pattern, -1)


@command(
    "disassemble", category=Category.DATA, aliases=("disas", "disass"),
    args=Arguments(optional("flags", SLASHES, "", "/rsm"), optional("place", RANGE, "")),
)
def disassemble(shell: Shell, flags: str, place: str) -> None:
    """Disassemble a specified section of memory.

    Default is the function surrounding the pc of the selected frame. /r shows the raw bytes, /s and /m include source
    lines (/s in order of address, /m in order of line). KERNEL.kd shows a kernel's descriptor as the assembler's
    directives.
    """
    session = shell.session
    if set(flags) - set("rsm"):
        raise CommandError("Invalid disassembly modifier.")
    kernel = described_kernel(session.launch.programs, place)
    if kernel is not None:
        shell.line(f"Dump of kernel descriptor {kernel.name}.kd:")
        for line in kernel.directives():
            shell.line(line)
        shell.line("End of descriptor dump.")
        return
    if not place and not session.launch.programs:
        shell.need_frame()
    title, low, high = session.places.disassembly_range(place)
    lines = list(session.places.disassemble(low, high)) if low < high else []
    if not lines and low < high:
        raise CommandError("No instructions in that range.")
    if title:
        shell.line(f"Dump of assembler code for function {title}:")
    else:
        shell.line(f"Dump of assembler code from {low:#x} to {high:#x}:")
    if ("s" in flags or "m" in flags) and any(line.file is not None for line in lines):
        _mixed(shell, lines, "r" in flags, in_line_order="m" in flags)
    else:
        write_instructions(shell, lines, "r" in flags, title, heads=True)
    shell.line("End of assembler dump.")


@command("assemble", category=Category.DATA, repeat=Repeat.NEVER, args=Arguments(optional("text", INSTRUCTION, "")))
def assemble(shell: Shell, text: str) -> None:
    """Assemble an instruction: assemble [ADDRESS] INSTRUCTION.

    The instruction has the syntax that `disassemble' shows; the suffix of its encoding (_e32) may be left out. A branch
    target is an address, a symbol or `.', which is the instruction itself. With ADDRESS the instruction is written
    there, and the resulting code is shown, including the rest of partly overwritten instructions.
    """
    lines = shell.session.places.assemble(text)
    if len(lines) == 1 and not lines[0].address:
        shell.line(f"{lines[0].data.hex(' ')}\t{lines[0].text}")
    else:
        write_instructions(shell, lines, True, None)


def _mixed(shell: Shell, lines: list[DisassemblyLine], raw: bool, in_line_order: bool) -> None:
    runs = [(key, list(run)) for key, run in groupby(lines, key=lambda line: (line.file, line.line))]
    if in_line_order:
        merged: dict[object, list[DisassemblyLine]] = {}
        for key, run in runs:
            merged.setdefault(key, []).extend(run)
        order = sorted(merged, key=lambda key: (str(key[0]), key[1] or 0))  # type: ignore[index]
        runs = [(key, merged[key]) for key in order]  # type: ignore[misc]
    with_code = {(line.file, line.line) for line in lines}
    previous, last = None, 0
    for index, ((file, number), run) in enumerate(runs):
        if index and not in_line_order:
            shell.line()
        if file is not None and number is not None:
            if file != previous and not in_line_order:
                shell.line(f"{file.name}:")
            first = number
            if file == previous and last and in_line_order:
                first = min(last + 1, number)  # GDB shows all lines in between
            elif file == previous and last:
                while first > last + 1 and (file, first - 1) not in with_code:
                    first -= 1  # lines without code, such as labels, go with the following line
            previous, last = file, number
            _show_source(shell, file, first, number)
        write_instructions(shell, run, raw, "function")
        if in_line_order:
            shell.line()


def _show_source(shell: Shell, file: SourceFile, first: int, last: int) -> None:
    """Show lines of a file with their numbers; if the file is not found, show only the number of the last line."""
    try:
        shell.session.sources.line(file, last)
        whole = shell.session.sources.text(file).lines
        texts = source_lines(shell, whole, file.name, first - 1, last - first + 1)
    except Error:
        first, texts = last, [""]
    for number, text in enumerate(texts, first):
        shell.out.raw(f"{number}\t{text}\n")


@command("info line", category=STATUS, repeat=Repeat.NEVER, args=Arguments(optional("place", LOCATION, "")))
def info_line(shell: Shell, place: str) -> None:
    """Core addresses of the code for a source line."""
    session = shell.session
    if place:
        place, comma, rest = at_comma(place)
        try:
            places = session.places.source_lines(place, session.places.last_shown(), each_copy=True)
            if comma:
                raise CommandError(f"Junk at end of line specification: ,{rest}")
        except UnknownLineError as error:
            shell.line(str(error))
            return
    else:
        position = session.places.position
        if position.place is None and session.focus.current.thread is None:
            shell.line("No line number information available.")
            return
        try:
            default = session.places.default_line()  # even a stop that was not shown has a line
        except DebuggerError:
            shell.line("No line number information available.")
            return
        places = [SourcePlace(default.file, (position.place and position.last) or default.line)]
    # the last units come first in GDB's list
    for found in sorted(places, key=lambda found: -found.function.unit.offset if found.function is not None else 0):
        try:
            _write_line(shell, found)
        except DebuggerError as error:
            shell.line(str(error))


def _write_line(shell: Shell, found: SourcePlace) -> None:
    """The output of `info line` for one place. Raises `DebuggerError` for a line after all code."""
    session = shell.session
    if found.data is not None:
        begins = session.symbols.data_name(found.data)
        where = f'Line {found.line} of "{shown_name(shell, found.file)}"'
        shell.line(f"{where} is at address {begins} but contains no code.")
        shell.state.next_examine = session.examiner.go_to(found.data)
        session.places.position.last = found.line + 1
        return
    address = found.address
    if address is None and found.function is not None and found.function.low_pc is not None:
        address = session.inferior.need_program().to_loaded(found.function.low_pc)
    info = line_info(session.symbols, found.file, found.line, address)
    where = f'Line {info.line} of "{shown_name(shell, info.file)}"'
    begins = f"{info.low:#x} <{info.low_name}>" if info.low_name else f"{info.low:#x}"
    ends = f"{info.high:#x} <{info.high_name}>" if info.high_name else f"{info.high:#x}"
    if not info.has_code:
        shell.line(f"{where} is at address {begins} but contains no code.")
    else:
        shell.line(f"{where} starts at address {begins} and ends at {ends}.")
    shell.state.next_examine = session.examiner.go_to(info.low)
    session.places.position.last = info.line + 1  # repeating `info line` shows the next line


@command("info source", category=STATUS, args=Arguments())
def info_source(shell: Shell) -> None:
    """Information about the current source file."""
    session = shell.session
    try:
        location = session.places.default_line() if session.places.has_current_file else None
    except DebuggerError:
        location = None
    if location is None:
        shell.line("No current source file.")
        return
    file = location.file
    shell.line(f"Current source file is {file.name}")
    directory, facts = unit_facts(session.inferior.programs, file)
    shell.line(f"Compilation directory is {directory or file.directory}")
    found = session.sources.text(file)
    shell.line(f"Located in {found.path}" if found.path else "Embedded in the debug information.")
    shell.line(f"Contains {len(found.lines)} line{'s' if len(found.lines) != 1 else ''}.")
    for line in facts:
        shell.line(line)


@command(
    "info sources", category=STATUS,
    args=Arguments(
        Option("-dirname", "Show only the files having a dirname matching REGEXP."),
        Option("-basename", "Show only the files having a basename matching REGEXP."),
        optional("pattern", REGEXP), unknown=Unknown.ERROR,
    ),
)
def info_sources(shell: Shell, dirname: bool, basename: bool, pattern: Pattern | None) -> None:
    """All source files in the program or those matching REGEXP.

    They are listed for each code object.
    """
    if dirname and basename:
        raise CommandError("You cannot give both -basename and -dirname to 'info sources'.")
    if pattern is None and (dirname or basename):
        raise CommandError("Missing REGEXP for 'info sources'.")
    session = shell.session
    session.inferior.need_program()
    for program in session.inferior.programs:
        shell.line(f"{program.path}:\n")
        paths = dict.fromkeys(file.path for file in (program.info.source_files if program.has_debug_info else ()))
        names = []
        for path in paths:
            folder, _, name = path.rpartition("/")
            if pattern is None or pattern.search(folder if dirname else name if basename else path):
                names.append(path)
        if names:
            shell.line(f"{', '.join(names)}\n")
