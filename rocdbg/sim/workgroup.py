"""A resident workgroup: its waves, its LDS, and who waits at its barrier."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rocdbg.sim.wave import Dim3, Wave


class Workgroup:
    """One workgroup while its waves run. ``size`` is its own: groups at the grid's edge may be smaller."""

    __slots__ = ("lds", "position", "size", "slot", "waves")

    def __init__(self, position: Dim3, size: Dim3, slot: int, lds: NDArray[np.uint8]) -> None:
        self.position = position
        self.size = size
        self.slot = slot
        self.lds = lds
        self.waves: list[Wave] = []

    @property
    def ended(self) -> bool:
        """Whether all its waves have ended."""
        return all(wave.ended for wave in self.waves)

    def arrive(self, wave: Wave) -> None:
        """The wave has passed an ``s_barrier``: it waits until every wave that has not ended is there."""
        wave.waiting = True
        self._release()

    def leave(self, wave: Wave) -> None:
        """The wave has ended; a barrier no longer waits for it."""
        wave.ended = True
        wave.waiting = False
        self._release()

    def _release(self) -> None:
        if all(wave.waiting or wave.ended for wave in self.waves):
            for wave in self.waves:
                wave.waiting = False
