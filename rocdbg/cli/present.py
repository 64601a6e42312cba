"""Frames, source lines and stops as text: what every command that moves shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.highlight import shown_lines
from rocdbg.cli.internal import write_report_text
from rocdbg.cli.listing import write_instructions
from rocdbg.cli.writer import Styled
from rocdbg.debugger import lane_list, lane_ranges
from rocdbg.debugger.running.stops import StopEvent, StopReason
from rocdbg.debugger.values import ctypes
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.focus import Focus
    from rocdbg.debugger.frames.frames import Frame
    from rocdbg.debugger.values.value import Value


def argument_text(shell: Shell, value: Value) -> str:
    """An argument in a frame line: as `set print frame-arguments` says."""
    wanted = shell.session.settings.print.frame_arguments
    if wanted == "presence":
        return "..."
    if wanted == "scalars" and not ctypes.is_scalar(ctypes.referred(value.type)):
        return "..."
    try:
        return shell.session.data.format_nested(value)
    except Error as error:
        return f"<error: {error}>"


def frame_parts(shell: Shell, frame: Frame, number: bool, address: bool | None = None) -> Styled:
    """A frame line without its newline: ``#0  f (x=1) at k.hip:9``. ``address`` None: shown when in mid-line."""
    if number:
        yield "", f"#{frame.level:<2} "
    shown = frame.shows_address if address is None else address
    if shown and shell.session.settings.print.address:
        yield "address", f"{frame.pc:#018x}"
        yield "", " in "
    yield "function", frame.name or "??"
    yield "", " ("
    if shell.session.settings.print.frame_arguments != "none":
        for index, (name, value) in enumerate(shell.session.data.arguments(frame)):
            if index:
                yield "", ", "
            yield "variable", name
            yield "", f"={argument_text(shell, value)}"
    elif shell.session.data.arguments(frame):
        yield "", "..."
    yield "", ")"
    if frame.file is not None and frame.line is not None:
        yield "", " at "
        yield "file", frame.file.name
        yield "", f":{frame.line}"


def frame_text(shell: Shell, frame: Frame, number: bool = False) -> str:
    """`frame_parts` as plain text, for table cells."""
    return "".join(text for _, text in frame_parts(shell, frame, number))


def source_line(shell: Shell, frame: Frame, address: bool = False) -> None:
    """The source line a frame stands at: ``9\\t    y[i] = ...``; says why when there is none."""
    if frame.file is None or frame.line is None:
        next_instructions(shell, frame, has_source=False)
        return
    shell.state.last_listed = None
    if address and frame.shows_address and frame.level == 0:
        shell.out.styled([("address", f"{frame.pc:#018x}"), ("", "\t")])
    try:
        shell.session.sources.line(frame.file, frame.line)
    except Error as error:
        shell.line(str(error))
        next_instructions(shell, frame, has_source=False)
        return
    lines = shell.session.sources.text(frame.file).lines
    [text] = shown_lines(lines, frame.file.name, frame.line - 1, 1, shell.out.colour)
    shell.out.raw(f"{frame.line}\t{text}\n")
    next_instructions(shell, frame, has_source=True)


def next_instructions(shell: Shell, frame: Frame, has_source: bool) -> None:
    """`set disassemble-next-line`: what is left of the line (or the next instruction) as machine code."""
    wanted = shell.session.settings.disassemble_next_line
    if wanted == "off" or (wanted == "auto" and has_source):
        return
    end = frame.pc + 1
    if has_source and frame.row is not None:
        end = max(end, frame.program.to_loaded(frame.row.end_address))
    write_instructions(shell, shell.session.places.disassemble(frame.pc, end), True, None)


def show_frame(shell: Shell, frame: Frame, number: bool = True, source: bool = True) -> None:
    """A frame line and its source line, as `frame` and `up` show them."""
    shell.out.styled(frame_parts(shell, frame, number))
    shell.line()
    if source:
        source_line(shell, frame)


def lanes_phrase(mask: int) -> str:
    """``with lane 5`` or ``with lanes [0-31 40]``."""
    lanes = lane_list(mask)
    return f"with lane {lanes[0]}" if len(lanes) == 1 else f"with lanes [{lane_ranges(mask)}]"


def thread_title(shell: Shell, scope: Focus) -> str:
    """``Thread 1 "saxpy"``."""
    assert scope.thread is not None
    return f'Thread {scope.thread} "{shell.session.inferior.wave(scope.thread).kernel}"'


def switching(shell: Shell, scope: Focus) -> str:
    """``[Switching to thread 2, lane 5 (AMDGPU Lane ...)]``."""
    assert scope.thread is not None and scope.lane is not None
    wave = shell.session.inferior.wave(scope.thread)
    return f"[Switching to thread {scope.thread}, lane {scope.lane} ({wave.lane_target_id(scope.lane)})]"


def show_stop(shell: Shell, event: StopEvent) -> None:
    """What the user sees after a command that ran the program."""
    for warning in event.warnings:
        shell.warn(warning)
    if event.exit is not None:
        _show_exit(shell, event)
        return
    if event.scope.thread is None:
        _show_termination(shell, event)
        return
    if event.new_thread or event.new_lane:
        shell.line(switching(shell, event.scope))
    _show_reason(shell, event)
    frame = shell.session.focus.frame(event.scope)
    if event.new_frame:
        shell.out.styled(frame_parts(shell, frame, number=False))
        shell.line()
        source_line(shell, frame)
    elif frame.line is None:
        show_frame(shell, frame, number=False)
    else:
        source_line(shell, frame, address=True)
    if event.returned is not None:
        value = shell.session.data.format(event.returned)
        shell.line(f"Value returned is ${event.returned_number} = {value}")
    elif event.returned_type is not None:
        shell.line(f"Value returned has type: {event.returned_type}. Cannot determine contents")
    shell.show_displays()


def _show_reason(shell: Shell, event: StopEvent) -> None:
    title = thread_title(shell, event.scope)
    if event.reason is StopReason.BREAKPOINT:
        kind = "Temporary breakpoint" if event.temporary else "Breakpoint"
        lanes = f", {lanes_phrase(event.lanes)}" if event.lanes else ""
        place = f".{event.location}" if event.location is not None else ""
        shell.write(f"\n{title} hit {kind} {event.breakpoints[0]}{place}{lanes}, ")
    elif event.reason is StopReason.SIGNAL and event.signal is not None:
        shell.line(f"\n{title} received signal {event.signal.name}, {event.signal.description}.")
        if event.detail:
            shell.line(event.detail)
        if event.report and (path := write_report_text(event.report)) is not None:
            shell.line(f"A report is in {path}.")
    elif event.reason is StopReason.INTERRUPTED:
        shell.line(f"\n{title} received signal SIGINT, Interrupt.")
        if event.detail:
            shell.line(event.detail)
    elif event.reason is StopReason.BUDGET:
        budget = shell.session.settings.instruction_budget
        shell.line(f"\n{title} stopped after {budget} wave-instructions (set instruction-budget).")


def _show_termination(shell: Shell, event: StopEvent) -> None:
    if event.signal is not None:
        shell.line(f"\nProgram terminated with signal {event.signal.name}, {event.signal.description}.")
    shell.line("The program no longer exists.")


def _show_exit(shell: Shell, event: StopEvent) -> None:
    assert event.exit is not None
    exit_ = event.exit
    for result in exit_.expectations:
        if result.passed:
            shell.line(f"{result.name}: as expected.")
        else:
            shell.line(f"{result.name}: {result.message}")
    shell.line(f"[Inferior 1 (dispatch {exit_.dispatch}, kernel {exit_.kernel}) exited normally]")
