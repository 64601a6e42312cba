"""Stepping: the focused lane moves to another line, another instruction, out of a function, to a place.

The wave runs; the lane is what is watched. Where the lane is not active the wave goes on until it is again:
code that other lanes execute is not a place where this one has been.
"""

from __future__ import annotations

from dataclasses import dataclass

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.errors import DebuggerError
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.frames import Frame, FrameKind, physical_place
from rocdbg.debugger.frames.returned_value import return_value
from rocdbg.debugger.running.lines import (
    Start,
    begins_line,
    frame_changed,
    inline_offsets,
    is_inlined_deeper,
    line_of,
    line_range,
    row_range,
    stands_at_another_line,
)
from rocdbg.debugger.running.runner import Internal, Runner
from rocdbg.debugger.running.stops import StopEvent, StopReason
from rocdbg.debugger.target.protocol import Resume, ResumeMode, TargetStop, TargetStopKind
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import Type, VoidType

RETURN_LOW, RETURN_HIGH = 62, 63
"""DWARF numbers of s30 and s31, where the calling convention has the return address at a function's entry."""


@dataclass(slots=True)
class Stepper:
    """The stepping commands over a `Runner`."""

    runner: Runner

    # -- commands

    def step_line(self, scope: Focus, into: bool) -> StopEvent:
        """``step`` and ``next``."""
        ended = self.runner.check_pending_signal()
        if ended is not None:
            return ended
        here = self.runner.top_frame(scope)
        if into and here.hidden:
            return self._enter_inlined(scope, here)
        start = first = Start.of(self.runner.host.chain(scope.with_frame(0)), scope)
        if self.runner.host.behind_traps.pop(self._thread(scope), None) is not None:
            # the trap itself is over: the step may have no more to do than to show where the wave is
            self.runner.host.state_changed()
            frame = self.runner.top_frame(scope)
            hides_other = frame.hidden and line_of(frame) != start.line
            if hides_other or (not frame.hidden and stands_at_another_line(frame, start)):
                return self.runner.step_event(StopReason.STEP, frame_changed(frame, start))
        low, high = self._range(start)
        line = start.line
        was_active = self.runner.is_active(scope)
        waits_at = None if was_active else self.runner.logical_pc(scope)
        if waits_at is not None:
            event = self._until_active(scope)
            if event is not None:
                return event
            frame = self.runner.top_frame(scope)
            if stands_at_another_line(frame, start):
                return self.runner.step_event(StopReason.STEP, frame_changed(frame, start))
            low, high = line_range(frame)
            was_active = True
        while True:
            stop = self._resume_range(scope, low, high)
            event = self._common(stop, scope)
            if event is not None:
                return event
            pc = self.runner.target.wave(self._thread(scope)).pc
            if low <= pc < high and stop.kind is TargetStopKind.BREAKPOINT:
                continue
            returned_or_event = self._over_or_into_call(scope, start, pc, into and was_active)
            if isinstance(returned_or_event, StopEvent):
                return returned_or_event
            if returned_or_event and low <= self.runner.target.wave(self._thread(scope)).pc < high:
                continue  # a call was stepped over; go on in the old range
            resumed_midway = False
            if not self.runner.is_active(scope):
                told = self.runner.logical_pc(scope) is not None
                event = self._until_active(scope)
                if event is not None:
                    return event
                # where lane PCs tell where the lane waited, a line that it goes on in the middle of is not its own
                resumed_midway = not told
            frame = self.runner.top_frame(scope)
            place = physical_place(frame.context)
            if start.has_caller and place == start.caller_place and place != start.place:
                # returned: what is left of the caller's line belongs to the step, calls in it are stepped into
                start = Start.of(self.runner.host.chain(scope.with_frame(0)), scope)
                if not frame.hidden and not begins_line(frame, line):
                    low, high = line_range(frame)
                    line = line_of(frame)
                    continue
            if not into and is_inlined_deeper(frame, start):
                low, high = row_range(frame)
                continue
            if frame.hidden:
                if line_of(frame) != line:
                    return self.runner.step_event(StopReason.STEP, frame_changed(frame, first))
                if into:
                    return self._enter_inlined(scope, frame)
                low, high = row_range(frame)
                continue
            row = frame.row
            if row is None:
                return self.runner.step_event(StopReason.STEP, True)
            place_here = (row.file.path, row.line)
            at_start = self.runner.program.to_loaded(row.address) == frame.pc
            new_line = row.line != 0 and place_here != line
            if new_line and ((at_start and row.is_stmt) or resumed_midway):
                new_frame = frame_changed(frame, first)
                return self.runner.step_event(StopReason.STEP, new_frame)
            low, high = line_range(frame)
            passing = waits_at is not None and place == start.place and not at_start
            if row.line != 0 and not passing and not (new_line and at_start and not row.is_stmt):
                line = place_here

    def _enter_inlined(self, scope: Focus, frame: Frame) -> StopEvent:
        """Into an inlined call that begins right here: nothing runs, one more frame is shown."""
        self.runner.host.inline_entered[self._thread(scope)] = frame.hidden - 1
        self.runner.host.state_changed()
        return self.runner.step_event(StopReason.STEP, True)

    def step_instruction(self, scope: Focus, over: bool) -> StopEvent:
        """``stepi`` and ``nexti``: one instruction of the wave."""
        ended = self.runner.check_pending_signal()
        if ended is not None:
            return ended
        frame = self.runner.top_frame(scope)
        start = Start.of(self.runner.host.chain(scope.with_frame(0)), scope)
        stop = self._resume(scope, ResumeMode.STEP)
        event = self._common(stop, scope)
        if event is not None:
            return event
        pc = self.runner.target.wave(self._thread(scope)).pc
        if over:
            result = self._over_or_into_call(scope, start, pc, False)
            if isinstance(result, StopEvent):
                return result
        after = self.runner.top_frame(scope)
        changed = after.function != frame.function
        return self.runner.step_event(StopReason.STEP, changed)

    def finish(self, scope: Focus) -> StopEvent:
        """``finish``: until the selected frame has returned to its caller."""
        chain = self.runner.host.chain(scope)
        frame = chain.get(scope.frame)
        outer = chain.get(frame.level + 1) if frame is not None else None
        if frame is None or outer is None:
            raise DebuggerError('"finish" not meaningful in the outermost frame.')
        if frame.kind is FrameKind.INLINE:
            return self._finish_inline(scope, frame)
        physical = outer.context
        address = outer.pc
        place = physical_place(physical)
        function = frame.function
        thread = self._thread(scope)
        event = self._run_to(scope, address, place, thread)
        if event is not None:
            return event
        value: Value | None = None
        untold: Type | None = None
        if function is not None:
            value = return_value(function, self.runner.target, thread, scope.lane)
            if value is None and not isinstance(function.return_type.strip_typedefs(), VoidType):
                untold = function.return_type
        return self.runner.step_event(StopReason.FINISHED, True, returned=value, returned_type=untold)

    def until_next(self, scope: Focus) -> StopEvent:
        """``until`` without a place: as ``next``, but never backwards: loops are left."""
        start = self.runner.top_frame(scope)
        place = physical_place(start.context)
        first = start.pc
        while True:
            event = self.step_line(scope, into=False)
            if event.reason is not StopReason.STEP:
                return event
            frame = self.runner.top_frame(scope)
            if physical_place(frame.context) != place or frame.pc > first:
                return event

    def run_to_location(self, scope: Focus, addresses: frozenset[int], or_return: bool) -> StopEvent:
        """``advance`` and ``until LOCATION``: to one of the loaded addresses, or out of the frame."""
        thread = self._thread(scope)
        wanted = set(addresses)
        return_to: int | None = None
        outer_place: tuple[int | None, int | None] | None = None
        if or_return:
            chain = self.runner.host.chain(scope)
            frame = chain.get(scope.frame)
            outer = next(
                (f for f in chain if frame is not None and f.context.callee is frame.context), None
            )
            if outer is not None:
                return_to = outer.pc
                outer_place = physical_place(outer.context)
                wanted.add(outer.pc)

        def accept(stop: TargetStop) -> bool:
            if stop.thread != thread or not self.runner.is_active(scope):
                return False
            if stop.pc == return_to and stop.pc not in addresses:
                return physical_place(self.runner.top_frame(scope).context) == outer_place
            return True

        event = self.runner.run(Internal(frozenset(wanted), accept))
        return event or self.runner.step_event(StopReason.LOCATION, True)

    # -- parts

    @staticmethod
    def _thread(scope: Focus) -> int:
        assert scope.thread is not None
        return scope.thread

    def _range(self, start: Start) -> tuple[int, int]:
        return line_range(self.runner.top_frame(start.scope))

    def _resume(self, scope: Focus, mode: ResumeMode, low: int = 0, high: int = 0) -> TargetStop:
        return self.runner.resume(
            Resume(
                mode,
                self._thread(scope),
                low,
                high,
                stop_addresses=self.runner.stop_addresses(),
                only=self.runner.locked,
            )
        )

    def _resume_range(self, scope: Focus, low: int, high: int) -> TargetStop:
        return self._resume(scope, ResumeMode.RANGE, low, high)

    def _common(self, stop: TargetStop, scope: Focus) -> StopEvent | None:
        """Events that end any step: other stops, and the end of the wave."""
        if stop.kind in (TargetStopKind.RANGE, TargetStopKind.STEP):
            # the wave may have arrived on a user's breakpoint without executing it
            if stop.pc in self.runner.stop_addresses() and stop.thread is not None:
                return self.runner.event(
                    TargetStop(TargetStopKind.BREAKPOINT, stop.thread, stop.pc, stop.lanes)
                )
            return None
        if stop.kind is TargetStopKind.WAVE_DONE:
            return self.runner.run()
        return self.runner.event(stop)

    def _over_or_into_call(
        self, scope: Focus, start: Start, pc: LoadedAddress, into: bool
    ) -> StopEvent | bool:
        """Deal with a PC at the entry of a called function.

        An event when the step ends in there; True when the call was run through; False when there is no call.
        """
        called = self._called_from(scope, start, pc)
        if called is None:
            return False
        program = self.runner.program
        function = program.function_at(pc)
        if into and function is not None:
            address = program.info.breakpoint_address(function)
            if address is not None:
                target = program.to_loaded(address)
                if target != pc:
                    event = self._run_to(scope, target, None, self._thread(scope), any_frame=True)
                    if event is not None:
                        return event
                return self.runner.step_event(StopReason.STEP, True)
        event = self._run_to(scope, called, start.place, self._thread(scope), lane_matters=False)
        return event if event is not None else True

    def _called_from(self, scope: Focus, start: Start, pc: LoadedAddress) -> LoadedAddress | None:
        """The return address when the wave stands at the entry of a function that ``start`` has called."""
        program = self.runner.program
        function = program.function_at(pc)
        symbol = program.symbol_at(pc)
        entry = function.low_pc if function is not None else None
        if entry is None and symbol is not None:
            entry = program.code_object.address_of(symbol)
        if entry is None or program.to_loaded(entry) != pc:
            return None
        target, thread = self.runner.target, self._thread(scope)
        low = int.from_bytes(target.read_register(thread, RETURN_LOW), "little")
        high = int.from_bytes(target.read_register(thread, RETURN_HIGH), "little")
        address = LoadedAddress(low | high << 32)
        caller = program.function_at(LoadedAddress(address - 1))
        if caller is None or caller.low_pc != start.function_low:
            return None
        return address

    def _run_to(
        self,
        scope: Focus,
        address: int,
        place: tuple[int | None, int | None] | None,
        thread: int,
        *,
        any_frame: bool = False,
        lane_matters: bool = True,
    ) -> StopEvent | None:
        """Run to an address in a known frame; ``None`` when it got there."""

        def accept(stop: TargetStop) -> bool:
            if stop.thread != thread:
                return False
            if lane_matters and not self.runner.is_active(scope):
                return False
            if any_frame:
                return True
            return physical_place(self.runner.top_frame(scope).context) == place

        return self.runner.run(
            Internal(frozenset({address}), accept), thread if self.runner.locked else None
        )

    def _until_active(self, scope: Focus) -> StopEvent | None:
        """Run the wave until the lane is active; ``None`` when it is.

        Straight code in which EXEC does not change is run in one go.
        """
        program, exec_map = self.runner.program, self.runner.host.exec_map
        while True:
            start = Start.of(self.runner.host.chain(scope.with_frame(0)), scope)
            wave = self.runner.target.wave(self._thread(scope))
            address = program.to_file(wave.pc)
            function = exec_map.function_at(address, wave.lane_count) if exec_map is not None else None
            if function is None:
                stop = self._resume(scope, ResumeMode.STEP)
            else:
                end = program.to_loaded(function.next_event(address))
                stop = self._resume_range(scope, wave.pc, end)
            if stop.kind is TargetStopKind.BREAKPOINT:
                event = self.runner.event(stop)
            else:
                event = self._common(stop, scope)
            if event is not None:
                return event
            if self.runner.is_active(scope):
                return None
            pc = self.runner.target.wave(self._thread(scope)).pc
            result = self._over_or_into_call(scope, start, pc, False)
            if isinstance(result, StopEvent):
                return result
            if result and self.runner.is_active(scope):
                return None

    def _finish_inline(self, scope: Focus, frame: Frame) -> StopEvent:
        """Out of an inlined call: step over lines until its code is left."""
        assert frame.inline is not None
        wanted = frame.inline.offset
        while True:
            event = self.step_line(scope.with_frame(0), into=False)
            if event.reason is not StopReason.STEP:
                return event
            top = self.runner.top_frame(scope)
            if wanted not in inline_offsets(top):
                return self.runner.step_event(StopReason.FINISHED, True)
