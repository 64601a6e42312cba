"""Commands that inspect the data of tracepoints: tfind, tdump."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rocdbg.addresses import LoadedAddress
from rocdbg.cli.argument_kinds import text_of
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_registry import CommandError, Completes, command
from rocdbg.cli.commands.tracing import TRACEPOINTS, tracing_of
from rocdbg.cli.frame_lines import show_frame
from rocdbg.cli.register_tables import register_lines
from rocdbg.debugger import lane_list, lane_ranges
from rocdbg.debugger.expr.parsing.parser import split_arguments
from rocdbg.debugger.reports.session_tables import RegisterRow
from rocdbg.debugger.values.format_letters import Format
from rocdbg.debugger.values.value import Value

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.breakpoints.tracepoints.trace_buffer import TraceFrame

PLACE = Arguments(optional("text", text_of("ADDRESS", Completes.EXPRESSION), ""))
RANGE = Arguments(optional("text", text_of("ADDR1, ADDR2", Completes.EXPRESSION), ""))
_REGISTER = re.compile(r"\$(?:pc|exec|vcc|m0|scc|mode|[sva]\d+)")
NOT_FOUND = "Target failed to find requested trace frame."


def _find(shell: Shell, number: int) -> None:
    """Select a frame; -1 deselects it."""
    from rocdbg.debugger.time.time_control import look_at  # imported late: few sessions trace

    session, tracing = shell.session, tracing_of(shell)
    before = session.focus.frame() if session.inferior.running and session.focus.current.thread is not None else None
    frame = tracing.buffer.frame(number) if number >= 0 else None
    known = look_at(tracing, session.time, frame, session.focus.current)
    session.convenience.set_int("trace_frame", number)
    session.convenience.set_int("tracepoint", frame.layout.tracepoint if frame is not None else -1)
    program = session.inferior.programs.at(LoadedAddress(frame.layout.pc)) if frame is not None else None
    row = program.line_at(LoadedAddress(frame.layout.pc)) if program is not None and frame is not None else None
    session.convenience.set_int("trace_line", row.line if row is not None else -1)
    if frame is not None and not known:
        shell.warn('This run was not recorded: only the collected data can be shown, with "tdump".')
    if not _asked(shell):
        return
    if frame is None:
        shell.line("No longer looking at any trace frame")
    else:
        shell.line(f"Found trace frame {number}, tracepoint {frame.layout.tracepoint}")
    if known and session.inferior.running:
        now = session.focus.frame()
        same = before is not None and before.function == now.function and before.scope.thread == now.scope.thread
        show_frame(shell, now, what="source-line" if same else "source-and-location")
        shell.show_displays()


def _asked(shell: Shell) -> bool:
    """Whether output is expected: loops and scripts read $trace_frame instead."""
    return shell.typed and not shell.state.depth and not shell.state.source_depth


def _next(shell: Shell, wanted: Callable[[int, int], bool]) -> None:
    """Select the next frame whose tracepoint and pc satisfy a predicate."""
    tracing = tracing_of(shell)
    tracing.need_stopped()
    rows = zip(tracing.buffer.numbers().tolist(), tracing.buffer.pcs().tolist(), strict=True)
    _found(shell, tracing.following([wanted(number, pc) for number, pc in rows]))


def _found(shell: Shell, number: int) -> None:
    """Select a frame; if there is none, a typed command fails, and a script's search ends."""
    if 0 <= number < len(tracing_of(shell).buffer):
        _find(shell, number)
    elif _asked(shell):
        raise CommandError(NOT_FOUND)
    else:
        _find(shell, -1)


@command(
    "tfind", category=TRACEPOINTS, usage="tfind [N|-]",
    args=Arguments(optional("text", text_of("N|-", Completes.EXPRESSION), "")),
)
def tfind(shell: Shell, text: str) -> None:
    """Select a trace frame.

    No argument means forward by one frame; '-' means backward by one frame. If the run was recorded, the program goes
    back to where the frame was collected, with all its waves and memory: all commands then show the state at that time.
    "tfind none" returns.
    """
    tracing = tracing_of(shell)
    tracing.need_stopped()
    if text == "-":
        if tracing.selected < 0:
            raise CommandError("not debugging trace buffer")
        if tracing.selected == 0:
            raise CommandError("already at start of trace buffer")
        _find(shell, tracing.selected - 1)
        return
    number = shell.session.data.integer(text) if text else tracing.selected + 1
    if number < -1:
        raise CommandError(f"invalid input ({number} is less than zero)")
    if number == -1:
        _find(shell, -1)
    else:
        _found(shell, number)


@command("tfind start", category=TRACEPOINTS, args=Arguments())
def tfind_start(shell: Shell) -> None:
    """Select the first trace frame in the trace buffer."""
    tracing_of(shell).need_stopped()
    _found(shell, 0)


@command("tfind end", category=TRACEPOINTS, aliases=("tfind none",), args=Arguments())
def tfind_end(shell: Shell) -> None:
    """De-select any trace frame and resume 'live' debugging."""
    tracing_of(shell).need_stopped()
    _find(shell, -1)


@command("tfind pc", category=TRACEPOINTS, args=PLACE)
def tfind_pc(shell: Shell, text: str) -> None:
    """Select a trace frame by PC.

    Default is the current PC, or the PC of the current trace frame.
    """
    tracing = tracing_of(shell)
    if text:
        address = shell.session.data.integer(text)
    elif tracing.selected >= 0:
        address = tracing.frame().layout.pc
    else:
        address = int(shell.session.focus.frame().pc)
    _next(shell, lambda number, pc: pc == address)


@command(
    "tfind tracepoint", category=TRACEPOINTS,
    args=Arguments(optional("text", text_of("N", Completes.BREAKPOINT), "")),
)
def tfind_tracepoint(shell: Shell, text: str) -> None:
    """Select a trace frame by tracepoint number.

    Default is the tracepoint for the current trace frame.
    """
    tracing = tracing_of(shell)
    if not text and tracing.selected < 0:
        raise CommandError("No current tracepoint -- please supply an argument.")
    wanted = shell.session.data.integer(text) if text else tracing.frame().layout.tracepoint
    _next(shell, lambda number, pc: number == wanted)


@command(
    "tfind line", category=TRACEPOINTS,
    args=Arguments(optional("text", text_of("LINE", Completes.LOCATION), "")),
)
def tfind_line(shell: Shell, text: str) -> None:
    """Select a trace frame by source line.

    Argument can be a line number (with optional source file), a function name, or '*' followed by an address. Default
    argument is 'the next source line that was traced'.
    """
    session = shell.session
    if text:
        places = session.places.resolve(text)
        lines = {(place.file.path, place.line) for place in places if place.file is not None}
        if not lines:
            raise CommandError(f"No line number information available for \"{text}\".")
        _next(shell, lambda number, pc: _line_of(shell, pc) in lines)
        return
    tracing = tracing_of(shell)
    here = tracing.frame().layout.pc if tracing.selected >= 0 else int(session.focus.frame().pc)
    line = _line_of(shell, here)
    _next(shell, lambda number, pc: _line_of(shell, pc) != line)


def _line_of(shell: Shell, pc: int) -> tuple[str, int] | None:
    row = shell.session.inferior.programs.at(LoadedAddress(pc)).line_at(LoadedAddress(pc))
    return (row.file.path, row.line) if row is not None else None


def _bounds(shell: Shell, text: str, name: str) -> tuple[int, int]:
    parts = split_arguments(text)
    if not parts:
        raise CommandError(f"Usage: tfind {name} STARTADDR, ENDADDR")
    first = shell.session.data.integer(parts[0])
    return first, shell.session.data.integer(parts[1]) if len(parts) > 1 else first + 1


@command("tfind range", category=TRACEPOINTS, usage="tfind range ADDR1, ADDR2", args=RANGE)
def tfind_range(shell: Shell, text: str) -> None:
    """Select a trace frame whose PC is in the given range (inclusive)."""
    low, high = _bounds(shell, text, "range")
    _next(shell, lambda number, pc: low <= pc <= high)


@command("tfind outside", category=TRACEPOINTS, usage="tfind outside ADDR1, ADDR2", args=RANGE)
def tfind_outside(shell: Shell, text: str) -> None:
    """Select a trace frame whose PC is outside the given range (exclusive)."""
    low, high = _bounds(shell, text, "outside")
    _next(shell, lambda number, pc: not low <= pc <= high)


# -- collected data


@command("tdump", category=TRACEPOINTS, args=Arguments())
def tdump(shell: Shell) -> None:
    """Print everything collected at the current tracepoint.

    The data is that of the focused lane if it was collected, otherwise that of the first collected lane.
    """
    tracing, focus = tracing_of(shell), shell.session.focus.current
    frame = tracing.frame()
    shell.line(f"Data collected at tracepoint {frame.layout.tracepoint}, trace frame {frame.number}:")
    lane = focus.lane if focus.thread == frame.thread and focus.lane is not None else -1
    if lane < 0 or not frame.lanes >> lane & 1:
        lane = lane_list(frame.lanes)[0]
        shell.line(f"(thread {frame.thread}, lane {lane} of [{lane_ranges(frame.lanes)}])")
    registers = _registers(shell, frame)
    rows: list[RegisterRow] = []
    for column in frame.layout.columns:
        data = tracing.buffer.contents(frame, column, lane)
        if data is None:
            shell.line(f"{column.name} = <{column.absent.strip('<>') or 'unavailable'}>")
            continue
        value = Value(column.type, data=data)
        text = shell.session.data.format(value)
        if registers and _REGISTER.fullmatch(column.name):
            raw = shell.session.data.format(value, Format("x"))
            rows.append(RegisterRow(column.name[1:], value, raw, text))
        else:
            shell.line(f"{column.name} = {text}")
    for line in register_lines(rows) if rows else ():
        shell.line(line)


def _registers(shell: Shell, frame: TraceFrame) -> Sequence[str]:
    """Whether registers were collected by $regs: they are shown as by ``info registers``."""
    tracing = tracing_of(shell)
    made = [one for one in tracing.tracepoints() if one.number == frame.layout.tracepoint]
    return [action.text for one in made for action in tracing.actions_of(one) if action.text == "$regs"]
