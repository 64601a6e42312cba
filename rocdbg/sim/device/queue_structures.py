"""The structures that a kernel can access through its queue pointer and hidden arguments, with their real layouts.

Kernels read aperture bases from the ``amd_queue_t``. Its other fields hold what a runtime would put there, unless that
has no meaning without a runtime. The packets in a queue are in `rocdbg.sim.device.aql_packets`.
"""

from __future__ import annotations

import struct
from typing import Final

from msgspec import Struct

QUEUE_SIZE = 256
"""Bytes of the defined fields of ``amd_queue_t``."""
WRITE_INDEX: Final = 56
READ_INDEX: Final = 128
"""Offsets in ``amd_queue_t`` of the number of packets written (WRITE_INDEX) and of the number processed (READ_INDEX).
"""
SIGNAL_VALUE: Final = 8
"""Offset of the value in ``amd_signal_t``."""
GRID_SYNC_SIZE = 48
"""Size in bytes of the structure to which ``hidden_multigrid_sync_arg`` points."""

GRID_SYNC_REFUSED: Final = 0x7EFF_FFFF_F000
"""An unmapped address: the value of ``hidden_multigrid_sync_arg`` if not all workgroups can be resident at once.

It is not known beforehand whether a kernel synchronises its grid: all unoptimised kernels have the argument, and
optimised ones also use it to determine whether the launch was cooperative. Only an access to the structure shows that
it does.
"""

# amd_queue_t: hsa_queue_t (type, features, base, doorbell, size, reserved, id), reserved, write id, aperture
# bases (bits 63..32), max CU and wave id, doorbell fields, reserved, read id, read id offset, tmpring size,
# scratch
# resource descriptor, scratch location and size, scratch bytes per lane, properties, reserved, inactive
# signal.
_QUEUE = struct.Struct("<IIQQIIQ16xQIIIIQI36xQII4IQQII8xQ56x")
_QUEUE_TYPE_MULTI = 0
_QUEUE_FEATURE_KERNEL_DISPATCH = 1
_PROPERTY_IS_PTR64 = 1 << 1

# As the device libraries declare it: state shared between devices, number of this grid, number of grids, work-items
# of earlier and of all grids, two counters of this grid's own barrier, its workgroups, padding.
_GRID_SYNC = struct.Struct("<QIIQQIIII")


class Queue(Struct, frozen=True):
    """The contents of ``amd_queue_t``. Aperture bases are the high dwords of the 64-bit addresses; a queue without
    scratch has 0 in the scratch fields."""

    packets_address: int
    packet_count: int
    shared_base_hi: int
    private_base_hi: int
    scratch_descriptor: tuple[int, int, int, int] = (0, 0, 0, 0)
    scratch_address: int = 0
    scratch_size: int = 0
    scratch_lane_size: int = 0
    write_index: int = 0
    read_index: int = 0
    kind: int = _QUEUE_TYPE_MULTI
    doorbell: int = 0
    """Handle of the doorbell's signal."""
    number: int = 1
    largest_unit: int = 0
    largest_wave: int = 0
    """The highest numbers of a compute unit, and of a wave in it."""

    def to_bytes(self) -> bytes:
        """The 256 bytes of the structure."""
        return _QUEUE.pack(
            self.kind,
            _QUEUE_FEATURE_KERNEL_DISPATCH,
            self.packets_address,
            self.doorbell,
            self.packet_count,
            0,
            self.number,
            self.write_index,
            self.shared_base_hi,
            self.private_base_hi,
            self.largest_unit,
            self.largest_wave,
            0,
            0,
            self.read_index,
            READ_INDEX,
            0,
            *self.scratch_descriptor,
            self.scratch_address,
            self.scratch_size,
            self.scratch_lane_size,
            _PROPERTY_IS_PTR64,
            0,
        )


def grid_sync(groups: int) -> bytes:
    """The 48 bytes through which ``groups`` workgroups of a cooperative launch on one device synchronise.

    A grid whose number of workgroups needs more than 32 bits is never fully resident, so it cannot synchronise.
    """
    return _GRID_SYNC.pack(0, 0, 0, 0, 0, 0, 0, min(groups, 0xFFFF_FFFF), 0)
