"""Stepping: the focused lane moves to another line or another instruction.

The wave runs, but the lane's position counts. While the lane is inactive, the wave continues until it is active again:
code that other lanes execute does not count as this lane's position.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.addresses import FileAddress
from rocdbg.arch.dwarf_registers import FRAME_REGISTERS
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.catchpoints import Catchpoint
from rocdbg.debugger.frames.frames import Frame, physical_place
from rocdbg.debugger.program.functions_with_code import inlined_starting_at
from rocdbg.debugger.running.line_ranges import begins_line, line_of, line_range, row_range, symbol_range
from rocdbg.debugger.running.runner import Runner, thread_exited, thread_of
from rocdbg.debugger.running.step_calls import over_or_into_call, run_to
from rocdbg.debugger.running.step_origin import (
    StepStart,
    frame_changed,
    is_at_another_line,
    is_inlined_deeper,
    step_start,
)
from rocdbg.debugger.running.step_plans import StepPlan
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from rocdbg.debugger.target.capabilities.runnable import Resume, ResumeMode, TargetStop, TargetStopKind
from rocdbg.dwarf.info import LineRow
from rocdbg.sim.core.stop_plan import State, StopPlan


class Stepper(Struct):
    """The stepping commands over a `Runner`."""

    runner: Runner

    # -- commands

    def step_line(
        self, scope: Focus, into: bool, until: tuple[int, int] | None = None, within: tuple[int, int] | None = None
    ) -> StopEvent:
        """``step`` and ``next``.

        ``until`` is a range of addresses in the frame in which the step began: a step that would end there continues as
        another step. ``within`` is the range that the step has to leave; by default it is that of the line or, without
        lines, that of the symbol.
        """
        ended = self.runner.check_pending_signal()
        if ended is not None:
            return ended
        here = self.runner.top_frame(scope)
        if into and here.hidden and not self._skips_hidden(here):
            return self._enter_inlined(scope, here)
        start = first = self._start(scope)
        if self.runner.parts.inferior.behind_traps.pop(thread_of(scope), None) is not None:
            # The wave has passed the trap itself, so perhaps the step only has to show where the wave is.
            self.runner.parts.inferior.state_changed()
            frame = self.runner.top_frame(scope)
            hides_other = frame.hidden and line_of(frame) != start.line
            if hides_other or (not frame.hidden and is_at_another_line(frame, start)):
                return self.runner.step_done(frame_changed(frame, start))
        low, high = within or line_range(self.runner.top_frame(scope))
        line = start.line
        plan = self._plan(scope, start, into)
        if plan is not None:
            plan.enter(start, line)
        waits_at = None if self.runner.parts.inferior.is_active(scope) else self.runner.logical_pc(scope)
        if waits_at is not None:
            event = self._until_active(scope, plan)
            if event is not None:
                return event
            frame = self.runner.top_frame(scope)
            if is_at_another_line(frame, start):
                return self.runner.step_done(frame_changed(frame, start))
            low, high = line_range(frame)
        while True:
            stop, event = self._follow(scope, plan, State.ACTIVE, low, high)
            if event is not None:
                return event
            if plan is not None:
                low, high = plan.plan.range if plan.plan.state is State.ACTIVE else (0, 0)
                before = start
                start, line = plan.now
                first = start if start is not before else first
            pc = self.runner.target.wave(thread_of(scope)).pc
            if low <= pc < high and stop.kind is not TargetStopKind.RANGE:
                continue
            # A function that only other lanes call is not entered, even if this lane was active when the step began.
            enter = into and self.runner.parts.inferior.is_active(scope)
            returned_or_event = over_or_into_call(self.runner, scope, start, pc, enter)
            if isinstance(returned_or_event, StopEvent):
                return returned_or_event
            if returned_or_event and plan is not None:
                plan.called(pc, enter)
            if returned_or_event and low <= self.runner.target.wave(thread_of(scope)).pc < high:
                continue  # a call was stepped over; continue in the old range
            resumed_midway = False
            if not self.runner.parts.inferior.is_active(scope):
                is_located = self.runner.logical_pc(scope) is not None
                event = self._until_active(scope, plan, began=True)
                if event is not None:
                    return event
                # If lane PCs show where the lane waited, a line that it resumes in the middle is not a new one.
                resumed_midway = not is_located
            frame = self.runner.top_frame(scope)
            place = physical_place(frame.context)
            if start.has_caller and place == start.caller_place and place != start.place:
                # It has returned: the rest of the caller's line belongs to the step, which enters calls there.
                start = self._start(scope)
                plan = self._plan(scope, start, into)
                if plan is not None:
                    plan.enter(start, line)
                if frame.row is not None and not frame.hidden and not begins_line(frame, line):
                    low, high = line_range(frame)
                    line = line_of(frame)
                    if plan is not None:
                        plan.enter(start, line)
                    continue
            same_frame = place == start.place
            if is_inlined_deeper(frame, start) and not (into and self._enters(frame)):
                low, high = row_range(frame)
                self._learn(plan, same_frame, low, high)
                continue
            if frame.hidden:
                if line_of(frame) != line:
                    return self.runner.step_done(frame_changed(frame, first))
                if into and not self._skips_hidden(frame):
                    return self._enter_inlined(scope, frame)
                low, high = row_range(frame)
                self._learn(plan, same_frame, low, high)
                continue
            row = frame.row
            if row is None:
                return self.runner.step_done(True)
            place_here = (row.file.path, row.line)
            at_start = frame.program.to_loaded(row.address) == frame.pc
            new_line = row.line != 0 and place_here != line
            passed = at_start and self._is_passed(frame, row)
            if new_line and ((at_start and row.is_stmt) or resumed_midway) and not passed:
                if until is not None and same_frame and until[0] <= frame.pc < until[1] and waits_at is None:
                    low, high = line_range(frame)
                    start = first = self._start(scope)
                    line = start.line
                    if plan is not None and not resumed_midway:
                        plan.goes_on(low, high, line, start.inline)
                    if plan is not None:
                        plan.enter(start, line)
                    continue
                new_frame = frame_changed(frame, first)
                return self.runner.step_done(new_frame)
            low, high = line_range(frame)
            passing = waits_at is not None and place == start.place and not at_start
            if passed:
                self._learn(plan, same_frame, low, high)
                continue
            if row.line != 0 and not passing and not (new_line and at_start and not row.is_stmt) and line != place_here:
                line = place_here
                if plan is not None:
                    if same_frame and waits_at is None and not resumed_midway:
                        plan.goes_on(low, high, line, start.inline)
                    plan.enter(start, line)
            else:
                self._learn(plan, same_frame, low, high)

    def _is_passed(self, frame: Frame, row: LineRow) -> bool:
        """Whether the code of a row is only the compiler's own, and not a statement of the source."""
        wave_size = self.runner.target.wave(thread_of(frame.scope)).lane_count
        return self.runner.parts.inferior.machine_code(frame.program).bookkeeping.is_passed(row, wave_size)

    def _enters(self, frame: Frame) -> bool:
        """Whether `step` stops in a frame's inlined call."""
        row = frame.row
        return frame.function is None or not self.runner.parts.skips.covers(frame.function, row.file if row else None)

    def _skips_hidden(self, frame: Frame) -> bool:
        """Whether `step` skips the inlined call that begins immediately after a frame."""
        function = inlined_starting_at(frame.program, frame.pc)[frame.hidden - 1].function
        return self.runner.parts.skips.covers(function, function.decl_file)

    def _enter_inlined(self, scope: Focus, frame: Frame) -> StopEvent:
        """Step into an inlined call that begins here: nothing runs, but one more frame is shown."""
        self.runner.parts.inferior.inline_entered[thread_of(scope)] = frame.hidden - 1
        self.runner.parts.inferior.state_changed()
        return self.runner.step_done(True)

    def step_instruction(self, scope: Focus, over: bool) -> StopEvent:
        """``stepi`` and ``nexti``: execute one instruction of the wave."""
        ended = self.runner.check_pending_signal()
        if ended is not None:
            return ended
        frame = self.runner.top_frame(scope)
        start = self._start(scope)
        thread = thread_of(scope)
        before = self.runner.target.wave(thread).instructions
        while True:
            stop = self._resume(scope, ResumeMode.STEP)
            event = self._common(stop, scope)
            if event is not None:
                return event
            if stop.kind is not TargetStopKind.BREAKPOINT or self.runner.target.wave(thread).instructions != before:
                break  # otherwise the wave stopped before the instruction, for a stop that need not be reported
        pc = self.runner.target.wave(thread).pc
        if over:
            result = over_or_into_call(self.runner, scope, start, pc, False)
            if isinstance(result, StopEvent):
                return result
        after = self.runner.top_frame(scope)
        changed = after.function != frame.function or (after.function is None and frame_changed(after, start))
        return self.runner.step_done(changed)

    def run_ahead(self, scope: Focus, over: bool, count: int) -> tuple[int, StopEvent | None]:
        """Execute up to ``count`` instructions of the wave without examining each of them.

        Return the number of executed instructions, and the event if something else happened. ``over``: a call counts as
        one instruction.
        """
        runner, thread = self.runner, thread_of(scope)
        state = runner.parts.state
        recording = runner.target.recording
        if (
            not state.plans or state.budget is not None or state.pending_signal
            or (recording is not None and recording.replaying)
            or any(one.is_idle or one.needs_checks for one in runner.watcher.all())
            or any(isinstance(one, Catchpoint) for one in runner.parts.breakpoints)
        ):
            return 0, None
        wave = runner.target.wave(thread)
        if over:
            return self._ahead_over_calls(scope, count)
        before = wave.instructions
        stop = self._resume(scope, ResumeMode.STEP, steps=count)
        event = self._common(stop, scope)
        if event is not None:
            return count, event
        return runner.target.wave(thread).instructions - before, None

    def _ahead_over_calls(self, scope: Focus, count: int) -> tuple[int, StopEvent | None]:
        """`run_ahead` for ``nexti``: execute instructions of the present function, without counting those that calls
        execute.

        Only this wave runs. Each run is limited to as many instructions as are left, including those of calls, so that
        the wave never executes too many. Runs are repeated until the count is reached. If a call does not return within
        the limit, all waves run until it has returned, because it may wait for them.
        """
        runner, thread = self.runner, thread_of(scope)
        start = self._start(scope)
        plan = self._plan(scope, start, into=False)
        entry, size = (plan.plan.get("function"), plan.plan.get("function_size")) if plan is not None else (0, 0)
        low, high = entry + 1, entry + size  # not the entry: the wave arrives there if the function calls itself
        if plan is None or not low <= runner.target.wave(thread).pc < high:
            return 0, None
        plan.enter(start, start.line)
        done = 0
        while done < count:
            before = runner.target.wave(thread).instructions
            plan.plan.arm(State.ACTIVE, low, high, comes_back=False)
            stop = self._resume(scope, ResumeMode.RANGE, low, high, plan.plan, most=count - done)
            event = self._common(stop, scope)
            if event is not None:
                return count, event
            wave = runner.target.wave(thread)
            pc, own = wave.pc, wave.instructions - before - plan.plan.in_calls(wave.instructions)
            done += own
            if plan.plan.state is State.CALL:
                event = run_to(runner, scope, plan.plan.returns_to, start.place, lane_matters=False)
                if event is not None:
                    return count, event
            elif not low <= pc < high:
                called = over_or_into_call(runner, scope, start, pc, False)
                if isinstance(called, StopEvent):
                    return count, called
                if not called:
                    break
                plan.called(pc, False)
            elif not own:
                break
        return done, None

    def until_next(self, scope: Focus) -> StopEvent:
        """``until`` without a location: like ``next``, but it never goes backwards in the function, and so leaves
        loops.

        As in GDB, it compares addresses without regard to the frame, so it leaves recursion as well. Without lines, it
        goes to the first instruction that is not before the present one. In assembly, the symbol at the PC takes the
        place of the function.
        """
        start = self.runner.top_frame(scope)
        low, end = line_range(start)
        if start.row is None:
            return self.step_line(scope, into=False, within=(low, start.pc + 1))
        physical = start.context.function
        if physical is not None and physical.low_pc is not None:
            low = start.program.to_loaded(physical.low_pc)
        elif physical is None:  # assembly
            low = min(low, symbol_range(start)[0])
        while True:
            event = self.step_line(scope, into=False, until=(low, end))
            if event.reason is not StopReason.STEP:
                return event
            frame = self.runner.top_frame(scope)
            if not low <= frame.pc < end:
                return event

    # -- parts

    def _start(self, scope: Focus) -> StepStart:
        return step_start(self.runner.parts.inferior.chain(scope.with_frame(0)))

    def _plan(self, scope: Focus, start: StepStart, into: bool) -> StepPlan | None:
        return StepPlan.of(self.runner, scope, start, into) if self.runner.parts.state.plans else None

    @staticmethod
    def _learn(plan: StepPlan | None, same_frame: bool, low: int, high: int) -> None:
        """Add to the plan that the active lane continues in a range whenever it is at this place in the same frame."""
        if plan is not None and same_frame:
            plan.goes_on(low, high)

    def _follow(
        self, scope: Focus, plan: StepPlan | None, state: State, low: int, high: int, comes_back: bool = False
    ) -> tuple[TargetStop, StopEvent | None]:
        """Run in a range, and continue by the plan. Return the stop, and an event if something else stopped the wave.
        """
        if plan is not None:
            plan.plan.arm(state, low, high, comes_back)
        while True:
            stop = self._resume(scope, ResumeMode.RANGE, low, high, plan.plan if plan is not None else None)
            event = self._common(stop, scope)
            if event is not None or plan is None or plan.plan.state is not State.CALL:
                return stop, event

    def _resume(
        self, scope: Focus, mode: ResumeMode, low: int = 0, high: int = 0, plan: StopPlan | None = None,
        steps: int = 1, most: int | None = None,
    ) -> TargetStop:
        thread = thread_of(scope)
        if mode is ResumeMode.RANGE and self.runner.watcher.stepped(thread) == thread:
            mode = ResumeMode.STEP  # the range in which the caller's loop then continues
        return self.runner.resume(
            Resume(
                mode,
                thread,
                low,
                high,
                stop_addresses=self.runner.stop_addresses(),
                only=self.runner.locked or most is not None,
                most=most,
                steps=steps,
                plan=plan if mode is ResumeMode.RANGE else None,
            )
        )

    def _common(self, stop: TargetStop, scope: Focus) -> StopEvent | None:
        """Return the event if a stop ends any kind of step: another reason to stop, or the end of the wave."""
        if stop.kind in (TargetStopKind.RANGE, TargetStopKind.STEP):
            # The wave may have arrived at a user's breakpoint, whose instruction it has not executed yet.
            if stop.pc in self.runner.stop_addresses() and stop.thread is not None:
                return self.runner.event(
                    TargetStop(TargetStopKind.BREAKPOINT, stop.thread, stop.pc, stop.lanes)
                )
            return None
        if stop.kind is TargetStopKind.WAVE_DONE:
            return thread_exited(self.runner, thread_of(scope))
        return self.runner.event(stop)

    def _until_active(self, scope: Focus, plan: StepPlan | None, began: bool = False) -> StopEvent | None:
        """Run the wave until the lane is active; return None when it is.

        Straight-line code in which EXEC does not change is run in one go. ``began``: the lane was active when the wave
        left the previous range.
        """
        inferior, target, thread = self.runner.parts.inferior, self.runner.target, thread_of(scope)
        start, was_in = None, None
        while True:
            wave = target.wave(thread)
            program = inferior.programs.at(wave.pc)
            address = program.to_file(wave.pc)
            function = inferior.exec_map(program).function_at(address, wave.lane_count)
            # A waiting lane stays in its frame, which is looked up again only where the wave's frame may have changed.
            low = None if function is None else program.to_loaded(FileAddress(function.low))
            is_in = (low, *(target.read_register(thread, number) for number in FRAME_REGISTERS))
            if start is None or low is None or is_in != was_in:
                start, was_in = self._start(scope), is_in
            if function is None:
                stop = self._resume(scope, ResumeMode.STEP)
                event = self._common(stop, scope)
            else:
                end = program.to_loaded(function.next_event(address))
                if plan is not None:
                    plan.waits(wave.pc, end, began)
                stop, event = self._follow(scope, plan, State.WAITING, wave.pc, end, comes_back=True)
            began = False
            if event is not None:
                return event
            if self.runner.parts.inferior.is_active(scope):
                return None
            pc = target.wave(thread).pc
            result = over_or_into_call(self.runner, scope, start, pc, False)
            if isinstance(result, StopEvent):
                return result
            if result and plan is not None:
                plan.called(pc, False)
            if result and self.runner.parts.inferior.is_active(scope):
                return None


# Moving from the end of a statement to the beginning of the next, if only the compiler's bookkeeping is in between.
# After a call has returned, or a watched word was written, often only code that restores registers and masks is left of
# the statement (`rocdbg.debugger.program.compiler_bookkeeping`). On a CPU the next instruction would belong to the next
# statement, and a stop would show that statement.
_SETTLED = frozenset((StopReason.WATCHPOINT, StopReason.WATCHPOINT_SCOPE))


def settle(runner: Runner, scope: Focus) -> StopEvent | None:
    """Continue to the next statement if only the compiler's bookkeeping is left of the lane's current one.

    Returns None unless something else happened on the way, such as a breakpoint.
    """
    thread = thread_of(scope)
    wave = runner.target.wave(thread)
    program = runner.parts.inferior.programs.at(wave.pc)
    if not program.has_debug_info or not runner.parts.inferior.is_active(scope):
        return None
    if not runner.parts.inferior.machine_code(program).bookkeeping.remains(program.to_file(wave.pc), wave.lane_count):
        return None
    runner.parts.state.alone = True
    try:
        event = Stepper(runner).step_line(scope.with_frame(0), into=False)
    finally:
        runner.parts.state.alone = False
    return None if event.reason is StopReason.STEP else event


def settled(runner: Runner, event: StopEvent | None) -> StopEvent | None:
    """Apply `settle` to a stop at a watchpoint, and return the event of that stop."""
    if event is None or event.reason not in _SETTLED or event.scope.thread is None:
        return event
    scope = runner.parts.focus.current
    wave = runner.target.wave(thread_of(scope))
    program = runner.parts.inferior.programs.at(wave.pc)
    address = program.to_file(wave.pc)
    if not program.has_debug_info:
        return event
    following = runner.parts.inferior.machine_code(program).bookkeeping.following(address, wave.lane_count)
    stops = runner.stop_addresses()
    if wave.pc in stops or any(program.to_loaded(row.address) in stops for row in following):
        return event  # there is a breakpoint that continuing would skip
    other = settle(runner, scope)
    return event if other is None else replace(other, problems=event.problems + other.problems)
