"""Range lists of DWARF 5 and of earlier versions, one of each kind of entry (DWARF 5 section 2.17.3)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rocdbg.dwarf.info import DebugInfoError
from rocdbg.dwarf.info.code_ranges import raw_ranges
from rocdbg.dwarf.info.sections import Sections

BASE = 0x1000
ADDRESSES = (0x1234, 0x2000)
TOP = (1 << 64) - 1


def a8(value: int) -> bytes:
    return value.to_bytes(8, "little")


def ranges_in(version: int, data: bytes, size: int = 8) -> list[tuple[int, int]]:
    """Those of the list that begins at byte 7 of the section."""
    unit: Any = SimpleNamespace(
        version=version, address_size=size, base_address=BASE, indexed_address=lambda index: ADDRESSES[index],
        sections=Sections({".debug_rnglists" if version >= 5 else ".debug_ranges": b"\xff" * 7 + data}),
    )
    return list(raw_ranges(unit, 7))


VERSION_5: list[tuple[str, bytes, list[tuple[int, int]]]] = [
    ("end of list", b"\x00", []),
    ("base addressx", b"\x01\x01\x04\x10\x20\x00", [(0x2010, 0x2020)]),
    ("startx endx", b"\x02\x00\x01\x00", [(0x1234, 0x2000)]),
    ("startx length", b"\x03\x00\x10\x00", [(0x1234, 0x1244)]),
    ("offset pair", b"\x04\x10\x20\x00", [(0x1010, 0x1020)]),
    ("base address", b"\x05" + a8(0x5000) + b"\x04\x10\x20\x00", [(0x5010, 0x5020)]),
    ("start end", b"\x06" + a8(5) + a8(9) + b"\x00", [(5, 9)]),
    ("start length", b"\x07" + a8(5) + b"\x04\x00", [(5, 9)]),
    ("another base replaces the first", b"\x05" + a8(0x5000) + b"\x01\x01\x04\x01\x02\x00", [(0x2001, 0x2002)]),
    ("a base does not concern absolute ones", b"\x05" + a8(0x5000) + b"\x03\x00\x10\x00", [(0x1234, 0x1244)]),
]


@pytest.mark.parametrize(("data", "expected"), [row[1:] for row in VERSION_5], ids=[row[0] for row in VERSION_5])
def test_version_5(data: bytes, expected: list[tuple[int, int]]) -> None:
    assert ranges_in(5, data) == expected
    for end in range(len(data)):  # every truncation
        with pytest.raises(DebugInfoError):
            ranges_in(5, data[:end])


VERSION_4: list[tuple[str, int, bytes, list[tuple[int, int]]]] = [
    ("end of list", 8, bytes(16), []),
    ("from the unit's base", 8, a8(0x10) + a8(0x20) + bytes(16), [(0x1010, 0x1020)]),
    ("from a base", 8, a8(TOP) + a8(0x5000) + a8(0x10) + a8(0x20) + bytes(16), [(0x5010, 0x5020)]),
    ("from base 0", 8, a8(TOP) + a8(0) + a8(0x10) + a8(0x20) + bytes(16), [(0x10, 0x20)]),
    ("another base replaces the first", 8, a8(TOP) + a8(0x5000) + a8(TOP) + a8(0x6000) + a8(1) + a8(2) + bytes(16),
     [(0x6001, 0x6002)]),
    ("4 bytes", 4, b"\x10\0\0\0\x20\0\0\0" + b"\xff" * 4 + b"\0\x50\0\0" + b"\x01\0\0\0\x02\0\0\0" + bytes(8),
     [(0x1010, 0x1020), (0x5001, 0x5002)]),
]


@pytest.mark.parametrize(
    ("size", "data", "expected"), [row[1:] for row in VERSION_4], ids=[row[0] for row in VERSION_4]
)
def test_version_4(size: int, data: bytes, expected: list[tuple[int, int]]) -> None:
    assert ranges_in(4, data, size) == expected
    with pytest.raises(DebugInfoError):
        ranges_in(4, data[:-1], size)
