"""Calls that a step reaches: the step enters them, or runs until they return."""

from __future__ import annotations

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.dwarf_registers import sgpr_number
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frames import physical_place
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.program.function_extents import function_start
from rocdbg.debugger.running.awaited_arrivals import Awaited
from rocdbg.debugger.running.run_state import Internal
from rocdbg.debugger.running.runner import Runner, thread_of
from rocdbg.debugger.running.step_origin import StepStart
from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.debugger.target.capabilities.runnable import TargetStop

RETURN_LOW, RETURN_HIGH = 62, 63
"""DWARF numbers of s30 and s31, which hold the return address at a function's entry by the calling convention."""
_LINKS = (30, 18)
"""The first scalar register of the return address: by LLVM's calling convention, and by GCC's."""


def over_or_into_call(
    runner: Runner, scope: Focus, start: StepStart, pc: LoadedAddress, into: bool
) -> StopEvent | bool:
    """Handle a PC that may be at the entry of a called function.

    Returns an event if the step ends in the function; True if the wave ran through the call; False if there is no call.
    """
    called = _called_from(runner, scope, start, pc)
    if called is None:
        return False
    program = runner.parts.inferior.programs.at(pc)
    function = program.function_at(pc)
    row = program.line_at(pc)
    if into and function is None and row is not None and row.line:  # assembly: lines without functions
        return runner.step_done(True)
    if into and function is not None and not runner.parts.skips.covers(function, row.file if row is not None else None):
        address = program.info.breakpoint_address(function)
        if address is not None:
            target = program.to_loaded(address)
            if target != pc:
                event = run_to(runner, scope, target, None, any_frame=True)
                if event is not None:
                    return event
            return runner.step_done(True)
    event = run_to(runner, scope, called, start.place, lane_matters=False)
    return event if event is not None else True


def links_at(inferior: Inferior, pc: LoadedAddress) -> tuple[int, ...]:
    """Return the scalar registers of the pairs that may hold the return address at the entry of a function, each pair
    by its first register.
    """
    program = inferior.programs.at(pc)
    entry = program.to_file(pc)
    called = program.functions.at(entry)
    own = () if called is None or called.start != entry else (called.link,)
    return tuple(dict.fromkeys((*own, *_LINKS)))


def _called_from(runner: Runner, scope: Focus, start: StepStart, pc: LoadedAddress) -> LoadedAddress | None:
    """Return the return address if the wave is at the entry of a function that the frame of ``start`` has called."""
    program = runner.parts.inferior.programs.at(pc)
    entry = function_start(program, pc)
    if entry is None or program.to_loaded(entry) != pc:
        return None
    target, thread = runner.target, thread_of(scope)
    for link in map(sgpr_number, links_at(runner.parts.inferior, pc)):
        low, high = (int.from_bytes(target.read_register(thread, link + half), "little") for half in (0, 1))
        address = LoadedAddress(low | high << 32)
        call = LoadedAddress(address - 1)
        calling = runner.parts.inferior.programs.at(call)
        caller = calling.function_at(call)
        if caller is not None and caller.low_pc == start.function_low:
            return address
        code = calling.functions.at(calling.to_file(call)) if caller is None and start.function_low is None else None
        if code is not None and code.start == start.code:
            return address
    return None


def run_to(
    runner: Runner,
    scope: Focus,
    address: int,
    place: tuple[int | None, int | None] | None,
    *,
    any_frame: bool = False,
    lane_matters: bool = True,
) -> StopEvent | None:
    """Run to an address in the frame that ``place`` identifies; returns None on arrival.

    ``any_frame``: accept every frame. Without ``lane_matters``, also stop while the lane is inactive.
    """
    thread = thread_of(scope)

    def accept(stop: TargetStop) -> bool:
        if stop.thread != thread:
            return False
        if lane_matters and not runner.parts.inferior.is_active(scope):
            return False
        if any_frame:
            return True
        return physical_place(runner.top_frame(scope).context) == place

    awaited = Awaited(runner.parts.inferior, scope, lane_matters, lambda pc: None if any_frame else place)
    return runner.run(
        Internal(frozenset({address}), accept, awaited), thread if runner.locked else None, thread
    )
