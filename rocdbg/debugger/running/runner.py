"""Running the target until something is worth a stop, and saying what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.breakpoint_table import Arrival, Breakpoint, Hit
from rocdbg.debugger.breakpoints.catcher import Catcher
from rocdbg.debugger.breakpoints.catchpoints import Catchpoint
from rocdbg.debugger.breakpoints.compiled_conditions import NativeConditions
from rocdbg.debugger.breakpoints.dynamic_printf import print_hits
from rocdbg.debugger.breakpoints.watcher import Watcher
from rocdbg.debugger.breakpoints.watchpoints import Watchpoint
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.selection import follow
from rocdbg.debugger.program.functions_with_code import inlined_starting_at
from rocdbg.debugger.program.location_lookup import Location
from rocdbg.debugger.program.program import same_function
from rocdbg.debugger.running import watch_events
from rocdbg.debugger.running.calling.suspended_waves import end_call
from rocdbg.debugger.running.catch_events import caught
from rocdbg.debugger.running.run_parts import RunParts
from rocdbg.debugger.running.run_state import Internal
from rocdbg.debugger.running.stop_events import (
    SIGNALS,
    BreakpointHit,
    BudgetSpent,
    CallEnded,
    CatchpointHit,
    Cause,
    DeviceReport,
    Exited,
    HistoryEnded,
    Interrupted,
    Returned,
    Signal,
    SignalReceived,
    StepDone,
    StopEvent,
    Terminated,
    WatchScopeEnded,
    hits_of,
)
from rocdbg.debugger.running.target_changes import resumed, take_code
from rocdbg.debugger.target.process_target import ProcessTarget
from rocdbg.debugger.target.runnable import ExitInfo, Resume, ResumeMode, TargetStop, TargetStopKind
from rocdbg.debugger.target.state import Target

FATAL = frozenset({"SIGSEGV", "SIGILL", "SIGABRT", "SIGBUS", "SIGFPE"})
"""Signals after which a wave cannot go on: continuing ends the program, as on a device."""


class Runner(Struct):
    """Resumes the target, turns its stops into events, and moves the focus to where they are.

    ``holds`` gives the lanes of a wave (of a mask) for which a condition is true in the frame of a level, ``left`` is
    told when the target is gone, and whether that was before its end.
    """

    parts: RunParts
    holds: Callable[[str, int, int, int], int]
    native: NativeConditions
    watcher: Watcher
    catcher: Catcher
    left: Callable[[bool], None]

    @property
    def target(self) -> Target:
        """The running target."""
        return self.parts.inferior.need_target()

    def resume(self, request: Resume) -> TargetStop:
        """One resume of the target."""
        self.parts.inferior.state_changed()
        self.parts.inferior.inline_entered.clear()
        if self.parts.state.interrupting:  # between two steps: the target stops before it goes on
            request = replace(request, mode=ResumeMode.RUN)
            self.parts.inferior.need_runnable().interrupt()
        if self.catcher.prepare(request.thread if request.mode is not ResumeMode.RUN else None):
            assert request.thread is not None
            wave = self.target.wave(request.thread)  # a step would go over the stop address where it begins
            return TargetStop(TargetStopKind.BREAKPOINT, wave.number, wave.pc, wave.exec_mask & wave.used_lanes)
        users = self.parts.breakpoints.addresses()
        always = request.stop_addresses - users | request.always
        checks = dict(self.native.checks(always, self.catcher.again_at))
        watches, ends = self.watcher.prepare(), self.watcher.ends()
        for address in ends - request.stop_addresses:
            checks[address] = self.watcher.end_check()
        self.watcher.add_checks(checks, request.stop_addresses)
        stops = request.stop_addresses | checks.keys()
        request = replace(request, stop_addresses=stops, checks=checks, watches=watches)
        if self.parts.state.started is not None:
            self.parts.state.started()
        try:
            stop = resumed(self, request)
            self.watcher.stopped = stop.thread
            if stop.kind is TargetStopKind.INTERRUPTED:
                self.parts.state.interrupting = False
            take_code(self)
            if stop.kind in (TargetStopKind.STEP, TargetStopKind.RANGE, TargetStopKind.BREAKPOINT):
                self.parts.inferior.state_changed()
                if self.watcher.noticed(stop):
                    stop = replace(stop, kind=TargetStopKind.WATCH)
            return stop
        finally:
            passed = self.native.collect()
            if self.parts.state.ended is not None:
                self.parts.state.ended()
            self.parts.inferior.state_changed()
            if (show := self.parts.state.printf) is not None:
                for each in passed:
                    show(each.made, each.thread, each.lanes, each.columns)

    @contextmanager
    def drive(self) -> Iterator[None]:
        """While this is open, `interrupt` stops the program. Raises `DebuggerError` on trace frames."""
        if self.parts.state.tracing is not None:
            self.parts.state.tracing.need_none()
        self.parts.state.driving, self.parts.state.interrupting = True, False
        self.catcher.looked_at = None
        self.parts.state.budget = self.parts.settings.instruction_budget or None
        try:
            yield
        finally:
            if self.parts.state.interrupting and self.parts.inferior.target is not None:
                self.parts.inferior.need_runnable().forget_interrupt()  # it stopped for another reason
            self.parts.state.driving = self.parts.state.interrupting = False

    def interrupt(self) -> None:
        """Have the program stop soon; callable from a signal handler or another thread."""
        if self.parts.state.driving:
            self.parts.state.interrupting = True
        target = self.parts.inferior.target
        if target is not None and target.runnable is not None:
            target.runnable.interrupt()

    def stop_addresses(self, internal: Internal | None = None) -> frozenset[int]:
        """Loaded addresses of all enabled breakpoints and of an internal stop."""
        users = self.parts.breakpoints.addresses()
        return users | internal.addresses if internal is not None else users

    @property
    def locked(self) -> bool:
        """Whether other waves stand still while one steps."""
        return self.parts.state.alone or self.parts.settings.scheduler_locking != "off"

    def run(self, internal: Internal | None = None, thread: int | None = None) -> StopEvent | None:
        """Run all waves (or one, with ``thread``) to the next event; ``None`` when the internal stop was it."""
        focus = thread if thread is not None else self.parts.focus.current.thread
        only = thread is not None or (self.parts.settings.scheduler_locking == "on" and self.alive(focus))
        ended = self.check_pending_signal()
        if ended is not None:
            return ended
        while True:
            stepped = self.watcher.stepped(focus)
            stop = self.resume(
                Resume(
                    ResumeMode.RUN if stepped is None else ResumeMode.STEP,
                    stepped if stepped is not None else focus if only else None,
                    stop_addresses=self.stop_addresses(internal),
                    only=only,
                    always=internal.addresses if internal is not None else frozenset(),
                )
            )
            calls = self.parts.state.calls
            if stop.kind is TargetStopKind.WAVE_DONE and any(call.thread == stop.thread for call in calls):
                return self._call_over(stop.thread)  # a called function has ended its copy of the wave
            if stop.kind is TargetStopKind.WAVE_DONE:
                only = False
                continue
            if stop.kind is TargetStopKind.RETURNED and internal is not None and internal.returned:
                return None
            if stop.kind is TargetStopKind.STEP and stop.pc in self.stop_addresses() | self.watcher.ends():
                stop = replace(stop, kind=TargetStopKind.BREAKPOINT)
            event = self.event(stop)
            if event is not None:
                return event
            if (
                internal is not None
                and stop.kind in (TargetStopKind.BREAKPOINT, TargetStopKind.WATCH)
                and stop.pc in internal.addresses
                and internal.accept(stop)
            ):
                return None

    def check_pending_signal(self) -> StopEvent | None:
        """After a fatal signal the program cannot go on: it ends."""
        if not self.parts.state.pending_signal:
            return None
        signal = self.parts.state.pending_signal
        if isinstance(self.target, ProcessTarget):  # what becomes of the process is its own affair
            self.parts.state.pending_signal = ""
            self.target.deliver()
            return self.run()
        return self.end_with(SIGNALS[signal])

    def end_with(self, signal: Signal) -> StopEvent:
        """The program ends by a signal; where its past is known, that can still be gone to."""
        self.terminate(memory_too=self.target.recording is None)
        return StopEvent(Terminated(signal), Focus())

    def _finish(self) -> ExitInfo:
        """The program is over: its results; its memory stays readable until the next run."""
        info = self.parts.inferior.need_runnable().exit_info()
        self.parts.inferior.leave()
        self.left(False)
        return info

    def terminate(self, memory_too: bool = True) -> None:
        """End the program now; ``memory_too``: nothing of it remains."""
        self.watcher.forget()
        self.parts.inferior.leave()
        self.parts.state.pending_signal = ""
        self.parts.state.calls.clear()
        self.left(memory_too)

    # -- events

    def event(self, stop: TargetStop) -> StopEvent | None:
        """The event of a target's stop; ``None`` for one that is nobody's business."""
        if stop.kind is TargetStopKind.DONE:
            gone = self.watcher.forget()
            return StopEvent(Exited(self._finish(), gone), Focus())
        if stop.kind is TargetStopKind.CHANGED:
            event, self.parts.state.change = self.parts.state.change, None
            return event
        if stop.kind is TargetStopKind.WATCH:
            return watch_events.changed(self, stop)
        if stop.kind is TargetStopKind.RETURNED and stop.thread is not None:
            return self._call_over(stop.thread)
        if stop.kind is TargetStopKind.BREAKPOINT:
            return self._scope_end(stop) or self._breakpoint(stop)
        if stop.kind is TargetStopKind.INTERRUPTED:
            return self.stopped_at(stop, Interrupted)
        if stop.kind is TargetStopKind.BUDGET:
            return self.stopped_at(stop, BudgetSpent)
        if stop.kind is TargetStopKind.HISTORY:
            return self.stopped_at(stop, HistoryEnded)
        if stop.signal:
            if stop.trap_pc is not None and stop.thread is not None:
                self.parts.inferior.behind_traps[stop.thread] = stop.trap_pc, stop.pc
                self.parts.inferior.state_changed()
            if stop.signal in FATAL:
                self.parts.state.pending_signal = stop.signal
            signal = SIGNALS[stop.signal]
            return caught(self, stop) or self.stopped_at(stop, lambda device: SignalReceived(signal, device))
        return None

    def _call_over(self, thread: int | None) -> StopEvent:
        """A called function is over, long after its expression was given up: the wave is where it was before."""
        assert thread is not None
        scope = end_call(self, thread)
        return StopEvent(CallEnded(), scope, 1 << scope.lane if scope.lane is not None else 0)

    def _scope_end(self, stop: TargetStop) -> StopEvent | None:
        """An event where frames have ended that watchpoints belong to, which go with them."""
        ended = self.watcher.ended(stop)
        return self.scope_event(stop, ended) if ended else None

    def scope_event(self, stop: TargetStop, ended: Sequence[Watchpoint]) -> StopEvent:
        """An event where frames are left that watchpoints belong to, which go with them."""
        for watchpoint in ended:
            self.parts.breakpoints.delete(watchpoint.number)
        numbers = tuple(watchpoint.number for watchpoint in ended)
        return self.stopped_at(stop, lambda device: WatchScopeEnded(numbers, device))

    def _breakpoint(self, stop: TargetStop) -> StopEvent | None:
        assert stop.thread is not None
        hits, problems = self.hits_here(stop.thread, stop.pc)
        return self.hit_event(hits, stop.thread, stop.pc, problems) if hits else None

    def hits_here(self, thread: int, pc: int) -> tuple[list[Hit], list[str]]:
        """The breakpoints that stop a wave where it is, when those that only print or collect have done so."""
        hits, problems = self.hits(thread, pc)
        self.catcher.note(thread)
        hits = print_hits(hits, thread, self.parts.state.printf, problems.append)
        return self.native.take_hits(hits, thread, pc), problems

    def hit_event(self, hits: Sequence[Hit], thread: int, pc: int, problems: Sequence[str]) -> StopEvent:
        """An event at a wave that breakpoints stop."""
        lanes = 0
        for hit in hits:
            lanes |= hit.lanes
        first, words = hits[0].breakpoint, ""
        if isinstance(first, Catchpoint):
            words = first.happening(first, thread)
        self.parts.breakpoints.retire(hits)
        there = hits_of(hits, hits[0].location_at(pc))
        return self._focused(CatchpointHit(there, words) if words else BreakpointHit(there), thread, lanes, problems)

    def enter_inlined(self, thread: int, pc: int, made: Iterable[Breakpoint]) -> None:
        """A breakpoint in an inlined function is inside of it, not at its call: its condition is asked there."""
        self.enter_place(thread, pc, [place.location for breakpoint_ in made for place in breakpoint_.locations])

    def enter_place(self, thread: int, pc: int, places: Sequence[Location]) -> None:
        """A place in an inlined function is inside of it."""
        wanted = [place.code for place in places if place.address == pc and place.code is not None]
        starting = inlined_starting_at(self.parts.inferior.programs.at(LoadedAddress(pc)), LoadedAddress(pc))
        for index, instance in enumerate(starting):
            if any(same_function(instance.function, function) for function in wanted):
                if self.parts.inferior.inline_entered.get(thread) != index:
                    self.parts.inferior.inline_entered[thread] = index
                    self.parts.inferior.state_changed()
                return

    def hits(self, thread: int, pc: int) -> tuple[list[Hit], list[str]]:
        """The user's breakpoints that stop a wave here, and what went wrong with conditions."""
        self.enter_inlined(thread, pc, self.parts.breakpoints.at(pc))
        self.native.arrived(self.parts.breakpoints.at(pc), thread, pc)
        again = self.catcher.look(thread)
        return self.parts.breakpoints.hits(replace(self.arrival(thread, pc), again=again))

    def arrival(self, thread: int, pc: int) -> Arrival:
        """A wave at an address, for those who ask what stops it there."""
        active = self.parts.inferior.active_lanes(thread)
        used = self.parts.inferior.wave(thread).used_lanes
        return Arrival(thread, pc, active, lambda text, lanes: self.holds(text, thread, lanes, 0), used)

    def stopped_at(
        self, stop: TargetStop, make: Callable[[DeviceReport], Cause], problems: Sequence[str] = ()
    ) -> StopEvent:
        """An event at the wave that the target stopped, or at none where there is none; ``make`` gives its cause."""
        thread = stop.thread
        if thread is None and not self.target.waves():
            self.parts.focus.move(Focus())
            return StopEvent(make(DeviceReport(stop.detail)), Focus(), problems=tuple(problems))
        cause = make(
            DeviceReport(
                stop.detail, stop.report, (*stop.exceptions, stop.violation), stop.addresses, stop.space,
                stop.trap_pc or stop.pc,
            )
        )
        if thread is None:
            numbers = [wave.number for wave in self.target.waves()]
            thread = self.parts.focus.current.thread
            if numbers and (not isinstance(cause, HistoryEnded) or thread not in numbers):
                thread = numbers[0]
        assert thread is not None
        lanes = stop.lanes or self.parts.inferior.active_lanes(thread)
        focus = self.parts.focus.current
        of_no_lane = isinstance(cause, Interrupted | BudgetSpent | HistoryEnded)
        if of_no_lane and focus.thread == thread and focus.lane is not None and lanes >> focus.lane & 1:
            lanes = 1 << focus.lane  # nothing that a lane did: the focus stays
        return self._focused(cause, thread, lanes, problems)

    def _focused(self, cause: Cause, thread: int, lanes: int, problems: Sequence[str]) -> StopEvent:
        """Move the focus to the first lane concerned and say whether it moved."""
        before = self.parts.focus.current
        follow(self.parts.inferior, thread)
        first = lane_list(lanes)[0] if lanes else 0
        return StopEvent(
            cause,
            self.parts.focus.move(Focus(thread, first)),
            lanes=lanes,
            new_thread=before.thread != thread,
            new_lane=before.thread == thread and before.lane != first,
            problems=tuple(problems),
        )

    def arrived(self, cause: Cause, returned: Returned | None = None) -> StopEvent:
        """An event of the focused lane having arrived where its command leads."""
        scope = self.parts.focus.move(self.parts.focus.current.with_frame(0))
        return StopEvent(cause, scope, 1 << scope.lane if scope.lane is not None else 0, returned=returned)

    def step_done(self, new_frame: bool) -> StopEvent:
        """An event of the focused lane having ended a step, in another frame or in the same."""
        return self.arrived(StepDone(new_frame))

    # -- the focused lane

    def logical_pc(self, scope: Focus) -> int | None:
        """Where an inactive lane waits, ``None`` where nothing says."""
        assert scope.thread is not None
        entered = self.parts.inferior.entered(scope.thread, scope.lane or 0)
        return entered.pc if entered is not None else None

    def top_frame(self, scope: Focus) -> Frame:
        """The innermost frame of a lane: not the first where it waits in a caller."""
        chain = self.parts.inferior.chain(scope)
        frame = chain.get(chain.innermost)
        assert frame is not None
        return frame

    def alive(self, thread: int | None) -> bool:
        """Whether the wave still exists."""
        return any(wave.number == thread for wave in self.target.waves())


def thread_of(scope: Focus) -> int:
    """The wave of a running program that a step is about."""
    assert scope.thread is not None
    return scope.thread
