"""A stop is a value: why, which wave, which lanes, where. Front ends print it."""

from __future__ import annotations

import signal
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct, field

from rocdbg.debugger.target.runnable import ExitInfo

if TYPE_CHECKING:
    from rocdbg.debugger.base.focus import Focus
    from rocdbg.debugger.breakpoints.watchpoints import Trigger
    from rocdbg.debugger.values.value import Value
    from rocdbg.dwarf.info.types import Type


class StopReason(Enum):
    """Why a command that runs the program came back."""

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
    EXITED = "exited-normally"
    TERMINATED = "exited-signalled"


class Signal(Struct, frozen=True):
    """An exception as a signal: ``SIGSEGV``, ``Segmentation fault``."""

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
    """The signal of the host's that has ended a process."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return Signal(f"SIG{number}", f"Real-time event {number}")
    known = SIGNALS.get(name)
    return known or Signal(name, _PROCESS_SIGNALS.get(name, signal.strsignal(number) or name))


class StopEvent(Struct, frozen=True):
    """What happened.

    ``scope`` is where the focus is afterwards, ``lanes`` the mask of lanes the stop is about (those
    that hit the breakpoint, or faulted). ``breakpoints`` are the numbers hit (``temporary`` if the
    first was one, ``location`` which of its places where it has several), ``commands`` what each runs then,
    ``problems`` what went wrong with their conditions; ``new_thread`` and ``new_lane``
    say whether the focus moved there; ``new_frame`` whether a front end should show the frame line and not
    only the source line. ``detail`` is a sentence on an exception, ``report`` what there is to say of one that
    is a fault of ours, for its developers; ``returned`` the value a finished function gave back (already in the
    value history under ``returned_number``), ``returned_type`` its type where the value cannot be told.
    ``triggers`` are the watchpoints that have a new value, ``hit_lanes`` the mask of lanes that hit breakpoints by the
    same stop, ``watchpoints_gone`` those that went with the program.
    ``caught`` is what the first catchpoint has caught. ``exceptions`` are the words of `EXCEPTIONS` for what the
    device has raised and why, ``addresses`` the lanes of a fault (``None`` for a scalar access) and what each reached
    for, in the DWARF address space ``space``; ``pc`` is where the instruction is, 0 where that does not matter.
    """

    reason: StopReason
    scope: Focus
    lanes: int = 0
    breakpoints: tuple[int, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    problems: tuple[str, ...] = ()
    temporary: bool = False
    location: int | None = None
    new_thread: bool = False
    new_lane: bool = False
    new_frame: bool = True
    signal: Signal | None = None
    detail: str = ""
    report: str = ""
    returned: Value | None = None
    returned_number: int | None = None
    returned_type: Type | None = None
    exit: ExitInfo | None = None
    triggers: tuple[Trigger, ...] = ()
    hit_lanes: int = 0
    watchpoints_gone: tuple[int, ...] = ()
    caught: str = ""
    exceptions: tuple[str, ...] = ()
    addresses: tuple[tuple[int | None, int], ...] = ()
    space: int = 0
    pc: int = 0
    warnings: tuple[str, ...] = field(default=())
