"""The native routine that records stores to certain memory. Blocks that were translated to use it call it after each
store.

They first call the routine that checks a store with the store's arguments, which leaves the host address of each lane
in the environment, regardless of the address space. Stores are matched against ranges of host memory, so LDS and
private memory are found in the same way as global memory. Other blocks are not affected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I64, Value

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine

PARAMETERS: Final = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %pc"


def noted(r: Routine) -> None:
    """Body of ``noted``: count the lanes of %mask that have stored %size bytes into one of the ranges. A size of -1
    means that of an image's texel, which the check has determined."""
    ranges, count, size = r.pointer(r.env("noted_ranges")), r.env("noted_count"), r.value("%size")
    size = size.eq(-1).select(r.env("texel_size"), size)
    found = r.local()

    def overlaps(first: Value, end: Value) -> None:
        def one(n: Value) -> None:
            row = r.gep(ranges, n.shl(4))
            low, high = r.load(row, I64), r.load(r.gep(row, 8), I64)
            hit = first.ult(high) & low.ult(end)
            r.store(found, r.load(found, I64) | hit.zext(I64))

        r.for_range(count, one)

    def lane(lane: Value) -> None:
        pointer = r.load(r.slot(layout.ENV_POINTER, lane, 8), I64)
        stride = r.load(r.slot(layout.ENV_KIND, lane, 8), I64)
        r.store(found, r.const(0, I64))
        r.when(stride.eq(4), lambda: overlaps(pointer, pointer + size))

        def byte(n: Value) -> None:
            at = (pointer & 3) + n
            place = (pointer & ~3) + at.lshr(2) * stride + (at & 3)
            overlaps(place, place + 1)

        # The lane's memory is interleaved: go dword by dword.
        r.when(stride.ne(4) & stride.ne(0), lambda: r.for_range(size, byte))

        def note() -> None:
            r.set_env("noted_hits", r.env("noted_hits") + 1)
            r.set_env("noted_lanes", r.env("noted_lanes") | r.const(1, I64).shl(lane))
            r.set_env("noted_pc", r.value("%pc"))

        r.when(r.load(found, I64).ne(0), note)

    r.for_lanes(r.value("%mask"), lane)
    r.lines.append("ret i32 0")


__all__ = ["PARAMETERS", "noted"]
