"""The capability to run: resuming, interrupting, progress, and the reasons why the target returns."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Protocol

from msgspec import Struct, field

from rocdbg.debugger.target.host_stop import HostStop
from rocdbg.sim.core.checks import Check
from rocdbg.sim.core.stop_plan import StopPlan


class Progress(Struct, frozen=True):
    """Progress of a program: executed wave-instructions, ended workgroups, and the total number of workgroups."""

    instructions: int
    groups_ended: int
    groups: int


class TargetStopKind(Enum):
    """Why the target returned."""

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
    """A function that the debugger called has returned (`rocdbg.debugger.target.capabilities.function_calling`)."""
    WAVE_DONE = "wave done"
    HISTORY = "end of history"
    CHANGED = "changed"
    """Code objects or dispatches have begun or ended: stop addresses may have to be computed again."""
    HOST = "host"
    """The host code of the program has stopped."""
    DONE = "done"


EXCEPTIONS = (
    "memory-violation", "aperture-violation", "illegal-instruction", "unsupported-instruction", "internal-error",
    "abort", "invalid", "denormal", "divide-by-zero", "overflow", "underflow", "inexact", "integer-divide-by-zero",
)
"""The kinds of exceptions. Those after "abort" are arithmetic exceptions."""


class WatchedMemory(Struct, frozen=True):
    """Bytes of a DWARF address space, with wave and lane if the space needs them."""

    space: int
    address: int
    size: int
    thread: int | None = None
    lane: int | None = None
    accesses: bool = False
    """Whether reads count as well as writes."""


class TargetStop(Struct, frozen=True):
    """One return of the target: which wave stopped (``None`` when all have ended), where, and why.

    Attributes:
        lanes: the mask of lanes concerned (for faults).
        detail: a sentence about the exception.
        trap_id: the number of an ``s_trap``.
        trap_pc: the address of the trap if ``pc`` is after it (a debug trap).
        report: diagnostics of internal errors, for developers of the target.
        touched: the watched memory that an instruction accessed.
        reads: whether the instruction did more than store there.
        exceptions: the words of `EXCEPTIONS` that the device raises.
        violation: "permission" or "misaligned" if that is the reason for a memory or aperture violation.
        addresses: the lanes that faulted (``None`` for an access without a lane), with the address that each of them
            accessed in the DWARF address space ``space``.
        host: the stop of host code.
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
    host: HostStop | None = None


class ResumeMode(Enum):
    """How the stepped wave continues; all other waves run freely."""

    RUN = "run"
    STEP = "step"
    RANGE = "range"


class Resume(Struct, frozen=True):
    """A request to resume.

    ``RUN`` runs all waves to the next stop address. ``STEP`` runs one instruction of ``thread``; ``RANGE`` runs that
    wave until its PC leaves [``low``, ``high``). ``stop_addresses`` stop every wave that arrives at one of them; a wave
    that is already there when it resumes passes. ``only`` keeps the other waves stopped where possible (a wave waiting
    at a barrier needs the others). At addresses in ``checks``, which are never in ``always``, the target may decide by
    itself whether a wave stops. An instruction that changes ``watches`` stops its wave.
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
    """Whether ``only`` also keeps other dispatches stopped."""
    steps: int = 1
    """How many instructions a ``STEP`` executes; it may be fewer, for example if the wave reaches a stop address or
    begins to wait.
    """
    most: int | None = None
    """With a range and ``only``: the wave stops (STEP) when it has executed so many instructions, or begins to wait."""
    plan: StopPlan | None = None
    """With a range: where to continue, instead of returning, when the wave leaves it. A target may ignore the plan."""
    begins: bool = False
    """Whether to return (CHANGED) when a dispatch begins, before its first instruction."""


class ExpectResult(Struct, frozen=True):
    """The result of comparing one buffer at the end of a dispatch; ``message`` describes the difference."""

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
    """How the process ended, if a whole program is debugged."""


class Runnable(Protocol):
    """A target that can run."""

    def resume(self, request: Resume) -> TargetStop:
        """Resume until something happens."""

    def pass_over(self, thread: int) -> None:
        """Keep a wave from stopping at its position again: the reason for a stop there has already been reported."""

    def stop_again(self, thread: int) -> bool:
        """Undo `pass_over`: make a wave stop again where its stop was reported; return whether it would have passed."""

    def exit_info(self) -> ExitInfo:
        """Return the outcome of a program that has finished."""

    def progress(self) -> Progress:
        """The progress of the program; callable from another thread while `resume` runs, then slightly out of date."""

    def interrupt(self) -> None:
        """Ask a running `resume` to return soon; callable from a signal handler."""

    def forget_interrupt(self) -> None:
        """Withdraw an `interrupt` to which no run has responded."""
