"""The memory of one process's GPUs, which the process sees too: reading and changing words of it safely.

A program may write anywhere in it at any time, and free what it named before: every address is looked up when it is
used, and what is read is only ever taken as numbers.
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
    """An address of a program that is not what it should be. ``address``."""

    def __init__(self, what: str, address: int) -> None:
        self.address = address
        super().__init__(f"{what} at {address:#x} is not in the memory of the GPU")


class SharedMemory:
    """Window, page table and control words. ``limit``: bytes that may be live at once."""

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
        """rocdbg's own address for bytes that are there and aligned to words. Raises BadAddressError."""
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
        """A packet is done that was begun at ``start``: its slot is free, the read index is ``following``, and its
        signal, if it is not 0, gets its times and is decremented, for which who waits is woken. ``packet`` and
        ``read_index`` are rocdbg's own addresses. Raises BadAddressError, when only the signal is not done."""
        try:
            at = self.host(signal, _SIGNAL_SIZE, "a completion signal") if signal else None
        except BadAddressError:
            self._gpu_side.finish(self._control, packet, read_index, following, None, start)
            raise
        self._gpu_side.finish(self._control, packet, read_index, following, at, start)

    def signals_changed(self) -> None:
        """A kernel may have changed signals: who waits for one is to look."""
        self._gpu_side.signals_changed(self._control)

    def wait_for_work(self, seen: int, seconds: float) -> int:
        """The count of work, when it is no longer ``seen`` or after a time."""
        return int(self._gpu_side.wait_for_work(self._control, seen, int(seconds * 1e9)))

    def more_work(self) -> None:
        """Wake who waits for work."""
        self._gpu_side.more_work(self._control)

    def allocate(self, size: int, name: str, kind: AllocationKind = AllocationKind.BUFFER) -> Allocation:
        """Memory of the program, at addresses that it finds it at too. Large blocks begin at a multiple of 2 MiB: the
        device libraries' heap finds its slabs by rounding down. Raises AllocationError."""
        large = 2 << 20
        return self.global_memory.allocate(size, large if size >= large else 256, name, kind=kind)
