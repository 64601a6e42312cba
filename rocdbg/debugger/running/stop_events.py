"""A stop is a value that says why the program stopped, which wave and lanes are concerned, and where. Front ends print
it.

The cause is one of a closed set of structs, each with exactly its own data; a front end matches on them.
"""

from __future__ import annotations

import signal
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from rocdbg.debugger.target.capabilities.runnable import ExitInfo
from rocdbg.debugger.target.host_stop import HostStop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocdbg.debugger.base.focus import Focus
    from rocdbg.debugger.breakpoints.breakpoint_table import Hit
    from rocdbg.debugger.breakpoints.watchpoints import Trigger
    from rocdbg.debugger.values.value import Value
    from rocdbg.dwarf.info.types import Type


class StopReason(Enum):
    """Why a command that runs the program returned."""

    BREAKPOINT = "breakpoint-hit"
    WATCHPOINT = "watchpoint-trigger"
    WATCHPOINT_SCOPE = "watchpoint-scope"
    CATCHPOINT = "catchpoint-hit"
    STEP = "end-stepping-range"
    FINISHED = "function-finished"
    LOCATION = "location-reached"
    CALL_DONE = "called-function-finished"
    SIGNAL = "signal-received"
    INTERRUPTED = "interrupted"
    BUDGET = "instruction-budget"
    HISTORY = "no-history"
    THREAD_EXITED = "thread-exited"
    HOST = "host-stopped"
    EXITED = "exited-normally"
    TERMINATED = "exited-signalled"


class Signal(Struct, frozen=True):
    """An exception as a signal, with its name and description: ``SIGSEGV``, ``Segmentation fault``."""

    name: str
    description: str


SIGNALS = {
    s.name: s
    for s in (
        Signal("SIGSEGV", "Segmentation fault"),
        Signal("SIGILL", "Illegal instruction"),
        Signal("SIGABRT", "Aborted"),
        Signal("SIGTRAP", "Trace/breakpoint trap"),
        Signal("SIGBUS", "Bus error"),
        Signal("SIGFPE", "Arithmetic exception"),
        Signal("SIGINT", "Interrupt"),
    )
}


_PROCESS_SIGNALS = {
    "SIGHUP": "Hangup", "SIGQUIT": "Quit", "SIGILL": "Illegal instruction", "SIGFPE": "Arithmetic exception",
    "SIGKILL": "Killed", "SIGPIPE": "Broken pipe", "SIGALRM": "Alarm clock", "SIGTERM": "Terminated",
    "SIGUSR1": "User defined signal 1", "SIGUSR2": "User defined signal 2", "SIGXCPU": "CPU time limit exceeded",
}


def process_signal(number: int) -> Signal:
    """Return the signal of the host, by number, that ended a process."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return Signal(f"SIG{number}", f"Real-time event {number}")
    known = SIGNALS.get(name)
    return known or Signal(name, _PROCESS_SIGNALS.get(name, signal.strsignal(number) or name))


class Hits(Struct, frozen=True):
    """The breakpoints that stop the program at one place and moment, in the order of their numbers.

    ``commands`` has the commands of each of them. ``temporary`` says whether the first breakpoint was temporary, and
    ``location`` which of its locations was hit, if it has several. ``triggers`` are the watchpoints among them, with
    the values that changed. ``lanes`` is the mask of the lanes that arrived at the other breakpoints.
    """

    numbers: tuple[int, ...]
    commands: tuple[tuple[str, ...], ...]
    temporary: bool = False
    location: int | None = None
    triggers: tuple[Trigger, ...] = ()
    lanes: int = 0


def hits_of(hits: Sequence[Hit], location: int | None = None) -> Hits:
    """Return what a stop says about the breakpoints that cause it; ``location`` is the one of the first breakpoint that
    was hit.
    """
    return Hits(
        tuple(hit.breakpoint.number for hit in hits), tuple(tuple(hit.breakpoint.commands) for hit in hits),
        hits[0].breakpoint.temporary, location,
    )


class DeviceReport(Struct, frozen=True):
    """The device's report about the instruction at which it stopped a wave.

    ``sentence`` describes an exception. ``internal`` is a report for the developers, present if the simulator itself is
    at fault. ``exceptions`` are words of `EXCEPTIONS`. ``addresses`` holds the faulting lanes (``None`` for a scalar
    access) and the address that each of them accessed, in the DWARF address space ``space``. ``pc`` is the loaded
    address of the instruction, 0 if it does not matter.
    """

    sentence: str = ""
    internal: str = ""
    exceptions: tuple[str, ...] = ()
    addresses: tuple[tuple[int | None, int], ...] = ()
    space: int = 0
    pc: int = 0


class BreakpointHit(Struct, frozen=True):
    """A wave arrived at breakpoints. The same instruction may have triggered a watchpoint of a higher number."""

    reason: ClassVar[StopReason] = StopReason.BREAKPOINT
    hits: Hits
    device: DeviceReport = DeviceReport()


class WatchTriggered(Struct, frozen=True):
    """A watched location changed or was accessed; the same instruction may have taken the wave to breakpoints."""

    reason: ClassVar[StopReason] = StopReason.WATCHPOINT
    hits: Hits
    device: DeviceReport = DeviceReport()


class CatchpointHit(Struct, frozen=True):
    """A catchpoint was hit; ``event`` describes what the first one caught: ``exception memory-violation``, ``wave
    end``.
    """

    reason: ClassVar[StopReason] = StopReason.CATCHPOINT
    hits: Hits
    event: str
    device: DeviceReport = DeviceReport()


class WatchScopeEnded(Struct, frozen=True):
    """The frames of the watchpoints ``numbers`` have returned; the watchpoints are deleted."""

    reason: ClassVar[StopReason] = StopReason.WATCHPOINT_SCOPE
    numbers: tuple[int, ...]
    device: DeviceReport = DeviceReport()


class StepDone(Struct, frozen=True):
    """A step has ended; ``new_frame``: in a frame other than the one where it began."""

    reason: ClassVar[StopReason] = StopReason.STEP
    new_frame: bool


class FinishDone(Struct, frozen=True):
    """``finish``: the frame has returned."""

    reason: ClassVar[StopReason] = StopReason.FINISHED


class LocationReached(Struct, frozen=True):
    """The wave of ``advance``, ``until LOCATION`` or ``starti`` is at the location, or has left the frame."""

    reason: ClassVar[StopReason] = StopReason.LOCATION
    device: DeviceReport = DeviceReport()


class CallEnded(Struct, frozen=True):
    """A function that the debugger had called returned after its expression was abandoned."""

    reason: ClassVar[StopReason] = StopReason.CALL_DONE


class SignalReceived(Struct, frozen=True):
    """An exception of the device, reported as a signal."""

    reason: ClassVar[StopReason] = StopReason.SIGNAL
    signal: Signal
    device: DeviceReport = DeviceReport()


class Interrupted(Struct, frozen=True):
    """The user has interrupted the program."""

    reason: ClassVar[StopReason] = StopReason.INTERRUPTED
    device: DeviceReport = DeviceReport()


class BudgetSpent(Struct, frozen=True):
    """The command has executed as many instructions as it is allowed to (``set instruction-budget``)."""

    reason: ClassVar[StopReason] = StopReason.BUDGET
    device: DeviceReport = DeviceReport()


class HistoryEnded(Struct, frozen=True):
    """Reverse execution has reached the beginning of the recording, or a replay its end."""

    reason: ClassVar[StopReason] = StopReason.HISTORY
    device: DeviceReport = DeviceReport()


class ThreadExited(Struct, frozen=True):
    """The wave ``thread``, which a command followed, has ended, but other waves exist or will begin. No wave is in
    focus.
    """

    reason: ClassVar[StopReason] = StopReason.THREAD_EXITED
    thread: int


class Exited(Struct, frozen=True):
    """The program has ended normally; the watchpoints ``watchpoints_gone`` ended with it."""

    reason: ClassVar[StopReason] = StopReason.EXITED
    info: ExitInfo
    watchpoints_gone: tuple[int, ...] = ()


class HostStopped(Struct, frozen=True):
    """Host code has stopped. ``hits`` are the breakpoints of the user there, if any; ``stop`` has the text of the host
    debugger. No wave is in focus.
    """

    stop: HostStop
    hits: Hits | None = None

    @property
    def reason(self) -> StopReason:
        """A breakpoint, a signal, or the end of a command such as ``next``."""
        if self.hits is not None:
            return StopReason.BREAKPOINT
        return StopReason.SIGNAL if self.stop.signal else StopReason.HOST


class Terminated(Struct, frozen=True):
    """A signal has ended the program."""

    reason: ClassVar[StopReason] = StopReason.TERMINATED
    signal: Signal


Cause = (
    BreakpointHit | WatchTriggered | CatchpointHit | WatchScopeEnded | StepDone | FinishDone | LocationReached
    | CallEnded | SignalReceived | Interrupted | BudgetSpent | HistoryEnded | ThreadExited | HostStopped | Exited
    | Terminated
)
"""Why the program stopped: one of these structs, each with exactly its own data."""


class Returned(Struct, frozen=True):
    """The result of the function that ``finish`` left: its value, already in the value history under ``number``, or
    only its type where the value is not known."""

    value: Value | None = None
    number: int | None = None
    type: Type | None = None


class StopEvent(Struct, frozen=True):
    """What happened: why, where the focus is afterwards (``scope``), and the mask of lanes concerned.

    ``new_thread`` and ``new_lane`` say whether the focus moved there. ``returned`` is the result of ``finish``, even if
    something else also stopped the program there. ``problems`` are errors of conditions on the way.
    """

    cause: Cause
    scope: Focus
    lanes: int = 0
    new_thread: bool = False
    new_lane: bool = False
    returned: Returned | None = None
    problems: tuple[str, ...] = ()

    @property
    def reason(self) -> StopReason:
        """The kind of cause, as named in GDB's machine interface."""
        return self.cause.reason

    @property
    def hits(self) -> Hits | None:
        """The breakpoints, watchpoints and catchpoints that stopped the program, if any did."""
        match self.cause:
            case BreakpointHit(hits=hits) | WatchTriggered(hits=hits) | CatchpointHit(hits=hits):
                return hits
            case HostStopped(hits=hits):
                return hits
        return None

    @property
    def breakpoints(self) -> tuple[int, ...]:
        """Numbers of the breakpoints of any kind that caused the stop."""
        if isinstance(self.cause, WatchScopeEnded):
            return self.cause.numbers
        return self.hits.numbers if self.hits is not None else ()

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """The commands of each of the breakpoints that stopped the program."""
        return self.hits.commands if self.hits is not None else ()

    @property
    def signal(self) -> Signal | None:
        """The signal that the program has received, or that has ended it."""
        match self.cause:
            case SignalReceived(signal=signal) | Terminated(signal=signal):
                return signal
            case Interrupted():
                return SIGNALS["SIGINT"]
        return None

    @property
    def device(self) -> DeviceReport | None:
        """The device's report about the instruction, if it stopped the wave there."""
        match self.cause:
            case StepDone() | FinishDone() | CallEnded() | ThreadExited() | HostStopped() | Exited() | Terminated():
                return None
        return self.cause.device

    @property
    def exit(self) -> ExitInfo | None:
        """The outcome, if the program has ended normally."""
        return self.cause.info if isinstance(self.cause, Exited) else None
