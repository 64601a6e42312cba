"""AQL packets that are no kernel's: what else programs put into queues (HSA System Architecture, 2.9; AMD's own)."""

from __future__ import annotations

import enum
import struct
from typing import Final

from msgspec import Struct

from rocdbg.sim.device.aql import PACKET_SIZE
from rocdbg.sim.device.packets import KernelPacket, PacketError


class PacketType(enum.IntEnum):
    """The low byte of a packet's header."""

    VENDOR = 0
    INVALID = 1
    KERNEL = 2
    BARRIER_AND = 3
    AGENT = 4
    BARRIER_OR = 5


_VENDOR_BARRIER_VALUE: Final = 2
_BARRIER = struct.Struct("<HHI5QQQ")
_BARRIER_VALUE = struct.Struct("<HBBIQqqII16xQ")
assert _BARRIER.size == _BARRIER_VALUE.size == PACKET_SIZE


class Barrier(Struct, frozen=True):
    """Waits until all signals, or any of them, are 0. No signal at all holds nobody up."""

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
        """Whether a signal's value fulfils it."""
        if self is Condition.EQ:
            return value == other
        if self is Condition.NE:
            return value != other
        return value < other if self is Condition.LT else value >= other


class BarrierValue(Struct, frozen=True):
    """Waits until a signal, masked, compares with a value."""

    signal: int
    value: int
    mask: int
    condition: Condition
    completion_signal: int


class Malformed(Struct, frozen=True):
    """What no packet processor takes."""

    reason: str


Packet = KernelPacket | Barrier | BarrierValue | Malformed


def decode_packet(data: bytes) -> Packet | None:
    """The packet in 64 bytes; None if none was written there yet."""
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
            return Malformed(f"a barrier-value packet compares by condition {condition}")
        return BarrierValue(signal, value, mask, Condition(condition), done)
    if kind == PacketType.VENDOR:
        return Malformed(f"a vendor packet has format {data[2]}")
    if kind == PacketType.AGENT:
        return Malformed("GPUs take no agent dispatch packets")
    return Malformed(f"a packet has type {kind}")
