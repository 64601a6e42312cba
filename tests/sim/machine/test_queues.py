"""Raw packets of compiled kernels in several queues."""

from __future__ import annotations

import struct
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from rocdbg.codeobject import open_file
from rocdbg.sim.core.layout import PageFlags
from rocdbg.sim.core.memory import Allocation, GlobalMemory
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.shared_window import SharedWindow
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.device.aql_packets import KernelPacket, PacketError, PacketPlace
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.limits import LaunchLimitError
from rocdbg.sim.device.machine import Machine
from rocdbg.sim.device.queue_runner import QueueRunner, QueueStop
from rocdbg.sim.device.user_queue import UserQueue

pytestmark = pytest.mark.llvm
HIDDEN = struct.pack("<3I3H", 1, 1, 1, 64, 1, 1)
"""Counts and sizes of workgroups, as hidden arguments begin."""
SOURCE = Path(__file__).parent / "queues.hip"


@pytest.fixture(scope="module", params=["gfx90a", "gfx1100"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("queues") / f"{request.param}.co"
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O1"]
    command += [f"--offload-arch={request.param}", "--no-gpu-bundle-output", str(SOURCE), "-o", str(output)]
    subprocess.run(command, check=True)
    return output


def packet(
    kernel: int, kernarg: int, grid: tuple[int, ...] = (64,), workgroup: tuple[int, ...] = (64,), lds: int = 0,
    private: int = 0, signal: int = 0, kind: int = 2,
) -> bytes:
    """64 bytes; the sizes of dimensions that do not exist hold values that must not be read."""
    sizes = [*workgroup, *[7] * (3 - len(workgroup))], [*grid, *[9] * (3 - len(grid))]
    return struct.pack(
        "<HH3HH3IIIQQQQ", kind | 0x0B00, len(grid), *sizes[0], 0, *sizes[1], private, lds, kernel, kernarg, 0, signal
    )


class Program:
    """The contents of a program: the code object loaded twice, memory, two queues."""

    def __init__(self, path: Path) -> None:
        self.machine = Machine(path.stem, None, GlobalMemory(window=SharedWindow()))
        self.objects = [self.machine.load(open_file(path)) for _ in range(2)]
        self.runner = QueueRunner()
        self.queues = [UserQueue(self.machine, 8) for _ in range(2)]
        for queue in self.queues:
            self.runner.add(queue)

    def buffer(self, size: int) -> Allocation:
        return self.machine.memory.allocate(size)

    def kernel(self, name: str, number: int = 0) -> int:
        loaded = self.objects[number]
        return loaded.address(loaded.code_object.kernels[name].descriptor_address)

    def kernarg(self, *arguments: int | Allocation, hidden: bytes = HIDDEN) -> int:
        """Explicit arguments of 8 bytes (addresses) and 4, each aligned to its size, and the arguments after them."""
        data = b""
        for argument in arguments:
            size, value = (4, argument) if isinstance(argument, int) else (8, argument.address)
            data += bytes(-len(data) % size) + value.to_bytes(size, "little")
        data += bytes(-len(data) % 8) + hidden
        area = self.buffer(max(len(data), 4096))
        self.machine.memory.write(area.address, data)
        return area.address

    def words(self, buffer: Allocation) -> list[int]:
        return buffer.data.view(np.uint32).tolist()


def test_two_queues_wait_for_each_other(built: Path) -> None:
    program = Program(built)
    flags, signal = program.buffer(16), program.buffer(64)
    program.machine.memory.write(signal.address + 8, (5).to_bytes(8, "little"))
    a, b = flags.address, flags.address + 4
    first, second = program.buffer(4096), program.buffer(4096)
    program.machine.memory.write(first.address, struct.pack("<QI4xQ", a, 1, b))  # waits until a is 1, sets b to 2
    program.machine.memory.write(second.address, struct.pack("<QI4xQ", b, 0, a))  # b is 0: sets a to 1
    program.queues[0].submit(packet(program.kernel("wait_for"), first.address, signal=signal.address))
    program.queues[1].submit(packet(program.kernel("wait_for", 1), second.address))
    assert program.runner.run() is None
    assert program.words(flags)[:2] == [1, 2]
    assert program.machine.memory.read(signal.address + 8, 8) == (4).to_bytes(8, "little")
    assert [queue.read_index for queue in program.queues] == [1, 1]
    assert not program.runner.active


@pytest.mark.parametrize(
    ("grid", "workgroup", "shown"),
    [
        ((128,), (64,), ([128, 9, 9], [64, 7, 7])),
        ((8, 8), (4, 8), ([8, 8, 9], [4, 8, 7])),
        ((8, 4, 6), (4, 2, 3), ([8, 4, 6], [4, 2, 3])),
    ],
)
def test_packets_hold_all_that_kernels_see(
    built: Path, grid: tuple[int, ...], workgroup: tuple[int, ...], shown: tuple[list[int], list[int]]
) -> None:
    program = Program(built)
    out = program.buffer(2 * 44)
    kernarg = program.kernarg(out, 100, hidden=struct.pack("<3I3H", 111, 222, 333, workgroup[0], 1, 1))
    program.queues[0].submit(packet(program.kernel("sizes"), kernarg, grid, workgroup, lds=400))
    stopped = program.runner.run()
    assert stopped is None
    wave = program.objects[0].code_object.kernels["sizes"].wave_size
    assert program.words(out) == [*shown[0], *shown[1], 111, 222, 333, sum(range(100)), wave] * 2


def test_less_lds_than_the_kernel_uses_faults(built: Path) -> None:
    program = Program(built)
    kernarg = program.kernarg(program.buffer(2 * 44), 100)
    program.queues[0].submit(packet(program.kernel("sizes"), kernarg, lds=396))
    stopped = program.runner.run()
    assert stopped is not None and stopped.stop.kind is StopKind.FAULT and stopped.queue is program.queues[0]
    program.runner.abandon(program.queues[0])
    assert not program.runner.active


@pytest.mark.parametrize("private", [0, 16, 64])
def test_private_memory_is_at_least_the_kernels(built: Path, private: int) -> None:
    program = Program(built)
    buffer = program.buffer(512)
    program.queues[0].submit(packet(program.kernel("add"), program.kernarg(buffer, 3), (128,), private=private))
    assert program.runner.run() is None
    assert program.words(buffer) == [3] * 128


def test_dispatches_of_a_queue_come_one_after_the_other(built: Path) -> None:
    program = Program(built)
    buffer, begun = program.buffer(256), []

    def note(queue: object, dispatch: Dispatch) -> bool:
        begun.append((program.queues.index(queue), dispatch.number, program.words(buffer)[0]))  # type: ignore[arg-type]
        return False

    program.runner.begun = note
    for n, queue in enumerate((0, 1, 0, 0)):
        kernel = program.kernel("add", n % 2)
        program.queues[queue].submit(packet(kernel, program.kernarg(buffer, 1 << 8 * n)))
    assert program.runner.run() is None
    assert program.words(buffer) == [0x01010101] * 64
    assert begun == [(0, 1, 0), (1, 2, 1), (0, 3, 0x101), (0, 4, 0x10101)]


def test_a_breakpoint_stops_either_queue_and_budgets_are_kept(built: Path) -> None:
    program = Program(built)
    buffer = program.buffer(256)
    for queue, number in zip(program.queues, (0, 1), strict=True):
        queue.submit(packet(program.kernel("add", number), program.kernarg(buffer, 1)))
    entries = [o.address(o.code_object.kernels["add"].entry_address) for o in program.objects]
    options = RunOptions(stop_pcs=frozenset(entries))
    for entry, queue in zip(entries, program.queues, strict=True):
        stopped = program.runner.run(options)
        assert stopped is not None and (stopped.stop.kind, stopped.stop.pc) == (StopKind.BREAKPOINT, entry)
        assert stopped.queue is queue
        assert program.runner.run(RunOptions(budget=3)).stop.kind is StopKind.BUDGET  # type: ignore[union-attr]
    assert [len(dispatch.waves) > 0 for _, dispatch in program.runner.active] == [True, True]
    assert program.runner.run() is None
    assert program.words(buffer) == [2] * 64


def test_a_step_moves_one_wave_and_the_others_run_beside(built: Path) -> None:
    program = Program(built)
    flags = program.buffer(16)
    numbers = iter((1, 101))
    for queue in program.queues:
        queue.first_wave = lambda: next(numbers)
    waits = program.kernarg(flags, 1)
    program.machine.memory.write(waits, struct.pack("<QI4xQ", flags.address, 1, flags.address + 4))
    sets = program.buffer(64)
    program.machine.memory.write(sets.address, struct.pack("<QI4xQ", flags.address + 8, 0, flags.address))
    program.queues[0].submit(packet(program.kernel("wait_for"), waits))
    program.queues[1].submit(packet(program.kernel("wait_for"), sets.address))
    entry = program.objects[0].address(program.objects[0].code_object.kernels["wait_for"].entry_address)
    stop = program.runner.run(RunOptions(stop_pcs=frozenset([entry])))
    assert stop is not None and stop.stop.wave is not None and stop.stop.wave.number == 1
    assert program.runner.run(RunOptions(wave=1, step=True, only=True, alone=True)).stop.kind is StopKind.STEP  # type: ignore[union-attr]
    assert program.words(flags)[0] == 0
    # Its loop ends only when the other queue has run.
    wave = stop.stop.wave
    following = program.runner.run(RunOptions(wave=1, range=(wave.pc, wave.pc + 4096)))
    assert program.words(flags)[:2] == [1, 2] and following is not None
    assert following.stop.kind is StopKind.WAVE_DONE


def test_waves_are_numbered_as_the_machine_says(built: Path) -> None:
    program = Program(built)
    memory, kernel = program.buffer(4 * 64 * 300), program.kernel("add")
    data = packet(kernel, program.kernarg(memory, 1), (64 * 300,))
    program.machine.memory.write(program.queues[0].ring, data)
    place = PacketPlace(program.queues[0].ring, program.queues[0].address, 0)
    runs = []
    for first in (1, 1 << 40):
        dispatch = program.machine.dispatch_packet(KernelPacket.from_bytes(data), place, first)
        entry = dispatch.waves[0].pc
        seen = []
        while (stop := dispatch.run(RunOptions(stop_pcs=frozenset([entry])))).kind is StopKind.BREAKPOINT:
            assert stop.wave is not None
            seen.append(stop.wave.number - first)
        assert stop.kind is StopKind.DONE
        runs.append((seen, dispatch.instructions))
        dispatch.release()
    assert runs[0] == runs[1] and sorted(runs[0][0]) == list(range(len(runs[0][0])))


def test_faults_that_somebody_mends_are_done_again(built: Path) -> None:
    program = Program(built)
    buffer = program.buffer(256)
    program.machine.memory.protect(buffer, PageFlags(0))
    mended = []

    def mend(dispatch: Dispatch, stop: object) -> bool:
        program.machine.memory.protect(buffer, PageFlags.READ | PageFlags.WRITE)
        mended.append(dispatch.number)
        return len(mended) == 1

    program.runner.resolve = mend
    program.queues[0].submit(packet(program.kernel("add"), program.kernarg(buffer, 9)))
    assert program.runner.run() is None
    assert program.words(buffer) == [9] * 64 and mended == [1]


def test_another_thread_interrupts_and_pauses(built: Path) -> None:
    program = Program(built)
    flags = program.buffer(16)
    area = program.buffer(64)
    program.machine.memory.write(area.address, struct.pack("<QI4xQ", flags.address, 1, flags.address + 4))
    program.queues[0].submit(packet(program.kernel("wait_for"), area.address))
    stops: list[QueueStop | None] = []
    thread = threading.Thread(target=lambda: stops.append(program.runner.run()))
    thread.start()
    while not program.runner.active:
        time.sleep(0.001)
    with program.runner.paused():
        before = program.runner.active[0][1].instructions
        time.sleep(0.02)
        assert program.runner.active[0][1].instructions == before
    program.runner.interrupt()
    thread.join(60)
    assert stops[0] is not None and stops[0].stop.kind is StopKind.INTERRUPTED and stops[0].stop.wave is not None
    flags.data[0] = 1  # the host writes what the kernel waits for
    assert program.runner.run() is None
    assert program.words(flags)[:2] == [1, 2]


def test_a_pause_before_a_wave_at_a_stop_does_not_let_it_pass(built: Path) -> None:
    program = Program(built)
    program.runner.begun = lambda queue, dispatch: True
    program.queues[0].submit(packet(program.kernel("add"), program.kernarg(program.buffer(256), 9)))
    begins = program.runner.run()
    assert begins is not None and begins.dispatch is not None
    wave = begins.dispatch.waves[0]
    stops = RunOptions(stop_pcs=[wave.pc])
    begins.dispatch.interrupt()  # as a thread does that wants a pause
    stopped = program.runner.run(stops)
    assert stopped is not None and (stopped.stop.kind, stopped.stop.wave) == (StopKind.BREAKPOINT, wave)
    begins.dispatch.interrupt()
    following = program.runner.run(stops)  # the stop that was reported is passed, also after a pause
    assert following is None or following.stop.wave is not wave


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kind": 3}, "it has type 3"),
        ({"grid": ()}, "its grid has no dimensions"),
        ({"workgroup": (0,)}, "workgroup"),
        ({"grid": (0,)}, "grid"),
        ({"workgroup": (2048,)}, "2048 work-items exceed"),
        ({"lds": 1 << 20}, "bytes .* exceed the"),
        ({"kernel": 0x400000100000}, "there is no kernel descriptor at 0x400000100000"),
        ({"kernel": 0}, "there is no kernel descriptor at 0x0"),
        ({"private": 1 << 31}, "one workgroup needs"),
    ],
)
def test_bad_packets_are_refused(built: Path, change: dict[str, object], text: str) -> None:
    program = Program(built)
    fields: dict[str, object] = {"kernel": program.kernel("add"), "kernarg": 0, **change}
    live = program.machine.memory.live_bytes
    program.queues[0].submit(packet(**fields))  # type: ignore[arg-type]
    with pytest.raises((PacketError, LaunchLimitError), match=text):
        program.runner.run()
    assert program.machine.memory.live_bytes == live and not program.runner.active


def test_a_queue_that_is_full_says_so(built: Path) -> None:
    program = Program(built)
    for _ in range(8):
        program.queues[0].submit(packet(program.kernel("add"), 0))
    with pytest.raises(PacketError, match="the queue is full"):
        program.queues[0].submit(packet(program.kernel("add"), 0))
    with pytest.raises(PacketError, match="63 bytes, not 64"):
        program.queues[1].submit(bytes(63))
    program.runner.remove(program.queues[0])
    assert program.runner.queues == (program.queues[1],)
