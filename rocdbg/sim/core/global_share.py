"""What all waves of a device share besides memory: the global data share (GDS) and global wave sync (GWS).

GDS is separate memory that ds_* instructions with ``gds`` access. GWS consists of 64 resources that are barriers or
semaphores. Compute runtimes allocate neither by default. In rocdbg, however, programs can use the whole GDS and all
resources of GWS.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rocdbg.arch.targets import Target
from rocdbg.sim.core.guarded import guarded

GWS_RESOURCES: Final = 64
GWS_FIELDS: Final = ("counter", "flag", "waiting", "origin")
"""u32 each. Flag: which of a barrier's two passes is in progress. Waiting: waves queued at a semaphore. Origin:
`Origin` of the counter."""


class Origin(IntEnum):
    """What set a resource's counter."""

    NOBODY = 0
    PROGRAM = 1
    """The program, by ds_gws_init."""
    BARRIER = 2
    """The first wave at a barrier that no program has initialised. This gives the same result as on hardware, where a
    runtime initialises resource 0 before a cooperative launch with the number that the barrier instructions name.
    """


class GlobalShare:
    """GDS and GWS of one device, all zeros at first."""

    def __init__(self, target: Target) -> None:
        self.gds: NDArray[np.uint8] = guarded(target.gds_size)
        """The memory, uint8[bytes]."""
        rows = guarded(GWS_RESOURCES * len(GWS_FIELDS) * 4).view(np.uint32)
        self.gws: NDArray[np.uint32] = rows.reshape(GWS_RESOURCES, len(GWS_FIELDS))
        """The resources, uint32[64][`GWS_FIELDS`]."""

    def start_dispatch(self) -> None:
        """Reset barriers that an abandoned dispatch left when only some of its waves had passed."""
        origin = self.gws[:, GWS_FIELDS.index("origin")]
        if not origin.any():
            return
        origin[origin == Origin.BARRIER] = Origin.NOBODY


__all__ = ["GWS_FIELDS", "GWS_RESOURCES", "GlobalShare", "Origin"]
