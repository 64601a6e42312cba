"""A.2.5.5 location list expressions: every kind of entry in versions 4 and 5, and the result of a list."""

# ruff: noqa: E501  (a case is a line)
from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.operation_table import DIALECTS

R33 = b"\x01\x51"  # in version 5: an expression of one byte, DW_OP_reg1; only its bytes matter where lists are parsed


def address(value: int, size: int = 8) -> bytes:
    return value.to_bytes(size, "little")


# DWARF 5, 7.7.3. base_address is 0x1000, debug_addr [0x2000, 0x2040, 0x3000]
VERSION_5: list[tuple[str, bytes, Any]] = [
    ("end_of_list", b"\x00", []),
    ("base_addressx", b"\x01\x02\x04\x00\x10" + R33 + b"\x00", [(0x3000, 0x3010, b"\x51")]),
    ("base_addressx beyond .debug_addr", b"\x01\x03\x04\x00\x10" + R33 + b"\x00", "ill-formed"),
    ("startx_endx", b"\x02\x00\x01" + R33 + b"\x00", [(0x2000, 0x2040, b"\x51")]),
    ("startx_length", b"\x03\x01\x20" + R33 + b"\x00", [(0x2040, 0x2060, b"\x51")]),
    ("offset_pair from the unit's base", b"\x04\x10\x20" + R33 + b"\x00", [(0x1010, 0x1020, b"\x51")]),
    ("offset_pair with long offsets", b"\x04\x80\x01\x80\x02" + R33 + b"\x00", [(0x1080, 0x1100, b"\x51")]),
    ("default_location", b"\x05" + R33 + b"\x00", [(None, None, b"\x51")]),
    ("base_address", b"\x06" + address(0x5000) + b"\x04\x00\x04" + R33 + b"\x00", [(0x5000, 0x5004, b"\x51")]),
    ("the closest preceding base", b"\x06" + address(0x5000) + b"\x06" + address(0x6000) + b"\x04\x00\x04" + R33 + b"\x00",
     [(0x6000, 0x6004, b"\x51")]),
    ("a base does not apply before", b"\x04\x00\x04" + R33 + b"\x06" + address(0x5000) + b"\x00", [(0x1000, 0x1004, b"\x51")]),
    ("start_end", b"\x07" + address(0x10) + address(0x20) + R33 + b"\x00", [(0x10, 0x20, b"\x51")]),
    ("start_length", b"\x08" + address(0x10) + b"\x20" + R33 + b"\x00", [(0x10, 0x30, b"\x51")]),
    ("a base does not apply to start_end", b"\x06" + address(0x5000) + b"\x07" + address(0x10) + address(0x20) + R33 + b"\x00",
     [(0x10, 0x20, b"\x51")]),
    ("an empty expression", b"\x08" + address(0x10) + b"\x20\x00\x00", [(0x10, 0x30, b"")]),
    ("entries behind the end do not count", b"\x00\x05" + R33, []),
    ("unknown kind", b"\x7f", "ill-formed"),
    ("no end", b"\x05" + R33, "ill-formed"),
    ("cut off", b"\x08" + address(0x10)[:5], "ill-formed"),
]
# DWARF 4, 2.6.2 and 7.7.3: pairs relative to the base, lengths of two bytes
HIGHEST = 0xFFFF_FFFF_FFFF_FFFF
VERSION_4: list[tuple[str, bytes, Any]] = [
    ("end", address(0) + address(0), []),
    ("bounded", address(0x10) + address(0x20) + b"\x01\x00\x51" + bytes(16), [(0x1010, 0x1020, b"\x51")]),
    ("base address selection", address(HIGHEST) + address(0x5000) + address(4) + address(8) + b"\x01\x00\x51" + bytes(16),
     [(0x5004, 0x5008, b"\x51")]),
    ("two", address(0) + address(4) + b"\x01\x00\x51" + address(4) + address(8) + b"\x01\x00\x52" + bytes(16),
     [(0x1000, 0x1004, b"\x51"), (0x1004, 0x1008, b"\x52")]),
    ("an empty expression", address(0) + address(4) + b"\x00\x00" + bytes(16), [(0x1000, 0x1004, b"")]),
    ("cut off", address(0) + address(4) + b"\x05\x00\x51", "ill-formed"),
]


def parsed(data: bytes, **options: Any) -> Any:
    try:
        return list(dwarf.parse_location_list(data, 0, base_address=0x1000, debug_addr=[0x2000, 0x2040, 0x3000], **options))
    except dwarf.IllFormed:
        return "ill-formed"


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in VERSION_5], ids=[case[0] for case in VERSION_5])
def test_entries_of_version_5(data: bytes, expected: Any) -> None:
    assert parsed(data, version=5) == expected


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in VERSION_4], ids=[case[0] for case in VERSION_4])
def test_entries_of_version_4(data: bytes, expected: Any) -> None:
    assert parsed(data, version=4) == expected


def test_addresses_of_four_bytes() -> None:
    assert parsed(b"\x07" + struct.pack("<II", 0x10, 0x20) + R33 + b"\x00", address_size=4) == [(0x10, 0x20, b"\x51")]
    base = struct.pack("<II", 0xFFFF_FFFF, 0x5000) + struct.pack("<II", 4, 8) + b"\x01\x00\x51" + bytes(8)
    assert parsed(base, version=4, address_size=4) == [(0x5004, 0x5008, b"\x51")]


def test_a_list_in_the_middle_of_the_section() -> None:
    assert list(dwarf.parse_location_list(b"\xff\xff" + VERSION_5[7][1], 2)) == [(None, None, b"\x51")]


@pytest.mark.parametrize("offset", [-1, 4, 100])
def test_an_offset_outside_of_the_section(offset: int) -> None:
    with pytest.raises(dwarf.IllFormed):
        dwarf.parse_location_list(b"\x05\x00\x00", offset)


def test_indices_need_debug_addr() -> None:
    with pytest.raises(dwarf.DwarfError):
        dwarf.parse_location_list(b"\x02\x00\x01" + R33 + b"\x00", 0)


# What a list evaluates to; the program location is 0x1000.
CASES: list[tuple[Any, ...]] = [
    ("the entry that matches", [(0xF00, 0x1000, "regx 33"), (0x1000, 0x1010, "regx 34")], "reg34"),
    ("the end is exclusive", [(0xF00, 0x1000, "regx 33")], "undefined"),
    ("the start is inclusive", [(0x1000, 0x1001, "regx 33")], "reg33"),
    ("an empty range matches nothing", [(0x1000, 0x1000, "regx 33")], "undefined"),
    ("an empty list", [], "undefined"),
    ("overlapping entries: several places", [(0, 0x2000, "regx 33"), (0x1000, 0x1001, "addr 0x1000")], "reg33 | mem0 0x1000"),
    ("three of them", [(0, 0x2000, "regx 33"), (0, 0x2000, "regx 34"), (0, 0x2000, "regx 35")], "reg33 | reg34 | reg35"),
    ("the default where nothing else matches", [(0, 0x1000, "regx 33"), (None, None, "regx 34")], "reg34"),
    ("not where something does", [(0, 0x2000, "regx 33"), (None, None, "regx 34")], "reg33"),
    ("not where a later entry does", [(None, None, "regx 34"), (0, 0x2000, "regx 33")], "reg33"),
    ("a default alone", [(None, None, "regx 34")], "reg34"),
    ("an empty expression: undefined", [(0, 0x2000, "")], "undefined"),
    ("a generic value becomes a location", [(0, 0x2000, "const2u 0x1000")], "mem0 0x1000"),
    ("a typed value does not", [(0, 0x2000, "lit1; convert u32")], "ill-formed"),
    ("an error in one of two", [(0, 0x2000, "regx 33"), (0, 0x2000, "call_frame_cfa")], "error"),
    ("no object", [(0, 0x2000, "push_object_address")], "error", {"object": "regx 33"}),
    ("the lane is kept", [(0, 0x2000, "regx 2560; push_lane; lit4; mul; offset")], "reg2560+160"),
    ("no program location: an error", [(0, 0x2000, "regx 33")], "error", {"pc": None}),
    ("with a default too", [(None, None, "regx 33")], "error", {"pc": None}),
    ("a composite in an entry", [(0, 0x2000, "regx 33; piece 4; regx 34; piece 4")], "composite {64: 0x200200001002}"),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_text(
    case: tuple[Any, ...], dialect: str, make_world: Callable[..., Any], outcome_of: Callable[..., str]
) -> None:
    _, entries, expected, *changes = case
    world = make_world(dialect, *changes)
    compiled = [(low, high, world.code(text)) for low, high, text in entries]
    result = outcome_of(lambda: dwarf.evaluate_location_list(compiled, world.context, dialect))
    assert result == expected.partition(" {")[0]


def test_reading_takes_any_place_and_writing_goes_to_all(make_world: Callable[..., Any]) -> None:
    world = make_world("amd")
    entries = [(0, 0x2000, world.code("regx 33")), (0, 0x2000, world.code("addr 0x1000"))]
    location = dwarf.evaluate_location_list(entries, world.context)
    location.write(0xCAFE, 32)
    assert world.context.registers[33] == b"\xfe\xca\x00\x00"
    assert world.context.read_memory(0, 0x1000, 4, None) == b"\xfe\xca\x00\x00"
    assert location.read(32) == 0xCAFE
