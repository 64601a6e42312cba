"""Where the lanes of a wave are: which are active, and where the others wait (DW_AT_LLVM_lane_pc).

A lane that was not active when a function was called is nowhere in that function: its element of the lane PC vector
is undefined, and of the frames of the wave it has only those further out, from the first one that tells where
it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from rocdbg import dwarf
from rocdbg.addresses import NOWHERE, LoadedAddress
from rocdbg.arch.registers import sgpr_number
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames import simt
from rocdbg.debugger.frames.access import ThreadAccess
from rocdbg.debugger.frames.call_sites import DescribedCalls
from rocdbg.debugger.frames.context import FrameContext
from rocdbg.debugger.frames.unwind import Unwinder
from rocdbg.debugger.program.exec_map import ExecMap
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.state import Target
from rocdbg.dwarf.info import Scope as CodeScope
from rocdbg.dwarf.info.expressions import as_written
from rocdbg.dwarf.location import LocationDescription
from rocdbg.errors import Error

PC_BITS = 64
MAX_FRAMES = 4096
"""Physical frames that are unwound: a budget against damaged rules that never end."""

LanePcVector = list[int | None]
"""One loaded address per lane; ``None`` for a lane that was not active on entry."""


class Entered(Struct, frozen=True):
    """The innermost frame that a lane is in: its physical level, and where it waits.

    ``pc`` is ``None`` where nothing is known but what the wave does.
    """

    level: int
    pc: LoadedAddress | None


class LanePcs(Struct):
    """The lane PCs of the frames of one wave at one stop, evaluated when asked for, once for all lanes.

    ``active`` is the mask of active lanes.
    """

    program: Program
    target: Target
    thread: int
    unwinder: Unwinder
    active: int
    _contexts: list[FrameContext] = field(default_factory=list)
    _vectors: dict[int, list[LanePcVector]] = field(default_factory=dict)

    def vector(self, level: int = 0) -> LanePcVector | None:
        """The lane PCs of a physical frame; ``None`` without DW_AT_LLVM_lane_pc.

        Raises a `rocdbg.Error` when the attribute cannot be evaluated.
        """
        vectors = self._vectors_at(level)
        return vectors[0] if vectors else None

    def entered(self, lane: int) -> Entered | None:
        """The innermost frame a lane has entered; ``None`` when it is in none of those that tell.

        Damaged attributes count as absent here: a lane is then where its wave is.
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
            for vector in vectors:
                pc = vector[lane] if lane < len(vector) else None
                if pc is not None:
                    return Entered(level, LoadedAddress(pc))
        return None

    def _vectors_at(self, level: int) -> list[LanePcVector] | None:
        """The vectors of a physical frame and of the inlined calls in it, innermost first; ``None`` past the last."""
        found = self._vectors.get(level)
        if found is None:
            context = self._context(level)
            if context is None:
                return None
            found = self._vectors[level] = list(_vectors_of(context))
        return found

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
    """The innermost physical frame at the wave's own PC."""
    assert scope.thread is not None
    access = ThreadAccess(target, scope.thread)
    pc = target.wave(scope.thread).pc
    return FrameContext(
        program, access, pc, scope.lane, unwinder.row, iteration=scope.iteration, call_sites=DescribedCalls()
    )


def _vectors_of(context: FrameContext) -> Iterator[LanePcVector]:
    for entry in simt.entries_at(context.program, context.function, context.pc or NOWHERE):
        location = _location(context, entry, simt.LANE_PC)
        if location is not None:
            # without DW_AT_LLVM_lanes the vector's own size says how many there are
            count = min(context.lanes, location.remaining // PC_BITS)
            yield location.read_elements(PC_BITS, count)


def active_lanes(
    program: Program, target: Target, thread: int, unwinder: Unwinder, exec_map: ExecMap
) -> int:
    """The mask of active lanes: DW_AT_LLVM_active_lane where the function has it, else EXEC.

    Where spill code has turned all lanes on, the mask that it saved counts.
    """
    wave = target.wave(thread)
    context = top_context(program, target, Focus(thread, 0), unwinder)
    for entry in simt.entries_at(program, context.function, wave.pc):
        location = _location(context, entry, simt.ACTIVE_LANE)
        if location is not None:
            return location.read(min(context.lanes, wave.lane_count))
    saved = exec_map.saved_mask(program.to_file(wave.pc), wave.lane_count)
    if saved is None:
        return wave.exec_mask
    mask = 0
    for index in range(wave.lane_count // 32):
        data = target.read_register(thread, sgpr_number(saved + index))
        mask |= int.from_bytes(data, "little") << 32 * index
    return mask


def _location(context: FrameContext, entry: CodeScope, codes: tuple[int, ...]) -> LocationDescription | None:
    value = simt.expression_of(entry, codes)
    if value is None:
        return None
    what = as_written(value, entry.unit)
    if isinstance(what, dwarf.LocationList):
        return dwarf.evaluate_location(what, context)
    # not kind="location", which takes a value for an address: the 2020 proposal has masks and PCs as values
    result = dwarf.evaluate(what, context)
    if isinstance(result, dwarf.Value):
        assert isinstance(result.value, int)
        bits = context.architecture.address_bits if result.type is None else result.type.size
        return dwarf.implicit_location(result.value, bits)
    return result
