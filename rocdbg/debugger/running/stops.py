"""A stop is a value: why, which wave, which lanes, where. Front ends print it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct, field

from rocdbg.debugger.target.runnable import ExitInfo

if TYPE_CHECKING:
    from rocdbg.debugger.focus import Focus
    from rocdbg.debugger.values.value import Value
    from rocdbg.dwarf.info.types import Type


class StopReason(Enum):
    """Why a command that runs the program came back."""

    BREAKPOINT = "breakpoint-hit"
    WATCHPOINT = "watchpoint-trigger"
    STEP = "end-stepping-range"
    FINISHED = "function-finished"
    LOCATION = "location-reached"
    SIGNAL = "signal-received"
    INTERRUPTED = "interrupted"
    BUDGET = "instruction-budget"
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


class StopEvent(Struct, frozen=True):
    """What happened.

    ``scope`` is where the focus is afterwards, ``lanes`` the mask of lanes the stop is about (those
    that hit the breakpoint, or faulted). ``breakpoints`` are the numbers hit (``temporary`` if the
    first was one, ``location`` which of its places where it has several); ``new_thread`` and ``new_lane``
    say whether the focus moved there; ``new_frame`` whether a front end should show the frame line and not
    only the source line. ``detail`` is a sentence on an exception, ``report`` what there is to say of one that
    is a fault of ours, for its developers; ``returned`` the value a finished function gave back (already in the
    value history under ``returned_number``), ``returned_type`` its type where the value cannot be told.
    """

    reason: StopReason
    scope: Focus
    lanes: int = 0
    breakpoints: tuple[int, ...] = ()
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
    warnings: tuple[str, ...] = field(default=())
