"""AQL packets (HSA Platform System Architecture, 2.9; AMD's own formats). All code in rocdbg that handles the contents
of a queue uses this module: kernels read the sizes of group and grid from their dispatch packet, programs write
packets, queues decode them.
"""

from __future__ import annotations

import enum
import struct
from typing import Final

from msgspec import Struct

from rocdbg.errors import Error
from rocdbg.sim.core.wave import Dim3

PACKET_SIZE: Final = 64
"""Bytes of an AQL packet."""


class PacketType(enum.IntEnum):
    """The low byte of a packet's header."""

    VENDOR = 0
    INVALID = 1
    KERNEL = 2
    BARRIER_AND = 3
    AGENT = 4
    BARRIER_OR = 5


_PACKET = struct.Struct("<HH3HH3IIIQQQQ")
_LAUNCH_HEADER: Final = PacketType.KERNEL | 1 << 8 | 1 << 9 | 1 << 11
"""The packet header for launches without a host program: barrier bit (8), agent scope for the acquire fence (9..10) and
the release fence (11..12).
"""
_SCOPES: Final = ("", "a", "s", "?")
"""Letters for the scopes of fences: none, agent, system."""
_VENDOR_BARRIER_VALUE: Final = 2
_BARRIER = struct.Struct("<HHI5QQQ")
_BARRIER_VALUE = struct.Struct("<HBBIQqqII16xQ")
assert _BARRIER.size == _BARRIER_VALUE.size == PACKET_SIZE


class PacketError(Error):
    """A packet that every packet processor would reject."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"invalid dispatch packet: {reason}")


class PacketPlace(Struct, frozen=True):
    """Where a packet is: its address, the address of its queue's structure, and the number of packets that preceded it
    in the queue.
    """

    address: int
    queue_address: int
    packet_id: int


class KernelPacket(Struct, frozen=True):
    """``hsa_kernel_dispatch_packet_t``. Sizes in work-items and bytes; unused dimensions have size 1."""

    grid: Dim3
    workgroup: Dim3
    private_segment_size: int
    group_segment_size: int
    kernel_object: int
    """Address of the kernel descriptor."""
    kernarg_address: int
    completion_signal: int = 0
    """Handle, 0 for no completion signal."""
    header: int = _LAUNCH_HEADER

    @classmethod
    def from_bytes(cls, data: bytes) -> KernelPacket:
        """Decode the 64 bytes of a packet. Raises PacketError."""
        if len(data) != PACKET_SIZE:
            raise PacketError(f"it has {len(data)} bytes, not {PACKET_SIZE}")
        (header, setup, wx, wy, wz, _, gx, gy, gz, private, group, kernel, kernarg, _, signal) = _PACKET.unpack(data)
        if header & 0xFF != PacketType.KERNEL:
            raise PacketError(f"it has type {header & 0xFF}, not {int(PacketType.KERNEL)} (kernel dispatch)")
        dimensions = setup & 3
        if not dimensions:
            raise PacketError("its grid has no dimensions")
        grid = gx, gy if dimensions > 1 else 1, gz if dimensions > 2 else 1
        workgroup = wx, wy if dimensions > 1 else 1, wz if dimensions > 2 else 1
        return cls(grid, workgroup, private, group, kernel, kernarg, signal, header)

    def to_bytes(self) -> bytes:
        """The 64 bytes of the packet."""
        dimensions = 3 if self.grid[2] > 1 else 2 if self.grid[1] > 1 else 1
        return _PACKET.pack(
            self.header, dimensions, *self.workgroup, 0, *self.grid, self.private_segment_size, self.group_segment_size,
            self.kernel_object, self.kernarg_address, 0, self.completion_signal,
        )

    @property
    def barrier(self) -> bool:
        """Whether the packet waits until all earlier packets in its queue are complete."""
        return bool(self.header >> 8 & 1)

    @property
    def fence(self) -> str:
        """Text for the barrier bit and the scopes of the acquire and release fences: ``B|As|Rs``."""
        parts = ["B"] if self.barrier else []
        for letter, shift in (("A", 9), ("R", 11)):
            scope = _SCOPES[self.header >> shift & 3]
            parts += [letter + scope] if scope else []
        return "|".join(parts)


class Barrier(Struct, frozen=True):
    """Waits until all of its signals, or any of them, are 0. Without signals it does not wait."""

    signals: tuple[int, ...]
    any: bool
    completion_signal: int


class Condition(enum.IntEnum):
    """``hsa_signal_condition_t``."""

    EQ = 0
    NE = 1
    LT = 2
    GTE = 3

    def holds(self, value: int, other: int) -> bool:
        """Whether a signal's value satisfies the condition."""
        if self is Condition.EQ:
            return value == other
        if self is Condition.NE:
            return value != other
        return value < other if self is Condition.LT else value >= other


class BarrierValue(Struct, frozen=True):
    """Waits until a signal's masked value satisfies a condition."""

    signal: int
    value: int
    mask: int
    condition: Condition
    completion_signal: int


class Malformed(Struct, frozen=True):
    """A packet that every packet processor rejects."""

    reason: str


Packet = KernelPacket | Barrier | BarrierValue | Malformed


def decode_packet(data: bytes) -> Packet | None:
    """The packet in 64 bytes; None if no packet has been written there yet."""
    kind = data[0]
    if kind == PacketType.INVALID:
        return None
    if kind == PacketType.KERNEL:
        try:
            return KernelPacket.from_bytes(data)
        except PacketError as error:
            return Malformed(str(error))
    if kind in (PacketType.BARRIER_AND, PacketType.BARRIER_OR):
        fields = _BARRIER.unpack(data)
        signals = tuple(signal for signal in fields[3:8] if signal)
        return Barrier(signals, kind == PacketType.BARRIER_OR, fields[9])
    if kind == PacketType.VENDOR and data[2] == _VENDOR_BARRIER_VALUE:
        *_, signal, value, mask, condition, _, done = _BARRIER_VALUE.unpack(data)
        if condition > Condition.GTE:
            return Malformed(f"a barrier-value packet has the unknown condition {condition}")
        return BarrierValue(signal, value, mask, Condition(condition), done)
    if kind == PacketType.VENDOR:
        return Malformed(f"a vendor packet has the unknown format {data[2]}")
    if kind == PacketType.AGENT:
        return Malformed("a GPU cannot process agent dispatch packets")
    return Malformed(f"a packet has the unknown type {kind}")
