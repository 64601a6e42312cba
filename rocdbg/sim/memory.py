"""Global memory of the simulated device: named allocations in a window of simulated virtual addresses.

Addresses are deterministic: the window starts at ``WINDOW_BASE`` and an allocation takes the first run of
free pages that fits. Each allocation starts on a page, shares its pages with no other, and is followed by at
least one unmapped page, so that an access which runs off either end is always noticed. The pages of freed
buffers stay unmapped until `QUARANTINE` others were freed after them: a pointer kept too long faults, and the
message knows what it pointed to. Only a buffer of the same size for the same purpose gets such an address
earlier, so that repeated launches see the same addresses.

The page table is what generated code reads; `rocdbg.sim.layout` describes it. An entry's ``hi`` may lie
beyond its page, because an allocation is contiguous on the host as well.
"""

from __future__ import annotations

import bisect
import enum
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.errors import Error
from rocdbg.sim.guarded import ALIGN, guarded
from rocdbg.sim.layout import (
    PAGE_COUNT,
    PAGE_FLAG_BITS,
    PAGE_SHIFT,
    PAGE_SIZE,
    WINDOW_BASE,
    WINDOW_SIZE,
    PageFlags,
)

PAGE_ENTRY = np.dtype([("host", "<u8"), ("lo", "<u8"), ("hi", "<u8"), ("flags", "<u8")])
"""One entry of the page table (32 bytes)."""

DEFAULT_LIMIT = 16 << 30
"""Bytes that may be live at once. Pages are zero and untouched until used, so the host pays only for those
used.
"""

QUARANTINE = 256
"""Freed buffers whose addresses are not given out again yet."""

class AllocationKind(enum.Enum):
    """What an allocation is for; the value is the noun used in messages."""

    BUFFER = "buffer"
    CODE = "code object"
    KERNARG = "kernarg segment"
    SCRATCH = "scratch of"
    QUEUE = "queue structure"
    PACKET = "dispatch packet"


class MemoryAccessError(Error):
    """A host-side access (debugger, API) to simulated global memory that is not mapped.

    Attributes: ``address``, ``size`` in bytes, ``access`` ("read" or "write"), ``nearest`` (text or None).
    """

    def __init__(self, address: int, size: int, access: str, nearest: str | None) -> None:
        self.address = address
        self.size = size
        self.access = access
        self.nearest = nearest
        where = f"; it is {nearest}" if nearest else ""
        super().__init__(f"Cannot access memory at address {address:#x}: {access} of {size} bytes{where}")


class AllocationError(Error):
    """A request for simulated memory that cannot be met. Attributes: ``size``, ``name``."""

    def __init__(self, size: int, name: str, reason: str) -> None:
        self.size = size
        self.name = name
        what = f"'{name}'" if name else "a buffer"
        super().__init__(f"cannot allocate {size} bytes for {what}: {reason}")


@dataclass(eq=False, slots=True)
class Allocation:
    """One allocation: ``[address, address + size)``. ``data`` is its storage, uint8[size], writable in
    place.
    """

    address: int
    size: int
    name: str
    kind: AllocationKind
    protection: PageFlags
    data: NDArray[np.uint8] = field(repr=False)
    purpose: str = ""
    """What a buffer is for, see `GlobalMemory.allocate`."""
    written: NDArray[np.uint8] | None = field(default=None, repr=False)
    """For each byte whether it was ever written, uint8[size]; None where that is not watched."""

    def mark_written(self, offset: int = 0, size: int | None = None) -> None:
        """Let bytes count as written (all of them by default); nothing where that is not watched."""
        if self.written is not None:
            self.written[offset : None if size is None else offset + size] = 1

    @property
    def end(self) -> int:
        """The first address after the allocation."""
        return self.address + self.size

    @property
    def host_address(self) -> int:
        """Host address of the first byte."""
        return int(self.data.ctypes.data)

    @property
    def label(self) -> str:
        """``buffer 'x' (4096 bytes at 0x7f0000100000)``."""
        name = f" '{self.name}'" if self.name else ""
        return f"{self.kind.value}{name} ({self.size} bytes at {self.address:#x})"


class GlobalMemory:
    """The window of simulated global memory: allocate, free, read, write, look up.

    ``limit`` is the number of bytes that may be live at once. ``watched``: buffers remember which bytes were written.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT, watched: bool = False) -> None:
        self.limit = limit
        self.watched = watched
        self.live_bytes = 0
        # 32 MiB, which are zero pages of the host until an entry is written.
        self._table: NDArray[np.void] = guarded(PAGE_COUNT * PAGE_ENTRY.itemsize).view(PAGE_ENTRY)
        self._starts: list[int] = []
        self._allocations: list[Allocation] = []
        self._freed: deque[_Freed] = deque()
        self._code_listeners: list[Callable[[int, int], None]] = []

    def on_code_write(self, listener: Callable[[int, int], None]) -> None:
        """Have ``listener(low, high)`` called after the host has written to executable memory."""
        self._code_listeners.append(listener)

    @property
    def page_table(self) -> NDArray[np.void]:
        """The page table, ``PAGE_ENTRY[PAGE_COUNT]``; it stays at one host address for the object's life."""
        return self._table

    @property
    def page_table_address(self) -> int:
        """Host address of the page table."""
        return int(self._table.ctypes.data)

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """All live allocations by address."""
        return tuple(self._allocations)

    def allocate(
        self,
        size: int,
        align: int = 256,
        name: str = "",
        *,
        kind: AllocationKind = AllocationKind.BUFFER,
        protection: PageFlags = PageFlags.READ | PageFlags.WRITE,
        purpose: str = "",
    ) -> Allocation:
        """Make ``size`` zero bytes accessible and return the allocation.

        A size of 0 gives an allocation without accessible bytes but with an address of its own. ``align`` is
        a power of two up to the page size (every allocation starts on a page). ``purpose`` (argument 2 of a
        kernel) lets a buffer have the addresses of the freed one that served the same. Raises AllocationError.
        """
        if size < 0:
            raise AllocationError(size, name, "a size cannot be negative")
        if align < 1 or align & (align - 1) or align > PAGE_SIZE:
            raise AllocationError(size, name, f"alignment {align} is not a power of two up to {PAGE_SIZE}")
        if self.live_bytes + size > self.limit:
            raise AllocationError(
                size,
                name,
                f"with {self.live_bytes} bytes in use this exceeds the simulated device's {self.limit} bytes",
            )
        pages = max(1, -(-size // PAGE_SIZE))
        page = self._former_page(size, purpose) if purpose else None
        if page is None:
            page = self._find_pages(pages, size, name)
        position = bisect.bisect_left(self._starts, WINDOW_BASE + (page << PAGE_SHIFT))
        try:
            shadow = -(-size // ALIGN) * ALIGN if self.watched and kind is AllocationKind.BUFFER else 0
            # The bytes lie last before a guard page, their shadow in front of them.
            owner = guarded(shadow + size)
        except MemoryError:
            raise AllocationError(size, name, "the host has not enough memory") from None
        address = WINDOW_BASE + (page << PAGE_SHIFT)
        written = owner[:size] if shadow else None
        data = owner[shadow:]
        allocation = Allocation(address, size, name, kind, protection, data, purpose, written)
        entries = self._table[page : page + pages]
        offsets = np.arange(pages, dtype=np.uint64) << np.uint64(PAGE_SHIFT)
        entries["host"] = np.uint64(allocation.host_address) + offsets
        entries["lo"] = 0
        entries["hi"] = np.uint64(size) - offsets
        flags = protection | (PageFlags.SCRATCH if kind is AllocationKind.SCRATCH else 0)
        entries["flags"] = int(flags) | (-shadow << PAGE_FLAG_BITS) & (1 << 64) - 1
        self._starts.insert(position, address)
        self._allocations.insert(position, allocation)
        self.live_bytes += size
        return allocation

    def free(self, allocation: Allocation) -> None:
        """Unmap an allocation; its addresses may be given out again, a buffer's not at once. Raises
        AllocationError if it is not live.
        """
        position = bisect.bisect_left(self._starts, allocation.address)
        if position >= len(self._starts) or self._allocations[position] is not allocation:
            raise AllocationError(allocation.size, allocation.name, "it is not a live allocation to free")
        page = (allocation.address - WINDOW_BASE) >> PAGE_SHIFT
        self._table[page : page + max(1, -(-allocation.size // PAGE_SIZE))] = np.zeros((), PAGE_ENTRY)
        del self._starts[position], self._allocations[position]
        self.live_bytes -= allocation.size
        if allocation.kind is AllocationKind.BUFFER:
            self._freed.append(
                _Freed(allocation.address, allocation.size, allocation.purpose, allocation.label)
            )
            if len(self._freed) > QUARANTINE:
                self._freed.popleft()

    def find(self, address: int) -> Allocation | None:
        """The allocation that contains ``address``, or None."""
        position = bisect.bisect_right(self._starts, address) - 1
        if position < 0:
            return None
        allocation = self._allocations[position]
        return allocation if address < allocation.end else None

    def nearest(self, address: int) -> Allocation | None:
        """The allocation with the byte closest to ``address``; the lower one on a tie; None if there is
        none.
        """
        position = bisect.bisect_right(self._starts, address)
        candidates = self._allocations[max(0, position - 1) : position + 1]
        return min(candidates, key=lambda a: max(a.address - address, address - a.end + 1, 0), default=None)

    def describe(self, address: int, size: int = 1) -> str | None:
        """Where ``[address, address + size)`` lies relative to the nearest allocation, or None if far from
        any.

        ``8 bytes past the end of buffer 'x' (4096 bytes at 0x7f0000100000)``. The distance is that of the
        first byte that lies outside.
        """
        for freed in reversed(self._freed):
            if freed.address <= address < freed.address + freed.size:
                return f"at offset {address - freed.address} of the freed {freed.label}"
        allocation = self.nearest(address)
        if allocation is None or not WINDOW_BASE <= address < WINDOW_BASE + WINDOW_SIZE:
            return None
        if address < allocation.address:
            return f"{_bytes(allocation.address - address)} before {allocation.label}"
        if address >= allocation.end:
            distance = address - allocation.end
            beyond = f"{_bytes(distance)} past" if distance else "just past"
            return f"{beyond} the end of {allocation.label}"
        offset = address - allocation.address
        if address + size > allocation.end:
            return f"at offset {offset}, crossing the end of {allocation.label}"
        return f"at offset {offset} of {allocation.label}"

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes at ``address``, all of one allocation. Raises MemoryAccessError."""
        return self.view(address, size, "read").tobytes()

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Store ``data`` at ``address``, all in one allocation. Raises MemoryAccessError and then changes
        nothing.

        The host may write whatever is mapped: protections bind the simulated program only.
        """
        source = np.frombuffer(data, np.uint8)
        self.view(address, source.size, "write")[:] = source
        allocation = self.find(address)
        if allocation is not None:
            allocation.mark_written(address - allocation.address, source.size)
        if allocation is not None and allocation.protection & PageFlags.EXECUTE:
            for listener in self._code_listeners:
                listener(address, address + source.size)

    def view(self, address: int, size: int, access: str = "read") -> NDArray[np.uint8]:
        """The ``size`` bytes at ``address`` as a writable array over the storage itself. Raises
        MemoryAccessError.
        """
        allocation = self.find(address)
        if allocation is None or size < 0 or address + size > allocation.end:
            if size == 0:
                return np.empty(0, np.uint8)
            raise MemoryAccessError(address, size, access, self.describe(address, max(size, 1)))
        offset = address - allocation.address
        return allocation.data[offset : offset + size]

    def _former_page(self, size: int, purpose: str) -> int | None:
        """First page of the buffer of this size and purpose that was freed first; None if there is none."""
        for freed in self._freed:
            if (freed.size, freed.purpose) == (size, purpose):
                self._freed.remove(freed)
                return (freed.address - WINDOW_BASE) >> PAGE_SHIFT
        return None

    def _find_pages(self, pages: int, size: int, name: str) -> int:
        """First page of the lowest gap that leaves unmapped pages on both sides."""
        page = self._lowest_gap(pages)
        if page is None and self._freed:
            self._freed.clear()
            page = self._lowest_gap(pages)
        if page is None:
            raise AllocationError(size, name, "the simulated address window is full")
        return page

    def _lowest_gap(self, pages: int) -> int | None:
        """First page of the lowest gap with an unmapped page on either side; None if there is none."""
        taken: Iterable[Allocation | _Freed] = self._allocations
        if self._freed:
            taken = sorted([*self._allocations, *self._freed], key=lambda a: a.address)
        page = 1
        for allocation in taken:
            start = (allocation.address - WINDOW_BASE) >> PAGE_SHIFT
            if page + pages < start:
                return page
            page = max(page, start + max(1, -(-allocation.size // PAGE_SIZE)) + 1)
        return page if page + pages < PAGE_COUNT else None


class _Freed(Struct, frozen=True):
    """A buffer that was freed: what it was called while it lived."""

    address: int
    size: int
    purpose: str
    label: str


def _bytes(count: int) -> str:
    return f"{count} byte" if count == 1 else f"{count} bytes"
