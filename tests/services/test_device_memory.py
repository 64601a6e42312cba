"""malloc and free in kernels: the device libraries' allocator over the host's heap."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rocdbg
from rocdbg.sim.core.layout import PAGE_SIZE
from rocdbg.sim.core.memory import GlobalMemory, MemoryAccessError
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.core.watched_words import WatchedBytes
from rocdbg.sim.services.device_heap import QUARANTINE, DeviceHeap

Build = Callable[[str, str], Path]
# The packaged libraries read a clock that gfx1100 has not, so small pieces are tried on gfx1030.


@pytest.mark.llvm
@pytest.mark.parametrize("arch", ["gfx1030"])
def test_small_pieces(hip: Build, arch: str) -> None:
    out = np.zeros(128, np.uint32)
    rocdbg.load(hip(arch, "O2")).kernels["small"].launch(128, 64, [out]).run()
    assert out.tolist() == [sum(i + k for k in range(i % 7 + 1)) for i in range(128)]


@pytest.mark.llvm
@pytest.mark.parametrize(("arch", "level"), [("gfx90a", "O2"), ("gfx1100", "O2")])
def test_large_pieces_live_from_launch_to_launch(hip: Build, arch: str, level: str) -> None:
    program = rocdbg.load(hip(arch, level))
    kept, out = np.zeros(64, np.uint64), np.zeros(64, np.uint32)
    program.kernels["take"].launch(64, 64, [kept]).run()
    assert len(set(kept.tolist())) == 64
    program.kernels["give"].launch(64, 64, [kept, out]).run()
    assert out.tolist() == list(range(64))
    with pytest.raises(rocdbg.GpuFault, match=r"read of 4 bytes .* at offset 4996 of the freed buffer 'device malloc'"):
        program.kernels["too_late"].launch(1, 1, [kept, out]).run()


@pytest.mark.llvm
def test_a_piece_that_is_freed_twice(hip: Build) -> None:
    program = rocdbg.load(hip("gfx1100", "O2"))
    kept, out = np.zeros(2, np.uint64), np.zeros(2, np.uint32)
    program.kernels["take"].launch(1, 1, [kept]).run()
    kept[1] = kept[0]
    words = rf"free\(\): {int(kept[0]):#x} was not returned by malloc\(\), or has already been freed"
    with pytest.raises(rocdbg.GpuFault, match=words):
        program.kernels["give"].launch(2, 2, [kept, out]).run()


@pytest.mark.llvm
def test_no_memory_is_a_null_pointer(hip: Build) -> None:
    out = np.ones(1, np.uint64)
    rocdbg.load(hip("gfx1100", "O2")).kernels["huge"].launch(1, 1, [out]).run()
    assert out[0] == 0


@pytest.mark.llvm
def test_pieces_come_and_go_with_time(hip: Build, debugger: Callable[..., rocdbg.Debugger], tmp_path: Path) -> None:
    """At a position before it was made, a piece cannot be read; before it was freed, it exists with its contents."""
    session = debugger(hip("gfx1100", "O2"), "in_turn", 1, ['name = "kept"\nbuffer = "u64[4]"', "value = 4"])
    session.execute("catch sendmsg")
    session.execute("run")  # the first piece is requested
    session.execute("continue 2")  # it and the second one are there, which is about to be freed
    pieces = session.execute("output $kept", to_string=True)
    first, second = (int(piece) for piece in pieces.strip("{}").split(", ")[:2])
    assert first and second > first
    record = tmp_path / "record"
    session.execute("delete")
    session.execute("continue")
    ended = session.execute("output $kept", to_string=True)
    session.execute("reverse-continue")
    with pytest.raises(rocdbg.Error, match="Cannot access memory"):
        session.execute(f"output *(int*){first}")
    session.execute("record goto end")
    assert session.execute(f"output *(int*){first}", to_string=True) == "0"
    with pytest.raises(rocdbg.Error, match="Cannot access memory"):
        session.execute(f"output *(int*){second}")
    session.execute(f"record save {record}")
    session.execute("kill")
    session.execute(f"record restore {record}")
    session.execute("record goto end")  # compares all of memory with what it was
    assert session.execute("output $kept", to_string=True) == ended


def test_addresses_depend_on_requests_alone() -> None:
    memory = GlobalMemory()
    heap = DeviceHeap(memory)
    heap.keeps = True
    one, two = heap.allocate(100), heap.allocate(3 << 20)
    assert two % (2 << 20) == 0 and two > one
    before = heap.snapshot()
    memory.write(one, b"abc")
    assert heap.free(one) and not heap.free(one)
    after = heap.snapshot()
    with pytest.raises(MemoryAccessError, match="freed buffer 'device malloc'"):
        memory.read(one, 3)
    others = [heap.allocate(100) for _ in range(3)]
    assert one not in others
    heap.restore(before)
    assert memory.read(one, 3) == b"abc"
    for address in others:
        with pytest.raises(MemoryAccessError):
            memory.read(address, 1)
    heap.restore(after)
    assert [heap.allocate(100) for _ in range(3)] == others


def test_a_piece_for_which_there_is_no_room_comes_back() -> None:
    """A freed piece keeps its contents, although its addresses are reused and other pieces take its memory."""
    memory = GlobalMemory(limit=(QUARANTINE + 3) * 8)
    heap = DeviceHeap(memory)
    heap.keeps = True
    address = heap.allocate(8)
    memory.write(address, b"held")
    before = heap.snapshot()
    assert heap.free(address)
    for _ in range(QUARANTINE):
        assert heap.free(heap.allocate(8))
    others = [memory.allocate(8) for _ in range(QUARANTINE + 3)]
    assert heap.allocate(8) == 0
    for other in others:
        memory.free(other)
    heap.restore(before)
    assert memory.read(address, 4) == b"held"


def test_addresses_come_again_after_many_others() -> None:
    heap = DeviceHeap(GlobalMemory())
    seen = []
    for _ in range(QUARANTINE + 2):
        address = heap.allocate(PAGE_SIZE)
        seen.append(address)
        assert heap.free(address)
    assert len(set(seen)) == QUARANTINE + 1 and seen[-1] == seen[0]


@pytest.mark.llvm
def test_what_a_kernel_has_freed_is_no_longer_watched(hip: Build) -> None:
    """Blocks of this size are returned to the host at once: comparing them would crash."""
    program = rocdbg.load(hip("gfx1100", "O2"))
    kept, out = np.zeros(1, np.uint64), np.zeros(1, np.uint32)
    launch = program.kernels["frees_what_is_watched"].launch(1, 1, [kept, out, np.uint64(100 << 20)]).launch
    place = launch.buffers[0].allocation.data.view(np.uint64)
    while not place[0]:
        launch.dispatch.run(RunOptions(budget=50))
    address = int(place[0]) + 16
    found = launch.machine.memory.find(address)
    assert found is not None
    watched = [WatchedBytes(found.host_address + address - found.address, 4, address=address)]
    del found
    stops = [launch.dispatch.run(RunOptions(watches=watched)).kind for _ in range(2)]
    assert stops == [StopKind.WATCH, StopKind.DONE]
    assert launch.buffers[1].contents.view(np.uint32)[0] == 18
