"""Commands about breakpoints: break, tbreak, delete, enable, disable, condition, ignore, info breakpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.ranges import parse_ranges
from rocdbg.cli.registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.table import render
from rocdbg.debugger.digits import decimal
from rocdbg.debugger.errors import LocationSpecError, NoProgramError
from rocdbg.debugger.running.breakpoints import (
    Breakpoint,
    BreakpointLocation,
    parse_numbers,
    split_break_arguments,
)

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

BREAKPOINTS = Category.BREAKPOINTS


def _set(shell: Shell, text: str, temporary: bool) -> None:
    location, condition, thread, lane = split_break_arguments(text)
    session = shell.session
    before = list(session.breakpoints)
    try:
        made = session.break_at(location, condition=condition, temporary=temporary, thread=thread, lane=lane)
    except (LocationSpecError, NoProgramError) as error:
        setting = session.settings.pending_breakpoints
        if setting == "off" or not location:
            raise
        shell.line(str(error))
        question = f"Make {'temporary ' if temporary else ''}breakpoint pending on future code object load?"
        if setting == "auto" and not (shell.interactive and shell.confirm(question)):
            if not shell.interactive:
                shell.line(f"{question} (y or [n]) [answered N; input not from terminal]")
            raise CommandError("No breakpoint was set.") from None
        made = session.break_at(
            location, condition=condition, temporary=temporary, thread=thread, lane=lane, pending=True
        )
    _note_others(shell, made, before)
    shell.line(announce(made))


def _note_others(shell: Shell, made: Breakpoint, before: list[Breakpoint]) -> None:
    """``Note: breakpoint 1 also set at pc 0x1139.``"""
    for address in [where.address for where in made.locations]:
        same = [
            f"{row.number}{'' if row.enabled else ' (disabled)'}"
            for row in before
            if any(where.address == address for where in row.locations)
        ]
        if same:
            *most, last = same
            names = f"{', '.join(most)} and {last}" if most else last
            shell.line(f"Note: breakpoint{'s' if most else ''} {names} also set at pc {address:#x}.")


def announce(made: Breakpoint) -> str:
    """``Breakpoint 1 at 0x1139: file t.hip, line 5.``"""
    kind = "Temporary breakpoint" if made.temporary else "Breakpoint"
    if not made.locations:
        return f"{kind} {made.number} ({made.text}) pending."
    first = made.locations[0]
    if len(made.locations) > 1:
        return f"{kind} {made.number} at {first.address:#x}: {made.text}. ({len(made.locations)} locations)"
    return f"{kind} {made.number} at {first.address:#x}{_file_and_line(first)}"


def _file_and_line(where: BreakpointLocation) -> str:
    place = where.location
    return f": file {place.file.name}, line {place.line}." if place.file is not None else ""


def _what(where: BreakpointLocation) -> str:
    place = where.location
    function = f"in {place.function} " if place.function else ""
    return f"{function}at {place.file.name}:{place.line}" if place.file is not None else function.strip()


@command(
    "break", category=BREAKPOINTS, aliases=("b", "br", "bre", "brea"),
    usage="break [LOCATION] [thread N[:LANE]] [if CONDITION]", completes=Completes.LOCATION,
)  # fmt: skip
def break_(shell: Shell, text: str) -> None:
    """Set breakpoint at specified location.

    LOCATION is a function, FILE:LINE, a line of the current file, *ADDRESS, +OFFSET or -OFFSET; without one, where
    the selected frame stands. CONDITION is evaluated for each active lane: the stop lists the lanes for which it held.
    "thread N" stops only that wave, "thread N:LANE" only when that lane is among those that hit.
    """
    _set(shell, text, temporary=False)


@command(
    "tbreak", category=BREAKPOINTS, aliases=("tb", "tbr"), usage="tbreak [LOCATION] [thread N[:LANE]] [if CONDITION]",
    completes=Completes.LOCATION,
)  # fmt: skip
def tbreak(shell: Shell, text: str) -> None:
    """Set a temporary breakpoint: as "break", but it is deleted when hit."""
    _set(shell, text, temporary=True)


@command("rbreak", category=BREAKPOINTS, usage="rbreak REGEXP", completes=Completes.SYMBOL)
def rbreak(shell: Shell, text: str) -> None:
    """Set a breakpoint for all functions matching REGEXP."""
    for name in shell.session.symbols.function_names(text):
        _set(shell, name, temporary=False)


def _numbers(shell: Shell, text: str) -> list[int]:
    numbers = parse_numbers(text)
    for number in numbers:
        shell.session.breakpoints.get(number)  # raises for one that does not exist
    return numbers


@command(
    "delete", category=BREAKPOINTS, aliases=("d", "del", "delete breakpoints"), usage="delete [N...]",
    completes=Completes.BREAKPOINT,
)  # fmt: skip
def delete(shell: Shell, text: str) -> None:
    """Delete all or some breakpoints.

    Arguments are breakpoint numbers with spaces in between, or ranges. To delete all breakpoints, give no argument.
    """
    table = shell.session.breakpoints
    if not text:
        if list(table) and not shell.confirm("Delete all breakpoints?"):
            return
        for breakpoint_ in list(table):
            table.delete(breakpoint_.number)
        return
    for number in _numbers(shell, text):
        table.delete(number)


@command("clear", category=BREAKPOINTS, usage="clear [LOCATION]", completes=Completes.LOCATION)
def clear(shell: Shell, text: str) -> None:
    """Clear breakpoint at specified location; without one, where the selected frame stands."""
    places = shell.session.resolve(text)
    gone = shell.session.breakpoints.clear_at(place.address for place in places)
    if not gone:
        raise CommandError(f"No breakpoint at {text}." if text else "No breakpoint at this line.")
    plural = "s" if len(gone) > 1 else ""
    shell.line(f"Deleted breakpoint{plural} {' '.join(map(str, gone))} ")


@command(
    "enable", category=BREAKPOINTS, aliases=("en", "enable breakpoints"), usage="enable [N...]",
    completes=Completes.BREAKPOINT,
)  # fmt: skip
def enable(shell: Shell, text: str) -> None:
    """Enable all or some breakpoints (N, ranges, or N.M for one location of several)."""
    _switch(shell, text, True)


def _switch(shell: Shell, text: str, enabled: bool) -> None:
    table = shell.session.breakpoints
    for word in text.split() or [str(row.number) for row in table]:
        number, dot, location = word.partition(".")
        if dot and number.isdecimal() and location.isdecimal():
            table.enable(decimal(number), enabled, decimal(location))
            continue
        for one in parse_numbers(word):
            table.enable(one, enabled)


@command(
    "disable", category=BREAKPOINTS, aliases=("dis", "disa", "disable breakpoints"), usage="disable [N...]",
    completes=Completes.BREAKPOINT,
)  # fmt: skip
def disable(shell: Shell, text: str) -> None:
    """Disable all or some breakpoints (N, ranges, or N.M for one location of several)."""
    _switch(shell, text, False)


@command("condition", category=BREAKPOINTS, usage="condition N [EXPRESSION]", completes=Completes.BREAKPOINT)
def condition(shell: Shell, text: str) -> None:
    """Specify breakpoint number N to break only if COND is true.

    Without an expression the breakpoint becomes unconditional.
    """
    number, _, expression = text.partition(" ")
    if not number:
        raise CommandError("Argument required (breakpoint number).")
    if not number.isdecimal():
        raise CommandError(f"Bad breakpoint argument: '{number}'")
    shell.session.breakpoints.get(decimal(number))
    shell.session.set_condition(decimal(number), expression.strip() or None)
    if not expression.strip():
        shell.line(f"Breakpoint {number} now unconditional.")


@command("ignore", category=BREAKPOINTS, usage="ignore N COUNT", completes=Completes.BREAKPOINT)
def ignore(shell: Shell, text: str) -> None:
    """Set ignore-count of breakpoint number N to COUNT."""
    words = text.split(None, 1)
    if not words or not words[0].isdecimal():
        raise CommandError("Argument required (a breakpoint number).")
    if len(words) < 2:
        raise CommandError("Second argument (specified ignore-count) is missing.")
    number, count = decimal(words[0]), max(0, shell.session.integer(words[1]))
    shell.session.breakpoints.set_ignore(number, count)
    if count == 0:
        shell.line(f"Will stop next time breakpoint {number} is reached.")
    else:
        crossings = "crossing" if count == 1 else f"{count} crossings"
        shell.line(f"Will ignore next {crossings} of breakpoint {number}.")


@command("commands", category=BREAKPOINTS, usage="commands [N...]", repeat=Repeat.NEVER)
def commands(shell: Shell, text: str) -> None:
    """Set commands to be executed when the given breakpoints are hit.

    The commands follow, one per line; end with a line of just "end". Without a number, those of the last breakpoint.
    "silent" as the first command keeps the stop from being shown.
    """
    raise CommandError('This command takes a block of lines that ends with "end".')


@command("info breakpoints", category=Category.STATUS, aliases=("info b",), usage="info breakpoints [N...]")
def info_breakpoints(shell: Shell, text: str) -> None:
    """Status of specified breakpoints (all user-settable breakpoints if no argument)."""
    rows = list(shell.session.breakpoints)
    if text:
        wanted = set(parse_ranges(text.split()))
        rows = [row for row in rows if row.number in wanted]
        if not rows:
            shell.line(f"No breakpoint or watchpoint matching '{text}'.")
            return
    if not rows:
        shell.line("No breakpoints or watchpoints.")
        return
    cells: list[tuple[str, ...]] = []
    notes: list[list[str]] = []
    for row in rows:
        head = (str(row.number), "breakpoint", row.disposition, "y" if row.enabled else "n")
        if not row.locations:
            cells.append((*head, "<PENDING>", row.text))
        elif len(row.locations) == 1:
            where = row.locations[0]
            cells.append((*head, f"{where.address:#018x}", _what(where)))
        else:
            cells.append((*head, "<MULTIPLE>", ""))
        notes.append(_notes(row))
        if len(row.locations) > 1:
            for index, where in enumerate(row.locations, 1):
                enabled = "y" if where.enabled else "n"
                cells.append(
                    (f"{row.number}.{index}", "", "", enabled, f"{where.address:#018x}", _what(where))
                )
                notes.append([])
    titles = ("Num    ", "Type          ", "Disp", "Enb", "Address           ", "What")
    lines = render(titles, cells).split("\n")[:-1]
    shell.line(lines[0])
    for line, extra in zip(lines[1:], notes, strict=True):
        shell.line(line)
        for note in extra:
            shell.line(note)


def _notes(row: Breakpoint) -> list[str]:
    notes = []
    if row.condition:
        notes.append(f"\tstop only if {row.condition}")
    if row.thread is not None:
        lane = f":{row.lane}" if row.lane is not None else ""
        notes.append(f"\tstop only in thread {row.thread}{lane}")
    if row.hit_count:
        notes.append(f"\tbreakpoint already hit {row.hit_count} time{'s' if row.hit_count != 1 else ''}")
    if row.ignore_count:
        notes.append(f"\tignore next {row.ignore_count} hits")
    return notes + [f"        {line}" for line in row.commands]
