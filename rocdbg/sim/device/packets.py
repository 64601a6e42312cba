"""Kernel dispatch packets as a program writes them into a queue (HSA Platform System Architecture, 2.9.6)."""

from __future__ import annotations

import struct
from typing import Final

from msgspec import Struct

from rocdbg.errors import Error
from rocdbg.sim.core.wave import Dim3
from rocdbg.sim.device.aql import PACKET_SIZE

KERNEL_DISPATCH: Final = 2
"""The type of such packets: bits 7:0 of the header."""

_PACKET = struct.Struct("<HH3HH3IIIQQQQ")
_SCOPES: Final = ("", "a", "s", "?")
"""Letters of the scopes of fences: none, agent, system."""


class PacketError(Error):
    """A packet that no packet processor would accept."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"invalid dispatch packet: {reason}")


class PacketPlace(Struct, frozen=True):
    """Where a packet is: its address, its queue's structure, and how many packets the queue had had before it."""

    address: int
    queue_address: int
    packet_id: int


class KernelPacket(Struct, frozen=True):
    """``hsa_kernel_dispatch_packet_t``. Sizes in work-items and bytes, in dimensions that are not used 1."""

    header: int
    grid: Dim3
    workgroup: Dim3
    private_segment_size: int
    group_segment_size: int
    kernel_object: int
    """Address of the kernel descriptor."""
    kernarg_address: int
    completion_signal: int
    """Handle, 0 if nobody wants to know."""

    @classmethod
    def from_bytes(cls, data: bytes) -> KernelPacket:
        """Of the 64 bytes of a packet. Raises PacketError."""
        if len(data) != PACKET_SIZE:
            raise PacketError(f"{len(data)} bytes, not {PACKET_SIZE}")
        (header, setup, wx, wy, wz, _, gx, gy, gz, private, group, kernel, kernarg, _, signal) = _PACKET.unpack(data)
        if header & 0xFF != KERNEL_DISPATCH:
            raise PacketError(f"its type is {header & 0xFF}")
        dimensions = setup & 3
        if not dimensions:
            raise PacketError("its grid has no dimensions")
        grid = gx, gy if dimensions > 1 else 1, gz if dimensions > 2 else 1
        workgroup = wx, wy if dimensions > 1 else 1, wz if dimensions > 2 else 1
        return cls(header, grid, workgroup, private, group, kernel, kernarg, signal)

    @property
    def barrier(self) -> bool:
        """Whether it waits until all packets before it in its queue are complete."""
        return bool(self.header >> 8 & 1)

    @property
    def fence(self) -> str:
        """Barrier bit, scopes of the acquire and the release fence: ``B|As|Rs``."""
        parts = ["B"] if self.barrier else []
        for letter, shift in (("A", 9), ("R", 11)):
            scope = _SCOPES[self.header >> shift & 3]
            parts += [letter + scope] if scope else []
        return "|".join(parts)


__all__ = ["KERNEL_DISPATCH", "KernelPacket", "PacketError", "PacketPlace"]
