"""The capability to go on: resuming, interrupting, how far it is, and why it came back."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from msgspec import Struct, field


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
    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    WAVE_DONE = "wave done"
    DONE = "done"


class TargetStop(Struct, frozen=True):
    """One return of the target: which wave (``None`` when all are done), where, and what about it.

    ``lanes`` is the mask of lanes concerned (faults), ``detail`` a sentence about the exception,
    ``trap_id`` the number of an ``s_trap``, ``trap_pc`` where it is if ``pc`` is behind it (a debug trap),
    ``report`` what developers of the target want to know of its internal errors.
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
    still where that is possible (a wave waiting at a barrier needs the others).
    """

    mode: ResumeMode = ResumeMode.RUN
    thread: int | None = None
    low: int = 0
    high: int = 0
    stop_addresses: frozenset[int] = field(default_factory=frozenset)
    only: bool = False
    budget: int | None = None


class ExpectResult(Struct, frozen=True):
    """The check of one buffer at the end of a dispatch; ``message`` says what differs."""

    name: str
    passed: bool
    message: str = ""


class ExitInfo(Struct, frozen=True):
    """The end of a dispatch: ``[Inferior 1 (dispatch 1, kernel saxpy) exited normally]``."""

    dispatch: int
    kernel: str
    instructions: int
    expectations: tuple[ExpectResult, ...] = ()


class Runnable(Protocol):
    """A target that can go on."""

    def resume(self, request: Resume) -> TargetStop:
        """Go on until something happens."""

    def exit_info(self) -> ExitInfo:
        """What came out, once it is finished."""

    def progress(self) -> Progress:
        """How far the program is; callable from another thread while `resume` runs, and then a little behind."""

    def interrupt(self) -> None:
        """Ask a running `resume` to come back soon; callable from a signal handler."""

    def forget_interrupt(self) -> None:
        """Take an `interrupt` back that no run has answered."""
