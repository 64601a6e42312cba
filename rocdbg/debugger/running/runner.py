"""Runs the target until a stop should be reported, and describes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.breakpoint_table import Arrival, Breakpoint, Hit
from rocdbg.debugger.breakpoints.catcher import Catcher
from rocdbg.debugger.breakpoints.catchpoints import Catchpoint
from rocdbg.debugger.breakpoints.compiled_conditions import NativeConditions
from rocdbg.debugger.breakpoints.dynamic_printf import print_hits
from rocdbg.debugger.breakpoints.watch_triggers import Watcher
from rocdbg.debugger.breakpoints.watchpoints import Trigger, Watchpoint
from rocdbg.debugger.expr.evaluator import value_tree
from rocdbg.debugger.expr.names.meanings import has_effect
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.selection import follow
from rocdbg.debugger.program.functions_with_code import inlined_starting_at
from rocdbg.debugger.program.location_lookup import Location
from rocdbg.debugger.program.program import same_function
from rocdbg.debugger.program.trap_messages import trap_message
from rocdbg.debugger.running.arrival_conditions import ArrivalConditions, Asked
from rocdbg.debugger.running.run_parts import RunParts
from rocdbg.debugger.running.run_state import Internal, SuspendedPlace
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
    Hits,
    Interrupted,
    Returned,
    Signal,
    SignalReceived,
    StepDone,
    StopEvent,
    Terminated,
    ThreadExited,
    WatchScopeEnded,
    WatchTriggered,
    hits_of,
)
from rocdbg.debugger.target.capabilities.function_calling import CallPlace, calls_of
from rocdbg.debugger.target.capabilities.runnable import ExitInfo, Resume, ResumeMode, TargetStop, TargetStopKind
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.target.process_target import ProcessTarget
from rocdbg.debugger.values.value import Value
from rocdbg.errors import Error
from rocdbg.sim.core.checks import Check, Condition, Counter
from rocdbg.sim.core.lane_expressions import constant
from rocdbg.work import Stopped, asking

FATAL = frozenset({"SIGSEGV", "SIGILL", "SIGABRT", "SIGBUS", "SIGFPE"})
"""Signals after which a wave cannot continue: resuming ends the program, as on a device."""


class Runner(Struct):
    """Resumes the target, turns its stops into events, and moves the focus to them.

    ``holds(condition, wave, lanes, level)`` returns the lanes for which a condition is true in the frame at a level.
    ``left`` is called when the target is gone, and receives whether that was before its end.
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

    def resume(self, request: Resume, follows: int | None = None) -> TargetStop:
        """Resume the target once. If ``follows`` names a wave, stop where that wave is about to end."""
        self.parts.inferior.state_changed()
        self.parts.host.prepare()
        self.parts.inferior.inline_entered.clear()
        if self.parts.state.interrupting:  # the interrupt came between two steps: stop before resuming
            request = replace(request, mode=ResumeMode.RUN)
            self.parts.inferior.need_runnable().interrupt()
        if self.catcher.prepare(request.thread if request.mode is not ResumeMode.RUN else None):
            assert request.thread is not None
            wave = self.target.wave(request.thread)  # a step would pass a stop address where it begins
            return TargetStop(TargetStopKind.BREAKPOINT, wave.number, wave.pc, wave.exec_mask & wave.used_lanes)
        users = self.parts.breakpoints.addresses()
        always = request.stop_addresses - users | request.always
        watches, ends = self.watcher.prepare(), self.watcher.ends()
        checks = {at: check for at, check in request.checks.items() if at not in users and at not in ends}
        checks |= self.native.checks(always, self.catcher.again_at)
        for address in ends - request.stop_addresses:
            checks[address] = self.watcher.end_check()
        if follows is not None:
            for address in self.catcher.ends() - request.stop_addresses:
                there = checks.get(address, Check(()))
                checks[address] = there.plus(Condition(constant(1), None, Counter(), wave=follows))
        self.watcher.add_checks(checks, request.stop_addresses)
        stops = request.stop_addresses | checks.keys()
        request = replace(request, stop_addresses=stops, checks=checks, watches=watches)
        if self.parts.state.started is not None:
            self.parts.state.started()
        try:
            stop = self._resumed(request)
            self.watcher.stopped = stop.thread
            if stop.kind is TargetStopKind.INTERRUPTED:
                self.parts.state.interrupting = False
            self._take_code()
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
        """Return a context manager in whose block `interrupt` stops the program. Raises `DebuggerError` if a trace
        frame is selected.
        """
        state = self.parts.state
        if state.tracing is not None:
            state.tracing.need_none()
        state.driving, state.interrupting, self.catcher.looked_at = True, False, None
        state.budget = self.parts.settings.instruction_budget or None
        try:
            with asking(state.is_overdue):
                yield
        finally:
            if state.interrupting and self.parts.inferior.target is not None:
                self.parts.inferior.need_runnable().forget_interrupt()  # the program stopped for another reason
            state.driving = state.interrupting = False

    def interrupt(self) -> None:
        """Make the program stop soon; callable from a signal handler or another thread."""
        self.parts.state.interrupt()
        target = self.parts.inferior.target
        if target is not None and target.runnable is not None:
            target.runnable.interrupt()

    def stop_addresses(self, internal: Internal | None = None) -> frozenset[int]:
        """Loaded addresses of all enabled breakpoints and of an internal stop."""
        users = self.parts.breakpoints.addresses()
        return users | internal.addresses if internal is not None else users

    @property
    def locked(self) -> bool:
        """Whether other waves are stopped while one wave steps."""
        return self.parts.state.alone or self.parts.settings.scheduler_locking in ("on", "step")

    def run(
        self, internal: Internal | None = None, thread: int | None = None, follows: int | None = None
    ) -> StopEvent | None:
        """Run all waves (or one, with ``thread``) to the next event; returns None at the internal stop.

        With ``follows``, the end of that wave is an event, because the command is about that wave.
        """
        focus = thread if thread is not None else self.parts.focus.current.thread
        only = thread is not None or (self.parts.settings.scheduler_locking == "on" and self.alive(focus))
        ended = self.check_pending_signal()
        if ended is not None:
            return ended
        awaited = internal.awaited if internal is not None and self.parts.state.plans else None
        while True:
            stepped = self.watcher.stepped(focus)
            stop = self.resume(
                Resume(
                    ResumeMode.RUN if stepped is None else ResumeMode.STEP,
                    stepped if stepped is not None else focus if only else None,
                    stop_addresses=self.stop_addresses(internal),
                    only=only,
                    always=internal.addresses if internal is not None else frozenset(),
                    checks=awaited.checks if awaited is not None else {},
                ),
                follows,
            )
            calls = self.parts.state.calls
            if stop.kind is TargetStopKind.WAVE_DONE and any(call.thread == stop.thread for call in calls):
                return self._call_over(stop.thread)  # a called function has ended its copy of the wave
            if stop.kind is TargetStopKind.WAVE_DONE:
                if follows is not None and stop.thread in (follows, None):
                    return thread_exited(self, follows)
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
            ):
                if internal.accept(stop):
                    return None
                if awaited is not None:
                    awaited.wrong(stop.thread, stop.pc)
            if follows is not None and stop.thread == follows and stop.pc in self.catcher.ends():
                event = self._end_of(follows)
                if event is not None:
                    return event

    def _end_of(self, thread: int) -> StopEvent | None:
        """Let a wave that is about to end execute its last instruction."""
        stop = self.resume(Resume(ResumeMode.STEP, thread, stop_addresses=self.stop_addresses(), only=True))
        return thread_exited(self, thread) if stop.kind is TargetStopKind.WAVE_DONE else self.event(stop)

    def check_pending_signal(self) -> StopEvent | None:
        """End the program if its last stop was a fatal signal, after which it cannot continue."""
        if not self.parts.state.pending_signal:
            return None
        signal = self.parts.state.pending_signal
        if isinstance(self.target, ProcessTarget):  # the process decides by itself how it continues
            self.parts.state.pending_signal = ""
            self.target.deliver()
            return self.run()
        return self.end_with(SIGNALS[signal])

    def end_with(self, signal: Signal) -> StopEvent:
        """End the program by a signal; its past can still be visited if it was recorded."""
        self.terminate(memory_too=self.target.recording is None)
        return StopEvent(Terminated(signal), Focus())

    def _finish(self) -> ExitInfo:
        """Return the outcome of the program, which has ended; its memory remains readable until the next run."""
        info = self.parts.inferior.need_runnable().exit_info()
        self.parts.inferior.leave()
        self.left(False)
        return info

    def terminate(self, memory_too: bool = True) -> None:
        """End the program now; with ``memory_too``, its memory does not remain."""
        self.watcher.forget()
        self.parts.inferior.leave()
        self.parts.state.pending_signal = ""
        self.parts.state.calls.clear()
        self.left(memory_too)

    # -- events

    def event(self, stop: TargetStop) -> StopEvent | None:
        """Return the event for a target's stop; None if the stop need not be reported."""
        if stop.kind is TargetStopKind.DONE:
            gone = self.watcher.forget()
            return StopEvent(Exited(self._finish(), gone), Focus())
        if stop.kind is TargetStopKind.CHANGED:
            event, self.parts.state.change = self.parts.state.change, None
            return event
        if stop.host is not None:
            return self.parts.host.event(stop.host)
        if stop.kind is TargetStopKind.WATCH:
            return self._watched(stop)
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
            return self._caught(stop) or self.stopped_at(stop, lambda device: SignalReceived(signal, device))
        return None

    def _call_over(self, thread: int | None) -> StopEvent:
        """Return an event: a called function, whose expression was abandoned, has returned and its wave is restored."""
        assert thread is not None
        scope = self.parts.focus.move(self.end_call(thread).with_frame(0))
        return StopEvent(CallEnded(), scope, 1 << scope.lane if scope.lane is not None else 0)

    def _scope_end(self, stop: TargetStop) -> StopEvent | None:
        """Return an event if the frames of watchpoints have ended; delete these watchpoints."""
        ended = self.watcher.ended(stop)
        return self.scope_event(stop, ended) if ended else None

    def scope_event(self, stop: TargetStop, ended: Sequence[Watchpoint]) -> StopEvent:
        """Return an event if the frames of the watchpoints in ``ended`` were left; delete these watchpoints."""
        for watchpoint in ended:
            self.parts.breakpoints.delete(watchpoint.number)
        numbers = tuple(watchpoint.number for watchpoint in ended)
        return self.stopped_at(stop, lambda device: WatchScopeEnded(numbers, device))

    def _breakpoint(self, stop: TargetStop) -> StopEvent | None:
        assert stop.thread is not None
        hits, problems = self._hits_here(stop.thread, stop.pc)
        return self._hit_event(hits, stop.thread, stop.pc, problems) if hits else None

    def _hits_here(self, thread: int, pc: int) -> tuple[list[Hit], list[str]]:
        """Return the breakpoints that stop a wave at its position. Those that only print or collect do so now, and are
        not included."""
        hits, problems = self.hits(thread, pc)
        self.catcher.note(thread)
        hits = print_hits(hits, thread, self.parts.state.printf, problems.append)
        return self.native.take_hits(hits, thread, pc), problems

    def _hit_event(self, hits: Sequence[Hit], thread: int, pc: int, problems: Sequence[str]) -> StopEvent:
        """Return an event for a wave stopped by breakpoints."""
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
        """If a breakpoint is inside an inlined function and not at its call, enter the inlined frame: the breakpoint's
        condition is evaluated there."""
        self.enter_place(thread, pc, [place.location for breakpoint_ in made for place in breakpoint_.locations])

    def enter_place(self, thread: int, pc: int, places: Sequence[Location]) -> None:
        """Enter the inlined frame that begins at ``pc`` if one of the places is in it."""
        wanted = [place.code for place in places if place.address == pc and place.code is not None]
        starting = inlined_starting_at(self.parts.inferior.programs.at(LoadedAddress(pc)), LoadedAddress(pc))
        for index, instance in enumerate(starting):
            if any(same_function(instance.function, function) for function in wanted):
                if self.parts.inferior.inline_entered.get(thread) != index:
                    self.parts.inferior.inline_entered[thread] = index
                    self.parts.inferior.state_changed()
                return

    def hits(self, thread: int, pc: int) -> tuple[list[Hit], list[str]]:
        """Return the user's breakpoints that stop a wave here, and the problems with their conditions."""
        here = self.parts.breakpoints.at(pc)
        self.enter_inlined(thread, pc, here)
        conditions = self._conditions(thread, pc)
        arrival = self._arrival(thread, pc, conditions)
        with suppress(Stopped), self._interruptible():  # the evaluator reports an interrupt
            self.native.arrived(here, thread, pc)
            conditions.expect(
                (each.condition, lanes) for each in here
                if each.condition is not None and each.at_places and (lanes := each.lanes_of(arrival))
            )
        again = self.catcher.look(thread)
        return self.parts.breakpoints.hits(replace(arrival, again=again))

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Return a context manager in whose block an interrupt ends the debugger's own work, by raising `Stopped`."""
        with asking(lambda: self.parts.state.interrupting):
            yield

    def _arrival(self, thread: int, pc: int, conditions: ArrivalConditions | None = None) -> Arrival:
        """Return the arrival of a wave at an address, from which breakpoints determine whether they stop it."""
        active = self.parts.inferior.active_lanes(thread)
        used = self.parts.inferior.wave(thread).used_lanes
        return Arrival(thread, pc, active, conditions or self._conditions(thread, pc), used)

    def _conditions(self, thread: int, pc: int) -> ArrivalConditions:
        def changes(text: str, lanes: int) -> bool:
            place = self.parts.data.environment(Focus(thread, (lanes & -lanes).bit_length() - 1))
            try:
                return has_effect(value_tree(text, place))
            except Error:
                return False  # it cannot be evaluated

        def answers(asked: Sequence[Asked]) -> Mapping[Asked, int]:
            try:
                with self._interruptible():
                    return self.native.answers(asked, thread, pc)
            except Stopped:
                return {}

        return ArrivalConditions(
            lambda text, lanes: self.holds(text, thread, lanes, 0), changes,
            lambda text: self.native.is_compiled(text, pc), lambda count: self.native.answers_well(count, pc), answers,
        )

    def stopped_at(
        self, stop: TargetStop, make: Callable[[DeviceReport], Cause], problems: Sequence[str] = ()
    ) -> StopEvent:
        """Return an event for the stopped wave, or for a stop without a wave; ``make`` gives its cause."""
        thread = stop.thread
        if thread is None and not self.target.waves():
            self.parts.focus.move(Focus())
            return StopEvent(make(DeviceReport(stop.detail)), Focus(), problems=tuple(problems))
        cause = make(
            DeviceReport(
                self._with_message(stop), stop.report, (*stop.exceptions, stop.violation), stop.addresses, stop.space,
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
            lanes = 1 << focus.lane  # no lane caused the stop: keep the focus
        return self._focused(cause, thread, lanes, problems)

    def _with_message(self, stop: TargetStop) -> str:
        """Return the device's sentence about a stop, followed by the message that the program gives with its trap."""
        message = ""
        if stop.kind is TargetStopKind.TRAP:
            pc = LoadedAddress(stop.trap_pc or stop.pc)
            message = trap_message(self.parts.inferior.programs.at(pc), pc)
        return f"{stop.detail}\n{message}" if message else stop.detail

    def _focused(self, cause: Cause, thread: int, lanes: int, problems: Sequence[str]) -> StopEvent:
        """Move the focus to the first lane concerned, and return the event, which records whether the focus moved."""
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
        """Return an event: the focused lane has arrived at the destination of its command."""
        scope = self.parts.focus.move(self.parts.focus.current.with_frame(0))
        return StopEvent(cause, scope, 1 << scope.lane if scope.lane is not None else 0, returned=returned)

    def step_done(self, new_frame: bool) -> StopEvent:
        """Return an event: the focused lane has ended a step, in another frame or in the same."""
        return self.arrived(StepDone(new_frame))

    # -- the focused lane

    def logical_pc(self, scope: Focus) -> int | None:
        """Return the address where an inactive lane waits; None if not known."""
        assert scope.thread is not None
        entered = self.parts.inferior.entered(scope.thread, scope.lane or 0)
        return entered.pc if entered is not None else None

    def top_frame(self, scope: Focus) -> Frame:
        """Return the innermost frame of a lane. If the lane waits in a caller, this is not frame 0."""
        chain = self.parts.inferior.chain(scope)
        frame = chain.get(chain.innermost)
        assert frame is not None
        return frame

    def alive(self, thread: int | None) -> bool:
        """Whether the wave still exists."""
        return any(wave.number == thread for wave in self.target.waves())

    # -- watchpoints

    def _watched(self, stop: TargetStop) -> StopEvent | None:
        """Return an event if a watched value has changed and its watchpoint's condition is true.

        The wave has then reached its next instruction: breakpoints there are hit by the same stop, as in GDB.
        """
        assert stop.thread is not None
        problems: list[str] = []
        triggers = self._watch_triggers(stop, self.watcher.changed(stop), problems.append)
        reported_later = stop.pc in self.watcher.ends() or any(
            isinstance(one, Catchpoint) for one in self.parts.breakpoints.at(stop.pc)
        )
        hits: list[Hit] = []
        if not reported_later:
            if stop.pc in self.stop_addresses():
                hits, more = self._hits_here(stop.thread, stop.pc)
                problems += more
            self.parts.inferior.need_runnable().pass_over(stop.thread)
        if not triggers:
            return self._hit_event(hits, stop.thread, stop.pc, problems) if hits else None
        return self._watch_event(stop, triggers, hits, problems)

    def undone(self, stop: TargetStop, after: Mapping[int, list[Value | None]]) -> StopEvent | None:
        """Return the event for a position before an instruction that changes watched values. ``after`` holds the values
        after the instruction, by the watchpoint's number."""
        for watchpoint in self.watcher.all():
            watchpoint.values = after.get(watchpoint.number, watchpoint.values)
        problems: list[str] = []
        known = [each for each in self.watcher.changed(stop) if each.old is not None and each.new is not None]
        triggers = self._watch_triggers(stop, known, problems.append)
        return self._watch_event(stop, triggers, [], problems) if triggers else None

    def _watch_triggers(self, stop: TargetStop, changes: Sequence[Trigger], problem: Callable[[str], None]
    ) -> list[Trigger]:
        """Return the first relevant change of each watchpoint, and count it as a hit."""
        found = []
        by_number: dict[int, list[Trigger]] = {}
        for trigger in changes:
            by_number.setdefault(trigger.watchpoint.number, []).append(trigger)
        for each in by_number.values():
            watchpoint, own = each[0].watchpoint, sum(1 << one.lane for one in each if one.lane is not None)
            mine = bool(own) and (watchpoint.scoped or watchpoint.wave == stop.thread)
            arrival = self._watch_arrival(stop, watchpoint, own)
            held = self.parts.breakpoints.counts(watchpoint, arrival, own if mine else stop.lanes, problem)
            if held is not None:
                first = next((one for one in each if one.lane is not None and held >> one.lane & 1), each[0])
                found.append(replace(first, lanes=held))
        return found

    def _watch_arrival(self, stop: TargetStop, watchpoint: Watchpoint, lanes: int) -> Arrival:
        """Return the arrival for which a watchpoint's condition is evaluated. As in GDB, the condition is evaluated in
        the watchpoint's own frame, not in the wave that changed the value.
        """
        assert stop.thread is not None
        arrival = self._arrival(stop.thread, stop.pc)
        wave = watchpoint.wave
        level = self.watcher.frame_of(watchpoint) if watchpoint.scoped else None
        if level is None or wave is None or not lanes:
            return arrival
        return replace(arrival, active=lanes, condition=lambda text, lanes: self.holds(text, wave, lanes, level))

    def _watch_event(self, stop: TargetStop, triggers: Sequence[Trigger], hits: Sequence[Hit], problems: Sequence[str]
    ) -> StopEvent:
        by_number: dict[int, Breakpoint] = {one.watchpoint.number: one.watchpoint for one in triggers}
        by_number |= {hit.breakpoint.number: hit.breakpoint for hit in hits}
        numbers = sorted(by_number)
        self.parts.breakpoints.retire([*hits, *(Hit(one.watchpoint, 0) for one in triggers)])
        is_first = numbers[0] == triggers[0].watchpoint.number
        lanes = 0
        for hit in hits:
            lanes |= hit.lanes
        own = triggers[0].lanes if triggers[0].watchpoint.scoped and triggers[0].watchpoint.wave == stop.thread else 0
        concerned = own & (stop.lanes or own) or stop.lanes
        there = Hits(
            tuple(numbers), tuple(tuple(by_number[number].commands) for number in numbers),
            temporary=bool(hits) and hits[0].breakpoint.temporary,
            location=hits[0].location_at(stop.pc) if hits else None, triggers=tuple(triggers), lanes=lanes,
        )
        kind = WatchTriggered if is_first else BreakpointHit
        stop = replace(stop, lanes=concerned if is_first else lanes)
        return self.stopped_at(stop, lambda device: kind(there, device), problems)

    # -- catchpoints

    def _caught(self, stop: TargetStop) -> StopEvent | None:
        """Return an event if a catchpoint catches an exception or trap."""
        assert stop.thread is not None
        problems: list[str] = []
        hits, words = self.catcher.caught(stop, self._arrival(stop.thread, stop.pc), problems.append)
        return self._catch_event(stop, hits, words, problems)

    def loaded(self) -> StopEvent | None:
        """Return an event if a catchpoint catches code objects of a new target, on which nothing has run."""
        stop = TargetStop(TargetStopKind.BREAKPOINT, next((wave.number for wave in self.target.waves()), None))
        if stop.thread is None:
            return None
        problems: list[str] = []
        hits, words = self.catcher.loaded(self._arrival(stop.thread, stop.pc), problems.append)
        return self._catch_event(stop, hits, words, problems)

    def _code_change(self, come: Sequence[str], gone: Sequence[str]) -> StopEvent | None:
        """Return an event if a catchpoint catches code objects loaded or unloaded while the program ran, by URI."""
        problems: list[str] = []
        thread = self.parts.focus.current.thread
        alive = thread is not None and any(wave.number == thread for wave in self.target.waves())
        if thread is not None and alive:
            stop = TargetStop(TargetStopKind.CHANGED, thread, self.target.wave(thread).pc)
            arrival = self._arrival(thread, stop.pc)
        else:
            stop = TargetStop(TargetStopKind.CHANGED, next((wave.number for wave in self.target.waves()), None))
            arrival = Arrival(0, 0, 0, lambda text, lanes: 0)
        hits, words = self.catcher.code_change(come, gone, arrival, problems.append)
        return self._catch_event(stop, hits, words, problems)

    def _catch_event(self, stop: TargetStop, hits: list[Hit], words: str, problems: list[str]) -> StopEvent | None:
        if not hits:
            return None
        self.parts.breakpoints.retire(hits)
        return self.stopped_at(stop, lambda device: CatchpointHit(hits_of(hits), words, device), problems)

    # -- resuming

    def _resumed(self, request: Resume) -> TargetStop:
        """Resume, and return the target's stop. If code objects were loaded or unloaded, resolve breakpoints again and
        continue, unless a catchpoint catches that."""
        alone = request.only and self.parts.settings.scheduler_locking in ("on", "step")
        request = replace(request, begins=self._wants_begins(), alone=alone)
        stop = self._spend(request)
        while stop.kind is TargetStopKind.CHANGED and not self._code_change_caught():
            # The target does not know conditions at new places: they are evaluated when a wave arrives there.
            more = self.parts.breakpoints.addresses() - request.checks.keys()
            request = replace(request, stop_addresses=request.stop_addresses | more, begins=self._wants_begins())
            stop = self._spend(request)
        return stop

    def _spend(self, request: Resume) -> TargetStop:
        """Resume the target within the remaining budget of the command."""
        runnable, state = self.parts.inferior.need_runnable(), self.parts.state
        if state.budget is None:
            return runnable.resume(request)
        before = runnable.progress().instructions
        if not state.budget:  # the budget is used up
            request = replace(request, mode=ResumeMode.RUN)
        stop = runnable.resume(replace(request, budget=state.budget))
        state.budget = max(0, state.budget - (runnable.progress().instructions - before))
        return stop

    def _take_code(self) -> None:
        """Update the programs from the target's loaded code objects."""
        if self.parts.inferior.programs.update(self.target.code_objects()):
            self.parts.inferior.state_changed()
            self.parts.breakpoints.resolve_again()
            self.native.forget()

    def _wants_begins(self) -> bool:
        """Whether catchpoints apply to future dispatches."""
        catching = (one for one in self.parts.breakpoints.elsewhere if isinstance(one, Catchpoint))
        return any(one.enabled and one.event.has_ends for one in catching)

    def _code_change_caught(self) -> bool:
        """Whether catchpoints apply to code objects that are loaded or unloaded."""
        programs = self.parts.inferior.programs
        before = {program.uri for program in programs if program.loaded}
        self._take_code()
        after = {program.uri for program in programs if program.loaded}
        self.parts.state.change = self._code_change(sorted(after - before), sorted(before - after))
        return self.parts.state.change is not None

    # -- called functions

    def begin_call(self, thread: int, room: int) -> CallPlace:
        """Suspend a wave at its position, to run a function on it with ``room`` bytes of memory in each lane.

        Raises `DebuggerError` if the target cannot do so, or has no memory for it.
        """
        calls, inferior, state = calls_of(self.target), self.parts.inferior, self.parts.state
        if calls is None:
            raise DebuggerError("Functions of the program cannot be called on this target.")
        place = calls.begin(thread, room)
        state.calls.append(
            SuspendedPlace(
                thread, self.parts.focus.current, state.pending_signal, inferior.inline_entered.get(thread),
                inferior.behind_traps.get(thread),
            )
        )
        state.pending_signal = ""
        inferior.state_changed()
        return place

    def end_call(self, thread: int) -> Focus:
        """Restore a wave, and the focus, to where the innermost call on it was made; returns the focus."""
        calls, inferior, state = calls_of(self.parts.inferior.target), self.parts.inferior, self.parts.state
        found = next((place for place in reversed(state.calls) if place.thread == thread), None)
        if found is None or calls is None:
            return self.parts.focus.current
        state.calls.remove(found)
        calls.end(thread)
        state.pending_signal = found.pending_signal
        if found.inline_entered is not None:
            inferior.inline_entered[thread] = found.inline_entered
        if found.behind_trap is not None:
            inferior.behind_traps[thread] = found.behind_trap
        else:
            inferior.behind_traps.pop(thread, None)
        inferior.state_changed()
        return self.parts.focus.move(found.focus)


def thread_exited(runner: Runner, thread: int) -> StopEvent:
    """Return the event for the end of a wave that a command followed."""
    runner.parts.focus.move(Focus())
    return StopEvent(ThreadExited(thread), Focus())


def thread_of(scope: Focus) -> int:
    """Return the wave of a scope, for a command that steps it."""
    assert scope.thread is not None
    return scope.thread
