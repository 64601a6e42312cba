"""Watched memory: words that native code compares after each instruction that may have changed them.

Blocks are translated with these comparisons only while anything is watched. Watched bytes are host bytes: those of
global memory, of a workgroup's LDS or of a lane's private memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.sim.core.guarded import guarded
from rocdbg.sim.core.memory import GlobalMemory

WORD, MASK, VALUE, FIRST_WAVE, LAST_WAVE = range(5)
"""Words (u64) of a row: the host address of 8 aligned bytes, the mask of the watched ones, their value when last
compared, and the numbers of the first and last wave whose instructions are checked. The number of rows precedes the
rows.
"""
ROW_WORDS: Final = 5
TOUCH_WORDS: Final = 4
"""Words of a row of the second table, for bytes of which every access is reported: the address of the first byte, that
of the byte after the last, and the first and last wave number as above.
"""
_EVERY_WAVE = (0, (1 << 64) - 1)


class WatchedBytes(Struct, frozen=True):
    """``size`` bytes at host address ``host``, which do not move. ``waves`` holds the first and the last wave whose
    accesses are reported.

    Other waves are not examined: for their instructions this memory belongs to another workgroup. With ``accesses``,
    every access is reported, not only changes. ``address`` is the simulated address of global memory, whose allocation
    a program may free while it is watched.
    """

    host: int
    size: int
    waves: tuple[int, int] = _EVERY_WAVE
    accesses: bool = False
    address: int | None = None


EVERY_ACCESS = WatchedBytes(0, (1 << 64) - 1, accesses=True)
"""While this is watched, any access to memory ends a run with WATCH."""

_NOTHING = WatchedBytes(0, 0)


class ExistingWatches:
    """The watched bytes that exist while certain waves run; ``apply`` watches these, which keep their indices.

    Global memory may have been freed since the request, and the memory of another dispatch's waves ends with that
    dispatch.
    """

    def __init__(self, memory: GlobalMemory, apply: Callable[[Sequence[WatchedBytes]], None]) -> None:
        self._memory, self._apply = memory, apply
        self._watched: Sequence[WatchedBytes] = ()
        self._waves = 0, 0
        self._frees = 0

    def set(self, watched: Sequence[WatchedBytes], waves: tuple[int, int]) -> None:
        """Watch those of the bytes that exist now, while the waves from a first to a last number run."""
        self._watched, self._waves, self._frees = watched, waves, self._memory.frees
        self._apply([one if _exists(one, self._memory, waves) else _NOTHING for one in watched])

    def forget_freed(self) -> None:
        """Stop watching memory that has been freed since then."""
        if self._watched and self._frees != self._memory.frees:
            self.set(self._watched, self._waves)


def _exists(one: WatchedBytes, memory: GlobalMemory, waves: tuple[int, int]) -> bool:
    if one.address is not None:
        found = memory.find(one.address)
        if found is None or one.address + one.size > found.end:
            return False
        return found.host_address + (one.address - found.address) == one.host
    return one.waves[0] <= waves[1] and waves[0] <= one.waves[1]


class Access(Struct, frozen=True):
    """Where an access of an instruction went: the mask of lanes; the bytes per lane; and for each lane the host address
    of the first byte and the distance from one dword to the next (0: the lane accessed nothing). A scalar access counts
    as one of lane 0.
    """

    lanes: int
    size: int
    pointers: tuple[int, ...]
    strides: tuple[int, ...]

    def spans(self, lane: int, first: int, size: int) -> list[tuple[int, int]]:
        """Begin and end on the host of a range of a lane's bytes."""
        pointer, stride = self.pointers[lane], self.strides[lane]
        if not stride:
            return []
        if stride <= 4:
            return [(pointer + first, pointer + first + size)]
        at = (pointer & 3) + first
        return _spans((pointer & ~3) + (at >> 2) * stride + (at & 3), stride, size)


class Change(Struct, frozen=True):
    """An instruction that changed (or read) watched bytes, the lanes of its wave that did, and the bytes.

    ``touched`` holds the indices of the watched bytes that the instruction's last access is known to have reached.
    """

    pc: int
    lanes: int
    touched: frozenset[int] = frozenset()
    reads: bool = False
    """Whether it also reads, rather than only stores."""


class WatchTable:
    """The watched words of one engine."""

    def __init__(self) -> None:
        self._table: NDArray[np.uint64] = guarded(8 * (1 + ROW_WORDS)).view(np.uint64)
        self._touches: NDArray[np.uint64] = guarded(8 * (1 + TOUCH_WORDS)).view(np.uint64)
        self._begins = self._ends = np.zeros(0, np.uint64)

    @property
    def address(self) -> int:
        """Host address of the table."""
        return int(self._table.ctypes.data)

    @property
    def touches(self) -> int:
        """Host address of the table of bytes for which every access counts."""
        return int(self._touches.ctypes.data)

    def set(self, watched: Sequence[WatchedBytes]) -> None:
        """Watch these bytes, from their current values on."""
        rows = [row for one in watched if one != EVERY_ACCESS for row in _rows(one)]
        if len(rows) * ROW_WORDS + 1 > self._table.size:
            self._table = guarded(8 * (1 + 2 * len(rows) * ROW_WORDS)).view(np.uint64)
        self._table[0] = len(rows)
        self._table[1 : 1 + len(rows) * ROW_WORDS] = np.array(rows, np.uint64).reshape(-1)
        self._begins = np.array([one.host for one in watched], np.uint64)
        self._ends = np.array([one.host + one.size for one in watched], np.uint64)
        spans = [(one.host, one.host + one.size, *one.waves) for one in watched if one.accesses]
        if len(spans) * TOUCH_WORDS + 1 > self._touches.size:
            self._touches = guarded(8 * (1 + 2 * len(spans) * TOUCH_WORDS)).view(np.uint64)
        self._touches[0] = len(spans)
        self._touches[1 : 1 + len(spans) * TOUCH_WORDS] = np.array(spans, np.uint64).reshape(-1)

    def reached(
        self, pointers: Sequence[int], strides: Sequence[int], lanes: int, size: int
    ) -> tuple[int, frozenset[int]]:
        """The lanes whose access of ``size`` bytes reaches watched bytes, and the indices of these bytes.

        ``strides`` are the distances between dwords. A size of 0 means that it is not known.
        """
        found, touched = 0, set[int]()
        for lane in range(64):
            if not size or not lanes >> lane & 1:
                continue
            spans = _spans(pointers[lane], strides[lane], size)
            for start, end in spans:
                indices = np.flatnonzero((self._begins < end) & (self._ends > start))
                found |= int(indices.size > 0) << lane
                touched.update(indices.tolist())
        return found, frozenset(touched)


def _rows(one: WatchedBytes) -> list[tuple[int, int, int, int, int]]:
    """The table rows for some watched bytes. The rows describe aligned words, which never extend beyond the page that
    contains the bytes.
    """
    rows = []
    end = one.host + one.size
    for word in range(one.host & ~7, end, 8):
        first, last = max(word, one.host) - word, min(word + 8, end) - word
        mask = (1 << 8 * last) - (1 << 8 * first)
        value = ctypes.c_uint64.from_address(word).value & mask
        rows.append((word, mask, value, *one.waves))
    return rows


def _spans(pointer: int, stride: int, size: int) -> list[tuple[int, int]]:
    if stride <= 4:
        return [(pointer, pointer + size)] if stride else []
    spans, done = [], 0
    while done < size:
        step = min(4 - (pointer & 3), size - done)
        spans.append((pointer, pointer + step))
        done += step
        pointer = (pointer & ~3) + stride
    return spans
