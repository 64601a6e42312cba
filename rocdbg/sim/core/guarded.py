"""Host memory for generated code, placed between pages that cannot be accessed.

Generated code checks each access itself. If such a check is wrong, an access beyond either end of a block hits a guard
page and stops at once (`native_guard`) instead of changing the host's own data after the block.

A process may have only a limited number of mappings (Linux: vm.max_map_count, by default 65,530). Blocks beyond
`MOST_GUARDS` have no guard pages, only the checks of generated code. Before that limit is reached, rocdbg runs Python's
garbage collector from time to time: the blocks of a launch that never ended are in reference cycles, and the collector
does not run by itself while few other objects are created.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import mmap
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

ALIGN: Final = 64
"""Blocks begin at multiples of this many bytes."""

MOST_GUARDS: Final = 16384
"""The most guard pages in a process. Each splits a mapping in two."""

_PAGE: Final = mmap.PAGESIZE
_NOTHING: Final = 0  # PROT_NONE
_LARGE: Final = 4 << 20
"""Blocks of this many bytes or more request huge pages, as NumPy's do, unless few of their pages are ever touched."""
_HUGE: Final = 2 << 20
"""Blocks with huge pages end at a multiple of this: the host provides huge pages only where a whole one fits between
two guard pages; otherwise every 4 KiB that a launch copies into a buffer cost a page fault.
"""
_KEPT: Final = 64 << 20
"""Bytes of freed blocks that are kept for later blocks of the same size, because launches repeat."""
_KEPT_GUARDS: Final = MOST_GUARDS // 8
"""Guard pages of kept blocks. Without this limit, small blocks would use up most of the guard pages that a process may
have."""
_MANY: Final = 1 << 20
"""Kept blocks of this many bytes or more are reset by returning their pages to the host; smaller ones are cleared."""

_STAGGER: Final = 1088
"""The n-th of many blocks begins n times this many bytes after the beginning of a page: if all blocks began at the same
offset in a page, they would contend for the same lines of the host's caches. It is an odd multiple of ALIGN.
"""

Parts = tuple[tuple[int, int], ...]
"""Begin and end of parts of a row, in bytes."""


class Head(NamedTuple):
    """A second block for each row: ``size`` bytes that begin ``distance`` bytes before the row, with a guard page
    between the two. ``distance`` is at least ``size`` plus two pages."""

    size: int
    distance: int


_NO_HEAD: Final = Head(0, 0)


class _Kind(NamedTuple):
    """The properties that a block must share with another one to replace it."""

    rows: int
    size: int
    sparse: bool
    head: Head

    @property
    def guards(self) -> int:
        return self.rows * (2 if self.head.size else 1) + 1


class _Mapping(Struct, frozen=True):
    """Rows of ``size`` bytes with guard pages before, between and after them. ``used``: see `guarded_rows`."""

    memory: mmap.mmap
    rows: int
    size: int
    stride: int
    first: int
    """Where row 0 begins."""
    used: Parts | None
    head: Head

    def clear(self) -> None:
        """Make all bytes zero again."""
        if self.used is None and len(self.memory) >= _MANY and sys.platform == "linux":
            self.memory.madvise(mmap.MADV_DONTNEED)  # private pages read as zeros again
            return
        every = np.frombuffer(self.memory, np.uint8)
        for row in range(self.rows):
            start = self.first + row * self.stride
            for low, high in self.used or ((0, self.size),):
                every[start + low : start + high] = 0
            head = start - self.head.distance
            every[head : head + self.head.size] = 0


_lock: Final = threading.RLock()
"""Protects the variables below: the devices of detached programs run in threads of their own."""
_guards = 0
_kept_guards = 0
_kept_bytes = 0
_asked = 0
"""Guards requested since cycles were last collected."""
_SELDOM: Final = 1024
"""The number of guards requested between two collections, which are expensive because each visits all objects."""
_kept: dict[_Kind, list[_Mapping]] = {}


@functools.cache
def _mprotect() -> Callable[[int, int, int], int]:
    function = ctypes.CDLL(None).mprotect
    function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int), ctypes.c_int
    return function


def protect(address: int, size: int, access: int) -> bool:
    """Set the access of whole host pages (mmap's PROT_ bits); return whether the host refuses."""
    return bool(_mprotect()(address, size, access))


def _pages(size: int) -> int:
    return -(-size // _PAGE) * _PAGE


def _map(blocks: list[tuple[int, int]], sparse: bool) -> tuple[mmap.mmap, int]:
    """Allocate zeroed memory for blocks, given as begin and end of each in ascending order. All whole pages outside the
    blocks are inaccessible. Also returns how far the memory of each block is from its given begin. Raises MemoryError.
    """
    global _guards
    end = _pages(blocks[-1][1])
    size = end + _PAGE
    large = size >= _LARGE and not sparse and hasattr(mmap, "MADV_HUGEPAGE")
    whole = size + _HUGE if large else size
    memory = _private(whole)
    if memory is None:  # free what only garbage refers to and what is kept for later, and try again
        gc.collect()
        _take_back()
        _keep_none()
        memory = _private(whole)
    if memory is None:
        raise MemoryError(f"no {size} bytes of memory")
    _guards += len(blocks) + 1
    start = int(np.frombuffer(memory, np.uint8).ctypes.data)
    shift = 0
    if large:
        shift = -(start + end) % _HUGE
        with contextlib.suppress(OSError):  # the host has no guard pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    lows = [0, *(shift + _pages(end) for _, end in blocks)]
    highs = [*(shift + begin // _PAGE * _PAGE for begin, _ in blocks), whole]
    for low, high in zip(lows, highs, strict=True):
        if protect(start + low, high - low, _NOTHING):
            break  # other code in the process has used up the mappings
    return memory, shift


def _private(size: int) -> mmap.mmap | None:
    try:
        return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, ValueError, OverflowError):
        return None


def _take(kind: _Kind) -> _Mapping | None:
    """A mapping that was kept, cleared."""
    global _kept_bytes, _kept_guards
    kept = _kept.get(kind)
    if not kept:
        return None
    mapping = kept.pop()
    _kept_bytes -= len(mapping.memory)
    _kept_guards -= kind.guards
    mapping.clear()
    return mapping


class _Shown(Struct, frozen=True):
    """Rows that are in use. ``mapping`` is None if the mapping is too large to be kept; it is then freed together with
    its rows.
    """

    reference: weakref.ref[NDArray[np.uint8]]
    mapping: _Mapping | None
    kind: _Kind


_shown: dict[int, _Shown] = {}
"""The rows in use, by the `id` of the weak reference to them."""
_gone: deque[weakref.ref[NDArray[np.uint8]]] = deque()
"""References whose rows are no longer in use. The callback that runs when rows are freed is just this deque's `append`:
rows can be freed anywhere, even where no Python function can be called because the stack is exhausted.
"""


def _show(memory: NDArray[np.uint8], mapping: _Mapping, sparse: bool) -> None:
    """Record that the rows in ``memory`` are in use."""
    reference = weakref.ref(memory, _gone.append)
    kept = mapping if len(mapping.memory) <= _KEPT else None
    _shown[id(reference)] = _Shown(reference, kept, _Kind(mapping.rows, mapping.size, sparse, mapping.head))


def _take_back() -> None:
    """Process the rows that are no longer in use: keep their memory for later, or free it."""
    global _guards, _kept_bytes, _kept_guards
    while _gone:
        shown = _shown.pop(id(_gone.popleft()))
        mapping, guards = shown.mapping, shown.kind.guards
        if (
            mapping is not None
            and _kept_bytes + len(mapping.memory) <= _KEPT
            and _kept_guards + guards <= _KEPT_GUARDS
        ):
            _kept.setdefault(shown.kind, []).append(mapping)
            _kept_bytes += len(mapping.memory)
            _kept_guards += guards
        else:
            _guards -= guards


class Sparing(Protocol):
    """Objects that keep blocks in reserve that they do not need at the moment."""

    def clear(self) -> None:
        """Free these blocks."""


_sparing: weakref.WeakSet[Sparing] = weakref.WeakSet()


def when_scarce(who: Sparing) -> None:
    """Register an object whose blocks are freed when guards or memory run short; only a weak reference to it is kept.
    """
    _sparing.add(who)


def _keep_none() -> None:
    global _guards, _kept_bytes, _kept_guards
    for who in tuple(_sparing):
        who.clear()
    _take_back()
    # The order of these steps matters: wherever an interrupt stops them, the count of guards must not be less than the
    # number that exist.
    freed, _kept_guards = _kept_guards, 0
    _kept.clear()
    _kept_bytes = 0
    _guards -= freed


def _made_room(guards: int) -> bool:
    """Whether this many additional guards are possible; frees everything that is not needed first."""
    global _asked
    _asked += guards
    if _guards + guards > MOST_GUARDS // 2 and _asked >= _SELDOM:
        _asked = 0
        gc.collect()
        _take_back()
    if _guards + guards > MOST_GUARDS:
        _keep_none()
    return _guards + guards <= MOST_GUARDS


def guarded(size: int, sparse: bool = False) -> NDArray[np.uint8]:
    """``size`` zero bytes, uint8[size], between guard pages, less than `ALIGN` bytes before the second.

    ``sparse`` means that only a few scattered bytes are ever written, so huge pages would just take long to clear.
    Raises MemoryError.
    """
    block: NDArray[np.uint8] = guarded_rows(1, size, sparse=sparse)[0]
    return block


def guarded_rows(rows: int, size: int, used: Parts | None = None, sparse: bool = False) -> NDArray[np.uint8]:
    """Blocks of ``size`` zero bytes, uint8[rows, size], with guard pages before, between and after them. Less than a
    page of unowned bytes lies between the end of a block and a guard page.

    ``used``: the parts of each block that may be written, if these are much less than the whole: only they are cleared
    when the memory is reused. ``sparse``: see `guarded`. Raises MemoryError.
    """
    with _lock:
        return _guarded_rows(rows, size, used, sparse, _NO_HEAD)[1]


def headed_rows(
    rows: int, size: int, head: Head, used: Parts | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Blocks as `guarded_rows` makes them, each with a second block in front of it; a stray access to one cannot reach
    the other. Returns heads, uint8[rows, head.size], and blocks, uint8[rows, size]. Raises MemoryError.
    """
    if head.distance < 2 * _PAGE + head.size:
        raise ValueError("there is no whole page between the two")
    with _lock:
        return _guarded_rows(rows, size, used, False, head)


def _guarded_rows(
    rows: int, size: int, used: Parts | None, sparse: bool, head: Head
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    _take_back()
    aligned = -(-size // ALIGN) * ALIGN
    kind = _Kind(rows, size, sparse, head)
    found = _take(kind)
    if found is None and not _made_room(kind.guards):
        stride = aligned + head.distance
        owner = np.zeros(rows * stride + ALIGN, np.uint8)
        return _both(owner[-int(owner.ctypes.data) % ALIGN :], rows, size, stride, head.distance, head)
    before = _PAGE + head.distance  # the offset of the first row
    if rows == 1:  # the only row ends where the next guard page begins
        stride = _pages(before + aligned)
        first = stride - aligned
    else:
        stride, first = aligned + 2 * _PAGE + head.distance, _pages(before)
        stride += (_STAGGER - stride) % _PAGE
    if found is not None:
        memory, first = found.memory, found.first
    else:
        starts = range(first, first + rows * stride, stride)
        blocks = [(at, at + aligned) for at in starts]
        if head.size:
            heads = ((at - head.distance, at - head.distance + head.size) for at in starts)
            blocks = [block for pair in zip(heads, blocks, strict=True) for block in pair]
        memory, shift = _map(blocks, sparse)
        first += shift
    mapping = _Mapping(memory, rows, size, stride, first, used, head)
    contents = np.frombuffer(memory, np.uint8)
    _show(contents, mapping, sparse)
    return _both(contents, rows, size, stride, first, head)


def _both(
    memory: NDArray[np.uint8], rows: int, size: int, stride: int, first: int, head: Head
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    # These are views whose base is ``memory``, so it remains in use as long as either of them is. (`as_strided` takes
    # 30 times as long.)
    return (
        np.ndarray((rows, head.size), np.uint8, memory, first - head.distance, (stride, 1)),
        np.ndarray((rows, size), np.uint8, memory, first, (stride, 1)),
    )


__all__ = [
    "ALIGN", "MOST_GUARDS", "Head", "Parts", "Sparing", "guarded", "guarded_rows", "headed_rows", "protect",
    "when_scarce",
]
