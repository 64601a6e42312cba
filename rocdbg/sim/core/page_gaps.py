"""Keeps track of free runs of pages in a window of addresses. An allocation gets the lowest run that fits."""

from __future__ import annotations

import heapq
from typing import Final

_EXACT: Final = 64
"""Runs shorter than this have a bin for each length."""
_PARTS: Final = 8
"""Longer runs have this many bins between one power of two and the next."""
_SPARE: Final = 64
"""Stale entries that a bin may hold in addition to one per run."""


def _bin(length: int) -> int:
    """The number of the bin for runs of ``length`` pages; longer runs are never in a lower bin."""
    if length < _EXACT:
        return length
    power = length.bit_length() - 1
    return _EXACT + (power - 6) * _PARTS + ((length >> power - 3) & _PARTS - 1)


class PageGaps:
    """Knows which of the pages [first, end) are free.

    A bin is a heap of the starts of runs of about one length. Entries of runs that no longer exist stay until they
    reach the top.
    """

    def __init__(self, first: int, end: int) -> None:
        self._lengths: dict[int, int] = {}
        self._by_end: dict[int, int] = {}
        self._bins: dict[int, list[int]] = {}
        self._filled = 0  # bit n: bin n is not empty
        if first < end:
            self._add(first, end - first)

    def take(self, count: int, align: int = 1) -> int | None:
        """Take the lowest ``count`` free pages in a row, aligned to ``align`` pages, and return the first; None if
        there are none."""
        best: int | None = None
        number = _bin(count)
        filled = self._filled >> number
        while filled:
            step = (filled & -filled).bit_length() - 1
            number, filled = number + step, filled >> step
            start = self._lowest(number, count, align)
            if start is not None and (best is None or start < best):
                best = start
            number, filled = number + 1, filled >> 1
        if best is None:
            return None
        length = self._remove(best)
        page = -(-best // align) * align
        if page > best:
            self._add(best, page - best)
        if best + length > page + count:
            self._add(page + count, best + length - page - count)
        return page

    def take_at(self, page: int, count: int) -> bool:
        """Take ``count`` pages from ``page`` on, if all are free. The time grows with the number of runs."""
        start = max((start for start in self._lengths if start <= page), default=None)
        if start is None or start + self._lengths[start] < page + count:
            return False
        length = self._remove(start)
        if page > start:
            self._add(start, page - start)
        if start + length > page + count:
            self._add(page + count, start + length - page - count)
        return True

    def give(self, page: int, count: int) -> None:
        """Free pages that were taken."""
        end = page + count
        before = self._by_end.get(page)
        if before is not None:
            count += self._remove(before)
            page = before
        if end in self._lengths:
            count += self._remove(end)
        self._add(page, count)

    def _add(self, start: int, length: int) -> None:
        self._lengths[start], self._by_end[start + length] = length, start
        number = _bin(length)
        heap = self._bins.setdefault(number, [])
        if len(heap) > 2 * len(self._lengths) + _SPARE:
            heap[:] = sorted({at for at in heap if self._is_in(number, at)})
        heapq.heappush(heap, start)
        self._filled |= 1 << number

    def _remove(self, start: int) -> int:
        length = self._lengths.pop(start)
        del self._by_end[start + length]
        return length

    def _is_in(self, number: int, start: int) -> bool:
        length = self._lengths.get(start)
        return length is not None and _bin(length) == number

    def _lowest(self, number: int, count: int, align: int) -> int | None:
        """Start of the lowest run of a bin that has room for the pages."""
        heap = self._bins[number]
        while heap and not self._is_in(number, heap[0]):
            heapq.heappop(heap)
        if not heap:
            self._filled &= ~(1 << number)
            return None
        if self._fits(heap[0], count, align):
            return heap[0]
        return min((at for at in heap if self._is_in(number, at) and self._fits(at, count, align)), default=None)

    def _fits(self, start: int, count: int, align: int) -> bool:
        return -(-start // align) * align + count <= start + self._lengths[start]


__all__ = ["PageGaps"]
