"""Simulated global memory: addresses, bounds, the page table, and messages about an address."""

from __future__ import annotations

import pytest

from rocdbg.sim.core.layout import PAGE_SIZE, WINDOW_BASE, WINDOW_SIZE, PageFlags
from rocdbg.sim.core.memory import (
    MAX_ALIGN,
    QUARANTINE,
    AllocationError,
    AllocationKind,
    GlobalMemory,
    MemoryAccessError,
    _Freed,
)


def entry(memory: GlobalMemory, page: int) -> tuple[int, int, int, int]:
    row = memory.page_table[page]
    return int(row["host"]), int(row["lo"]), int(row["hi"]), int(row["flags"])


def test_allocations_are_pages_apart_and_deterministic() -> None:
    addresses = []
    for _ in range(2):
        memory = GlobalMemory()
        sizes = (16, PAGE_SIZE, PAGE_SIZE + 1, 0)
        addresses.append([memory.allocate(size).address - WINDOW_BASE for size in sizes])
    assert addresses[0] == addresses[1] == [page * PAGE_SIZE for page in (1, 3, 5, 8)]


def test_freed_addresses_are_given_out_again() -> None:
    memory = GlobalMemory()
    kernarg = AllocationKind.KERNARG
    first, second = memory.allocate(100, kind=kernarg), memory.allocate(100)
    memory.free(first)
    assert memory.find(first.address) is None
    assert memory.allocate(5).address == first.address
    assert memory.live_bytes == 105
    memory.free(second)
    with pytest.raises(AllocationError, match="was never allocated"):
        memory.free(second)


def test_addresses_of_freed_buffers_rest_for_a_while() -> None:
    memory = GlobalMemory()
    stale = memory.allocate(100, name="x")
    memory.free(stale)
    assert memory.find(stale.address) is None
    assert (
        memory.describe(stale.address + 8)
        == f"at offset 8 of the freed buffer 'x' (100 bytes at {stale.address:#x})"
    )
    others = [memory.allocate(16) for _ in range(QUARANTINE)]
    assert stale.address not in [other.address for other in others]
    for other in others:
        memory.free(other)
    assert memory.allocate(1).address == stale.address
    assert "freed" not in (memory.describe(stale.address) or "")


def test_a_buffer_of_the_same_purpose_and_size_comes_back_to_its_place() -> None:
    memory = GlobalMemory()
    places = []
    for _ in range(3):
        buffers = [
            memory.allocate(size, purpose=purpose) for purpose, size in (("x", 10), ("y", 20), ("x", 10))
        ]
        places.append([buffer.address for buffer in buffers])
        for buffer in buffers:
            memory.free(buffer)
    assert places[0] == places[1] == places[2] and len(set(places[0])) == 3
    assert memory.allocate(11, purpose="x").address not in places[0]


def test_the_window_is_used_up_before_an_allocation_fails() -> None:
    memory = GlobalMemory(limit=1 << 50)
    half = (WINDOW_SIZE >> 1) + PAGE_SIZE
    page = memory._find_pages(half // PAGE_SIZE, 1, half, "x")
    assert page == 1
    memory._freed.append(_Freed(WINDOW_BASE + PAGE_SIZE, half, "x", "buffer 'x'"))
    assert memory._find_pages(half // PAGE_SIZE, 1, half, "y") == 1  # fits only where the first was
    assert not memory._freed
    with pytest.raises(AllocationError, match="no large enough range of simulated addresses is free"):
        memory._find_pages(half // PAGE_SIZE, 1, half, "z")


def test_page_table_entries() -> None:
    memory = GlobalMemory()
    buffer = memory.allocate(PAGE_SIZE + 12)
    host = buffer.host_address
    assert entry(memory, 0) == (0, 0, 0, 0)
    assert entry(memory, 1) == (host, 0, PAGE_SIZE + 12, 3)
    assert entry(memory, 2) == (host + PAGE_SIZE, 0, 12, 3)
    assert entry(memory, 3) == (0, 0, 0, 0)
    memory.free(buffer)
    assert entry(memory, 1) == entry(memory, 2) == (0, 0, 0, 0)


def test_new_memory_is_zero_and_keeps_what_is_written() -> None:
    memory = GlobalMemory()
    buffer = memory.allocate(PAGE_SIZE * 2)
    assert memory.read(buffer.address + PAGE_SIZE - 4, 8) == bytes(8)
    memory.write(buffer.address + PAGE_SIZE - 2, b"abcd")
    assert memory.read(buffer.address + PAGE_SIZE - 4, 8) == b"\0\0abcd\0\0"
    assert buffer.data[PAGE_SIZE - 2 : PAGE_SIZE + 2].tobytes() == b"abcd"


@pytest.mark.parametrize(
    ("offset", "size", "text"),
    [
        (4096, 8, "just past the end of buffer 'x' (4096 bytes at 0x7f0000100000)"),
        (4104, 8, "8 bytes past the end of buffer 'x' (4096 bytes at 0x7f0000100000)"),
        (4097, 1, "1 byte past the end of buffer 'x' (4096 bytes at 0x7f0000100000)"),
        (4092, 8, "at offset 4092, crossing the end of buffer 'x' (4096 bytes at 0x7f0000100000)"),
        (-4, 4, "4 bytes before buffer 'x' (4096 bytes at 0x7f0000100000)"),
        (12, 4, "at offset 12 of buffer 'x' (4096 bytes at 0x7f0000100000)"),
    ],
)
def test_description_of_an_address(offset: int, size: int, text: str) -> None:
    memory = GlobalMemory()
    buffer = memory.allocate(4096, name="x")
    assert memory.describe(buffer.address + offset, size) == text


@pytest.mark.parametrize("address", [0, 8, WINDOW_BASE - 1, 1 << 63])
def test_addresses_outside_of_the_window_are_near_nothing(address: int) -> None:
    memory = GlobalMemory()
    memory.allocate(16)
    assert memory.describe(address) is None


def test_nearest_is_the_closer_neighbour() -> None:
    memory = GlobalMemory()
    low, high = memory.allocate(16, name="low"), memory.allocate(16, name="high")
    assert memory.nearest(low.end + 100) is low
    assert memory.nearest(high.address - 100) is high
    assert memory.nearest(high.end + 1000) is high
    assert GlobalMemory().nearest(5) is None


def test_bad_host_accesses_name_address_and_neighbour() -> None:
    memory = GlobalMemory()
    buffer = memory.allocate(16, name="x")
    with pytest.raises(MemoryAccessError) as caught:
        memory.read(buffer.address + 12, 8)
    assert (caught.value.address, caught.value.size, caught.value.access) == (buffer.address + 12, 8, "read")
    assert str(caught.value) == (
        "Cannot access memory at address 0x7f000010000c: read of 8 bytes; it is at offset 12, "
        "crossing the end of buffer 'x' (16 bytes at 0x7f0000100000)"
    )
    with pytest.raises(MemoryAccessError, match=r"^Cannot access memory at address 0x0: write of 4 bytes$"):
        memory.write(0, b"1234")
    assert buffer.data.tobytes() == bytes(16)


@pytest.mark.parametrize(
    ("size", "align", "text"),
    [
        (1 << 60, 256, "exceeds the 1"),
        (-1, 256, "cannot be negative"),
        (16, 3, "alignment 3 is not a power of two"),
        (16, MAX_ALIGN * 2, "is not a power of two up to"),
    ],
)
def test_impossible_allocations(size: int, align: int, text: str) -> None:
    with pytest.raises(AllocationError, match=text) as caught:
        GlobalMemory().allocate(size, align, "huge")
    assert (caught.value.size, caught.value.name) == (size, "huge")


def test_host_writes_to_code_are_reported() -> None:
    memory = GlobalMemory()
    seen: list[tuple[int, int]] = []
    memory.on_code_write(lambda low, high: seen.append((low, high)))
    data, code = memory.allocate(64), memory.allocate(64, protection=PageFlags.READ | PageFlags.EXECUTE)
    memory.write(data.address, b"1234")
    memory.write(code.address + 8, b"1234")
    assert seen == [(code.address + 8, code.address + 12)]
