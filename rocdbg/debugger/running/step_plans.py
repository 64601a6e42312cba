"""What a step has learnt about the places that it reaches, as a plan that the target follows without returning.

A step is decided on where its lane or wave arrives (`rocdbg.debugger.running.stepping`). An arrival at a place that was
decided on before, with the same answer, need not be asked about again: it becomes a row of a `StopPlan`. Nothing is
worked out in advance, and nothing is learnt that depends on more than the place and on whether the lane is active.
"""

from __future__ import annotations

from typing import cast

from msgspec import Struct, field

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.program.extents import function_start
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.running.masks_and_frames import frame_register_here, mask_here, tells_all
from rocdbg.debugger.running.runner import Runner, thread_of
from rocdbg.debugger.running.step_calls import links_at
from rocdbg.debugger.running.step_start import StepStart
from rocdbg.sim.core.stop_plan import RowFlag, StopPlan

Line = tuple[str, int] | None


class StepPlan(Struct):
    """The plan of one step of a lane, from ``start`` on. ``into``: calls are entered where they can be."""

    inferior: Inferior
    thread: int
    lane: int
    start: StepStart
    into: bool
    plan: StopPlan
    starts: dict[tuple[tuple[int, ...], Line], StepStart] = field(default_factory=dict)
    """Where the steps began that the wave may be in."""

    @classmethod
    def of(cls, runner: Runner, scope: Focus, start: StepStart, into: bool) -> StepPlan | None:
        """A plan with nothing in it; ``None`` where each instruction has to be looked at."""
        inferior, thread = runner.parts.inferior, thread_of(scope)
        if scope.lane is None or any(one.is_idle or one.needs_checks for one in runner.watcher.all()):
            return None
        program = inferior.program_of(thread)
        low, high = program.text_range()
        function = _extent(program, start) if runner.top_frame(scope).program is program else None
        return cls(inferior, thread, scope.lane, start, into, StopPlan(low, high - low, scope.lane, function))

    # -- what is learnt where the wave is

    def goes_on(self, low: int, high: int, line: Line = None, inline: tuple[int, ...] | None = None) -> None:
        """The lane is active, in the frame it began in, and goes on in a range; with ``inline`` as a step from there
        in a line, within these inlined calls."""
        pc = self._pc
        mask = mask_here(self.inferior, self.thread, self.lane)
        if mask is None or (self.start.place is not None and pc == self.start.place[1]):
            return  # behind the call of this very function the wave is perhaps in its caller
        row = self.plan.row(pc)
        row.flags |= RowFlag.ACTIVE | self._entry(pc)
        row.active, row.mask, row.links = (low, high), mask, self._links(pc)
        row.leads_to = None if inline is None else (inline, line)
        self.plan.put(pc, row)

    def enter(self, start: StepStart, line: Line) -> None:
        """The step is one from ``start``, in a line, from here on."""
        key = start.inline, line
        self.starts[key] = start
        self.plan.enter(key)

    @property
    def now(self) -> tuple[StepStart, Line]:
        """The step that the wave is in, after it was followed: where it began, and its line."""
        inline, line = cast("tuple[tuple[int, ...], Line]", self.plan.context)
        return self.starts[inline, line], line

    def waits(self, low: int, high: int, known: bool) -> None:
        """The lane is not active, and is looked for again where the wave leaves a range. ``known``: it was active when
        the wave left the last, and where it waits is known for all lanes."""
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
        """A call that began at ``entry`` was run through, and the wave is where it returned to. ``entered``: it would
        have been entered if that were to be done."""
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
        """A row of a function's entry is first asked whether it was called."""
        return RowFlag.WAITING_ENTRY if self._begins_function(pc) else RowFlag(0)

    def _begins_function(self, pc: LoadedAddress) -> bool:
        program = self.inferior.programs.at(pc)
        begin = function_start(program, pc)
        return begin is not None and program.to_loaded(begin) == pc

    def _links(self, pc: LoadedAddress) -> tuple[int, ...]:
        return links_at(self.inferior, pc) if self._begins_function(pc) else ()


def _extent(program: Program, start: StepStart) -> tuple[int, int] | None:
    """Where the code of the function is that a step began in, ``None`` where it is in several pieces."""
    if start.function_low is not None:
        function = program.info.function_at(FileAddress(start.function_low))
        if function is None or function.low_pc != start.function_low or len(function.ranges) != 1:
            return None
        (only,) = function.ranges
        return program.to_loaded(only.low), program.to_loaded(only.high)
    code = program.functions.at(start.code) if start.code is not None else None
    return (program.to_loaded(FileAddress(code.start)), program.to_loaded(FileAddress(code.end))) if code else None


__all__ = ["StepPlan"]
