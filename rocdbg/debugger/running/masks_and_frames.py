"""The registers from which native code determines, while it steps, whether a lane is active and which frame a wave is
in.
"""

from __future__ import annotations

from msgspec import Struct, field

from rocdbg.arch.dwarf_registers import FRAME_REGISTERS, RegisterClass, dwarf_register
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.compiled_locations import compile_location
from rocdbg.debugger.frames.compiled_places import InRegister, Pieces, Place, Untranslatable
from rocdbg.debugger.frames.entry_point_of_frame import entry_points_of
from rocdbg.debugger.frames.frame_context import FrameContext, lane_entries
from rocdbg.debugger.frames.frames import physical_place
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.physical_frame import PhysicalFrame
from rocdbg.debugger.frames.waiting_lanes import top_context
from rocdbg.debugger.frames.wave_access import ThreadAccess
from rocdbg.dwarf.reader.prepared import active_lane_expression, first_expression
from rocdbg.dwarf.reader.results import LANE_PC
from rocdbg.errors import Error
from rocdbg.sim.core.layout import EXEC_LO, VCC_LO


def context_here(inferior: Inferior, thread: int, lane: int | None) -> FrameContext:
    """Return the innermost frame at a wave's own PC, without using the cache."""
    program = inferior.program_of(thread)
    return top_context(program, inferior.need_target(), Focus(thread, lane), inferior.unwinder(program))


def mask_here(inferior: Inferior, thread: int, lane: int) -> int | None:
    """Return the scalar register that holds the mask of active lanes at a wave's position.

    If the mask is in a register pair, return the first register of the pair, provided that the lane's half has the same
    offset in the pair as in EXEC. Return None if the mask is not always in the same register at this place.
    """
    context = context_here(inferior, thread, lane)
    program, wave = context.program, inferior.wave(thread)
    address = program.to_file(wave.pc)
    if lane >= min(context.lanes, wave.lane_count) or not wave.used_lanes >> lane & 1:
        return None
    try:
        if entry_points_of(context.function):
            return None
        for entry in lane_entries(context):
            described = active_lane_expression(entry.die)
            if described is not None:
                return _register_of(compile_location(described, context), lane)
        exec_map = inferior.exec_map(program)
        if not inferior.lane_pc_synthesis:
            saved = exec_map.saved_mask(address, wave.lane_count)
            return EXEC_LO if saved is None else saved
        wakes = exec_map.wakes_lanes(address, wave.lane_count)
        found = inferior.machine_code(program).active_lanes(address, wave.lane_count) if wakes else None
        return EXEC_LO if found is None else _register_of(compile_location(found, context), lane)
    except (Error, Untranslatable):
        return None


def tells_all(inferior: Inferior, thread: int, lane: int) -> bool:
    """Whether the analysis knows where each lane waits when a wave is at its present address, on whichever path the
    wave reached it."""
    context = context_here(inferior, thread, lane)
    program = context.program
    if not inferior.lane_pc_synthesis:
        return False
    if any(first_expression(entry.die, LANE_PC) is not None for entry in lane_entries(context)):
        return False
    address = program.to_file(inferior.wave(thread).pc)
    return inferior.machine_code(program).tells_all(address, context.wave_size)


def frame_register_here(inferior: Inferior, thread: int, lane: int | None) -> int | None:
    """Return the scalar register whose value alone identifies the frame of its function that a wave is in; None if that
    takes more than one register.
    """
    context, reads = context_here(inferior, thread, lane), _Reads()
    context.access.reader = reads
    try:
        cfa = context.cfa
    except Error:
        return None
    finally:
        context.access.reader = None
    if cfa is None or reads.memory or len(reads.registers) != 1:
        return None
    (number,) = reads.registers
    return dwarf_register(number).index if number in FRAME_REGISTERS else None


def tells_frame(
    inferior: Inferior, thread: int, lane: int | None, register: int, value: int, cfa: int | None
) -> bool:
    """Whether a wave, at its present position, would be in the frame with this CFA if the register had this value."""
    here = context_here(inferior, thread, lane)
    access = _OtherValue(here.access.target, thread, None, register, value)
    program = here.program
    physical = PhysicalFrame(program, access, here.pc, inferior.unwinder(program).row)
    place = physical_place(FrameContext(physical, lane, 0))
    return place is not None and place[0] is not None and place[0] == cfa


class _OtherValue(ThreadAccess):
    """The registers of a wave, with another value substituted for one scalar register."""

    register: int = 0
    value: int = 0

    def read_register(self, number: int, offset: int, size: int) -> bytes:
        found = dwarf_register(number)
        if found.register_class is RegisterClass.SGPR and found.index == self.register:
            return self.value.to_bytes(4, "little")[offset : offset + size]
        return ThreadAccess.read_register(self, number, offset, size)


class _Reads(Struct):
    """Records what is read: the numbers of registers, and whether memory is read."""

    registers: set[int] = field(default_factory=set)
    memory: bool = False

    def read_register(self, access: ThreadAccess, number: int, offset: int, size: int) -> None:
        self.registers.add(number)

    def read_memory(self, access: ThreadAccess, space: int, address: int, size: int, lane: int | None) -> None:
        self.memory = True


def _register_of(place: Place, lane: int) -> int | None:
    """Return the operand code of a mask's first dword. Return None unless the lane's dword follows the first one as in
    a register pair.
    """
    half = lane // 32
    if isinstance(place, Pieces):
        if len(place.parts) <= half or any(bits != 32 for _, bits in place.parts):
            return None
        place = place.parts[half][0]
    elif isinstance(place, InRegister):
        place = place.moved(32 * half)
    if not isinstance(place, InRegister) or place.by_lane or place.bit % 32:
        return None
    register, dword = dwarf_register(place.number), place.bit // 32
    if not 0 <= dword < register.size // 4:
        return None
    match register.register_class:
        case RegisterClass.SGPR:
            code = register.index
        case RegisterClass.EXEC:
            code = EXEC_LO + dword
        case RegisterClass.VCC:
            code = VCC_LO + dword
        case _:
            return None
    return code - half if code >= half else None


__all__ = ["context_here", "frame_register_here", "mask_here", "tells_all", "tells_frame"]
