"""Global memory of the simulated device: named allocations in a window of simulated virtual addresses.

Addresses are deterministic: an allocation takes the lowest run of free pages of the window that fits. Each allocation
starts on a page, shares its pages with no other, and is followed by at least one unmapped page, so that an access
beyond either end is always detected. The pages of a freed buffer stay unmapped until `QUARANTINE` others have been
freed after it, so that using a dangling pointer faults, with a message that says what it pointed to. Only a buffer of
the same size and purpose may get such an address earlier, so that repeated launches see the same addresses.

The page table is what generated code reads; `rocdbg.sim.core.layout` describes it. An entry's ``hi`` may lie beyond its
page, because an allocation is contiguous on the host as well. Memory shared with a program lies in its `SharedWindow`,
every other allocation in host memory of its own.

Separate threads serve the requests of a program and may free memory at any time. Freed memory becomes inaccessible on
the host, too, so other threads must hold the lock `GlobalMemory.steady` while they read or write. Kernels do not need
the lock: while one runs, no request is served.
"""

from __future__ import annotations

import enum
import struct
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.errors import Error
from rocdbg.sim.core.guarded import ALIGN, guarded
from rocdbg.sim.core.layout import (
    PAGE_COUNT,
    PAGE_ENTRY_SIZE,
    PAGE_FLAG_BITS,
    PAGE_SHIFT,
    PAGE_SIZE,
    WINDOW_BASE,
    WINDOW_SIZE,
    PageFlags,
)
from rocdbg.sim.core.page_gaps import PageGaps
from rocdbg.sim.core.shared_window import SharedWindow

PAGE_ENTRY = np.dtype([("host", "<u8"), ("lo", "<u8"), ("hi", "<u8"), ("flags", "<u8")])
"""One entry of the page table (32 bytes)."""

_ENTRY = struct.Struct("<4Q")

DEFAULT_LIMIT = 16 << 30
"""The most bytes that may be live at once. The host provides only the pages that are used."""

MAX_ALIGN = 1 << 30
"""The largest alignment of an allocation."""

QUARANTINE = 256
"""Number of freed buffers whose addresses are not reused yet."""

class AllocationKind(enum.Enum):
    """What an allocation is for; the value is the noun used in messages."""

    BUFFER = "buffer"
    CODE = "code object"
    KERNARG = "kernarg segment"
    SCRATCH = "scratch of"
    QUEUE = "queue structure"
    PACKET = "dispatch packet"
    RUNTIME = "runtime's"
    RANGE = "address range"
    """Addresses of memory that belongs to another allocation, see `GlobalMemory.expose`."""


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
    """The purpose of a buffer, see `GlobalMemory.allocate`."""
    written: NDArray[np.uint8] | None = field(default=None, repr=False)
    """For each byte, whether it was ever written, uint8[size]; None if that is not tracked."""

    def mark_written(self, offset: int = 0, size: int | None = None) -> None:
        """Mark bytes (by default all) as written; does nothing if that is not tracked."""
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
    ``window``: the memory shared with a program, and its address; without one, the window begins at `WINDOW_BASE`.
    """

    def __init__(
        self, limit: int = DEFAULT_LIMIT, watched: bool = False, window: SharedWindow | None = None
    ) -> None:
        self.limit = limit
        self.watched = watched
        self.window = window
        self.base = window.base if window is not None else WINDOW_BASE
        """The first simulated address of the window."""
        self.live_bytes = 0
        # The table has 32 MiB, but takes no host memory until entries are written.
        self._table: NDArray[np.void] = guarded(PAGE_COUNT * PAGE_ENTRY.itemsize, sparse=True).view(PAGE_ENTRY)
        self._table_bytes = self._table.view(np.uint8).data
        self._first_pages: NDArray[np.int32] = guarded(PAGE_COUNT * 4, sparse=True).view(np.int32)
        """For each page, the first page of its allocation; 0 if it is free. Page 0 is always free."""
        self._first_page = self._first_pages.data
        self._live: dict[int, Allocation] = {}
        """The live allocations by their first page."""
        self._gaps = PageGaps(1, PAGE_COUNT)
        self.steady: AbstractContextManager[object] = threading.RLock() if window is not None else nullcontext()
        """A lock: while it is held, nothing is freed."""
        self.frees = 0
        """Number of allocations freed so far."""
        self._freed: deque[_Freed] = deque()
        self._code_listeners: list[Callable[[int, int], None]] = []
        self.before_write: Callable[[int, bytes], None] | None = None
        """A hook that is called with address and bytes before the host writes; if it raises, nothing is written."""

    def on_code_write(self, listener: Callable[[int, int], None]) -> None:
        """Call ``listener(low, high)`` after the host has written to executable memory."""
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
        with self.steady:
            return tuple(self._live[page] for page in sorted(self._live))

    def allocate(
        self,
        size: int,
        align: int = 256,
        name: str = "",
        *,
        kind: AllocationKind = AllocationKind.BUFFER,
        protection: PageFlags = PageFlags.READ | PageFlags.WRITE,
        purpose: str = "",
        address: int | None = None,
    ) -> Allocation:
        """Make ``size`` zero bytes accessible and return the allocation.

        A size of 0 gives an allocation without accessible bytes but with an address of its own. ``align`` is a power of
        two up to `MAX_ALIGN` (every allocation starts on a page). ``purpose`` (argument 2 of a kernel) lets a buffer
        reuse the addresses of a freed one with the same purpose. ``address``, if given, is the page where the
        allocation must begin. Raises AllocationError, also if that page is in use.
        """
        if size < 0:
            raise AllocationError(size, name, "the size cannot be negative")
        if align < 1 or align & (align - 1) or align > MAX_ALIGN:
            raise AllocationError(size, name, f"the alignment {align} is not a power of two up to {MAX_ALIGN}")
        if kind is not AllocationKind.RANGE and self.live_bytes + size > self.limit:
            raise AllocationError(
                size,
                name,
                f"with {self.live_bytes} bytes in use, this exceeds the {self.limit} bytes of the simulated device",
            )
        pages = max(1, -(-size // PAGE_SIZE))
        page = self._former_page(size, purpose) if purpose else None
        if address is not None:
            page = self._take_at(address, pages, size, name)
        elif page is None:
            page = self._find_pages(pages, max(1, align >> PAGE_SHIFT), size, name)
        address = self.base + (page << PAGE_SHIFT)
        try:
            data, written, distance = self._storage(address, size, kind)
        except MemoryError:
            self._gaps.give(page, pages + 1)
            raise AllocationError(size, name, "the host does not have enough memory") from None
        allocation = Allocation(address, size, name, kind, protection, data, purpose, written)
        self._map(page, pages, allocation, distance)
        return allocation

    def _storage(
        self, address: int, size: int, kind: AllocationKind
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8] | None, int]:
        """Host memory for an allocation, its shadow (which bytes were written), and the distance from the bytes to the
        shadow. Raises MemoryError."""
        shadow = -(-size // ALIGN) * ALIGN if self.watched and kind is AllocationKind.BUFFER else 0
        # the program never accesses a wave's private memory from outside
        if self.window is not None and kind is not AllocationKind.SCRATCH:
            data = self.window.open(address, size)
            if not shadow:
                return data, None, 0
            written = guarded(size)
            return data, written, int(written.ctypes.data) - int(data.ctypes.data)
        # The bytes end just before a guard page; their shadow precedes them.
        owner = guarded(shadow + size)
        return owner[shadow:], owner[:size] if shadow else None, -shadow

    def _map(self, page: int, pages: int, allocation: Allocation, distance: int) -> None:
        """Make an allocation live. ``distance``: from its bytes to its shadow."""
        host, size = allocation.host_address, allocation.size
        flags = int(allocation.protection)
        if allocation.kind is AllocationKind.SCRATCH:
            flags |= PageFlags.SCRATCH
        flags |= (distance << PAGE_FLAG_BITS) & (1 << 64) - 1
        self._live[page] = allocation
        if allocation.kind is not AllocationKind.RANGE:
            self.live_bytes += size
        if pages == 1:  # a fast path: most allocations are this small, and there may be many
            _ENTRY.pack_into(self._table_bytes, page * PAGE_ENTRY_SIZE, host, 0, size, flags)
            self._first_page[page] = page
            return
        entries = self._table[page : page + pages]
        offsets = np.arange(pages, dtype=np.uint64) << np.uint64(PAGE_SHIFT)
        entries["host"] = np.uint64(host) + offsets
        entries["lo"] = 0
        entries["hi"] = np.uint64(size) - offsets
        entries["flags"] = flags
        self._first_pages[page : page + pages] = page

    def protect(self, allocation: Allocation, protection: PageFlags) -> None:
        """Set the accesses to an allocation that the program is allowed; without READ and WRITE every access faults.
        Raises AllocationError if it is not live."""
        page, pages = self._pages_of(allocation)
        entries = self._table["flags"][page : page + pages]
        bits = np.uint64(PageFlags.READ | PageFlags.WRITE | PageFlags.EXECUTE)
        entries[:] = entries & ~bits | np.uint64(protection)
        allocation.protection = protection

    def expose(self, allocation: Allocation, parts: Sequence[tuple[int, int, PageFlags]]) -> None:
        """Restrict access to parts of an allocation: begin and end of each part, in bytes from the allocation's start,
        ascending and disjoint, and the accesses allowed. Parts in one page of the page table may be merged, including
        the bytes between them. Raises AllocationError if it is not live."""
        page, pages = self._pages_of(allocation)
        self.protect(allocation, PageFlags(0))
        entries = self._table[page : page + pages]
        runs: list[tuple[int, int]] = []
        for low, high, _ in parts:
            if runs and runs[-1][1] == low:
                runs[-1] = (runs[-1][0], high)
            else:
                runs.append((low, high))
        seen: set[int] = set()
        for low, high in runs:
            for at in range(low >> PAGE_SHIFT, ((high - 1) >> PAGE_SHIFT) + 1):
                start = at << PAGE_SHIFT
                if at not in seen:
                    entries["lo"][at] = max(low - start, 0)
                entries["hi"][at] = high - start
                seen.add(at)
        for low, high, protection in parts:
            for at in range(low >> PAGE_SHIFT, ((high - 1) >> PAGE_SHIFT) + 1):
                entries["flags"][at] |= np.uint64(protection)

    def free(self, allocation: Allocation) -> None:
        """Unmap an allocation; its addresses may be reused, those of a buffer only later. Raises AllocationError if it
        is not live.
        """
        with self.steady:
            page, pages = self._unmap(allocation)
            if self.window is not None and allocation.kind is not AllocationKind.SCRATCH:
                self.window.close(allocation.address, allocation.size)
        if allocation.kind is not AllocationKind.BUFFER:
            self._gaps.give(page, pages + 1)
            return
        self._quarantine(allocation)

    def hide(self, allocation: Allocation) -> None:
        """Free a buffer as `free` does, but keep its contents so that `show` can bring it back."""
        self._unmap(allocation)
        self._quarantine(allocation)

    def show(self, allocation: Allocation) -> None:
        """Make a hidden buffer accessible again. Raises AllocationError."""
        size = allocation.size
        if self.live_bytes + size > self.limit:
            raise AllocationError(size, allocation.name, "this exceeds the memory of the simulated device")
        pages = max(1, -(-size // PAGE_SIZE))
        page = self._take_at(allocation.address, pages, size, allocation.name)
        written = allocation.written
        distance = 0 if written is None else int(written.ctypes.data) - allocation.host_address
        self._map(page, pages, allocation, distance)

    def _unmap(self, allocation: Allocation) -> tuple[int, int]:
        """Make an allocation inaccessible; returns its first page and its number of pages."""
        page, pages = self._pages_of(allocation)
        self.frees += 1
        self._table[page : page + pages] = np.zeros((), PAGE_ENTRY)
        self._first_pages[page : page + pages] = 0
        del self._live[page]
        if allocation.kind is not AllocationKind.RANGE:
            self.live_bytes -= allocation.size
        return page, pages

    def _quarantine(self, allocation: Allocation) -> None:
        self._freed.append(_Freed(allocation.address, allocation.size, allocation.purpose, allocation.label))
        if len(self._freed) > QUARANTINE:
            self._give(self._freed.popleft())

    def _pages_of(self, allocation: Allocation) -> tuple[int, int]:
        """First page and number of pages of a live allocation."""
        page = (allocation.address - self.base) >> PAGE_SHIFT
        if self._live.get(page) is not allocation:
            raise AllocationError(allocation.size, allocation.name, "it has already been freed, or was never allocated")
        return page, max(1, -(-allocation.size // PAGE_SIZE))

    def _give(self, freed: _Freed) -> None:
        """Make the pages of a freed buffer available again."""
        page = (freed.address - self.base) >> PAGE_SHIFT
        self._gaps.give(page, max(1, -(-freed.size // PAGE_SIZE)) + 1)

    def find(self, address: int) -> Allocation | None:
        """The allocation that contains ``address``, or None."""
        page = (address - self.base) >> PAGE_SHIFT
        if not 0 <= page < PAGE_COUNT:
            return None
        first = self._first_page[page]
        if not first:
            return None
        allocation = self._live.get(first)  # `get`, because another thread may free it now
        return allocation if allocation is not None and address < allocation.end else None

    def nearest(self, address: int) -> Allocation | None:
        """The allocation with the byte closest to ``address``; the lower one on a tie; None if there is
        none.
        """
        page = min(max((address - self.base) >> PAGE_SHIFT, 0), PAGE_COUNT)
        with self.steady:
            below = np.flatnonzero(self._first_pages[: page + 1])[-1:]
            above = np.flatnonzero(self._first_pages[page + 1 :])[:1] + (page + 1)
            candidates = [self._live[int(self._first_pages[at])] for at in (*below, *above)]
        return min(candidates, key=lambda a: max(a.address - address, address - a.end + 1, 0), default=None)

    def describe(self, address: int, size: int = 1) -> str | None:
        """Text that says where ``[address, address + size)`` lies relative to the nearest allocation; None if it is far
        from any.

        ``8 bytes past the end of buffer 'x' (4096 bytes at 0x7f0000100000)``. The distance is that of the
        first byte that lies outside.
        """
        for freed in reversed(tuple(self._freed)):
            if freed.address <= address < freed.address + freed.size:
                return f"at offset {address - freed.address} of the freed {freed.label}"
        if not self.base <= address < self.base + WINDOW_SIZE:
            return None
        allocation = self.nearest(address)
        if allocation is None:
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
        with self.steady:
            return self.view(address, size, "read").tobytes()

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Store ``data`` at ``address``, all in one allocation. If that is not possible, raises MemoryAccessError and
        changes nothing. The host may write to anything that is mapped: protections apply only to the simulated program.
        """
        source = np.frombuffer(data, np.uint8)
        with self.steady:
            view = self.view(address, source.size, "write")
            if self.before_write is not None:
                self.before_write(address, bytes(data))
            view[:] = source
        self.note_written(address, source.size)

    def note_written(self, address: int, size: int) -> None:
        """Note that the host has written to memory without calling `write`, as a program that shares the memory does.
        The bytes count as written, and code is decoded again. Bytes outside allocations are ignored."""
        end = address + size
        while address < end:
            allocation = self.find(address)
            if allocation is None:
                address = (address | PAGE_SIZE - 1) + 1
                continue
            upto = min(end, allocation.end)
            allocation.mark_written(address - allocation.address, upto - address)
            if allocation.protection & PageFlags.EXECUTE:
                for listener in self._code_listeners:
                    listener(address, upto)
            address = upto

    def view(self, address: int, size: int, access: str = "read") -> NDArray[np.uint8]:
        """The ``size`` bytes at ``address`` as a writable array over the storage itself, which may be accessed while
        ``steady`` is held. Raises MemoryAccessError.
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
                return (freed.address - self.base) >> PAGE_SHIFT
        return None

    def _take_at(self, address: int, pages: int, size: int, name: str) -> int:
        """Take the pages from an address on, if that many are free; returns the first page. Raises AllocationError."""
        for freed in [freed for freed in self._freed if freed.address == address]:
            self._freed.remove(freed)
            self._give(freed)
        page = (address - self.base) >> PAGE_SHIFT
        if not self._gaps.take_at(page, pages + 1):
            raise AllocationError(size, name, f"memory at {address:#x} is in use")
        return page

    def _find_pages(self, pages: int, align: int, size: int, name: str) -> int:
        """First page of the lowest gap that fits, with an unmapped page on either side."""
        page = self._gaps.take(pages + 1, align)
        if page is None and self._freed:
            while self._freed:
                self._give(self._freed.popleft())
            page = self._gaps.take(pages + 1, align)
        if page is None:
            raise AllocationError(size, name, "no large enough range of simulated addresses is free")
        return page


class _Freed(Struct, frozen=True):
    """A freed buffer: its name while it was live."""

    address: int
    size: int
    purpose: str
    label: str


def _bytes(count: int) -> str:
    return f"{count} byte" if count == 1 else f"{count} bytes"
