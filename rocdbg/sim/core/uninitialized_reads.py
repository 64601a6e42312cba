"""Counts of reads of uninitialized bytes: which instructions read them, and where the first read of each was.

Watched memory (see `GlobalMemory`) has one shadow byte per byte, which is 1 once the byte was written. Generated code
fills the table here: a row of eight u64 per instruction, found by its pc.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.sim.core.guarded import guarded

CAPACITY: Final = 4096
"""Rows; a power of two. Reads that find no free row are counted as lost."""
ROW: Final = 8
"""u64 per row: pc, reads, bytes, then wave, lane, address and size of the first read; one unused."""
LOST: Final = CAPACITY * ROW
"""Index of the u64 after the rows, which counts the reads that found no free row."""


class UninitializedRead(Struct, frozen=True):
    """One instruction that read bytes never written.

    ``reads`` counts accesses of single lanes to at least one such byte, and ``bytes`` counts these bytes. ``wave``,
    ``lane`` (None for scalar instructions), ``address`` and ``size`` describe the first such access: ``address`` is the
    simulated address of its first uninitialized byte, ``size`` the bytes that it read.
    """

    pc: int
    reads: int
    bytes: int
    wave: int
    lane: int | None
    address: int
    size: int


class UninitializedReads:
    """The counts of one machine."""

    def __init__(self) -> None:
        self._table: NDArray[np.uint64] = guarded((CAPACITY * ROW + 1) * 8).view(np.uint64)

    @property
    def address(self) -> int:
        """Host address of the table, constant for the object's life."""
        return int(self._table.ctypes.data)

    @property
    def table(self) -> NDArray[np.uint8]:
        """The table's bytes."""
        return self._table.view(np.uint8)

    @property
    def rows(self) -> tuple[UninitializedRead, ...]:
        """The counts, by pc."""
        rows = self._table[:LOST].reshape(CAPACITY, ROW)
        found = []
        for pc, reads, count, wave, lane, address, size, _ in rows[rows[:, 1] > 0].tolist():
            found.append(
                UninitializedRead(pc, reads, count, wave, lane if lane < 64 else None, address, size)
            )
        return tuple(sorted(found, key=lambda row: row.pc))

    @property
    def lost(self) -> int:
        """Reads that have no row because more than `CAPACITY` instructions did such reads."""
        return int(self._table[LOST])

    def clear(self) -> None:
        """Reset all counts."""
        self._table[:] = 0


__all__ = ["CAPACITY", "LOST", "ROW", "UninitializedRead", "UninitializedReads"]
