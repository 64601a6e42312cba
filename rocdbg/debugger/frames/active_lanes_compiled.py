"""The active lanes at an instruction, for any wave that reaches it: `active_lanes` as an expression."""

from __future__ import annotations

from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.compiled_locations import compile_location
from rocdbg.debugger.frames.compiled_places import InRegister, Pieces, Untranslatable, join
from rocdbg.debugger.frames.entry_point_of_frame import entry_points_of
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.dwarf.reader.prepared import active_lane_expression
from rocdbg.sim.core.builder import I64, Op
from rocdbg.sim.core.lane_expressions import Node, Scalar, apply, constant, exec_mask, unsigned


def lanes_there(inferior: Inferior, thread: int) -> Node:
    """Return the mask of active lanes (I64) at a wave's position. Raises `Untranslatable`."""
    wave = inferior.wave(thread)
    program = inferior.program_of(thread)
    context = inferior.chain(Focus(thread, 0)).get(0)
    assert context is not None
    function = context.context.function
    if entry_points_of(function):
        raise Untranslatable("a function that waves may have entered elsewhere")
    inlined = program.info.inline_frames_at(program.to_file(wave.pc)) if function is not None else ()
    for entry in (*inlined, *((function,) if function is not None else ())):
        described = active_lane_expression(entry.die)
        if described is not None:
            place = compile_location(described, context.context)
            if not isinstance(place, InRegister | Pieces):
                raise Untranslatable("active lanes that are in no register")
            mask = place.read(0, wave.lane_count)
            return apply(Op.AND, mask, constant((1 << inferior.lane_count(thread)) - 1))
    saved = inferior.exec_map(program).saved_mask(program.to_file(wave.pc), wave.lane_count)
    if saved is None:
        mask = exec_mask(wave.lane_count)
    else:
        mask = unsigned(Scalar(saved), I64)
        if wave.lane_count == 64:
            mask = join(mask, unsigned(Scalar(saved + 1), I64), 32)
    return apply(Op.AND, mask, constant((1 << inferior.lane_count(thread)) - 1))
