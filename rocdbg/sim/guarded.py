"""Host memory that generated code works on: between pages that cannot be touched.

Generated code checks each access itself. Should a check be wrong, an access that runs off either end of a block meets
a guard page and stops at once (`native_guard`), instead of changing whatever the host keeps behind the block. Blocks
end at most `ALIGN` - 1 bytes before their guard.

A process may have only so many mappings (Linux: vm.max_map_count, by default 65,530). Blocks beyond `MOST_GUARDS` come
without guards: the checks stand.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import weakref
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

ALIGN: Final = 64
"""Blocks begin at multiples of this many bytes."""

MOST_GUARDS: Final = 8192
"""Guard pages in a process. Each splits a mapping in two."""

_PAGE: Final = mmap.PAGESIZE
_NOTHING: Final = 0  # PROT_NONE
_LARGE: Final = 4 << 20
"""Blocks of this many bytes and more ask for huge pages, as NumPy's do."""


@functools.cache
def _mprotect() -> Callable[[int, int, int], int]:
    function = ctypes.CDLL(None).mprotect
    function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int), ctypes.c_int
    return function


def _pages(size: int) -> int:
    return -(-size // _PAGE) * _PAGE


_guards = 0


def _give_back(guards: int) -> None:
    global _guards
    _guards -= guards


def _map(size: int, guards: int) -> NDArray[np.uint8]:
    """Zero bytes from a page on, freed with the last array that shows them; ``guards``: pages of them that will become
    guards. Raises MemoryError."""
    global _guards
    try:
        mapping = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, ValueError, OverflowError):
        raise MemoryError(f"no {size} bytes of memory") from None
    _guards += guards
    weakref.finalize(mapping, _give_back, guards).atexit = False
    if size >= _LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a host without them
            mapping.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(mapping, np.uint8)


def guarded(size: int) -> NDArray[np.uint8]:
    """``size`` zero bytes, uint8[size], with a guard page on either side. Raises MemoryError."""
    block: NDArray[np.uint8] = guarded_rows(1, size)[0]
    return block


def guarded_rows(rows: int, size: int) -> NDArray[np.uint8]:
    """Blocks of ``size`` zero bytes, uint8[rows, size], with a guard page before each and after the last. Raises
    MemoryError."""
    aligned = -(-size // ALIGN) * ALIGN
    if _guards + rows >= MOST_GUARDS:
        owner = np.zeros(rows * aligned + ALIGN, np.uint8)
        return _rows(owner[-int(owner.ctypes.data) % ALIGN :], rows, size, aligned)
    stride = _pages(aligned) + _PAGE
    memory = _map(rows * stride + _PAGE, rows + 1)
    start = int(memory.ctypes.data)
    protect = _mprotect()
    for row in range(rows + 1):
        if protect(start + row * stride, _PAGE, _NOTHING):
            break  # others have used up the mappings
    return _rows(memory[stride - aligned :], rows, size, stride)  # a row ends where the next guard page begins


def _rows(memory: NDArray[np.uint8], rows: int, size: int, stride: int) -> NDArray[np.uint8]:
    return np.lib.stride_tricks.as_strided(memory, (rows, size), (stride, 1))


__all__ = ["ALIGN", "MOST_GUARDS", "guarded", "guarded_rows"]
