"""Location lists of DWARF 5 and 4 (A.2.5.5)."""

from __future__ import annotations

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.operation_assembler import assemble, uleb128

S8 = assemble(("regx", 40))
BLOCK = uleb128(len(S8)) + S8


def a8(value: int) -> bytes:
    return value.to_bytes(8, "little")


VERSION_5: list[tuple[str, bytes, list[tuple[int | None, int | None, bytes]]]] = [
    ("end of list", b"\x00", []),
    ("offset pair and base", b"\x04\x10\x20" + BLOCK + b"\x00", [(0x1010, 0x1020, S8)]),
    ("base address", b"\x06" + a8(0x5000) + b"\x04\x10\x20" + BLOCK + b"\x00", [(0x5010, 0x5020, S8)]),
    ("base addressx", b"\x01\x01\x04\x10\x20" + BLOCK + b"\x00", [(0x2010, 0x2020, S8)]),
    ("startx endx", b"\x02\x00\x01" + BLOCK + b"\x00", [(0x1234, 0x2000, S8)]),
    ("startx length", b"\x03\x00\x10" + BLOCK + b"\x00", [(0x1234, 0x1244, S8)]),
    ("start end", b"\x07" + a8(5) + a8(9) + BLOCK + b"\x00", [(5, 9, S8)]),
    ("start length", b"\x08" + a8(5) + b"\x04" + BLOCK + b"\x00", [(5, 9, S8)]),
    ("default", b"\x05" + BLOCK + b"\x00", [(None, None, S8)]),
    ("empty range", b"\x07" + a8(5) + a8(5) + BLOCK + b"\x00", []),
    ("view pair", b"\x09\x01\x02\x04\x10\x20" + BLOCK + b"\x00", [(0x1010, 0x1020, S8)]),
]


@pytest.mark.parametrize(("name", "data", "expected"), VERSION_5, ids=[row[0] for row in VERSION_5])
def test_version_5(name: str, data: bytes, expected: list[tuple[int | None, int | None, bytes]]) -> None:
    section = b"\xff" * 7 + data
    entries = dwarf.parse_location_list(section, 7, base_address=0x1000, debug_addr=[0x1234, 0x2000])
    assert list(entries) == expected
    for end in range(7, len(section)):  # every truncation
        with pytest.raises(dwarf.DecodeError):
            dwarf.parse_location_list(section[:end], 7, base_address=0x1000, debug_addr=[0x1234, 0x2000])


def test_version_4() -> None:
    def pair(low: int, high: int, expression: bytes) -> bytes:
        return a8(low) + a8(high) + len(expression).to_bytes(2, "little") + expression

    data = (
        pair(0x10, 0x20, S8)
        + a8((1 << 64) - 1)
        + a8(0x8000)
        + pair(0x10, 0x18, b"\x30")
        + pair(0x18, 0x18, b"\x31")
        + bytes(16)
    )
    entries = dwarf.parse_location_list(data, 0, version=4, base_address=0x1000)
    assert list(entries) == [(0x1010, 0x1020, S8), (0x8010, 0x8018, b"\x30")]


def test_addresses_of_4_bytes_wrap() -> None:
    """In all versions: offsets from a base are added modulo 2^32."""
    base, low, high = 0xFFFFF000, (0x1010).to_bytes(4, "little"), (0x1020).to_bytes(4, "little")
    expression = len(S8).to_bytes(2, "little") + S8
    for version, split, data in (
        (5, False, b"\x04\x90\x20\xa0\x20" + BLOCK + b"\0"),
        (4, False, low + high + expression + bytes(8)),
        (4, True, b"\x04" + low + high + expression + b"\0"),
    ):
        entries = dwarf.parse_location_list(data, 0, version, 4, base, is_split=split)
        assert list(entries) == [(0x10, 0x20, S8)], (version, split)


REFUSED = [
    # offset, version, size of addresses; the words
    (3, 5, 8, "would begin beyond the section's 2 bytes"), (-1, 5, 8, "would begin beyond"),
    (0, 1, 8, "version 1 are not supported"), (0, 6, 8, "version 6 are not supported"),
    (0, 5, 3, "address size 3"), (0, 5, 16, "address size 16"),
]


@pytest.mark.parametrize(("offset", "version", "size", "words"), REFUSED)
def test_lists_that_are_refused(offset: int, version: int, size: int, words: str) -> None:
    with pytest.raises(dwarf.DecodeError, match=words):
        dwarf.parse_location_list(b"\0\0", offset, version, size)


def test_lists_that_are_accepted() -> None:
    """At the edges of what is refused."""
    assert not list(dwarf.parse_location_list(b"\0\0", 1, 5, 1))
    assert not list(dwarf.parse_location_list(b"\0\0", 0, 2, 1))
    with pytest.raises(dwarf.DecodeError, match="ends too early"):
        dwarf.parse_location_list(b"\0\0", 2, 5, 8)


SPLIT = len(S8).to_bytes(2, "little") + S8
SPLIT_VERSION_4: list[tuple[str, bytes, list[tuple[int, int, bytes]]]] = [
    ("end of list", b"\x00", []),
    ("base address", b"\x01\x01\x04\x10\0\0\0\x20\0\0\0" + SPLIT + b"\x00", [(0x2010, 0x2020, S8)]),
    ("start end", b"\x02\x00\x01" + SPLIT + b"\x00", [(0x1234, 0x2000, S8)]),
    ("start length", b"\x03\x01\x10\0\0\0" + SPLIT + b"\x00", [(0x2000, 0x2010, S8)]),
    ("offset pair", b"\x04\x10\0\0\0\x20\0\0\0" + SPLIT + b"\x00", [(0x1010, 0x1020, S8)]),
    ("empty range", b"\x04\x10\0\0\0\x10\0\0\0" + SPLIT + b"\x00", []),
]


@pytest.mark.parametrize(("name", "data", "expected"), SPLIT_VERSION_4, ids=[row[0] for row in SPLIT_VERSION_4])
def test_split_version_4(name: str, data: bytes, expected: list[tuple[int, int, bytes]]) -> None:
    """GNU's entries in .debug_loc.dwo are read."""
    addresses = [0x1234, 0x2000]
    entries = dwarf.parse_location_list(data, 0, 4, base_address=0x1000, debug_addr=addresses, is_split=True)
    assert list(entries) == expected
    for end in range(len(data)):
        with pytest.raises(dwarf.DecodeError):
            dwarf.parse_location_list(data[:end], 0, 4, debug_addr=addresses, is_split=True)


def test_split_lists_that_are_damaged() -> None:
    with pytest.raises(dwarf.DecodeError, match="unknown location list entry kind 0x5"):
        dwarf.parse_location_list(b"\x05", 0, 4, is_split=True)
    with pytest.raises(dwarf.IllFormed, match="no address 2"):
        dwarf.parse_location_list(b"\x01\x02\x00", 0, 4, debug_addr=[1, 2], is_split=True)
    for version, size, message in ((6, 8, "version 6"), (1, 8, "version 1"), (5, 3, "address size 3")):
        with pytest.raises(dwarf.DecodeError, match=message):
            dwarf.parse_location_list(b"\x00", 0, version, size)


def test_bad_lists_are_reported_with_their_offset() -> None:
    with pytest.raises(dwarf.DecodeError) as caught:
        dwarf.parse_location_list(b"\x00\x0a", 1)
    assert caught.value.offset == 1
    with pytest.raises(dwarf.DecodeError):
        dwarf.parse_location_list(b"", 5)
    with pytest.raises(dwarf.EvaluationError):
        dwarf.parse_location_list(b"\x01\x00\x00", 0)
    with pytest.raises(dwarf.IllFormed):
        dwarf.parse_location_list(b"\x01\x07\x00", 0, debug_addr=[1])


MATCHES: list[tuple[int, str]] = [
    (0x0F, "memory at 0x40"),
    (0x10, "register s8"),
    (0x18, "in 2 places: register s8; register s9"),
    (0x1F, "in 2 places: register s8; register s9"),
    (0x20, "register s9"),
    (0x30, "memory at 0x40"),
]


@pytest.mark.parametrize(("pc", "expected"), MATCHES)
def test_overlapping_and_default_entries(pc: int, expected: str) -> None:
    entries = [
        (None, None, assemble(("constu", 0x40))),
        (0x10, 0x20, S8),
        (0x18, 0x30, assemble(("regx", 41))),
        (0x18, 0x20, S8),  # the union holds a place once
    ]
    assert dwarf.evaluate_location_list(entries, dwarf.SimpleContext(pc=pc)).describe() == expected


def test_without_a_match_the_location_is_undefined() -> None:
    location = dwarf.evaluate_location_list([(0x10, 0x20, S8)], dwarf.SimpleContext(pc=0x20))
    assert location.is_undefined


def test_a_program_location_is_needed() -> None:
    with pytest.raises(dwarf.EvaluationError):
        dwarf.evaluate_location_list([(None, None, S8)], dwarf.SimpleContext())
