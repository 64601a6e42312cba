"""The session: one program, one target, one focus. It delegates; front ends talk to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from rocdbg.debugger.errors import (
    ExpressionError,
    LocationSpecError,
    NoProgramError,
)
from rocdbg.debugger.expr.convenience import Convenience
from rocdbg.debugger.expr.evaluator import Evaluator, evaluate
from rocdbg.debugger.expr.wave_variables import define_wave_variables
from rocdbg.debugger.focus import STATIC, Focus
from rocdbg.debugger.frames.frames import FrameChain
from rocdbg.debugger.frames.lane_pcs import LanePcs
from rocdbg.debugger.frames.prologue import prologue_rows
from rocdbg.debugger.frames.unwind import Unwinder
from rocdbg.debugger.plugins import PluginHost
from rocdbg.debugger.program.exec_map import ExecMap
from rocdbg.debugger.program.locspec import Defaults, Location, LocationResolver
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source import SourceFiles
from rocdbg.debugger.reports.completion import complete
from rocdbg.debugger.reports.disassembly import DisassemblyLine, disassemble
from rocdbg.debugger.reports.symbols import Symbols
from rocdbg.debugger.running.breakpoints import Breakpoint, BreakpointTable
from rocdbg.debugger.running.conditions import check_condition
from rocdbg.debugger.running.launch import LaunchControl
from rocdbg.debugger.running.runner import Runner
from rocdbg.debugger.running.stepping import Stepper
from rocdbg.debugger.running.stops import ExitInfo, StopEvent, StopReason
from rocdbg.debugger.session_focus import DIVERGENT as DIVERGENT
from rocdbg.debugger.session_values import SessionValues
from rocdbg.debugger.settings import Settings
from rocdbg.debugger.target.protocol import Progress, Target
from rocdbg.debugger.target.simulated import SimTarget
from rocdbg.debugger.values.formatting import Format
from rocdbg.debugger.values.history import ValueHistory
from rocdbg.dwarf.info import Function
from rocdbg.errors import Error
from rocdbg.sim.object_cache import take_warnings

T = TypeVar("T")


class Session(SessionValues):
    """What a front end drives.

    Attributes:
        settings: `Settings`.
        program: the loaded `Program`, or ``None``.
        target: the `Target` while a dispatch is under way, else ``None``.
        launch: `LaunchControl`: file, kernel, grid, workgroup, arguments of the next run.
        breakpoints: `BreakpointTable`.
        history: `ValueHistory` (``$1``, ``$$``).
        convenience: `Convenience` variables and functions.
        plugins: `PluginHost`.
        sources: `SourceFiles`.
        symbols: `Symbols`, the queries behind ``info symbol/line/scope/functions/...``.
        scope: the current focus.
        list_position: where ``list`` without arguments is, kept by the front end; also the default file
            and line of locations when no frame is selected.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.program: Program | None = None
        self.target: Target | None = None
        self.scope: Focus = STATIC
        self.history = ValueHistory()
        self.convenience = Convenience()
        self.launch = LaunchControl()
        self.sources = SourceFiles(self.settings)
        self.symbols = Symbols(lambda: self.program, self.settings)
        self.breakpoints = BreakpointTable(self.resolve)
        self.plugins = PluginHost(self)
        self.list_position: Defaults | None = None
        self._runner = Runner(self)
        self._stepper = Stepper(self._runner)
        self._unwinder: Unwinder | None = None
        self.exec_map: ExecMap | None = None
        self._chains: dict[Focus, FrameChain] = {}
        self._active: dict[int, tuple[int, int]] = {}
        self._lane_pcs: dict[int, LanePcs] = {}
        self.inline_entered: dict[int, int] = {}
        self.behind_traps: dict[int, tuple[int, int]] = {}
        self._warnings: list[str] = []
        self.evaluating = False  # a breakpoint's condition: Ctrl-C ends that, and the program stops there
        self._thread_names: dict[int, str] = {}
        self._lane_names: dict[tuple[int, int], str] = {}
        self._last_examine = Format("x", "w")
        define_wave_variables(self)

    # -- what is debugged

    def load(self, path: Path | str, target_id: str | None = None) -> None:
        """``file``: a code object, bundle, fat binary, or a launch file (.toml). Raises `rocdbg.Error`."""
        path = Path(path)
        from_launch_file = path.suffix == ".toml"
        if from_launch_file:
            path, target_id = self.launch.read_file(path, target_id)
        programs = Program.open_all(path, target_id)
        self._leave_target()
        self.launch.set_programs(programs, keep_spec=from_launch_file)
        self.sources.forget()
        self.sources.program_directory = path.resolve().parent
        self._use(self.launch.program)

    def choose_kernel(self, name: str) -> None:
        """``kernel NAME``: what ``run`` dispatches. Raises a `rocdbg.Error` that lists near names.

        Where the file has several code objects, the one with the kernel becomes the program.
        """
        self.launch.set_kernel(name)
        if self.launch.program is not self.program:
            self._leave_target()
            self._use(self.launch.program)

    def _use(self, program: Program) -> None:
        """Make ``program`` the one whose names and places are meant."""
        unwinder, exec_map = Unwinder(program, prologue_rows), ExecMap(program)
        # together: an interrupt must not leave one program's names with another's frames
        self.program, self._unwinder, self.exec_map, self.list_position = program, unwinder, exec_map, None
        for name in self.launch.buffer_names():
            self.convenience.define_dynamic(name, partial(self.launch.buffer_value, name))
        for breakpoint_, _ in self.breakpoints.resolve_again():
            self.warn(f"Cannot find the location of breakpoint {breakpoint_.number} ({breakpoint_.text}).")

    # -- running; each returns what happened

    def run(self) -> StopEvent:
        """Dispatch the kernel and go on to the first stop."""
        self._begin()
        return self._done(self._driven(self._runner.run))

    def start(self) -> StopEvent:
        """`run` with a temporary breakpoint on the kernel."""
        self.break_at(self.launch.kernel.name, temporary=True)
        return self.run()

    def _begin(self) -> None:
        self.need_program()
        self._leave_target()
        self.target = self.launch.start()
        for problem in take_warnings():
            self.warn(problem)
        for name in self.launch.buffer_names():
            self.convenience.define_dynamic(name, partial(self.launch.buffer_value, name))

    def proceed(self, ignore_count: int | None = None) -> StopEvent:
        """``continue [N]``: with N, pass the breakpoint stopped at N - 1 times."""
        self.need_target()
        if ignore_count is not None and ignore_count > 1 and self.scope.thread is not None:
            pc = self.wave(self.scope.thread).pc
            for breakpoint_ in self.breakpoints.at(pc):
                breakpoint_.ignore_count = ignore_count - 1
        return self._done(self._driven(self._runner.run))

    def step(self, count: int = 1) -> StopEvent:
        """To another source line of the focused lane, into calls."""
        return self._repeat(count, lambda: self._stepper.step_line(self._lane_scope(), True))

    def next(self, count: int = 1) -> StopEvent:
        """To another source line of the focused lane, over calls."""
        return self._repeat(count, lambda: self._stepper.step_line(self._lane_scope(), False))

    def stepi(self, count: int = 1) -> StopEvent:
        """One instruction of the focused wave."""
        return self._repeat(count, lambda: self._stepper.step_instruction(self._lane_scope(), False))

    def nexti(self, count: int = 1) -> StopEvent:
        """One instruction, over calls."""
        return self._repeat(count, lambda: self._stepper.step_instruction(self._lane_scope(), True))

    def finish(self) -> StopEvent:
        """Until the selected frame returns."""
        return self._done(self._driven(lambda: self._stepper.finish(self._running_scope())))

    def until(self, location: str | None = None) -> StopEvent:
        """``until``: `next` without going backwards; with a location to there or out of the frame."""
        if location is None:
            return self._done(self._driven(lambda: self._stepper.until_next(self._lane_scope())))
        return self._to_location(location)

    def advance(self, location: str) -> StopEvent:
        """Until the location is reached, or the frame returns."""
        return self._to_location(location)

    def _to_location(self, text: str) -> StopEvent:
        scope = self._running_scope()
        addresses = frozenset(place.address for place in self.resolve(text))
        return self._done(
            self._driven(lambda: self._stepper.run_to_location(scope, addresses, or_return=True))
        )

    def _repeat(self, count: int, step: Callable[[], StopEvent]) -> StopEvent:
        self._running_scope()
        event = None
        new_frame = new_thread = new_lane = False
        with self._runner.drive():
            for _ in range(max(1, count)):
                event = step()
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
        """Record what a stop leaves behind and tell the plug-ins."""
        assert event is not None, "an internal stop is not for the session"
        if event.returned is not None:
            event = replace(event, returned_number=self.history.record(event.returned))
        if self.scope.iteration and not self.scope.iteration < self.iteration_count():
            self.scope = replace(self.scope, iteration=0)  # the loop is left
            event = replace(event, scope=self.scope)
        self.list_position = None
        if event.breakpoints:
            self.convenience.set_int("_hit_bpnum", event.breakpoints[0])
        self.plugins.stopped(event)
        return event

    def kill(self) -> None:
        """End the dispatch."""
        self.need_target()
        self._leave_target()

    def interrupt(self) -> None:
        """Make a running command stop soon; safe to call from a signal handler or another thread."""
        self._runner.interrupt()

    def progress(self) -> Progress | None:
        """How far the program is, ``None`` if there is none; callable from another thread while it runs."""
        target = self.target
        return target.progress() if target is not None else None

    def watch_runs(self, started: Callable[[], None] | None, ended: Callable[[], None] | None) -> None:
        """Have a front end told whenever the program goes on and when it has stopped, before anything is shown."""
        self._runner.started, self._runner.ended = started, ended

    @property
    def busy(self) -> bool:
        """Whether the program is running right now (so that Ctrl-C interrupts it)."""
        return self._runner.driving and not self.evaluating

    @property
    def interrupting(self) -> bool:
        """Whether the running program was told to stop, and has not yet."""
        return self._runner.interrupting

    def recover(self) -> None:
        """After a command that was torn away in its middle: what is known of the target is read anew.

        A focus that is on no wave of the program goes to the first, as after an interrupt.
        """
        self.state_changed()
        if self.target is None:
            self.scope = STATIC
            return
        waves = self.target.waves()
        if not waves:
            self._leave_target()
        elif all(wave.number != self.scope.thread for wave in waves):
            self.scope = Focus(waves[0].number, 0)

    def _leave_target(self) -> None:
        self.target = None
        self.scope = STATIC
        self._runner.pending_signal = ""
        self.inline_entered.clear()
        self.behind_traps.clear()
        self._thread_names.clear()
        self._lane_names.clear()
        self.state_changed()
        self.launch.release()

    def condition_holds(self, text: str, scope: Focus) -> bool:
        """The truth of a breakpoint's condition for a lane; ``$_lane`` and the like are that lane's."""
        if self.interrupting:  # between the program's stop and here: a condition may take for ever
            raise ExpressionError("Quit")
        before = self.scope
        self.scope = scope
        self.evaluating = True
        try:
            return self._truth(text, scope)
        except KeyboardInterrupt:
            self.evaluating = False
            self.interrupt()
            raise ExpressionError("Quit") from None
        finally:
            self.evaluating = False
            self.scope = before

    def finished(self) -> ExitInfo:
        """The dispatch is over: its results; buffers stay readable until the next run."""
        assert isinstance(self.target, SimTarget)
        info = self.launch.finish(self.target)
        self.target = None
        self.scope = STATIC
        self.state_changed()
        self.convenience.set_int("_exitcode", 0)
        return info

    def terminated(self) -> None:
        """The dispatch ends by a fatal signal."""
        self._leave_target()

    # -- code and places

    def resolver(self) -> LocationResolver:
        """Finds places; locations without a file are relative to the selected frame or `list_position`."""
        return LocationResolver(self.program, self.default_place, self._address)

    def default_place(self) -> Defaults:
        """The default file and line: what was listed last, the selected frame's, the kernel's."""
        if self.list_position is not None:
            return self.list_position
        if self.target is not None and self.scope.thread is not None:
            frame = self.frame()
            if frame.file is not None:
                return Defaults(frame.file, frame.line)
        return self._kernel_place()

    def _kernel_place(self) -> Defaults:
        program = self.program
        if program is None or not program.has_debug_info:
            return Defaults(None, None)
        function: Function | None = None
        try:
            function = next(iter(program.info.functions_named(self.launch.kernel.name)), None)
        except Error:
            function = None
        if function is not None and function.decl_file is not None:
            return Defaults(function.decl_file, function.decl_line)
        for unit in program.info.units:
            if unit.files:
                return Defaults(unit.files[0], 1)
        return Defaults(None, None)

    def _address(self, text: str) -> int:
        evaluator = Evaluator(self.environment())
        return evaluator.decay(evaluator.follow(evaluate(text, evaluator.environment))).as_int()

    def resolve(self, text: str) -> Sequence[Location]:
        """The places a location string names; "" is where the selected frame stands."""
        if not text.strip():
            if self.target is None or self.scope.thread is None:
                raise LocationSpecError("No default breakpoint location.")
            return [self.resolver().at(self.need_program().to_file(self.frame().pc))]
        return self.resolver().resolve(text)

    def break_at(
        self, text: str, *, condition: str | None = None, temporary: bool = False,
        thread: int | None = None, lane: int | None = None, pending: bool = False,
    ) -> Breakpoint:
        """``break`` and ``tbreak``; ``text`` "" means where the selected frame stands.

        With ``pending`` an unknown location is kept for later. Raises `LocationSpecError` otherwise.
        """
        locations: Sequence[Location] = []
        try:
            locations = self.resolve(text)
        except (LocationSpecError, NoProgramError):
            if not pending:
                raise
        if not text.strip():
            place = locations[0]
            text = f"*{place.address:#x}" if place.file is None else f"{place.file.name}:{place.line}"
        if condition is not None:
            check_condition(self, condition, locations)
        made = self.breakpoints.add(
            text, locations, temporary=temporary, condition=condition, thread=thread, lane=lane
        )
        self.convenience.set_int("bpnum", made.number)
        return made

    def set_condition(self, number: int, condition: str | None) -> None:
        """``condition N EXPR``; ``None`` removes it. Raises `BreakpointError`, or what is wrong with the condition."""
        breakpoint_ = self.breakpoints.get(number)
        if condition:
            check_condition(self, condition, [place.location for place in breakpoint_.locations])
        self.breakpoints.set_condition(number, condition)

    def disassemble(self, low: int, high: int) -> Sequence[DisassemblyLine]:
        """The instructions in [low, high)."""
        program = self.need_program()
        pc = wave_size = None
        if self.target is not None and self.scope.thread is not None:
            pc, wave_size = self.frame().pc, self.wave(self.scope.thread).lane_count
        mangled = not self.settings.print.asm_demangle
        return list(disassemble(program, self.environment().memory, low, high, pc, wave_size, mangled))

    def complete(self, kind: str, word: str, text: str) -> Sequence[str]:
        """Candidates that start with ``word``, for completion.

        ``kind``: ``expression`` (locals, globals, registers, convenience variables, members after ``.`` and
        ``->``), ``location`` and ``symbol`` (functions, files), ``type``, ``register``, ``kernel``, ``plugin``,
        ``breakpoint``, ``thread``. ``text`` is the whole argument up to the cursor.
        """
        return complete(self, kind, word, text)
