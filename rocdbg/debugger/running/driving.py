"""What all commands that run the program share: they can be interrupted, and they notify observers when they stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from rocdbg.debugger.base.errors import NotRunningError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.running.runner import Runner
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from rocdbg.debugger.target.capabilities.runnable import ProcessEnd
from rocdbg.debugger.target.capabilities.target_state import Target

T = TypeVar("T")


class Driving:
    """Runs the program by a `Runner`, and notifies observers."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._parts = runner.parts

    def _need_lane(self) -> Focus:
        target, focus = self._parts.inferior.target, self._parts.focus.current
        if target is not None and target.runnable is not None and focus.thread is None:
            raise NotRunningError("Cannot execute this command without a live selected thread.")
        focus = self._parts.focus.need_running()
        self._parts.inferior.need_runnable()
        return self._parts.inferior.need_stack(focus)

    def perform(self, action: Callable[[], StopEvent | None]) -> StopEvent:
        """Perform an action that moves the program in time, so that `interrupt` stops it, and report the stop."""
        return self._done(self._driven(action))

    def repeat(
        self, count: int, step: Callable[[Focus], StopEvent],
        ahead: Callable[[Focus, int], tuple[int, StopEvent | None]] = lambda focus, count: (0, None),
    ) -> StopEvent:
        """Step ``count`` times with the focused lane, or until something else stops the program.

        ``ahead`` may perform several of the steps at once, but not the last one. The function ``ahead`` returns the
        number of steps that it has performed, and the event that stopped it, if any.
        """
        self._need_lane()
        event = None
        new_thread = new_lane = False
        if count <= 0:  # nothing to run: report the present position, as after a stop
            return self._done(self._runner.step_done(True))
        with self._runner.drive():
            left = count
            while left > 0:
                focus = self._need_lane().with_frame(0)
                done, event = ahead(focus, left - 1) if left > 1 else (0, None)
                if event is None:
                    left -= done + 1
                    event = step(self._need_lane().with_frame(0))
                new_thread |= event.new_thread
                new_lane |= event.new_lane
                if event.reason is not StopReason.STEP:
                    break
        assert event is not None
        return self._done(replace(event, new_thread=new_thread, new_lane=new_lane))

    def _driven(self, action: Callable[[], T]) -> T:
        """Perform an action that runs the program, so that `interrupt` stops it."""
        with self._runner.drive():
            return action()

    def _done(self, event: StopEvent | None) -> StopEvent:
        """Record the results of a stop, and notify observers."""
        assert event is not None, "an internal stop is not for the session"
        if event.returned is not None and event.returned.value is not None:
            number = self._parts.history.record(event.returned.value)
            event = replace(event, returned=replace(event.returned, number=number))
        focus = self._parts.focus.current
        if focus.iteration and not focus.iteration < self._parts.inferior.iteration_count(focus):
            event = replace(event, scope=self._parts.focus.move(replace(focus, iteration=0)))  # it has left the loop
        self._parts.state.last_stop = event
        if event.breakpoints:
            self._parts.convenience.set_int("_hit_bpnum", event.breakpoints[0])
        if event.exit is not None:
            self._note_exit(event.exit.process)
        for observer in tuple(self._parts.observers):
            observer.stopped(event)
        return event

    def _note_exit(self, end: ProcessEnd | None) -> None:
        """Set ``$_exitcode``, or ``$_exitsignal`` for a process that a signal has ended."""
        for name in ("_exitcode", "_exitsignal"):
            self._parts.convenience.forget(name)
        if end is not None and end.signal:
            self._parts.convenience.set_int("_exitsignal", end.signal)
        else:
            self._parts.convenience.set_int("_exitcode", end.code if end is not None else 0)

    def return_to(self, target: Target) -> None:
        """Record that the program, whose end was reported before, exists again."""
        self._parts.inferior.attach(target)
        self._parts.state.attached = True

    @property
    def last_stop(self) -> StopEvent | None:
        """The last stop that was reported."""
        return self._parts.state.last_stop

    def error_of_queue(self, number: int) -> str:
        """Return the last stop's exception if a wave of this queue caused it and the program cannot continue after it.
        """
        stop = self._parts.state.last_stop
        if stop is None or not self._parts.state.pending_signal or stop.scope.thread is None:
            return ""
        waves = self._parts.inferior.need_target().waves()
        here = any(wave.number == stop.scope.thread and wave.id.queue == number for wave in waves)
        return stop.device.exceptions[0] if here and stop.device is not None and stop.device.exceptions else ""

    @property
    def runner(self) -> Runner:
        """The capability that resumes the target."""
        return self._runner
