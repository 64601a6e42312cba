"""Global memory in a file that another process maps at the same addresses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rocdbg.codeobject import open_file
from rocdbg.sim.core.layout import PAGE_SIZE, PageFlags
from rocdbg.sim.core.memory import Allocation, AllocationKind, GlobalMemory
from rocdbg.sim.core.shared_window import SHARED_BASE, SharedWindow, SharedWindowError
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.machine import LoadedCodeObject, Machine, MachineOptions

DEMOS = Path(__file__).parents[3] / "demo_kernels"

OTHER_PROCESS = """
import ctypes, errno, os, sys
file, base, size, a, b, unused = map(int, sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
assert libc.mmap(base, size, 3, 0x104001, file, 0) == base  # MAP_FIXED_NOREPLACE | MAP_NORESERVE | MAP_SHARED
assert ctypes.string_at(a, 5) == b"hello"
ctypes.memmove(b, b"there", 5)
assert ctypes.string_at(unused, 8) == bytes(8)
for change in (0, size // 2, 2 * size):
    try:
        os.ftruncate(file, change)
    except OSError as error:
        assert error.errno == errno.EPERM
    else:
        raise SystemExit("its size was changed")
"""


def shared(watched: bool = False) -> GlobalMemory:
    return GlobalMemory(1 << 40, watched, SharedWindow())


class Saxpy:
    """``y = 2 x + y`` over 100 elements in shared memory; the kernel receives ``count`` as their number."""

    def __init__(self, target: str, count: int, memory: GlobalMemory) -> None:
        self.machine = Machine(target, MachineOptions(count_uninitialized=memory.watched), memory)
        self.loaded: LoadedCodeObject = self.machine.load(open_file(DEMOS / f"saxpy/saxpy.O2.{target}.co"))
        self.x, self.y = (memory.allocate(400, name=name) for name in "xy")
        values = [np.float32(2), np.uint64(self.x.address), np.uint64(self.y.address), np.int32(count)]
        kernel = self.loaded.code_object.kernels["saxpy"]
        arguments = [value.tobytes() for value in values]
        self.dispatch: Dispatch = self.machine.dispatch(kernel, (128, 1, 1), (64, 1, 1), arguments)


def floats(allocation: Allocation) -> np.ndarray:
    return allocation.data.view(np.float32)


def test_another_process_sees_it_at_the_same_addresses() -> None:
    memory = shared()
    a, b, freed = memory.allocate(4000, name="a"), memory.allocate(8), memory.allocate(3 * PAGE_SIZE)
    memory.write(a.address, b"hello")
    memory.write(freed.address, b"something")
    memory.free(freed)
    window = memory.window
    assert window is not None
    numbers = [str(n) for n in (window.file, window.base, window.size, a.address, b.address, freed.address)]
    command = [sys.executable, "-c", OTHER_PROCESS, *numbers]
    subprocess.run(command, pass_fds=[window.file], check=True, timeout=60)
    assert memory.read(b.address, 8) == b"there\0\0\0"
    assert a.address == SHARED_BASE + PAGE_SIZE


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_kernels_run_in_it_within_exact_bounds(target: str) -> None:
    run = Saxpy(target, 101, shared())
    floats(run.x)[:] = np.arange(100)
    floats(run.y)[:] = 1
    stop = run.dispatch.run()
    assert stop.kind is StopKind.FAULT and stop.fault is not None
    size = run.loaded.code_object.kernels["saxpy"].wave_size
    assert (stop.fault.address, stop.lanes) == (run.x.end, (36 % size,))
    assert "just past the end of buffer 'x' (400 bytes at 0x400000" in stop.message
    again = Saxpy(target, 100, shared())
    floats(again.x)[:] = np.arange(100)
    floats(again.y)[:] = 1
    assert again.dispatch.run().kind is StopKind.DONE
    assert floats(again.y).tolist() == [2 * n + 1 for n in range(100)]


def test_memory_without_access_faults_until_it_has_some() -> None:
    run = Saxpy("gfx90a", 100, shared())
    floats(run.x)[:] = 3
    run.machine.memory.protect(run.y, PageFlags(0))
    stop = run.dispatch.run()
    assert stop.kind is StopKind.FAULT and stop.fault is not None and stop.fault.address == run.y.address
    run.machine.memory.protect(run.y, PageFlags.READ | PageFlags.WRITE)
    assert run.dispatch.run().kind is StopKind.DONE
    assert floats(run.y).tolist() == [6] * 100


def test_reads_of_what_nobody_wrote_are_counted_there_too() -> None:
    run = Saxpy("gfx90a", 100, shared(watched=True))
    run.machine.memory.note_written(run.x.address, 400)
    run.machine.memory.note_written(run.y.address, 40)
    run.dispatch.run()
    reads = run.machine.uninitialized
    assert reads is not None and [(row.reads, row.bytes, row.address) for row in reads.rows] == [
        (90, 360, run.y.address + 40)
    ]


def test_code_that_the_program_writes_is_read_anew() -> None:
    run = Saxpy("gfx90a", 100, shared())
    assert run.dispatch.run().kind is StopKind.DONE
    run.dispatch.release()
    kernel = run.loaded.code_object.kernels["saxpy"]
    entry = run.loaded.address(kernel.entry_address)
    run.loaded.allocation.data[entry - run.loaded.base :][:4] = np.frombuffer(b"\0\0\x81\xbf", np.uint8)  # s_endpgm
    run.machine.memory.note_written(entry, 4)
    again = run.machine.dispatch(kernel, (64, 1, 1), (64, 1, 1), bytes(64))
    assert again.run().kind is StopKind.DONE and again.instructions == 1


def test_private_memory_of_waves_is_not_shared() -> None:
    memory = shared()
    scratch, buffer = memory.allocate(100, kind=AllocationKind.SCRATCH), memory.allocate(100)
    window = memory.window
    assert window is not None
    inside = [window.host <= each.host_address < window.host + window.size for each in (scratch, buffer)]
    assert inside == [False, True]


def test_what_no_allocation_holds_cannot_be_touched() -> None:
    # A child does it: what it does is a crash.
    code = (
        "import ctypes, sys\n"
        "from rocdbg.sim.core.shared_window import SharedWindow\n"
        "window = SharedWindow()\n"
        "window.open(window.base + 0x100000, 100)\n"
        "if sys.argv[1] == 'freed': window.close(window.base + 0x100000, 100)\n"
        "ctypes.memset(window.host + int(sys.argv[2], 16), 1, 1)\n"
    )
    cases = [("live", "100000", 0), ("live", "fffff", -11), ("live", "101000", -11), ("freed", "100000", -11)]
    done = [subprocess.run([sys.executable, "-c", code, what, at], timeout=60).returncode for what, at, _ in cases]
    assert done == [wanted for _, _, wanted in cases]


def test_big_buffers_can_be_aligned() -> None:
    memory = shared()
    made = [memory.allocate(size, align) for size, align in ((5 << 20, 2 << 20), (1, 1), (9, 4 << 20))]
    assert [each.address - SHARED_BASE for each in made] == [2 << 20, 8 << 20, 12 << 20]
    assert memory.allocate(1).address == SHARED_BASE + 10 * PAGE_SIZE


@pytest.mark.parametrize("base", [0, 4096, 1 << 48])
def test_windows_have_possible_places(base: int) -> None:
    with pytest.raises(SharedWindowError, match="the memory window cannot begin at"):
        SharedWindow(base)
