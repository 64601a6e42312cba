"""The page table's entries for ranges to which memory is mapped. The programs' own view: `client/virtual.py`."""

from __future__ import annotations

import pytest

from rocdbg.host.errors import RequestError
from rocdbg.host.find_runtime_library import RuntimeLibrary
from rocdbg.host.gpu_side import load_gpu_side
from rocdbg.host.mappings import Mappings
from rocdbg.host.protocol import Access
from rocdbg.host.shared_memory import SharedMemory
from rocdbg.sim.core.layout import PageFlags

KIB, MIB = 1 << 10, 1 << 20
R, RW = Access.READ, Access.READ | Access.WRITE

# Mappings (begin, bytes, access) in a range of 4 MiB, and of each MiB: lowest and highest usable byte, flags.
EXPOSED = [
    ([], [(0, 0, 0)] * 4),
    ([(0, 4 * MIB, RW)], [(0, 4 * MIB, 3), (0, 3 * MIB, 3), (0, 2 * MIB, 3), (0, MIB, 3)]),
    ([(MIB, MIB, R)], [(0, 0, 0), (0, MIB, 1), (0, 0, 0), (0, 0, 0)]),
    ([(8 * KIB, 4 * KIB, RW)], [(8 * KIB, 12 * KIB, 3), (0, 0, 0), (0, 0, 0), (0, 0, 0)]),
    ([(0, MIB, RW), (MIB, MIB, Access(0))], [(0, MIB, 3), (0, 0, 0), (0, 0, 0), (0, 0, 0)]),
    ([(512 * KIB, MIB, RW)], [(512 * KIB, 1536 * KIB, 3), (0, 512 * KIB, 3), (0, 0, 0), (0, 0, 0)]),
    ([(0, 4 * KIB, R), (64 * KIB, 4 * KIB, R)], [(0, 68 * KIB, 1), (0, 0, 0), (0, 0, 0), (0, 0, 0)]),
]


@pytest.fixture
def memory(library: RuntimeLibrary) -> SharedMemory:
    return SharedMemory(load_gpu_side(library.gpu_side), 1 << 30)


def exposed(memory: SharedMemory, address: int) -> list[tuple[int, int, int]]:
    """The entries of each MiB from an address on, as in `EXPOSED`."""
    first = (address - memory.global_memory.base) // MIB
    rows = []
    for row in memory.global_memory.page_table[first : first + 4]:
        flags = int(row["flags"]) & int(PageFlags.READ | PageFlags.WRITE)
        rows.append((int(row["lo"]), int(row["hi"]), flags) if flags else (0, 0, 0))
    return rows


@pytest.mark.parametrize(("parts", "expected"), EXPOSED)
def test_only_what_is_mapped_can_be_used(
    memory: SharedMemory, parts: list[tuple[int, int, Access]], expected: list[tuple[int, int, int]]
) -> None:
    mappings = Mappings(memory)
    source = memory.allocate(4 * MIB, "memory")
    area = mappings.reserve(4 * MIB, 0)
    live = memory.global_memory.live_bytes
    for low, size, access in parts:
        mappings.map(area.address + low, size, source, 0)
        assert exposed(memory, area.address) != expected or not access
        mappings.allow(area.address + low, size, access)
    assert exposed(memory, area.address) == expected
    for low, size, _ in parts:
        source.data[5] = 7
        assert area.data[low + 5] == 7
        mappings.unmap(area.address + low, size)
        assert area.data[low + 5] == 0
    assert exposed(memory, area.address) == EXPOSED[0][1]
    mappings.free(area.address)
    memory.global_memory.free(area)
    assert (memory.global_memory.live_bytes, source.data[5]) == (live, 7 if parts else 0)


REFUSED = [
    ("map", (0, 100), "a mapping must consist of whole pages"),
    ("map", (4 * MIB, 4 * KIB), "no range of addresses was reserved"),
    ("map", (3 * MIB, 2 * MIB), "outside its reserved range"),
    ("map", (MIB, MIB), "overlap an existing mapping"),
    ("unmap", (MIB, MIB), "are not exactly one mapping"),
    ("allow", (0, 4 * MIB, RW), "are not all mapped"),
]


@pytest.mark.parametrize(("what", "arguments", "said"), REFUSED)
def test_what_is_refused(memory: SharedMemory, what: str, arguments: tuple[int, ...], said: str) -> None:
    mappings = Mappings(memory)
    source, area = memory.allocate(8 * MIB, "memory"), mappings.reserve(4 * MIB, 0)
    mappings.map(area.address + MIB, 2 * MIB, source, 0)
    low, *rest = arguments
    more = (source, 0) if what == "map" else ()
    with pytest.raises(RequestError, match=said):
        getattr(mappings, what)(area.address + low, *rest, *more)


@pytest.mark.parametrize("whose", ["own", "another process's"])
@pytest.mark.parametrize("offset", [0, 4 * KIB, 12 * KIB])
def test_a_part_is_mapped(library: RuntimeLibrary, memory: SharedMemory, whose: str, offset: int) -> None:
    mappings = Mappings(memory)
    other = SharedMemory(load_gpu_side(library.gpu_side), 1 << 30)
    theirs = (memory if whose == "own" else other).allocate(16 * KIB, "memory")
    for page in range(4):
        theirs.data[4 * KIB * page] = page + 1
    source = theirs if whose == "own" else mappings.attach(other, theirs.address, 16 * KIB)[0]
    area = mappings.reserve(MIB, 0)
    mappings.map(area.address + 8 * KIB, 4 * KIB, source, offset)
    assert area.data[8 * KIB] == offset // (4 * KIB) + 1
    with pytest.raises(RequestError, match="is smaller than"):
        mappings.map(area.address, 8 * KIB, source, 12 * KIB)
    mappings.close()


def test_memory_of_a_process_that_has_gone(library: RuntimeLibrary, memory: SharedMemory) -> None:
    mappings = Mappings(memory)
    other = SharedMemory(load_gpu_side(library.gpu_side), 1 << 30)
    theirs = other.allocate(4000, "theirs")
    theirs.data[:2] = 1, 2
    mine, _ = mappings.attach(other, theirs.address, 4000)
    second = mappings.reserve(MIB, 0)
    del other, theirs
    mappings.map(second.address, 4 * KIB, mine, 0)
    assert [*mine.data[:2], *second.data[:2]] == [1, 2, 1, 2]
    assert exposed(memory, mine.address)[0] == (0, 4000, 3)
    mappings.close()
    mappings.free(mine.address)
