"""Native routines of buffer instructions: addresses through a resource (V#), range checks, format conversion.

A resource is four dwords in SGPRs. The rules below are those of the ISA documents ("Buffer Addressing", "Range
Checking"); where hardware was measured to differ (AMD's simulator rocjitsu cites gfx950, gfx1100 and gfx1201), the
measurements take precedence:

* The offset of a lane is the instruction's plus the VGPR's, modulo 2^32. SOFFSET is added to the address but not
swizzled. Addresses have 48 bits.
* Swizzling permutes elements (4 bytes; 4 or 16 from GFX11 on): element e of index i is at ``((i / n * stride) + e *
size) * n + i % n * size``, n the index stride. GFX9's resources have no element size.
* GFX9: no check with ADD_TID and without IDXEN; by records with IDXEN and a stride; otherwise by bytes, SOFFSET
included.
* GFX8 counts records where the resource is swizzled and has a stride, otherwise bytes from the resource's beginning,
including those of preceding records (Mesa's resources for GFX8 have sizes in bytes, regardless of the stride).
GFX6 to GFX8 have elements of 4, 8 or 16 bytes (2 is treated as 4).
* GFX10+: OOB_SELECT chooses: 0 record and offset within the stride, 1 record, 2 only that the buffer is not empty,
  3 bytes (or as 0 where swizzled), where the size is reduced by SOFFSET. GFX10 checks where an access begins, GFX11+
  where it ends.
* Loads and stores of several dwords are checked dword by dword; formats and atomics are all or nothing.
* A resource whose format is INVALID is unbound: reads give 0, writes are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.sim.core import layout
from rocdbg.sim.core.buffer_request import (
    ADDR64,
    BEFORE_GFX9,
    CHANNELS,
    D16,
    FORMAT,
    FORMATTED,
    GFX8,
    IDXEN,
    MEASURED_GFX940,
    RULES,
    TYPED,
)
from rocdbg.sim.core.builder import I8, I32, I64, Value
from rocdbg.sim.core.layout import FaultKind, PageFlags, Space
from rocdbg.sim.translator import vector_access
from rocdbg.sim.translator.format_conversion import (
    RunTimeFormat,
    format_table,
    from_memory,
    is_integer,
    to_memory,
    widen,
)

if TYPE_CHECKING:
    from rocdbg.sim.translator.runtime import Routine, Runtime

_PARAMETERS = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %need, i64 %a, i64 %b"
_UNLIMITED = 1 << 40
_OUTPUTS = 4
_IDENTITY = 4 | 5 << 3 | 6 << 6 | 7 << 9


class _Resource(Struct):
    """The properties of a resource, which are the same for all lanes; I64, or I1 for conditions."""

    origin: Value  # base + SOFFSET
    soffset: Value
    stride: Value
    records: Value
    element: Value  # log2 of the element size
    group: Value  # log2 of the index stride; 0 if linear
    idxen: Value
    by_record: Value  # whether the size counts records, not bytes, if there is a stride (up to GFX9)
    adds_lane: Value
    swizzled: Value
    scratch: Value
    bound: Value
    addr64: Value
    gfx8: Value
    gfx10: Value
    gfx11: Value
    mode: Value
    add_tid: Value
    word3: Value


def _resource(runtime: Runtime, r: Routine) -> _Resource:
    a = r.value("%a")
    at = r.gep("%state", a & 0xFFFF)
    w0, w1, w2, w3 = (r.load(r.gep(at, n * 4), I32).zext(I64) for n in range(4))
    rules = a.lshr(RULES) & 3
    gfx10, gfx11, gfx12 = rules.uge(1), rules.uge(2), rules.uge(3)
    idxen, formatted, typed, measured = (_bit(a, flag) for flag in (IDXEN, FORMATTED, TYPED, MEASURED_GFX940))
    base = w0 | (w1 & 0xFFFF).shl(32)
    add_tid = _bit(w3, 1 << 23)
    swizzle = w1.lshr(30) & 3
    by_bit = (swizzle & 2).ne(0) & (~measured | add_tid)
    addr64 = _bit(a, ADDR64)
    swizzled = gfx11.select(swizzle.ne(0) & (idxen | add_tid), by_bit) & ~addr64
    adds_lane = add_tid & gfx11.select(~idxen, ~measured | swizzled | ~idxen)
    plain = w1.lshr(16) & 0x3FFF
    extended = plain | (w3.lshr(15) & 15).shl(14)
    scale = w3.lshr(18) & 3
    factor = scale.eq(0).select(r.const(0, I64), scale.eq(3).select(r.const(5, I64), scale + 1))
    before9, gfx8 = _bit(a, BEFORE_GFX9), _bit(a, GFX8)
    longer = ~gfx10 & adds_lane & ~formatted & (~before9 | gfx8)
    stride = gfx12.select(plain.shl(factor), longer.select(extended, plain))
    number = gfx10.select(w3.lshr(12) & gfx12.select(r.const(0x3F, I64), 0x7F), w3.lshr(15) & 15)
    bound = number.ne(0) | add_tid & ~typed
    soffset = r.value("%b") & 0xFFFFFFFF
    origin = base + soffset
    # Private memory is accessed through a swizzled resource for all of a dispatch's scratch. A lane must stay in its
    # wave's part.
    flags = _page_flags(r, base)
    own = (base - r.state("scratch_base")).ult(r.state("scratch_size"))
    scratch = swizzled & adds_lane & (own | (flags & int(PageFlags.SCRATCH)).ne(0))
    return _Resource(
        origin,
        soffset,
        stride,
        w2,
        before9.select((w3.lshr(19) & 3).umax(1) + 1, (gfx11 & swizzle.eq(3)).select(r.const(4, I64), 2)),
        swizzled.select((w3.lshr(21) & 3) + 3, 0),
        idxen,
        gfx8.select(swizzled, idxen),
        adds_lane,
        swizzled,
        scratch,
        bound,
        addr64,
        gfx8,
        gfx10,
        gfx11,
        w3.lshr(28) & 3,
        add_tid,
        w3,
    )


def _page_flags(r: Routine, address: Value) -> Value:
    """Flags of the page that contains an address, I64."""
    offset = address - r.env("window_base")
    index = offset.ult(layout.WINDOW_SIZE).select(offset.lshr(layout.PAGE_SHIFT), 0)
    entry = r.pointer(r.env("page_table") + index * layout.PAGE_ENTRY_SIZE)
    return r.load(r.gep(entry, 24), I64)


def _bit(value: Value, flag: int) -> Value:
    return (value & flag).ne(0)


class _Place(Struct):
    """For one lane: the simulated address of element 0 of its index, its offset, and the number of bytes in range."""

    origin: Value
    offset: Value
    live: Value


def _relative(s: _Resource, offset: Value) -> Value:
    """Distance of byte ``offset`` of an index from the index's element 0; in a linear buffer, the offset itself."""
    high = offset.lshr(s.element).shl(s.element)
    return high.shl(s.group) + (offset - high)


def _offset(r: Routine, s: _Resource, lane: Value) -> Value:
    """A lane's offset within its index, I64."""
    return s.addr64.select(r.const(0, I64), r.load(r.slot(layout.ENV_ADDRESS, lane, 8), I64) & 0xFFFFFFFF)


def _place(r: Routine, s: _Resource, lane: Value, size: Value, split: bool) -> _Place:
    address = r.load(r.slot(layout.ENV_ADDRESS, lane, 8), I64)
    offset = _offset(r, s, lane)
    given = address.lshr(32)
    index = given + s.adds_lane.select(lane, 0)
    high = index.lshr(s.group)
    low = index - high.shl(s.group)
    inside = (high * s.stride).shl(s.group) + s.swizzled.select(low.shl(s.element), 0)
    origin = s.origin + s.addr64.select(address, inside)
    # Up to GFX9: the lane does not count when records are checked.
    by_record9 = s.by_record & s.stride.ne(0)
    record9 = given.ult(s.records).select(r.const(_UNLIMITED, I64), 0)
    bytes9 = s.records.usub_sat(offset + s.soffset + s.gfx8.select(index * s.stride, 0))
    range9 = (s.add_tid & ~s.idxen).select(r.const(_UNLIMITED, I64), by_record9.select(record9, bytes9))
    # GFX10+.
    records = s.mode.eq(3).select(s.records.usub_sat(s.soffset), s.records)
    in_record = index.ult(records)
    in_stride = in_record.select(s.stride.usub_sat(offset), 0)
    raw10 = ~s.gfx11 & s.stride.eq(0)  # GFX10 treats such a resource as a raw one
    in_stride = raw10.select(records.usub_sat(offset), in_stride)
    element_step = r.const(4, I64).shl(s.group)
    begin = origin - s.origin + _relative(s, offset)
    # On GFX10 in mode 3, if swizzled, the swizzled address of each dword is compared.
    spread = (records.usub_sat(begin) + element_step - 1).lshr(s.group + 2).shl(2)
    whole = records.usub_sat(offset)
    three = s.swizzled.select(s.gfx11.select(s.stride.ne(0).select(in_stride, whole), spread), whole)
    unchecked = r.const(_UNLIMITED, I64)
    any_record = s.records.ne(0).select(unchecked, 0)
    chosen = s.mode.eq(0).select(
        in_stride, s.mode.eq(1).select(in_record.select(unchecked, 0), s.mode.eq(2).select(any_record, three))
    )
    chosen = s.gfx11.select(chosen, (chosen + 3) & ~3)
    left = s.bound.select(s.gfx10.select(chosen, s.addr64.select(unchecked, range9)), 0)
    enough = size.ule(left)
    live = enough.select(size, 0)
    if split:
        live = (~enough & size.ugt(4)).select(left & ~3, live)
    return _Place(origin, offset, live)


def spans(
    runtime: Runtime, r: Routine, split: bool
) -> Callable[[Value], tuple[Value, Callable[[Value], Value]]]:
    """For routines that only observe an access: return a function that gives, for a lane, the number of bytes in range
    and the address of the n-th byte. ``split`` says whether dwords are checked one by one.
    """
    runtime.declarations.add(format_table())
    s = _resource(runtime, r)
    formatted = _bit(r.value("%a"), FORMATTED)
    size = formatted.select(_format(r, s).size, r.value("%size"))

    def span(lane: Value) -> tuple[Value, Callable[[Value], Value]]:
        place = _place(r, s, lane, size, False)
        live = place.live
        if split:
            live = formatted.select(live, _place(r, s, lane, size, True).live)
        return live, lambda n: _canonical(place.origin + _relative(s, place.offset + n))

    return span


class BufferRoutines:
    """Builds the routines of the part ``buffer``, and the address translation of buffer atomics."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    # -- atomics: pointers and strides for the common routine --------------------

    def translate(self, r: Routine, split: bool = False) -> None:
        """Body of ``translate_buffer``: a pointer and the distance between dwords per lane, 0 where dropped.

        ``split``: dwords are checked one by one, and the address of the first one is reported.
        """
        s = _resource(self.runtime, r)
        size = r.value("%size")
        step = r.const(4, I64).shl(s.element.eq(2).select(s.group, 0))

        def lane(lane: Value) -> None:
            place = _place(r, s, lane, size, split)
            first = _canonical(place.origin + _relative(s, place.offset))
            last = _canonical(place.origin + _relative(s, place.offset + (place.live if split else size) - 1))
            mine = self.runtime._in_scratch(r, first, last)
            length = s.scratch.select(r.const(1, I64), place.live)
            at = s.scratch.select(mine.select(first, r.state("scratch_base")), first)
            pointer, kind = self.runtime._page(r, at, length)
            # The second dword of a swizzled element is not next to the first, but must be in the same allocation.
            far = s.swizzled & ~s.scratch & size.ugt(4)
            beyond, wrong = self.runtime._page(
                r, far.select(first + step, at), far.select(r.const(4, I64), length)
            )
            apart = far & (wrong.ne(0) | beyond.ne(pointer + step))
            kind = apart.select(r.const(int(FaultKind.UNMAPPED), I64), kind)
            kind = s.scratch.select(mine.select(kind, int(FaultKind.SCRATCH_RANGE)), kind)
            live = place.live.ne(0)
            r.store(r.slot(layout.ENV_POINTER, lane, 8), pointer)
            r.store(r.slot(layout.ENV_KIND, lane, 8), live.select(step, 0))
            kind = live.select(kind, 0)
            address = s.scratch.select(_private(r, s, first), first)
            r.when(kind.ne(0), lambda: self.runtime.fault_at(r, lane, kind, address))

        self._checked(r, lane)

    def _checked(self, r: Routine, lane: Callable[[Value], None]) -> None:
        """Run ``lane`` for all lanes and return whether one faulted."""
        r.set_env("fault_lanes", 0)
        r.set_env("fault_kind", 0)
        r.for_lanes(r.value("%mask"), lane)
        faulted = r.env("fault_lanes").ne(0)
        r.when(faulted, lambda: self.runtime._record(r, Space.BUFFER))
        r.lines.append(f"ret i32 {faulted.zext(I32).ref}")

    # -- loads and stores --------------------

    def locate(self, r: Routine, split: bool) -> None:
        """Body of ``locate_buffer`` and ``locate_element``: sets ENV_POINTER to the host address of element 0 of the
        lane's index (the simulated one if swizzled and not in scratch) and ENV_KIND to the number of bytes in range."""
        s = _resource(self.runtime, r)
        size = r.value("%size")

        def lane(lane: Value) -> None:
            place = _place(r, s, lane, size, split)
            r.store(r.slot(layout.ENV_KIND, lane, 8), place.live)

            def check() -> None:
                plain, lost = r.fresh("linear")[1:], r.fresh("swizzled")[1:]
                private, other, after = (r.fresh(n)[1:] for n in ("private", "scattered", "found"))
                r.branch_if(s.swizzled, lost, plain)
                r.mark(plain)
                address = _canonical(place.origin + place.offset)
                pointer, kind = self.runtime._page(r, address, place.live)
                r.store(r.slot(layout.ENV_POINTER, lane, 8), pointer - place.offset)
                r.when(kind.ne(0), lambda: self.runtime.fault_at(r, lane, kind, address))
                r.go(after)
                r.mark(lost)
                r.branch_if(s.scratch, private, other)
                r.mark(private)
                first = _canonical(place.origin + _relative(s, place.offset))
                last = _canonical(place.origin + _relative(s, place.offset + place.live - 1))
                mine = self.runtime._in_scratch(r, first, last)
                area, legal = self.runtime._page(r, r.state("scratch_base"), r.const(1, I64))
                delta = area - r.state("scratch_base")
                r.store(r.slot(layout.ENV_POINTER, lane, 8), _canonical(place.origin) + delta)
                beyond = mine.select(legal, int(FaultKind.SCRATCH_RANGE))
                r.when(beyond.ne(0), lambda: self.runtime.fault_at(r, lane, beyond, _private(r, s, first)))
                r.go(after)
                r.mark(other)
                r.store(r.slot(layout.ENV_POINTER, lane, 8), place.origin)

                def byte(n: Value) -> None:
                    address = _canonical(place.origin + _relative(s, place.offset + n))
                    _, kind = self.runtime._page(r, address, r.const(1, I64))
                    known = (r.env("fault_lanes").lshr(lane) & 1).ne(0)
                    r.when(kind.ne(0) & ~known, lambda: self.runtime.fault_at(r, lane, kind, address))

                r.for_range(place.live, byte)
                r.go(after)
                r.mark(after)

            r.when(place.live.ne(0), check)

        self._checked(r, lane)

    def _pieces(
        self, r: Routine, dword: Callable[[Value, Value, str], None], byte: Callable[[Value, Value, str], None],
        clear: Callable[[Value], None],
    ) -> None:
        """Visit the bytes in range after `locate`: ``dword(lane, number, pointer)`` if the offset is aligned, otherwise
        ``byte(lane, number, pointer)``. ``clear(lane)`` comes first."""
        s = _resource(self.runtime, r)

        def visit(lane: Value) -> None:
            clear(lane)
            live = r.load(r.slot(layout.ENV_KIND, lane, 8), I64)
            start = r.load(r.slot(layout.ENV_POINTER, lane, 8), I64)
            offset = _offset(r, s, lane)
            direct = ~s.swizzled | s.scratch
            dwords = (live & 3).eq(0) & (~s.swizzled | (offset & 3).eq(0))

            def whole() -> None:
                r.for_range(
                    live.lshr(2),
                    lambda n: dword(lane, n, r.pointer(start + _relative(s, offset + n.shl(2)))),
                )

            def single() -> None:
                r.for_range(live, lambda n: byte(lane, n, r.pointer(start + _relative(s, offset + n))))

            def scattered() -> None:
                def one(n: Value) -> None:
                    address = _canonical(start + _relative(s, offset + n))
                    byte(lane, n, r.pointer(self.runtime._page(r, address, r.const(1, I64))[0]))

                r.for_range(live, one)

            r.when(direct & dwords, whole)
            r.when(direct & ~dwords, single)
            r.when(~direct, scattered)

        r.for_lanes(r.value("%mask"), visit)
        r.lines.append("ret i32 0")

    def gather(self, r: Routine) -> None:
        """Body of ``gather_buffer``: bytes out of range read 0."""
        self._pieces(
            r,
            lambda lane, n, p: r.store(r.data(n, lane), r.load(p, I32)),
            lambda lane, n, p: r.store(self.runtime._byte(r, lane, n), r.load(p, I8)),
            lambda lane: self.runtime.clear_data(r, lane),
        )

    def scatter(self, r: Routine) -> None:
        """Body of ``scatter_buffer``."""
        self._pieces(
            r,
            lambda lane, n, p: r.store(p, r.load(r.data(n, lane), I32)),
            lambda lane, n, p: r.store(p, r.load(self.runtime._byte(r, lane, n), I8)),
            lambda lane: None,
        )

    def _quick(self, r: Routine, access: str) -> None:
        """Return 0 if the access could be done for all lanes at once (`vector_access`): in the wave's own scratch, or
        in a linear buffer without indices and entirely in range."""
        s = _resource(self.runtime, r)
        size = r.value("%size")
        plain = s.bound & ~s.idxen

        def attempt(kind: str, base: Value, bias: Value) -> None:
            arguments = f"i64 %mask, i64 %size, i64 {base.ref}, i64 {bias.ref}"
            done = r.new(I32, True, f"call i32 @quick_{access}_{kind}(ptr %state, ptr %env, {arguments})")
            r.when(done.ne(0), lambda: r.leave(0))

        zero = r.const(0, I64)
        whole = s.group.eq(self.runtime.wave_size.bit_length() - 1) & s.element.eq(2)
        never = s.mode.eq(2) & s.records.ne(0)
        unchecked = s.gfx10.select(never, s.add_tid)
        dwords = (s.origin & 3).eq(0)  # the quick routine requires it
        r.when(
            plain & s.scratch & whole & unchecked & dwords,
            lambda: attempt("scratch", _canonical(s.origin), zero),
        )

        def linear() -> None:
            greatest = r.local()
            r.store(greatest, zero)

            def lane(lane: Value) -> None:
                offset = r.load(r.slot(layout.ENV_ADDRESS, lane, 8), I64)
                r.store(greatest, r.load(greatest, I64).umax(offset))

            r.for_lanes(r.value("%mask"), lane)
            end = r.load(greatest, I64) + size
            raw = s.gfx10.select(
                never | s.mode.eq(3) & end.ule(s.records.usub_sat(s.soffset)),
                (end + s.soffset).ule(s.records),
            )
            r.when(raw, lambda: attempt("global", zero, zero - _canonical(s.origin)))

        r.when(plain & ~s.swizzled & ~s.adds_lane, linear)

    # -- formats --------------------

    def _call(self, r: Routine, name: str, size: Value, need: int) -> Value:
        return r.new(
            I32, True,
            f"call i32 @{name}(ptr %state, ptr %env, i64 %mask, i64 {size.ref}, i64 {need}, i64 %a, i64 %b)",
        )

    def _then(self, r: Routine, status: Value) -> None:
        """Return 1 if ``status`` says that a lane faulted."""
        ok, bad = r.fresh("ok")[1:], r.fresh("bad")[1:]
        r.branch_if(status.eq(0), ok, bad)
        r.mark(bad)
        r.lines.append("ret i32 1")
        r.mark(ok)

    def load_format(self, r: Routine) -> None:
        """Body of ``load_format_buffer``: dword n of the transfer buffer receives the value of register (with d16:
        half) n."""
        s = _resource(self.runtime, r)
        f = _format(r, s)
        self._then(r, self._call(r, "locate_element", f.size, 1))
        self._call(r, "gather_buffer", r.const(16, I64), 1)
        integer = is_integer(f.number)
        one = integer.select(r.const(1, I32), f.d16.select(r.const(0x3C00, I32), 0x3F800000))
        exists = f.size.ne(0)  # an unbound resource only gives zeros

        def convert(lane: Value) -> None:
            raw = [r.load(r.data(n, lane), I32) for n in range(4)]
            live = r.load(r.slot(layout.ENV_KIND, lane, 8), I64).ne(0)
            channels = [live.select(from_memory(r, f, raw, n), 0) for n in range(4)]
            for n in range(_OUTPUTS):
                select = f.selectors.lshr(3 * n) & 7
                value = select.eq(1).select(one, 0)
                for channel in range(4):
                    value = select.eq(4 + channel).select(channels[channel], value)
                r.store(r.data(n, lane), exists.select(value, 0))

        r.for_lanes(r.value("%mask"), convert)
        r.lines.append("ret i32 0")

    def store_format(self, r: Routine) -> None:
        """Body of ``store_format_buffer``: dword n of the transfer buffer is register (with d16: half) n.

        A channel in memory gets the component whose selector names it; X replaces components that the instruction does
        not provide.
        """
        s = _resource(self.runtime, r)
        f = _format(r, s)
        given = r.value("%a").lshr(CHANNELS) & 7
        self._then(r, self._call(r, "locate_element", f.size, 2))

        def convert(lane: Value) -> None:
            words = [r.load(r.data(n, lane), I32) for n in range(4)]
            words = [words[0]] + [given.ugt(n).select(words[n], words[0]) for n in range(1, 4)]
            words = [widen(r, f, word) for word in words]
            total = [r.const(0, I32) for _ in range(4)]
            for channel in range(4):
                value = r.const(0, I32)
                for n in reversed(range(_OUTPUTS)):
                    value = (f.selectors.lshr(3 * n) & 7).eq(4 + channel).select(words[n], value)
                bits = to_memory(r, f, value, channel)
                at = f.offset(channel)
                bits = bits.shl((at & 31).trunc(I32))
                for dword in range(4):
                    total[dword] = total[dword] | at.lshr(5).eq(dword).select(bits, 0)
            for dword in range(4):
                r.store(r.data(dword, lane), total[dword])

        r.for_lanes(r.value("%mask"), convert)
        r.lines.append(f"ret i32 {self._call(r, 'scatter_buffer', f.size, 2).ref}")

    def define(self) -> None:
        """Add all routines of the part."""
        runtime = self.runtime
        args = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %a, i64 %b"
        runtime.declarations.add(format_table())
        runtime.define("locate_buffer", _PARAMETERS, lambda r: self.locate(r, True), "internal")
        runtime.define("locate_element", _PARAMETERS, lambda r: self.locate(r, False), "internal")
        runtime.define("gather_buffer", _PARAMETERS, self.gather, "internal")
        runtime.define("scatter_buffer", _PARAMETERS, self.scatter, "internal")
        for access in ("load", "store"):
            for kind in ("scratch", "global"):
                for name, quick in vector_access.routines(kind, access):
                    routine = vector_access.VectorRoutine(runtime.wave_size, runtime.width)
                    runtime.emit(routine, name, vector_access.PARAMETERS, quick, "internal")
        for access, need, move in (("load", 1, "gather"), ("store", 2, "scatter")):

            def body(r: Routine, access: str = access, need: int = need, move: str = move) -> None:
                self._quick(r, access)
                self._then(r, self._call(r, "locate_buffer", r.value("%size"), need))
                self._call(r, f"{move}_buffer", r.value("%size"), need)
                r.lines.append("ret i32 0")

            runtime.define(f"{access}_buffer", args, body)
        # Watching and recording stores requires a pointer and a distance for each lane, as in other spaces.
        runtime.define("place_buffer", _PARAMETERS, lambda r: self.translate(r, True), "internal")
        runtime.define(
            "check_buffer", args,
            lambda r: r.lines.append(f"ret i32 {self._call(r, 'place_buffer', r.value('%size'), 1).ref}"),
        )
        runtime.define("load_format_buffer", args, self.load_format)
        runtime.define("store_format_buffer", args, self.store_format)


def _private(r: Routine, s: _Resource, address: Value) -> Value:
    """The offset in a lane's private memory of an address in (or near) its wave's scratch."""
    at = address - r.state("scratch_base")
    return (at.ashr(s.group + 2).shl(2) | at & 3) & 0xFFFFFFFF


def _canonical(address: Value) -> Value:
    """Sign-extend a 48-bit address: the upper bits become copies of bit 47."""
    return address.shl(16).ashr(16)


def _format(r: Routine, s: _Resource) -> RunTimeFormat:
    a = r.value("%a")
    own = s.gfx10.select(
        s.word3.lshr(12) & (a.lshr(RULES) & 3).eq(3).select(r.const(0x3F, I64), 0x7F),
        s.word3.lshr(15) & 15 | (s.word3.lshr(12) & 7).shl(4),
    )
    typed = _bit(a, TYPED)
    code = typed.select(a.lshr(FORMAT) & 0x7F, own)
    table = s.gfx11.select(r.const(2, I64), s.gfx10.zext(I64)).shl(7) + code
    row = r.load(r.gep("@formats", table.shl(3)), I64)
    selectors = typed.select(r.const(_IDENTITY, I64), s.word3 & 0xFFF)
    return RunTimeFormat(row, s.bound.select(row.lshr(48), 0), row.lshr(40) & 7, selectors, _bit(a, D16))


__all__ = [
    "CHANNELS", "D16", "FORMAT", "FORMATTED", "IDXEN", "MEASURED_GFX940", "RULES", "TYPED", "BufferRoutines",
]
