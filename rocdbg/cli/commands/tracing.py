"""Commands about tracepoints: trace, actions, tstart, tstop, tstatus, tvariable and the settings of an experiment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import FILE, text_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.breakpoint_numbers import each_breakpoint, numbers_of
from rocdbg.cli.command_registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.commands.breakpoint_tables import save, show_breakpoints
from rocdbg.cli.commands.breakpoints import STOP, WHERE_AND_WHEN, Wanted, set_breakpoint
from rocdbg.cli.number_words import as_digits
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Tracepoint, parse_actions, parse_pass_count
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import Tracing

TRACEPOINTS = Category.TRACEPOINTS
ONLY_THERE = "This command can only be used in a tracepoint actions list."
TEXT = Arguments(optional("text", text_of("EXPRESSION, ...", Completes.EXPRESSION), ""))
NOTES = Arguments(optional("notes", text_of("NOTES"), ""))
NUMBERS = Arguments(optional("numbers", text_of("N...", Completes.BREAKPOINT), ""))
_VARIABLE = re.compile(r"\$(\w*)\s*(?:=\s*(.*))?", re.DOTALL)


def tracing_of(shell: Shell) -> Tracing:
    """The trace experiment of the session."""
    return shell.session.tracing


# -- tracepoints


@command(
    "trace", category=Category.BREAKPOINTS, aliases=("tp", "tr", "tra", "trac"), usage=f"trace {WHERE_AND_WHEN}",
    args=STOP,
)
def trace(shell: Shell, wanted: Wanted) -> None:
    """Set a tracepoint at specified location.

    LOCATION and CONDITION are as for "break". While a trace experiment runs ("tstart"), its "actions" collect data for
    each arriving lane for which the condition is true; the program does not stop.
    """
    if set_breakpoint(shell, wanted, temporary=False, kind=Tracepoint):
        shell.session.convenience.set_int("tpnum", shell.session.breakpoints.last_number)


@command(
    "actions", category=TRACEPOINTS, repeat=Repeat.NEVER,
    args=Arguments(optional("number", text_of("N", Completes.BREAKPOINT), "")),
)
def actions(shell: Shell, number: str) -> None:
    """Specify the actions to be taken at a tracepoint.

    They follow, one per line; end with a line of just "end". Without a number, they are for the last tracepoint.
    "collect EXPRESSION, ..." collects values, "teval EXPRESSION, ..." evaluates without collecting anything.
    """
    raise CommandError('This command takes a block of lines that ends with "end".')


def actions_head(shell: Shell, keyword: str, number: str) -> None:
    """Checks a block of actions before its lines are read. Raises a `rocdbg.Error`."""
    if keyword != "actions":
        raise CommandError(ONLY_THERE)
    made = tracepoint_named(shell, number)
    if shell.interactive:
        shell.line(f'Enter actions for tracepoint {made.number}, one per line.\nEnd with a line saying just "end".')


def tracepoint_named(shell: Shell, number: str) -> Tracepoint:
    """A tracepoint by number, or the last one. Raises `CommandError`."""
    table = shell.session.breakpoints
    made = [one for one in table if isinstance(one, Tracepoint)]
    if not number:
        if not made:
            raise CommandError("No previous tracepoint")
        return made[-1]
    digits = as_digits(shell, number)
    if not digits.isdecimal():
        raise CommandError(f"bad tracepoint number at or near '{number}'")
    found = next((one for one in made if one.number == int(digits)), None)
    if found is None:
        raise CommandError(f"No tracepoint number {digits}.")
    return found


@command("collect", category=TRACEPOINTS, repeat=Repeat.NEVER, args=TEXT)
def collect(shell: Shell, text: str) -> None:
    """Specify one or more data items to be collected at a tracepoint.

    Accepts expressions, with commas in between, and
        $regs   -- pc, exec, vcc, m0, scc, mode, all scalar registers, the lane's part of all vector registers;
        $args   -- all function arguments;
        $locals -- all variables local to the block/function scope.
    For a vector register ($v3) the lane's part is collected. Note: this command can only be used in a tracepoint
    "actions" list.
    """
    raise CommandError(ONLY_THERE)


@command("teval", category=TRACEPOINTS, repeat=Repeat.NEVER, args=TEXT)
def teval(shell: Shell, text: str) -> None:
    """Specify one or more expressions to be evaluated at a tracepoint.

    The result of each evaluation will be discarded: the purpose is to change trace state variables. Such a tracepoint
    is slow, because waves have to stop for it. Note: this command can only be used in a tracepoint "actions" list.
    """
    raise CommandError(ONLY_THERE)


@command("while-stepping", category=TRACEPOINTS, aliases=("stepping", "ws"), repeat=Repeat.NEVER, args=TEXT)
def while_stepping(shell: Shell, text: str) -> None:
    """Specify single-stepping behavior at a tracepoint.

    It is not supported: set tracepoints on later instructions, or go back to a trace frame and step there.
    """
    raise CommandError(ONLY_THERE)


@command(
    "passcount", category=TRACEPOINTS, repeat=Repeat.NEVER, usage="passcount COUNT [N|all]",
    args=Arguments(optional("text", text_of("COUNT [N|all]", Completes.BREAKPOINT), "")),
)
def passcount(shell: Shell, text: str) -> None:
    """Set the passcount for a tracepoint.

    The trace will end when the tracepoint has been passed COUNT times, by any waves; 0: no limit. The default is the
    last tracepoint.
    """
    count, rest = parse_pass_count(text)
    wanted = [one for one in shell.session.breakpoints if isinstance(one, Tracepoint)]
    for made in wanted if rest == "all" else [tracepoint_named(shell, rest)]:
        made.pass_count = count
        shell.line(f"Setting tracepoint {made.number}'s passcount to {count}")


@command("info tracepoints", category=Category.STATUS, aliases=("info tp",), args=NUMBERS)
def info_tracepoints(shell: Shell, numbers: str) -> None:
    """Status of specified tracepoints (all tracepoints if no argument).

    Convenience variable "$tpnum" contains the number of the last tracepoint set.
    """
    rows = [one for one in shell.session.breakpoints if isinstance(one, Tracepoint)]
    if numbers:
        wanted = set(numbers_of(shell, numbers))
        rows = [one for one in rows if one.number in wanted]
    if not rows:
        shell.line(f"No tracepoint matching '{numbers}'." if numbers else "No tracepoints.")
        return
    show_breakpoints(shell, rows)


@command("delete tracepoints", category=Category.BREAKPOINTS, aliases=("delete tr",), args=NUMBERS)
def delete_tracepoints(shell: Shell, numbers: str) -> None:
    """Delete specified tracepoints.

    Arguments are tracepoint numbers, separated by spaces. No argument means delete all tracepoints.
    """
    table = shell.session.breakpoints
    made = [one.number for one in table if isinstance(one, Tracepoint)]

    def remove(number: int) -> None:
        table.get(number)
        if number in made:
            table.delete(number)

    if numbers:
        each_breakpoint(shell, numbers, remove)
    elif made and shell.confirm("Delete all tracepoints?"):
        for number in made:
            table.delete(number)


@command(
    "save tracepoints", category=Category.BREAKPOINTS,
    args=Arguments(required("file", FILE, "Argument required (file name in which to save)")),
)
def save_tracepoints(shell: Shell, file: str) -> None:
    """Save current tracepoint definitions as a script.

    "source" reads it.
    """
    save(shell, [one for one in shell.session.breakpoints if isinstance(one, Tracepoint)], file)


# -- experiments


@command("tstart", category=TRACEPOINTS, repeat=Repeat.NEVER, usage="tstart [NOTES]...", args=NOTES)
def tstart(shell: Shell, notes: str) -> None:
    """Start trace data collection.

    Any arguments supplied are recorded with the trace as a note and reported by tstatus. Earlier data is discarded. It
    may be started before the program.
    """
    from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import (  # late: few sessions trace
        MAX_BYTES,
        TraceOptions,
    )

    tracing = tracing_of(shell)
    if tracing.status.running and not shell.confirm("A trace is running already.  Start a new run?"):
        raise CommandError("New trace run not started.")
    size = int(str(shell.settings.get("trace-buffer-size", -1)))
    default = str(shell.settings.get("default-collect", ""))
    collected = tuple(parse_actions(f"collect {default}")) if default.strip() else ()
    tracing.start(TraceOptions(
        MAX_BYTES if size < 0 else min(size, MAX_BYTES), bool(shell.settings.get("circular-trace-buffer", False)),
        collected, notes or str(shell.settings.get("trace-notes", "")),
    ))
    for name, value in tracing.variables.items():
        shell.session.convenience.set(name, Value.of_int(c_types.LONG, value))
    for name in ("trace_frame", "tracepoint", "trace_line"):
        shell.session.convenience.set_int(name, -1)


@command("tstop", category=TRACEPOINTS, repeat=Repeat.NEVER, usage="tstop [NOTES]...", args=NOTES)
def tstop(shell: Shell, notes: str) -> None:
    """Stop trace data collection.

    Any arguments supplied are recorded with the trace as a stop reason and reported by tstatus.
    """
    notes = notes or str(shell.settings.get("trace-stop-notes", ""))
    tracing_of(shell).stop(f"by a tstop command{f' ({notes})' if notes else ''}")


@command("tstatus", category=TRACEPOINTS, args=Arguments())
def tstatus(shell: Shell) -> None:
    """Display the status of the current trace data collection."""
    tracing = tracing_of(shell)
    status, buffer = tracing.status, tracing.buffer
    if status.running:
        shell.line("Trace is running on the target.")
    else:
        shell.line(f"Trace stopped {status.why}." if status.why else "No trace has been run on the target.")
    frames = len(buffer)
    if frames != status.created:
        shell.line(f"Buffer contains {frames} trace frames (of {status.created} created total).")
    else:
        shell.line(f"Collected {frames} trace frames.")
    size = tracing.options.size
    free = size - 8 * buffer.words
    full = f" ({(size - free) * 100 // size}% full)" if size else ""
    shell.line(f"Trace buffer has {free} bytes of {size} bytes free{full}.")
    if tracing.options.circular:
        shell.line("Trace buffer is circular.")
    if tracing.options.notes:
        shell.line(f"Trace notes: {tracing.options.notes}.")
    if tracing.selected >= 0:
        frame = tracing.frame()
        shell.line(f"Looking at trace frame {tracing.selected}, tracepoint {frame.layout.tracepoint}.")
    else:
        shell.line("Not looking at any trace frame.")
    if status.started:
        ended = f", stopped {status.stopped - status.started:.6f} secs later" if status.stopped else ""
        shell.line(f"Trace started at {status.started:.6f} secs{ended}.")


# -- trace state variables


@command(
    "tvariable", category=TRACEPOINTS, repeat=Repeat.NEVER, usage="tvariable $NAME [= EXPRESSION]",
    args=Arguments(required(
        "text", text_of("$NAME [= EXPRESSION]", Completes.EXPRESSION),
        "Argument required (Syntax is $NAME [ = EXPR ]).",
    )),
)
def tvariable(shell: Shell, text: str) -> None:
    """Define a trace state variable.

    Argument is a $-prefixed name, optionally followed by '=' and an expression that sets the initial value at the
    start of tracing. "teval" changes its value.
    """
    if not text.startswith("$"):
        raise CommandError("Name of trace variable should start with '$'")
    match = _VARIABLE.fullmatch(text.strip())
    if match is None or match[2] == "":
        raise CommandError("Syntax must be $NAME [ = EXPR ]")
    name = match[1]
    if not name or name[0].isdecimal():
        raise CommandError("Must supply a non-empty variable name." if not name else
                           f"${name} is not a valid trace state variable name.")
    if shell.session.convenience.is_dynamic(name):
        raise CommandError(f"Trace state variable ${name} would hide a variable that rocdbg computes.")
    initial = shell.session.data.integer(match[2]) if match[2] is not None else 0
    variables = tracing_of(shell).variables
    known = name in variables
    variables[name] = initial
    words = "now has initial value" if known else "created, with initial value"
    shell.line(f"Trace state variable ${name} {words} {initial}.")


@command("info tvariables", category=Category.STATUS, args=Arguments())
def info_tvariables(shell: Shell) -> None:
    """Status of trace state variables and their values."""
    tracing = tracing_of(shell)
    if not tracing.variables:
        shell.line("No trace state variables.")
        return
    shell.line(f"{'Name':<15} {'Initial':<11} {'Current':<11} ")
    for name, initial in tracing.variables.items():
        known = tracing.status.started and name in shell.session.convenience
        current = str(shell.session.convenience.get(name).as_int()) if known else "<undefined>"
        shell.line(f"{'$' + name:<15} {initial:<11} {current:<11} ")


@command(
    "delete tvariable", category=Category.BREAKPOINTS, repeat=Repeat.NEVER,
    args=Arguments(optional("names", text_of("$NAME..."), "")),
)
def delete_tvariable(shell: Shell, names: str) -> None:
    """Delete one or more trace state variables.

    Arguments are the names of the variables to delete. If no arguments are supplied, delete all variables.
    """
    variables = tracing_of(shell).variables
    if not names:
        if shell.confirm("Delete all trace state variables?"):
            variables.clear()
        return
    for name in names.split():
        if not name.startswith("$"):
            raise CommandError(f"Name \"{name}\" not prefixed with '$', ignoring")
        if variables.pop(name[1:], None) is None:
            shell.warn(f'No trace variable named "{name}", not deleting')
