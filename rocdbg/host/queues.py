"""The queues of a process, and the processing of their packets.

A queue is an ``amd_queue_t`` and a ring of packets, in memory to which the program writes. rocdbg therefore keeps its
own copy of the values on which it relies: place and size of the ring, and the type. The program may remove a queue
while another thread accesses it; a removed queue counts as empty.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from rocdbg.errors import Error
from rocdbg.host.agents import COMPUTE_UNITS, WAVES_PER_UNIT
from rocdbg.host.protocol import TRACE, Status
from rocdbg.host.shared_memory import SharedMemory
from rocdbg.host.simulated_gpu import Device
from rocdbg.sim.core.layout import PRIVATE_APERTURE, SHARED_APERTURE
from rocdbg.sim.core.memory import Allocation, AllocationKind
from rocdbg.sim.device.aql_packets import (
    PACKET_SIZE,
    Barrier,
    BarrierValue,
    KernelPacket,
    Malformed,
    Packet,
    PacketPlace,
    PacketType,
    decode_packet,
)
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.machine import Machine
from rocdbg.sim.device.queue_structures import QUEUE_SIZE, READ_INDEX, WRITE_INDEX, Queue

_INVALID: Final = int(PacketType.INVALID)
_AT_ONCE: Final = 64
"""The most packets that are processed in one turn, so that other queues have their turns."""


class Head(Struct, frozen=True):
    """The next packet of a queue. ``index`` counts the packets of the queue from 0; ``start`` is the time at which it
    was taken, in nanoseconds of CLOCK_BOOTTIME.
    """

    index: int
    address: int
    packet: Packet
    start: int


class Origin(Struct, frozen=True):
    """Where in a program a packet was announced: the thread, and the return addresses on its stack, innermost first."""

    thread: int
    frames: tuple[int, ...]


class ProgramQueue:
    """A queue of a program on one of its devices; `rocdbg.sim.device.queue_runner` runs its dispatches.

    ``number`` counts the queues of the process from 1. ``failed`` is called for packets that cannot be processed, with
    the status for the program and a sentence. ``traced`` says that the program records where packets come from.
    """

    def __init__(
        self, number: int, device: Device, memory: SharedMemory, size: int, kind: int, doorbell: int, traced: bool,
        failed: Callable[[ProgramQueue, Status, str], None],
    ) -> None:  # fmt: skip
        self.number, self.device, self.size, self.kind = number, device, size, kind
        self.first_wave: Callable[[], int] = lambda: 1
        """The number of the next dispatch's first wave."""
        self.stopped = False
        """Whether the queue accepts no more packets, because of an error or at the program's request."""
        self.error = ""
        """The error because of which the queue is in the error state."""
        self.current: Head | None = None
        """The packet of the dispatch that is in progress."""
        self._memory, self._failed = memory, failed
        self._structure = memory.allocate(QUEUE_SIZE, f"queue {number}", AllocationKind.QUEUE)
        try:
            self._ring = memory.allocate(size * PACKET_SIZE, f"packets of queue {number}", AllocationKind.PACKET)
        except BaseException:
            memory.global_memory.free(self._structure)
            raise
        self._traces: Allocation | None = None
        try:
            if traced:
                self._traces = memory.allocate(size * TRACE.size, f"traces of queue {number}", AllocationKind.RUNTIME)
        except BaseException:
            for allocation in self.allocations:
                memory.global_memory.free(allocation)
            raise
        self._ring.data[::PACKET_SIZE] = PacketType.INVALID
        structure = Queue(
            self._ring.address, size, SHARED_APERTURE >> 32, PRIVATE_APERTURE >> 32, kind=kind, doorbell=doorbell,
            number=number, largest_unit=COMPUTE_UNITS - 1, largest_wave=WAVES_PER_UNIT - 1,
        )  # fmt: skip
        self._structure.data[:] = memoryview(structure.to_bytes())
        # This memory is read for each packet, without a look-up in the page table, because it exists as long as the
        # queue.
        self._words, self._packets = self._structure.data.data, self._ring.data.data
        self._steady, self._gone = memory.global_memory.steady, False

    @property
    def address(self) -> int:
        """Address of the ``amd_queue_t``."""
        return self._structure.address

    @property
    def ring(self) -> int:
        """Address of the packets."""
        return self._ring.address

    @property
    def machine(self) -> Machine:
        """The simulated device."""
        return self.device.machine

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """The allocations of the queue: its structure, its ring, and the records of the origins of packets."""
        return (self._structure, self._ring, *([self._traces] if self._traces is not None else []))

    @property
    def traces(self) -> int:
        """Address of the records of the origins of packets; 0 if there are none."""
        return self._traces.address if self._traces is not None else 0

    def origin(self, packet: int) -> Origin | None:
        """The origin of the packet with an index; None if the origin was not recorded, or has been overwritten."""
        if self._traces is None:
            return None
        place = packet % self.size * TRACE.size
        with self._steady:
            if self._gone:
                return None
            index, thread, count, *frames = TRACE.unpack_from(self._traces.data.data, place)
        if index != packet + 1 or not 0 < count <= len(frames):
            return None
        return Origin(thread, tuple(frames[:count]))

    @property
    def read_index(self) -> int:
        """Number of packets that were taken."""
        return self._word(READ_INDEX)

    @property
    def write_index(self) -> int:
        """Number of packets for which the program has reserved slots."""
        return self._word(WRITE_INDEX)

    def _word(self, offset: int) -> int:
        with self._steady:
            return 0 if self._gone else int.from_bytes(self._words[offset : offset + 8], "little")

    @property
    def has_packet(self) -> bool:
        """Whether there is a packet that could be processed now, or after signals have changed."""
        return not self.stopped and self._head() is not None

    def _head(self) -> Head | None:
        """The next packet, None if there is none yet."""
        with self._steady:
            if self._gone:
                return None
            index = self.read_index
            offset = index % self.size * PACKET_SIZE
            # The program writes the header last: the rest of the packet is valid only once the header is.
            if self._packets[offset] == _INVALID or index >= self.write_index:
                return None
            data = bytes(self._packets[offset : offset + PACKET_SIZE])
        packet = decode_packet(data)
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        return Head(index, self._ring.address + offset, packet, now) if packet is not None else None

    # -- processing ------------------------------------------------------------------------------------------

    def take(self) -> Dispatch | None:
        """Process packets up to the first kernel dispatch, and start that kernel; None if no kernel is ready."""
        for _ in range(_AT_ONCE):
            head = None if self.stopped else self._head()
            if head is None:
                break
            packet = head.packet
            if isinstance(packet, Malformed):
                self._failed(self, Status.INVALID_PACKET_FORMAT, f"queue {self.number}: {packet.reason}")
                break
            try:
                if isinstance(packet, KernelPacket):
                    return self._launch(head, packet)
                if not self._passes(packet):
                    break
                self._finish(head, packet.completion_signal)
            except Error as error:
                self._failed(self, Status.EXCEPTION, f"queue {self.number}: {error}")
                break
        return None

    def _launch(self, head: Head, packet: KernelPacket) -> Dispatch:
        place = PacketPlace(head.address, self.address, head.index)
        dispatch = self.device.machine.dispatch_packet(packet, place, self.first_wave())
        self.current = head
        return dispatch

    def complete(self, dispatch: Dispatch) -> None:
        """Complete the packet of the dispatch that was taken last; this dispatch has run to its end."""
        head, self.current = self.current, None
        if head is None or not isinstance(head.packet, KernelPacket):
            return
        try:
            self._finish(head, head.packet.completion_signal)
        except Error as error:
            self._failed(self, Status.EXCEPTION, f"queue {self.number}: {error}")

    def _passes(self, packet: Barrier | BarrierValue) -> bool:
        memory = self._memory
        if isinstance(packet, BarrierValue):
            if not packet.signal:
                return True
            return packet.condition.holds(memory.signal_value(packet.signal) & packet.mask, packet.value)
        zeros = (memory.signal_value(signal) == 0 for signal in packet.signals)
        return not packet.signals or (any(zeros) if packet.any else all(zeros))

    def _finish(self, head: Head, signal: int) -> None:
        """Complete a packet: free its slot, then wake the threads that wait for it."""
        header = self._ring.host_address + head.address - self._ring.address
        self._memory.finish(header, self._structure.host_address + READ_INDEX, head.index + 1, signal, head.start)

    def free(self) -> None:
        """Free the queue's memory."""
        with self._steady:
            self._gone = True
            for allocation in self.allocations:
                self._memory.global_memory.free(allocation)
