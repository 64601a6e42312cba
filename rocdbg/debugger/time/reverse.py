"""Reverse execution: commands that go back to earlier positions of the focused lane or of any wave.

Steps read the trace of the focused wave: its executed instructions, newest first. Instructions for which the lane was
inactive do not count as its positions. As in GDB, a step back ends at the beginning of a line table row that is not the
beginning of a function.
"""

from __future__ import annotations

from collections.abc import Set

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frames import FrameKind
from rocdbg.debugger.running.runner import Runner, thread_of
from rocdbg.debugger.running.step_origin import frame_changed, step_start
from rocdbg.debugger.running.stop_events import HistoryEnded, StopEvent
from rocdbg.debugger.target.capabilities.recording import Recording
from rocdbg.debugger.target.capabilities.runnable import TargetStop, TargetStopKind
from rocdbg.debugger.time.executed_instructions import PastInstruction, WavePast
from rocdbg.debugger.time.past_stops import Arrival, PastStops, travelled


class Backwards(Struct):
    """The commands for reverse execution, which use a `Runner`."""

    runner: Runner

    @property
    def recording(self) -> Recording:
        """The past of the target. Raises `NotRunningError`, or `DebuggerError` if it is not recorded."""
        recording = self.runner.target.recording
        if recording is None:
            raise DebuggerError("Target does not support this command: the run is not recorded (record).")
        return recording

    @property
    def _stops(self) -> frozenset[int]:
        """The addresses where the program may stop."""
        return frozenset(self.runner.parts.breakpoints.addresses(stopping=True))

    # -- commands

    def step_instruction(self, scope: Focus, over: bool) -> StopEvent:
        """``reverse-stepi`` and ``reverse-nexti``: go back to before the last instruction that the wave executed."""
        past = self._past(scope)
        before = self.runner.top_frame(scope)
        last = next(past.instructions(), None)
        if last is not None and over and last.depth > 0:
            last = past.last(lambda place: place.calls, 0)
        if last is None:
            return self._beginning(scope, past)
        event = self._arrive(scope, past, last)
        if event is not None:
            return event
        return self.runner.step_done(self.runner.top_frame(scope).function != before.function)

    def run_ahead(self, scope: Focus, over: bool, count: int) -> tuple[int, StopEvent | None]:
        """Go back over up to ``count`` instructions without examining each of them. Return their number, and an event,
        which is always None.
        """
        if not self.runner.parts.state.plans or self.runner.watcher.all():
            return 0, None
        past = self._past(scope)
        done, instructions = past.straight(count, self._stops, over)
        if done:
            self.recording.go_before(thread_of(scope), instructions, past.present)
        else:
            self.recording.go_to(past.present)
        self.moved()
        self.recording.stand(thread_of(scope))
        return done, None

    def step_line(self, scope: Focus, into: bool) -> StopEvent:
        """``reverse-step`` and ``reverse-next``: go back to the beginning of a line, or of a row that is part of a
        line.
        """
        past = self._past(scope)
        start = step_start(self.runner.parts.inferior.chain(scope))
        stops = self._stops
        here, line, frame = past.here, past.here.line, _Level()
        inline = here.inline
        for past_one in past.candidates(scope.lane, stops, None if into else frame.get):
            place = past_one.place
            if past_one.pc in stops:
                event = self._arrive(scope, past, past_one)
                if event is not None:
                    return event
            if past_one.depth > frame.depth:
                if not into or place.line is None:
                    continue  # a call that is stepped over, or that leads into code without lines
            elif not into and _is_deeper(place.inline, inline):
                continue
            entered = past_one.depth != frame.depth
            frame.depth = past_one.depth
            at_row = past_one.pc == place.row_start and place.is_statement
            at_function = past_one.pc == place.function_low
            if not entered and here.row_start <= past_one.pc < here.row_end:
                arrived = past_one.pc == here.row_start and here.is_statement and not at_function
            else:
                arrived = at_row and not at_function and place.line is not None and (entered or place.line != line)
                here, line = place, place.line or line
            if arrived and place.line is not None:
                event = self._arrive(scope, past, past_one)
                if event is not None:
                    return event
                changed = frame_changed(self.runner.top_frame(scope), start)
                return self.runner.step_done(changed)
        return self._beginning(scope, past)

    def finish(self, scope: Focus) -> StopEvent:
        """``reverse-finish``: go back to the call of the selected frame."""
        chain = self.runner.parts.inferior.chain(scope)
        frame = chain.get(scope.frame)
        if frame is None or chain.get(frame.level + 1) is None:
            raise DebuggerError('"finish" not meaningful in the outermost frame.')
        past = self._past(scope)
        depth = -frame.level_of_physical
        if frame.kind is FrameKind.INLINE:
            assert frame.inline is not None
            wanted = frame.inline.offset
            found = past.last(lambda place: wanted not in place.inline, depth)
        else:
            found = past.last(lambda place: place.calls, depth - 1)
        if found is None:
            return self._beginning(scope, past)
        event = self._arrive(scope, past, found)
        return event or self.runner.step_done(True)

    def to_location(self, scope: Focus, addresses: Set[int]) -> StopEvent:
        """``advance`` and ``until`` with a location: go back to the time when the lane was last there, unless a
        breakpoint stops the program earlier on the way.
        """
        past, start = self._past(scope), step_start(self.runner.parts.inferior.chain(scope))
        stops = self._stops
        for past_one in past.instructions():
            if past_one.pc not in addresses and past_one.pc not in stops:
                continue
            if scope.lane is not None and not past_one.active >> scope.lane & 1:
                continue
            event = self._arrive(scope, past, past_one)
            if event is not None:
                return event
            if past_one.pc in addresses:
                changed = frame_changed(self.runner.top_frame(scope), start)
                return self.runner.step_done(changed)
        return self._beginning(scope, past)

    def proceed(self) -> StopEvent:
        """``reverse-continue``: go back to the last time when any wave reached a breakpoint or changed a watched value.
        """
        recording, present = self.recording, self.recording.position
        for arrival in PastStops(self.runner, recording).latest(self._stops, present):
            event = self._stop_at(arrival)
            if event is not None:
                return event
        recording.go_to(recording.bounds[0])
        self.moved()
        return self._nothing_before()

    def _stop_at(self, arrival: Arrival) -> StopEvent | None:
        """Go to an arrival and count it as a hit; return None if it is to be ignored."""
        runner, stop = self.runner, arrival.stop
        assert stop.thread is not None
        if arrival.count is None:
            self.recording.go_to(arrival.position)
        else:
            self.recording.go_before(stop.thread, arrival.count, arrival.position)
        self.moved()
        self.recording.stand(stop.thread)
        if arrival.gone:
            return runner.scope_event(stop, arrival.gone)
        if stop.kind is not TargetStopKind.WATCH:
            return runner.event(stop)
        return runner.undone(replace(stop, pc=runner.parts.inferior.wave(stop.thread).pc), arrival.values)

    # -- arriving

    def _past(self, scope: Focus) -> WavePast:
        self.runner.parts.state.pending_signal = ""
        return WavePast(self.runner.parts.inferior, self.recording, thread_of(scope))

    def _arrive(self, scope: Focus, past: WavePast, found: PastInstruction) -> StopEvent | None:
        """Go to the position before an instruction of the focused wave. Return an event if there is a breakpoint, or if
        a watched value changed on the way.
        """
        thread = thread_of(scope)
        self.recording.go_before(thread, found.count, past.present)
        event = self._changed_since(past.present)
        if event is not None:
            return event
        self.moved()
        self.recording.stand(thread)
        if found.pc in self._stops:
            lanes = self.runner.parts.inferior.active_lanes(thread)
            return self.runner.event(TargetStop(TargetStopKind.BREAKPOINT, thread, found.pc, lanes))
        return None

    def _changed_since(self, present: int) -> StopEvent | None:
        """Return the event for the last change of a watched value between the target's position and ``present``; if
        there is one, move the target there.
        """
        if not self.runner.watcher.all():
            return None
        recording = self.recording
        position = recording.position
        recording.go_to(present)
        self.moved()
        for arrival in PastStops(self.runner, recording).latest(frozenset(), present, position):
            event = self._stop_at(arrival)
            if event is not None:
                return event
        recording.go_to(position)
        return None

    def _beginning(self, scope: Focus, past: WavePast) -> StopEvent:
        """Go to the beginning of the recording, because the wave has no earlier recorded past."""
        if past.count > past.first:
            self.recording.go_before(thread_of(scope), past.first, past.present)
            event = self._changed_since(past.present)
            if event is not None:
                return event
        else:
            self.recording.go_to(past.present)
        self.moved()
        self.recording.stand(thread_of(scope))
        return self._nothing_before()

    def _nothing_before(self) -> StopEvent:
        thread = self.runner.parts.focus.current.thread
        if thread is not None and not self.runner.alive(thread):
            thread = None
        return self.runner.stopped_at(TargetStop(TargetStopKind.HISTORY, thread), HistoryEnded)

    def moved(self) -> None:
        """Update cached state after the target has moved in time."""
        travelled(self.runner)


class _Level(Struct):
    """The depth of the frame that a step back is in."""

    depth: int = 0

    def get(self) -> int:
        """Return the depth."""
        return self.depth


def _is_deeper(inline: tuple[int, ...], than: tuple[int, ...]) -> bool:
    """Whether code is in an inlined call within other code; both are given by the inlined calls around them."""
    return len(inline) > len(than) and inline[len(inline) - len(than) :] == than


__all__ = ["Backwards"]
