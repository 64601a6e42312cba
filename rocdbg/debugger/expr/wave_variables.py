"""Convenience variables that say where the focus is: ``$_thread``, ``$_lane``, ``$_dispatch_pos`` and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.arch.lanes import all_lanes
from rocdbg.debugger.expr.convenience import string_value
from rocdbg.debugger.target.protocol import WaveInfo
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.storage import LanePcStorage
from rocdbg.debugger.values.value import Value

if TYPE_CHECKING:
    from rocdbg.debugger.session import Session


def define_wave_variables(session: Session) -> None:
    """Make them known to the session's convenience variables. Without a wave numbers are 0, texts void."""

    def number(name: str, read: Callable[[WaveInfo], int]) -> None:
        def value() -> Value:
            wave = _current(session)
            return Value.of_int(ctypes.INT, read(wave) if wave is not None else 0)

        session.convenience.define_dynamic(name, value)

    def text(name: str, read: Callable[[WaveInfo], str]) -> None:
        def value() -> Value:
            wave = _current(session)
            return string_value(read(wave).encode()) if wave is not None else Value(ctypes.VOID)

        session.convenience.define_dynamic(name, value)

    def lane() -> int:
        return session.scope.lane or 0

    session.convenience.define_dynamic("_inferior", lambda: Value.of_int(ctypes.INT, 1))
    number("_thread", lambda wave: wave.number)
    number("_gthread", lambda wave: wave.number)
    number("_lane", lambda wave: lane())
    def lane_count(wave: WaveInfo) -> int:
        return (wave.used_lanes & all_lanes(session.lane_count(wave.number))).bit_count()

    number("_lane_count", lane_count)
    number("_lane_active", lambda wave: session.active_lanes(wave.number) >> lane() & 1)
    number("_agent", lambda wave: wave.id.agent)
    number("_queue", lambda wave: wave.id.queue)
    number("_dispatch", lambda wave: wave.id.dispatch)
    text("_wave_id", lambda wave: str(wave.id))
    text("_dispatch_pos", lambda wave: "({},{},{})/{}".format(*wave.workgroup, wave.index))
    text("_thread_workgroup_pos", lambda wave: str(wave.index))
    text("_lane_workgroup_pos", lambda wave: "[{},{},{}]".format(*wave.work_item(lane())))
    number("_iteration", lambda wave: session.scope.iteration)
    number("_iteration_count", lambda wave: session.iteration_count())
    session.convenience.define_dynamic("__lane_pc_array", lambda: _lane_pcs(session))
    session.convenience.define_dynamic("lane_pc", lambda: _lane_pc(session))


def _current(session: Session) -> WaveInfo | None:
    if session.target is None or session.scope.thread is None:
        return None
    return session.wave(session.scope.thread)


def _lane_pc(session: Session) -> Value:
    """Where the focused lane is in the selected frame: of an active lane ``$pc``."""
    if _current(session) is None:
        return Value(ctypes.VOID)
    return Value.of_int(ctypes.CODE_POINTER, session.frame().pc)


def _lane_pcs(session: Session) -> Value:
    """DW_AT_LLVM_lane_pc as an array of code pointers; void without it."""
    wave = _current(session)
    level = session.frame().level_of_physical if wave is not None else 0
    pcs = session.lane_pcs(wave.number, level) if wave is not None else None
    if pcs is None:
        return Value(ctypes.VOID)
    return Value(ctypes.array_of(ctypes.CODE_POINTER, len(pcs)), LanePcStorage(tuple(pcs)))
