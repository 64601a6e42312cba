"""Implements the commands that move in time: go back, go to a position, save one, control recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.breakpoint_table import BreakpointTable
from rocdbg.debugger.breakpoints.tracepoints.trace_buffer import TraceFrame
from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import Tracing
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.running.driving import T
from rocdbg.debugger.running.run_control import RunControl
from rocdbg.debugger.running.run_state import Bookmark
from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.debugger.target.capabilities.recording import Recording
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.target.reversible_target import RecordedTarget
from rocdbg.debugger.time.past_writes import FoundWrite, PastWrites
from rocdbg.debugger.time.reverse import Backwards
from rocdbg.debugger.values.value import Value

if TYPE_CHECKING:
    from rocdbg.debugger.time.origins import Origin


class TimeControl:
    """The past of the program. ``remains`` returns the target of a run that has ended but whose past can be visited."""

    def __init__(
        self, control: RunControl, inferior: Inferior, focus: Selection, breakpoints: BreakpointTable,
        remains: Callable[[], Target | None],
    ) -> None:
        self._control = control
        self._runner = control.runner
        self._inferior = inferior
        self._focus = focus
        self._breakpoints = breakpoints
        self._remains = remains
        self._backwards = Backwards(control.runner)

    # -- the recording

    @property
    def recording(self) -> Recording | None:
        """The past of the running program or of the one that has ended; None if it is not recorded."""
        target = self._inferior.target or self._remains()
        return target.recording if target is not None else None

    def need(self) -> Recording:
        """Return the past. Raises `DebuggerError`, in GDB's words, if there is none."""
        recording = self.recording
        if recording is None:
            advice = 'Use the "record full" or "record btrace" command first.'
            raise DebuggerError(f"No recording is currently active.\n{advice}")
        return recording

    def record(self) -> None:
        """Record the running program from now on. Raises `DebuggerError` if it is already recorded, or cannot be."""
        target = self._inferior.target
        if target is None:
            raise DebuggerError("Process record: the program is not being run.")
        if target.recording is not None:
            raise DebuggerError("The process is already being recorded.  Use \"record stop\" to stop recording first.")
        if not isinstance(target, RecordedTarget):
            raise DebuggerError("Target does not support this command.")
        target.record()

    def stop(self) -> None:
        """Discard the past and stop recording."""
        self.need()
        target = self._inferior.target or self._remains()
        assert isinstance(target, RecordedTarget)
        target.stop_recording()

    # -- back

    def step(self, count: int = 1) -> StopEvent:
        """``reverse-step``."""
        return self._repeat(count, lambda focus: self._backwards.step_line(focus, True))

    def next(self, count: int = 1) -> StopEvent:
        """``reverse-next``."""
        return self._repeat(count, lambda focus: self._backwards.step_line(focus, False))

    def stepi(self, count: int = 1) -> StopEvent:
        """``reverse-stepi``."""
        return self._instructions(count, False)

    def nexti(self, count: int = 1) -> StopEvent:
        """``reverse-nexti``."""
        return self._instructions(count, True)

    def _instructions(self, count: int, over: bool) -> StopEvent:
        self.revive()
        return self._control.repeat(
            count, lambda focus: self._returning(lambda: self._backwards.step_instruction(focus, over)),
            lambda focus, left: self._returning(lambda: self._backwards.run_ahead(focus, over, left)),
        )

    def finish(self) -> StopEvent:
        """``reverse-finish``."""
        self.revive()
        focus = self._focus.need_running()
        return self._control.perform(lambda: self._returning(lambda: self._backwards.finish(focus)))

    def proceed(self, ignore_count: int | None = None) -> StopEvent:
        """``reverse-continue``; with N, pass the breakpoint at the present stop N - 1 times."""
        self.revive()
        thread = self._focus.current.thread
        if ignore_count is not None and ignore_count > 1 and thread is not None:
            for breakpoint_ in self._breakpoints.at(self._inferior.wave(thread).pc):
                breakpoint_.ignore_count = ignore_count - 1
        return self._control.perform(lambda: self._returning(self._backwards.proceed))

    def until(self, location: str | None = None) -> StopEvent:
        """``until`` backwards: like `next`; with a location, go back to that location."""
        return self.advance(location) if location is not None else self.next()

    def advance(self, location: str) -> StopEvent:
        """``advance`` backwards: go back to when the focused lane was last at a location, otherwise to the beginning.
        """
        self.revive()
        focus, addresses = self._focus.need_running(), self._control.addresses_of(location)
        return self._control.perform(lambda: self._returning(lambda: self._backwards.to_location(focus, addresses)))

    def _repeat(self, count: int, step: Callable[[Focus], StopEvent]) -> StopEvent:
        self.revive()
        return self._control.repeat(count, lambda focus: self._returning(lambda: step(focus)))

    def _returning(self, action: Callable[[], T]) -> T:
        """Perform an action that moves the target in time. If it is interrupted or fails, return the program to its
        previous position.
        """
        recording = self._backwards.recording
        present, thread = recording.position, self._focus.current.thread
        state = self._runner.parts.state
        if state.started is not None:
            state.started()
        try:
            return action()
        except BaseException:
            recording.go_to(present)
            self._arrived(thread)
            raise
        finally:
            if state.ended is not None:
                state.ended()

    # -- to a position

    @property
    def position(self) -> int:
        """The program's position in time."""
        return self.need().position

    def go_to(self, position: int, thread: int | None = None, lane: int | None = None) -> None:
        """``record goto N``: go to a position. The focus stays on its wave if that exists. Raises a `rocdbg.Error`."""
        recording = self.need()
        self.revive()
        wanted = thread if thread is not None else self._focus.current.thread
        recording.go_to(position)
        if not self._inferior.need_target().waves() and position > recording.bounds[0]:
            recording.go_to(position - 1)  # the last position at which waves still exist
        self._arrived(wanted, lane)

    def here(self, focus: Focus) -> tuple[int, int | None, int | None]:
        """Return the program's position in time (at the end of a run, the last one) and its focus, for `go_to`."""
        recording = self.need()
        over = self._inferior.target is None
        return recording.bounds[1] if over else recording.position, focus.thread, focus.lane

    def visit(self, thread: int, count: int, lane: int, tracepoint: int) -> None:
        """Go to the time when a wave had executed ``count`` instructions and reached a tracepoint; focus one of its
        lanes.

        Raises a `rocdbg.Error`.
        """
        recording = self.need()
        self.revive()
        recording.go_before(thread, count, recording.bounds[1])
        self._arrived(thread, lane)
        if tracepoint in self._breakpoints:
            made = self._breakpoints.get(tracepoint)
            self._runner.enter_inlined(thread, self._inferior.wave(thread).pc, (made,))

    def _arrived(self, thread: int | None, lane: int | None = None) -> None:
        """Drop cached state, and focus an existing wave, after the program has moved in time."""
        recording, before = self.need(), self._focus.current
        self._backwards.moved()
        waves = [wave.number for wave in self._inferior.need_target().waves()]
        if not waves:
            return
        if thread not in waves:
            following = recording.next_wave()
            thread, lane = (following if following in waves else waves[0]), None
        assert thread is not None
        recording.stand(thread)
        if lane is None and before.thread == thread:
            lane = before.lane
        if lane is None:
            active = self._inferior.active_lanes(thread)
            lane = (active & -active).bit_length() - 1 if active else 0
        self._focus.move(Focus(thread, lane))

    # -- the writers of a value

    def find_write(self, value: Value, first: bool) -> FoundWrite | None:
        """``last-write`` and ``first-write``: return the instruction that wrote an expression's object.

        The program's position does not change; if the run has ended, it remains at the end.
        """
        recording = self.need()
        self.revive()
        focus, position = self._focus.current, recording.position
        try:
            return PastWrites(self._inferior, recording).find(value, focus, first)
        finally:
            recording.go_to(position)
            self._arrived(focus.thread, focus.lane)
            if focus.thread is not None:
                self._focus.move(focus)

    def find_origin(self, value: Value) -> Origin:
        """``origin``: return the writes through which an expression's value has passed. The program's position does not
        change.
        """
        from rocdbg.debugger.time.origins import Origins  # imported late: few sessions need it

        recording = self.need()
        self.revive()
        focus, position = self._focus.current, recording.position
        try:
            return Origins(self._inferior, recording).find(value, focus)
        finally:
            recording.go_to(position)
            self._arrived(focus.thread, focus.lane)
            if focus.thread is not None:
                self._focus.move(focus)

    # -- saved positions

    @property
    def bookmarks(self) -> list[Bookmark]:
        """The positions of this run that were saved by `keep`."""
        return [each for each in self._runner.parts.state.bookmarks if each.life == self._inferior.life]

    def keep(self) -> Bookmark:
        """``checkpoint``: save the present position. Raises `DebuggerError`."""
        recording, focus, state = self.need(), self._focus.need_running(), self._runner.parts.state
        assert focus.thread is not None
        state.bookmarks = self.bookmarks
        if not state.bookmarks:
            state.last_bookmark = 0
        state.last_bookmark += 1
        made = Bookmark(
            state.last_bookmark, self._inferior.life, recording.position, focus.thread, focus.lane,
            self._inferior.wave(focus.thread).pc,
        )
        state.bookmarks.append(made)
        return made

    def restart(self, number: int) -> Bookmark:
        """``restart N``: go to a saved position. Raises `DebuggerError` if there is none, or if it no longer exists."""
        for bookmark in self.bookmarks:
            if bookmark.number == number:
                self.go_to(bookmark.position, bookmark.thread, bookmark.lane)
                return bookmark
        raise DebuggerError(f"Not found: checkpoint id {number}")

    def discard(self, number: int) -> None:
        """``delete checkpoint N``. Raises `DebuggerError` if there is none."""
        kept = [each for each in self.bookmarks if each.number != number]
        if len(kept) == len(self.bookmarks):
            raise DebuggerError(f"No such checkpoint id, {number}")
        self._runner.parts.state.bookmarks = kept

    def revive(self) -> None:
        """Make the past of a run that has ended accessible: the program is then at its end, and can go back. A program
        that was killed by a signal is at the position where it received the signal."""
        if self._inferior.target is not None:
            return
        target = self._remains()
        if target is None or target.recording is None:
            return
        self._control.return_to(target)
        begin, end = target.recording.bounds
        target.recording.go_to(end if target.waves() else max(begin, end - 1))
        self._arrived(None)


# Selecting a trace frame of a recorded run goes back in time, since a frame contains its position.


def look_at(tracing: Tracing, control: TimeControl, frame: TraceFrame | None, focus: Focus) -> bool:
    """``tfind``: select a trace frame. None deselects it and returns to where the program was.

    Returns whether the program is now at the frame's position, which is not possible if the run is not recorded or the
    frame belongs to another run.
    """
    known = tracing.is_of(control.recording)
    if known and tracing.home is None and frame is not None:
        tracing.home = control.here(focus)
    tracing.selected = -1  # until the position of the frame is reached
    if frame is None:
        if tracing.home is not None:
            home, tracing.home = tracing.home, None
            control.go_to(*home)
        return known
    if known:
        lanes = frame.lanes
        lane = focus.lane if focus.lane is not None and lanes >> focus.lane & 1 else (lanes & -lanes).bit_length() - 1
        control.visit(frame.thread, frame.count, lane, frame.layout.tracepoint)
    tracing.selected = frame.number
    return known
