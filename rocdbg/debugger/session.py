"""The session: what is debugged, looked at from a focus. It puts the parts together; each does one thing."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from pathlib import Path

from rocdbg.debugger.completion import complete
from rocdbg.debugger.errors import LocationSpecError, NoProgramError
from rocdbg.debugger.expr.convenience import Convenience
from rocdbg.debugger.expr.data import Data
from rocdbg.debugger.expr.wave_variables import define_wave_variables
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.plugins import PluginHost
from rocdbg.debugger.program.locspec import Location
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source import SourceFiles
from rocdbg.debugger.reports.dwarf_inspection import DwarfInspection
from rocdbg.debugger.reports.examine import Examiner, LastFormat
from rocdbg.debugger.reports.places import Listed, Places
from rocdbg.debugger.reports.symbols import Symbols
from rocdbg.debugger.reports.tables import Tables
from rocdbg.debugger.reports.types import Types
from rocdbg.debugger.running.breakpoints import Breakpoint, BreakpointTable
from rocdbg.debugger.running.conditions import check_condition
from rocdbg.debugger.running.control import RunControl
from rocdbg.debugger.running.launch import LaunchControl
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.runner import RunState
from rocdbg.debugger.running.stops import StopEvent
from rocdbg.debugger.settings import Settings
from rocdbg.debugger.target.launcher import Launcher
from rocdbg.debugger.values.format import Format
from rocdbg.debugger.values.history import ValueHistory
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.warnings import Warnings


class Session:
    """What a front end drives: parts that each answer one kind of request.

    Attributes:
        settings: `Settings`.
        inferior: what is debugged, `Inferior`: program, target, waves, frames of any lane.
        launch: kernel, grid, workgroup, arguments of the next run, `LaunchControl`.
        launcher: what makes the target of the next run; ``launch`` unless somebody sets another.
        breakpoints: `BreakpointTable`.
        history, convenience: ``$1``, ``$$``; ``$foo``, ``$_strlen``.
        plugins: `PluginHost`.
        observers: told of launches, stops and ends, `Observer`.
        sources: source text, `SourceFiles`.
        symbols: the queries behind ``info symbol/line/scope/functions/...``, `Symbols`.
        warnings: what a front end shows after a command, `Warnings`.

    And, at the focus:
        focus: which wave, lane, frame is selected, `Selection`.
        running: run, continue, step, finish, `RunControl`.
        data: expressions, variables, their text, `Data`.
        places: locations, source lines, disassembly, `Places`.
        tables: threads, lanes, registers, agents, `Tables`.
        types: ``whatis``, ``ptype``, `Types`.
        examiner: ``x``, `Examiner`.
        dwarf: ``maint dwarf``, `DwarfInspection`.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings: Settings = settings or Settings()
        self.warnings: Warnings = Warnings()
        self.inferior: Inferior = Inferior()
        self.launch: LaunchControl = LaunchControl(self.warnings)
        self.launcher: Launcher = self.launch
        self.history: ValueHistory = ValueHistory()
        self.convenience: Convenience = Convenience()
        self.sources: SourceFiles = SourceFiles(self.settings)
        self.symbols: Symbols = Symbols(lambda: self.inferior.program, self.settings)
        self.breakpoints: BreakpointTable = BreakpointTable(lambda text: self.places.resolve(text))
        self.plugins: PluginHost = PluginHost(self)
        self._run_state = RunState()
        self._listed = Listed()
        self.observers: list[Observer] = [self._listed, self.plugins]
        self._last_format = LastFormat(Format("x", "w"))
        define_wave_variables(self.convenience, self.inferior)
        self._look_from(Selection(self.inferior, self.warnings))

    def _look_from(self, focus: Selection) -> None:
        """Make the parts that depend on the focus."""
        inferior, settings = self.inferior, self.settings
        self.focus: Selection = focus
        data = Data(
            inferior, focus, settings, self.history, self.convenience,
            lambda: self.launcher.remains(), self.plugins.printer,
        )
        self.data: Data = data
        self.places: Places = Places(
            inferior, focus, data, self.symbols, settings, self._listed, lambda: self.launch.kernel.name
        )
        self.tables: Tables = Tables(inferior, focus, data)
        self.types: Types = Types(inferior, data, self.symbols)
        self.examiner: Examiner = Examiner(inferior, focus, data, self.convenience, self._last_format)
        self.dwarf: DwarfInspection = DwarfInspection(inferior, focus, data, self.symbols)
        self.running: RunControl = RunControl(
            inferior, focus, data, self.breakpoints, settings, self.warnings, self.history, self.convenience,
            self._run_state, lambda: self.launcher, self.places.resolve, self.observers,
        )

    def at(self, focus: Focus) -> Session:
        """The same session looked at from another focus, which moves alone: for ``lane apply`` and its like."""
        other = copy(self)
        other._look_from(Selection(self.inferior, self.warnings, focus))
        return other

    # -- what is debugged

    def load(self, path: Path | str, target_id: str | None = None) -> None:
        """``file``: a code object, bundle, fat binary, or a launch file (.toml). Raises `rocdbg.Error`."""
        path = Path(path)
        from_launch_file = path.suffix == ".toml"
        if from_launch_file:
            path, target_id = self.launch.read_file(path, target_id)
        programs = Program.open_all(path, target_id)
        self.running.leave()
        self.launch.set_programs(programs, keep_spec=from_launch_file)
        self.sources.forget()
        self.sources.program_directory = path.resolve().parent
        self._use_launch()

    def choose_kernel(self, name: str) -> None:
        """``kernel NAME``: what ``run`` dispatches. Raises a `rocdbg.Error` that lists near names.

        Where the file has several code objects, the one with the kernel becomes the program.
        """
        self.launch.set_kernel(name)
        if self.launch.program is not self.inferior.program:
            self.running.leave()
            self._use_launch()

    def _use_launch(self) -> None:
        """Make the code object of the next launch the one whose names and places are meant."""
        self.inferior.use(self.launch.program, self.launch.programs)
        self._listed.place = None
        self.name_buffers()
        for breakpoint_, _ in self.breakpoints.resolve_again():
            self.warnings.add(f"Cannot find the location of breakpoint {breakpoint_.number} ({breakpoint_.text}).")

    def name_buffers(self) -> None:
        """Buffers of the launch that have a name are convenience variables."""
        for name in self.launch.buffer_names():
            self.convenience.define_dynamic(name, partial(_buffer, self.launch, name))

    def run(self) -> StopEvent:
        """``run``: make a target of the launch and go on to the first stop."""
        self.name_buffers()
        return self.running.run()

    def start(self) -> StopEvent:
        """`run` with a temporary breakpoint on the kernel."""
        self.break_at(self.launch.kernel.name, temporary=True)
        return self.run()

    # -- breakpoints

    def break_at(
        self, text: str, *, condition: str | None = None, temporary: bool = False,
        thread: int | None = None, lane: int | None = None, pending: bool = False,
    ) -> Breakpoint:
        """``break`` and ``tbreak``; ``text`` "" means where the selected frame stands.

        With ``pending`` an unknown location is kept for later. Raises `LocationSpecError` otherwise.
        """
        locations: Sequence[Location] = []
        try:
            locations = self.places.resolve(text)
        except (LocationSpecError, NoProgramError):
            if not pending:
                raise
        if not text.strip():
            place = locations[0]
            text = f"*{place.address:#x}" if place.file is None else f"{place.file.name}:{place.line}"
        if condition is not None:
            check_condition(self.data.environment(), condition, locations)
        made = self.breakpoints.add(
            text, locations, temporary=temporary, condition=condition, thread=thread, lane=lane
        )
        self.convenience.set_int("bpnum", made.number)
        return made

    def set_condition(self, number: int, condition: str | None) -> None:
        """``condition N EXPR``; ``None`` removes it. Raises `BreakpointError`, or what is wrong with the condition."""
        breakpoint_ = self.breakpoints.get(number)
        if condition:
            places = [place.location for place in breakpoint_.locations]
            check_condition(self.data.environment(), condition, places)
        self.breakpoints.set_condition(number, condition)

    def complete(self, kind: str, word: str, text: str) -> Sequence[str]:
        """Candidates that start with ``word``, for completion.

        ``kind``: ``expression`` (locals, globals, registers, convenience variables, members after ``.`` and
        ``->``), ``location`` and ``symbol`` (functions, files), ``type``, ``register``, ``kernel``, ``plugin``,
        ``breakpoint``, ``thread``. ``text`` is the whole argument up to the cursor.
        """
        return complete(self, kind, word, text)


def _buffer(launch: LaunchControl, name: str, focus: Focus) -> Value:
    return launch.buffer_value(name)
