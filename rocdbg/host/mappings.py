"""Memory mapped at a second place: address ranges to which allocations are mapped, and allocations of other processes.

Both are ranges of this process's window; the host replaces their pages with those of the allocation, here and in the
program. The page table knows which parts of a range may be used.
"""

from __future__ import annotations

import os
from typing import Final

from msgspec import Struct

from rocdbg.host.errors import RequestError
from rocdbg.host.protocol import Access, Status
from rocdbg.host.shared_memory import SharedMemory
from rocdbg.sim.core.layout import PageFlags
from rocdbg.sim.core.memory import Allocation, AllocationError, AllocationKind

_GRANULE: Final = 4096
_RIGHTS: Final = {Access.READ: PageFlags.READ, Access.WRITE: PageFlags.WRITE}


class _Part(Struct):
    """A mapping: its begin and end, in bytes from the beginning of its range, and the accesses that kernels are
    allowed.
    """

    low: int
    high: int
    access: PageFlags


class _Range(Struct):
    allocation: Allocation
    parts: list[_Part]
    file: int | None = None
    """The file of another process's window, if the range is memory of that process."""
    offset: int = 0
    """The offset in that file."""


class Mappings:
    """The ranges of one process."""

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory
        self._ranges: dict[int, _Range] = {}

    def reserve(self, size: int, alignment: int, name: str = "reserved") -> Allocation:
        """Reserve a range without mappings. Raises AllocationError."""
        align = max(alignment, _GRANULE)
        allocation = self._memory.global_memory.allocate(
            size, align, name, kind=AllocationKind.RANGE, protection=PageFlags(0)
        )
        self._ranges[allocation.address] = _Range(allocation, [])
        return allocation

    def map(self, address: int, size: int, source: Allocation, offset: int) -> None:
        """Map an allocation's bytes from ``offset`` on also at an address in a range. Raises RequestError."""
        window = self._memory.window
        if offset + size > -(-source.size // _GRANULE) * _GRANULE:
            raise RequestError(Status.INVALID_ARGUMENT, f"{source.label} is smaller than {offset + size} bytes")
        foreign = self._ranges.get(source.address)
        if foreign is None:
            self._place(address, size, window.file, source.address - window.base + offset)
        elif foreign.file is not None:
            self._place(address, size, foreign.file, foreign.offset + offset)
        else:
            raise RequestError(Status.INVALID_ALLOCATION, f"{source.label} is a reserved range without memory")

    def attach(self, other: SharedMemory, address: int, size: int) -> tuple[Allocation, int]:
        """Map an allocation of another process for kernels; returns its address, and its offset in that process's file.
        Raises RequestError, AllocationError."""
        source = other.global_memory.find(address)
        if source is None or source.address != address or source.size != size:
            reason = f"the other process has no allocation of {size} bytes at {address:#x}"
            raise RequestError(Status.INVALID_ARGUMENT, reason)
        allocation = self.reserve(size, 0, "of another process")
        found = self._ranges[allocation.address]
        found.file, found.offset = os.dup(other.window.file), address - other.window.base  # that process may end first
        whole = -(-size // _GRANULE) * _GRANULE
        part = self._place(allocation.address, whole, found.file, found.offset)
        part.high, part.access = size, PageFlags.READ | PageFlags.WRITE
        self._expose(found)
        return allocation, found.offset

    def unmap(self, address: int, size: int) -> None:
        """Remove a mapping. Raises RequestError."""
        found = self._range(address)
        part = self._part(found, address, size)
        found.parts.remove(part)
        self._expose(found)
        self._restore(address, size)

    def allow(self, address: int, size: int, access: Access) -> None:
        """Set the accesses that kernels are allowed for all mappings within a range. Raises RequestError."""
        found = self._range(address)
        low, high = address - found.allocation.address, address - found.allocation.address + size
        parts = [part for part in found.parts if low <= part.low and part.high <= high]
        if sum(part.high - part.low for part in parts) != size:
            raise RequestError(Status.INVALID_ALLOCATION, f"the {size} bytes at {address:#x} are not all mapped")
        for part in parts:
            part.access = PageFlags(0)
            for asked, right in _RIGHTS.items():
                part.access |= right if access & asked else PageFlags(0)
        self._expose(found)

    def free(self, address: int) -> None:
        """Forget the range that begins at an address, and its mappings; other addresses are ignored."""
        found = self._ranges.pop(address, None)
        if found is None:
            return
        if found.file is not None:
            os.close(found.file)
        for part in found.parts:
            self._restore(address + part.low, part.high - part.low)

    def close(self) -> None:
        """Drop mappings of other processes' memory, because the process has ended."""
        for found in self._ranges.values():
            if found.file is not None:
                os.close(found.file)
                found.file = None

    # -- ranges and parts ------------------------------------------------------------------------------------

    def _range(self, address: int) -> _Range:
        allocation = self._memory.global_memory.find(address)
        found = self._ranges.get(allocation.address) if allocation is not None else None
        if found is None:
            raise RequestError(Status.INVALID_ALLOCATION, f"no range of addresses was reserved at {address:#x}")
        return found

    def _part(self, found: _Range, address: int, size: int) -> _Part:
        low = address - found.allocation.address
        for part in found.parts:
            if (part.low, part.high) == (low, low + size):
                return part
        raise RequestError(Status.INVALID_ALLOCATION, f"the {size} bytes at {address:#x} are not exactly one mapping")

    def _place(self, address: int, size: int, file: int, offset: int) -> _Part:
        found = self._range(address)
        low, high = address - found.allocation.address, address - found.allocation.address + size
        if not size or address % _GRANULE or size % _GRANULE or offset % _GRANULE:
            raise RequestError(Status.INVALID_ARGUMENT, f"a mapping must consist of whole pages of {_GRANULE} bytes")
        if high > -(-found.allocation.size // _GRANULE) * _GRANULE:
            reason = f"the mapping would end at {address + size:#x}, which is outside its reserved range"
            raise RequestError(Status.INVALID_ALLOCATION, reason)
        if any(part.low < high and low < part.high for part in found.parts):
            raise RequestError(Status.INVALID_ARGUMENT, f"the {size} bytes at {address:#x} overlap an existing mapping")
        try:
            self._memory.window.place(address, size, file, offset)
        except MemoryError as error:
            raise AllocationError(size, "a mapping", str(error)) from None
        part = _Part(low, high, PageFlags(0))
        found.parts.append(part)
        found.parts.sort(key=lambda part: part.low)
        return part

    def _restore(self, address: int, size: int) -> None:
        try:
            self._memory.window.restore(address, size)
        except MemoryError as error:
            raise AllocationError(size, "a mapping", str(error)) from None

    def _expose(self, found: _Range) -> None:
        usable = [(part.low, part.high, part.access) for part in found.parts if part.access]
        self._memory.global_memory.expose(found.allocation, usable)


__all__ = ["Mappings"]
