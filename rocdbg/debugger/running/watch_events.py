"""Stops of a program that watchpoints are about: something that is watched has another value, or was accessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.debugger.breakpoints.breakpoint_table import Arrival, Breakpoint, Hit
from rocdbg.debugger.breakpoints.catchpoints import Catchpoint
from rocdbg.debugger.breakpoints.watchpoints import Trigger, Watchpoint
from rocdbg.debugger.running.stop_events import BreakpointHit, Hits, StopEvent, WatchTriggered
from rocdbg.debugger.target.runnable import TargetStop
from rocdbg.debugger.values.value import Value

if TYPE_CHECKING:
    from rocdbg.debugger.running.runner import Runner


def changed(runner: Runner, stop: TargetStop) -> StopEvent | None:
    """An event where a watched value is another one, and its watchpoint says that this matters.

    With that the wave has come to its next instruction: breakpoints there are hit by the same stop, as in GDB.
    """
    assert stop.thread is not None
    problems: list[str] = []
    triggers = _triggers(runner, stop, runner.watcher.changed(stop), problems.append)
    told_later = stop.pc in runner.watcher.ends() or any(
        isinstance(one, Catchpoint) for one in runner.parts.breakpoints.at(stop.pc)
    )
    hits: list[Hit] = []
    if not told_later:
        if stop.pc in runner.stop_addresses():
            hits, more = runner.hits_here(stop.thread, stop.pc)
            problems += more
        runner.parts.inferior.need_runnable().pass_over(stop.thread)
    if not triggers:
        return runner.hit_event(hits, stop.thread, stop.pc, problems) if hits else None
    return _event(runner, stop, triggers, hits, problems)


def undone(runner: Runner, stop: TargetStop, after: Mapping[int, list[Value | None]]) -> StopEvent | None:
    """An event before an instruction that changes watched values to those ``after`` it, by watchpoint's number."""
    for watchpoint in runner.watcher.all():
        watchpoint.values = after.get(watchpoint.number, watchpoint.values)
    problems: list[str] = []
    known = [each for each in runner.watcher.changed(stop) if each.old is not None and each.new is not None]
    triggers = _triggers(runner, stop, known, problems.append)
    return _event(runner, stop, triggers, [], problems) if triggers else None


def _triggers(
    runner: Runner, stop: TargetStop, changes: Sequence[Trigger], problem: Callable[[str], None]
) -> list[Trigger]:
    """Of the changes that matter, counted, the first of each watchpoint."""
    found = []
    by_number: dict[int, list[Trigger]] = {}
    for trigger in changes:
        by_number.setdefault(trigger.watchpoint.number, []).append(trigger)
    for each in by_number.values():
        watchpoint, own = each[0].watchpoint, sum(1 << one.lane for one in each if one.lane is not None)
        mine = bool(own) and (watchpoint.scoped or watchpoint.wave == stop.thread)
        arrival = _arrival(runner, stop, watchpoint, own)
        held = runner.parts.breakpoints.counts(watchpoint, arrival, own if mine else stop.lanes, problem)
        if held is not None:
            first = next((one for one in each if one.lane is not None and held >> one.lane & 1), each[0])
            found.append(replace(first, lanes=held))
    return found


def _arrival(runner: Runner, stop: TargetStop, watchpoint: Watchpoint, lanes: int) -> Arrival:
    """Who asks for the condition of a watchpoint, as in GDB in the frame that it belongs to, whoever has changed it."""
    assert stop.thread is not None
    arrival = runner.arrival(stop.thread, stop.pc)
    wave = watchpoint.wave
    level = runner.watcher.frame_of(watchpoint) if watchpoint.scoped else None
    if level is None or wave is None or not lanes:
        return arrival
    return replace(arrival, active=lanes, condition=lambda text, lanes: runner.holds(text, wave, lanes, level))


def _event(
    runner: Runner, stop: TargetStop, triggers: Sequence[Trigger], hits: Sequence[Hit], problems: Sequence[str]
) -> StopEvent:
    by_number: dict[int, Breakpoint] = {one.watchpoint.number: one.watchpoint for one in triggers}
    by_number |= {hit.breakpoint.number: hit.breakpoint for hit in hits}
    numbers = sorted(by_number)
    runner.parts.breakpoints.retire([*hits, *(Hit(one.watchpoint, 0) for one in triggers)])
    is_first = numbers[0] == triggers[0].watchpoint.number
    lanes = 0
    for hit in hits:
        lanes |= hit.lanes
    own = triggers[0].lanes if triggers[0].watchpoint.scoped and triggers[0].watchpoint.wave == stop.thread else 0
    concerned = own & (stop.lanes or own) or stop.lanes
    there = Hits(
        tuple(numbers), tuple(tuple(by_number[number].commands) for number in numbers),
        temporary=bool(hits) and hits[0].breakpoint.temporary,
        location=hits[0].location_at(stop.pc) if hits else None, triggers=tuple(triggers), lanes=lanes,
    )
    kind = WatchTriggered if is_first else BreakpointHit
    stop = replace(stop, lanes=concerned if is_first else lanes)
    return runner.stopped_at(stop, lambda device: kind(there, device), problems)


__all__ = ["changed", "undone"]
