"""The state of running the program, and the positions in time that the user saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import TYPE_CHECKING

from msgspec import Struct, field

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.dynamic_printf import Print
from rocdbg.debugger.running.awaited_arrivals import Awaited
from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.debugger.target.capabilities.runnable import TargetStop

if TYPE_CHECKING:
    from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import Tracing

PATIENCE = 0.25
"""Seconds of processor time that the program has to reach a stop after an interrupt. Later, Ctrl-C ends the command."""


class Internal(Struct):
    """An internal stop: loaded addresses, and a function that decides whether an arrival there is the awaited one."""

    addresses: frozenset[int] = frozenset()
    accept: Callable[[TargetStop], bool] = field(default=lambda stop: True)
    awaited: Awaited | None = None
    """The requirements of ``accept`` in a form that the target can check by itself, if there is one."""
    returned: bool = False
    """Whether the return of a function that the debugger called is awaited."""


class Bookmark(Struct, frozen=True):
    """A position in time that the user saved (``checkpoint``), with the wave, the lane and the PC in focus there.
    ``life`` identifies the run of the inferior to which it belongs."""

    number: int
    life: int
    position: int
    thread: int | None
    lane: int | None
    pc: LoadedAddress


class SuspendedPlace(Struct, frozen=True):
    """A wave's state when the debugger called a function on it, to be restored afterwards."""

    thread: int
    focus: Focus
    pending_signal: str
    inline_entered: int | None
    behind_trap: tuple[int, int] | None


class RunState(Struct):
    """The state of running; one per session, regardless of the focus."""

    attached: bool = False
    """Whether the start of a target was announced, but not yet its end."""
    pending_signal: str = ""
    """The fatal signal of the last stop, after which the program cannot continue."""
    driving: bool = False
    """Whether a command of the session runs the program: meanwhile, an interrupt stops the program."""
    interrupting: bool = False
    """Whether the program was interrupted and has not stopped yet."""
    asked_at: float = 0.0
    """Processor time of the process when it was interrupted."""
    alone: bool = False
    """Whether other waves are stopped now, regardless of ``scheduler-locking``."""
    last_stop: StopEvent | None = None
    """The last stop of this program that was reported."""
    plans: bool = True
    """Whether steps use plans; without them, each place that a step reaches is examined again."""
    evaluating: bool = False
    """Whether a breakpoint's condition is being evaluated: Ctrl-C ends the evaluation, and the program stops there."""
    started: Callable[[], None] | None = None
    """Called before the target resumes; ``ended`` is called when it has stopped."""
    ended: Callable[[], None] | None = None
    change: StopEvent | None = None
    """The event for code objects that were loaded or unloaded, until it is reported."""
    bookmarks: list[Bookmark] = field(default_factory=list)
    """Positions in time that the user saved, of this run of the program and of earlier ones."""
    last_bookmark: int = 0
    tracing: Tracing | None = None
    """The trace experiment, once there is a tracepoint."""
    printf: Print | None = None
    """Prints for ``dprintf``."""
    budget: int | None = None
    """Instructions that the command may still execute, however often it resumes the target; ``None``: any number."""
    calls: list[SuspendedPlace] = field(default_factory=list)
    """The suspended waves of called functions that have not returned, in order of calls."""
    stopped_inside: Callable[[StopEvent], None] | None = None
    """Called when a function that the debugger called has stopped, before its expression is abandoned."""

    def interrupt(self) -> None:
        """Request a stop, if the program runs."""
        self.interrupting, self.asked_at = self.interrupting or self.driving, process_time()

    def is_overdue(self) -> bool:
        """Whether an interrupt has waited so long for the program to stop that the work in progress should be
        abandoned.
        """
        return self.interrupting and process_time() - self.asked_at > PATIENCE


@contextmanager
def aside(state: RunState) -> Iterator[None]:
    """Return a context manager that hides a front end's progress display inside its block."""
    if state.ended is not None:
        state.ended()
    yield
    if state.started is not None:
        state.started()
