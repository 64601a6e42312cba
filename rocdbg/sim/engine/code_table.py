"""The table in which native code finds the native function of a pc: page directories, one per MODE key."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rocdbg.sim.core import layout
from rocdbg.sim.core.guarded import guarded
from rocdbg.sim.core.layout import PAGE_COUNT, PAGE_SHIFT, PAGE_SIZE

_MOST_KEYS = 32  # MODE keys that may have translations at a time


class CodeTable:
    """Functions by pc, per MODE key, in the form native code reads."""

    def __init__(self, base: int) -> None:
        self._base = base
        self.roots: NDArray[np.uint64] = guarded(layout.MODE_KEYS * 8, sparse=True).view(np.uint64)
        self.address = int(self.roots.ctypes.data)
        """Host address of the roots."""
        self._directories: dict[int, NDArray[np.uint64]] = {}
        self._pages: dict[tuple[int, int], NDArray[np.uint64]] = {}

    @property
    def crowded(self) -> bool:
        """Whether there are so many MODE keys that the table should be reset; each takes 8 MiB of addresses."""
        return len(self._directories) > _MOST_KEYS

    def reset(self) -> None:
        self.roots[list(self._directories)] = 0
        self._directories.clear()
        self._pages.clear()

    def mode_keys(self) -> Iterable[int]:
        return list(self._directories)

    def get(self, key: int, pc: int) -> int:
        page = self._pages.get((key, (pc - self._base) >> PAGE_SHIFT))
        return 0 if page is None else int(page[(pc & PAGE_SIZE - 1) >> 2])

    def set(self, key: int, pc: int, function: int) -> None:
        number = (pc - self._base) >> PAGE_SHIFT
        page = self._pages.get((key, number))
        if page is None:
            directory = self._directories.get(key)
            if directory is None:
                directory = self._directories[key] = guarded(PAGE_COUNT * 8, sparse=True).view(np.uint64)
                self.roots[key] = directory.ctypes.data
            page = self._pages[key, number] = guarded((PAGE_SIZE >> 2) * 8).view(np.uint64)
            directory[number] = page.ctypes.data
        page[(pc & PAGE_SIZE - 1) >> 2] = function

    def clear(self, lo: int, hi: int, functions: Iterable[int]) -> None:
        """Remove entries of pcs in [lo, hi) that are among ``functions``."""
        unwanted = np.fromiter(functions, np.uint64)
        for (_, number), page in self._pages.items():
            start = self._base + (number << PAGE_SHIFT)
            first, end = max(lo - start, 0) >> 2, max(hi - start + 3, 0) >> 2
            part = page[first:end]
            part[np.isin(part, unwanted)] = 0
