"""The fast path of memory routines: all lanes at once, where that is possible.

``i32 quick_ACCESS_SPACE(state, env, mask, size, a, bias)`` returns 1 if the access is done, or 0 if the routines that
handle single lanes (`rocdbg.sim.translator.runtime`) must do it: it faults, lanes access more than one allocation, or
its size is unusual. ``bias`` is subtracted from the addresses, ``a`` is the scratch base.

The bounds of the access, which are the lowest and the highest address, are checked once for all lanes. If the lanes'
dwords are consecutive, it suffices to check the first and the last lane. Dwords are moved by vector loads and stores,
or by gathers and scatters, which write in lane order.
"""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I1, I8, I16, I32, I64, Value
from rocdbg.sim.core.layout import PAGE_ENTRY_SIZE, PAGE_SHIFT, PAGE_SIZE, WINDOW_SIZE
from rocdbg.sim.translator.routine import Routine

PARAMETERS = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %a, i64 %bias"
FARTHEST = 0x7FFF_0000
"""Maximum distance between lanes in bytes: distances are used as signed 32-bit indices."""


class VectorRoutine(Routine):
    """Emits one routine over ``width`` lanes at a time."""

    def __init__(self, wave_size: int, width: int) -> None:
        super().__init__(wave_size)
        self.lanes = width
        self.chunks = range(wave_size // width)

    def vector(self, text: str) -> str:
        """A new value defined by the instruction ``text``."""
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return name

    def splat(self, value: Value) -> str:
        """A vector of one value; constants are written out."""
        scalar = value.type.name
        if self.constant(value) is not None:
            return "<" + ", ".join([f"{scalar} {value.ref}"] * self.lanes) + ">"
        kind = f"<{self.lanes} x {scalar}>"
        first = self.vector(f"insertelement {kind} poison, {scalar} {value.ref}, i32 0")
        return self.vector(
            f"shufflevector {kind} {first}, {kind} poison, <{self.lanes} x i32> zeroinitializer"
        )

    def steps(self, chunk: int, unit: int) -> str:
        """The i64 vector of ``unit`` times each lane's number."""
        first = chunk * self.lanes
        return "<" + ", ".join(f"i64 {(first + n) * unit}" for n in range(self.lanes)) + ">"

    def op(self, name: str, type: str, left: str, right: str) -> str:
        return self.vector(f"{name} <{self.lanes} x {type}> {left}, {right}")

    def active(self, chunk: int) -> str:
        """Which lanes of a chunk are in %mask."""
        bits = self.value("%mask").lshr(chunk * self.lanes)
        short = self.vector(f"trunc i64 {bits.ref} to i{self.lanes}")
        return self.vector(f"bitcast i{self.lanes} {short} to <{self.lanes} x i1>")

    def any(self, flags: list[str]) -> Value:
        """Whether any element of the <lanes x i1> vectors is set."""
        joined = flags[0]
        for flag in flags[1:]:
            joined = self.op("or", "i1", joined, flag)
        bits = self.vector(f"bitcast <{self.lanes} x i1> {joined} to i{self.lanes}")
        return Value(self, I1, self.vector(f"icmp ne i{self.lanes} {bits}, 0"), True)

    def reduce(self, operation: str, vectors: list[str]) -> Value:
        """``umin`` or ``umax`` of all elements of i64 vectors."""
        kind = f"<{self.lanes} x i64>"
        element_wise = f"llvm.{operation}.v{self.lanes}i64"
        across = f"llvm.vector.reduce.{operation}.v{self.lanes}i64"
        self.declare(element_wise, kind, [kind, kind])
        self.declare(across, "i64", [kind])
        joined = vectors[0]
        for vector in vectors[1:]:
            joined = self.vector(f"call {kind} @{element_wise}({kind} {joined}, {kind} {vector})")
        return self.new(I64, True, f"call i64 @{across}({kind} {joined})")

    def unless(self, bad: Value) -> None:
        """Give up (return 0) if ``bad``."""
        self.when(bad, lambda: self.leave(0))

    # -- moves --------------------

    def load_row(self, pointer: str, active: str) -> str:
        kind, flags = f"<{self.lanes} x i32>", f"<{self.lanes} x i1>"
        name = f"llvm.masked.load.v{self.lanes}i32.p0"
        self.declare(name, kind, ["ptr", "i32", flags, kind])
        return self.vector(
            f"call {kind} @{name}(ptr {pointer}, i32 1, {flags} {active}, {kind} zeroinitializer)"
        )

    def store_row(self, pointer: str, value: str, active: str) -> None:
        kind, flags = f"<{self.lanes} x i32>", f"<{self.lanes} x i1>"
        name = f"llvm.masked.store.v{self.lanes}i32.p0"
        self.declare(name, "void", [kind, "ptr", "i32", flags])
        self.lines.append(f"call void @{name}({kind} {value}, ptr {pointer}, i32 1, {flags} {active})")

    def _pointers(self, base: str, index: str) -> str:
        return self.vector(f"getelementptr i8, ptr {base}, <{self.lanes} x i32> {index}")

    def gather_row(self, base: str, index: str, active: str) -> str:
        kind, flags, pointers = f"<{self.lanes} x i32>", f"<{self.lanes} x i1>", f"<{self.lanes} x ptr>"
        name = f"llvm.masked.gather.v{self.lanes}i32.v{self.lanes}p0"
        self.declare(name, kind, [pointers, "i32", flags, kind])
        at = self._pointers(base, index)
        return self.vector(
            f"call {kind} @{name}({pointers} {at}, i32 1, {flags} {active}, {kind} zeroinitializer)"
        )

    def scatter_row(self, base: str, index: str, value: str, active: str) -> None:
        kind, flags, pointers = f"<{self.lanes} x i32>", f"<{self.lanes} x i1>", f"<{self.lanes} x ptr>"
        name = f"llvm.masked.scatter.v{self.lanes}i32.v{self.lanes}p0"
        self.declare(name, "void", [kind, pointers, "i32", flags])
        at = self._pointers(base, index)
        self.lines.append(f"call void @{name}({kind} {value}, {pointers} {at}, i32 1, {flags} {active})")

    def read_buffer(self, dword: int, chunk: int) -> str:
        """A chunk of one dword of the transfer buffer."""
        pointer = self.gep("%env", layout.ENV_DATA + dword * 256 + chunk * self.lanes * 4)
        return self.vector(f"load <{self.lanes} x i32>, ptr {pointer}, align 4")

    def write_buffer(self, dword: int, chunk: int, value: str) -> None:
        pointer = self.gep("%env", layout.ENV_DATA + dword * 256 + chunk * self.lanes * 4)
        self.lines.append(f"store <{self.lanes} x i32> {value}, ptr {pointer}, align 4")


Bounds = Callable[[VectorRoutine, Value, Value, int], Value]
"""Host address of the lowest simulated address: (routine, lowest, end of the access, page flags); gives up if illegal.
"""


def _global(r: VectorRoutine, least: Value, end: Value, need: int) -> Value:
    offset = least - r.env("window_base")
    r.unless(offset.uge(WINDOW_SIZE))
    entry = r.pointer(r.env("page_table") + offset.lshr(PAGE_SHIFT) * PAGE_ENTRY_SIZE)
    host, low, high, flags = (r.load(r.gep(entry, n * 8), I64) for n in range(4))
    within = offset & PAGE_SIZE - 1
    legal = low.ule(within) & (within + (end - least)).ule(high) & (flags & need).eq(need)
    r.unless(~legal)
    return host + within


def _lds(r: VectorRoutine, least: Value, end: Value, need: int) -> Value:
    r.unless(end.ugt(r.state("lds_size").zext(I64)) | least.ugt(end))
    return r.state("lds_pointer") + least


def _scratch(r: VectorRoutine, least: Value, end: Value, need: int) -> Value:
    base, size = r.state("scratch_base"), r.state("scratch_size")
    r.unless(least.ult(base) | (end - base).ugt(size) | least.ugt(end))
    return _global(r, least, end, need)


_BOUNDS: dict[str, Bounds] = {"global": _global, "lds": _lds, "scratch": _scratch}


def quick(space: str, access: str) -> Callable[[VectorRoutine], None]:
    """The body of ``quick_ACCESS_SPACE`` for global, lds or scratch."""
    need = 1 if access == "load" else 2
    move = _load if access == "load" else _store

    def body(r: VectorRoutine) -> None:
        mask, size = r.value("%mask"), r.value("%size")
        r.when(mask.eq(0), lambda: r.leave(1))
        r.unless(~((size & 3).eq(0) & size.ule(16) | size.ule(2)))
        scratch = space == "scratch"
        step = 4 * r.wave_size if scratch else 4
        active = [r.active(c) for c in r.chunks]
        first = mask.cttz()
        start = r.load(r.slot(layout.ENV_ADDRESS, first, 8), I64) - r.value("%bias")
        addresses = _addresses(r)
        if scratch:
            start = _physical(r, start, first)
            addresses = _interleave(r, addresses, active)
        if access == "load":  # loads whole dwords: for narrow elements, the bytes after them must exist
            reach = size.umax(4)
        else:
            reach = size
        tail = reach if not scratch else size.ule(4).select(reach, (size.lshr(2) - 1) * step + 4)

        # Neighbouring dwords: checking the first and the last lane suffices.
        origin = start - first.shl(2)
        lane0 = r.splat(origin)
        apart = []
        for c, address in zip(r.chunks, addresses, strict=True):
            expected = r.op("add", "i64", lane0, r.steps(c, 4))
            apart.append(r.op("and", "i1", active[c], r.op("icmp ne", "i64", address, expected)))
        row, spread = r.fresh("row")[1:], r.fresh("spread")[1:]
        # In scratch, the distance between rows equals that between a lane's dwords, so there may be any number of rows.
        ordered = ~r.any(apart) & ((size & 3).eq(0) if scratch else size.eq(4))
        r.branch_if(ordered, row, spread)
        r.mark(row)
        last = r.const(63, I64) - mask.ctlz()
        host = _BOUNDS[space](r, start, origin + last.shl(2) + tail, need)
        move(r, host - (start - origin), step, active, None)

        r.mark(spread)
        zero, ones = "zeroinitializer", r.splat(r.const(-1, I64))
        kind, flags = f"<{r.lanes} x i64>", f"<{r.lanes} x i1>"
        pairs = list(zip(active, addresses, strict=True))
        least = r.reduce(
            "umin", [r.vector(f"select {flags} {m}, {kind} {a}, {kind} {ones}") for m, a in pairs]
        )
        most = r.reduce(
            "umax", [r.vector(f"select {flags} {m}, {kind} {a}, {kind} {zero}") for m, a in pairs]
        )
        r.unless((most - least).ugt(FARTHEST) | most.ugt(1 << 62))
        host = _BOUNDS[space](r, least, most + tail, need)
        floor = r.splat(least)
        offsets = [r.op("sub", "i64", address, floor) for address in addresses]
        if access == "store":
            r.when(size.ult(4), lambda: _store_narrow(r, host - least, scratch))
            if not scratch:
                _check_overlap(r, offsets, active)
        index = [r.vector(f"trunc {kind} {offset} to <{r.lanes} x i32>") for offset in offsets]
        move(r, host, step, active, index)

    return body


def _addresses(r: VectorRoutine) -> list[str]:
    """The lanes' addresses minus the bias."""
    bias = r.splat(r.value("%bias"))
    found = []
    for c in r.chunks:
        pointer = r.gep("%env", layout.ENV_ADDRESS + c * r.lanes * 8)
        address = r.vector(f"load <{r.lanes} x i64>, ptr {pointer}, align 8")
        found.append(r.op("sub", "i64", address, bias))
    return found


def scratch_origin(r: Routine) -> Value:
    """Where a lane's private memory begins: %a, which programs may set to anything. Its two low bits are ignored: whole
    dwords are interleaved, so the offset alone determines which bytes of which dwords are accessed.
    """
    return r.value("%a") & ~3


def _physical(r: VectorRoutine, offset: Value, lane: Value) -> Value:
    """Address of byte ``offset`` of a lane's private memory."""
    return scratch_origin(r) + offset.lshr(2) * (4 * r.wave_size) + lane.shl(2) + (offset & 3)


def _interleave(r: VectorRoutine, offsets: list[str], active: list[str]) -> list[str]:
    """`_physical` for all lanes; gives up unless each access is within one dword, or consists of whole dwords."""
    size = r.value("%size")
    three, two = r.splat(r.const(3, I64)), r.splat(r.const(2, I64))
    # The highest offset in a dword at which an access of this size may begin.
    latest = r.splat(size.ult(4).select(r.const(4, I64) - size, 0))
    base, row = r.splat(scratch_origin(r)), r.splat(r.const((4 * r.wave_size).bit_length() - 1, I64))
    limit = r.splat(r.const(0xFFFF_FFFF, I64))
    bad, found = [], []
    for c, offset in zip(r.chunks, offsets, strict=True):
        byte = r.op("and", "i64", offset, three)
        wrong = r.op(
            "or", "i1", r.op("icmp ugt", "i64", byte, latest), r.op("icmp ugt", "i64", offset, limit)
        )
        bad.append(r.op("and", "i1", wrong, active[c]))
        dword = r.op("shl", "i64", r.op("lshr", "i64", offset, two), row)
        place = r.op("add", "i64", r.op("add", "i64", base, dword), r.steps(c, 4))
        found.append(r.op("add", "i64", place, byte))
    r.unless(r.any(bad))
    return found


def _check_overlap(r: VectorRoutine, offsets: list[str], active: list[str]) -> None:
    """Give up if lanes overlap without being equal, because stores of several dwords are performed dword by dword."""
    size = r.value("%size")
    rest = r.splat(size.ugt(4).select(size - 1, 0))
    wrong = []
    for offset, flags in zip(offsets, active, strict=True):
        off = r.op("icmp ne", "i64", r.op("and", "i64", offset, rest), "zeroinitializer")
        wrong.append(r.op("and", "i1", off, flags))
    r.unless(size.eq(12) | r.any(wrong))


def _load(r: VectorRoutine, host: Value, step: int, active: list[str], index: list[str] | None) -> None:
    """Load the lanes' data into the transfer buffer. ``index`` holds the distance of each lane's data from ``host``;
    None if the data of neighbouring lanes is adjacent.
    """
    size = r.value("%size")
    keep = size.eq(1).select(r.const(0xFF, I32), size.eq(2).select(r.const(0xFFFF, I32), r.const(-1, I32)))
    narrow = r.splat(keep)
    for dword in range(4):
        for c in r.chunks:
            if index is None:
                value = r.load_row(r.pointer(host + (dword * step + c * r.lanes * 4)), active[c])
            else:
                value = r.gather_row(r.pointer(host + dword * step), index[c], active[c])
            r.write_buffer(dword, c, r.op("and", "i32", value, narrow) if dword == 0 else value)
        _until(r, dword)


def _store(r: VectorRoutine, host: Value, step: int, active: list[str], index: list[str] | None) -> None:
    """Store from the transfer buffer; see `_load`."""
    for dword in range(4):
        for c in r.chunks:
            value = r.read_buffer(dword, c)
            if index is None:
                pointer = r.pointer(host + (dword * step + c * r.lanes * 4))
                r.store_row(pointer, value, active[c])
            else:
                r.scatter_row(r.pointer(host + dword * step), index[c], value, active[c])
        _until(r, dword)


def _store_narrow(r: VectorRoutine, distance: Value, scratch: bool) -> None:
    """Store one or two bytes per lane; ``distance`` is that from simulated to host addresses."""
    size = r.value("%size")

    def lane(lane: Value) -> None:
        address = r.load(r.slot(layout.ENV_ADDRESS, lane, 8), I64) - r.value("%bias")
        place = _physical(r, address, lane) if scratch else address
        at, data = r.pointer(place + distance), r.data(0, lane)
        r.store(at, r.load(data, I8))
        r.when(size.eq(2), lambda: r.store(at, r.load(data, I16)))

    r.for_lanes(r.value("%mask"), lane)
    r.leave(1)


def _until(r: VectorRoutine, dword: int) -> None:
    """Return after the last dword."""
    if dword == 3:
        r.lines.append("ret i32 1")
    else:
        r.when(r.value("%size").ule(4 * (dword + 1)), lambda: r.leave(1))


def routines(space: str, access: str) -> list[tuple[str, Callable[[VectorRoutine], None]]]:
    """Names and bodies of the quick routines that an access to ``space`` needs."""
    kinds = ("global", "lds", "scratch") if space == "flat" else (space,)
    return [(f"quick_{access}_{kind}", quick(kind, access)) for kind in kinds]


def attempt(r: Routine, space: str, access: str) -> None:
    """Try the quick routine at the start of an access; returns 0 from the caller if that succeeded. %a is the scratch
    base."""
    done = r.fresh("quick")[1:]
    slow = r.fresh("slow")[1:]

    def call(kind: str, bias: Value) -> str:
        name = r.fresh()
        arguments = f"ptr %state, ptr %env, i64 %mask, i64 %size, i64 %a, i64 {bias.ref}"
        r.lines.append(f"{name} = call i32 @quick_{access}_{kind}({arguments})")
        return name

    none = r.const(0, I64)
    if space != "flat":
        result = call(space, none)
        r.lines.append(f"{result}.ok = icmp ne i32 {result}, 0")
        r.lines.append(f"br i1 {result}.ok, label %{done}, label %{slow}")
    else:
        # Use the aperture of the first active lane; if another lane's differs, the quick routine gives up.
        first = (r.value("%mask").cttz()).umin(63)
        high = r.load(r.slot(layout.ENV_ADDRESS, first, 8), I64) & ~0xFFFF_FFFF
        for kind in ("lds", "scratch", "global"):
            base = {"lds": r.env("shared_aperture"), "scratch": r.env("private_aperture")}.get(kind, none)
            here, other = r.fresh("here")[1:], r.fresh("other")[1:]
            if kind != "global":
                r.branch_if(high.eq(base), here, other)
                r.mark(here)
            result = call(kind, base)
            r.lines.append(f"{result}.ok = icmp ne i32 {result}, 0")
            r.lines.append(f"br i1 {result}.ok, label %{done}, label %{slow}")
            if kind != "global":
                r.mark(other)
    r.mark(done)
    r.lines.append("ret i32 0")
    r.mark(slow)
