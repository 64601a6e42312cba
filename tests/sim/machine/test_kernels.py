"""Compiled kernels, from launch to results, against NumPy."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rocdbg
from rocdbg.api import Program
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import Access, Space, StopKind
from rocdbg.sim.device.machine import LaunchLimitError, MachineOptions

pytestmark = pytest.mark.llvm


def run(program: Program, name: str, grid: Any, workgroup: Any, *args: Any, dynamic_lds: int = 0) -> None:
    program.kernels[name].launch(grid, workgroup, args, dynamic_lds).run()


@pytest.mark.parametrize(
    ("grid", "group"),
    [
        ((64, 1, 1), (64, 1, 1)),
        ((100, 1, 1), (64, 1, 1)),  # a partial last group, with a partial wave
        ((20, 6, 5), (8, 4, 2)),  # partial groups in every dimension
        ((9, 9, 9), (5, 3, 7)),  # partial waves in every group
        ((3, 1, 12), (1, 1, 4)),
    ],
)
def test_ids(built: Path, grid: tuple[int, int, int], group: tuple[int, int, int]) -> None:
    out = np.zeros(grid[::-1], np.uint32)
    run(rocdbg.load(built), "ids", grid, group, out, *(np.uint32(size) for size in group))
    wanted = np.zeros(grid[::-1], np.uint32)
    for axis, position in enumerate(reversed(np.indices(grid[::-1]))):
        wanted |= ((position % group[axis]) << axis * 4 | (position // group[axis]) << 12 + axis * 4).astype(
            np.uint32
        )
    assert (out == wanted).all()


@pytest.mark.parametrize("version", [4, 5, 6])
def test_hidden_arguments_and_packet(build: Callable[..., Path], version: int) -> None:
    # Sizes come from the dispatch packet in V4 and from hidden arguments after. A partial group's is the whole one's.
    program = rocdbg.load(build("gfx90a", 2, f"-mcode-object-version={version}"))
    out = np.zeros((4, 8), np.uint32)
    run(program, "sizes", (100, 2, 1), (32, 2, 1), out)
    assert out[:, :7].tolist() == [[32, 2, 1, 100, 2, 1, 64]] * 4


def test_sizes(built: Path) -> None:
    program = rocdbg.load(built)
    out = np.zeros((2, 8), np.uint32)
    run(program, "sizes", (48, 1, 3), (32, 1, 3), out)
    wave = program.kernels["sizes"].wave_size
    assert out[:, :7].tolist() == [[32, 1, 3, 48, 1, 3, wave]] * 2


def test_lds_and_barrier(built: Path) -> None:
    data = np.arange(256 * 5, dtype=np.int32)
    wanted = data.reshape(5, 256)[:, ::-1].reshape(-1).copy()
    run(rocdbg.load(built), "reverse", 256 * 5, 256, data)
    assert (data == wanted).all()


def test_dynamic_lds(built: Path) -> None:
    data = np.random.default_rng(1).integers(-1000, 1000, (3, 512)).astype(np.int32)
    sums = np.zeros(3, np.int32)
    program = rocdbg.load(built)
    run(program, "tree", 3 * 512, 512, data, sums, np.int32(512), dynamic_lds=512 * 4)
    assert sums.tolist() == data.sum(axis=1).tolist()
    with pytest.raises(rocdbg.GpuFault) as caught:
        run(program, "tree", 3 * 512, 512, data, sums, np.int32(512), dynamic_lds=64 * 4)
    assert caught.value.fault is not None and caught.value.fault.space is Space.LOCAL


def test_private_memory(built: Path) -> None:
    data = np.random.default_rng(2).integers(-1000, 1000, (128, 8)).astype(np.int32)
    wanted = np.sort(data, axis=1)
    run(rocdbg.load(built), "sort", 128, 64, data, np.int32(8))
    assert (data == wanted).all()


def test_generic_pointers(built: Path) -> None:
    out = np.arange(64, dtype=np.int32)
    run(rocdbg.load(built), "generic", 64, 64, out)
    item = np.arange(64)
    assert (out == item + 5 + (item + 5) * 1000 + (item * 2 + 5) * 1000000).all()


def test_recursion(built: Path) -> None:
    out = np.zeros(64, np.int32)
    run(rocdbg.load(built), "recurse", 64, 64, out)
    assert out.tolist() == [1, 1, 2, 3, 5, 8, 13, 21] * 8


def test_globals_keep_their_values(built: Path) -> None:
    program = rocdbg.load(built)
    for _ in range(2):
        out = np.zeros(128, np.int32)
        run(program, "globals", 128, 64, out)
        assert out.tolist() == [10, 20, 30, 40] * 32
    assert int.from_bytes(program.read(program.symbol("counter"), 4), "little") == 256


def test_values(built: Path) -> None:
    out = np.zeros(32, np.float32)
    pair = np.array((1.5, 100), np.dtype([("a", "f4"), ("b", "i8")], align=True))[()]
    run(rocdbg.load(built), "by_value", 32, 32, out, pair, 0.25, 3)
    assert out.tolist() == [104.75] * 32


def test_many_groups_in_bounded_memory(build: Callable[..., Path]) -> None:
    options = MachineOptions(resident_waves=4)
    program = rocdbg.load(build("gfx90a", 0), options=options)
    data = np.arange(64 * 100 * 8, dtype=np.int32).reshape(-1, 8)[:, ::-1].copy()
    launch = program.kernels["sort"].launch(6400, 64, [data, np.int32(8)])
    assert len(launch.launch.dispatch.waves) == 4
    launch.run()
    assert (data.reshape(-1) == np.arange(64 * 100 * 8)).all()
    assert program.machine.memory.live_bytes < 1 << 20


# -- faults ----------------------------------------------------------------------------------------------------------


def fault_of(program: Program, name: str, *args: Any) -> rocdbg.GpuFault:
    with pytest.raises(rocdbg.GpuFault) as caught:
        run(program, name, 64, 64, *args)
    return caught.value


def test_store_past_the_end(built: Path) -> None:
    data = np.zeros(16, np.int32)
    error = fault_of(rocdbg.load(built), "store_at", data, 1, np.uint32(12))
    fault, stop = error.fault, error.stop
    wave = stop.wave
    assert fault is not None and wave is not None
    assert (fault.access, fault.space, fault.size) == (Access.WRITE, Space.GLOBAL, 4)
    # Items 28 and after write beyond element 15. The first wave to do so reports all of its lanes.
    first = 28
    assert fault.lanes == tuple(range(first, wave.wave_size))
    assert [fault.addresses[lane] - fault.address for lane in fault.lanes] == [
        4 * n for n in range(len(fault.lanes))
    ]
    assert fault.where is not None and fault.where.startswith(
        "just past the end of buffer 'p' (64 bytes at 0x"
    )
    assert (stop.instruction is not None and "store_dword" in stop.instruction) or "store_b32" in str(
        stop.instruction
    )
    assert f"lanes [{first}-{wave.wave_size - 1}]: write of 4 bytes at {fault.address:#x}, just past" in str(
        error
    )
    # The faulting instruction did nothing, not even for the lanes that were in bounds.
    assert data.tolist() == [0] * 16


def test_one_lane_far_past_the_end(built: Path) -> None:
    error = fault_of(rocdbg.load(built), "store_at", np.zeros(16, np.int32), 17, np.uint32(30))
    fault = error.fault
    assert fault is not None and fault.lanes[0] == 31
    assert fault.where is not None and fault.where.startswith("4 bytes past the end of buffer 'p' (64 bytes")


def test_null_pointer(built: Path) -> None:
    out = np.zeros(64, np.int32)
    error = fault_of(rocdbg.load(built), "load_at", None, out)
    fault = error.fault
    assert fault is not None
    assert (fault.access, fault.address, fault.where) == (Access.READ, 0, "the null pointer")
    assert fault.nearest is not None and fault.lanes[:3] == (0, 1, 2)


def test_lds_past_the_end(built: Path) -> None:
    error = fault_of(rocdbg.load(built), "lds_at", np.zeros(64, np.int32), np.uint32(66))
    fault = error.fault
    assert fault is not None
    assert (fault.access, fault.space) == (Access.READ, Space.LOCAL)
    assert fault.where == "8 bytes past the end of the workgroup's 256 bytes of LDS"


def test_trap(built: Path) -> None:
    out = np.zeros(64, np.int32)
    error = fault_of(rocdbg.load(built), "trap", out)
    assert (error.stop.kind, error.stop.trap, error.stop.instruction) == (StopKind.TRAP, 2, "s_trap 2")
    assert out[:32].tolist() == [1] * 32


def test_debug_trap_stops_a_debugger_and_nobody_else(built: Path) -> None:
    program = rocdbg.load(built)
    out = np.zeros(32, np.int32)
    run(program, "debugtrap", 32, 32, out)
    assert out.tolist() == [7] * 32
    launch = program.kernels["debugtrap"].launch(32, 32, [out]).launch
    stop = launch.dispatch.run()
    assert (stop.kind, stop.trap, stop.instruction, stop.is_exception) == (
        StopKind.TRAP,
        3,
        "s_trap 3",
        False,
    )
    assert launch.dispatch.run().kind is StopKind.DONE
    launch.release()


def test_jump_into_nowhere(build: Callable[..., Path]) -> None:
    program = rocdbg.load(build("gfx90a", 2))
    launch = program.kernels["trap"].launch(64, 64, [np.zeros(64, np.int32)]).launch
    wave = launch.dispatch.waves[0]
    wave.pc = 0x1000
    stop = launch.dispatch.run()
    assert stop.kind is StopKind.FAULT and stop.fault is not None
    assert (stop.fault.access, stop.fault.address, stop.pc) == (Access.EXECUTE, 0x1000, 0x1000)


# -- control ---------------------------------------------------------------------------------------------------------


def test_an_endless_kernel_is_bounded(built: Path) -> None:
    launch = rocdbg.load(built).kernels["forever"].launch(64, 64, [np.zeros(1, np.int32)])
    with pytest.raises(rocdbg.Error, match="has not ended within 12345 instructions"):
        launch.run(max_instructions=12345)
    assert launch.instructions == 12345


def test_single_steps_equal_one_run(built: Path) -> None:
    results = []
    for stepping in (False, True):
        program = rocdbg.load(built)
        data = np.arange(512, dtype=np.int32)[::-1].copy()
        bound = program.kernels["sort"].launch(64, 64, [data, np.int32(3)]).launch
        dispatch = bound.dispatch
        if stepping:
            for wave in dispatch.waves:
                while not wave.ended:
                    assert dispatch.run(RunOptions(wave=wave.number, step=True)).kind in (
                        StopKind.STEP,
                        StopKind.WAVE_DONE,
                        StopKind.DONE,
                    )
        else:
            assert dispatch.run().kind is StopKind.DONE
        results.append((bound.buffers[0].contents.tobytes(), dispatch.instructions))
    assert results[0] == results[1]


def test_breakpoints_at_an_instruction(built: Path) -> None:
    program = rocdbg.load(built)
    entry = program.loaded.address(program.kernels["ids"].kernel.entry_address)
    bound = program.kernels["ids"].launch(128, 64, [np.zeros(128, np.uint32), *[np.uint32(64)] * 3]).launch
    count = len(bound.dispatch.waves)
    options = RunOptions(stop_pcs={entry})
    stops = [bound.dispatch.run(options) for _ in range(count + 1)]
    assert [(s.kind, s.wave.number if s.wave else 0, s.pc) for s in stops] == [
        *((StopKind.BREAKPOINT, number, entry) for number in range(1, count + 1)),
        (StopKind.DONE, 0, None),
    ]


def test_patched_code_takes_effect(build: Callable[..., Path]) -> None:
    program = rocdbg.load(build("gfx90a", 2))
    kernel = program.kernels["debugtrap"]
    out: NDArray[np.int32] = np.zeros(64, np.int32)
    kernel.launch(64, 64, [out]).run()
    entry = program.loaded.address(kernel.kernel.entry_address)
    program.write(entry, (0xBF810000).to_bytes(4, "little"))  # s_endpgm
    out[:] = 0
    launch = kernel.launch(64, 64, [out])
    launch.run()
    assert (out.tolist(), launch.instructions) == ([0] * 64, 1)


# -- limits and arguments --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "group", "lds", "message"),
    [
        (64, 2048, 0, "workgroup: 2048 work-items exceed the limit of the device, 1024"),
        (64, 64, 65537, "LDS: 65537 bytes .65537 of them dynamic. exceed the 65536 bytes of gfx90a"),
        (64, (64, 70000, 1), 0, r"workgroup: each dimension must be from 1 to 65535, not \[64, 70000, 1\]"),
        (0, 64, 0, "grid: a size must be from 1 to 4294967295, not 0"),
        ((0xFFFFFFFF,) * 3, 2, 0, "has 39614081238685424725209907200 workgroups; the limit is 18446744073709551615"),
        ((1, 2, 3, 4), 64, 0, "grid: expected one to three numbers, found 4"),
        (64.0, 64, 0, "grid: 64.0 is not a whole number"),
    ],
)
def test_limits(build: Callable[..., Path], grid: Any, group: Any, lds: int, message: str) -> None:
    program = rocdbg.load(build("gfx90a", 2))
    with pytest.raises(rocdbg.Error, match=message):
        program.kernels["debugtrap"].launch(grid, group, [np.zeros(64, np.int32)], lds)
    assert [a.kind.value for a in program.machine.memory.allocations] in (
        [],
        ["code object"],
        ["code object", "queue structure"],
    )


def test_no_memory_is_lost_when_a_launch_fails(build: Callable[..., Path]) -> None:
    program = rocdbg.load(build("gfx90a", 2))
    before = len(program.loaded.machine.memory.allocations)
    with pytest.raises(rocdbg.Error, match="arg 1"):
        program.kernels["mangled"].launch(64, 64, [np.zeros(64, np.int32), b"12345678"])
    with pytest.raises(LaunchLimitError):
        program.kernels["mangled"].launch(64, 64, [np.zeros(64, np.int32), 1], dynamic_lds=1 << 30)
    assert len(program.machine.memory.allocations) == before


def test_kernel_without_arguments(tmp_path: Path) -> None:
    source, output = tmp_path / "empty.hip", tmp_path / "empty.co"
    source.write_text("__attribute__((global)) void empty() {}")
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx1100"]
    subprocess.run([*command, "-O2", "--no-gpu-bundle-output", str(source), "-o", str(output)], check=True)
    program = rocdbg.load(output)
    dispatch = program.kernels["empty"].launch(32, 32, ())
    dispatch.run()
    assert dispatch.finished


def test_kernel_names(build: Callable[..., Path]) -> None:
    program = rocdbg.load(build("gfx90a", 2))
    kernels = program.kernels
    assert kernels["mangled"].name == kernels["_Z7mangledPii"].name == "_Z7mangledPii"
    assert "ids" in kernels and "nothing" not in kernels
    assert {"ids", "mangled", "instance<3>"} <= set(kernels)
    with pytest.raises(
        rocdbg.Error, match="the name matches 2 kernels: instance<3>, instance<4>"
    ):
        kernels["instance"]
    with pytest.raises(rocdbg.Error, match=r"kernel mangeld: there is no such kernel in .*; did you mean mangled"):
        kernels["mangeld"]
