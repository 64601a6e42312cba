"""Translates requests into the simulator's terms, and its stops into target stops with GDB's signals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.lane_sets import lane_mask
from rocdbg.debugger.target.capabilities.runnable import Resume, ResumeMode, TargetStop, TargetStopKind, WatchedMemory
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import ABORT_TRAP, Fault, Space, Stop, StopKind
from rocdbg.sim.core.watched_words import WatchedBytes
from rocdbg.sim.faults import sentence

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
    StopKind.ABORT: TargetStopKind.TRAP,
    StopKind.WATCH: TargetStopKind.WATCH,
    StopKind.INTERRUPTED: TargetStopKind.INTERRUPTED,
    StopKind.BUDGET: TargetStopKind.BUDGET,
    StopKind.RETURNED: TargetStopKind.RETURNED,
    StopKind.WAVE_DONE: TargetStopKind.WAVE_DONE,
    StopKind.DONE: TargetStopKind.DONE,
}
_RAISED = {
    StopKind.ILLEGAL: "illegal-instruction", StopKind.UNSUPPORTED: "unsupported-instruction",
    StopKind.INTERNAL: "internal-error",
}
_SIGNALS = {
    StopKind.EXCEPTION: "SIGFPE", StopKind.ILLEGAL: "SIGILL", StopKind.UNSUPPORTED: "SIGILL",
    StopKind.INTERNAL: "SIGILL",
}
_S_TRAP_SIZE = 4


def run_options(request: Resume) -> RunOptions:
    """Translate a request into the simulator's terms."""
    return RunOptions(
        stop_pcs=request.stop_addresses.difference(request.checks),
        wave=request.thread,
        step=request.mode is ResumeMode.STEP,
        range=(request.low, request.high) if request.mode is ResumeMode.RANGE else None,
        only=request.only and request.thread is not None,
        alone=request.alone,
        budget=request.budget,
        checks=request.checks,
        plan=request.plan,
        steps=request.steps,
        most=request.most,
    )


def on_host(
    watches: Iterable[WatchedMemory], host_bytes: Callable[[WatchedMemory], list[WatchedBytes]]
) -> tuple[list[WatchedBytes], list[WatchedMemory]]:
    """Return where watched memory is on the host, and the owner of each piece."""
    watched = [(row, one) for one in watches for row in host_bytes(one)]
    return [row for row, _ in watched], [one for _, one in watched]


def target_stop(stop: Stop, watched: Sequence[WatchedMemory] = ()) -> TargetStop:
    """Translate a stop, with GDB's signal for it, and the part of ``watched`` (from `on_host`) that it accessed."""
    trap_pc: int | None = None
    if stop.kind is StopKind.EXCEPTION:
        trap_pc = stop.instruction_pc
    elif stop.kind is StopKind.TRAP and stop.trap != ABORT_TRAP and stop.pc is not None:
        trap_pc = stop.pc - _S_TRAP_SIZE
    return TargetStop(
        _KINDS[stop.kind],
        stop.wave.number if stop.wave is not None else None,
        stop.pc or 0,
        lane_mask(stop.lanes),
        sentence(stop),
        _signal(stop),
        stop.trap,
        trap_pc,
        stop.fault.address if stop.fault is not None else None,
        stop.report,
        tuple(dict.fromkeys(watched[index] for index in sorted(stop.touched))),
        stop.reads,
        exceptions=_exceptions(stop),
        violation=_violation(stop.fault),
        addresses=_addresses(stop.fault),
        space=_SPACES[stop.fault.space] if stop.fault is not None else AddressSpace.GLOBAL,
    )


_SPACES = {
    Space.GLOBAL: AddressSpace.GLOBAL, Space.LOCAL: AddressSpace.LOCAL, Space.PRIVATE: AddressSpace.PRIVATE_LANE,
    Space.REGION: AddressSpace.REGION,
}


def _signal(stop: Stop) -> str:
    if stop.kind is StopKind.FAULT:
        return "SIGBUS" if stop.is_aperture_violation else "SIGSEGV"
    if stop.kind is StopKind.TRAP:
        return "SIGABRT" if stop.trap == ABORT_TRAP else "SIGTRAP"
    if stop.kind is StopKind.ABORT and stop.reason is not None:
        return "SIGABRT"
    return _SIGNALS.get(stop.kind, "")


def _violation(fault: Fault | None) -> str:
    if fault is None:
        return ""
    return "misaligned" if fault.misaligned else "permission" if fault.forbidden else ""


def _addresses(fault: Fault | None) -> tuple[tuple[int | None, int], ...]:
    if fault is None:
        return ()
    return tuple(fault.addresses.items()) or ((None, fault.address),)


def _exceptions(stop: Stop) -> tuple[str, ...]:
    """Return the words of `EXCEPTIONS` for a stop."""
    if stop.kind is StopKind.FAULT:
        return ("aperture-violation" if stop.is_aperture_violation else "memory-violation",)
    if stop.kind is StopKind.EXCEPTION:
        return tuple(cause.name.lower().replace("_", "-") for cause in stop.causes)
    if stop.kind is StopKind.TRAP:
        return ("abort",) if stop.trap == ABORT_TRAP else ()
    if stop.kind is StopKind.ABORT:
        return ("abort",)
    word = _RAISED.get(stop.kind)
    return (word,) if word is not None else ()
