"""Commands about breakpoints: break, tbreak, delete, enable, disable, condition, ignore, info breakpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.kinds import BREAKPOINTS as BREAKPOINT_NUMBERS
from rocdbg.cli.kinds import EXPRESSION, INTEGER, LOCATION, NUMBERS, number_of, text_of, words_of
from rocdbg.cli.number_words import as_digits
from rocdbg.cli.ranges import NumberList
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


class Wanted(Struct, frozen=True):
    """What `break` was told: where, on which condition, in which thread and lane."""

    location: str = ""
    condition: str | None = None
    thread: int | None = None
    lane: int | None = None


def _places(shell: Shell, text: str) -> list[tuple[int, int | None]]:
    """``1 3-5 2.1``: breakpoints, and locations of one."""
    found: list[tuple[int, int | None]] = []
    for word in as_digits(shell, text).split():
        number, dot, location = word.partition(".")
        if dot and number.isdecimal() and location.isdecimal():
            found.append((decimal(number), decimal(location)))
        else:
            found += [(one, None) for one in parse_numbers(word)]
    return found


WHERE_AND_WHEN = "[LOCATION] [thread N[:LANE]] [if CONDITION]"
STOP = Arguments(
    optional(
        "wanted",
        Kind(WHERE_AND_WHEN, "Wanted", lambda shell, text: Wanted(*split_break_arguments(text)),
             completes=Completes.LOCATION),
        Wanted(),
    ),
)
PLACES = Arguments(
    optional("places", Kind("N...", "list[tuple[int, int | None]]", _places, completes=Completes.BREAKPOINT))
)
NUMBERED = number_of("N", "Bad breakpoint argument: '{}'", Completes.BREAKPOINT)
PARTS = words_of("N...", Completes.BREAKPOINT)


def _set(shell: Shell, wanted: Wanted, temporary: bool) -> None:
    session = shell.session
    before = list(session.breakpoints)
    try:
        made = session.break_at(
            wanted.location, condition=wanted.condition, temporary=temporary, thread=wanted.thread, lane=wanted.lane
        )
    except (LocationSpecError, NoProgramError) as error:
        setting = session.settings.pending_breakpoints
        if setting == "off" or not wanted.location:
            raise
        shell.line(str(error))
        question = f"Make {'temporary ' if temporary else ''}breakpoint pending on future code object load?"
        if setting == "auto" and not (shell.interactive and shell.confirm(question)):
            if not shell.interactive:
                shell.line(f"{question} (y or [n]) [answered N; input not from terminal]")
            raise CommandError("No breakpoint was set.") from None
        made = session.break_at(
            wanted.location, condition=wanted.condition, temporary=temporary, thread=wanted.thread, lane=wanted.lane,
            pending=True,
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
    "break", category=BREAKPOINTS, aliases=("b", "br", "bre", "brea"), usage=f"break {WHERE_AND_WHEN}", args=STOP
)
def break_(shell: Shell, wanted: Wanted) -> None:
    """Set breakpoint at specified location.

    LOCATION is a function, FILE:LINE, a line of the current file, *ADDRESS, +OFFSET or -OFFSET; without one, where
    the selected frame stands. CONDITION is evaluated for each active lane: the stop lists the lanes for which it held.
    "thread N" stops only that wave, "thread N:LANE" only when that lane is among those that hit.
    """
    _set(shell, wanted, temporary=False)


@command(
    "tbreak", category=BREAKPOINTS, aliases=("tb", "tbr"), usage=f"tbreak {WHERE_AND_WHEN}", args=STOP
)
def tbreak(shell: Shell, wanted: Wanted) -> None:
    """Set a temporary breakpoint: as "break", but it is deleted when hit."""
    _set(shell, wanted, temporary=True)


@command(
    "rbreak", category=BREAKPOINTS, usage="rbreak REGEXP",
    args=Arguments(optional("pattern", text_of("REGEXP", Completes.SYMBOL), "")),
)
def rbreak(shell: Shell, pattern: str) -> None:
    """Set a breakpoint for all functions matching REGEXP."""
    for name in shell.session.symbols.function_names(pattern):
        _set(shell, Wanted(name), temporary=False)


@command(
    "delete", category=BREAKPOINTS, aliases=("d", "del", "delete breakpoints"),
    args=Arguments(optional("numbers", BREAKPOINT_NUMBERS)),
)
def delete(shell: Shell, numbers: list[int] | None) -> None:
    """Delete all or some breakpoints.

    Arguments are breakpoint numbers with spaces in between, or ranges. To delete all breakpoints, give no argument.
    """
    table = shell.session.breakpoints
    if numbers is None:
        if list(table) and not shell.confirm("Delete all breakpoints?"):
            return
        for breakpoint_ in list(table):
            table.delete(breakpoint_.number)
        return
    for number in numbers:
        table.get(number)  # raises for one that does not exist, before any is gone
    for number in numbers:
        table.delete(number)


@command("clear", category=BREAKPOINTS, args=Arguments(optional("location", LOCATION, "")))
def clear(shell: Shell, location: str) -> None:
    """Clear breakpoint at specified location; without one, where the selected frame stands."""
    places = shell.session.places.resolve(location)
    gone = shell.session.breakpoints.clear_at(place.address for place in places)
    if not gone:
        raise CommandError(f"No breakpoint at {location}." if location else "No breakpoint at this line.")
    plural = "s" if len(gone) > 1 else ""
    shell.line(f"Deleted breakpoint{plural} {' '.join(map(str, gone))} ")


@command("enable", category=BREAKPOINTS, aliases=("en", "enable breakpoints"), args=PLACES)
def enable(shell: Shell, places: list[tuple[int, int | None]] | None) -> None:
    """Enable all or some breakpoints (N, ranges, or N.M for one location of several)."""
    _switch(shell, places, True)


def _switch(shell: Shell, places: list[tuple[int, int | None]] | None, enabled: bool) -> None:
    table = shell.session.breakpoints
    for number, location in places or [(row.number, None) for row in table]:
        table.enable(number, enabled, location)


@command("disable", category=BREAKPOINTS, aliases=("dis", "disa", "disable breakpoints"), args=PLACES)
def disable(shell: Shell, places: list[tuple[int, int | None]] | None) -> None:
    """Disable all or some breakpoints (N, ranges, or N.M for one location of several)."""
    _switch(shell, places, False)


@command(
    "condition", category=BREAKPOINTS,
    args=Arguments(
        required("number", NUMBERED, "Argument required (breakpoint number)."), optional("expression", EXPRESSION, "")
    ),
)
def condition(shell: Shell, number: int, expression: str) -> None:
    """Specify breakpoint number N to break only if COND is true.

    Without an expression the breakpoint becomes unconditional.
    """
    shell.session.breakpoints.get(number)
    shell.session.set_condition(number, expression or None)
    if not expression:
        shell.line(f"Breakpoint {number} now unconditional.")


@command(
    "ignore", category=BREAKPOINTS,
    args=Arguments(
        required("number", number_of("N", "bad breakpoint number: '{}'", Completes.BREAKPOINT),
                 "Argument required (a breakpoint number)."),
        required("count", INTEGER, "Second argument (specified ignore-count) is missing.", "COUNT"),
    ),
)
def ignore(shell: Shell, number: int, count: int) -> None:
    """Set ignore-count of breakpoint number N to COUNT."""
    count = max(0, count)
    shell.session.breakpoints.set_ignore(number, count)
    if count == 0:
        shell.line(f"Will stop next time breakpoint {number} is reached.")
    else:
        crossings = "crossing" if count == 1 else f"{count} crossings"
        shell.line(f"Will ignore next {crossings} of breakpoint {number}.")


@command(
    "commands", category=BREAKPOINTS, repeat=Repeat.NEVER, args=Arguments(optional("parts", PARTS))
)
def commands(shell: Shell, parts: list[str] | None) -> None:
    """Set commands to be executed when the given breakpoints are hit.

    The commands follow, one per line; end with a line of just "end". Without a number, those of the last breakpoint.
    "silent" as the first command keeps the stop from being shown.
    """
    raise CommandError('This command takes a block of lines that ends with "end".')


@command(
    "info breakpoints", category=Category.STATUS, aliases=("info b",), args=Arguments(optional("numbers", NUMBERS))
)
def info_breakpoints(shell: Shell, numbers: NumberList | None) -> None:
    """Status of specified breakpoints (all user-settable breakpoints if no argument)."""
    rows = list(shell.session.breakpoints)
    if numbers is not None:
        rows = [row for row in rows if row.number in numbers.numbers]
        if not rows:
            shell.line(f"No breakpoint or watchpoint matching '{numbers.text}'.")
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
