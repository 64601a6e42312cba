"""Commands that list or save breakpoints: info breakpoints, save breakpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import FILE, text_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.breakpoint_numbers import numbers_of
from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.cli.paths import expand, shown_name
from rocdbg.cli.text_columns import render
from rocdbg.debugger.breakpoints.breakpoint_table import Breakpoint, BreakpointLocation
from rocdbg.debugger.breakpoints.catchpoints import EventBreakpoint, HostCatchpoint
from rocdbg.debugger.breakpoints.dynamic_printf import DynamicPrintf
from rocdbg.debugger.breakpoints.host_breakpoints import HostBreakpoint
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Tracepoint
from rocdbg.debugger.breakpoints.watchpoints import Watchpoint

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


@command(
    "info breakpoints", category=Category.STATUS, aliases=("info b",),
    args=Arguments(optional("numbers", text_of("N...", Completes.BREAKPOINT), "")),
)
def info_breakpoints(shell: Shell, numbers: str) -> None:
    """Status of specified breakpoints (all user-settable breakpoints if no argument)."""
    rows = list(shell.session.breakpoints)
    if numbers and (rows or shell.session.inferior.target is not None):  # GDB has some of its own in a process
        wanted = set(numbers_of(shell, numbers))
        if not wanted or 0 in wanted:
            raise CommandError("Arguments must be numbers or '$' variables.")
        rows = [row for row in rows if row.number in wanted]
    if not rows:
        matching = f" matching '{numbers}'" if numbers else "s"
        shell.line(f"No breakpoint or watchpoint{matching}." if numbers else "No breakpoints or watchpoints.")
        return
    show_breakpoints(shell, rows)
    places = [where for row in rows if row.at_places for where in row.locations]
    if places:
        shell.state.next_examine = shell.session.examiner.go_to(places[-1].address)


def show_breakpoints(shell: Shell, rows: Sequence[Breakpoint]) -> None:
    """The table of breakpoints and watchpoints."""
    cells: list[tuple[str, ...]] = []
    notes: list[list[str]] = []
    for row in rows:
        head = (str(row.number), row.kind, row.disposition.value, "y" if row.enabled else "n")
        several = len(row.locations) > 1 or any(where.invalid or not where.enabled for where in row.locations)
        if isinstance(row, HostBreakpoint):
            cells.append((*head, f"{row.place.address:#018x}" if row.place.count < 2 else "<MULTIPLE>", _in_host(row)))
        elif not row.at_places:
            cells.append((*head, "", row.what if isinstance(row, EventBreakpoint) else row.text))
        elif not row.locations:
            cells.append((*head, "<PENDING>", row.text))
        elif several:
            cells.append((*head, "<MULTIPLE>", ""))
        else:
            where = row.locations[0]
            cells.append((*head, f"{where.address:#018x}", _what(shell, where)))
        if row.thread is not None and row.lane is None:
            cells[-1] = (*cells[-1][:-1], f"{cells[-1][-1]} thread {row.thread}")
        notes.append(_notes(shell, row))
        if several:
            for where in row.locations:
                enabled = "N*" if where.invalid else "y" if where.enabled else "n"
                number = f"{row.number}.{where.number}"
                cells.append((number, "", "", enabled, f"{where.address:#018x}", _what(shell, where)))
                notes.append([])
    running = shell.session.inferior.target is not None
    has_addresses = any(
        row.locations or isinstance(row, HostBreakpoint) or (running and isinstance(row, Watchpoint)) for row in rows
    )
    address = "Address           " if has_addresses else "Address   "
    titles = ["Num    ", "Type          ", "Disp", "Enb", address, "What"]
    if not shell.session.settings.print.address:
        del titles[4]
        cells = [(*row[:4], row[5]) for row in cells]
    shown = render(titles, cells, keep_blanks=True).split("\n")[:-1]
    shell.line(shown[0])
    for line, extra in zip(shown[1:], notes, strict=True):
        shell.line(line)
        for note in extra:
            shell.line(note)
    if any(where.invalid for row in rows for where in row.locations):
        shell.line("(*): Breakpoint condition is invalid at this location.")


def _in_host(row: HostBreakpoint) -> str:
    there = row.place
    if there.count > 1 or not there.function:
        return row.text
    return f"in {there.function} at {there.file}:{there.line}" if there.file else f"<{there.function}>"


def _what(shell: Shell, where: BreakpointLocation) -> str:
    place = where.location
    if place.label:
        return place.label
    if place.file is not None:
        described = place.function if place.code is not None else None  # GDB: not by symbols
        return f"{f'in {described} at ' if described else ''}{shown_name(shell, place.file)}:{place.line}"
    name = place.program.symbolize(place.address, data=False)
    return f"<{name}>" if name else ""


def _notes(shell: Shell, row: Breakpoint) -> list[str]:
    notes = []
    if row.condition:
        evaluator = shell.session.running.native.evaluated_by(row)
        verb = "trace" if isinstance(row, Tracepoint) else "stop"
        notes.append(f"\t{verb} only if {row.condition}{f' ({evaluator} evals)' if evaluator else ''}")
    if isinstance(row, HostCatchpoint) and row.argument:
        notes.append(f"\tmatching: {row.argument}")
    if row.thread is not None:
        lane = f":{row.lane}" if row.lane is not None else ""
        notes.append(f"\tstop only in thread {row.thread}{lane}")
    elif row.lane is not None:
        notes.append(f"\tstop only in lane {row.lane}")
    if row.hit_count:
        what = "breakpoint" if not isinstance(row, EventBreakpoint | Tracepoint) else (
            "catchpoint" if isinstance(row, EventBreakpoint) else "tracepoint"
        )
        notes.append(f"\t{what} already hit {row.hit_count} time{'s' if row.hit_count != 1 else ''}")
    if row.ignore_count:
        notes.append(f"\tignore next {row.ignore_count} hits")
    if row.enable_count > 1:
        notes.append(f"\tdisable after {'additional' if row.ignore_count else 'next'} {row.enable_count} hits")
    if isinstance(row, DynamicPrintf):
        notes.append(f"        printf {row.format}")
    actions = [f"        {line}" for line in row.commands]
    if not isinstance(row, Tracepoint):
        return notes + actions
    usage = shell.session.tracing.buffer.usage(row.number)
    if usage:
        notes.append(f"\ttrace buffer usage {usage} bytes")
    passes = [f"\tpass count {row.pass_count} "] if row.pass_count else []
    return [*notes, *actions, *passes, f"\t{'' if row.installed else 'not '}installed on target"]


@command(
    "save breakpoints", category=Category.BREAKPOINTS,
    args=Arguments(required("file", FILE, "Argument required (file name in which to save)")),
)
def save_breakpoints(shell: Shell, file: str) -> None:
    """Save current breakpoint definitions as a script.

    Use "source" to read the file.
    """
    save(shell, list(shell.session.breakpoints), file)


def save(shell: Shell, rows: Sequence[Breakpoint], file: str) -> None:
    """Write the commands that recreate breakpoints to a file."""
    if not rows:
        shell.line("warning: Nothing to save.")
        return
    path = expand(file)
    try:
        path.write_text("".join(line + "\n" for row in rows for line in _recreating(row)), encoding="utf-8")
    except OSError as error:
        raise CommandError(f"Unable to open file '{path}' for saving ({error.strerror})") from None
    shell.line(f"Saved to file '{path}'.")


def _recreating(row: Breakpoint) -> list[str]:
    """The commands that recreate a breakpoint."""
    if isinstance(row, Watchpoint):
        text = f"{ {'write': '', 'read': 'r', 'access': 'a'}[row.access] }watch {row.text}"
    elif isinstance(row, Tracepoint):
        text = f"trace {row.text}"
    elif isinstance(row, EventBreakpoint | DynamicPrintf):
        text = row.command
    else:
        text = f"{'t' if row.temporary else ''}{'h' if row.hardware else ''}break {row.text}"
    if row.thread is not None:
        text += f" thread {row.thread}"
    if row.lane is not None:
        text += f" lane {row.lane}"
    lines = [text]
    if row.condition:
        lines.append(f"  condition $bpnum {row.condition}")
    if row.ignore_count:
        lines.append(f"  ignore $bpnum {row.ignore_count}")
    if isinstance(row, Tracepoint) and row.pass_count:
        lines.append(f"  passcount {row.pass_count}")
    if row.commands:
        lines += ["  commands", *(f"    {line}" for line in row.commands), "  end"]
    if not row.enabled:
        lines.append("disable $bpnum")
    return lines + [f"disable $bpnum.{where.number}" for where in row.locations if not where.enabled]
