"""Memory of a device that is the debugger's own: for strings that expressions have put there."""

from __future__ import annotations

import numpy as np

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.sim.core.memory import Allocation, AllocationError, AllocationKind, GlobalMemory

BLOCK = 1 << 16
"""Bytes that are taken at once, at least."""
ALIGN = 16
"""Of what is kept, as that of a `malloc`."""


class OwnMemory:
    """What the debugger keeps in global memory: blocks that are filled one after the other, and never freed."""

    def __init__(self, memory: GlobalMemory) -> None:
        self._memory = memory
        self._block: Allocation | None = None
        self._used = 0

    def keep(self, data: bytes) -> int:
        """Put bytes there; their address. Raises `DebuggerError` where the device has no room for them."""
        if self._block is None or self._used + len(data) > self._block.size:
            size = max(BLOCK, len(data))
            try:
                self._block = self._memory.allocate(size, name="the debugger's own", kind=AllocationKind.RUNTIME)
            except AllocationError as error:
                raise DebuggerError(f"no room for {len(data)} bytes in the device's memory: {error}") from None
            self._used = 0
        start = self._used
        # not as a write of the program's: nobody watches it, and going back in time does not undo it
        self._block.data[start : start + len(data)] = np.frombuffer(data, np.uint8)
        self._used += -(-max(1, len(data)) // ALIGN) * ALIGN
        return self._block.address + start
