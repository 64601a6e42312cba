"""What the commands that run the program do: begin, go on, step, end, interrupt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from rocdbg.debugger.errors import ExpressionError
from rocdbg.debugger.expr.convenience import Convenience
from rocdbg.debugger.expr.data import Data
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.program.locspec import Location
from rocdbg.debugger.running.breakpoints import BreakpointTable
from rocdbg.debugger.running.leaving import finish, run_to_location
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.runner import Runner, RunState
from rocdbg.debugger.running.stepping import Stepper
from rocdbg.debugger.running.stops import StopEvent, StopReason
from rocdbg.debugger.settings import Settings
from rocdbg.debugger.target.launcher import Launcher
from rocdbg.debugger.target.runnable import Progress
from rocdbg.debugger.target.state import Target
from rocdbg.debugger.values.history import ValueHistory
from rocdbg.debugger.warnings import Warnings

T = TypeVar("T")


class RunControl:
    """Runs the program; each command returns what happened.

    ``launcher`` gives what makes the target of the next run, ``resolve`` finds the places of a location,
    ``observers`` are told of it.
    """

    def __init__(
        self,
        inferior: Inferior,
        focus: Selection,
        data: Data,
        breakpoints: BreakpointTable,
        settings: Settings,
        warnings: Warnings,
        history: ValueHistory,
        convenience: Convenience,
        state: RunState,
        launcher: Callable[[], Launcher],
        resolve: Callable[[str], Sequence[Location]],
        observers: Sequence[Observer],
    ) -> None:
        self._inferior = inferior
        self._focus = focus
        self._data = data
        self._breakpoints = breakpoints
        self._history = history
        self._convenience = convenience
        self._state = state
        self._launcher = launcher
        self._resolve = resolve
        self._observers = observers
        self._runner = Runner(inferior, focus, breakpoints, settings, warnings, state, self._holds, self._left)
        self._stepper = Stepper(self._runner)

    # -- going on

    def run(self) -> StopEvent:
        """Make a target and go on to the first stop."""
        self._inferior.need_program()
        self.leave()
        self._attach(self._launcher().start())
        return self._done(self._driven(self._runner.run))

    def attach(self, target: Target) -> None:
        """``target`` runs the program, or holds what it left; nothing goes on. Its first wave is in focus."""
        self.leave()
        self._attach(target)
        self._focus.settle()

    def _attach(self, target: Target) -> None:
        if self._inferior.attach(target):
            self._breakpoints.resolve_again()
        self._state.attached = True
        for observer in tuple(self._observers):
            observer.launched(target)

    def proceed(self, ignore_count: int | None = None) -> StopEvent:
        """``continue [N]``: with N, pass the breakpoint stopped at N - 1 times."""
        self._inferior.need_runnable()
        thread = self._focus.current.thread
        if ignore_count is not None and ignore_count > 1 and thread is not None:
            for breakpoint_ in self._breakpoints.at(self._inferior.wave(thread).pc):
                breakpoint_.ignore_count = ignore_count - 1
        return self._done(self._driven(self._runner.run))

    def step(self, count: int = 1) -> StopEvent:
        """To another source line of the focused lane, into calls."""
        return self._repeat(count, lambda focus: self._stepper.step_line(focus, True))

    def next(self, count: int = 1) -> StopEvent:
        """To another source line of the focused lane, over calls."""
        return self._repeat(count, lambda focus: self._stepper.step_line(focus, False))

    def stepi(self, count: int = 1) -> StopEvent:
        """One instruction of the focused wave."""
        return self._repeat(count, lambda focus: self._stepper.step_instruction(focus, False))

    def nexti(self, count: int = 1) -> StopEvent:
        """One instruction, over calls."""
        return self._repeat(count, lambda focus: self._stepper.step_instruction(focus, True))

    def finish(self) -> StopEvent:
        """Until the selected frame returns."""
        return self._done(self._driven(lambda: finish(self._stepper, self._need_lane())))

    def until(self, location: str | None = None) -> StopEvent:
        """``until``: `next` without going backwards; with a location to there or out of the frame."""
        if location is not None:
            return self.advance(location)
        return self._done(self._driven(lambda: self._stepper.until_next(self._need_lane().with_frame(0))))

    def advance(self, location: str) -> StopEvent:
        """Until the location is reached, or the frame returns."""
        focus = self._need_lane()
        addresses = frozenset(place.address for place in self._resolve(location))
        return self._done(self._driven(lambda: run_to_location(self._runner, focus, addresses)))

    def _need_lane(self) -> Focus:
        focus = self._focus.need_running()
        self._inferior.need_runnable()
        return focus

    def _repeat(self, count: int, step: Callable[[Focus], StopEvent]) -> StopEvent:
        self._need_lane()
        event = None
        new_frame = new_thread = new_lane = False
        with self._runner.drive():
            for _ in range(max(1, count)):
                event = step(self._need_lane().with_frame(0))
                new_frame |= event.new_frame
                new_thread |= event.new_thread
                new_lane |= event.new_lane
                if event.reason is not StopReason.STEP:
                    break
        assert event is not None
        return self._done(replace(event, new_frame=new_frame, new_thread=new_thread, new_lane=new_lane))

    def _driven(self, action: Callable[[], T]) -> T:
        """Do something that runs the program, so that `interrupt` stops it."""
        with self._runner.drive():
            return action()

    def _done(self, event: StopEvent | None) -> StopEvent:
        """Record what a stop leaves behind and tell who wants to know."""
        assert event is not None, "an internal stop is not for the session"
        if event.returned is not None:
            event = replace(event, returned_number=self._history.record(event.returned))
        focus = self._focus.current
        if focus.iteration and not focus.iteration < self._inferior.iteration_count(focus):
            event = replace(event, scope=self._focus.move(replace(focus, iteration=0)))  # the loop is left
        if event.breakpoints:
            self._convenience.set_int("_hit_bpnum", event.breakpoints[0])
        if event.reason is StopReason.EXITED:
            self._convenience.set_int("_exitcode", 0)
        for observer in tuple(self._observers):
            observer.stopped(event)
        return event

    # -- ending

    def kill(self) -> None:
        """End the program. Raises `NotRunningError`."""
        self._inferior.need_target()
        self.leave()

    def leave(self) -> None:
        """End the program if there is one, and let go of what the last run left."""
        self._runner.terminate()

    def _left(self, memory_too: bool) -> None:
        """The runner has let the target go; ``memory_too``: before its end, so that nothing of it remains."""
        if memory_too:
            self._launcher().release()
        if self._state.attached:
            self._state.attached = False
            for observer in tuple(self._observers):
                observer.left()

    def recover(self) -> None:
        """After a command that was torn away in its middle: what is known of the target is read anew.

        A focus that is on no wave of the program goes to the first, as after an interrupt.
        """
        self._inferior.state_changed()
        target = self._inferior.target
        if target is not None and not target.waves():
            self.leave()
        self._focus.settle()

    # -- interrupting, and how it stands

    def interrupt(self) -> None:
        """Make a running command stop soon; safe to call from a signal handler or another thread."""
        self._runner.interrupt()

    def progress(self) -> Progress | None:
        """How far the program is, ``None`` if there is none; callable from another thread while it runs."""
        target = self._inferior.target
        return target.runnable.progress() if target is not None and target.runnable is not None else None

    def watch(self, started: Callable[[], None] | None, ended: Callable[[], None] | None) -> None:
        """Have a front end told whenever the program goes on and when it has stopped, before anything is shown."""
        self._state.started, self._state.ended = started, ended

    @property
    def busy(self) -> bool:
        """Whether the program is running right now (so that Ctrl-C interrupts it)."""
        return self._state.driving and not self._state.evaluating

    @property
    def evaluating(self) -> bool:
        """Whether a breakpoint's condition is evaluated (so that Ctrl-C ends it)."""
        return self._state.evaluating

    @property
    def interrupting(self) -> bool:
        """Whether the running program was told to stop, and has not yet."""
        return self._state.interrupting

    def _holds(self, text: str, thread: int, lanes: int) -> int:
        """Those of a wave's active lanes for which a breakpoint's condition is true."""
        state = self._state
        if state.interrupting:  # between the program's stop and here: a condition may take for ever
            raise ExpressionError("Quit")
        state.evaluating = True
        try:
            return self._data.lanes_where(text, thread, lanes)
        except KeyboardInterrupt:
            state.evaluating = False
            self.interrupt()
            raise ExpressionError("Quit") from None
        finally:
            state.evaluating = False
