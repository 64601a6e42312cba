"""Which lanes of a wave are active (DW_AT_LLVM_active_lane); `active_lanes_compiled` computes the same in native code.
"""

from __future__ import annotations

from rocdbg import dwarf
from rocdbg.arch.dwarf_registers import sgpr_number
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frame_context import lane_entries
from rocdbg.debugger.frames.machine_code import MachineCode
from rocdbg.debugger.frames.unwind_sources import Unwinder
from rocdbg.debugger.frames.waiting_lanes import top_context
from rocdbg.debugger.program.exec_map import ExecMap
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.dwarf.reader import results
from rocdbg.errors import Error


def active_lanes(
    program: Program, target: Target, thread: int, unwinder: Unwinder, exec_map: ExecMap,
    synthesis: MachineCode | None,
) -> int:
    """Return the mask of active lanes: DW_AT_LLVM_active_lane where the function has it, else EXEC.

    Where spill code has temporarily activated all lanes, return the mask that this code saved.
    """
    wave = target.wave(thread)
    context = top_context(program, target, Focus(thread, 0), unwinder)
    for entry in lane_entries(context):
        try:
            described = results.active_lane(entry.die, context)
        except Error as error:
            program.complaints.add(error, "EXEC is used")
            continue
        if described is not None:
            return described & (1 << wave.lane_count) - 1
    if synthesis is not None:
        pc = program.to_file(wave.pc)
        wakes = exec_map.wakes_lanes(pc, wave.lane_count)  # checked first: positions are expensive in large functions
        expression = synthesis.active_lanes(pc, wave.lane_count) if wakes else None
        if expression is not None:
            return dwarf.evaluate_location(expression, context).read(wave.lane_count)
        return wave.exec_mask
    saved = exec_map.saved_mask(program.to_file(wave.pc), wave.lane_count)
    if saved is None:
        return wave.exec_mask
    mask = 0
    for index in range(wave.lane_count // 32):
        data = target.read_register(thread, sgpr_number(saved + index))
        mask |= int.from_bytes(data, "little") << 32 * index
    return mask

