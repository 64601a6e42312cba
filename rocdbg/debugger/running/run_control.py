"""Implements the commands that run the program: start, continue, step, end, interrupt."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.dwarf_registers import PC
from rocdbg.debugger.base.errors import QuitError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.breakpoint_table import Breakpoint
from rocdbg.debugger.breakpoints.catcher import Catcher
from rocdbg.debugger.breakpoints.compiled_conditions import NativeConditions
from rocdbg.debugger.breakpoints.dynamic_printf import Print
from rocdbg.debugger.breakpoints.watch_triggers import Watcher
from rocdbg.debugger.running.calling.called_functions import FunctionCalls, value_of_lanes
from rocdbg.debugger.running.driving import Driving
from rocdbg.debugger.running.finish import finish
from rocdbg.debugger.running.return_ import Return
from rocdbg.debugger.running.run_parts import RunParts
from rocdbg.debugger.running.run_state import Internal, aside
from rocdbg.debugger.running.runner import Runner
from rocdbg.debugger.running.stepping import Stepper, settle, settled
from rocdbg.debugger.running.stop_events import LocationReached, Signal, StopEvent
from rocdbg.debugger.running.until_and_advance import run_to_location
from rocdbg.debugger.target.capabilities.runnable import Progress, TargetStop, TargetStopKind
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values.value import Value

if TYPE_CHECKING:
    from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import Tracing


def _was_set_where_it_stood(breakpoint_: Breakpoint) -> bool:
    """Whether ``break`` without argument set a breakpoint: from the next run on, GDB's tables show the function that
    contains it.
    """
    return not breakpoint_.text.startswith("*") and any(p.location.function is None for p in breakpoint_.locations)


class RunControl(Driving):
    """Runs the program; each command returns what happened."""

    def __init__(self, parts: RunParts) -> None:
        self.native = NativeConditions(parts, self._tracing)
        """Conditions that the target evaluates by itself."""
        self.watcher = Watcher(parts)
        """Creates and maintains watchpoints."""
        self.catcher = Catcher(parts)
        """Creates catchpoints, and detects their events."""
        super().__init__(Runner(parts, self._holds, self.native, self.watcher, self.catcher, self._left))
        self.aside = partial(aside, parts.state)
        """Return a context manager that hides the front end's progress display, so that the program's text can be
        shown.
        """
        self._stepper = Stepper(self._runner)
        self.calls = FunctionCalls(self._runner)
        parts.data.caller = self.calls

    def _tracing(self) -> Tracing:
        """Return the trace experiment of the session."""
        if self._parts.state.tracing is None:
            # imported late: few sessions trace
            from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import Tracing

            self._parts.state.tracing = Tracing(self._parts)
        return self._parts.state.tracing

    # -- resuming

    def run(self, entry: Callable[[], int] | None = None) -> StopEvent:
        """Create a target and run to the first stop; with ``entry``, to the loaded address that ``entry`` then returns.
        """
        if self._parts.launcher().needs_program:
            self._parts.inferior.need_program()
        if self._parts.state.tracing is not None:
            self._parts.state.tracing.selected = -1
        self.leave()
        self._parts.breakpoints.clear_hit_counts()
        self.watcher.look_for_hardware(bool(self._parts.settings.hardware_watchpoints))
        self._attach(self._parts.launcher().start())
        if self._parts.state.tracing is not None:
            self._parts.state.tracing.launched()
        event = self._runner.loaded()
        if event is not None:
            return self._done(event)
        if entry is not None:
            address = entry()
            return self._done(self._driven(lambda: self._to_entry(address)))
        return self._done(self._forward(self._runner.run))

    def _to_entry(self, address: int) -> StopEvent:
        """Run to the place where the first wave begins."""
        arrived: list[TargetStop] = []

        def accept(stop: TargetStop) -> bool:
            arrived.append(stop)
            return True

        event = self._runner.run(Internal(frozenset({address}), accept))
        return event or self._runner.stopped_at(arrived[0], LocationReached)

    def attach(self, target: Target) -> None:
        """Attach ``target``, which runs the program or holds its final state, without resuming it. Its first wave gets
        the focus.
        """
        self.leave()
        self._attach(target)
        self._parts.focus.settle()

    def _attach(self, target: Target) -> None:
        if self._parts.inferior.attach(target) or any(map(_was_set_where_it_stood, self._parts.breakpoints)):
            self._parts.breakpoints.resolve_again()
        self._parts.state.attached = True
        for observer in tuple(self._parts.observers):
            observer.launched(target)

    def proceed(
        self, ignore_count: int | None = None, signal: Signal | Literal["pending"] | None = "pending"
    ) -> StopEvent:
        """``continue [N]``: with N, pass the breakpoint at the present stop N - 1 times.

        ``signal``: send this signal to the program, which ends it, as kernels have no handlers. With `None`, continue
        regardless of the last stop; a faulting instruction is then executed again.
        """
        self._parts.inferior.need_runnable()
        if isinstance(signal, Signal):
            return self._done(self._driven(lambda: self._runner.end_with(signal)))
        if signal is None:
            self._parts.state.pending_signal = ""
        thread = self._parts.focus.current.thread
        if ignore_count is not None and ignore_count > 1 and thread is not None:
            for breakpoint_ in self._parts.breakpoints.at(self._parts.inferior.wave(thread).pc):
                breakpoint_.ignore_count = ignore_count - 1
        return self._done(self._forward(self._runner.run))

    def step(self, count: int = 1) -> StopEvent:
        """``step``: go to another source line of the focused lane, entering calls."""
        return self.repeat(count, lambda focus: self._step(focus, True))

    def next(self, count: int = 1) -> StopEvent:
        """``next``: go to another source line of the focused lane, running through calls."""
        return self.repeat(count, lambda focus: self._step(focus, False))

    def _forward(self, action: Callable[[], StopEvent | None]) -> StopEvent | None:
        """Run the program; a stop at a watchpoint is moved to the next statement if nothing is left of this one."""
        return self._driven(lambda: settled(self._runner, action()))

    def _step(self, focus: Focus, into: bool) -> StopEvent:
        event = settled(self._runner, self._stepper.step_line(focus, into))
        assert event is not None
        return event

    def stepi(self, count: int = 1) -> StopEvent:
        """``stepi``: execute one instruction of the focused wave."""
        return self._instructions(count, False)

    def nexti(self, count: int = 1) -> StopEvent:
        """``nexti``: execute one instruction, running through calls."""
        return self._instructions(count, True)

    def _instructions(self, count: int, over: bool) -> StopEvent:
        return self.repeat(
            count, lambda focus: self._stepper.step_instruction(focus, over),
            lambda focus, count: self._stepper.run_ahead(focus, over, count),
        )

    def finish(self) -> StopEvent:
        """``finish``: run until the selected frame returns."""
        return self._done(self._forward(lambda: finish(self._stepper, self._need_lane())))

    def until(self, location: str | None = None) -> StopEvent:
        """``until``: `next` without going backwards; with a location, run there or until the frame returns."""
        if location is not None:
            return self._to(location, anywhere=False)
        return self._done(self._forward(lambda: self._stepper.until_next(self._need_lane().with_frame(0))))

    def advance(self, location: str) -> StopEvent:
        """``advance``: run until the location is reached, or the frame returns."""
        return self._to(location, anywhere=True)

    def _to(self, location: str, anywhere: bool) -> StopEvent:
        focus, places = self._need_lane(), self._parts.resolve(location)
        return self._done(self._forward(lambda: run_to_location(self._runner, focus, places, anywhere)))

    def addresses_of(self, location: str) -> frozenset[LoadedAddress]:
        """Return the addresses of a location in the program. Raises a `rocdbg.Error`."""
        return frozenset(place.address for place in self._parts.resolve(location))

    def jump(self, address: int) -> StopEvent:
        """``jump``: let the focused wave continue at a loaded address, with its state unchanged."""
        thread = self._need_lane().thread
        assert thread is not None
        stays = self._parts.inferior.need_target().wave(thread).pc == address
        self._parts.inferior.need_target().write_register(thread, PC, address.to_bytes(8, "little"))
        self._parts.inferior.behind_traps.pop(thread, None)
        self._parts.state.pending_signal = ""
        self._parts.inferior.state_changed()
        # A run passes the breakpoints at the place where it begins, but a jump counts as an arrival there.
        return self._done(self._forward(lambda: (self._arrived(thread) if stays else None) or self._runner.run()))

    def _arrived(self, thread: int) -> StopEvent | None:
        """Return the event for a breakpoint at the place where a wave already is."""
        wave = self._runner.target.wave(thread)
        if wave.pc not in self._runner.stop_addresses():
            return None
        lanes = wave.exec_mask & wave.used_lanes
        return self._runner.event(TargetStop(TargetStopKind.BREAKPOINT, thread, wave.pc, lanes))

    def value_of_lanes(self, text: str) -> Value:
        """Return the value of an expression, usually a call, for all active lanes of the focused wave, as a vector."""
        return value_of_lanes(self.calls, self._parts.data, self._parts.inferior, self._need_lane(), text)

    def leave_frame(self, value: str) -> Return:
        """Prepare ``return [EXPR]`` of the selected frame. Raises `DebuggerError` if it cannot return."""
        return Return.of(self._runner, self._parts.data, self._parts.focus.need_running(), value)

    def carry_out(self, leaving: Return) -> StopEvent | None:
        """Return from a frame, then go to the next statement if the present one is otherwise complete; return an event
        if something else stops the wave.
        """
        calls = len(self._parts.state.calls)
        focus = leaving.carry_out()
        if len(self._parts.state.calls) != calls:
            return None  # the frame was that of a function that the debugger called
        event = self._driven(lambda: settle(self._runner, focus))
        return None if event is None else self._done(event)

    # -- ending

    def kill(self) -> None:
        """End the program. Raises `NotRunningError`."""
        self._parts.inferior.need_target()
        self.leave()

    def leave(self) -> None:
        """End the program if there is one, and free the data of the last run."""
        self._runner.terminate()

    def _left(self, memory_too: bool) -> None:
        """Called when the runner has released the target. ``memory_too``: it was released before its end, so that its
        memory does not remain either.
        """
        if memory_too:
            self._parts.launcher().release()
        if self._parts.state.attached:
            self._parts.state.attached = False
            for observer in tuple(self._parts.observers):
                observer.left()

    def recover(self) -> None:
        """Drop the cached state of the target; called after a command was aborted.

        If the focused wave no longer exists, the focus moves to the first, as after an interrupt.
        """
        self._parts.inferior.state_changed()
        target = self._parts.inferior.target
        if target is not None and not target.waves():
            self.leave()
        self._parts.focus.settle()

    # -- interrupting, and state

    def interrupt(self) -> None:
        """Make a running command stop soon; safe to call from a signal handler or another thread."""
        self._runner.interrupt()

    def progress(self) -> Progress | None:
        """Return the program's progress, ``None`` if there is none; callable from another thread while it runs."""
        target = self._parts.inferior.target
        return target.runnable.progress() if target is not None and target.runnable is not None else None

    def watch(self, started: Callable[[], None] | None, ended: Callable[[], None] | None) -> None:
        """Notify a front end whenever the program resumes and when it has stopped, before anything is shown."""
        self._parts.state.started, self._parts.state.ended = started, ended

    def watch_inside(
        self, show: Print | None = None, stopped: Callable[[StopEvent], None] | None = None
    ) -> None:
        """Notify a front end of events inside a command: ``show`` prints for ``dprintf``, and ``stopped`` shows where a
        function called by an expression stopped, before the expression's error.
        """
        if show is not None:
            self._parts.state.printf = show
        if stopped is not None:
            self._parts.state.stopped_inside = lambda event: stopped(self._done(event))

    @property
    def busy(self) -> bool:
        """Whether the program is running right now (so that Ctrl-C interrupts it)."""
        return self._parts.state.driving and not self._parts.state.evaluating

    @property
    def evaluating(self) -> bool:
        """Whether a breakpoint's condition is evaluated (so that Ctrl-C ends it)."""
        return self._parts.state.evaluating

    @property
    def interrupting(self) -> bool:
        """Whether the running program was asked to stop and has not stopped yet."""
        return self._parts.state.interrupting

    def _holds(self, text: str, thread: int, lanes: int, level: int) -> int:
        """Return the lanes of a wave for which a breakpoint's condition is true in the frame at a level."""
        state = self._parts.state
        if state.interrupting:  # Ctrl-C came after the program's stop: do not evaluate, as a condition may never end
            raise QuitError
        state.evaluating = True
        try:
            return self._parts.data.lanes_where(text, thread, lanes, level)
        except KeyboardInterrupt:
            state.evaluating = False
            self.interrupt()
            raise QuitError from None
        finally:
            state.evaluating = False
