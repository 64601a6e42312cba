"""Describes why generated code stopped: faults, traps, illegal and unsupported instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.arch.lane_sets import format_lanes
from rocdbg.arch.targets import Target
from rocdbg.isa.decoder import DecodeError, decode
from rocdbg.isa.instruction import Flow, Instruction
from rocdbg.sim.core import layout
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.core.stops import Access, Fault, Space, Stop, StopKind
from rocdbg.sim.core.wave import Wave

if TYPE_CHECKING:
    from rocdbg.sim.engine.native import Fault as EngineFault
    from rocdbg.sim.engine.native_guard import Crash

_ACCESS = {
    layout.Access.LOAD: Access.READ,
    layout.Access.STORE: Access.WRITE,
    layout.Access.ATOMIC: Access.ATOMIC,
}
_NULL_PAGE = 1 << 16
_APERTURE_SIZE = 1 << 32
_LONGEST_INSTRUCTION = 20
_MOST_LINES = 128
_ADDRESS_MASK = (1 << 64) - 1
_APERTURE_ARGUMENTS = (0xC0, 0xC4)
"""Offsets of the hidden arguments that give the bases of private and local memory, for GFX7 and GFX8."""


def describe_fault(record: EngineFault, wave: Wave, memory: GlobalMemory) -> Fault:
    """Describe the engine's fault record in terms of address spaces, lanes and allocations."""
    space, offset = _space_of(record, wave)
    addresses = {lane: address - offset for lane, address in sorted(record.addresses.items())}
    if record.space == layout.Space.FLAT:
        # Lanes of one generic access may access different spaces: report the lanes whose space is that of the first
        # lane.
        addresses = {lane: address for lane, address in addresses.items() if _in_space(address, space)}
    address = next(iter(addresses.values()))
    if record.space == layout.Space.SCALAR:
        addresses = {}
    misaligned = record.kind == layout.FaultKind.MISALIGNED
    nearest = memory.nearest(address) if space is Space.GLOBAL else None
    where = _where(space, address, record.size, wave, memory)
    if record.kind == layout.FaultKind.PERMISSION and where is not None:
        where += ", which does not permit it"
    if record.space == layout.Space.SCALAR and address in _APERTURE_ARGUMENTS and wave.target.generation in (7, 8):
        # In unoptimised functions, LLVM 22 uses 0 as the address of the hidden arguments.
        where = "where unoptimised code of clang 22 looks for its apertures (-mcode-object-version=4 avoids that)"
    return Fault(
        _ACCESS[layout.Access(record.access)],
        space,
        address,
        record.size,
        addresses,
        nearest,
        where,
        misaligned,
        record.kind == layout.FaultKind.PERMISSION,
    )


_RESERVED = "which the trap handler ABI reserves"
TRAP_NAMES = {
    0: "which hardware reserves", 1: "HSA's debugtrap(arg)", 7: "the debugger's breakpoint",
    **dict.fromkeys((4, 5, 6, 8, 0xFE, 0xFF), _RESERVED),
}
"""Uses of the other traps in the trap handler ABI. Signals already identify llvm.trap (2) and llvm.debugtrap (3)."""


def sentence(stop: Stop) -> str:
    """A sentence about the cause of a stop: which lanes did what, by which instruction. Empty if the stop's kind says
    everything.
    """
    who = format_lanes(stop.lanes).capitalize() if stop.lanes else ""
    match stop.kind:
        case StopKind.FAULT:
            what = stop.fault.text if stop.fault is not None else "memory violation"
            by = f", by `{stop.instruction}`" if stop.instruction else ""
            return (f"{who}: {what}" if who else what) + by
        case StopKind.EXCEPTION:
            return f"{who or 'The wave'}: {stop.cause_text}, by `{stop.instruction}`."
        case StopKind.ILLEGAL:
            why = f": {stop.reason}" if stop.reason else ""
            return f"{who or 'The wave'} executed `{stop.instruction}`{why}."
        case StopKind.HANG | StopKind.ABORT if stop.reason is not None:
            return f"{stop.reason[0].upper()}{stop.reason[1:]}."
        case StopKind.UNSUPPORTED:
            return f"The simulator has no semantics for `{stop.instruction}` at {stop.pc or 0:#x}."
        case StopKind.INTERNAL:
            return (
                f"Internal error of the simulator: {stop.reason}. How much of the block the wave has executed is not "
                "known."
            )
        case StopKind.TRAP:
            named = TRAP_NAMES.get(stop.trap or 0)
            return f"{who or 'The wave'} executed `{stop.instruction}`{', ' + named if named else ''}."
        case StopKind.WATCH:
            return f"By {who.lower() or 'the wave'}: `{stop.instruction}` at {stop.instruction_pc or 0:#x}."
    return ""


_UNSUPPORTED = {
    layout.FaultKind.TILED: "its image is tiled in a way that is not simulated",
    layout.FaultKind.CHANNELS: "its image's tiling mixes memory channels, and the target's number of these is unknown",
    layout.FaultKind.COMPRESSED: "its image is compressed, which is not simulated",
    layout.FaultKind.FORMAT: "the format of its image is not simulated",
    layout.FaultKind.SAMPLES: "its image has several samples per pixel, which is not simulated",
    layout.FaultKind.BORDER_PALETTE: "its sampler takes the border's colour from a palette, which is not simulated",
    layout.FaultKind.LEVELS: "its image is tiled and has levels of detail, which is not simulated",
    layout.FaultKind.READ_ONLY_FORMAT: "stores in its image's format (sRGB or a shared exponent) are not simulated",
}


def unsupported_reason(record: EngineFault) -> str | None:
    """Why the simulator could not perform an access; None if the program is at fault."""
    return _UNSUPPORTED.get(record.kind)


def fetch_fault(pc: int, memory: GlobalMemory) -> Fault:
    """The fault for a PC outside executable memory."""
    return Fault(
        Access.EXECUTE,
        Space.GLOBAL,
        pc,
        4,
        {},
        memory.nearest(pc),
        _global_where(pc, 4, memory),
    )


def crash_report(wave: Wave, crash: Crash, memory: GlobalMemory) -> str:
    """A report for developers about generated code that crashed: the block, the wave, and the memory layout."""
    state, lds = wave.address, int(wave.lds.ctypes.data)
    lines = [
        f"{crash.text}; state at {state:#x} to {state + wave.state.size:#x}, "
        f"LDS at {lds:#x} to {lds + wave.lds.size:#x}",
        f"{wave.target.name}, wave{wave.wave_size}, MODE {wave.mode:#x}, EXEC {wave.exec:#x}, M0 {wave.m0:#x}, "
        f"{wave.sgpr_count} SGPRs, {wave.vgpr_count} VGPRs, {wave.agpr_count} AGPRs, {wave.instructions} instructions",
        "SGPRs: " + " ".join(f"{value:x}" for value in wave.sgprs.tolist()),
        *(f"{a.label}: host {a.host_address:#x}" for a in memory.allocations[:_MOST_LINES]),
    ]
    pc = wave.pc
    for _ in range(_MOST_LINES):
        found = instruction_at(wave.target, wave.wave_size, pc, memory)
        if found is None:
            break
        lines.append(f"{pc:#x}: {memory.read(pc, found.size).hex()} {found.text}")
        pc += max(found.size, 4)
        if found.flow is not Flow.NEXT:
            break
    return "\n".join(lines)


def instruction_text(target: Target, wave_size: int, pc: int, memory: GlobalMemory) -> str | None:
    """The instruction at ``pc`` as the disassembler prints it; None if there is no code."""
    found = instruction_at(target, wave_size, pc, memory)
    return found.text if found is not None else None


def instruction_at(target: Target, wave_size: int, pc: int, memory: GlobalMemory) -> Instruction | None:
    """The instruction at ``pc``; None if there is no code."""
    allocation = memory.find(pc)
    if allocation is None or not allocation.protection & layout.PageFlags.EXECUTE:
        return None
    code = memory.read(pc, min(_LONGEST_INSTRUCTION, allocation.end - pc))
    try:
        return decode(code, target, pc, wave_size=wave_size)
    except DecodeError:
        return None


def _space_of(record: EngineFault, wave: Wave) -> tuple[Space, int]:
    """The space of the record's addresses, and the number to subtract from them to get addresses in that space."""
    if record.kind == layout.FaultKind.SCRATCH_RANGE and record.space == layout.Space.BUFFER:
        return Space.PRIVATE, 0  # the scratch resource: the routine has computed the lane's own offset
    match layout.Space(record.space):
        case layout.Space.LDS:
            return Space.LOCAL, 0
        case layout.Space.SCRATCH:
            return Space.PRIVATE, 0
        case layout.Space.GDS:
            return Space.REGION, 0
        case layout.Space.FLAT:
            first = record.addresses[min(record.addresses)]
            if first & -_APERTURE_SIZE == layout.SHARED_APERTURE:
                return Space.LOCAL, layout.SHARED_APERTURE
            if first & -_APERTURE_SIZE == layout.PRIVATE_APERTURE:
                return Space.PRIVATE, layout.PRIVATE_APERTURE
    return Space.GLOBAL, 0


def _in_space(address: int, space: Space) -> bool:
    return space is Space.GLOBAL or 0 <= address < _APERTURE_SIZE


def _where(space: Space, address: int, size: int, wave: Wave, memory: GlobalMemory) -> str | None:
    if space is Space.LOCAL:
        limit = wave.word("lds_size")
        return _past(address, limit, f"the workgroup's {limit} bytes of LDS")
    if space is Space.PRIVATE:
        limit = wave.lane_scratch_size
        return _past(address, limit, f"the lane's {limit} bytes of scratch")
    if space is Space.REGION:
        return None
    return _global_where(address, size, memory)


def _global_where(address: int, size: int, memory: GlobalMemory) -> str | None:
    if 0 <= address < _NULL_PAGE:
        return "near the null pointer" if address else "the null pointer"
    for aperture, name in ((layout.SHARED_APERTURE, "LDS"), (layout.PRIVATE_APERTURE, "private")):
        if address & -_APERTURE_SIZE == aperture:
            return (
                f"offset {address - aperture:#x} of the {name} aperture, which only flat instructions reach"
            )
    if (address + (1 << 47)) & _ADDRESS_MASK >= 1 << 48:
        return "not an address: bits 63 to 47 differ"
    return memory.describe(address, size)


def _past(address: int, limit: int, what: str) -> str:
    if address < limit:
        return f"crossing the end of {what}"
    distance = address - limit
    unit = "byte" if distance == 1 else "bytes"
    return f"{distance} {unit} past the end of {what}" if distance else f"just past the end of {what}"
