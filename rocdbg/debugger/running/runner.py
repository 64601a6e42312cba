"""Running the target until something is worth a stop, and saying what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.lanes import lane_list
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.frames import Frame, FrameChain, inlined_starting_at
from rocdbg.debugger.program.exec_map import ExecMap
from rocdbg.debugger.program.program import Program, same_function
from rocdbg.debugger.running.breakpoints import Arrival, BreakpointTable, Hit
from rocdbg.debugger.running.stops import SIGNALS, ExitInfo, StopEvent, StopReason
from rocdbg.debugger.settings import Settings
from rocdbg.debugger.target.protocol import Resume, ResumeMode, Target, TargetStop, TargetStopKind

FATAL = frozenset({"SIGSEGV", "SIGILL", "SIGABRT", "SIGBUS", "SIGFPE"})
"""Signals after which a wave cannot go on: continuing ends the program, as on a device."""


class Host(Protocol):
    """What running needs of the session."""

    program: Program | None
    target: Target | None
    breakpoints: BreakpointTable
    settings: Settings
    scope: Focus
    exec_map: ExecMap | None
    inline_entered: dict[int, int]
    """By thread: how many of the inlined calls that begin at its PC count as not yet entered."""
    behind_traps: dict[int, tuple[int, int]]
    """By thread: where the debug trap is that it stopped at last, and the PC then, which is behind it."""

    def chain(self, scope: Focus) -> FrameChain:
        """The frames of a lane as they are now."""

    def active_lanes(self, thread: int) -> int:
        """The mask of active lanes of a wave."""

    def logical_pc(self, thread: int, lane: int) -> int | None:
        """Where a lane is by DW_AT_LLVM_lane_pc, ``None`` where nothing says."""

    def condition_holds(self, text: str, scope: Focus) -> bool:
        """The truth of a breakpoint's condition for a lane."""

    def state_changed(self) -> None:
        """Drop what was cached of the target's state."""

    def finished(self) -> ExitInfo:
        """The dispatch is over: take its results and let it go."""

    def terminated(self) -> None:
        """End the dispatch early."""

    def warn(self, text: str) -> None:
        """Keep a warning for the front end."""


@dataclass(slots=True)
class Internal:
    """A stop of the engine's own: loaded addresses, and whether an arrival there is the awaited one."""

    addresses: frozenset[int] = frozenset()
    accept: Callable[[TargetStop], bool] = field(default=lambda stop: True)


@dataclass(slots=True)
class Runner:
    """Resumes the target and turns its stops into events. ``pending_signal`` is the fatal signal of the last."""

    host: Host
    pending_signal: str = ""
    driving: bool = False
    """Whether the session runs the program: while this is so, an interrupt stops it."""
    interrupting: bool = False
    """Whether it was interrupted and has not stopped yet."""
    started: Callable[[], None] | None = None
    """Called before the target goes on, and ``ended`` when it has stopped."""
    ended: Callable[[], None] | None = None
    budget: int | None = None
    """Instructions that the command may still execute, however often it resumes the target; ``None``: any number."""

    @property
    def target(self) -> Target:
        """The running target."""
        assert self.host.target is not None
        return self.host.target

    @property
    def program(self) -> Program:
        """The program."""
        assert self.host.program is not None
        return self.host.program

    def resume(self, request: Resume) -> TargetStop:
        """One resume of the target."""
        self.host.state_changed()
        self.host.inline_entered.clear()
        if self.interrupting:  # between two steps: the target stops before it goes on
            request = replace(request, mode=ResumeMode.RUN)
            self.target.interrupt()
        if self.started is not None:
            self.started()
        try:
            stop = self._spend(request)
            if stop.kind is TargetStopKind.INTERRUPTED:
                self.interrupting = False
            return stop
        finally:
            if self.ended is not None:
                self.ended()
            self.host.state_changed()

    def _spend(self, request: Resume) -> TargetStop:
        """Resume the target within what is left of the command's budget."""
        if self.budget is None:
            return self.target.resume(request)
        before = self.target.progress().instructions
        if not self.budget:  # nothing may run any more, by whatever steps
            request = replace(request, mode=ResumeMode.RUN)
        stop = self.target.resume(replace(request, budget=self.budget))
        self.budget = max(0, self.budget - (self.target.progress().instructions - before))
        return stop

    @contextmanager
    def drive(self) -> Iterator[None]:
        """While this is open, `interrupt` stops the program."""
        self.driving, self.interrupting = True, False
        self.budget = self.host.settings.instruction_budget or None
        try:
            yield
        finally:
            if self.interrupting and self.host.target is not None:
                self.host.target.forget_interrupt()  # it stopped for another reason
            self.driving = self.interrupting = False

    def interrupt(self) -> None:
        """Have the program stop soon; callable from a signal handler or another thread."""
        if self.driving:
            self.interrupting = True
        if self.host.target is not None:
            self.host.target.interrupt()

    def stop_addresses(self, internal: Internal | None = None) -> frozenset[int]:
        """Loaded addresses of all enabled breakpoints and of an internal stop."""
        users = self.host.breakpoints.addresses()
        return users | internal.addresses if internal is not None else users

    @property
    def locked(self) -> bool:
        """Whether other waves stand still while one steps."""
        return self.host.settings.scheduler_locking != "off"

    def run(self, internal: Internal | None = None, thread: int | None = None) -> StopEvent | None:
        """Run all waves (or one, with ``thread``) to the next event; ``None`` when the internal stop was it."""
        ended = self.check_pending_signal()
        if ended is not None:
            return ended
        only = thread is not None or self.host.settings.scheduler_locking == "on"
        focus = thread if thread is not None else self.host.scope.thread
        while True:
            stop = self.resume(
                Resume(
                    ResumeMode.RUN,
                    focus if only else None,
                    stop_addresses=self.stop_addresses(internal),
                    only=only,
                )
            )
            if stop.kind is TargetStopKind.WAVE_DONE:
                only = False
                continue
            event = self.event(stop)
            if event is not None:
                return event
            if (
                internal is not None
                and stop.kind is TargetStopKind.BREAKPOINT
                and stop.pc in internal.addresses
                and internal.accept(stop)
            ):
                return None

    def check_pending_signal(self) -> StopEvent | None:
        """After a fatal signal the program cannot go on: it ends."""
        if not self.pending_signal:
            return None
        signal = SIGNALS[self.pending_signal]
        self.pending_signal = ""
        self.host.terminated()
        return StopEvent(StopReason.TERMINATED, Focus(), signal=signal)

    # -- events

    def event(self, stop: TargetStop) -> StopEvent | None:
        """The event of a target's stop; ``None`` for one that is nobody's business."""
        if stop.kind is TargetStopKind.DONE:
            return StopEvent(StopReason.EXITED, Focus(), exit=self.host.finished())
        if stop.kind is TargetStopKind.BREAKPOINT:
            return self._breakpoint(stop)
        if stop.kind is TargetStopKind.INTERRUPTED:
            return self.stopped_at(StopReason.INTERRUPTED, stop, signal="SIGINT")
        if stop.kind is TargetStopKind.BUDGET:
            return self.stopped_at(StopReason.BUDGET, stop)
        if stop.signal:
            if stop.trap_pc is not None and stop.thread is not None:
                self.host.behind_traps[stop.thread] = stop.trap_pc, stop.pc
                self.host.state_changed()
            if stop.signal in FATAL:
                self.pending_signal = stop.signal
            return self.stopped_at(StopReason.SIGNAL, stop, signal=stop.signal)
        return None

    def _breakpoint(self, stop: TargetStop) -> StopEvent | None:
        assert stop.thread is not None
        hits = self.hits(stop.thread, stop.pc)
        if not hits:
            return None
        lanes = 0
        for hit in hits:
            lanes |= hit.lanes
        self.host.breakpoints.retire(hits)
        self._enter_inlined(stop, hits)
        return self._focused(
            StopReason.BREAKPOINT, stop.thread, lanes,
            breakpoints=tuple(hit.breakpoint.number for hit in hits),
            temporary=hits[0].breakpoint.temporary,
        )  # fmt: skip

    def _enter_inlined(self, stop: TargetStop, hits: list[Hit]) -> None:
        """A breakpoint on an inlined function stops inside of it, not at its call."""
        assert stop.thread is not None
        wanted = [
            place.location.code
            for hit in hits
            for place in hit.breakpoint.locations
            if place.address == stop.pc and place.location.code is not None and not place.location.by_line
        ]
        starting = inlined_starting_at(self.program, LoadedAddress(stop.pc))
        for index, instance in enumerate(starting):
            if any(same_function(instance.function, function) for function in wanted):
                self.host.inline_entered[stop.thread] = index
                return

    def hits(self, thread: int, pc: int) -> list[Hit]:
        """The user's breakpoints that stop a wave here."""
        found, problems = self.host.breakpoints.hits(
            Arrival(
                thread,
                pc,
                self.host.active_lanes(thread),
                lambda text, lane: self.host.condition_holds(text, Focus(thread, lane)),
            )
        )
        for problem in problems:
            self.host.warn(problem)
        return found

    def stopped_at(self, reason: StopReason, stop: TargetStop, signal: str = "") -> StopEvent:
        """An event at a wave that is not about a breakpoint."""
        thread = stop.thread
        if thread is None:
            waves = self.target.waves()
            thread = waves[0].number if waves else self.host.scope.thread
        assert thread is not None
        lanes = stop.lanes or self.host.active_lanes(thread)
        focus = self.host.scope
        nobodys = reason in (StopReason.INTERRUPTED, StopReason.BUDGET)
        if nobodys and focus.thread == thread and focus.lane is not None and lanes >> focus.lane & 1:
            lanes = 1 << focus.lane  # nothing that a lane did: the focus stays
        return self._focused(
            reason, thread, lanes, signal=SIGNALS[signal] if signal else None, detail=stop.detail,
            report=stop.report,
        )  # fmt: skip

    def _focused(self, reason: StopReason, thread: int, lanes: int, **fields: object) -> StopEvent:
        """Move the focus to the first lane concerned and say whether it moved."""
        before = self.host.scope
        first = lane_list(lanes)[0] if lanes else 0
        self.host.scope = Focus(thread, first)
        return StopEvent(
            reason,
            self.host.scope,
            lanes=lanes,
            new_thread=before.thread != thread,
            new_lane=before.thread == thread and before.lane != first,
            **fields,  # type: ignore[arg-type]
        )

    def step_event(self, reason: StopReason, new_frame: bool, **fields: object) -> StopEvent:
        """An event of the focused lane having arrived."""
        scope = self.host.scope.with_frame(0)
        self.host.scope = scope
        lanes = 1 << scope.lane if scope.lane is not None else 0
        return StopEvent(reason, scope, lanes=lanes, new_frame=new_frame, **fields)  # type: ignore[arg-type]

    # -- the focused lane

    def is_active(self, scope: Focus) -> bool:
        """Whether the lane is active."""
        if scope.thread is None or scope.lane is None:
            return True
        return bool(self.host.active_lanes(scope.thread) >> scope.lane & 1)

    def logical_pc(self, scope: Focus) -> int | None:
        """Where an inactive lane waits, ``None`` where nothing says."""
        assert scope.thread is not None
        return self.host.logical_pc(scope.thread, scope.lane or 0)

    def top_frame(self, scope: Focus) -> Frame:
        """The innermost frame of a lane."""
        frame = self.host.chain(scope).get(0)
        assert frame is not None
        return frame

    def alive(self, thread: int) -> bool:
        """Whether the wave still exists."""
        return any(wave.number == thread for wave in self.target.waves())
