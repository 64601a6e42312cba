"""Stops of a program that catchpoints are about: exceptions, traps, loads of code objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocdbg.debugger.breakpoints.breakpoint_table import Arrival, Hit
from rocdbg.debugger.running.stop_events import CatchpointHit, StopEvent, hits_of
from rocdbg.debugger.target.runnable import TargetStop, TargetStopKind

if TYPE_CHECKING:
    from rocdbg.debugger.running.runner import Runner


def caught(runner: Runner, stop: TargetStop) -> StopEvent | None:
    """An event where a catchpoint is about an exception or trap."""
    assert stop.thread is not None
    problems: list[str] = []
    hits, words = runner.catcher.caught(stop, runner.arrival(stop.thread, stop.pc), problems.append)
    return _event(runner, stop, hits, words, problems)


def loaded(runner: Runner) -> StopEvent | None:
    """An event where a catchpoint is about what the target has loaded, of which nothing has run."""
    stop = TargetStop(TargetStopKind.BREAKPOINT, next((wave.number for wave in runner.target.waves()), None))
    if stop.thread is None:
        return None
    problems: list[str] = []
    hits, words = runner.catcher.loaded(runner.arrival(stop.thread, stop.pc), problems.append)
    return _event(runner, stop, hits, words, problems)


def code_change(runner: Runner, come: Sequence[str], gone: Sequence[str]) -> StopEvent | None:
    """An event where a catchpoint is about code objects that have come or gone, by URI, while the program ran."""
    problems: list[str] = []
    thread = runner.parts.focus.current.thread
    alive = thread is not None and any(wave.number == thread for wave in runner.target.waves())
    if thread is not None and alive:
        stop = TargetStop(TargetStopKind.CHANGED, thread, runner.target.wave(thread).pc)
        arrival = runner.arrival(thread, stop.pc)
    else:
        stop = TargetStop(TargetStopKind.CHANGED, next((wave.number for wave in runner.target.waves()), None))
        arrival = Arrival(0, 0, 0, lambda text, lanes: 0)
    hits, words = runner.catcher.code_change(come, gone, arrival, problems.append)
    return _event(runner, stop, hits, words, problems)


def _event(runner: Runner, stop: TargetStop, hits: list[Hit], words: str, problems: list[str]) -> StopEvent | None:
    if not hits:
        return None
    runner.parts.breakpoints.retire(hits)
    return runner.stopped_at(stop, lambda device: CatchpointHit(hits_of(hits), words, device), problems)
