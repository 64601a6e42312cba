"""Where the lanes of a wave are: an inactive lane waits where DW_AT_LLVM_lane_pc says.

A lane that was not active when a function was called is not in that function: its element of the lane PC vector is
undefined. Such a lane has only the outer frames of the wave, beginning with the first in which its element is defined.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct, field

from rocdbg import dwarf
from rocdbg.addresses import NOWHERE, LoadedAddress
from rocdbg.analysis.unknown_places import UNKNOWN
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.call_sites import DescribedCalls
from rocdbg.debugger.frames.frame_context import FrameContext, lane_entries
from rocdbg.debugger.frames.machine_code import MachineCode
from rocdbg.debugger.frames.physical_frame import PhysicalFrame
from rocdbg.debugger.frames.unwind_sources import PROLOGUE, Unwinder
from rocdbg.debugger.frames.wave_access import ThreadAccess
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.dwarf.any_lane import ANY_LANE
from rocdbg.dwarf.reader import results
from rocdbg.errors import Error

PC_BITS = 64
MAX_FRAMES = 4096
"""The largest number of physical frames, which ends the endless unwinding that damaged rules may cause."""

LanePlace: TypeAlias = tuple[int, LoadedAddress | None, tuple[LoadedAddress, ...] | None]
LanePcVector = list[int | None]
"""One loaded address per lane; ``None`` for a lane that was not active on entry."""


class Entered(Struct, frozen=True):
    """The innermost frame of a lane: its physical level, and where the lane waits.

    ``pc`` is ``None`` if only the wave's position is known. ``synthesised``: the place was derived from machine code.
    ``candidates`` lists where the lane may be if its place is not known (``pc`` is then ``None``); it is ``None`` if
    the place is known, or if nothing is known about lanes at all.
    """

    level: int
    pc: LoadedAddress | None
    synthesised: bool = False
    candidates: tuple[LoadedAddress, ...] | None = None


class LanePcs(Struct):
    """The lane PCs of the frames of one wave at one stop, evaluated on demand, once for all lanes.

    ``active`` is the mask of active lanes.
    """

    program: Program
    target: Target
    thread: int
    unwinder: Unwinder
    active: int
    synthesis: MachineCode | None = None
    """Source of lane PCs derived from machine code, used where debug information has none; ``None``: do not use any."""
    _contexts: list[FrameContext] = field(default_factory=list)
    _vectors: dict[int, list[LanePcVector]] = field(default_factory=dict)
    _alike: dict[int, bool] = field(default_factory=dict)
    _synthesised: set[int] = field(default_factory=set)
    _candidates: dict[tuple[int, int], tuple[LoadedAddress, ...]] = field(default_factory=dict)

    def vector(self, level: int = 0) -> LanePcVector | None:
        """Return the lane PCs of a physical frame; ``None`` without a DW_AT_LLVM_lane_pc that can be evaluated."""
        vectors = self._vectors_at(level)
        return vectors[0] if vectors else None

    def entered(self, lane: int) -> Entered | None:
        """Return the innermost frame that a lane has entered; ``None`` if the lane is in no frame with lane PCs.

        Damaged attributes count as absent here: a lane is then assumed to be where its wave is.
        """
        for level in range(MAX_FRAMES):
            try:
                vectors = self._vectors_at(level)
            except Error:
                vectors = []
            if vectors is None:
                return None
            if not vectors:
                return Entered(level, None)
            synthesised = level in self._synthesised
            if (level, lane) in self._candidates:
                return Entered(level, None, synthesised, self._candidates[level, lane])
            for vector in vectors:
                pc = vector[lane] if lane < len(vector) else None
                if pc is not None:
                    return Entered(level, LoadedAddress(pc), synthesised)
        return None

    def unwound(self, level: int) -> FrameContext | None:
        """Return a physical frame whose registers and caller are certainly the same for all lanes; ``None`` otherwise.
        """
        try:
            context = self._context(level)
        except Error:
            return None
        rows = [inner.found_row for inner in self._contexts[: level + 1]]
        if context is None or any(row is None or row.source != PROLOGUE for row in rows):
            return None
        return context

    def place(self, lane: int) -> LanePlace | None:
        """Return the place of a lane; ``None`` if it is not certain that all lanes at this place have the same
        innermost frame. A place consists of a physical level, the lane's own PC at that level, and the other addresses
        at which the lane may be.
        """
        entered = None if self.active >> lane & 1 else self.entered(lane)
        level = 0 if entered is None else entered.level
        if level not in self._alike:
            self._alike[level] = self.unwound(level) is not None or (not level and self._returns_alike())
        if not self._alike[level]:
            return None
        return (level, None, None) if entered is None else (level, entered.pc, entered.candidates)

    def _returns_alike(self) -> bool:
        """Whether the innermost frame returns to the same place in all lanes."""
        context = top_context(self.program, self.target, Focus(self.thread, ANY_LANE), self.unwinder)
        try:
            context.return_address(), context.cfa
        except Error:
            return False
        return True

    def _vectors_at(self, level: int) -> list[LanePcVector] | None:
        """The vectors of a physical frame and of the inlined calls in it, innermost first; ``None`` past the last."""
        found = self._vectors.get(level)
        if found is None:
            context = self._context(level)
            if context is None:
                return None
            found = [self._known(vector, level) for vector in _vectors_of(context)]
            if not found and self.synthesis is not None:
                vector = self._synthesise(self.synthesis, context, level)
                found = [] if vector is None else [vector]
            self._vectors[level] = found
        return found

    def _known(self, vector: LanePcVector, level: int) -> LanePcVector:
        """Return an attribute's vector without the elements of unused lanes, and without those for which
        `debugger.annotate` wrote that the place is not known.
        """
        used = self.target.wave(self.thread).used_lanes
        for lane, element in enumerate(vector):
            if element is None:
                continue
            if not used >> lane & 1:
                vector[lane] = None
            elif element >= UNKNOWN:
                self._candidates[level, lane] = ()
                vector[lane] = None
        return vector

    def _synthesise(self, synthesis: MachineCode, context: FrameContext, level: int) -> LanePcVector | None:
        """Derive the vector of a frame from machine code; ``None`` if that is not possible."""
        pc, lanes = self.program.to_file(context.pc or NOWHERE), context.wave_size
        expression = synthesis.lane_pc(pc, lanes)
        if expression is None:
            return None
        elements = dwarf.evaluate_location(expression, context).read_elements(PC_BITS, lanes)
        self._synthesised.add(level)
        vector: LanePcVector = []
        used = self.target.wave(self.thread).used_lanes
        for lane, element in enumerate(elements):
            if not used >> lane & 1:
                element = None  # the derived position would be meaningless for an unused lane
            if element is not None and element >= UNKNOWN:
                place = synthesis.place(element, pc, lanes)
                if place is None:
                    self._candidates[level, lane] = tuple(
                        self.program.to_loaded(other) for other in synthesis.candidates(element, pc, lanes)
                    )
                element = None if place is None else self.program.to_loaded(place)
            vector.append(element)
        return vector

    def _context(self, level: int) -> FrameContext | None:
        contexts = self._contexts
        if not contexts:
            contexts.append(top_context(self.program, self.target, Focus(self.thread, 0), self.unwinder))
        while len(contexts) <= level:
            inner = contexts[-1]
            if inner.function is not None and self.program.is_kernel(inner.function):
                return None
            outer = inner.next_frame()
            if outer is None:
                return None
            contexts.append(outer)
        return contexts[level]


def top_context(program: Program, target: Target, scope: Focus, unwinder: Unwinder) -> FrameContext:
    """Return the innermost physical frame at the wave's own PC."""
    assert scope.thread is not None
    access = ThreadAccess(target, scope.thread)
    pc = target.wave(scope.thread).pc
    physical = PhysicalFrame(
        program, access, pc, unwinder.row, call_sites=DescribedCalls(), elsewhere=unwinder.elsewhere
    )
    return FrameContext(physical, scope.lane, scope.iteration)


def _vectors_of(context: FrameContext) -> Iterator[LanePcVector]:
    for entry in lane_entries(context):
        try:
            vector = results.lane_pc(entry.die, context)
        except Error as error:
            context.program.complaints.add(error, "lane positions are recovered from machine code")
            continue
        if vector is not None:
            yield vector
