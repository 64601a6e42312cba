"""Routines that execute an entire LDS instruction, from address register to data registers, without the transfer
buffer.

``i32 lds_ACCESS_SIZE(state, env, mask, size, a, b)``, ACCESS one of read, read2, write, write2, SIZE bytes of one
element. ``a`` packs places in the state, 20 bits each: the address VGPR, the first data VGPR, and for write2 the first
VGPR of the second element. ``b`` packs the offsets of the one or two elements, 32 bits each.

One comparison of all addresses with the size of the LDS shows whether everything is in range. A chunk whose lanes are
all active and access one address or neighbouring elements needs neither gather nor scatter. Accesses that are out of
range or overlap take the slow path through the transfer buffer and the per-lane routines.
"""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I32, I64, Value
from rocdbg.sim.translator.routine_names import LDS_SIZES, PLACE_BITS, helper_names
from rocdbg.sim.translator.vector_access import FARTHEST, VectorRoutine

PARAMETERS = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %a, i64 %b"
_HELD = 8
"""Where the transfer buffer keeps the first element while the second is read; the same place as in `memory_ds`."""


def routine(name: str) -> Callable[[VectorRoutine], None]:
    """The body of a routine by its name."""
    access, size = name.removeprefix("lds_").split("_")
    count = 2 if access.endswith("2") else 1
    if int(size) not in LDS_SIZES:
        raise ValueError(f"no LDS routine {name}")
    return lambda r: (_read if access.startswith("read") else _write)(r, int(size), count)


def _place(r: VectorRoutine, n: int) -> str:
    """Pointer to the n-th place in the state."""
    return r.gep("%state", r.value("%a").lshr(n * PLACE_BITS) & (1 << PLACE_BITS) - 1)


def _offset(r: VectorRoutine, element: int) -> Value:
    return r.value("%b").lshr(32) if element else r.value("%b") & 0xFFFF_FFFF


class _Lanes:
    """Addresses and masks of all chunks; control branches to label ``slow`` if an access is not simple."""

    def __init__(self, r: VectorRoutine, size: int, count: int) -> None:
        self.r = r
        self.kind, self.flags = f"<{r.lanes} x i32>", f"<{r.lanes} x i1>"
        self.address_place = _place(r, 0)
        self.active = [r.active(c) for c in r.chunks]
        self.addresses = [self.register(self.address_place, c) for c in r.chunks]
        reach = _offset(r, 0) + size
        if count == 2:
            reach = reach.umax(_offset(r, 1) + size)
        held = r.state("lds_size").zext(I64)
        self.otherwise(held.ult(reach))
        # Addresses are used as signed indices, so larger addresses take the slow path.
        limit = r.splat((held - reach).umin(FARTHEST).trunc(I32))
        beyond = [r.op("icmp ugt", "i32", address, limit) for address in self.addresses]
        self.otherwise(self.where(beyond))
        self.base = r.state("lds_pointer")

    def register(self, place: str, chunk: int, dword: int = 0) -> str:
        """A chunk of the register ``dword`` after the one at ``place``."""
        r = self.r
        pointer = r.gep(place, (dword * r.wave_size + chunk * r.lanes) * 4)
        return r.vector(f"load {self.kind}, ptr {pointer}, align 4")

    def set_register(self, place: str, chunk: int, dword: int, value: str, all_active: bool) -> None:
        r = self.r
        pointer = r.gep(place, (dword * r.wave_size + chunk * r.lanes) * 4)
        if all_active:
            r.lines.append(f"store {self.kind} {value}, ptr {pointer}, align 4")
        else:
            r.store_row(pointer, value, self.active[chunk])

    def where(self, wrong: list[str]) -> Value:
        """Whether a condition holds in any active lane."""
        r = self.r
        return r.any([r.op("and", "i1", w, m) for w, m in zip(wrong, self.active, strict=True)])

    def otherwise(self, bad: Value) -> None:
        """Take the slow path if ``bad``."""
        fine = self.r.fresh("fine")[1:]
        self.r.branch_if(bad, "slow", fine)
        self.r.mark(fine)

    def is_full(self, chunk: int) -> Value:
        r = self.r
        full = (1 << r.lanes) - 1
        return (r.value("%mask").lshr(chunk * r.lanes) & full).eq(full)

    def first(self, chunk: int) -> Value:
        """The address of a chunk's first lane."""
        return self.r.new(I32, True, f"extractelement {self.kind} {self.addresses[chunk]}, i32 0")

    def differs(self, chunk: int, first: Value, step: int) -> Value:
        """Whether the addresses of a chunk differ from ``first`` followed by constant steps."""
        r = self.r
        wanted = r.splat(first)
        if step:
            steps = "<" + ", ".join(f"i32 {n * step}" for n in range(r.lanes)) + ">"
            wanted = r.op("add", "i32", wanted, steps)
        return r.any([r.op("icmp ne", "i32", self.addresses[chunk], wanted)])

    def elements(self, count: int) -> list[str]:
        """For each element, the host pointer to which the addresses are relative."""
        return [self.r.pointer(self.base + _offset(self.r, n)) for n in range(count)]


def _read(r: VectorRoutine, size: int, count: int) -> None:
    r.when(r.value("%mask").eq(0), lambda: r.leave(0))
    data, words = _place(r, 1), size // 4
    lanes = _Lanes(r, size, count)
    bases = lanes.elements(count)
    for c in r.chunks:
        _read_chunk(r, lanes, data, bases, words, c)
    r.lines.append("ret i32 0")
    r.mark("slow")
    for element in range(count):
        _long_way(r, lanes, "load_lds", element, size)
        if count == 2 and element == 0:
            for c in r.chunks:
                for dword in range(words):
                    r.write_buffer(_HELD + dword, c, r.read_buffer(dword, c))
    for c in r.chunks:
        for element in range(count):
            held = _HELD if count == 2 and element == 0 else 0
            for dword in range(words):
                value = r.read_buffer(held + dword, c)
                lanes.set_register(data, c, element * words + dword, value, False)
    r.lines.append("ret i32 0")


def _read_chunk(r: VectorRoutine, lanes: _Lanes, data: str, bases: list[str], words: int, chunk: int) -> None:
    """Read all dwords of a chunk of lanes into the registers from place ``data`` on."""
    dwords = [r.gep(base, 4 * word) for base in bases for word in range(words)]
    full, same, other, row, gather, done = (
        r.fresh(n)[1:] for n in ("full", "same", "other", "row", "gather", "done")
    )
    r.branch_if(lanes.is_full(chunk), full, gather)
    r.mark(full)
    first = lanes.first(chunk)
    start = first.zext(I64)
    r.branch_if(lanes.differs(chunk, first, 0), other, same)
    r.mark(same)
    for n, base in enumerate(dwords):
        lanes.set_register(data, chunk, n, r.splat(r.load(r.gep(base, start), I32)), True)
    r.go(done)
    r.mark(other)
    if words in _ROWS:
        r.branch_if(lanes.differs(chunk, first, 4 * words), gather, row)
        r.mark(row)
        for element, base in enumerate(bases):
            for word, value in enumerate(_load_rows(r, r.gep(base, start), words)):
                lanes.set_register(data, chunk, element * words + word, value, True)
        r.go(done)
    else:
        r.go(gather)
    r.mark(gather)
    for n, base in enumerate(dwords):
        value = r.gather_row(base, lanes.addresses[chunk], lanes.active[chunk])
        lanes.set_register(data, chunk, n, value, False)
    r.go(done)
    r.mark(done)


def _write(r: VectorRoutine, size: int, count: int) -> None:
    r.when(r.value("%mask").eq(0), lambda: r.leave(0))
    data, words = [_place(r, 1 + n) for n in range(count)], size // 4
    lanes = _Lanes(r, size, count)
    if size > 4:  # dwords are written one after the other: lanes must not overlap partially
        unaligned = []
        ones = r.splat(r.const(size - 1, I32))
        for c in r.chunks:
            rest = r.op("and", "i32", lanes.addresses[c], ones)
            unaligned.append(r.op("icmp ne", "i32", rest, "zeroinitializer"))
        lanes.otherwise(lanes.where(unaligned))
    bases = lanes.elements(count)
    for element, base in enumerate(bases):
        for c in r.chunks:
            _write_chunk(r, lanes, base, c, [lanes.register(data[element], c, word) for word in range(words)])
    r.lines.append("ret i32 0")
    r.mark("slow")
    if count == 2:
        _long_way(r, lanes, "check_lds", 1, size)
    for element in range(count):
        for c in r.chunks:
            for dword in range(words):
                r.write_buffer(dword, c, lanes.register(data[element], c, dword))
        _long_way(r, lanes, "store_lds", element, size)
    r.lines.append("ret i32 0")


def _write_chunk(r: VectorRoutine, lanes: _Lanes, base: str, chunk: int, values: list[str]) -> None:
    """Write one element of each lane of a chunk."""
    row, scatter, done, full = (r.fresh(n)[1:] for n in ("row", "scatter", "done", "full"))
    r.branch_if(lanes.is_full(chunk), full, scatter)
    r.mark(full)
    first = lanes.first(chunk)
    r.branch_if(lanes.differs(chunk, first, 4 * len(values)), scatter, row)
    r.mark(row)
    _store_rows(r, r.gep(base, first.zext(I64)), values)
    r.go(done)
    r.mark(scatter)
    for word, value in enumerate(values):
        r.scatter_row(r.gep(base, 4 * word), lanes.addresses[chunk], value, lanes.active[chunk])
    r.go(done)
    r.mark(done)


_ROWS = (1, 2, 4)
"""The element sizes, in dwords, for which neighbouring elements are moved by vector loads and stores."""


def _picks(numbers: list[int]) -> str:
    return f"<{len(numbers)} x i32> <{', '.join(f'i32 {n}' for n in numbers)}>"


def _load_rows(r: VectorRoutine, pointer: str, words: int) -> list[str]:
    """Load the elements of a chunk's lanes, which are consecutive in memory: one vector for each dword."""
    kind = f"<{r.lanes * words} x i32>"
    whole = r.vector(f"load {kind}, ptr {pointer}, align 1")
    if words == 1:
        return [whole]
    return [
        r.vector(
            f"shufflevector {kind} {whole}, {kind} poison, "
            f"{_picks([word + words * n for n in range(r.lanes)])}"
        )
        for word in range(words)
    ]


def _store_rows(r: VectorRoutine, pointer: str, values: list[str]) -> None:
    """The reverse of `_load_rows`."""
    lanes = r.lanes
    while len(values) > 1:  # merge two vectors of elements of w dwords into one of elements of 2w
        half = len(values) // 2
        kind = f"<{lanes} x i32>"
        order = [part * lanes + n for n in range(lanes) for part in (0, 1)]
        values = [
            r.vector(f"shufflevector {kind} {low}, {kind} {high}, {_picks(order)}")
            for low, high in zip(values[:half], values[half:], strict=True)
        ]
        lanes *= 2
    r.lines.append(f"store <{lanes} x i32> {values[0]}, ptr {pointer}, align 1")


def _long_way(r: VectorRoutine, lanes: _Lanes, helper: str, element: int, size: int) -> None:
    """Put an element's addresses into the environment and call a routine for lanes; returns 1 if it faults."""
    offset = r.splat(_offset(r, element).trunc(I32))
    for c in r.chunks:
        address = r.op("add", "i32", lanes.register(lanes.address_place, c), offset)
        wide = r.vector(f"zext {lanes.kind} {address} to <{r.lanes} x i64>")
        pointer = r.gep("%env", layout.ENV_ADDRESS + c * r.lanes * 8)
        r.lines.append(f"store <{r.lanes} x i64> {wide}, ptr {pointer}, align 8")
    slot = r.gep("%env", layout.ENV_HELPERS + helper_names().index(helper) * 8)
    function = r.vector(f"load ptr, ptr {slot}, align 8")
    zero = "i64 0, i64 0"
    status = r.new(I32, True, f"call i32 {function}(ptr %state, ptr %env, i64 %mask, i64 {size}, {zero})")
    r.when(status.ne(0), lambda: r.leave(1))
