"""The default queue to which kernels of OpenCL 2 enqueue: it exists, but is always full.

rocdbg cannot launch kernels from within a kernel, so ``enqueue_kernel`` returns an error, which programs must expect.
Layouts are those of the device libraries: a header (64 bytes), bit masks of slots in use, and the "wrap" of the running
kernel (128 bytes), where it counts its children.
"""

from __future__ import annotations

import struct

from rocdbg.sim.core.memory import Allocation

SIZE = 512
"""Total size in bytes."""
_SLOTS = 32
_QUEUE = struct.Struct("<IIQQQIIII")  # slots, events, their mask, events, mask, commands, waits, arguments, groups
_MASK, _WRAP = 128, 256


class DeviceQueue:
    """A queue in ``allocation`` (`SIZE` bytes); ``address`` is ``hidden_default_queue``, ``action`` is
    ``hidden_completion_action``."""

    def __init__(self, allocation: Allocation) -> None:
        self.address = allocation.address
        self.action = allocation.address + _WRAP
        mask = allocation.address + _MASK
        data = allocation.data.data
        _QUEUE.pack_into(data, 0, _SLOTS, _SLOTS, mask, 0, mask, 0, 0, 0, 1)
        struct.pack_into("<I", data, _MASK, 0xFFFF_FFFF)


__all__ = ["SIZE", "DeviceQueue"]
