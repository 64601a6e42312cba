"""The native routines that blocks call: address translation, transfers, atomics, lane moves; and the dispatch loop.

Every routine is ``i32 name(ptr state, ptr env, i64 mask, i64...)`` and returns 0, or, after writing the environment's
fault record, 1. A memory routine first turns each active lane's address (``ENV_ADDRESS``) into a host pointer and a
dword stride (``ENV_POINTER``, ``ENV_KIND``) and only then touches memory, so that an instruction that faults in any
lane has no effect.

A stride is the distance in memory of a lane's consecutive dwords: 4, or 4 * wave size in scratch, which is interleaved
by lane; 0 marks a lane whose access is dropped (an out-of-range buffer access): it reads 0 and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I8, I32, I64, Value
from rocdbg.sim.core.layout import (
    FLUSH_INPUTS,
    FLUSH_RESULTS,
    PAGE_ENTRY_SIZE,
    PAGE_SHIFT,
    PAGE_SIZE,
    WINDOW_SIZE,
    Access,
    FaultKind,
    Space,
    Status,
)
from rocdbg.sim.data.atomics import BY_NAME, Atomic, Flush
from rocdbg.sim.translator import scheduler, vector_access
from rocdbg.sim.translator.plan_routine import planned
from rocdbg.sim.translator.routine import Routine
from rocdbg.sim.translator.routine_names import prefix
from rocdbg.sim.translator.vector_access import scratch_origin

_SPACE = {
    "global": Space.GLOBAL,
    "flat": Space.FLAT,
    "lds": Space.LDS,
    "scratch": Space.SCRATCH,
    "buffer": Space.BUFFER,
    "gds": Space.GDS,
    "image": Space.IMAGE,
}


AnyRoutine = TypeVar("AnyRoutine", bound=Routine)


class Runtime:
    """Builds the runtime module for one wave size."""

    def __init__(self, wave_size: int, width: int) -> None:
        self.wave_size = wave_size
        self.width = min(width, wave_size)
        self.declarations: set[str] = set()
        self.functions: list[str] = []
        self.indexed = self.banked = False
        self._counter = 0

    def define(self, name: str, params: str, body: Callable[[Routine], None], linkage: str = "") -> None:
        self.emit(Routine(self.wave_size), name, params, body, linkage)

    def emit(
        self, routine: AnyRoutine, name: str, params: str, body: Callable[[AnyRoutine], None], linkage: str = ""
    ) -> None:
        """Let ``body`` emit code into ``routine``, and add the result as the function ``name``."""
        routine._counter = self._counter
        body(routine)
        self._counter = routine._counter
        self.declarations |= routine.declarations
        if linkage != "internal":
            name = f"{prefix(self.wave_size)}{name}"
        self.functions.append(
            "\n".join([f"define {linkage} i32 @{name}({params}) #0 {{", "entry:", *routine.lines, "}"])
        )

    def text(self, part: str) -> str:
        """The module of one part: the routines that are compiled together. See `part_of`."""
        args = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %a, i64 %b"
        moves = "ptr %env, i64 %mask, i64 %size"
        two = "ptr %state, ptr %env, i64 %mask, i64 %group"
        if part.startswith("dispatch"):
            # On GFX9, a bit of MODE makes register numbers relative to M0; on gfx125x, MODE has the highest bits of
            # register numbers.
            suffix = part.removeprefix("dispatch")
            self.indexed, self.banked = suffix == "_indexed", suffix == "_banked"
            for status in (Status.BREAK, Status.UNSUPPORTED, Status.ILLEGAL, Status.FETCH):
                self.define(f"stub_{status.name.lower()}{suffix}", "ptr %state, ptr %env", _stub(status))
            self.define(f"run{suffix}", "ptr %state, ptr %env, ptr %tables", self._run(False))
            self.define(f"run_range{suffix}", "ptr %state, ptr %env, ptr %tables", self._run(True))
            self.define(f"run_traced{suffix}", "ptr %state, ptr %env, ptr %tables", self._run(False, True))
        elif part.startswith("planned"):
            suffix = part.removeprefix("planned")
            self.indexed, self.banked = suffix == "_indexed", suffix == "_banked"
            self.define(f"run_planned{suffix}", "ptr %state, ptr %env, ptr %tables", planned(self._mode_key))
        elif part == "schedule":
            for name, params, body, exported in scheduler.ROUTINES:
                self.emit(
                    scheduler.Schedule(self.wave_size), name, params, body, "" if exported else "internal"
                )
        elif part.startswith("matrix_"):
            from rocdbg.sim.translator import matrix  # imported late: few need it

            self.define(part, matrix.PARAMETERS, matrix.body(part))
        elif part == "scalar":
            self.define("sload", args, self._scalar_load)
        elif part == "lanes":
            self.define("bpermute", two, self._bpermute)
            self.define("permute", two, self._permute)
        elif part == "sync":
            from rocdbg.sim.translator.global_wave_sync import gws

            self.define("gws", args, gws)
        elif part == "watch":
            from rocdbg.sim.translator.watch_routine import changed, touched  # imported late: few need it

            self.define("watch_changed", "ptr %state, ptr %env", changed)
            self.define("watch_touched", "ptr %state, ptr %env, i64 %mask, i64 %size", touched)
        elif part == "seen":
            from rocdbg.sim.translator.tracking import SeenRoutines  # imported late: few need it

            SeenRoutines(self).define()
        elif part == "noted":
            from rocdbg.sim.translator import store_notes  # imported late: few need it

            self.define("noted", store_notes.PARAMETERS, store_notes.noted)
        elif part == "buffer":
            from rocdbg.sim.translator.buffer_access import BufferRoutines  # imported late: few need it

            BufferRoutines(self).define()
        elif part == "image":
            from rocdbg.sim.translator.image_access import ImageRoutines  # imported late: few need it

            ImageRoutines(self).define()
        elif part == "texture":
            from rocdbg.sim.translator import image_samples  # imported late: few need it

            image_samples.define(self)
        elif part.startswith("lds_"):
            from rocdbg.sim.translator import lds_access

            lanes = vector_access.VectorRoutine(self.wave_size, self.width)
            self.emit(lanes, part, lds_access.PARAMETERS, lds_access.routine(part))
        elif part.startswith("atomic_"):
            name, _, space = part.removeprefix("atomic_").rpartition("_")
            self._translator(space)
            self.define(part, args, self._atomic(BY_NAME[name], space))
        else:
            self._translator(part)
            self.define("gather", moves, self._gather, "internal")
            self.define("scatter", moves, self._scatter, "internal")
            for access, move in (("load", "gather"), ("store", "scatter")):
                for name, quick in vector_access.routines(part, access) if part != "gds" else ():
                    routine = vector_access.VectorRoutine(self.wave_size, self.width)
                    self.emit(routine, name, vector_access.PARAMETERS, quick, "internal")
                self.define(f"{access}_{part}", args, self._access(part, access, move))
            self.define(f"check_{part}", args, self._check(part))
        attributes = "attributes #0 = { nounwind }"
        return "\n".join([*sorted(self.declarations), *self.functions, attributes, ""])

    # -- addresses --------------------

    def _translator(self, space: str) -> None:
        """``translate_SPACE(state, env, mask, size, need, a, b)``: need = page flags; a, b depend on the space."""
        params = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %need, i64 %a, i64 %b"
        if space == "buffer":
            from rocdbg.sim.translator.buffer_access import BufferRoutines  # imported late: few need it

            self.define("translate_buffer", params, BufferRoutines(self).translate, "internal")
            return
        if space == "image":
            from rocdbg.sim.translator.image_access import ImageRoutines  # imported late: few need it

            ImageRoutines(self).define_view()
            ImageRoutines(self).define_translation()
            return
        per_lane = {
            "global": self._global, "flat": self._flat, "lds": self._lds, "scratch": self._scratch, "gds": self._gds,
        }[space]

        def body(r: Routine) -> None:
            r.set_env("fault_lanes", 0)
            r.set_env("fault_kind", 0)

            def lane(lane: Value) -> None:
                address = r.load(r.slot(layout.ENV_ADDRESS, lane, 8), I64)
                pointer, stride, kind = per_lane(r, address, lane)
                r.store(r.slot(layout.ENV_POINTER, lane, 8), pointer)
                r.store(r.slot(layout.ENV_KIND, lane, 8), stride)
                r.when(kind.ne(0), lambda: self._note(r, lane, kind))

            r.for_lanes(r.value("%mask"), lane)
            faulted = r.env("fault_lanes").ne(0)
            r.when(faulted, lambda: self._record(r, _SPACE[space]))
            r.lines.append(f"ret i32 {faulted.zext(I32).ref}")

        self.define(f"translate_{space}", params, body, "internal")

    @staticmethod
    def _note(r: Routine, lane: Value, kind: Value) -> None:
        r.set_env("fault_lanes", r.env("fault_lanes") | r.const(1, I64).shl(lane))
        first = r.env("fault_kind")
        r.set_env("fault_kind", first.eq(0).select(kind.trunc(I32), first))

    @staticmethod
    def fault_at(r: Routine, lane: Value, kind: Value, address: Value) -> None:
        """Record a lane's fault, and store the faulting address in the lane's address slot for the report."""
        Runtime._note(r, lane, kind)
        r.store(r.slot(layout.ENV_ADDRESS, lane, 8), address)

    @staticmethod
    def _record(r: Routine, space: Space) -> None:
        need = r.value("%need")
        access = need.eq(1).select(
            int(Access.LOAD), need.eq(2).select(r.const(int(Access.STORE), I64), int(Access.ATOMIC))
        )
        r.set_env("fault_access", access.trunc(I32))
        r.set_env("fault_size", r.value("%size").trunc(I32))
        r.set_env("fault_space", int(space))
        if space is Space.GLOBAL:
            Runtime._scalar(r)

    @staticmethod
    def _scalar(r: Routine) -> None:
        """If %a is not 0, report a fault in global memory as one of a scalar access, without lanes."""

        def change() -> None:
            r.set_env("fault_space", int(Space.SCALAR))
            r.set_env("fault_lanes", 0)

        r.when(r.value("%a").ne(0), change)

    def _page(self, r: Routine, address: Value, size: Value) -> tuple[Value, Value]:
        """Host pointer of a simulated address, and the fault kind (I64, 0 if legal)."""
        offset = address - r.env("window_base")
        inside = offset.ult(WINDOW_SIZE)
        index = inside.select(offset.lshr(PAGE_SHIFT), 0)
        entry = r.env("page_table") + index * PAGE_ENTRY_SIZE
        at = r.pointer(entry)
        host, low, high, flags = (r.load(r.gep(at, n * 8), I64) for n in range(4))
        within = offset & PAGE_SIZE - 1
        legal = inside & low.ule(within) & (within + size).ule(high)
        need = r.value("%need")
        allowed = (flags & need).eq(need)
        kind = legal.select(
            allowed.select(r.const(0, I64), int(FaultKind.PERMISSION)), r.const(int(FaultKind.UNMAPPED), I64)
        )
        return host + within, kind

    def _global(self, r: Routine, address: Value, lane: Value) -> tuple[Value, Value, Value]:
        pointer, kind = self._page(r, address, r.value("%size"))
        return pointer, r.const(4, I64), kind

    def _lds(self, r: Routine, address: Value, lane: Value) -> tuple[Value, Value, Value]:
        """Translate an LDS offset. An access that reaches beyond the workgroup's LDS faults; if the environment's
        ``lds_drops`` is set, the whole access is dropped instead.
        """
        end = address + r.value("%size")
        legal = end.ule(r.state("lds_size").zext(I64)) & address.ule(0xFFFFFFFF)
        drops = r.env("lds_drops").ne(0)
        kind = (legal | drops).select(r.const(0, I64), int(FaultKind.LDS_RANGE))
        return r.state("lds_pointer") + address, (drops & ~legal).select(r.const(0, I64), 4), kind

    def _gds(self, r: Routine, address: Value, lane: Value) -> tuple[Value, Value, Value]:
        """Translate an offset in the global data share. %a is M0, with base and size in bytes. Accesses beyond the size
        read 0 and write nothing.
        """
        base, limit = r.value("%a").lshr(16) & 0xFFFF, r.value("%a") & 0xFFFF
        end = address + r.value("%size")
        legal = address.ule(0xFFFFFFFF) & end.ule(limit) & (base + end).ule(r.env("gds_size"))
        pointer = r.env("gds_pointer") + legal.select(base + address, 0)
        return pointer, legal.select(r.const(4, I64), 0), r.const(0, I64)

    def _in_scratch(self, r: Routine, first: Value, last: Value) -> Value:
        """Whether the physical addresses [first, last] are in the wave's own area."""
        base, size = r.state("scratch_base"), r.state("scratch_size")
        return base.ule(first) & (last - base).ult(size) & first.ule(last)

    def _interleaved(self, r: Routine, base: Value, offset: Value, lane: Value) -> tuple[Value, Value, Value]:
        """Private memory at byte ``offset``: dword n of lane L is at base + (n * wave size + L) * 4."""
        wave = self.wave_size

        def physical(at: Value) -> Value:
            return base + at.lshr(2) * (4 * wave) + lane.shl(2) + (at & 3)

        size = r.value("%size")
        first, last = physical(offset), physical(offset + size - 1)
        mine = self._in_scratch(r, first, last) & offset.ule(0xFFFFFFFF)
        pointer, kind = self._page(r, mine.select(first, r.state("scratch_base")), r.const(1, I64))
        kind = mine.select(kind, int(FaultKind.SCRATCH_RANGE))
        return pointer, r.const(4 * wave, I64), kind

    def _scratch(self, r: Routine, address: Value, lane: Value) -> tuple[Value, Value, Value]:
        return self._interleaved(r, scratch_origin(r), address, lane)

    def _flat(self, r: Routine, address: Value, lane: Value) -> tuple[Value, Value, Value]:
        """Translate a generic address; %a is the scratch base. Apertures are 4 GiB long."""
        high = address.lshr(32)
        low = address & 0xFFFFFFFF
        shared = high.eq(r.env("shared_aperture").lshr(32))
        private = high.eq(r.env("private_aperture").lshr(32))
        g, gs, gk = self._global(r, address, lane)
        l, ls, lk = self._lds(r, low, lane)
        p, ps, pk = self._interleaved(r, scratch_origin(r), low, lane)
        return (
            shared.select(l, private.select(p, g)),
            shared.select(ls, private.select(ps, gs)),
            shared.select(lk, private.select(pk, gk)),
        )

    # -- transfers --------------------

    def _access(self, space: str, access: str, move: str) -> Callable[[Routine], None]:
        need = 1 if access == "load" else 2

        def body(r: Routine) -> None:
            if space != "gds":
                vector_access.attempt(r, space, access)
            status = r.new(
                I32, True,
                f"call i32 @translate_{space}(ptr %state, ptr %env, i64 %mask, i64 %size, i64 {need}, i64 %a, i64 %b)",
            )
            ok, bad = r.fresh("ok")[1:], r.fresh("bad")[1:]
            r.branch_if(status.eq(0), ok, bad)
            r.mark(ok)
            r.lines.append(f"call i32 @{move}(ptr %env, i64 %mask, i64 %size)")
            r.lines.append("ret i32 0")
            r.mark(bad)
            r.lines.append("ret i32 1")

        return body

    def _check(self, space: str) -> Callable[[Routine], None]:
        """Check whether a store would be legal, without storing (for instructions that store to two places)."""
        call = (
            f"call i32 @translate_{space}(ptr %state, ptr %env, i64 %mask, i64 %size, i64 2, i64 %a, i64 %b)"
        )
        return lambda r: r.lines.append(f"ret i32 {r.new(I32, True, call).ref}")

    def _each(self, r: Routine, whole: Callable[[Value, Value, Value, Value], None],
              part: Callable[[Value, Value, Value], None], dropped: Callable[[Value], None]) -> None:
        """Visit lanes: ``whole(lane, dword, pointer, stride)`` per dword if aligned or linear, ``part`` per byte
        otherwise."""
        size = r.value("%size")

        def visit(lane: Value) -> None:
            pointer = r.load(r.slot(layout.ENV_POINTER, lane, 8), I64)
            stride = r.load(r.slot(layout.ENV_KIND, lane, 8), I64)
            live = stride.ne(0)
            aligned = (size & 3).eq(0) & (stride.eq(4) | (pointer & 3).eq(0))

            def dwords() -> None:
                r.for_range(size.lshr(2), lambda n: whole(lane, n, pointer + n * stride, stride))

            def bytes_() -> None:
                def one(n: Value) -> None:
                    at = (pointer & 3) + n
                    jump = stride.eq(4).select(pointer + n, (pointer & ~3) + at.lshr(2) * stride + (at & 3))
                    part(lane, n, jump)

                r.for_range(size, one)

            r.when(~live, lambda: dropped(lane))
            r.when(live & aligned, dwords)
            r.when(live & ~aligned, bytes_)

        r.for_lanes(r.value("%mask"), visit)
        r.lines.append("ret i32 0")

    def _byte(self, r: Routine, lane: Value, n: Value) -> str:
        """The position of byte ``n`` of the lane's data in the transfer buffer."""
        return r.gep("%env", lane.shl(2) + n.lshr(2).shl(8) + (n & 3) + layout.ENV_DATA)

    @staticmethod
    def clear_data(r: Routine, lane: Value) -> None:
        """Clear the lane's dwords in the transfer buffer."""
        r.for_range((r.value("%size") + 3).lshr(2), lambda n: r.store(r.data(n, lane), r.const(0, I32)))

    def _gather(self, r: Routine) -> None:
        def part(lane: Value, n: Value, pointer: Value) -> None:
            r.when(n.urem(4).eq(0), lambda: r.store(r.data(n.lshr(2), lane), r.const(0, I32)))
            r.store(self._byte(r, lane, n), r.load(r.pointer(pointer), I8))

        def whole(lane: Value, n: Value, pointer: Value, stride: Value) -> None:
            r.store(r.data(n, lane), r.load(r.pointer(pointer), I32))

        self._each(r, whole, part, lambda lane: self.clear_data(r, lane))

    def _scatter(self, r: Routine) -> None:
        def part(lane: Value, n: Value, pointer: Value) -> None:
            r.store(r.pointer(pointer), r.load(self._byte(r, lane, n), I8))

        def whole(lane: Value, n: Value, pointer: Value, stride: Value) -> None:
            r.store(r.pointer(pointer), r.load(r.data(n, lane), I32))

        self._each(r, whole, part, lambda lane: None)

    def _scalar_load(self, r: Routine) -> None:
        """Load %size bytes at ENV_ADDRESS[0] into lane 0 of the transfer buffer. For a buffer load (%b = 1), %a is the
        number of bytes in range, and it reads 0 beyond %a bytes from the address.
        """
        r.set_env("fault_lanes", 0)
        r.set_env("fault_kind", 0)
        r.lines.append("%need = add i64 1, 0")
        address = r.load(r.gep("%env", layout.ENV_ADDRESS), I64)
        zero = r.const(0, I64)
        limit = r.value("%b").ne(0).select(r.value("%a").umin(r.value("%size")), r.value("%size"))
        r.for_range((r.value("%size") + 3).lshr(2), lambda n: r.store(r.data(n, zero), r.const(0, I32)))
        pointer, kind = self._page(r, address, limit)
        wanted = limit.ne(0)
        bad = wanted & kind.ne(0)

        def record() -> None:
            r.set_env("fault_kind", kind.trunc(I32))
            r.set_env("fault_access", int(Access.LOAD))
            r.set_env("fault_size", r.value("%size").trunc(I32))
            r.set_env("fault_space", int(Space.SCALAR))

        r.when(bad, record)
        count = bad.select(r.const(0, I64), limit.lshr(2))
        r.for_range(count, lambda n: r.store(r.data(n, zero), r.load(r.pointer(pointer + n.shl(2)), I32)))

        def byte(n: Value) -> None:
            at = (limit & ~3) + n
            r.store(self._byte(r, zero, at), r.load(r.pointer(pointer + at), I8))

        r.for_range(bad.select(r.const(0, I64), limit & 3), byte)
        r.lines.append(f"ret i32 {bad.zext(I32).ref}")

    # -- atomics --------------------

    def _align(self, r: Routine, size: int, space: str) -> None:
        """Check the alignment of an atomic's addresses, after their translation; the routine returns 1 if one is not
        aligned.
        """

        def check(lane: Value) -> None:
            pointer = r.load(r.slot(layout.ENV_POINTER, lane, 8), I64)
            stride = r.load(r.slot(layout.ENV_KIND, lane, 8), I64)
            # In memory interleaved by lane, a lane's 8 bytes are two dwords: dword alignment is sufficient.
            needed = stride.eq(4).select(r.const(size - 1, I64), 3)
            wrong = stride.ne(0) & (pointer & needed).ne(0)
            r.when(wrong, lambda: self._note(r, lane, r.const(int(FaultKind.MISALIGNED), I64)))

        r.for_lanes(r.value("%mask"), check)
        faulted = r.env("fault_lanes").ne(0)

        def record() -> None:
            r.set_env("fault_access", int(Access.ATOMIC))
            r.set_env("fault_size", size)
            r.set_env("fault_space", int(_SPACE[space]))
            if space == "global":
                self._scalar(r)

        r.when(faulted, record)
        r.branch_if(faulted, "bad", "aligned")
        r.mark("aligned")

    def _atomic(self, atomic: Atomic, space: str) -> Callable[[Routine], None]:
        """The two highest bits of %b say how subnormals are treated (`FLUSH_INPUTS`, `FLUSH_RESULTS`)."""

        def body(r: Routine) -> None:
            size = atomic.type.bits // 8
            b = r.value("%b")
            flush = Flush((b & FLUSH_INPUTS).ne(0), (b & FLUSH_RESULTS).ne(0))
            call = f"call i32 @translate_{space}(ptr %state, ptr %env, i64 %mask, i64 {size}, i64 3, i64 %a, i64 %b)"
            r.branch_if(r.new(I32, True, call).eq(0), "go", "bad")
            r.mark("bad")
            r.lines.append("ret i32 1")
            r.mark("go")
            self._align(r, size, space)

            def words(lane: Value, first: int) -> Value:
                low = r.load(r.data(first, lane), I32)
                if size == 4:
                    return low
                return low.zext(I64) | r.load(r.data(first + 1, lane), I32).zext(I64).shl(32)

            def lane(lane: Value) -> None:
                pointer = r.load(r.slot(layout.ENV_POINTER, lane, 8), I64)
                stride = r.load(r.slot(layout.ENV_KIND, lane, 8), I64)

                def dropped() -> None:
                    for n in range(size // 4):
                        r.store(r.data(n, lane), r.const(0, I32))

                def one() -> None:
                    at = r.pointer(pointer)
                    high = r.pointer(pointer + stride)
                    old = r.load(at, I32)
                    if size == 8:
                        old = old.zext(I64) | r.load(high, I32).zext(I64).shl(32)
                    second = words(lane, size // 4) if atomic.operands == 2 else None
                    new = atomic.compute(old, words(lane, 0), second, flush)
                    r.store(at, new.trunc(I32))
                    r.store(r.data(0, lane), old.trunc(I32))
                    if size == 8:
                        r.store(high, new.lshr(32).trunc(I32))
                        r.store(r.data(1, lane), old.lshr(32).trunc(I32))

                r.when(stride.eq(0), dropped)
                r.when(stride.ne(0), one)

            r.for_lanes(r.value("%mask"), lane)
            r.lines.append("ret i32 0")

        return body

    # -- lanes --------------------

    def _all(self, r: Routine) -> Value:
        return r.const((1 << self.wave_size) - 1, I64)

    def _bpermute(self, r: Routine) -> None:
        """data[2][L] = data[1][S] and data[3][L] = whether S is in the mask, where S is lane data[0][L] / 4 of L's
        group.
        """
        inside = r.value("%group").umin(self.wave_size) - 1

        def lane(lane: Value) -> None:
            source = r.load(r.data(0, lane), I32).zext(I64).lshr(2) & inside
            source = source | lane & ~inside
            r.store(r.data(2, lane), r.load(r.data(1, source), I32))
            r.store(r.data(3, lane), (r.value("%mask").lshr(source) & 1).trunc(I32))

        r.for_lanes(self._all(r), lane)
        r.lines.append("ret i32 0")

    def _permute(self, r: Routine) -> None:
        """data[2][D] = data[1][L] for active lanes L in order, where D is lane data[0][L] / 4 of L's group; 0 for other
        lanes D.
        """
        inside = r.value("%group").umin(self.wave_size) - 1
        r.for_lanes(self._all(r), lambda lane: r.store(r.data(2, lane), r.const(0, I32)))

        def lane(lane: Value) -> None:
            target = r.load(r.data(0, lane), I32).zext(I64).lshr(2) & inside
            r.store(r.data(2, target | lane & ~inside), r.load(r.data(1, lane), I32))

        r.for_lanes(r.value("%mask"), lane)
        r.lines.append("ret i32 0")

    # -- the dispatch loop --------------------

    def _mode_key(self, r: Routine) -> Value:
        """The MODE key that selects the blocks for the wave's current mode, as an I32."""
        mode = r.state("mode")
        key = mode & 0x3FF | mode.lshr(13) & 0x400
        if self.indexed:
            m0 = r.load(r.gep("%state", layout.sgpr_offset(124)), I32) & 0xF000
            chosen = (mode & 1 << layout.GPR_IDX_EN).ne(0) & m0.ne(0)
            skips = (mode & 1 << layout.VSKIP).ne(0)
            key = key | skips.select(r.const(1 << 11, I32), chosen.select(m0 | 1 << 11, 0))
        if self.banked:
            key = key | (mode.lshr(layout.VGPR_MSB) & 0xFF).shl(layout.BANKS)
        return key

    def _run(self, ranged: bool, traced: bool = False) -> Callable[[Routine], None]:
        """Call blocks until one returns a status. %tables: host address of the page directories, by MODE key.

        ``traced``: before each block, record the wave's PC and EXEC in the row of its instruction count.
        """

        def body(r: Routine) -> None:
            r.go("loop")
            r.mark("loop")
            key = self._mode_key(r).zext(I64)
            directory = r.load(r.gep("%tables", key.shl(3)), I64)
            offset = r.state("pc") - r.env("window_base")
            good = offset.ult(WINDOW_SIZE) & (offset & 3).eq(0)
            r.branch_if(good, "fetch", "wild")
            r.mark("wild")
            r.lines.append(f"ret i32 {int(Status.FETCH)}")
            r.mark("miss")
            r.lines.append(f"ret i32 {int(Status.MISS)}")
            r.mark("fetch")
            r.branch_if(directory.eq(0), "miss", "page")
            r.mark("page")
            page = r.load(r.gep(r.pointer(directory), offset.lshr(PAGE_SHIFT).shl(3)), I64)
            r.branch_if(page.eq(0), "miss", "entry2")
            r.mark("entry2")
            function = r.load(r.gep(r.pointer(page), (offset & PAGE_SIZE - 1).shl(1)), I64)
            r.branch_if(function.eq(0), "miss", "call")
            r.mark("call")
            if traced:
                row = r.gep(r.pointer(r.env("trace")), (r.state("instructions") - r.env("trace_first")).shl(4))
                r.store(row, r.state("pc"))
                r.store(r.gep(row, 8), r.load(r.gep("%state", layout.sgpr_offset(layout.EXEC_LO)), I64))
            status = r.new(I32, True, f"call i32 {r.pointer(function)}(ptr %state, ptr %env)")
            r.branch_if(status.eq(0), "next", "leave")
            r.mark("leave")
            r.lines.append(f"ret i32 {status.ref}")
            r.mark("next")
            if ranged:
                inside = (r.state("pc") - r.env("range_lo")).ult(r.env("range_size"))
                r.branch_if(inside, "loop", "left")
                r.mark("left")
                r.lines.append(f"ret i32 {int(Status.RANGE)}")
            else:
                r.go("loop")

        return body


def _stub(status: Status) -> Callable[[Routine], None]:
    return lambda r: r.lines.append(f"ret i32 {int(status)}")


__all__ = ["Routine", "Runtime"]
