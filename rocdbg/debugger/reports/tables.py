"""The tables of a session: threads, lanes, registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rocdbg.debugger.errors import NoRegistersError, RegisterAccessError
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.registers import special_names
from rocdbg.debugger.reports.rows import LaneRow, LaneState, RegisterRow, ThreadRow
from rocdbg.debugger.values.formatting import Format

if TYPE_CHECKING:
    from rocdbg.debugger.session_focus import SessionFocus
    from rocdbg.debugger.session_values import SessionValues


def first_lane(mask: int) -> int:
    """The lowest lane of a mask, 0 for an empty one."""
    return (mask & -mask).bit_length() - 1 if mask else 0


def threads(session: SessionFocus, names: Mapping[int, str]) -> list[ThreadRow]:
    """Resident waves in order of creation; each stands where its first active lane does."""
    rows = []
    for wave in session.target.waves() if session.target is not None else ():
        current = wave.number == session.scope.thread
        scope = session.scope if current else Focus(wave.number, first_lane(session.active_lanes(wave.number)))
        rows.append(
            ThreadRow(
                wave.number, wave.target_id, wave.kernel, current, session.frame(scope),
                names.get(wave.number, ""),
            )
        )  # fmt: skip
    return rows


def lanes(session: SessionFocus, thread: int, names: Mapping[tuple[int, int], str]) -> list[LaneRow]:
    """All lanes of a wave (as many as DW_AT_LLVM_lanes says there are), unused ones included."""
    wave = session.wave(thread)
    active = session.active_lanes(thread)
    rows = []
    for lane in range(session.lane_count(thread)):
        state = LaneState.UNUSED
        if wave.used_lanes >> lane & 1:
            state = LaneState.ACTIVE if active >> lane & 1 else LaneState.INACTIVE
        rows.append(
            LaneRow(
                lane,
                state,
                wave.lane_target_id(lane),
                session.scope.thread == thread and session.scope.lane == lane,
                session.frame(Focus(thread, lane)) if state is not LaneState.UNUSED else None,
                names.get((thread, lane), ""),
                state is not LaneState.INACTIVE or session.logical_pc(thread, lane) is not None,
            )
        )
    return rows


def registers(session: SessionValues, names: Sequence[str], scope: Focus) -> list[RegisterRow]:
    """Registers by name, or all that the wave has, as raw bits and as values."""
    if session.target is None or scope.thread is None:
        raise NoRegistersError
    environment = session.environment(scope)
    if not names:
        wave = session.wave(scope.thread)
        names = ["pc", "exec", "vcc", "status", *special_names(session.target, scope.thread)]
        names += [f"s{n}" for n in range(wave.sgprs)]
        names += [f"v{n}" for n in range(wave.vgprs)] + [f"a{n}" for n in range(wave.agprs)]
    formatter = session.formatter()
    rows = []
    for name in (name.removeprefix("$") for name in names):
        # s[4:5], v[0:1]: what the expression $s[4:5] gives
        value = session.evaluate(f"${name}", scope) if "[" in name else environment.register(name)
        if value is None:
            raise RegisterAccessError(f"Invalid register `{name}'")
        if value.absence is not None:
            rows.append(RegisterRow(name, value, value.absence.value, value.absence.value))
            continue
        raw = formatter.format(value, Format("x"))
        rows.append(RegisterRow(name, value, raw, formatter.format_nested(value)))
    return rows
