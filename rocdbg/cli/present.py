"""Frames, source lines and stops as text, in the form that all commands use that run the program or select frames."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING

from rocdbg.cli.internal_errors import write_report_text
from rocdbg.cli.operand_lines import write_operands
from rocdbg.cli.paths import shown_name
from rocdbg.cli.register_groups import keep_registers
from rocdbg.cli.source_listing import source_lines, write_instructions
from rocdbg.cli.writer import Styled
from rocdbg.debugger import lane_list, lane_ranges
from rocdbg.debugger.expr.lanes.lane_arguments import lane_arguments
from rocdbg.debugger.frames.frames import FrameKind
from rocdbg.debugger.running.stop_events import (
    SIGNALS,
    BreakpointHit,
    BudgetSpent,
    CallEnded,
    CatchpointHit,
    DeviceReport,
    Exited,
    HistoryEnded,
    Hits,
    Interrupted,
    Returned,
    Signal,
    SignalReceived,
    StepDone,
    StopEvent,
    Terminated,
    ThreadExited,
    WatchScopeEnded,
    WatchTriggered,
    process_signal,
)
from rocdbg.debugger.values import c_types
from rocdbg.errors import Error
from rocdbg.work import Stopped, asking

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.base.focus import Focus
    from rocdbg.debugger.breakpoints.watchpoints import Trigger
    from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
    from rocdbg.debugger.frames.frames import Frame
    from rocdbg.debugger.target.capabilities.runnable import ProcessEnd
    from rocdbg.debugger.values.value import Value


class ArgumentTexts:
    """Formats arguments in frame lines as `set print frame-arguments` says."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    @property
    def is_plain(self) -> bool:
        """Whether no plug-in prints values."""
        return not self._shell.session.plugins.has_printers

    def of_type(self, value: Value) -> str | None:
        """Return the text for all arguments of this value's type; ``None`` if values are shown."""
        wanted = self._shell.session.settings.print.frame_arguments
        if wanted == "none" or (wanted == "scalars" and not c_types.is_scalar(c_types.referred(value.type))):
            return "..."
        return None

    def of_value(self, environment: ProgramEnvironment, value: Value) -> str:
        """Return the text of an argument at its place."""
        text = self.of_type(value)
        if text is not None:
            return text
        try:
            return self._shell.session.data.format_in(value, environment)
        except Error as error:
            return f"<error: {error}>"


def _arguments(shell: Shell, frame: Frame) -> Iterator[tuple[str, str]]:
    """Yield name and text of the arguments in a frame line, as `set print entry-values` says.

    If the compiler describes calls, the passed values are known, and the arguments already have them as values.
    """
    data, texts = shell.session.data, ArgumentTexts(shell)
    environment = data.environment_of(frame)
    return _with_entries(shell, [(name, texts.of_value(environment, value)) for name, value in data.arguments(frame)])


def _with_entries(shell: Shell, rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the arguments and entry values that `set print entry-values` selects."""
    wanted = shell.session.settings.print.entry_values
    for name, text in rows:
        if wanted != "only" or name.endswith("@entry"):
            yield name, text
        if wanted in ("only", "both") and not name.endswith("@entry"):
            yield f"{name}@entry", "<optimized out>"


def argument_parts(shell: Shell, frame: Frame) -> Styled:
    """Return the arguments of a frame as its line shows them: ``x=1, y=...``."""
    if shell.session.settings.print.frame_arguments != "presence":
        yield from _joined(_arguments(shell, frame))
    elif shell.session.data.arguments(frame):
        yield "", "..."


def _joined(arguments: Iterable[tuple[str, str]]) -> Styled:
    for index, (name, text) in enumerate(arguments):
        if index:
            yield "", ", "
        yield "variable", name
        yield "", f"={text}"


def frame_parts(
    shell: Shell, frame: Frame, number: bool, address: bool | None = None, place: bool = True,
    arguments: Styled | None = None,
) -> Styled:
    """Return a frame line without its newline: ``#0  f (x=1) at k.hip:9``.

    ``address``: whether to show the address; None: only if the PC is not at the beginning of a line. Without ``place``
    the line ends after the arguments. ``arguments`` is the result of `argument_parts`, if known already.
    """
    if number:
        yield "", f"#{frame.level:<2} "
    if frame.kind is FrameKind.DUMMY:
        yield "function", frame.name or ""
        return
    shown = frame.shows_address if address is None else address
    if shown and shell.session.settings.print.address:
        yield "address", f"{frame.pc:#018x}"
        yield "", " in "
    yield "function", frame.name or "??"
    yield "", " ("
    yield from argument_parts(shell, frame) if arguments is None else arguments
    yield "", ")"
    if place and frame.file is not None and frame.line is not None:
        yield "", " at "
        yield "file", shown_name(shell, frame.file)
        yield "", f":{frame.line}"


def frame_text(shell: Shell, frame: Frame, number: bool = False) -> str:
    """Return `frame_parts` as plain text, for cells of tables."""
    return "".join(text for _, text in frame_parts(shell, frame, number))


def frame_texts(shell: Shell, frames: Sequence[Frame]) -> list[str]:
    """Return `frame_text` for frames of one level in many lanes; what lanes at the same place share is computed once.
    """
    places: dict[int, list[int]] = {}
    for index, frame in enumerate(frames):
        places.setdefault(id(frame.origin), []).append(index)
    found = [""] * len(frames)
    has_values = shell.session.settings.print.frame_arguments != "presence"
    for indices in places.values():
        first = frames[indices[0]]
        if len(indices) == 1 or not has_values or first.kind is FrameKind.DUMMY:
            for index in indices:
                found[index] = frame_text(shell, frames[index])
            continue
        rows = lane_arguments(shell.session.data, [frames[index] for index in indices], ArgumentTexts(shell))
        around = "".join(text for _, text in frame_parts(shell, first, False, arguments=[("", _HOLE)])).split(_HOLE)
        for index, arguments in zip(indices, rows, strict=True):
            found[index] = "".join(text for _, text in _joined(_with_entries(shell, arguments))).join(around)
    return found


_HOLE = "\0"
"""A placeholder for the arguments that cannot occur in a name."""


def source_line(shell: Shell, frame: Frame, address: bool = False, select: bool = True) -> None:
    """Show the source line of a frame (``9\\t    y[i] = ...``), or why there is none.

    With ``select``, `list` continues from it.
    """
    if frame.file is None or frame.line is None:
        next_instructions(shell, frame, has_source=False)
        return
    if select:
        shell.session.places.position.show_frame(frame.file, frame.line, frame.pc)
    if address and frame.shows_address and shell.session.settings.print.address:
        shell.out.styled([("address", f"{frame.pc:#018x}"), ("", "\t")])
    try:
        shell.session.sources.line(frame.file, frame.line)
    except Error as error:
        shell.line(str(error))
        next_instructions(shell, frame, has_source=False)
        return
    lines = shell.session.sources.text(frame.file).lines
    shell.warn_of_texts()
    [text] = source_lines(shell, lines, frame.file.name, frame.line - 1, 1)
    shell.out.raw(f"{frame.line}\t{text}\n")
    next_instructions(shell, frame, has_source=True)


def next_instructions(shell: Shell, frame: Frame, has_source: bool) -> None:
    """Show the rest of the line, or the next instruction, as machine code (`set disassemble-next-line`)."""
    if shell.session.settings.operands and frame.level == 0:
        with suppress(Error):
            write_operands(shell)
    wanted = shell.session.settings.disassemble_next_line
    if wanted == "off" or (wanted == "auto" and has_source):
        return
    end = frame.pc + 1
    if has_source and frame.row is not None:
        end = max(end, frame.program.to_loaded(frame.row.end_address))
    write_instructions(shell, shell.session.places.disassemble(frame.pc, end), True, None)


def show_frame(
    shell: Shell, frame: Frame, number: bool = True, what: str = "source-and-location", select: bool = True,
    arguments: Styled | None = None,
) -> None:
    """Show a frame in the form that `set print frame-info` selects, otherwise in that of ``what``, which is one of the
    setting's values: the source line, the frame line, or both.

    With ``select``, `list` continues from it.
    """
    wanted = shell.session.settings.print.frame_info
    if wanted == "auto":
        wanted = what
    if frame.line is None and wanted == "source-line":
        wanted = "source-and-location"
    if wanted != "source-line":
        address = True if wanted == "location-and-address" else None
        shell.out.styled(frame_parts(shell, frame, number, address, wanted != "short-location", arguments))
        shell.line()
    if frame.kind is FrameKind.DUMMY:
        return
    if wanted in ("source-line", "source-and-location"):
        source_line(shell, frame, address=wanted == "source-line", select=select)
    elif select and frame.file is not None and frame.line is not None:
        shell.session.places.position.show_frame(frame.file, frame.line, frame.pc)


MOST_OF_NAME = 15


def lanes_phrase(mask: int) -> str:
    """Return ``with lane 5`` or ``with lanes [0-31 40]``."""
    lanes = lane_list(mask)
    return f"with lane {lanes[0]}" if len(lanes) == 1 else f"with lanes [{lane_ranges(mask)}]"


def thread_title(shell: Shell, scope: Focus) -> str:
    """Return the title of a thread: ``Thread 1 "saxpy"``."""
    assert scope.thread is not None
    return f'Thread {scope.thread} "{wave_name(shell.session.inferior.wave(scope.thread).kernel)}"'


def wave_name(kernel: str) -> str:
    """Return the name of waves to which the user gave none: the kernel's name without template arguments, cut to the
    length that names of threads may have on Linux.
    """
    start = len("operator") if kernel.startswith("operator") else 0
    return kernel[: next((at for at in range(start, len(kernel)) if kernel[at] in "<("), len(kernel))][:MOST_OF_NAME]


def switching(shell: Shell, scope: Focus) -> str:
    """Return ``[Switching to thread 2, lane 5 (AMDGPU Lane ...)]``."""
    assert scope.thread is not None and scope.lane is not None
    wave = shell.session.inferior.wave(scope.thread)
    return f"[Switching to thread {scope.thread}, lane {scope.lane} ({wave.lane_target_id(scope.lane)})]"


NOT_DISPLAYED = "<not displayed>"
SOON = 0.2
"""Seconds of processor time that analyses for the report of a stop may take after Ctrl-C."""


def _soon(shell: Shell) -> AbstractContextManager[None]:
    """While this is open, work ends soon if Ctrl-C has stopped the program, because the user waits for the prompt.

    That Ctrl-C has been handled by then, so nothing else would end the work.
    """
    if not shell.state.interrupted:
        return nullcontext()
    end = time.thread_time() + SOON
    return asking(lambda: time.thread_time() > end)


def _show_stop_frame(shell: Shell, frame: Frame, what: str) -> None:
    """Show the frame of a stop. If its arguments cannot be determined soon, they are shown as with ``print
    frame-arguments presence``.
    """
    arguments: Styled | None = None
    if shell.state.interrupted:
        try:
            with _soon(shell):
                arguments = list(argument_parts(shell, frame))
        except Stopped:
            arguments = [("", "...")]
    show_frame(shell, frame, number=False, what=what, arguments=arguments)


def show_stop(shell: Shell, event: StopEvent) -> None:
    """Show the output that follows a command which ran the program."""
    for problem in event.problems:
        shell.out.flush()
        shell.err.line(problem)
    if isinstance(event.cause, Exited):
        _show_exit(shell, event.cause)
        forget_threads(shell)
        return
    if event.scope.thread is None:
        if isinstance(event.cause, Terminated):
            _show_termination(shell, event.cause)
            forget_threads(shell)
        else:
            show_reason(shell, event)  # there is no wave for which a frame could be shown
        return
    if isinstance(event.cause, CallEnded):
        return  # silently, as GDB when it abandons the expression
    if event.new_thread or event.new_lane:
        shell.line(switching(shell, event.scope))
    show_reason(shell, event)
    keep_registers(shell, event.scope.thread)
    frame = shell.session.focus.frame(event.scope)
    same_frame = isinstance(event.cause, StepDone) and not event.cause.new_frame
    _show_stop_frame(shell, frame, "source-line" if same_frame else "source-and-location")
    try:
        with _soon(shell):
            shell.show_displays()
    except Stopped:
        shell.line('Evaluating the displays takes too long: use "display" to show them.')
    if event.returned is not None:
        _show_returned(shell, event.returned)


def _show_returned(shell: Shell, returned: Returned) -> None:
    if returned.value is not None:
        text = shell.session.data.format(returned.value) if shell.settings.get("print finish", True) else NOT_DISPLAYED
        shell.line(f"Value returned is ${returned.number} = {text}")
    else:
        shell.line(f"Value returned has type: {returned.type}. Cannot determine contents")


def stand_at(shell: Shell, event: StopEvent) -> None:
    """Record a stop that is not shown: `list` nevertheless shows the lines around it."""
    if event.scope.thread is not None:
        frame = shell.session.focus.frame(event.scope)
        if frame.file is not None and frame.line is not None:
            shell.session.places.position.show_frame(frame.file, frame.line, frame.pc)


def show_reason(shell: Shell, event: StopEvent) -> None:
    """Show why the program stopped: the breakpoint or signal."""
    title = thread_title(shell, event.scope) if event.scope.thread is not None else "Program"
    match event.cause:
        case BreakpointHit(hits, device) | WatchTriggered(hits, device):
            _show_hits(shell, hits, device.sentence, title, hits.lanes or event.lanes)
        case CatchpointHit():
            _show_caught(shell, event.cause, title)
        case WatchScopeEnded(numbers):
            for number in numbers:
                shell.line(
                    f"\nWatchpoint {number} deleted because the program has left the block in\n"
                    "which its expression is valid."
                )
        case SignalReceived(signal, device):
            _show_signal(shell, signal, device, title)
        case Interrupted(device):
            _show_signal(shell, SIGNALS["SIGINT"], device, title)
        case ThreadExited():
            shell.line("Command aborted, thread exited.")
        case HistoryEnded():
            shell.line("\nNo more reverse-execution history.")
        case BudgetSpent():
            budget = shell.session.settings.instruction_budget
            shell.line(f"\n{title} stopped after {budget} wave-instructions (set instruction-budget).")


def _show_caught(shell: Shell, cause: CatchpointHit, title: str) -> None:
    kind = "Temporary catchpoint" if cause.hits.temporary else "Catchpoint"
    head = f"\n{title} hit {kind} {cause.hits.numbers[0]}"
    if cause.event.startswith("\n"):
        shell.line(f"{head}{cause.event}")
    elif cause.device.sentence:
        shell.line(f"{head} ({cause.event})\n{cause.device.sentence}")
    else:
        shell.write(f"{head} ({cause.event}), ")


def _show_signal(shell: Shell, signal: Signal, device: DeviceReport, title: str) -> None:
    shell.line(f"\n{title} received signal {signal.name}, {signal.description}.")
    if device.sentence:
        shell.line(device.sentence)
    if device.internal and (path := write_report_text(device.internal)) is not None:
        shell.line(f"A report is in {path}.")


def _show_hits(shell: Shell, hits: Hits, detail: str, title: str, mask: int) -> None:
    """Show what stopped the program, by number; as in GDB, the first breakpoint is shown last."""
    bodies = list(zip(hits.numbers, hits.commands, strict=True))
    shown = [number for number, body in bodies if body[:1] != ("silent",)] or [number for number, _ in bodies]
    triggers = {trigger.watchpoint.number: trigger for trigger in hits.triggers}
    hit = next((number for number in shown if number not in triggers), None)
    changed = [triggers[number] for number in shown if number in triggers and (hit is None or number < hit)]
    for trigger in changed:
        _show_trigger(shell, trigger, title)
    if changed and detail:
        shell.line(detail)
    if hit is None:
        return
    kind = "Temporary breakpoint" if hits.temporary else "Breakpoint"
    lanes = f", {lanes_phrase(mask)}" if mask else ""
    place = f".{hits.location}" if hits.location is not None else ""
    if hit in shell.session.breakpoints and shell.session.breakpoints.get(hit).kind == "dprintf":
        kind = "Dprintf"  # the dprintf stops because it could not print
    shell.write(f"\n{title} hit {kind} {hit}{place}{lanes}, ")


def _show_trigger(shell: Shell, trigger: Trigger, title: str) -> None:
    """Show the lines about a changed watchpoint."""
    watchpoint = trigger.watchpoint
    lane = f" in lane {trigger.lane}" if len(watchpoint.lanes) > 1 else ""
    shell.line(f"\n{title} hit {watchpoint.title} {watchpoint.number}: {watchpoint.text}{lane}")
    if watchpoint.masked:
        shell.line("Check the underlying instruction at PC for the memory\naddress and value which triggered this "
                   "watchpoint.")
        return
    shell.line()
    same = trigger.old is not None and trigger.new is not None and trigger.old.data == trigger.new.data
    rows = [("Value", trigger.new)] if same else [("Old value", trigger.old), ("New value", trigger.new)]
    for name, value in rows:
        text = "<unreadable>" if value is None else shell.session.data.format(value)
        shell.line(f"{name} = {text}")


def forget_threads(shell: Shell) -> None:
    """Delete the breakpoints for single threads, which ended with the program, and report that."""
    for gone in shell.session.breakpoints.forget_threads():
        shell.line(
            f"Thread-specific breakpoint {gone.number} deleted - "
            f"thread {gone.thread} no longer in the thread list."
        )


def _show_termination(shell: Shell, cause: Terminated) -> None:
    shell.line(f"\nProgram terminated with signal {cause.signal.name}, {cause.signal.description}.")
    shell.line("The program no longer exists.")


def _show_exit(shell: Shell, cause: Exited) -> None:
    exit_ = cause.info
    for number in cause.watchpoints_gone:
        shell.line(f"Watchpoint {number} deleted because the program has left the block")
        shell.line("in which its expression is valid.")
    for result in exit_.expectations:
        if result.passed:
            shell.line(f"{result.name}: as expected.")
        else:
            shell.line(f"{result.name}: {result.message}")
    if exit_.process is not None:
        _show_process_end(shell, exit_.process)
        return
    shell.line(f"[Inferior 1 (dispatch {exit_.dispatch}, kernel {exit_.kernel}) exited normally]")


def _show_process_end(shell: Shell, end: ProcessEnd) -> None:
    """Show how a process ended; as in GDB, exit codes are octal."""
    if end.signal:
        signal = process_signal(end.signal)
        shell.line(f"\nProgram terminated with signal {signal.name}, {signal.description}.")
        shell.line("The program no longer exists.")
    else:
        how = f"with code {end.code:02o}" if end.code else "normally"
        shell.line(f"[Inferior 1 (process {end.pid}) exited {how}]")
