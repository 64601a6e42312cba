"""Stops as text: why the program stopped, and its frame. All commands that run the program use these messages."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from rocdbg.cli.frame_lines import argument_parts, lanes_phrase, show_frame, switching, thread_title
from rocdbg.cli.host_text import stop_text
from rocdbg.cli.internal_errors import write_report_text
from rocdbg.cli.register_groups import keep_registers
from rocdbg.cli.writer import Styled
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
    HostStopped,
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
from rocdbg.work import Stopped, asking

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.breakpoints.watchpoints import Trigger
    from rocdbg.debugger.frames.frames import Frame
    from rocdbg.debugger.target.capabilities.runnable import ProcessEnd

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
        if isinstance(event.cause, HostStopped):
            shell.write(stop_text(shell.session.host, event.cause.stop))
        elif isinstance(event.cause, Terminated):
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
