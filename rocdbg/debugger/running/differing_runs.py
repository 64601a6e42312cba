"""Runs the same launch under other schedules until its buffers differ, which reveals races."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.debugger.running.launch_control import LaunchControl
from rocdbg.debugger.running.runner import Runner
from rocdbg.debugger.target.capabilities.runnable import Resume, ResumeMode, TargetStop, TargetStopKind
from rocdbg.launch.elements import ELEMENT_TYPES, decode

_PIECE = 1 << 20
"""Bytes of buffers that are compared at once."""


class Difference(Struct, frozen=True):
    """A run that differs from the first one. ``run`` counts from 1 after the first; ``schedule`` is the run's schedule.

    ``buffer`` and ``index`` identify the first element that differs, by argument and position. Its value is ``got``,
    and was ``first`` in the first run; ``differing`` of ``count`` elements differ. If the run ended in another way,
    ``stop`` says how, and ``first`` how the first run ended.
    """

    run: int
    schedule: str
    buffer: str = ""
    index: int = 0
    got: Any = None
    first: Any = None
    differing: int = 0
    count: int = 0
    stop: str = ""


class _Result(Struct, frozen=True):
    stop: str
    buffers: list[tuple[str, str, NDArray[np.uint8]]]


class DifferingRuns(Struct):
    """Runs the launch that ``launch`` describes; breakpoints do not stop it."""

    runner: Runner
    launch: LaunchControl

    def find(self, count: int) -> Difference | None:
        """Run up to ``count`` times, with the schedules `random SEED` from 1 on; return the first run that differs from
        a run with the schedule set before.

        The schedule of that run is then set; if no run differs, the setting is unchanged. The last run's buffers stay
        readable. Raises a `rocdbg.Error` for a launch that cannot be made.
        """
        launch, kept = self.launch, self.launch.schedule
        found: Difference | None = None
        record, launch.record = launch.record, False
        try:
            first = self._run()
            for seed in range(1, count + 1):
                launch.schedule = f"random {seed}"
                found = self._compare(seed, first, self._run())
                if found is not None:
                    return found
            return None
        finally:
            launch.record = record
            if found is None:
                launch.schedule = kept

    def _run(self) -> _Result:
        """Run once, and return the contents of the buffers afterwards."""
        runner, target = self.runner, self.launch.start()
        runner.parts.inferior.attach(target)
        try:
            with runner.drive():
                stop = self._to_the_end()
            stopped = "" if stop.kind is TargetStopKind.DONE else f"{stop.signal}: {stop.detail}"
            bound = self.launch.bound
            assert bound is not None
            return _Result(stopped, [
                (
                    each.buffer.name or f"arg{each.index}",
                    each.buffer.array.element if each.buffer.array is not None else "u8", each.contents.copy(),
                )
                for each in bound.buffers
            ])
        finally:
            runner.parts.inferior.leave()

    def _to_the_end(self) -> TargetStop:
        runnable = self.runner.parts.inferior.need_runnable()
        while True:
            stop = runnable.resume(Resume(ResumeMode.RUN, budget=self.runner.parts.state.budget))
            if stop.kind is TargetStopKind.INTERRUPTED:
                raise KeyboardInterrupt
            if stop.kind is TargetStopKind.DONE or (stop.signal and stop.signal != "SIGTRAP"):
                return stop
            if stop.kind is TargetStopKind.BUDGET:
                return TargetStop(stop.kind, stop.thread, stop.pc, detail="the budget of instructions is used up")

    def _compare(self, run: int, first: _Result, now: _Result) -> Difference | None:
        schedule = self.launch.schedule
        if bool(now.stop) != bool(first.stop):
            return Difference(run, schedule, stop=now.stop or "its end", first=first.stop or "its end")
        for (name, element, before), (_, _, after) in zip(first.buffers, now.buffers, strict=True):
            kind = ELEMENT_TYPES[element]
            width = kind.itemsize
            places = _differing(before, after, width)
            if places.size:
                index = int(places[0])
                part = slice(index * width, (index + 1) * width)
                got, was = (decode(data[part].copy().view(kind), element)[0] for data in (after, before))
                return Difference(run, schedule, name, index, got, was, int(places.size), before.size // width)
        return None


def _differing(before: NDArray[np.uint8], after: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
    """Return the indices of the elements of ``width`` bytes that differ in any bit."""
    found = []
    step = _PIECE // width * width
    for start in range(0, before.size, step):
        one, other = before[start : start + step], after[start : start + step]
        if not np.array_equal(one, other):
            found.append(np.flatnonzero((one != other).reshape(-1, width).any(axis=1)) + start // width)
    return np.concatenate(found) if found else np.empty(0, np.int64)


__all__ = ["Difference", "DifferingRuns"]
