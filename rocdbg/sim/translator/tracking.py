"""Native routines that watch memory accesses: they mark written bytes and count reads of unmarked ones.

A block translated for this calls ``seen_*`` after each successful access, with the same arguments and the instruction's
pc. These routines compute the lanes' addresses again, so the routines that perform the accesses are not affected, and
take no longer if nothing is watched.

The shadow of a byte is at a fixed distance from it on the host; the distance is in the upper 56 bits of the flags in
the page table, and is 0 for memory that is not watched. Private memory, LDS and GDS are never watched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from rocdbg.sim.core import layout, uninitialized_reads
from rocdbg.sim.core.builder import I8, I64, Value
from rocdbg.sim.translator.routine_names import SEEN_SPACES

if TYPE_CHECKING:
    from rocdbg.sim.translator.runtime import Routine, Runtime

PARAMETERS: Final = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %a, i64 %b, i64 %pc"
_NOTE = "ptr %env, i64 %pc, i64 %wave, i64 %lane, i64 %address, i64 %size, i64 %bytes"
_GOLDEN = 0x9E3779B97F4A7C15
_NO_LANE = 64


class _Span(Struct):
    """The bytes of one lane's access: their number, and the simulated address of the n-th."""

    size: Value
    address: Callable[[Value], Value]


class SeenRoutines:
    """Builds the part ``seen``."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def define(self) -> None:
        """Add all routines."""
        self.runtime.define("note_read", _NOTE, _note, "internal")
        for space in SEEN_SPACES:
            for access, reads, writes in (
                ("load", True, False),
                ("store", False, True),
                ("atomic", True, True),
            ):

                def body(r: Routine, space: str = space, reads: bool = reads, writes: bool = writes) -> None:
                    self._lanes(r, space, reads, writes)

                self.runtime.define(f"seen_{access}_{space}", PARAMETERS, body)
        self.runtime.define("seen_sload", PARAMETERS, self._scalar)

    def _lanes(self, r: Routine, space: str, reads: bool, writes: bool) -> None:
        if space == "buffer":
            from rocdbg.sim.translator.buffer_access import spans

            span = spans(self.runtime, r, not (reads and writes))
        else:

            def span(lane: Value) -> tuple[Value, Callable[[Value], Value]]:
                address = r.load(r.slot(layout.ENV_ADDRESS, lane, 8), I64)
                return r.value("%size"), lambda n: address + n

        def visit(lane: Value) -> None:
            size, address = span(lane)
            self._visit(r, lane, _Span(size, address), reads, writes)

        r.for_lanes(r.value("%mask"), visit)
        r.lines.append("ret i32 0")

    def _scalar(self, r: Routine) -> None:
        """Observe a scalar load; as in `Runtime._scalar_load`, only %a bytes are in range if %b is set."""
        size = r.value("%b").ne(0).select(r.value("%a").umin(r.value("%size")), r.value("%size"))
        start = r.load(r.gep("%env", layout.ENV_ADDRESS), I64)
        self._visit(r, r.const(_NO_LANE, I64), _Span(size, lambda n: start + n), True, False)
        r.lines.append("ret i32 0")

    def _visit(self, r: Routine, lane: Value, span: _Span, reads: bool, writes: bool) -> None:
        """Count the bytes of one lane's access that were never written, then mark those that it writes."""
        missing, first = r.local(), r.local()
        r.store(missing, r.const(0, I64))

        def byte(n: Value) -> None:
            address = span.address(n)
            shadow = _shadow(r, address)

            def watched() -> None:
                at = r.pointer(shadow)
                if reads:

                    def unwritten() -> None:
                        known = r.load(missing, I64)
                        r.when(known.eq(0), lambda: r.store(first, address))
                        r.store(missing, known + 1)

                    r.when(r.load(at, I8).eq(0), unwritten)
                if writes:
                    r.store(at, r.const(1, I8))

            r.when(shadow.ne(0), watched)

        r.for_range(span.size, byte)
        if not reads:
            return
        count = r.load(missing, I64)

        def note() -> None:
            wave = r.state("number")
            r.lines.append(
                f"call i32 @note_read(ptr %env, i64 %pc, i64 {wave.ref}, i64 {lane.ref}, "
                f"i64 {r.load(first, I64).ref}, i64 {span.size.ref}, i64 {count.ref})"
            )

        r.when(count.ne(0), note)


def _shadow(r: Routine, address: Value) -> Value:
    """Host address of the shadow of the byte at a simulated address, 0 if it is not watched."""
    offset = address - r.env("window_base")
    index = offset.ult(layout.WINDOW_SIZE).select(offset.lshr(layout.PAGE_SHIFT), 0)
    entry = r.pointer(r.env("page_table") + index * layout.PAGE_ENTRY_SIZE)
    host, flags = r.load(entry, I64), r.load(r.gep(entry, 24), I64)
    distance = flags.ashr(layout.PAGE_FLAG_BITS)
    return distance.eq(0).select(0, host + (offset & layout.PAGE_SIZE - 1) + distance)


def _note(r: Routine) -> None:
    """Add a read to the row of %pc. The pc determines the index at which the search begins."""
    table = r.pointer(r.env("reads_table"))
    pc, mask = r.value("%pc"), uninitialized_reads.CAPACITY - 1
    start = (pc.lshr(2) * _GOLDEN).lshr(64 - uninitialized_reads.CAPACITY.bit_length() + 1)
    found = r.local()
    r.store(found, r.const(0, I64))

    def row(n: Value) -> None:
        at = r.gep(table, ((start + n) & mask) * (uninitialized_reads.ROW * 8))
        owner, reads = r.load(at, I64), r.load(r.gep(at, 8), I64)
        free = reads.eq(0)
        mine = r.load(found, I64).eq(0) & (free | owner.eq(pc))

        def begin() -> None:
            for index, name in enumerate(("%wave", "%lane", "%address", "%size")):
                r.store(r.gep(at, 24 + 8 * index), r.value(name))
            r.store(at, pc)

        def add() -> None:
            r.when(free, begin)
            r.store(r.gep(at, 8), reads + 1)
            r.store(r.gep(at, 16), r.load(r.gep(at, 16), I64) + r.value("%bytes"))
            r.store(found, r.const(1, I64))

        r.when(mine, add)

    # The first few rows nearly always suffice; the whole table is searched before a read counts as lost.
    r.for_range(r.const(8, I64), row)
    r.when(r.load(found, I64).eq(0), lambda: r.for_range(r.const(uninitialized_reads.CAPACITY, I64), row))
    lost = r.gep(table, uninitialized_reads.LOST * 8)
    r.when(r.load(found, I64).eq(0), lambda: r.store(lost, r.load(lost, I64) + 1))
    r.lines.append("ret i32 0")


__all__ = ["PARAMETERS", "SeenRoutines"]
