"""The session as plug-ins see it: a small interface that stays stable when the implementation changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.program_data import ScopeVariables
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.reports.disassembly import DisassemblyLine
from rocdbg.debugger.reports.examine import ExamineLine
from rocdbg.debugger.reports.session_tables import LaneRow, RegisterRow, ThreadRow
from rocdbg.debugger.values.format_letters import Format
from rocdbg.debugger.values.value import Value

if TYPE_CHECKING:
    from rocdbg.debugger.breakpoints.breakpoint_table import BreakpointTable
    from rocdbg.debugger.program.location_lookup import Location
    from rocdbg.debugger.program.program import Program
    from rocdbg.debugger.reports.symbol_queries import Symbols
    from rocdbg.debugger.session import Session
    from rocdbg.debugger.target.capabilities.target_state import Target


class PluginSession:
    """Queries about the program at the focus. All of them raise `rocdbg.Error` if they cannot be answered."""

    def __init__(self, session: Session) -> None:
        self._session = session

    # -- contents

    @property
    def program(self) -> Program | None:
        """The code object being debugged, ``None`` before ``file``."""
        return self._session.inferior.program

    @property
    def target(self) -> Target | None:
        """The target, ``None`` before ``run`` and after the end."""
        return self._session.inferior.target

    @property
    def symbols(self) -> Symbols:
        """Queries over the program's symbols."""
        return self._session.symbols

    @property
    def breakpoints(self) -> BreakpointTable:
        """The breakpoints by number."""
        return self._session.breakpoints

    def warn(self, text: str) -> None:
        """Queue a warning to be shown after the command."""
        self._session.warnings.add(text)

    # -- the focus

    @property
    def scope(self) -> Focus:
        """The ``thread``, ``lane`` and ``frame`` of the focus; None, None and 0 if nothing runs."""
        return self._session.focus.current

    def select_thread(self, thread: int, lane: int | None = None) -> Focus:
        """Select a wave, as ``thread N`` or ``thread N:L`` does."""
        return self._session.focus.select_thread(thread, lane)

    def select_lane(self, lane: int) -> Focus:
        """Select a lane, as ``lane L`` does."""
        return self._session.focus.select_lane(lane)

    def select_frame(self, level: int) -> Focus:
        """Select a frame, as ``frame N`` does."""
        return self._session.focus.select_frame(level)

    def threads(self) -> Sequence[ThreadRow]:
        """Return the resident waves."""
        return self._session.tables.threads()

    def lanes(self, thread: int | None = None) -> Sequence[LaneRow]:
        """Return the lanes of a wave, by default the focused one."""
        return self._session.tables.lanes(thread)

    def frames(self) -> Iterator[Frame]:
        """Yield the frames of the focused lane, innermost first."""
        return self._session.focus.frames()

    def frame(self) -> Frame:
        """Return the selected frame."""
        return self._session.focus.frame()

    # -- data

    def arguments(self, frame: Frame) -> Sequence[tuple[str, Value]]:
        """Return the parameters of a frame's function."""
        return self._session.data.arguments(frame)

    def locals(self, frame: Frame) -> Sequence[ScopeVariables]:
        """Return the local variables of a frame, innermost block first."""
        return self._session.data.locals(frame)

    def registers(self, names: Sequence[str] = ()) -> Sequence[RegisterRow]:
        """Return registers by name, or all registers of the wave."""
        return self._session.tables.registers(names)

    def evaluate(self, text: str) -> Value:
        """Return the value of an expression, and carry out assignments in it."""
        return self._session.data.evaluate(text)

    def integer(self, text: str) -> int:
        """Return the value of an integer expression."""
        return self._session.data.integer(text)

    def format(self, value: Value) -> str:
        """Return a value's text as ``print`` shows it."""
        return self._session.data.format(value)

    def examine(self, address: Value, fmt: Format, count: int | None = None) -> Sequence[ExamineLine]:
        """Read memory as ``x/FMT`` does."""
        return self._session.examiner.examine(address, fmt, count).whole()

    # -- code

    def resolve(self, location: str) -> Sequence[Location]:
        """Return the places that a location denotes, in the syntax of ``break``."""
        return self._session.places.resolve(location)

    def disassemble(self, low: int, high: int) -> Sequence[DisassemblyLine]:
        """Return the instructions at the loaded addresses [low, high)."""
        return self._session.places.disassemble(low, high)
