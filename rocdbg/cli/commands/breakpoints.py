"""Commands that set and change breakpoints: break, tbreak, rbreak, delete, clear, enable, condition, ignore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.cli.argument_kinds import LOCATION, text_of, words_of
from rocdbg.cli.arguments import Arguments, Kind, optional
from rocdbg.cli.breakpoint_numbers import act_on, each_breakpoint, places_of, read_number
from rocdbg.cli.command_registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.number_words import lane_as_number
from rocdbg.cli.paths import shown_name
from rocdbg.cli.printf import numbers_printed
from rocdbg.debugger.base.errors import LocationSpecError, NoProgramError
from rocdbg.debugger.breakpoints.break_arguments import parse_tail, split_location
from rocdbg.debugger.breakpoints.breakpoint_table import Breakpoint, BreakpointLocation, BreakpointTable, Disposition
from rocdbg.debugger.breakpoints.dynamic_printf import DynamicPrintf
from rocdbg.debugger.breakpoints.host_breakpoints import HostBreakpoint
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Tracepoint
from rocdbg.debugger.program.location_syntax import LineSpec, LocationSyntaxError, parse_spec

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

BREAKPOINTS = Category.BREAKPOINTS


class Wanted(Struct, frozen=True):
    """The arguments of `break`: the location, and the conditions."""

    location: str = ""
    tail: str = ""


WHERE_AND_WHEN = "[LOCATION] [thread N[:LANE]] [lane EXPRESSION] [if CONDITION]"
STOP = Arguments(
    optional(
        "wanted",
        Kind(
            WHERE_AND_WHEN, "Wanted", lambda shell, text: Wanted(*split_location(lane_as_number(shell, text))),
            completes=Completes.CODE,
        ),
        Wanted(),
    ),
)
NUMBERS = Arguments(optional("numbers", text_of("N...", Completes.BREAKPOINT), ""))
PARTS = words_of("N...", Completes.BREAKPOINT)


def set_breakpoint(
    shell: Shell, wanted: Wanted, temporary: bool, hardware: bool = False, form: str = "", once_per_wave: bool = False,
    kind: type[Breakpoint] = Breakpoint,
) -> bool:
    """Set a breakpoint (or another ``kind``), or with ``form`` a dynamic printf; returns whether it was created."""
    session = shell.session
    pending = False
    if session.host.focused and not form and kind is Breakpoint and _set_in_host(shell, wanted, temporary):
        return True
    try:
        found = session.places.resolve(wanted.location)
        if form and not form.startswith('"'):
            note_others(shell, [BreakpointLocation(1, place) for place in found])
            raise CommandError("Bad format string, missing '\"'.")
    except LocationSyntaxError:
        raise
    except (LocationSpecError, NoProgramError) as error:
        if not form and kind is Breakpoint and _set_in_host(shell, wanted, temporary):
            return True
        setting = session.settings.pending_breakpoints
        if setting == "off":
            raise
        shell.line(str(error))
        what = "dprintf" if form else "hw breakpoint" if hardware else "breakpoint"
        what = "tracepoint" if kind is Tracepoint else what
        question = f"Make {what} pending on future code object load?"
        if setting == "auto":
            if not shell.interactive:
                shell.line(f"{question} (y or [n]) [answered N; input not from terminal]")
                return False
            if not shell.confirm(question, unless=True):
                return False
        pending = True
    tail = parse_tail(wanted.tail, session.inferior.running)
    session.focus.check_exists(tail.thread, tail.lane)
    if hardware and not pending and not session.inferior.running:
        raise CommandError("No hardware breakpoint support in the target.")
    made = session.break_at(
        wanted.location, places=None if pending else found, condition=tail.condition, temporary=temporary,
        hardware=hardware, thread=tail.thread, lane=tail.lane, force=tail.force, pending=pending,
        form=DynamicPrintf if form else kind,
    )
    if isinstance(made, DynamicPrintf):
        made.format, made.once_per_wave = form, once_per_wave
        made.arguments = numbers_printed(form)
    note_others(shell, made.locations, made)
    for warning in session.warnings.take():
        shell.warn(warning)
    shell.line(announce(shell, made))
    return True


def _set_in_host(shell: Shell, wanted: Wanted, temporary: bool) -> bool:
    """Set a breakpoint in the host code of a whole program, if its location is there."""
    tail = parse_tail(wanted.tail, False)
    made = shell.session.break_in_host(wanted.location or "*$pc", condition=tail.condition, temporary=temporary)
    if made is None:
        return False
    if tail.thread is not None:
        shell.session.breakpoints.delete(made.number)
        raise CommandError("A breakpoint in host code cannot be limited to a thread.")
    shell.line(announce(shell, made))
    return True


MOST_NOTED = 50
"""Limit on breakpoints listed in the note about others at the same place: with a thousand, each would list all before
it.
"""


def note_others(shell: Shell, places: Sequence[BreakpointLocation], made: Breakpoint | None = None) -> None:
    """``Note: breakpoint 1 also set at pc 0x1139.`` for the places of ``made``; not in scripts."""
    if not shell.at_prompt:
        return
    for where in places:
        rows, others = shell.session.breakpoints.sharing(where, MOST_NOTED)
        all_threads = made is not None and made.thread is not None
        same = [
            str(row.number) if row.enabled and row.thread is None and not all_threads else _noted(row, all_threads)
            for row in rows
            if row is not made
        ]
        others -= made is not None and made not in rows
        if others > 0:
            same.append(f"{others} more")
        if same:
            *most, last = same
            names = f"{', '.join(most)} and {last}" if most else last
            shell.line(f"Note: breakpoint{'s' if most else ''} {names} also set at pc {where.address:#x}.")


def _noted(row: Breakpoint, all_threads: bool) -> str:
    """Return text such as ``1 (thread 2) (disabled)``. With ``all_threads``, a breakpoint that applies to all threads
    gets ``(all threads)``.
    """
    thread = f" (thread {row.thread})" if row.thread is not None else " (all threads)" if all_threads else ""
    return f"{row.number}{thread}{'' if row.enabled else ' (disabled)'}"


def announce(shell: Shell, made: Breakpoint) -> str:
    """``Breakpoint 1 at 0x1139: file t.hip, line 5.``"""
    kind = "Temporary breakpoint" if made.temporary else "Breakpoint"
    if isinstance(made, DynamicPrintf):
        kind = "Dprintf"
    elif isinstance(made, Tracepoint):
        kind = "Tracepoint"
    elif made.hardware:
        kind = "Hardware assisted breakpoint"
    if isinstance(made, HostBreakpoint):
        there = made.place
        text = f"{kind} {made.number} at {there.address:#x}"
        if there.count > 1:
            return f"{text}: {made.text}. ({there.count} locations)"
        return f"{text}: file {there.file}, line {there.line}." if there.file else text
    if not made.locations:
        return f"{kind} {made.number} ({made.text}) pending."
    first, *more = made.locations
    place = first.location
    text = f"{kind} {made.number}"
    if shell.session.settings.print.address or place.file is None:
        text += f" at {first.address:#x}"
    if place.file is not None:
        text += f": {made.text}." if more else f": file {shown_name(shell, place.file)}, line {place.line}."
    return f"{text} ({len(more) + 1} locations)" if more else text


@command(
    "break", category=BREAKPOINTS, aliases=("b", "br", "bre", "brea"), usage=f"break {WHERE_AND_WHEN}", args=STOP
)
def break_(shell: Shell, wanted: Wanted) -> None:
    """Set breakpoint at specified location.

    LOCATION is a function, FILE:LINE, a line of the current file, *ADDRESS, +OFFSET or -OFFSET; by default, the
    selected frame's position. CONDITION is evaluated for each active lane: the stop lists the lanes for which it was
    true. "thread N" stops only that wave, "thread N:LANE" only when that lane is among those that hit.
    """
    set_breakpoint(shell, wanted, temporary=False)


@command(
    "tbreak", category=BREAKPOINTS, aliases=("tb", "tbr"), usage=f"tbreak {WHERE_AND_WHEN}", args=STOP
)
def tbreak(shell: Shell, wanted: Wanted) -> None:
    """Set a temporary breakpoint.

    Like "break", but the breakpoint is deleted when it is hit.
    """
    set_breakpoint(shell, wanted, temporary=True)


@command("hbreak", category=BREAKPOINTS, usage=f"hbreak {WHERE_AND_WHEN}", args=STOP)
def hbreak(shell: Shell, wanted: Wanted) -> None:
    """Set a hardware assisted breakpoint.

    Same as "break": on the simulated target, all breakpoints are alike.
    """
    set_breakpoint(shell, wanted, temporary=False, hardware=True)


@command("thbreak", category=BREAKPOINTS, usage=f"thbreak {WHERE_AND_WHEN}", args=STOP)
def thbreak(shell: Shell, wanted: Wanted) -> None:
    """Set a temporary hardware assisted breakpoint.

    Same as "tbreak": on the simulated target, all breakpoints are alike.
    """
    set_breakpoint(shell, wanted, temporary=True, hardware=True)


@command(
    "rbreak", category=BREAKPOINTS, usage="rbreak [FILE:]REGEXP",
    args=Arguments(optional("pattern", text_of("[FILE:]REGEXP", Completes.EXPRESSION), "")),
)
def rbreak(shell: Shell, pattern: str) -> None:
    """Set a breakpoint for all functions matching REGEXP.

    With FILE, only functions of that file are searched. Shows each breakpoint, and the declaration of its function.
    """
    file, expression = None, pattern
    before, colon, after = pattern.partition(":")
    if colon and not after.startswith(":") and not before.endswith("\\"):
        file, expression = before.strip(), after.strip()
    symbols = shell.session.symbols
    if file is not None and not any(known.matches(file) for known in symbols.sources()):
        raise CommandError(f"No source file named {file}.")
    table = shell.session.breakpoints
    last = table.last_number
    for row in symbols.functions(expression):
        if row.function is None or (file is not None and (row.file is None or not row.file.matches(file))):
            continue
        name = row.function.linkage_name or row.function.qualified_name or ""
        quoted = name if name.isidentifier() else f"'{name}'"
        location = f"{row.file.path}:{quoted}" if row.file is not None else name
        if set_breakpoint(shell, Wanted(location), temporary=False):
            shell.line(row.text)
    for plain in symbols.plain_symbols(expression) if file is None else ():
        if set_breakpoint(shell, Wanted(f"'{plain.name}'"), temporary=False):
            shell.line(f"<function, no debug info> {plain.name};")
    if table.last_number != last:
        table.before_last = last


@command("delete", category=BREAKPOINTS, aliases=("d", "del", "delete breakpoints"), args=NUMBERS)
def delete(shell: Shell, numbers: str) -> None:
    """Delete all or some breakpoints.

    Arguments are breakpoint numbers with spaces in between, or ranges. To delete all breakpoints, give no argument.
    """
    table = shell.session.breakpoints
    if numbers:
        each_breakpoint(shell, numbers, table.delete)
    elif list(table) and shell.confirm("Delete all breakpoints?"):
        table.clear()


@command("clear", category=BREAKPOINTS, args=Arguments(optional("location", LOCATION, "")))
def clear(shell: Shell, location: str) -> None:
    """Clear breakpoint at specified location.

    The default location is the line that was shown last.
    """
    session = shell.session
    if location:
        gone = _clear_places(shell, location)
    else:
        shown = session.places.position.shown
        if shown is None or shown.file is None:
            raise CommandError("No source file specified.")
        gone = session.breakpoints.clear_lines([(shown.file, shown.line or 0)])
    if not gone:
        raise CommandError(f"No breakpoint at {location}." if location else "No breakpoint at this line.")
    plural = "s" if len(gone) > 1 else ""
    if shell.at_prompt:
        shell.line(f"Deleted breakpoint{plural} {' '.join(map(str, gone))} ")


def _clear_places(shell: Shell, location: str) -> list[int]:
    """A line's breakpoints are those at that line; a function's or an address's those at the same address."""
    session = shell.session
    if isinstance(parse_spec(location), LineSpec):
        places = session.places.source_lines(location)
        return session.breakpoints.clear_lines([(place.file, place.line) for place in places])
    return session.breakpoints.clear_at(place.address for place in session.places.resolve(location))


@command(
    "enable", category=BREAKPOINTS, aliases=("en", "enable breakpoints"),
    args=Arguments(optional("places", text_of("N...", Completes.BREAKPOINT), "")),
)
def enable(shell: Shell, places: str) -> None:
    """Enable all or some breakpoints.

    Arguments are breakpoint numbers, ranges, or N.M for one of several locations.
    """
    _switch(shell, places, True)


def _switch(shell: Shell, text: str, enabled: bool) -> None:
    table = shell.session.breakpoints
    if not text:
        for row in table:
            table.enable(row.number, enabled)
        return
    for numbers, locations in places_of(shell, text):
        # N.1 is N itself if it has only one location
        if locations is None or (locations == range(1, 2) and not _has_several(table, numbers[0])):
            for number in numbers:
                act_on(shell, number, lambda number: table.enable(number, enabled))
            continue
        [number] = numbers
        if number not in table:
            raise CommandError(f"Bad breakpoint number '{number}'")
        for location in locations:
            table.enable(number, enabled, location)


def _has_several(table: BreakpointTable, number: int) -> bool:
    return number in table and len(table.get(number).locations) > 1


@command("enable once", category=BREAKPOINTS, aliases=("enable breakpoints once",), args=NUMBERS)
def enable_once(shell: Shell, numbers: str) -> None:
    """Enable some breakpoints for one hit.

    Each of them is disabled when it stops the program.
    """
    _enable_until(shell, numbers, Disposition.DISABLE, 1)


@command("enable delete", category=BREAKPOINTS, aliases=("enable breakpoints delete",), args=NUMBERS)
def enable_delete(shell: Shell, numbers: str) -> None:
    """Enable some breakpoints and delete when hit."""
    _enable_until(shell, numbers, Disposition.DELETE, 0)


@command(
    "enable count", category=BREAKPOINTS, aliases=("enable breakpoints count",), usage="enable count COUNT N...",
    args=Arguments(optional("text", text_of("COUNT N..."), "")),
)
def enable_count(shell: Shell, text: str) -> None:
    """Enable some breakpoints for COUNT hits.

    After COUNT hits they are disabled.
    """
    if not text:
        raise CommandError("Argument required (hit count).")
    count, numbers = read_number(shell, text)
    _enable_until(shell, numbers, Disposition.DISABLE, count)


def _enable_until(shell: Shell, numbers: str, disposition: Disposition, count: int) -> None:
    table = shell.session.breakpoints
    each_breakpoint(shell, numbers, lambda number: table.enable_until(number, disposition, count))


@command(
    "disable", category=BREAKPOINTS, aliases=("dis", "disa", "disable breakpoints"),
    args=Arguments(optional("places", text_of("N...", Completes.BREAKPOINT), "")),
)
def disable(shell: Shell, places: str) -> None:
    """Disable all or some breakpoints.

    Arguments are breakpoint numbers, ranges, or N.M for one of several locations.
    """
    _switch(shell, places, False)


@command(
    "condition", category=BREAKPOINTS, usage="condition [-force] N [COND]",
    args=Arguments(optional("text", text_of("[-force] N [COND]", Completes.EXPRESSION, ("-force",)), "")),
)
def condition(shell: Shell, text: str) -> None:
    """Specify breakpoint number N to break only if COND is true.

    Without an expression the breakpoint becomes unconditional. With -force the condition is accepted even where it has
    no meaning: the breakpoint's locations there are disabled.
    """
    if not text:
        raise CommandError("Argument required (breakpoint number).")
    word, _, rest = text.partition(" ")
    force = len(word) > 1 and "-force".startswith(word)
    number, expression = read_number(shell, rest.strip() if force else text)
    if number == 0:
        raise CommandError(f"Bad breakpoint argument: '{text}'")
    made = shell.session.breakpoints.get(number)
    was_invalid = [place for place in made.locations if place.invalid]
    shell.session.set_condition(number, expression or None, force)
    for place in was_invalid:
        if not place.invalid:
            shell.line(f"Breakpoint {number}'s condition is now valid at location {place.number}, enabling.")
    if not expression and shell.at_prompt:
        shell.line(f"Breakpoint {number} now unconditional.")


@command(
    "ignore", category=BREAKPOINTS, usage="ignore N COUNT",
    args=Arguments(optional("text", text_of("N COUNT", Completes.BREAKPOINT), "")),
)
def ignore(shell: Shell, text: str) -> None:
    """Set ignore-count of breakpoint number N to COUNT."""
    if not text:
        raise CommandError("Argument required (a breakpoint number).")
    number, rest = read_number(shell, text)
    if number == 0:
        raise CommandError(f"bad breakpoint number: '{text}'")
    if not rest:
        raise CommandError("Second argument (specified ignore-count) is missing.")
    count = max(0, shell.session.data.integer(rest))
    if number in shell.session.breakpoints and isinstance(shell.session.breakpoints.get(number), Tracepoint):
        shell.line(f"Ignore count ignored for tracepoint {number}.")
        return
    shell.session.breakpoints.set_ignore(number, count)
    if shell.at_prompt:
        shell.line(ignore_words(number, count))


def ignore_words(number: int, count: int) -> str:
    """The message about the next crossings of a breakpoint."""
    if count == 0:
        return f"Will stop next time breakpoint {number} is reached."
    return f"Will ignore next {'crossing' if count == 1 else f'{count} crossings'} of breakpoint {number}."


@command(
    "commands", category=BREAKPOINTS, repeat=Repeat.NEVER, args=Arguments(optional("parts", PARTS))
)
def commands(shell: Shell, parts: list[str] | None) -> None:
    """Set commands to be executed when the given breakpoints are hit.

    The commands follow, one per line; end with a line of just "end". Without a number, they are for the last
    breakpoint. "silent" as the first command keeps the stop from being shown.
    """
    raise CommandError('This command takes a block of lines that ends with "end".')
