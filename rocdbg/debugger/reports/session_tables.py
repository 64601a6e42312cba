"""The tables of a session: threads, lanes, registers, agents, queues, dispatches, loaded code objects."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg import work
from rocdbg.debugger.base.errors import NoRegistersError, RegisterAccessError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.frames.inferior import Inferior, is_used
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.reports.register_changes import register_names
from rocdbg.debugger.target.capabilities.target_state import AgentInfo, DispatchInfo, QueueInfo
from rocdbg.debugger.values.format_letters import Format

if TYPE_CHECKING:
    from rocdbg.debugger.frames.frames import Frame
    from rocdbg.debugger.values.value import Value


def first_lane(mask: int) -> int:
    """Return the lowest lane of a mask, 0 for an empty mask."""
    return (mask & -mask).bit_length() - 1 if mask else 0


class Tables:
    """The rows of ``info threads`` and similar commands; the current row is that of the focus."""

    def __init__(self, inferior: Inferior, focus: Selection, data: Data) -> None:
        self._inferior = inferior
        self._focus = focus
        self._data = data

    def threads(self) -> Sequence[ThreadRow]:
        """``info threads``: resident waves in order of creation, each with the position of its first active lane."""
        inferior, focus = self._inferior, self._focus.current
        rows = []
        for wave in inferior.target.waves() if inferior.target is not None else ():
            current = wave.number == focus.thread
            shown = focus
            if not current or not is_used(inferior, focus):
                shown = Focus(wave.number, first_lane(inferior.active_lanes(wave.number)))
            rows.append(
                ThreadRow(
                    wave.number, wave.target_id, wave.kernel, current, inferior.frame(shown),
                    inferior.thread_names.get(wave.number, ""),
                )
            )
        return rows

    def lanes(self, thread: int | None = None) -> Sequence[LaneRow]:
        """``info lanes``: return all lanes of a wave (by default the current one), including unused ones.

        DW_AT_LLVM_lanes determines their number. The front end filters them.
        """
        inferior, focus = self._inferior, self._focus.current
        if thread is None:
            thread = self._focus.need_running().thread
        assert thread is not None
        wave = inferior.wave(thread)
        active = inferior.active_lanes(thread)
        rows = []
        for lane in range(inferior.lane_count(thread)):
            work.unit()
            state = LaneState.UNUSED
            if wave.used_lanes >> lane & 1:
                state = LaneState.ACTIVE if active >> lane & 1 else LaneState.INACTIVE
            entered = inferior.entered(thread, lane) if state is LaneState.INACTIVE else None
            rows.append(
                LaneRow(
                    lane,
                    state,
                    wave.lane_target_id(lane),
                    focus.thread == thread and focus.lane == lane,
                    inferior.frame(Focus(thread, lane)) if state is not LaneState.UNUSED else None,
                    inferior.lane_names.get((thread, lane), ""),
                    state is not LaneState.INACTIVE or (entered is not None and entered.pc is not None),
                    entered is not None and entered.synthesised,
                    entered is not None and entered.candidates is not None,
                )
            )
        return rows

    def registers(self, names: Sequence[str] = (), focus: Focus | None = None) -> Sequence[RegisterRow]:
        """``info registers``: return registers by name, or all of the wave, as raw bits and as values.

        Raises `NoRegistersError`, `RegisterAccessError`.
        """
        target = self._inferior.target
        focus = focus or self._focus.current
        if target is None or focus.thread is None:
            raise NoRegistersError
        environment = self._data.environment(focus)
        if not names:
            names = register_names(target, focus.thread)
        formatter = self._data.formatter()
        rows = []
        for name in (name.removeprefix("$") for name in names):
            # s[4:5], [v0,v1] and v1.l are the values of the expressions $s[4:5] and so on
            is_word = name.replace("_", "").isalnum()
            value = environment.register(name) if is_word else self._data.evaluate(f"${name}", focus)
            if value is None:
                raise RegisterAccessError(f"Invalid register `{name}'")
            if value.absence is not None:
                rows.append(RegisterRow(name, value, value.absence.value, value.absence.value))
                continue
            raw = formatter.format(value, Format("x"))
            rows.append(RegisterRow(name, value, raw, formatter.format_nested(value)))
        return rows

    def agents(self) -> Sequence[AgentInfo]:
        """``info agents``."""
        target = self._inferior.target
        return target.agents() if target is not None else []

    def queues(self) -> Sequence[QueueInfo]:
        """``info queues``."""
        target = self._inferior.target
        return target.queues() if target is not None else []

    def dispatches(self) -> Sequence[DispatchInfo]:
        """``info dispatches``."""
        target = self._inferior.target
        return target.dispatches() if target is not None else []

    def shared_libraries(self) -> Sequence[LibraryRow]:
        """``info sharedlibrary``: loaded code objects."""
        return [
            LibraryRow(*program.text_range(), program.has_debug_info, program.uri)
            for program in self._inferior.programs
            if program.loaded
        ]


# Rows of a session's tables: threads, lanes, registers, variables, shared libraries.


class LaneState(Enum):
    """The state of a lane; the value is the letter that ``info lanes`` shows."""

    ACTIVE = "A"
    INACTIVE = "I"
    UNUSED = "U"
    RUNNING = "R"


class ThreadRow(Struct, frozen=True):
    """A line of ``info threads``. ``frame`` is the innermost frame of its first active lane."""

    number: int
    target_id: str
    kernel: str
    current: bool
    frame: Frame
    name: str = ""


class LaneRow(Struct, frozen=True):
    """A line of ``info lanes``.

    ``frame`` is ``None`` for unused lanes. If nothing determines the position of an inactive lane, ``frame`` is the
    wave's frame and ``is_located`` is false. ``is_unknown``: lane PCs exist, but mark this lane's position as unknown.
    ``synthesised``: the position was derived from machine code.
    """

    lane: int
    state: LaneState
    target_id: str
    current: bool
    frame: Frame | None
    name: str = ""
    is_located: bool = True
    synthesised: bool = False
    is_unknown: bool = False


class RegisterRow(Struct, frozen=True):
    """A line of ``info registers``: ``raw`` and ``natural`` are the two columns that GDB shows."""

    name: str
    value: Value
    raw: str
    natural: str


class LibraryRow(Struct, frozen=True):
    """A line of ``info sharedlibrary``; the addresses are those of ``.text`` as loaded, or 0 if it is not loaded."""

    low: int
    high: int
    symbols_read: bool
    uri: str
