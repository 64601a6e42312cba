"""Builds a stop plan from the decisions of a step, so that the target can repeat these decisions without returning.

The debugger decides at each place that the lane or wave reaches (`rocdbg.debugger.running.stepping`). If the same
decision will always be right at that place, it becomes a row of a `StopPlan`, and the target does not return there
again. Rows are added only after a decision, never in advance. A decision is recorded only if the place, and whether the
lane is active, determine it completely.
"""

from __future__ import annotations

from typing import cast

from msgspec import Struct, field

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.program.function_extents import function_start
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.running.masks_and_frames import frame_register_here, mask_here, tells_all
from rocdbg.debugger.running.runner import Runner, thread_of
from rocdbg.debugger.running.step_calls import links_at
from rocdbg.debugger.running.step_origin import StepStart
from rocdbg.sim.core.stop_plan import RowFlag, StopPlan

Line = tuple[str, int] | None


class StepPlan(Struct):
    """The plan of one step of a lane that began at ``start``. ``into``: the step enters calls where that is possible.
    """

    inferior: Inferior
    thread: int
    lane: int
    start: StepStart
    into: bool
    plan: StopPlan
    starts: dict[tuple[tuple[int, ...], Line], StepStart] = field(default_factory=dict)
    """The beginnings of the steps that the wave may be in, by the inlined calls around the step and its line."""

    @classmethod
    def of(cls, runner: Runner, scope: Focus, start: StepStart, into: bool) -> StepPlan | None:
        """Return a plan without rows; None if each instruction has to be examined."""
        inferior, thread = runner.parts.inferior, thread_of(scope)
        if scope.lane is None or any(one.is_idle or one.needs_checks for one in runner.watcher.all()):
            return None
        program = inferior.program_of(thread)
        low, high = program.text_range()
        function = _extent(program, start) if runner.top_frame(scope).program is program else None
        return cls(inferior, thread, scope.lane, start, into, StopPlan(low, high - low, scope.lane, function))

    # -- what is learnt where the wave is

    def goes_on(self, low: int, high: int, line: Line = None, inline: tuple[int, ...] | None = None) -> None:
        """Add a row: the lane is active here, in the frame in which the step began, and continues in a range. With
        ``inline``, it continues as a step that begins here, in ``line`` and within these inlined calls."""
        pc = self._pc
        mask = mask_here(self.inferior, self.thread, self.lane)
        if mask is None or (self.start.place is not None and pc == self.start.place[1]):
            return  # after a recursive call, the wave may be in its caller
        row = self.plan.row(pc)
        row.flags |= RowFlag.ACTIVE | self._entry(pc)
        row.active, row.mask, row.links = (low, high), mask, self._links(pc)
        row.leads_to = None if inline is None else (inline, line)
        self.plan.put(pc, row)

    def enter(self, start: StepStart, line: Line) -> None:
        """From here on, treat the step as one that began at ``start``, in a line."""
        key = start.inline, line
        self.starts[key] = start
        self.plan.enter(key)

    @property
    def now(self) -> tuple[StepStart, Line]:
        """The step that the wave is in after native code has run it by the plan: the beginning of the step, and its
        line.
        """
        inline, line = cast("tuple[tuple[int, ...], Line]", self.plan.context)
        return self.starts[inline, line], line

    def waits(self, low: int, high: int, known: bool) -> None:
        """Add a row: the lane is inactive here, and has to be examined again when the wave leaves a range.

        ``known``: the lane was active when the wave left the previous range.
        """
        pc = self._pc
        mask = mask_here(self.inferior, self.thread, self.lane)
        if mask is None:
            return
        row = self.plan.row(pc)
        row.flags |= RowFlag.WAITING | self._entry(pc)
        if known and tells_all(self.inferior, self.thread, self.lane):
            row.flags |= RowFlag.KNOWN_WAIT
        row.waiting, row.mask, row.links = (low, high), mask, self._links(pc)
        self.plan.put(pc, row)

    def called(self, entry: LoadedAddress, entered: bool) -> None:
        """Add rows for a call: the wave entered a function at ``entry``, ran through the call, and is now at its return
        address. ``entered``: whether a step into calls would have entered the function."""
        if not self.plan.get("function_size"):
            return
        row = self.plan.row(entry)
        row.links = links_at(self.inferior, entry)
        row.flags |= RowFlag.WAITING_ENTRY
        if entered == self.into:
            row.flags |= RowFlag.ENTRY
        self.plan.put(entry, row)
        behind = self._pc
        is_only = self.start.place is None
        frame = None if is_only else frame_register_here(self.inferior, self.thread, self.lane)
        if is_only or frame is not None:
            row = self.plan.row(behind)
            row.flags |= RowFlag.FRAME
            row.frame = frame
            self.plan.put(behind, row)

    # -- parts

    @property
    def _pc(self) -> LoadedAddress:
        return self.inferior.wave(self.thread).pc

    def _entry(self, pc: LoadedAddress) -> RowFlag:
        """Return the flag of a row at a function's entry: native code first checks whether the function was called."""
        return RowFlag.WAITING_ENTRY if self._begins_function(pc) else RowFlag(0)

    def _begins_function(self, pc: LoadedAddress) -> bool:
        program = self.inferior.programs.at(pc)
        begin = function_start(program, pc)
        return begin is not None and program.to_loaded(begin) == pc

    def _links(self, pc: LoadedAddress) -> tuple[int, ...]:
        return links_at(self.inferior, pc) if self._begins_function(pc) else ()


def _extent(program: Program, start: StepStart) -> tuple[int, int] | None:
    """Return the loaded range of the function in which a step began; None if its code is in several pieces."""
    if start.function_low is not None:
        function = program.info.function_at(FileAddress(start.function_low))
        if function is None or function.low_pc != start.function_low or len(function.ranges) != 1:
            return None
        (only,) = function.ranges
        return program.to_loaded(only.low), program.to_loaded(only.high)
    code = program.functions.at(start.code) if start.code is not None else None
    return (program.to_loaded(FileAddress(code.start)), program.to_loaded(FileAddress(code.end))) if code else None


__all__ = ["StepPlan"]
