"""The capability to go on: resuming, interrupting, how far it is, and why it came back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Protocol

from msgspec import Struct, field

from rocdbg.sim.core.checks import Check
from rocdbg.sim.core.stop_plan import StopPlan


class Progress(Struct, frozen=True):
    """How far a program is: wave-instructions executed, workgroups that have ended, workgroups in all."""

    instructions: int
    groups_ended: int
    groups: int


class TargetStopKind(Enum):
    """Why the target came back."""

    BREAKPOINT = "breakpoint"
    STEP = "step"
    RANGE = "range"
    FAULT = "fault"
    TRAP = "trap"
    EXCEPTION = "exception"
    ILLEGAL = "illegal"
    UNSUPPORTED = "unsupported"
    INTERNAL = "internal error"
    WATCH = "watch"
    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    RETURNED = "returned"
    """A function that the debugger called has returned (`rocdbg.debugger.target.function_calling`)."""
    WAVE_DONE = "wave done"
    HISTORY = "end of history"
    CHANGED = "changed"
    """Code objects or dispatches have come or gone: who wants to stop somewhere may want to stop elsewhere now."""
    DONE = "done"


EXCEPTIONS = (
    "memory-violation", "aperture-violation", "illegal-instruction", "unsupported-instruction", "internal-error",
    "abort", "invalid", "denormal", "divide-by-zero", "overflow", "underflow", "inexact", "integer-divide-by-zero",
)
"""The kinds of exceptions. What follows "abort" are those of arithmetic."""


class WatchedMemory(Struct, frozen=True):
    """Bytes of a DWARF address space, of a wave and lane where the space has them."""

    space: int
    address: int
    size: int
    thread: int | None = None
    lane: int | None = None
    accesses: bool = False
    """Whether reads count as well."""


class TargetStop(Struct, frozen=True):
    """One return of the target: which wave (``None`` when all are done), where, and what about it.

    ``lanes`` is the mask of lanes concerned (faults), ``detail`` a sentence about the exception,
    ``trap_id`` the number of an ``s_trap``, ``trap_pc`` where it is if ``pc`` is behind it (a debug trap),
    ``report`` what developers of the target want to know of its internal errors, ``touched`` the watched memory that an
    instruction has reached, ``reads`` whether it did more than store there, ``exceptions`` the words of `EXCEPTIONS`
    for what the device raises, ``violation`` "permission" or "misaligned" where such is why memory or an aperture was
    violated. ``addresses`` are lanes that faulted (``None`` for an access by no lane) with what they reached for in the
    DWARF address space ``space``.
    """

    kind: TargetStopKind
    thread: int | None = None
    pc: int = 0
    lanes: int = 0
    detail: str = ""
    signal: str = ""
    trap_id: int | None = None
    trap_pc: int | None = None
    address: int | None = None
    report: str = ""
    touched: tuple[WatchedMemory, ...] = ()
    reads: bool = False
    exceptions: tuple[str, ...] = ()
    violation: str = ""
    addresses: tuple[tuple[int | None, int], ...] = ()
    space: int = 0


class ResumeMode(Enum):
    """How the stepped wave goes on; all other waves run freely beside it."""

    RUN = "run"
    STEP = "step"
    RANGE = "range"


class Resume(Struct, frozen=True):
    """A request to go on.

    ``RUN`` runs all waves to the next stop address. ``STEP`` runs one instruction of ``thread``,
    ``RANGE`` runs it until its PC leaves [``low``, ``high``). ``stop_addresses`` stop any wave that
    reaches one, except the wave that stands on one when it goes on. ``only`` keeps the other waves
    still where that is possible (a wave waiting at a barrier needs the others). At those of ``checks`` the
    target may find out by itself whether a wave stops, which is never among ``always``. An
    instruction that changes ``watches`` stops its wave.
    """

    mode: ResumeMode = ResumeMode.RUN
    thread: int | None = None
    low: int = 0
    high: int = 0
    stop_addresses: frozenset[int] = field(default_factory=frozenset)
    only: bool = False
    budget: int | None = None
    always: frozenset[int] = field(default_factory=frozenset)
    checks: Mapping[int, Check] = field(default_factory=dict)
    watches: tuple[WatchedMemory, ...] = ()
    alone: bool = False
    """Whether with ``only`` other dispatches stand still, too."""
    steps: int = 1
    """Instructions of a ``STEP``; a target may execute fewer, and does where the wave comes to a stop address."""
    plan: StopPlan | None = None
    """Beside a range: where to go on instead of coming back when the wave leaves it. A target may ignore it."""
    begins: bool = False
    """Whether to come back (CHANGED) when a dispatch begins, before its first instruction."""


class ExpectResult(Struct, frozen=True):
    """The check of one buffer at the end of a dispatch; ``message`` says what differs."""

    name: str
    passed: bool
    message: str = ""


class ProcessEnd(Struct, frozen=True):
    """How a process ended: its exit code, or the signal that ended it."""

    pid: int
    code: int = 0
    signal: int = 0


class ExitInfo(Struct, frozen=True):
    """The end of a dispatch: ``[Inferior 1 (dispatch 1, kernel saxpy) exited normally]``."""

    dispatch: int
    kernel: str
    instructions: int
    expectations: tuple[ExpectResult, ...] = ()
    process: ProcessEnd | None = None
    """Of a whole program, whose end this is."""


class Runnable(Protocol):
    """A target that can go on."""

    def resume(self, request: Resume) -> TargetStop:
        """Go on until something happens."""

    def pass_over(self, thread: int) -> None:
        """Let a wave not stop where it is: what would stop it there is known."""

    def stop_again(self, thread: int) -> bool:
        """Undo `pass_over`, and that a wave does not stop where its stop was reported; returns whether it would have
        passed."""

    def exit_info(self) -> ExitInfo:
        """What came out, once it is finished."""

    def progress(self) -> Progress:
        """How far the program is; callable from another thread while `resume` runs, and then a little behind."""

    def interrupt(self) -> None:
        """Ask a running `resume` to come back soon; callable from a signal handler."""

    def forget_interrupt(self) -> None:
        """Take an `interrupt` back that no run has answered."""
