"""A queue that the same process fills. It takes raw packets, starts dispatches and decrements completion signals.

It is for users who have packets but no runtime: tests, tools, Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rocdbg.sim.core import layout
from rocdbg.sim.core.memory import AllocationKind
from rocdbg.sim.device.aql_packets import PACKET_SIZE, KernelPacket, PacketError, PacketPlace
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.machine import Machine
from rocdbg.sim.device.queue_structures import QUEUE_SIZE, READ_INDEX, SIGNAL_VALUE, WRITE_INDEX, Queue

_INVALID: Final = (1).to_bytes(2, "little")
"""The header of a packet that has been processed, or is not yet written."""


class UserQueue:
    """A queue of ``size`` packets on a machine, with an ``amd_queue_t`` and a ring in its memory.

    ``first_wave`` gives the number of a dispatch's first wave.
    """

    def __init__(self, machine: Machine, size: int = 64, first_wave: Callable[[], int] = lambda: 1) -> None:
        self.machine = machine
        self.size = size
        self.first_wave = first_wave
        self.kind = 0
        """The queue's type: any thread may write packets."""
        ring = machine.memory.allocate(size * PACKET_SIZE, kind=AllocationKind.PACKET)
        self.ring = ring.address
        self.address = machine.memory.allocate(QUEUE_SIZE, kind=AllocationKind.QUEUE).address
        apertures = layout.SHARED_APERTURE >> 32, layout.PRIVATE_APERTURE >> 32
        structure = Queue(self.ring, size, *apertures, (0, 0, 0, 0), 0, 0, 0, write_index=0, read_index=0)
        machine.memory.write(self.address, structure.to_bytes())
        for number in range(size):
            machine.memory.write(self.ring + number * PACKET_SIZE, _INVALID)

    def _index(self, offset: int) -> int:
        return int.from_bytes(self.machine.memory.read(self.address + offset, 8), "little")

    def _set_index(self, offset: int, value: int) -> None:
        self.machine.memory.write(self.address + offset, value.to_bytes(8, "little"))

    @property
    def read_index(self) -> int:
        """Number of packets processed."""
        return self._index(READ_INDEX)

    @property
    def write_index(self) -> int:
        """Number of packets written."""
        return self._index(WRITE_INDEX)

    def submit(self, packet: bytes) -> int:
        """Put the 64 bytes of a packet into the queue; returns its number. Raises PacketError."""
        number = self.write_index
        if number - self.read_index >= self.size:
            raise PacketError(f"the queue is full: it has {self.size} packets")
        if len(packet) != PACKET_SIZE:
            raise PacketError(f"it has {len(packet)} bytes, not {PACKET_SIZE}")
        self.machine.memory.write(self._place(number), packet)
        self._set_index(WRITE_INDEX, number + 1)
        return number

    def _place(self, number: int) -> int:
        return self.ring + number % self.size * PACKET_SIZE

    def take(self) -> Dispatch | None:
        """Start the dispatch of the packet at the head. Raises PacketError if it is not a kernel dispatch, and
        LaunchLimitError."""
        number = self.read_index
        if number >= self.write_index:
            return None
        address = self._place(number)
        packet = KernelPacket.from_bytes(self.machine.memory.read(address, PACKET_SIZE))
        return self.machine.dispatch_packet(packet, PacketPlace(address, self.address, number), self.first_wave())

    def complete(self, dispatch: Dispatch) -> None:
        """Complete the packet at the head."""
        number = self.read_index
        address = self._place(number)
        signal = KernelPacket.from_bytes(self.machine.memory.read(address, PACKET_SIZE)).completion_signal
        self.machine.memory.write(address, _INVALID)
        self._set_index(READ_INDEX, number + 1)
        if signal:
            value = int.from_bytes(self.machine.memory.read(signal + SIGNAL_VALUE, 8), "little")
            self.machine.memory.write(signal + SIGNAL_VALUE, ((value - 1) % (1 << 64)).to_bytes(8, "little"))


__all__ = ["UserQueue"]
