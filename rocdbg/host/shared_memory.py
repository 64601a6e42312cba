"""The memory that a process shares with its GPUs, with safe access to words in it.

A program may write anywhere in it at any time, and free memory to which it referred before: every address is looked up
when it is used, and the contents are only interpreted as numbers.
"""

from __future__ import annotations

from typing import Final

from rocdbg.errors import Error
from rocdbg.host import protocol
from rocdbg.host.gpu_side import GpuSide
from rocdbg.sim.core.memory import Allocation, AllocationKind, GlobalMemory
from rocdbg.sim.core.shared_window import SharedWindow
from rocdbg.sim.device.queue_structures import SIGNAL_VALUE

_SIGNAL_SIZE: Final = 64
_WORD = 8


class BadAddressError(Error):
    """A program has passed an invalid ``address``."""

    def __init__(self, what: str, address: int) -> None:
        self.address = address
        super().__init__(f"{what} at {address:#x} is not in the memory of the GPU")


class SharedMemory:
    """The window, page table and control words. ``limit`` is the number of bytes that may be live at once."""

    def __init__(self, gpu_side: GpuSide, limit: int) -> None:
        self.window = SharedWindow()
        self.global_memory = GlobalMemory(limit, window=self.window)
        self._gpu_side = gpu_side
        words = self.global_memory.allocate(
            protocol.CONTROL_SIZE, name="control words", kind=AllocationKind.QUEUE
        )
        self.control = words.address
        """Simulated address of ``control_t``, see runtime/runtime.h."""
        self._control = words.host_address

    def host(self, address: int, size: int, what: str) -> int:
        """rocdbg's own address of bytes, which must exist and be aligned to words. Raises BadAddressError."""
        allocation = self.global_memory.find(address)
        if allocation is None or address + size > allocation.end or address % _WORD:
            raise BadAddressError(what, address)
        return allocation.host_address + (address - allocation.address)

    def read(self, address: int, size: int, what: str) -> bytes:
        """Bytes at an address. Raises BadAddressError."""
        allocation = self.global_memory.find(address)
        if allocation is None or address + size > allocation.end:
            raise BadAddressError(what, address)
        offset = address - allocation.address
        return allocation.data[offset : offset + size].tobytes()

    def word(self, address: int, what: str) -> int:
        """The unsigned 64-bit number at an address. Raises BadAddressError."""
        return int.from_bytes(self.read(address, _WORD, what), "little")

    def signal_value(self, signal: int) -> int:
        """The value of a signal. Raises BadAddressError."""
        return int.from_bytes(self.read(signal + SIGNAL_VALUE, _WORD, "a signal"), "little", signed=True)

    def finish(self, packet: int, read_index: int, following: int, signal: int, start: int) -> None:
        """Complete a packet that was begun at ``start``: free its slot, set the read index to ``following``, and, if
        ``signal`` is not 0, store the times in the signal, decrement it and wake the threads that wait for it.
        ``packet`` and ``read_index`` are rocdbg's own addresses. Raises BadAddressError for an invalid signal, after
        everything else has been done.
        """
        try:
            at = self.host(signal, _SIGNAL_SIZE, "a completion signal") if signal else None
        except BadAddressError:
            self._gpu_side.finish(self._control, packet, read_index, following, None, start)
            raise
        self._gpu_side.finish(self._control, packet, read_index, following, at, start)

    def signals_changed(self) -> None:
        """Wake the threads that wait for signals, because a kernel may have changed one."""
        self._gpu_side.signals_changed(self._control)

    def wait_for_work(self, seen: int, seconds: float) -> int:
        """Wait until the count of work is no longer ``seen``, for at most some seconds; returns the count."""
        return int(self._gpu_side.wait_for_work(self._control, seen, int(seconds * 1e9)))

    def more_work(self) -> None:
        """Wake the thread that waits for work."""
        self._gpu_side.more_work(self._control)

    def allocate(self, size: int, name: str, kind: AllocationKind = AllocationKind.BUFFER) -> Allocation:
        """Allocate memory that the program sees at the same addresses. Large blocks begin at a multiple of 2 MiB,
        because the device libraries' heap finds its slabs by rounding down. Raises AllocationError.
        """
        large = 2 << 20
        return self.global_memory.allocate(size, large if size >= large else 256, name, kind=kind)
