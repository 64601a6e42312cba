"""Packets as programs write them."""

from __future__ import annotations

import struct

import pytest

from rocdbg.sim.device.aql_packets import Barrier, BarrierValue, Condition, KernelPacket, Malformed, decode_packet


def kernel(setup: int, workgroup: tuple[int, int, int], grid: tuple[int, int, int]) -> bytes:
    return struct.pack("<HH3HH3IIIQQQQ", 0x1502, setup, *workgroup, 0, *grid, 16, 32, 0x1000, 0x2000, 0, 0x3000)


def barrier(kind: int, *signals: int) -> bytes:
    return struct.pack("<HHI5QQQ", kind, 0, 0, *signals, *(0,) * (5 - len(signals)), 0, 0x40)


def value(condition: int) -> bytes:
    return struct.pack("<HBBIQqqII16xQ", 0, 2, 0, 0, 0x80, -5, 0xFF, condition, 0, 0x40)


PACKETS = [
    ("no packet yet", bytes([1]).ljust(64, b"\0"), None),
    ("three dimensions", kernel(3, (4, 2, 1), (64, 8, 3)),
     KernelPacket((64, 8, 3), (4, 2, 1), 16, 32, 0x1000, 0x2000, 0x3000, 0x1502)),
    ("what is beyond the dimensions does not count", kernel(1, (64, 0, 9), (128, 5, 0)),
     KernelPacket((128, 1, 1), (64, 1, 1), 16, 32, 0x1000, 0x2000, 0x3000, 0x1502)),
    ("no dimensions", kernel(0, (1, 1, 1), (1, 1, 1)),
     Malformed("invalid dispatch packet: its grid has no dimensions")),
    ("all signals", barrier(3, 0, 8, 0, 16), Barrier((8, 16), False, 0x40)),
    ("any signal", barrier(5, 8), Barrier((8,), True, 0x40)),
    ("a value", value(2), BarrierValue(0x80, -5, 0xFF, Condition.LT, 0x40)),
    ("an unknown condition", value(4), Malformed("a barrier-value packet has the unknown condition 4")),
    ("an unknown vendor packet", bytes([0, 0, 9]).ljust(64, b"\0"),
     Malformed("a vendor packet has the unknown format 9")),
    ("an agent's packet", bytes([4]).ljust(64, b"\0"), Malformed("a GPU cannot process agent dispatch packets")),
    ("an unknown packet", bytes([77]).ljust(64, b"\0"), Malformed("a packet has the unknown type 77")),
]  # fmt: skip


@pytest.mark.parametrize(("data", "packet"), [row[1:] for row in PACKETS], ids=[row[0] for row in PACKETS])
def test_packet(data: bytes, packet: object) -> None:
    assert decode_packet(data) == packet


@pytest.mark.parametrize(
    ("condition", "expected"),
    [(Condition.EQ, [False, True, False]), (Condition.NE, [True, False, True]), (Condition.LT, [True, False, False]),
     (Condition.GTE, [False, True, True])],
)  # fmt: skip
def test_condition(condition: Condition, expected: list[bool]) -> None:
    assert [condition.holds(number, 5) for number in (4, 5, 6)] == expected
