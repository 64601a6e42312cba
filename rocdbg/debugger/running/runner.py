"""Running the target until something is worth a stop, and saying what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct, field
from msgspec.structs import replace

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.lanes import lane_list
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.frames import Frame, inlined_starting_at
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.program.program import same_function
from rocdbg.debugger.running.breakpoints import Arrival, BreakpointTable, Hit
from rocdbg.debugger.running.stops import SIGNALS, StopEvent, StopReason
from rocdbg.debugger.settings import Settings
from rocdbg.debugger.target.runnable import ExitInfo, Resume, ResumeMode, TargetStop, TargetStopKind
from rocdbg.debugger.target.state import Target
from rocdbg.debugger.warnings import Warnings

FATAL = frozenset({"SIGSEGV", "SIGILL", "SIGABRT", "SIGBUS", "SIGFPE"})
"""Signals after which a wave cannot go on: continuing ends the program, as on a device."""


class Internal(Struct):
    """A stop of the engine's own: loaded addresses, and whether an arrival there is the awaited one."""

    addresses: frozenset[int] = frozenset()
    accept: Callable[[TargetStop], bool] = field(default=lambda stop: True)


class RunState(Struct):
    """How running stands; one for a session, wherever its commands look from."""

    attached: bool = False
    """Whether a target was announced whose end was not."""
    pending_signal: str = ""
    """The fatal signal of the last stop: after it the program cannot go on."""
    driving: bool = False
    """Whether the session runs the program: while this is so, an interrupt stops it."""
    interrupting: bool = False
    """Whether it was interrupted and has not stopped yet."""
    evaluating: bool = False
    """Whether a breakpoint's condition is evaluated: Ctrl-C ends that, and the program stops there."""
    started: Callable[[], None] | None = None
    """Called before the target goes on, and ``ended`` when it has stopped."""
    ended: Callable[[], None] | None = None
    budget: int | None = None
    """Instructions that the command may still execute, however often it resumes the target; ``None``: any number."""


class Runner(Struct):
    """Resumes the target, turns its stops into events, and moves the focus to where they are.

    ``holds`` gives the lanes of a wave (of a mask) for which a condition is true, ``left`` is told when the target is
    gone, and whether that was before its end.
    """

    inferior: Inferior
    focus: Selection
    breakpoints: BreakpointTable
    settings: Settings
    warnings: Warnings
    state: RunState
    holds: Callable[[str, int, int], int]
    left: Callable[[bool], None]

    @property
    def target(self) -> Target:
        """The running target."""
        return self.inferior.need_target()

    def resume(self, request: Resume) -> TargetStop:
        """One resume of the target."""
        self.inferior.state_changed()
        self.inferior.inline_entered.clear()
        if self.state.interrupting:  # between two steps: the target stops before it goes on
            request = replace(request, mode=ResumeMode.RUN)
            self.inferior.need_runnable().interrupt()
        if self.state.started is not None:
            self.state.started()
        try:
            stop = self._spend(request)
            if stop.kind is TargetStopKind.INTERRUPTED:
                self.state.interrupting = False
            if self.inferior.programs.update(self.target.code_objects()):
                self.breakpoints.resolve_again()
            return stop
        finally:
            if self.state.ended is not None:
                self.state.ended()
            self.inferior.state_changed()

    def _spend(self, request: Resume) -> TargetStop:
        """Resume the target within what is left of the command's budget."""
        runnable = self.inferior.need_runnable()
        if self.state.budget is None:
            return runnable.resume(request)
        before = runnable.progress().instructions
        if not self.state.budget:  # nothing may run any more, by whatever steps
            request = replace(request, mode=ResumeMode.RUN)
        stop = runnable.resume(replace(request, budget=self.state.budget))
        self.state.budget = max(0, self.state.budget - (runnable.progress().instructions - before))
        return stop

    @contextmanager
    def drive(self) -> Iterator[None]:
        """While this is open, `interrupt` stops the program."""
        self.state.driving, self.state.interrupting = True, False
        self.state.budget = self.settings.instruction_budget or None
        try:
            yield
        finally:
            if self.state.interrupting and self.inferior.target is not None:
                self.inferior.need_runnable().forget_interrupt()  # it stopped for another reason
            self.state.driving = self.state.interrupting = False

    def interrupt(self) -> None:
        """Have the program stop soon; callable from a signal handler or another thread."""
        if self.state.driving:
            self.state.interrupting = True
        target = self.inferior.target
        if target is not None and target.runnable is not None:
            target.runnable.interrupt()

    def stop_addresses(self, internal: Internal | None = None) -> frozenset[int]:
        """Loaded addresses of all enabled breakpoints and of an internal stop."""
        users = self.breakpoints.addresses()
        return users | internal.addresses if internal is not None else users

    @property
    def locked(self) -> bool:
        """Whether other waves stand still while one steps."""
        return self.settings.scheduler_locking != "off"

    def run(self, internal: Internal | None = None, thread: int | None = None) -> StopEvent | None:
        """Run all waves (or one, with ``thread``) to the next event; ``None`` when the internal stop was it."""
        ended = self.check_pending_signal()
        if ended is not None:
            return ended
        only = thread is not None or self.settings.scheduler_locking == "on"
        focus = thread if thread is not None else self.focus.current.thread
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
        if not self.state.pending_signal:
            return None
        signal = SIGNALS[self.state.pending_signal]
        self.state.pending_signal = ""
        self.terminate()
        return StopEvent(StopReason.TERMINATED, Focus(), signal=signal)

    def _finish(self) -> ExitInfo:
        """The program is over: its results; its memory stays readable until the next run."""
        info = self.inferior.need_runnable().exit_info()
        self.inferior.leave()
        self.left(False)
        return info

    def terminate(self) -> None:
        """End the program now."""
        self.inferior.leave()
        self.state.pending_signal = ""
        self.left(True)

    # -- events

    def event(self, stop: TargetStop) -> StopEvent | None:
        """The event of a target's stop; ``None`` for one that is nobody's business."""
        if stop.kind is TargetStopKind.DONE:
            return StopEvent(StopReason.EXITED, Focus(), exit=self._finish())
        if stop.kind is TargetStopKind.BREAKPOINT:
            return self._breakpoint(stop)
        if stop.kind is TargetStopKind.INTERRUPTED:
            return self.stopped_at(StopReason.INTERRUPTED, stop, signal="SIGINT")
        if stop.kind is TargetStopKind.BUDGET:
            return self.stopped_at(StopReason.BUDGET, stop)
        if stop.signal:
            if stop.trap_pc is not None and stop.thread is not None:
                self.inferior.behind_traps[stop.thread] = stop.trap_pc, stop.pc
                self.inferior.state_changed()
            if stop.signal in FATAL:
                self.state.pending_signal = stop.signal
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
        self.breakpoints.retire(hits)
        self._enter_inlined(stop, hits)
        return self._focused(
            StopReason.BREAKPOINT, stop.thread, lanes,
            breakpoints=tuple(hit.breakpoint.number for hit in hits),
            temporary=hits[0].breakpoint.temporary,
            location=hits[0].location_at(stop.pc),
        )

    def _enter_inlined(self, stop: TargetStop, hits: list[Hit]) -> None:
        """A breakpoint on an inlined function stops inside of it, not at its call."""
        assert stop.thread is not None
        wanted = [
            place.location.code
            for hit in hits
            for place in hit.breakpoint.locations
            if place.address == stop.pc and place.location.code is not None and not place.location.by_line
        ]
        starting = inlined_starting_at(self.inferior.programs.at(LoadedAddress(stop.pc)), LoadedAddress(stop.pc))
        for index, instance in enumerate(starting):
            if any(same_function(instance.function, function) for function in wanted):
                self.inferior.inline_entered[stop.thread] = index
                return

    def hits(self, thread: int, pc: int) -> list[Hit]:
        """The user's breakpoints that stop a wave here."""
        found, problems = self.breakpoints.hits(
            Arrival(
                thread,
                pc,
                self.inferior.active_lanes(thread),
                lambda text, lanes: self.holds(text, thread, lanes),
            )
        )
        for problem in problems:
            self.warnings.add(problem)
        return found

    def stopped_at(self, reason: StopReason, stop: TargetStop, signal: str = "") -> StopEvent:
        """An event at a wave that is not about a breakpoint."""
        thread = stop.thread
        if thread is None:
            waves = self.target.waves()
            thread = waves[0].number if waves else self.focus.current.thread
        assert thread is not None
        lanes = stop.lanes or self.inferior.active_lanes(thread)
        focus = self.focus.current
        nobodys = reason in (StopReason.INTERRUPTED, StopReason.BUDGET)
        if nobodys and focus.thread == thread and focus.lane is not None and lanes >> focus.lane & 1:
            lanes = 1 << focus.lane  # nothing that a lane did: the focus stays
        return self._focused(
            reason, thread, lanes, signal=SIGNALS[signal] if signal else None, detail=stop.detail,
            report=stop.report,
        )

    def _focused(self, reason: StopReason, thread: int, lanes: int, **fields: object) -> StopEvent:
        """Move the focus to the first lane concerned and say whether it moved."""
        before = self.focus.current
        first = lane_list(lanes)[0] if lanes else 0
        return StopEvent(
            reason,
            self.focus.move(Focus(thread, first)),
            lanes=lanes,
            new_thread=before.thread != thread,
            new_lane=before.thread == thread and before.lane != first,
            **fields,  # type: ignore[arg-type]
        )

    def step_event(self, reason: StopReason, new_frame: bool, **fields: object) -> StopEvent:
        """An event of the focused lane having arrived."""
        scope = self.focus.move(self.focus.current.with_frame(0))
        lanes = 1 << scope.lane if scope.lane is not None else 0
        return StopEvent(reason, scope, lanes=lanes, new_frame=new_frame, **fields)  # type: ignore[arg-type]

    # -- the focused lane

    def logical_pc(self, scope: Focus) -> int | None:
        """Where an inactive lane waits, ``None`` where nothing says."""
        assert scope.thread is not None
        return self.inferior.logical_pc(scope.thread, scope.lane or 0)

    def top_frame(self, scope: Focus) -> Frame:
        """The innermost frame of a lane."""
        frame = self.inferior.chain(scope).get(0)
        assert frame is not None
        return frame

    def alive(self, thread: int) -> bool:
        """Whether the wave still exists."""
        return any(wave.number == thread for wave in self.target.waves())


def thread_of(scope: Focus) -> int:
    """The wave of a running program that a step is about."""
    assert scope.thread is not None
    return scope.thread
