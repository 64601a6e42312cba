"""Convenience variables that describe the focus: ``$_thread``, ``$_lane``, ``$_dispatch_pos`` and others."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.names.convenience_variables import Convenience, string_value
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.target.capabilities.target_state import WaveInfo
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import LanePcStorage


def define_wave_variables(convenience: Convenience, inferior: Inferior) -> None:
    """Define the variables. Without a wave, numbers are 0 and texts are void."""

    def wave_of(focus: Focus) -> WaveInfo | None:
        return None if inferior.target is None or focus.thread is None else inferior.wave(focus.thread)

    def number(name: str, read: Callable[[WaveInfo, Focus], int]) -> None:
        def value(focus: Focus) -> Value:
            wave = wave_of(focus)
            return Value.of_int(c_types.INT, read(wave, focus) if wave is not None else 0)

        convenience.define_dynamic(name, value)

    def text(name: str, read: Callable[[WaveInfo, Focus], str]) -> None:
        def value(focus: Focus) -> Value:
            wave = wave_of(focus)
            return string_value(read(wave, focus).encode()) if wave is not None else Value(c_types.VOID)

        convenience.define_dynamic(name, value)

    def lane_count(wave: WaveInfo, focus: Focus) -> int:
        return (wave.used_lanes & (1 << inferior.lane_count(wave.number)) - 1).bit_count()

    def lane_pc(focus: Focus) -> Value:
        """Return where the focused lane is in the selected frame: ``$pc`` if the lane is active."""
        if wave_of(focus) is None:
            return Value(c_types.VOID)
        return Value.of_int(c_types.CODE_POINTER, inferior.frame(focus).pc)

    def lane_pcs(focus: Focus) -> Value:
        """Return DW_AT_LLVM_lane_pc as an array of code pointers; void if it is absent."""
        wave = wave_of(focus)
        level = inferior.frame(focus).level_of_physical if wave is not None else 0
        pcs = inferior.lane_pcs(wave.number, level) if wave is not None else None
        if pcs is None:
            return Value(c_types.VOID)
        return Value(c_types.array_of(c_types.CODE_POINTER, len(pcs)), LanePcStorage(tuple(pcs)))

    convenience.define_dynamic("_inferior", lambda focus: Value.of_int(c_types.INT, 1))
    number("_thread", lambda wave, focus: wave.number)
    number("_gthread", lambda wave, focus: wave.number)
    number("_lane", lambda wave, focus: focus.lane or 0)
    number("_lane_count", lane_count)
    number("_lane_active", lambda wave, focus: inferior.active_lanes(wave.number) >> (focus.lane or 0) & 1)
    number("_agent", lambda wave, focus: wave.id.agent)
    number("_queue", lambda wave, focus: wave.id.queue)
    number("_dispatch", lambda wave, focus: wave.id.dispatch)
    text("_wave_id", lambda wave, focus: str(wave.id))
    text("_dispatch_pos", lambda wave, focus: "({},{},{})/{}".format(*wave.workgroup, wave.index))
    text("_thread_workgroup_pos", lambda wave, focus: str(wave.index))
    text("_lane_workgroup_pos", lambda wave, focus: "[{},{},{}]".format(*wave.work_item(focus.lane or 0)))
    number("_iteration", lambda wave, focus: focus.iteration)
    number("_iteration_count", lambda wave, focus: inferior.iteration_count(focus))
    convenience.define_dynamic("__lane_pc_array", lane_pcs)
    convenience.define_dynamic("lane_pc", lane_pc)
