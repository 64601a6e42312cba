"""The simulator's stops as a target's, in sentences: which lanes did what, by which instruction."""

from __future__ import annotations

from rocdbg.arch.lanes import format_lanes, lane_mask
from rocdbg.debugger.target.runnable import TargetStop, TargetStopKind
from rocdbg.sim.stops import ABORT_TRAP, Stop, StopKind

_KINDS = {
    StopKind.BREAKPOINT: TargetStopKind.BREAKPOINT,
    StopKind.STEP: TargetStopKind.STEP,
    StopKind.RANGE: TargetStopKind.RANGE,
    StopKind.FAULT: TargetStopKind.FAULT,
    StopKind.TRAP: TargetStopKind.TRAP,
    StopKind.EXCEPTION: TargetStopKind.EXCEPTION,
    StopKind.ILLEGAL: TargetStopKind.ILLEGAL,
    StopKind.UNSUPPORTED: TargetStopKind.UNSUPPORTED,
    StopKind.INTERNAL: TargetStopKind.INTERNAL,
    StopKind.HANG: TargetStopKind.INTERRUPTED,
    StopKind.INTERRUPTED: TargetStopKind.INTERRUPTED,
    StopKind.BUDGET: TargetStopKind.BUDGET,
    StopKind.WAVE_DONE: TargetStopKind.WAVE_DONE,
    StopKind.DONE: TargetStopKind.DONE,
}
_S_TRAP_SIZE = 4


def target_stop(stop: Stop) -> TargetStop:
    """The stop for the engine, with the signal that GDB would have for it."""
    signal = ""
    detail = ""
    trap_pc: int | None = None
    who = format_lanes(stop.lanes).capitalize() if stop.lanes else ""
    if stop.kind is StopKind.FAULT:
        signal = "SIGBUS" if stop.is_aperture_violation else "SIGSEGV"
        what = stop.fault.text if stop.fault is not None else "memory violation"
        detail = f"{who}: {what}" if who else what
        if stop.instruction:
            detail += f", by `{stop.instruction}`"
    elif stop.kind is StopKind.EXCEPTION:
        signal = "SIGFPE"
        detail = f"{who or 'The wave'}: {stop.cause_text}, by `{stop.instruction}`."
        trap_pc = stop.instruction_pc
    elif stop.kind is StopKind.ILLEGAL:
        signal = "SIGILL"
        why = f": {stop.reason}" if stop.reason else ""
        detail = f"{who or 'The wave'} executed `{stop.instruction}`{why}."
    elif stop.kind is StopKind.HANG and stop.reason is not None:
        detail = f"{stop.reason[0].upper()}{stop.reason[1:]}."
    elif stop.kind is StopKind.UNSUPPORTED:
        signal = "SIGILL"
        detail = f"The simulator has no semantics for `{stop.instruction}` at {stop.pc or 0:#x}."
    elif stop.kind is StopKind.INTERNAL:
        signal = "SIGILL"
        detail = f"Internal error of the simulator: {stop.reason}. What the wave has done of the block is not known."
    elif stop.kind is StopKind.TRAP:
        signal = "SIGABRT" if stop.trap == ABORT_TRAP else "SIGTRAP"
        detail = f"{who or 'The wave'} executed `{stop.instruction}`."
        if stop.trap != ABORT_TRAP and stop.pc is not None:
            trap_pc = stop.pc - _S_TRAP_SIZE
    return TargetStop(
        _KINDS[stop.kind],
        stop.wave.number if stop.wave is not None else None,
        stop.pc or 0,
        lane_mask(stop.lanes),
        detail,
        signal,
        stop.trap,
        trap_pc,
        stop.fault.address if stop.fault is not None else None,
        stop.report,
    )
