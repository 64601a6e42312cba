"""Stepping: the focused lane moves to another line, another instruction, out of a function, to a place.

The wave runs; the lane is what is watched. Where the lane is not active the wave goes on until it is again:
code that other lanes execute is not a place where this one has been.
"""

from __future__ import annotations

from dataclasses import dataclass

from rocdbg.debugger.errors import DebuggerError
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.frames import Frame, FrameKind, physical_place
from rocdbg.debugger.frames.returned_value import return_value
from rocdbg.debugger.running.runner import Internal, Runner
from rocdbg.debugger.running.stops import StopEvent, StopReason
from rocdbg.debugger.target.runnable import Resume, ResumeMode, TargetStop, TargetStopKind
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import LineRow
from rocdbg.dwarf.info.types import Type, VoidType

RETURN_LOW, RETURN_HIGH = 62, 63
"""DWARF numbers of s30 and s31, where the calling convention has the return address at a function's entry."""


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a step began."""

    scope: Focus
    place: tuple[int | None, int | None] | None
    """Of the physical frame."""
    function_low: int | None
    caller_place: tuple[int | None, int | None] | None
    has_caller: bool
    depth: int
    """Inline calls around the PC."""
    inline: tuple[int, ...]
    line: tuple[str, int] | None


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
        start = first = self._start(scope)
        if self.runner.inferior.behind_traps.pop(self._thread(scope), None) is not None:
            # the trap itself is over: the step may have no more to do than to show where the wave is
            self.runner.inferior.state_changed()
            frame = self.runner.top_frame(scope)
            hides_other = frame.hidden and _line(frame) != start.line
            if hides_other or (not frame.hidden and self._stands_at_another_line(frame, start)):
                return self.runner.step_event(StopReason.STEP, self._frame_changed(frame, start))
        low, high = self._range(start)
        line = start.line
        was_active = self.runner.inferior.is_active(scope)
        waits_at = None if was_active else self.runner.logical_pc(scope)
        if waits_at is not None:
            event = self._until_active(scope)
            if event is not None:
                return event
            frame = self.runner.top_frame(scope)
            if self._stands_at_another_line(frame, start):
                return self.runner.step_event(StopReason.STEP, self._frame_changed(frame, start))
            low, high = self._line_range(frame)
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
            if not self.runner.inferior.is_active(scope):
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
                start = self._start(scope)
                if not frame.hidden and not self._begins_line(frame, line):
                    low, high = self._line_range(frame)
                    line = _line(frame)
                    continue
            if not into and self._is_inlined_deeper(frame, start):
                low, high = self._row_range(frame)
                continue
            if frame.hidden:
                if _line(frame) != line:
                    return self.runner.step_event(StopReason.STEP, self._frame_changed(frame, first))
                if into:
                    return self._enter_inlined(scope, frame)
                low, high = self._row_range(frame)
                continue
            row = frame.row
            if row is None:
                return self.runner.step_event(StopReason.STEP, True)
            place_here = (row.file.path, row.line)
            at_start = frame.program.to_loaded(row.address) == frame.pc
            new_line = row.line != 0 and place_here != line
            if new_line and ((at_start and row.is_stmt) or resumed_midway):
                new_frame = self._frame_changed(frame, first)
                return self.runner.step_event(StopReason.STEP, new_frame)
            low, high = self._line_range(frame)
            passing = waits_at is not None and place == start.place and not at_start
            if row.line != 0 and not passing and not (new_line and at_start and not row.is_stmt):
                line = place_here

    @staticmethod
    def _stands_at_another_line(frame: Frame, start: _Start) -> bool:
        """Whether a lane that has become active stands at the beginning of a line other than the one it waited at.

        The middle of a line may be code that brings the lane back, before it goes on where it waited.
        """
        row = frame.row
        if row is None:
            return True
        if physical_place(frame.context) != start.place:
            return row.line != 0
        at_start = frame.program.to_loaded(row.address) == frame.pc
        return row.line != 0 and row.is_stmt and at_start and _line(frame) != start.line

    def _enter_inlined(self, scope: Focus, frame: Frame) -> StopEvent:
        """Into an inlined call that begins right here: nothing runs, one more frame is shown."""
        self.runner.inferior.inline_entered[self._thread(scope)] = frame.hidden - 1
        self.runner.inferior.state_changed()
        return self.runner.step_event(StopReason.STEP, True)

    def step_instruction(self, scope: Focus, over: bool) -> StopEvent:
        """``stepi`` and ``nexti``: one instruction of the wave."""
        ended = self.runner.check_pending_signal()
        if ended is not None:
            return ended
        frame = self.runner.top_frame(scope)
        start = self._start(scope)
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
        chain = self.runner.inferior.chain(scope)
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
            chain = self.runner.inferior.chain(scope)
            frame = chain.get(scope.frame)
            outer = next(
                (f for f in chain if frame is not None and f.context.callee is frame.context), None
            )
            if outer is not None:
                return_to = outer.pc
                outer_place = physical_place(outer.context)
                wanted.add(outer.pc)

        def accept(stop: TargetStop) -> bool:
            if stop.thread != thread or not self.runner.inferior.is_active(scope):
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

    def _start(self, scope: Focus) -> _Start:
        chain = self.runner.inferior.chain(scope.with_frame(0))
        top = chain.get(0)
        assert top is not None
        caller = next((f for f in chain if f.context is not top.context), None)
        inline = tuple(f.inline.offset for f in chain if f.context is top.context and f.inline is not None)
        physical = top.context.function
        return _Start(
            scope,
            physical_place(top.context),
            physical.low_pc if physical is not None else None,
            physical_place(caller.context) if caller is not None else None,
            caller is not None,
            len(inline),
            inline,
            _line(top),
        )

    def _range(self, start: _Start) -> tuple[int, int]:
        return self._line_range(self.runner.top_frame(start.scope))

    def _line_range(self, frame: Frame) -> tuple[int, int]:
        """The addresses around the PC that are of the same line; a whole function without lines."""
        row = frame.row
        program = frame.program
        if row is None:
            symbol = program.symbol_at(frame.pc)
            if symbol is None:
                return frame.pc, frame.pc + 4
            low = program.to_loaded(program.code_object.address_of(symbol))
            return low, low + max(symbol.size, 4)
        low, high = row.address, row.end_address
        while True:
            after = program.info.line_at(high)
            if after is None or not _same_line(after, row) or after.end_address <= high:
                break
            high = after.end_address
        return program.to_loaded(low), program.to_loaded(high)

    def _row_range(self, frame: Frame) -> tuple[int, int]:
        row = frame.row
        if row is None:
            return frame.pc, frame.pc + 4
        program = frame.program
        return program.to_loaded(row.address), program.to_loaded(row.end_address)

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
        self, scope: Focus, start: _Start, pc: int, into: bool
    ) -> StopEvent | bool:
        """Deal with a PC at the entry of a called function.

        An event when the step ends in there; True when the call was run through; False when there is no call.
        """
        called = self._called_from(scope, start, pc)
        if called is None:
            return False
        program = self.runner.inferior.programs.at(pc)
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

    def _called_from(self, scope: Focus, start: _Start, pc: int) -> int | None:
        """The return address when the wave stands at the entry of a function that ``start`` has called."""
        program = self.runner.inferior.programs.at(pc)
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
        address = low | high << 32
        caller = self.runner.inferior.programs.at(address - 1).function_at(address - 1)
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
            if lane_matters and not self.runner.inferior.is_active(scope):
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
        inferior = self.runner.inferior
        while True:
            start = self._start(scope)
            wave = self.runner.target.wave(self._thread(scope))
            program = inferior.programs.at(wave.pc)
            address = program.to_file(wave.pc)
            function = inferior.exec_map(program).function_at(address, wave.lane_count)
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
            if self.runner.inferior.is_active(scope):
                return None
            pc = self.runner.target.wave(self._thread(scope)).pc
            result = self._over_or_into_call(scope, start, pc, False)
            if isinstance(result, StopEvent):
                return result
            if result and self.runner.inferior.is_active(scope):
                return None

    @staticmethod
    def _begins_line(frame: Frame, line: tuple[str, int] | None) -> bool:
        """Whether a frame stands where a statement in another line than ``line`` begins."""
        row = frame.row
        if row is None or row.line == 0 or not row.is_stmt or (row.file.path, row.line) == line:
            return False
        return frame.program.to_loaded(row.address) == frame.pc

    @staticmethod
    def _is_inlined_deeper(frame: Frame, start: _Start) -> bool:
        """Whether the frame is of a call inlined into the code the step began in."""
        now = _inline_offsets(frame)
        before = start.inline
        if len(now) <= len(before):
            return False
        return now[len(now) - len(before) :] == before

    @staticmethod
    def _frame_changed(frame: Frame, start: _Start) -> bool:
        physical = frame.context.function
        low = physical.low_pc if physical is not None else None
        return low != start.function_low or _inline_offsets(frame) != start.inline

    def _finish_inline(self, scope: Focus, frame: Frame) -> StopEvent:
        """Out of an inlined call: step over lines until its code is left."""
        assert frame.inline is not None
        wanted = frame.inline.offset
        while True:
            event = self.step_line(scope.with_frame(0), into=False)
            if event.reason is not StopReason.STEP:
                return event
            top = self.runner.top_frame(scope)
            if wanted not in _inline_offsets(top):
                return self.runner.step_event(StopReason.FINISHED, True)


def _inline_offsets(frame: Frame) -> tuple[int, ...]:
    """The inlined calls around a frame's PC, innermost first."""
    program = frame.program
    if frame.context.function is None:
        return ()
    inlined = program.info.inline_frames_at(program.to_file(frame.lookup_pc))
    return tuple(i.offset for i in inlined[frame.hidden :])


def _line(frame: Frame) -> tuple[str, int] | None:
    if frame.hidden and frame.file is not None and frame.line is not None:
        return frame.file.path, frame.line
    row = frame.row
    return (row.file.path, row.line) if row is not None and row.line else None


def _same_line(one: LineRow, other: LineRow) -> bool:
    return one.line == other.line and one.file == other.file
