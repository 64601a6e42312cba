"""The session: one program, one target, one focus. It delegates; front ends talk to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.debugger.scope import Scope
from rocdbg.debugger.settings import Settings

if TYPE_CHECKING:
    from rocdbg.debugger.breakpoints import Breakpoint, BreakpointTable
    from rocdbg.debugger.convenience import Convenience
    from rocdbg.debugger.disassembly import DisassemblyLine
    from rocdbg.debugger.examine import ExamineLine
    from rocdbg.debugger.formatting import Format
    from rocdbg.debugger.frames import Frame
    from rocdbg.debugger.history import ValueHistory
    from rocdbg.debugger.launch import LaunchControl
    from rocdbg.debugger.locspec import Location
    from rocdbg.debugger.plugins import PluginHost
    from rocdbg.debugger.program import Program
    from rocdbg.debugger.rows import LaneRow, RegisterRow, ScopeVariables, ThreadRow
    from rocdbg.debugger.source import SourceFiles
    from rocdbg.debugger.stops import StopEvent
    from rocdbg.debugger.symbols import Symbols
    from rocdbg.debugger.target import Target
    from rocdbg.debugger.values import Value


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
    """

    settings: Settings
    program: Program | None
    target: Target | None
    launch: LaunchControl
    breakpoints: BreakpointTable
    history: ValueHistory
    convenience: Convenience
    plugins: PluginHost
    sources: SourceFiles
    symbols: Symbols
    scope: Scope

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()

    # -- what is debugged

    def load(self, path: Path | str, target_id: str | None = None) -> None:
        """``file``: a code object, bundle, fat binary, or a launch file (.toml)."""
        raise NotImplementedError

    # -- running; each returns what happened

    def run(self) -> StopEvent:
        """Dispatch the kernel and go on to the first stop."""
        raise NotImplementedError

    def start(self) -> StopEvent:
        """`run` with a temporary breakpoint on the kernel."""
        raise NotImplementedError

    def proceed(self, ignore_count: int | None = None) -> StopEvent:
        """``continue [N]``."""
        raise NotImplementedError

    def step(self, count: int = 1) -> StopEvent:
        """To another source line of the focused lane, into calls."""
        raise NotImplementedError

    def next(self, count: int = 1) -> StopEvent:
        """To another source line of the focused lane, over calls."""
        raise NotImplementedError

    def stepi(self, count: int = 1) -> StopEvent:
        """One instruction of the focused wave."""
        raise NotImplementedError

    def nexti(self, count: int = 1) -> StopEvent:
        """One instruction, over calls."""
        raise NotImplementedError

    def finish(self) -> StopEvent:
        """Until the selected frame returns."""
        raise NotImplementedError

    def until(self, location: str | None = None) -> StopEvent:
        """``until``: `next` without going backwards; with a location as GDB's."""
        raise NotImplementedError

    def advance(self, location: str) -> StopEvent:
        """Until the location is reached."""
        raise NotImplementedError

    def kill(self) -> None:
        """End the dispatch."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """Make a running command stop soon; safe to call from a signal handler or another thread."""
        raise NotImplementedError

    # -- focus

    def select_thread(self, thread: int, lane: int | None = None) -> Scope:
        """``thread N`` or ``thread N:L``; frame 0 is selected."""
        raise NotImplementedError

    def select_lane(self, lane: int) -> Scope:
        """``lane L``."""
        raise NotImplementedError

    def select_frame(self, level: int) -> Scope:
        """``frame N``."""
        raise NotImplementedError

    def up(self, count: int = 1) -> Scope:
        """``up``; negative counts go down. Raises `FocusError` at the ends."""
        raise NotImplementedError

    def threads(self) -> Sequence[ThreadRow]:
        """``info threads``."""
        raise NotImplementedError

    def lanes(self, thread: int | None = None) -> Sequence[LaneRow]:
        """``info lanes``: all lanes of a wave; the front end filters."""
        raise NotImplementedError

    # -- frames and variables

    def frames(self, scope: Scope | None = None) -> Iterator[Frame]:
        """The frames of a lane, innermost first, inline ones included; lazily unwound."""
        raise NotImplementedError

    def frame(self, scope: Scope | None = None) -> Frame:
        """The frame at ``scope.frame``."""
        raise NotImplementedError

    def arguments(self, frame: Frame) -> Sequence[tuple[str, Value]]:
        """``info args`` and frame lines."""
        raise NotImplementedError

    def locals(self, frame: Frame) -> Sequence[ScopeVariables]:
        """``info locals``, innermost block first."""
        raise NotImplementedError

    def registers(self, names: Sequence[str] = (), scope: Scope | None = None) -> Sequence[RegisterRow]:
        """``info registers``; without names the ones the wave has."""
        raise NotImplementedError

    # -- values

    def evaluate(self, text: str, scope: Scope | None = None) -> Value:
        """The value of a C expression; assignments in it are carried out."""
        raise NotImplementedError

    def truth(self, text: str) -> bool:
        """Whether an expression is non-zero (``if``, ``while`` of scripts)."""
        raise NotImplementedError

    def integer(self, text: str) -> int:
        """The value of an integer expression (counts, line numbers, exit status)."""
        raise NotImplementedError

    def complete(self, kind: str, word: str, text: str) -> Sequence[str]:
        """Candidates that start with ``word``, for completion.

        ``kind``: ``expression`` (locals, globals, registers, convenience variables, members after ``.``/``->``),
        ``location`` and ``symbol`` (functions, files), ``type``, ``register``, ``kernel``, ``plugin``, ``breakpoint``,
        ``thread``. ``text`` is the whole argument up to the cursor.
        """
        raise NotImplementedError

    @property
    def busy(self) -> bool:
        """Whether the program is running right now (so that Ctrl-C interrupts it)."""
        raise NotImplementedError

    def format(self, value: Value, fmt: Format | None = None) -> str:
        """Text of a value as ``print`` shows it, without ``$1 = ``."""
        raise NotImplementedError

    def examine(self, address: Value, fmt: Format, count: int) -> Sequence[ExamineLine]:
        """``x/FMT``."""
        raise NotImplementedError

    # -- code and places

    def resolve(self, text: str) -> Sequence[Location]:
        """The places a location string names."""
        raise NotImplementedError

    def break_at(
        self, text: str, *, condition: str | None = None, temporary: bool = False,
        thread: int | None = None, lane: int | None = None, pending: bool = False,
    ) -> Breakpoint:
        """``break`` and ``tbreak``; ``text`` "" means where the selected frame stands."""
        raise NotImplementedError

    def disassemble(self, low: int, high: int) -> Sequence[DisassemblyLine]:
        """The instructions in [low, high)."""
        raise NotImplementedError

    def take_warnings(self) -> list[str]:
        """Warnings since the last call, without the ``warning: `` prefix."""
        raise NotImplementedError
