"""Memory that kernels request from the host: slabs of their ``malloc``, and large pieces.

Addresses are in a part of the window that nothing else uses, and depend only on earlier requests: a repeated run gets
the same ones. The addresses of a freed piece are reused only after `QUARANTINE` other pieces with the same number of
pages have been freed, so that dangling pointers fault.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from rocdbg.sim.core.layout import PAGE_COUNT, PAGE_SHIFT, PAGE_SIZE
from rocdbg.sim.core.memory import Allocation, AllocationError, GlobalMemory

FIRST_PAGE = PAGE_COUNT // 2
"""The heap's part of the window begins with this page."""
QUARANTINE = 64
"""Freed pieces of a size whose addresses are not reused yet."""
_SLAB_PAGES = (2 << 20) >> PAGE_SHIFT


class HeapState(Struct, frozen=True):
    """The argument of `DeviceHeap.restore`: the first page that was never used, sizes of the live pieces by address,
    freed addresses by number of pages."""

    next_page: int
    live: dict[int, int]
    freed: dict[int, tuple[int, ...]]


class DeviceHeap:
    """The pieces of ``memory`` that kernels allocate and free. With ``keeps``, `restore` can bring freed pieces back.
    """

    def __init__(self, memory: GlobalMemory) -> None:
        self._memory = memory
        self._next_page = FIRST_PAGE
        self._live: dict[int, Allocation] = {}
        self._freed: dict[int, deque[int]] = {}
        self._hidden: dict[tuple[int, int], Allocation] = {}
        self.keeps = False

    def allocate(self, size: int) -> int:
        """Allocate ``size`` zero bytes and return their address; 0 if there is no memory left, as ``malloc`` does."""
        pages = max(1, -(-size // PAGE_SIZE))
        page = self._page(pages)
        if page is None:
            return 0
        address = self._memory.base + (page << PAGE_SHIFT)
        found = self._hidden.get((address, size))
        try:
            if found is None:
                found = self._memory.allocate(size, name="device malloc", address=address)
            else:
                self._memory.show(found)
                del self._hidden[address, size]
                found.data[:] = 0
                if found.written is not None:
                    found.written[:] = 0
        except AllocationError:
            self._freed.setdefault(pages, deque()).append(address)
            return 0
        self._live[address] = found
        return address

    def free(self, address: int) -> bool:
        """Free a piece; returns whether there is one at this address."""
        allocation = self._live.pop(address, None)
        if allocation is None:
            return False
        self._freed.setdefault(max(1, -(-allocation.size // PAGE_SIZE)), deque()).append(address)
        self._hide(allocation)
        return True

    def _hide(self, allocation: Allocation) -> None:
        if self.keeps:
            self._memory.hide(allocation)
            self._hidden[allocation.address, allocation.size] = allocation
        else:
            self._memory.free(allocation)

    def _page(self, pages: int) -> int | None:
        freed = self._freed.get(pages)
        if freed and len(freed) > QUARANTINE:
            return (freed.popleft() - self._memory.base) >> PAGE_SHIFT
        page = self._next_page
        if pages >= _SLAB_PAGES:
            page = -(-page // _SLAB_PAGES) * _SLAB_PAGES  # the allocator of kernels finds a slab by rounding down
        if page + pages < PAGE_COUNT:
            self._next_page = page + pages + 1  # an unmapped page follows
            return page
        return (freed.popleft() - self._memory.base) >> PAGE_SHIFT if freed else None

    # -- time

    def snapshot(self) -> HeapState:
        """The argument for `restore`."""
        return HeapState(
            self._next_page,
            {address: allocation.size for address, allocation in self._live.items()},
            {pages: tuple(freed) for pages, freed in self._freed.items()},
        )

    def restore(self, state: HeapState) -> None:
        """Restore the pieces that existed when `snapshot` returned this state; the caller has to restore their
        contents.

        Pieces that were freed since then must have been kept.
        """
        for address, allocation in list(self._live.items()):
            if state.live.get(address) != allocation.size:
                del self._live[address]
                self._hide(allocation)
        for address, size in state.live.items():
            if address not in self._live:
                allocation = self._live[address] = self._hidden.pop((address, size))
                self._memory.show(allocation)
        self._next_page = state.next_page
        self._freed = {pages: deque(freed) for pages, freed in state.freed.items()}

    def forget(self) -> None:
        """Give up the ability to restore freed pieces, and discard them."""
        self.keeps = False
        self._hidden.clear()


__all__ = ["FIRST_PAGE", "QUARANTINE", "DeviceHeap", "HeapState"]
