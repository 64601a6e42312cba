"""``until LOCATION`` and ``advance``: run to a location."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frames import physical_place
from rocdbg.debugger.program.location_lookup import Location
from rocdbg.debugger.running.awaited_arrivals import Awaited
from rocdbg.debugger.running.run_state import Internal
from rocdbg.debugger.running.runner import Runner, thread_of
from rocdbg.debugger.running.stepping import settle
from rocdbg.debugger.running.stop_events import LocationReached, StopEvent
from rocdbg.debugger.target.capabilities.runnable import TargetStop


def run_to_location(runner: Runner, scope: Focus, places: Sequence[Location], anywhere: bool) -> StopEvent:
    """``advance`` and ``until LOCATION``: run to one of the places, or until the frame returns. ``anywhere``: also stop
    in functions that the frame calls (``advance``)."""
    thread = thread_of(scope)
    addresses = {place.address for place in places}
    wanted: set[int] = {*addresses}
    return_to: int | None = None
    outer_place: tuple[int | None, int | None] | None = None
    chain = runner.parts.inferior.chain(scope)
    frame = chain.get(scope.frame)
    own = (physical_place(frame.context),) if frame is not None and not anywhere else ()
    outer = next((f for f in chain if frame is not None and f.context.callee is frame.context), None)
    if outer is not None:
        return_to = outer.pc
        outer_place = physical_place(outer.context)
        wanted.add(outer.pc)

    def accept(stop: TargetStop) -> bool:
        if stop.thread != thread or not runner.parts.inferior.is_active(scope):
            return False
        if stop.pc == return_to and stop.pc not in addresses:
            return physical_place(runner.top_frame(scope).context) == outer_place
        return not own or physical_place(runner.top_frame(scope).context) == own[0]

    def frame_at(pc: int) -> tuple[int | None, int | None] | None:
        if pc == return_to and pc not in addresses:
            return outer_place
        return own[0] if own else None

    awaited = Awaited(runner.parts.inferior, scope, True, frame_at)
    event = runner.run(Internal(frozenset(wanted), accept, awaited), follows=thread)
    if event is None:
        pc = runner.target.wave(thread).pc
        if pc in addresses:
            runner.enter_place(thread, pc, places)
        else:
            event = settle(runner, scope)
    return event or runner.arrived(LocationReached())
