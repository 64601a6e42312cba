"""The session: a program being debugged, seen from a focus. It combines parts that each have one responsibility."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocdbg.codeobject.code_object_uri import is_uri
from rocdbg.codeobject.startable_program import is_program
from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.base.errors import LocationSpecError, NoProgramError, NotRunningError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.base.warnings import Warnings
from rocdbg.debugger.breakpoints.breakpoint_table import Breakpoint, BreakpointTable
from rocdbg.debugger.breakpoints.catchpoints import Catchpoint, Event
from rocdbg.debugger.breakpoints.condition_syntax import check_condition
from rocdbg.debugger.breakpoints.host_breakpoints import HostBreakpoint
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import EVERYTHING, Tracepoint, parse_actions
from rocdbg.debugger.breakpoints.watchpoints import Watchpoint
from rocdbg.debugger.completion_candidates import complete
from rocdbg.debugger.expr.names.caller_functions import add_caller_functions
from rocdbg.debugger.expr.names.convenience_variables import Convenience
from rocdbg.debugger.expr.names.focus_variables import define_wave_variables
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.frames.value_analyses import ValueAnalyses
from rocdbg.debugger.plugin_host import PluginHost
from rocdbg.debugger.program.location_lookup import Location
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source_files import SourceFiles
from rocdbg.debugger.reports.across_lanes import Across
from rocdbg.debugger.reports.dwarf_inspection import DwarfInspection
from rocdbg.debugger.reports.examine import Examiner, LastFormat
from rocdbg.debugger.reports.place_resolution import ListPosition, Places
from rocdbg.debugger.reports.session_tables import Tables
from rocdbg.debugger.reports.symbol_queries import Symbols
from rocdbg.debugger.reports.type_reports import Types
from rocdbg.debugger.running.host_side import HostSide
from rocdbg.debugger.running.launch_control import LaunchControl
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.program_launch import ProgramLaunch, need_program
from rocdbg.debugger.running.run_control import RunControl
from rocdbg.debugger.running.run_parts import RunParts
from rocdbg.debugger.running.run_state import RunState
from rocdbg.debugger.running.signal_info import define_signal_info
from rocdbg.debugger.running.skip_list import SkipList
from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.debugger.target.launcher import Launcher
from rocdbg.debugger.target.reversible_target import RecordedTarget
from rocdbg.debugger.values.format_letters import Format
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_history import ValueHistory
from rocdbg.errors import Error
from rocdbg.launch.debug_files import DebugFiles
from rocdbg.launch.spec import LaunchSpec
from rocdbg.work import doing

if TYPE_CHECKING:
    from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import Tracing
    from rocdbg.debugger.time.time_control import TimeControl


class Session:
    """The interface for front ends, made of parts that each serve one kind of request.

    Attributes: settings, warnings: `Settings`; what a front end shows after a command, `Warnings`. inferior: the
    program being debugged, `Inferior`: program, target, waves, frames of any lane. launch: kernel, grid, workgroup,
    arguments of the next run, `LaunchControl`. program_launch: program, arguments, environment, GPUs for whole
    programs, `ProgramLaunch`. host: their host code, `HostSide`. launcher: creates the target of the next run:
    ``program_launch``, ``launch`` or one that another part sets. breakpoints: `BreakpointTable`. skips: functions
    that `step` does not enter, `SkipList`. history, convenience: the value history (``$1``, ``$$``); variables and
    functions (``$foo``, ``$_strlen``). plugins, observers: `PluginHost`; the objects that are notified of launches,
    stops and ends, `Observer`. sources: source text, `SourceFiles`. symbols: the queries behind ``info
    symbol/address/functions/...``, `Symbols`.

    And, for the focus:
        focus: which wave, lane, frame is selected, `Selection`.
        running: run, continue, step, finish, `RunControl`.
        time: reverse execution, positions in time, recording, `TimeControl`.
        data: expressions, variables, their text, `Data`.
        places: locations, source lines, disassembly, `Places`.
        tables, across: threads, lanes, registers, agents, `Tables`; an expression on all lanes or waves, `Across`.
        types, examiner, dwarf: ``whatis``, ``ptype``, `Types`; ``x``, `Examiner`; ``maint dwarf``, `DwarfInspection`.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings: Settings = settings or Settings()
        self.warnings: Warnings = Warnings()
        self.inferior: Inferior = Inferior()
        self.launch: LaunchControl = LaunchControl(self.warnings)
        self.program_launch: ProgramLaunch = ProgramLaunch()
        self.program_launch.follow(self.settings)
        self.program_launch.report = self.warnings.add
        self.program_launch.titles = self.inferior.programs.title
        self.launcher: Launcher = self.launch
        self.launch.described, self.launch.extended = self._launch_kernel, self._use_launch
        self.history: ValueHistory = ValueHistory()
        self.convenience: Convenience = Convenience()
        self.sources: SourceFiles = SourceFiles(self.settings)
        self.inferior.source_line = self.inferior.programs.source_line = self.sources.line_or_none
        self.symbols: Symbols = Symbols(lambda: self.inferior.program, self.settings, lambda: self.inferior.programs)
        self.breakpoints: BreakpointTable = BreakpointTable(lambda text: self.places.resolve(text))
        self.plugins: PluginHost = PluginHost(self)
        self.host: HostSide = HostSide(
            self.settings, self.breakpoints, self.inferior,
            lambda: self.program_launch.path if self.whole_program else "", lambda: self.focus,
            self.warnings.add,
        )
        self.program_launch.host = lambda: self.host.for_start()
        self.skips: SkipList = SkipList()
        self._run_state = RunState()
        self._position = ListPosition()
        self.observers: list[Observer] = [self._position, self.plugins, self.host]
        self._last_format = LastFormat(Format("", "w"))
        self._analyses = ValueAnalyses(self.inferior, self.sources)
        define_wave_variables(self.convenience, self.inferior)
        define_signal_info(self.convenience, self._run_state)
        add_caller_functions(self.convenience, self.inferior)
        self._look_from(Selection(self.inferior, self.warnings))

    def _look_from(self, focus: Selection) -> None:
        """Create the parts that depend on the focus."""
        inferior, settings = self.inferior, self.settings
        self.focus: Selection = focus
        data = Data(
            inferior, focus, settings, self.history, self.convenience,
            lambda: self.launcher.remains(), self.plugins.printer, self._analyses, self.warnings.add,
        )
        self.data: Data = data
        self.convenience.text = data.format_nested
        self.places: Places = Places(
            inferior, focus, data, self.symbols, settings, self._position, lambda: self.launch.kernel.name
        )
        self.tables: Tables = Tables(inferior, focus, data)
        self.across: Across = Across(inferior, focus, data)
        self.types: Types = Types(inferior, data, settings)
        self.examiner: Examiner = Examiner(inferior, focus, data, self.convenience, self._last_format)
        self.dwarf: DwarfInspection = DwarfInspection(inferior, focus, data, self.symbols)
        self.running: RunControl = RunControl(
            RunParts(
                inferior, data, self.breakpoints, settings, focus, self.history, self.convenience, self._run_state,
                self.skips, lambda: self.launcher, self.places.resolve_shown, self.observers, self.host,
            )
        )
        self._time: TimeControl | None = None

    @property
    def time(self) -> TimeControl:
        """Reverse execution, positions in time, and recording."""
        if self._time is None:
            from rocdbg.debugger.time.time_control import TimeControl  # imported late: few sessions go back

            self._time = TimeControl(
                self.running, self.inferior, self.focus, self.breakpoints, lambda: self.launcher.remains()
            )
        return self._time

    @property
    def tracing(self) -> Tracing:
        """The trace experiment: what tracepoints collect."""
        return self.running.native.tracing()

    def at(self, focus: Focus) -> Session:
        """Return the same session seen from another, independent focus, for ``lane apply`` and similar commands."""
        other = copy(self)
        other._look_from(Selection(self.inferior, self.warnings, focus))
        return other

    # -- the program

    def load(self, path: Path | str, target_id: str | None = None) -> None:
        """``file``: load a code object, bundle or fat binary (also by URI), a launch file (.toml), or a program.

        Raises `rocdbg.Error`.
        """
        name = str(path)
        if not is_uri(name) and is_program(str(Path(name).expanduser())):
            self.debug_program(name, self.program_launch.arguments, target_id)
        else:
            self._load(name, target_id)

    def _load(self, name: str, target_id: str | None) -> None:
        from_launch_file = name.endswith(".toml") and not is_uri(name)
        if from_launch_file:
            file, target_id = self.launch.read_file(Path(name), target_id)
            name = str(file)
        settings = self.settings  # bound instead of the session, because type information is cached longer
        files = DebugFiles(lambda: settings.debug_file_directory, self.warnings.add)
        with doing(f"reading {name}"):
            programs = self.launch.open_all(name, target_id, files, from_launch_file)
        self.running.leave()
        self.launcher = self.launch
        self.launch.set_programs(programs, keep_spec=from_launch_file)
        self.sources.use(programs[0].path.resolve().parent, programs[0].built)
        self._use_launch()

    def debug_program(self, path: str, arguments: str = "", target_id: str | None = None) -> None:
        """``--args``: debug a program with its own runtime. Raises `rocdbg.Error` if there is no such program."""
        found = need_program(path)
        try:
            self._load(found, target_id or self.program_launch.first_gpu(found))
        except Error:  # a script, or a program whose device code is in another file
            if target_id is not None:
                raise
            self.running.leave()
            self.launch.set_programs([])
            self.inferior.use(None, ())
        self.program_launch.path, self.program_launch.arguments = found, arguments
        self.launcher = self.program_launch

    def _launch_kernel(self) -> None:  # a launch has been described
        self.launcher = self.launcher if self.inferior.running else self.launch

    @property
    def whole_program(self) -> bool:
        """Whether ``run`` starts a whole program, not a kernel."""
        return self.launcher is not self.launch

    def choose_kernel(self, name: str) -> None:
        """``kernel NAME``: choose what ``run`` dispatches. Raises a `rocdbg.Error` that lists similar names.

        If the file has several code objects, the one with the kernel becomes the program.
        """
        self.launch.set_kernel(name)
        if self.launch.program is not self.inferior.program:
            self.running.leave()
            self._use_launch()

    def restore_recording(self, path: Path) -> None:
        """``record restore``: load the run in a file, and go to its beginning. Raises `rocdbg.Error`."""
        from rocdbg.debugger.time.record_save_and_restore import RestoredRun  # imported late: few sessions restore one

        restored = RestoredRun(path)
        if restored.warning:
            self.warnings.add(restored.warning)
        self.running.leave()
        launch, sources = self.launch, self.sources
        launcher, programs, spec, given = self.launcher, launch.programs, launch.spec, launch.given
        directory, built = sources.program_directory, sources.built
        restored.describe(self.launch)
        self.launcher = self.launch
        self.sources.use(restored.programs[0].path.parent, None)
        try:
            self._use_launch()
            self.name_buffers()
            target = restored.start(self.launch)
        except Error:  # undo the restoration completely
            launch.set_programs(programs)
            launch.spec, launch.given, self.launcher = spec, given, launcher
            sources.forget()
            sources.program_directory, sources.built = directory, built
            if programs:
                self._use_launch()
            else:
                self.inferior.use(None, ())
            raise
        self.running.return_to(target)
        self.focus.settle()

    def use_launch(self, programs: list[Program], spec: LaunchSpec, arguments: list[Any]) -> None:
        """Use a launch that another program made: its code objects, its description, and its arguments in the form that
        `launch.argument_binding.bind` accepts.
        """
        self.running.leave()
        self.launch.set_programs(programs)
        self.launch.spec, self.launch.given = spec, arguments
        self.sources.forget()
        self._use_launch()

    def save_recording(self, path: Path) -> None:
        """``record save``. Raises `rocdbg.Error`."""
        self.time.need()
        target = self.inferior.target or self.launcher.remains()
        if not isinstance(target, RecordedTarget):
            raise NotRunningError
        from rocdbg.debugger.time.record_save_and_restore import save_run

        save_run(self.launch, target, path)

    def _use_launch(self) -> None:
        """Give precedence to the names and places in the code object of the next launch."""
        self.inferior.use(self.launch.program, self.launch.programs)
        self._position.reset()
        self.name_buffers()
        for breakpoint_, _ in self.breakpoints.resolve_again():
            self.warnings.add(f"Cannot find the location of breakpoint {breakpoint_.number} ({breakpoint_.text}).")

    def name_buffers(self) -> None:
        """Make named buffers of the launch available as convenience variables."""
        for name in self.launch.buffer_names():
            self.convenience.define_dynamic(name, partial(_buffer, self.launch, name))

    def run(self) -> StopEvent:
        """``run``: create the launch's target and run to the first stop."""
        self.name_buffers()
        return self.running.run()

    def start_at_entry(self) -> StopEvent:
        """``starti``: `run` to the kernel's first instruction."""
        self.name_buffers()
        return self.running.run(lambda: self.launch.program.to_loaded(self.launch.kernel.entry_address))

    def start(self) -> StopEvent:
        """`run` with a temporary breakpoint on the kernel."""
        self.break_at(self.launch.kernel.name, temporary=True)
        return self.run()

    # -- breakpoints

    def break_at(
        self, text: str, *, condition: str | None = None, temporary: bool = False, hardware: bool = False,
        thread: int | None = None, lane: int | None = None, pending: bool = False, force: bool = False,
        form: type[Breakpoint] = Breakpoint, places: Sequence[Location] | None = None,
    ) -> Breakpoint:
        """``break`` and ``tbreak``. An empty ``text`` means the selected frame's position. ``places`` are the places to
        which the text resolves, if they are known already.

        With ``pending``, a breakpoint at an unknown location waits until the location becomes known; otherwise this
        raises `LocationSpecError`. Locations at which the condition has no meaning are disabled, with a warning. If it
        has no meaning at any location, its error is raised, unless ``force`` is given.
        """
        locations: Sequence[Location] = []
        try:
            locations = self.places.resolve(text) if places is None else places
            text = self.places.canonical(text)
        except (LocationSpecError, NoProgramError):
            if not pending:
                raise
        if not text.strip():
            place = locations[0]
            text = f"*{place.address:#x}" if place.file is None else f"{place.file.name}:{place.line}"
        if condition is not None and not force:
            self._check_condition(condition, locations)
        made = self.breakpoints.add(
            text, locations, temporary=temporary, condition=condition, thread=thread, lane=lane, hardware=hardware,
            form=form,
        )
        if condition is None or force or len(locations) != 1:  # otherwise the condition was checked above
            for problem in made.check_locations(self._condition_problem, new=True):
                self.warnings.add(problem)
        self.convenience.set_int("bpnum", made.number)
        return made

    def break_in_host(self, text: str, *, condition: str | None = None, temporary: bool = False) -> Breakpoint | None:
        """Set a breakpoint in the host code of a whole program; return None if there is no such location in it.

        Raises a `rocdbg.Error` if the condition is not valid there.
        """
        made = self.host.break_at(text, temporary, condition)
        if made is not None:
            self.convenience.set_int("bpnum", made.number)
        return made

    def watch(
        self, expression: str, *, location: bool = False, every_lane: bool = False, mask: str | None = None,
        condition: str | None = None, thread: int | None = None, lane: int | None = None, access: str = "write",
    ) -> Watchpoint:
        """``watch``: stop when the expression's value changes, in the selected lane and frame.

        With ``access`` "read" or "access", stop when its memory is read, or accessed in any way (``rwatch``,
        ``awatch``).

        With ``location``, watch the memory where the expression is now; with ``mask``, all memory whose address agrees
        with that of the expression in the bits that the mask sets; with ``every_lane``, the expression in each lane of
        the wave.
        """
        made = self.running.watcher.make(
            expression, self.focus.current, location=location, every_lane=every_lane, access=access,
            mask=None if mask is None else self.data.integer(mask), software=not self.settings.hardware_watchpoints,
        )
        if condition is not None:
            self.data.expression_type(condition)
        made.condition, made.thread, made.lane = condition, thread, lane
        self.breakpoints.adopt(made)
        self.convenience.set_int("bpnum", made.number)
        return made

    def catch(
        self, event: Event, when: tuple[str, ...] = (), argument: str = "", *, temporary: bool = False,
        condition: str | None = None,
    ) -> Catchpoint:
        """``catch`` and ``tcatch``: stop at an event; see `Catchpoint`. Raises a `rocdbg.Error` for an invalid event.
        """
        if condition is not None:
            self._check_condition(condition, [])
        made = self.running.catcher.make(event, when, argument, temporary)
        made.condition = condition
        self.breakpoints.adopt(made)
        self.convenience.set_int("bpnum", made.number)
        return made

    def set_actions(self, made: Tracepoint, lines: Sequence[str]) -> None:
        """Give a tracepoint other actions. Raises a `rocdbg.Error` for actions that are invalid at its place."""
        environment, places = self.data.environment(), [place.location for place in made.locations[:1]]
        for line in lines:
            for action in parse_actions(line):
                if not (action.collects and action.text in EVERYTHING):
                    check_condition(environment, action.text, places)
        made.set_actions(lines)

    def _check_condition(self, condition: str, locations: Sequence[Location]) -> None:
        """Raise the condition's error if the condition is invalid at all locations."""
        failed: Error | None = None
        for place in locations:
            try:
                return check_condition(self.data.environment(), condition, [place])
            except Error as error:
                failed = error
        if failed is not None:
            raise failed
        return check_condition(self.data.environment(), condition, [])

    def _condition_problem(self, condition: str, place: Location) -> str | None:
        try:
            check_condition(self.data.environment(), condition, [place])
        except Error as error:
            return str(error)
        return None

    def set_condition(self, number: int, condition: str | None, force: bool = False) -> None:
        """``condition N EXPR``; ``None`` removes it. Raises `BreakpointError`, or the error in the condition."""
        breakpoint_ = self.breakpoints.get(number)
        if isinstance(breakpoint_, HostBreakpoint):
            self.host.set_condition(breakpoint_, condition)
            return
        if condition and isinstance(breakpoint_, Watchpoint):
            self.data.expression_type(condition)
        elif condition and not force:
            self._check_condition(condition, [place.location for place in breakpoint_.locations])
        self.breakpoints.set_condition(number, condition)
        for problem in breakpoint_.check_locations(self._condition_problem):
            self.warnings.add(problem)

    def complete(self, kind: str, word: str, text: str) -> Sequence[str]:
        """Return the candidates that start with ``word``, for completion.

        ``kind``: ``expression`` (locals, globals, registers, convenience variables, members after ``.`` and ``->``),
        ``location`` and ``symbol`` (functions, files), ``type``, ``register``, ``kernel``, ``plugin``, ``breakpoint``,
        ``thread``, ``lane``. ``text`` is the whole argument up to the cursor.
        """
        return complete(self, kind, word, text)


def _buffer(launch: LaunchControl, name: str, focus: Focus) -> Value:
    return launch.buffer_value(name)
