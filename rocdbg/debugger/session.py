"""The session: one program, one target, one focus. It delegates; front ends talk to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rocdbg.debugger import ctypes, tables
from rocdbg.debugger.breakpoints import Breakpoint, BreakpointTable
from rocdbg.debugger.completion import complete
from rocdbg.debugger.convenience import Convenience
from rocdbg.debugger.describe import describe_frame
from rocdbg.debugger.disassembly import DisassemblyLine, disassemble
from rocdbg.debugger.environment import ProgramEnvironment
from rocdbg.debugger.errors import (
    FocusError,
    LocationSpecError,
    NoProgramError,
    NoRegistersError,
    NotRunningError,
)
from rocdbg.debugger.examine import ExamineLine, effective, examine
from rocdbg.debugger.exec_map import ExecMap
from rocdbg.debugger.execution import Runner
from rocdbg.debugger.expr.evaluator import Evaluator, evaluate, evaluate_type
from rocdbg.debugger.formatting import PLAIN, Format, Formatter
from rocdbg.debugger.frames import Frame, FrameChain
from rocdbg.debugger.history import ValueHistory
from rocdbg.debugger.kernel_arguments import entry_value, is_absent
from rocdbg.debugger.lane_pcs import LanePcs, active_lanes
from rocdbg.debugger.launch import LaunchControl
from rocdbg.debugger.locspec import Defaults, Location, LocationResolver
from rocdbg.debugger.offsets import offset_lines
from rocdbg.debugger.plugins import PluginHost
from rocdbg.debugger.program import Program
from rocdbg.debugger.prologue import prologue_rows
from rocdbg.debugger.rows import LaneRow, LibraryRow, RegisterRow, ScopeVariables, ThreadRow
from rocdbg.debugger.scope import STATIC, Scope
from rocdbg.debugger.settings import PrintSettings, Settings
from rocdbg.debugger.sim_target import SimTarget
from rocdbg.debugger.source import SourceFiles
from rocdbg.debugger.stepping import Stepper
from rocdbg.debugger.stops import ExitInfo, StopEvent, StopReason
from rocdbg.debugger.storage import FaultyStorage
from rocdbg.debugger.symbols import Symbols
from rocdbg.debugger.target import AgentInfo, DispatchInfo, QueueInfo, Target, WaveInfo
from rocdbg.debugger.unwind import FoundRow, Unwinder
from rocdbg.debugger.values import Value
from rocdbg.debugger.wave_variables import define_wave_variables
from rocdbg.dwarf.info import Function, Type, Variable
from rocdbg.dwarf.info.types import ClassType, TypedefType
from rocdbg.errors import Error

DIVERGENT = "lane is divergent, skipping inactive frames"
"""The warning where a lane has not entered the innermost frames of its wave."""


class Session:
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
        self.scope: Scope = STATIC
        self.history = ValueHistory()
        self.convenience = Convenience()
        self.launch = LaunchControl()
        self.sources = SourceFiles(self.settings)
        self.symbols = Symbols(lambda: self.program)
        self.breakpoints = BreakpointTable(self.resolve)
        self.plugins = PluginHost(self)
        self.list_position: Defaults | None = None
        self._runner = Runner(self)
        self._stepper = Stepper(self._runner)
        self._unwinder: Unwinder | None = None
        self.exec_map: ExecMap | None = None
        self._chains: dict[Scope, FrameChain] = {}
        self._active: dict[int, int] = {}
        self._lane_pcs: dict[int, LanePcs] = {}
        self.inline_entered: dict[int, int] = {}
        self._warnings: list[str] = []
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
        program = Program.open(path, target_id)
        self._leave_target()
        self.program = program
        self.launch.set_program(program, keep_spec=from_launch_file)
        self.sources.forget()
        self.sources.program_directory = path.resolve().parent
        self.list_position = None
        self._unwinder = Unwinder(program, prologue_rows)
        self.exec_map = ExecMap(program)
        for name in self.launch.buffer_names():
            self.convenience.define_dynamic(name, partial(self.launch.buffer_value, name))
        for breakpoint_, _ in self.breakpoints.resolve_again():
            self.warn(f"Cannot find the location of breakpoint {breakpoint_.number} ({breakpoint_.text}).")

    def need_program(self) -> Program:
        """The program; raises `NoProgramError`."""
        if self.program is None:
            raise NoProgramError
        return self.program

    def need_target(self) -> Target:
        """The running target; raises `NotRunningError`."""
        if self.target is None:
            raise NotRunningError
        return self.target

    # -- running; each returns what happened

    def run(self) -> StopEvent:
        """Dispatch the kernel and go on to the first stop."""
        self._begin()
        return self._done(self._runner.run())

    def start(self) -> StopEvent:
        """`run` with a temporary breakpoint on the kernel."""
        self.break_at(self.launch.kernel.name, temporary=True)
        return self.run()

    def _begin(self) -> None:
        self.need_program()
        self._leave_target()
        self.target = self.launch.start()
        for name in self.launch.buffer_names():
            self.convenience.define_dynamic(name, partial(self.launch.buffer_value, name))

    def proceed(self, ignore_count: int | None = None) -> StopEvent:
        """``continue [N]``: with N, pass the breakpoint stopped at N - 1 times."""
        self.need_target()
        if ignore_count is not None and ignore_count > 1 and self.scope.thread is not None:
            pc = self.wave(self.scope.thread).pc
            for breakpoint_ in self.breakpoints.at(pc):
                breakpoint_.ignore_count = ignore_count - 1
        return self._done(self._runner.run())

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
        return self._done(self._stepper.finish(self._running_scope()))

    def until(self, location: str | None = None) -> StopEvent:
        """``until``: `next` without going backwards; with a location to there or out of the frame."""
        if location is None:
            return self._done(self._stepper.until_next(self._lane_scope()))
        return self._to_location(location)

    def advance(self, location: str) -> StopEvent:
        """Until the location is reached, or the frame returns."""
        return self._to_location(location)

    def _to_location(self, text: str) -> StopEvent:
        scope = self._running_scope()
        addresses = frozenset(place.address for place in self.resolve(text))
        return self._done(self._stepper.run_to_location(scope, addresses, or_return=True))

    def _repeat(self, count: int, step: Callable[[], StopEvent]) -> StopEvent:
        self._running_scope()
        event = None
        new_frame = new_thread = new_lane = False
        for _ in range(max(1, count)):
            event = step()
            new_frame |= event.new_frame
            new_thread |= event.new_thread
            new_lane |= event.new_lane
            if event.reason is not StopReason.STEP:
                break
        assert event is not None
        return self._done(replace(event, new_frame=new_frame, new_thread=new_thread, new_lane=new_lane))

    def _done(self, event: StopEvent | None) -> StopEvent:
        """Record what a stop leaves behind and tell the plug-ins."""
        assert event is not None, "an internal stop is not for the session"
        if event.returned is not None:
            event = replace(event, returned_number=self.history.record(event.returned))
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
        target = self.target
        if target is not None:
            target.interrupt()

    @property
    def busy(self) -> bool:
        """Whether the program is running right now (so that Ctrl-C interrupts it)."""
        return self._runner.running

    def _leave_target(self) -> None:
        self.target = None
        self.scope = STATIC
        self._runner.pending_signal = ""
        self.inline_entered.clear()
        self._thread_names.clear()
        self._lane_names.clear()
        self.state_changed()
        self.launch.release()

    # -- execution's host

    def chain(self, scope: Scope) -> FrameChain:
        """The frames of a lane as they are now; kept until the target runs."""
        key = scope.with_frame(0)
        found = self._chains.get(key)
        if found is None:
            assert self._unwinder is not None
            assert key.thread is not None
            shown = self.inline_entered.get(key.thread)
            found = FrameChain(
                self.need_program(), self.need_target(), key, self._unwinder, shown,
                self._lane_pcs_of(key.thread),
            )  # fmt: skip
            self._chains[key] = found
        return found

    def active_lanes(self, thread: int) -> int:
        """The mask of active lanes of a wave."""
        assert self._unwinder is not None
        assert self.exec_map is not None
        found = self._active.get(thread)
        if found is None:
            program, target = self.need_program(), self.need_target()
            found = active_lanes(program, target, thread, self._unwinder, self.exec_map)
            self._active[thread] = found
        return found

    def _lane_pcs_of(self, thread: int) -> LanePcs:
        """Where the lanes of a wave are."""
        assert self._unwinder is not None
        found = self._lane_pcs.get(thread)
        if found is None:
            found = LanePcs(
                self.need_program(), self.need_target(), thread, self._unwinder, self.active_lanes(thread)
            )
            self._lane_pcs[thread] = found
        return found

    def condition_holds(self, text: str, scope: Scope) -> bool:
        """The truth of a breakpoint's condition for a lane; ``$_lane`` and the like are that lane's."""
        before = self.scope
        self.scope = scope
        try:
            return self._truth(text, scope)
        finally:
            self.scope = before

    def state_changed(self) -> None:
        """Drop what was read of the target's state; called when it runs or registers are written."""
        self._chains.clear()
        self._active.clear()
        self._lane_pcs.clear()

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

    def warn(self, text: str) -> None:
        """Keep a warning for `take_warnings`."""
        self._warnings.append(text)

    def take_warnings(self) -> list[str]:
        """Warnings since the last call, without the ``warning: `` prefix."""
        warnings, self._warnings = self._warnings, []
        return warnings

    # -- focus

    def _running_scope(self) -> Scope:
        if self.target is None or self.scope.thread is None:
            raise NotRunningError
        return self.scope

    def _lane_scope(self) -> Scope:
        return self._running_scope().with_frame(0)

    def wave(self, thread: int) -> WaveInfo:
        """A resident wave. Raises `FocusError` when it has ended, `NotRunningError` without a target."""
        return self.need_target().wave(thread)

    def select_thread(self, thread: int, lane: int | None = None) -> Scope:
        """``thread N`` or ``thread N:L``; frame 0 is selected. Raises `FocusError`."""
        target = self.target
        waves = target.waves() if target is not None else ()
        if not any(wave.number == thread for wave in waves):
            raise FocusError(f"Unknown thread {thread}.")
        wave = self.wave(thread)
        if lane is None:
            active = self.active_lanes(thread) & wave.used_lanes
            keep = self.scope.lane if self.scope.thread == thread else None
            lane = keep if keep is not None else (active & -active).bit_length() - 1 if active else 0
        self._check_lane(wave, lane)
        return self._focus(thread, lane)

    def select_lane(self, lane: int) -> Scope:
        """``lane L``. Raises `FocusError`; an inactive lane without logical PC costs a warning."""
        scope = self._running_scope()
        assert scope.thread is not None
        self._check_lane(self.wave(scope.thread), lane)
        return self._focus(scope.thread, lane)

    def _focus(self, thread: int, lane: int) -> Scope:
        """Focus a lane, in the innermost frame that it is in."""
        scope = Scope(thread, lane)
        self.scope = scope.with_frame(self.chain(scope).innermost)
        if self.scope.frame:
            self.warn(DIVERGENT)
        return self.scope

    def _check_lane(self, wave: WaveInfo, lane: int) -> None:
        if not 0 <= lane < wave.lane_count:
            raise FocusError(f"Lane {lane} does not exist on this thread.")
        if not wave.used_lanes >> lane & 1:
            raise FocusError(f"Lane {lane} is unused on this thread.")
        is_active = self.active_lanes(wave.number) >> lane & 1
        if not is_active and self.logical_pc(wave.number, lane) is None:
            self.warn("Current lane is inactive.")

    def logical_pc(self, thread: int, lane: int) -> int | None:
        """Where a lane is by DW_AT_LLVM_lane_pc, in whichever frame; ``None`` where nothing says."""
        entered = self._lane_pcs_of(thread).entered(lane)
        return entered.pc if entered is not None else None

    def lane_pcs(self, thread: int, level: int = 0) -> list[int | None] | None:
        """DW_AT_LLVM_lane_pc for all lanes of a wave, ``None`` where its function has none.

        ``level`` counts physical frames, 0 the innermost.
        """
        return self._lane_pcs_of(thread).vector(level)

    def select_iteration(self, iteration: int) -> Scope:
        """``iteration N``: focus one of the loop iterations that run at once. Raises `FocusError`."""
        scope = self._running_scope()
        count = self.iteration_count()
        if not 0 <= iteration < count:
            raise FocusError(f"Iteration {iteration} does not exist here.")
        self.scope = replace(scope, iteration=iteration)
        return self.scope

    def iteration_count(self) -> int:
        """How many iterations of a loop run at once at the selected frame (DW_AT_LLVM_iterations)."""
        self._running_scope()
        return self.frame().context.iterations

    def select_frame(self, level: int) -> Scope:
        """``frame N``. Raises `FocusError`."""
        scope = self._need_stack()
        chain = self.chain(scope)
        if level < chain.innermost or chain.get(level) is None:
            raise FocusError(f"No frame at level {level}.")
        self.scope = scope.with_frame(level)
        return self.scope

    def up(self, count: int = 1) -> Scope:
        """``up``; negative counts go down. Goes as far as there are frames; raises `FocusError` at the ends."""
        scope = self._need_stack()
        at = max(scope.frame, self.chain(scope).innermost)
        wanted = at + count
        if count > 0:
            last = at
            while last < wanted and self.chain(scope).get(last + 1) is not None:
                last += 1
            if last == at:
                raise FocusError("Initial frame selected; you cannot go up.")
            wanted = last
        elif wanted < (innermost := self.chain(scope).innermost):
            if at <= innermost:
                raise FocusError("Bottom (innermost) frame selected; you cannot go down.")
            wanted = innermost
        return self.select_frame(wanted)

    def _need_stack(self) -> Scope:
        if self.target is None or self.scope.thread is None:
            raise NoRegistersError("stack")
        return self.scope

    # -- tables

    def threads(self) -> Sequence[ThreadRow]:
        """``info threads``: resident waves in order of creation."""
        return tables.threads(self, self._thread_names)

    def lanes(self, thread: int | None = None) -> Sequence[LaneRow]:
        """``info lanes``: all lanes of a wave (by default the current one); the front end filters."""
        if thread is None:
            thread = self._running_scope().thread
        assert thread is not None
        return tables.lanes(self, thread, self._lane_names)

    def name_thread(self, name: str) -> None:
        """``thread name``; an empty one removes it."""
        scope = self._running_scope()
        assert scope.thread is not None
        self._thread_names[scope.thread] = name

    def name_lane(self, name: str) -> None:
        """``lane name``."""
        scope = self._running_scope()
        assert scope.thread is not None and scope.lane is not None
        self._lane_names[scope.thread, scope.lane] = name

    def agents(self) -> Sequence[AgentInfo]:
        """``info agents``."""
        return self.target.agents() if self.target is not None else []

    def queues(self) -> Sequence[QueueInfo]:
        """``info queues``."""
        return self.target.queues() if self.target is not None else []

    def dispatches(self) -> Sequence[DispatchInfo]:
        """``info dispatches``."""
        return self.target.dispatches() if self.target is not None else []

    def shared_libraries(self) -> Sequence[LibraryRow]:
        """``info sharedlibrary``: loaded code objects."""
        if self.program is None or not self.program.loaded:
            return []
        low, high = self.program.text_range()
        return [LibraryRow(low, high, self.program.has_debug_info, self.program.uri)]

    # -- frames and variables

    def frames(self, scope: Scope | None = None) -> Iterator[Frame]:
        """The frames of a lane, innermost first, inline ones included; lazily unwound."""
        if scope is None:
            scope = self._need_stack()
        return iter(self.chain(scope))

    def unwind_row(self, pc: int) -> FoundRow | None:
        """The unwind rules at a loaded address, and where they come from."""
        program = self.need_program()
        assert self._unwinder is not None
        return self._unwinder.row(program.to_file(pc))

    def is_divergent(self, scope: Scope | None = None) -> bool:
        """Whether there are frames that the lane has not entered, and which are not shown therefore."""
        return self.chain(scope or self._need_stack()).innermost > 0

    def frame(self, scope: Scope | None = None) -> Frame:
        """The frame at ``scope.frame``. Raises `FocusError` when there is none."""
        if scope is None:
            scope = self._need_stack()
        found = self.chain(scope).get(scope.frame)
        if found is None:
            raise FocusError(f"No frame at level {scope.frame}.")
        return found

    def describe_frame(self, frame: Frame) -> list[str]:
        """The lines of ``info frame``."""
        return describe_frame(frame, self.chain(frame.scope).get(frame.level + 1) is not None)

    def environment(self, scope: Scope | None = None) -> ProgramEnvironment:
        """What expressions are evaluated in at a scope (by default the current one)."""
        if scope is None:
            scope = self.scope
        frame = self.frame(scope) if self.target is not None and scope.thread is not None else None
        return self._environment(frame)

    def _environment(self, frame: Frame | None) -> ProgramEnvironment:
        target = self.target
        if target is None and self.launch.bound is not None and self.program is not None:
            bound = self.launch.bound
            target = SimTarget(bound.machine, bound.dispatch, "")
        return ProgramEnvironment(
            self.program, target, frame, self.settings, self.history, self.convenience
        )

    def arguments(self, frame: Frame) -> Sequence[tuple[str, Value]]:
        """``info args`` and frame lines: the parameters of the frame's function.

        A kernel's parameter that the compiler has lost is given as ``NAME@entry``: what was passed.
        """
        environment = self._environment(frame)
        scope = frame.scopes[-1] if frame.scopes else None
        if scope is None:
            return []
        rows = []
        for variable in scope.variables:
            if not variable.is_parameter or not variable.name:
                continue
            name, value = variable.name, self._safe_value(environment, variable)
            if self.target is not None and is_absent(value):
                passed = entry_value(frame, variable, self.target, environment.memory)
                if passed is not None:
                    name, value = f"{name}@entry", passed
            rows.append((name, value))
        return rows

    def locals(self, frame: Frame) -> Sequence[ScopeVariables]:
        """``info locals``, innermost block first."""
        environment = self._environment(frame)
        blocks = []
        for scope in frame.scopes:
            named = [v for v in scope.variables if not v.is_parameter and v.name and not v.artificial]
            blocks.append(ScopeVariables(tuple((v.name or "", self._safe_value(environment, v)) for v in named)))
        return blocks

    @staticmethod
    def _safe_value(environment: ProgramEnvironment, variable: Variable) -> Value:
        """A variable's value; where its location cannot be told, a value that says why when it is read."""
        try:
            return environment.value_of(variable)
        except Error as error:
            return Value(variable.type, FaultyStorage(error))

    def registers(self, names: Sequence[str] = (), scope: Scope | None = None) -> Sequence[RegisterRow]:
        """``info registers``; without names the ones the wave has. Raises `NoRegistersError`, `Error`."""
        return tables.registers(self, names, scope or self.scope)

    # -- values

    def evaluate(self, text: str, scope: Scope | None = None) -> Value:
        """The value of a C expression; assignments in it are carried out."""
        value = evaluate(text, self.environment(scope))
        if "=" in text or "++" in text or "--" in text:
            value = self._after_assignment(value)
        return value

    def _after_assignment(self, value: Value) -> Value:
        """Registers or memory may have changed: frames have to be unwound anew."""
        try:
            value = value.fetched()
        finally:
            self.state_changed()
        return value

    def truth(self, text: str) -> bool:
        """Whether an expression is non-zero (``if``, ``while`` of scripts)."""
        return self._truth(text, None)

    def _truth(self, text: str, scope: Scope | None) -> bool:
        environment = self.environment(scope)
        evaluator = Evaluator(environment)
        return evaluator.decay(evaluator.follow(evaluate(text, environment))).is_true()

    def integer(self, text: str) -> int:
        """The value of an integer expression (counts, line numbers, exit status)."""
        value = evaluate(text, self.environment())
        return Evaluator(self.environment()).decay(value).as_int()

    def read_string(self, value: Value) -> bytes:
        """The characters of an array or behind a pointer, up to the first null."""
        return Evaluator(self.environment()).read_string(value)

    def expression_type(self, text: str) -> tuple[Type, bool]:
        """The type of an expression or type name, and whether it was a type name; no side effects."""
        return evaluate_type(text, self.environment())

    def whatis(self, text: str) -> str:
        """``whatis``: the type's name; one level of typedef is unrolled for a type name."""
        type_, is_type_name = self.expression_type(text)
        if is_type_name and isinstance(type_, TypedefType):
            type_ = type_.target
        return str(type_)

    def ptype(self, text: str, letters: str = "") -> list[str]:
        """The lines of ``ptype``: ``type = struct S {`` and so on; with the letter ``o`` offsets and sizes too."""
        type_, _ = self.expression_type(text)
        if "o" in letters:
            return offset_lines(self.program.complete_type(type_) if self.program is not None else type_)
        lines = self.symbols.describe_type(type_)
        return [f"type = {lines[0]}", *lines[1:]] if lines else []

    def formatter(self, settings: PrintSettings | None = None, scope: Scope | None = None) -> Formatter:
        """What formats values for the current place."""
        environment = self._environment_or_static(scope)
        program = self.program
        return Formatter(
            settings or self.settings.print,
            program,
            environment.memory,
            self.plugins.pretty if self.plugins.has_printers else None,
            environment.complete_type,
            lambda type_, name: _static_member(environment, type_, name),
        )

    def _environment_or_static(self, scope: Scope | None) -> ProgramEnvironment:
        try:
            return self.environment(scope)
        except Error:
            return self._environment(None)

    def format(
        self, value: Value, fmt: Format | None = None, settings: PrintSettings | None = None
    ) -> str:
        """Text of a value as ``print`` shows it, without ``$1 = ``."""
        return self.formatter(settings).format(value, self._radix(fmt))

    def format_nested(
        self, value: Value, fmt: Format | None = None, settings: PrintSettings | None = None
    ) -> str:
        """Text of a value as an argument or member: pointers without their type."""
        return self.formatter(settings).format_nested(value, self._radix(fmt))

    def _radix(self, fmt: Format | None) -> Format:
        """A format, by default what ``set output-radix`` says."""
        if fmt is not None and fmt.letter:
            return fmt
        letter = {16: "x", 8: "o"}.get(self.settings.output_radix, "")
        return replace(fmt or PLAIN, letter=letter)

    def examine(self, address: Value, fmt: Format, count: int | None = None) -> Sequence[ExamineLine]:
        """``x/FMT``; ``$_`` and ``$__`` are set to the last address and value."""
        evaluator = Evaluator(self.environment())
        fmt = effective(fmt if count is None else replace(fmt, count=count), self._last_examine)
        self._last_examine = replace(fmt, count=1)
        followed = evaluator.follow(address)
        place = followed.address
        if fmt.letter in ("s", "i") or place is None or ctypes.is_pointer(followed.type):
            place = None
        pointer = evaluator.decay(followed)
        if ctypes.is_aggregate(pointer.type) and followed.address is not None:
            space, start = followed.address.space, followed.address.value
        else:
            space, start = ctypes.pointer_space(pointer.type), pointer.as_int()
        pc = wave_size = None
        if self.target is not None and self.scope.thread is not None:
            wave = self.wave(self.scope.thread)
            pc, wave_size = self.frame().pc, wave.lane_count
        shown = examine(
            evaluator.environment.memory, self.formatter(), self.program, space, start, fmt, pc, wave_size
        )
        last_type = shown.last.type if shown.last is not None else ctypes.INT
        self.convenience.set("_", Value.of_int(ctypes.pointer_to(last_type, space), shown.last_address))
        if shown.last is not None:
            self.convenience.set("__", shown.last)
        return shown.lines

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
        made = self.breakpoints.add(
            text, locations, temporary=temporary, condition=condition, thread=thread, lane=lane
        )
        self.convenience.set_int("bpnum", made.number)
        return made

    def disassemble(self, low: int, high: int) -> Sequence[DisassemblyLine]:
        """The instructions in [low, high)."""
        program = self.need_program()
        pc = wave_size = None
        if self.target is not None and self.scope.thread is not None:
            pc, wave_size = self.frame().pc, self.wave(self.scope.thread).lane_count
        return list(disassemble(program, self.environment().memory, low, high, pc, wave_size))

    def complete(self, kind: str, word: str, text: str) -> Sequence[str]:
        """Candidates that start with ``word``, for completion.

        ``kind``: ``expression`` (locals, globals, registers, convenience variables, members after ``.`` and
        ``->``), ``location`` and ``symbol`` (functions, files), ``type``, ``register``, ``kernel``, ``plugin``,
        ``breakpoint``, ``thread``. ``text`` is the whole argument up to the cursor.
        """
        return complete(self, kind, word, text)


def _static_member(environment: ProgramEnvironment, type_: ClassType, name: str) -> Value | None:
    try:
        return environment.global_symbol(f"{type_.qualified_name or type_.name}::{name}")
    except Error:
        return None

