"""GCC's output for AMD GPUs, in the form of the specification: rows as in GCC 12, and its locations."""

from __future__ import annotations

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.conventions import conventions_of
from rocdbg.dwarf.operation_assembler import Item, assemble, uleb128

PRODUCER = "GNU GIMPLE 12.2.0 -m64 -mgomp -march=gfx906 -g -O0 -fopenmp"
S14, S16, S18, S24 = 46, 48, 50, 56


def pair(low: int) -> tuple[Item, ...]:
    return (("bregx", low + 1, 0), ("const1u", 32), "shl", ("bregx", low, 0), "plus")


def block(code: int, *items: Item, register: int | None = None) -> bytes:
    data = assemble(*items)
    return bytes([code]) + (b"" if register is None else uleb128(register)) + uleb128(len(data)) + data


def section(*instructions: bytes) -> bytes:
    """The CIE that all functions share, and one of these functions, from 0x1000 on."""
    cie = b"\xff\xff\xff\xff\x03\0\x01\x04\x10" + block(0x0F, *pair(S16)) + block(0x10, *pair(S18), register=16)
    fde = bytes(4) + (0x1000).to_bytes(8, "little") + (0x100).to_bytes(8, "little") + b"".join(instructions)
    return b"".join(len(entry).to_bytes(4, "little") + entry for entry in (cie, fde))


ADVANCE, SAVED_LINK = b"\x44", bytes([0x05, *uleb128(S18), 4, 0x05, *uleb128(S18 + 1), 5])
"""Advance by 4 bytes; s18 and s19 are saved 16 and 20 bytes above the canonical frame address."""
FRAME = block(0x0F, *pair(S14), ("const1u", 64), "minus")


def words(low: int, value: int) -> dict[int, bytes]:
    data = value.to_bytes(8, "little")
    return {low: data[:4], low + 1: data[4:]}


@pytest.fixture
def frames() -> dwarf.FrameTable:
    return dwarf.parse_frames(section(ADVANCE, SAVED_LINK, ADVANCE, FRAME))


def context(pc: int) -> dwarf.SimpleContext:
    """s14 is the frame pointer, and the saved value is a return address."""
    stack = bytearray(256)
    stack[0x40 + 16:0x40 + 24] = (0x7777_0000_2004).to_bytes(8, "little")
    return dwarf.SimpleContext(
        pc=pc, memory={0: {0x5_0000_0000: bytes(stack)}},
        registers={**words(S14, 0x5_0000_0080), **words(S16, 0x5_0000_0040), **words(S18, 0x6666_0000_1104)},
    )


@pytest.mark.parametrize(
    ("pc", "returns_to"), [(0x1000, 0x6666_0000_1104), (0x1004, 0x7777_0000_2004), (0x1008, 0x7777_0000_2004)]
)
def test_rows(frames: dwarf.FrameTable, pc: int, returns_to: int) -> None:
    """The return address is the value of s18 and s19 at entry; the caller's stack pointer is the frame's address."""
    ctx = context(pc)
    row = frames.row(pc)
    assert row is not None
    assert row.cfa_location(ctx).describe() == "memory at 0x500000040"
    caller = frames.unwind(ctx)
    assert caller is not None and caller.pc == returns_to - 1
    assert [caller.register_location(S16 + half).read(32) for half in range(2)] == [0x40, 5]
    assert caller.register_location(S14).read(32) == 0x80


def test_rows_of_others_are_as_they_are() -> None:
    cie = b"\xff\xff\xff\xff\x03\0\x01\x04\x10" + block(0x0F, ("addr", 0x40)) + block(0x10, *pair(S18), register=16)
    fde = bytes(4) + (0x1000).to_bytes(8, "little") + (0x100).to_bytes(8, "little")
    row = dwarf.parse_frames(b"".join(len(part).to_bytes(4, "little") + part for part in (cie, fde))).row(0x1000)
    assert row is not None and set(row.rules) == {16}


def test_damaged_expressions_are_told_when_they_are_evaluated() -> None:
    damaged = dwarf.parse_frames(section(ADVANCE, FRAME, ADVANCE, b"\x10\x2e\x01\xff")).row(0x1008)
    assert damaged is not None
    with pytest.raises(dwarf.DecodeError):
        damaged.register_location(S14, context(0x1008))


LOCATIONS: list[tuple[tuple[Item, ...], str]] = [
    ((("bregx", S14, 8),), "memory at 0x500000088"),
    ((("bregx", S14, 0), "deref"), "memory at 0x1234"),  # a reference
    ((("bregx", S24, -1), "stack_value"), "implicit"),
    ((("regx", S24),), "register s24"),
    ((("regx", 2560),), "register v0"),  # a vector of 64 elements, not a lane's dword
]


@pytest.mark.parametrize(("written", "where"), LOCATIONS)
def test_locations(written: tuple[Item, ...], where: str) -> None:
    conventions = conventions_of("llvm22", PRODUCER)
    ctx = dwarf.SimpleContext(
        lane=5, registers={**words(S14, 0x5_0000_0080), S24: bytes([7, 0, 0, 0]), 2560: bytes(256)},
        memory={0: {0x5_0000_0080: (0x1234).to_bytes(8, "little")}},
    )
    found = dwarf.evaluate_location(conventions.location(assemble(*written), "gfx906", 64), ctx)
    assert found.describe().startswith(where)
    if where == "implicit":
        assert found.read(32) == 6
