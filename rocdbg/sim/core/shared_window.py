"""Simulated memory that another process shares: an unnamed sparse file, parts of which are mapped.

The file is as long as the window; a simulated address is in the file at its distance from the window's base. A program
whose pointers must equal simulated addresses maps the file at that base. Pages occupy host memory from their first
access until they are freed.

In this process, addresses outside allocations are inaccessible as long as the host has mappings for that
(`MOST_GUARDS`), so an access that slips through a check of generated code stops at once. The file contains nothing else
that rocdbg relies on: the other process may write to any of it at any time, but cannot change its length.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import mmap
import os
import sys
import weakref
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rocdbg.errors import Error
from rocdbg.sim.core.guarded import protect
from rocdbg.sim.core.layout import PAGE_SIZE, WINDOW_SIZE

SHARED_BASE: Final = 0x4000_0000_0000
"""The window's usual base: an address range that processes do not use, with or without AddressSanitizer."""

MOST_GUARDS: Final = 8192
"""The most allocations of a window that have inaccessible gaps between them at a time: each needs mappings in addition
to those of `guarded.MOST_GUARDS`.
"""

_NOTHING: Final = 0  # PROT_NONE
_BOTH: Final = mmap.PROT_READ | mmap.PROT_WRITE
_FIXED: Final = 0x10  # MAP_FIXED
_HOST_PAGE: Final = mmap.PAGESIZE
# Not in the modules of every Python version: linux/mman.h, linux/fcntl.h
_NO_RESERVE: Final = 0x4000
_ADD_SEALS: Final = 1033
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW = 1, 2, 4


@functools.cache
def _host_mmap() -> Callable[[int, int, int, int, int, int], int | None]:
    function = ctypes.CDLL(None).mmap
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    function.restype = ctypes.c_void_p
    return function


class SharedWindowError(Error):
    """The host does not provide what shared memory needs."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"cannot share the GPU's memory with a program: {reason}")


class SharedWindow:
    """The file and this process's mapping of it. ``base``: simulated address of its first byte, a multiple of 1 GiB.

    Raises `SharedWindowError`.
    """

    def __init__(self, base: int = SHARED_BASE) -> None:
        if sys.platform != "linux":
            raise SharedWindowError("this is possible only on Linux")
        if base % (1 << 30) or not 0 < base < 1 << 47:
            raise SharedWindowError(f"the memory window cannot begin at {base:#x}")
        self.base = base
        self.size = WINDOW_SIZE
        try:
            self.file = os.memfd_create("rocdbg", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            weakref.finalize(self, os.close, self.file)
            os.ftruncate(self.file, self.size)
            fcntl.fcntl(self.file, _ADD_SEALS, _SEAL_SHRINK | _SEAL_GROW | _SEAL_SEAL)
            self._map = mmap.mmap(self.file, self.size, mmap.MAP_SHARED | _NO_RESERVE)
        except OSError as error:
            limit = "; is the size of address space limited (ulimit -v)?"
            raise SharedWindowError(f"{error.strerror}{limit}") from None
        self._map.madvise(mmap.MADV_DONTDUMP)
        self._map.madvise(mmap.MADV_DONTFORK)
        self._bytes: NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)
        self.host = int(self._bytes.ctypes.data)
        """Host address of the first byte."""
        self._guards = 0
        self._guarded: set[int] = set()
        protect(self.host, self.size, _NOTHING)

    def open(self, address: int, size: int) -> NDArray[np.uint8]:
        """Make the bytes at an address, which begins a page of the page table, usable: zeros, uint8[size]. Raises
        MemoryError."""
        offset = address - self.base
        length = -(-size // _HOST_PAGE) * _HOST_PAGE
        if size:
            guarded = self._guards < MOST_GUARDS
            # Allocations that follow one another form one mapping if there are no guards between them.
            span = length if guarded else -(-size // PAGE_SIZE) * PAGE_SIZE + PAGE_SIZE
            if protect(self.host + offset, min(span, self.size - offset), _BOTH):
                raise MemoryError("the host has no more mappings")
            if guarded:
                self._guards += 1
                self._guarded.add(offset)
        return self._bytes[offset : offset + size]

    def place(self, address: int, size: int, file: int, offset: int) -> None:
        """Map part of the file of this window or of another one at an address that is open, in whole host pages.
        ``offset`` is the position in the file. Call `restore` for the address before it is closed. Raises MemoryError.
        """
        at = self.host + (address - self.base)
        length = -(-size // _HOST_PAGE) * _HOST_PAGE
        flags = mmap.MAP_SHARED | _NO_RESERVE | _FIXED
        if _host_mmap()(at, length, _BOTH, flags, file, offset) != at:
            raise MemoryError("the host has no more mappings")
        for advice in (mmap.MADV_DONTDUMP, mmap.MADV_DONTFORK):
            self._map.madvise(advice, address - self.base, length)

    def restore(self, address: int, size: int) -> None:
        """Undo `place`: map the window's own pages again, zero where nothing was written. Raises MemoryError."""
        self.place(address, size, self.file, address - self.base)

    def close(self, address: int, size: int) -> None:
        """Release the memory of bytes that no allocation owns any more to the host, for every process."""
        if not size:
            return
        offset = address - self.base
        length = -(-size // _HOST_PAGE) * _HOST_PAGE
        self._map.madvise(mmap.MADV_REMOVE, offset, length)
        if offset in self._guarded:
            self._guarded.discard(offset)
            self._guards -= 1
            protect(self.host + offset, length, _NOTHING)


__all__ = ["SHARED_BASE", "SharedWindow", "SharedWindowError"]
