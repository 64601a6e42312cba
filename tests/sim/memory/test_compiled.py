"""Compiled kernels that access memory in unusual ways, on every family."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rocdbg
from rocdbg.api import Program
from rocdbg.sim.core import layout
from rocdbg.sim.device.machine import LdsOutOfRange, MachineOptions

pytestmark = pytest.mark.llvm
HERE = Path(__file__).parent
FLAGS = {
    "gfx900": 0x00027000, "gfx90a": 0x00027000, "gfx942": 0x00027000, "gfx950": 0x00027000,
    "gfx1030": 0x31014000, "gfx1100": 0x31014000, "gfx1201": 0x31004000,
}
DMA = {"gfx942": 4, "gfx950": 16}
Load = Callable[..., Program]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """``load("gfx90a")`` is the program for a target; options may follow."""
    folder = tmp_path_factory.mktemp("memory")

    def make(target: str, options: MachineOptions | None = None) -> Program:
        output = folder / f"{target}.co"
        if not output.exists():
            command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O2"]
            command += [f"--offload-arch={target}", "--no-gpu-bundle-output", f"-DFLAGS={FLAGS[target]}"]
            command += [f"-DDMA={DMA[target]}"] if target in DMA else []
            subprocess.run([*command, str(HERE / "memory.hip"), "-o", str(output)], check=True)
        return rocdbg.load(output, options=options)

    return make


def run(program: Program, name: str, *arguments: Any, items: int = 64, lds: int = 0) -> None:
    program.kernels[name].launch(items, 64, arguments, lds).run()


@pytest.mark.parametrize("target", FLAGS)
def test_raw_buffers(load: Load, target: str) -> None:
    """203 bytes are accessible: beyond them, reads give 0, dword by dword, and writes are dropped."""
    program, size = load(target), 203
    data = np.random.default_rng(1).integers(0, 256, 2048, np.uint8)
    out = np.zeros((64, 8), np.uint32)
    run(program, "raw_loads", data.view(np.uint32), np.int32(size), out)

    def dwords(at: int, count: int) -> list[int]:
        """Dwords from a byte offset; 0 if a dword is not wholly in range (on gfx10: does not begin in range)."""
        whole = 4 if target != "gfx1030" else 1
        return [
            int(data[at + 4 * n : at + 4 * n + 4].view("<u4")[0]) if at + 4 * n + whole <= size else 0
            for n in range(count)
        ]

    for item in range(64):
        assert out[item, :4].tolist() == dwords(item * 16 + 4, 4)
        assert out[item, 4:6].tolist() == dwords(item * 8, 2)
        assert out[item, 6] == (data[item * 5] if item * 5 < size else 0)
    cells = np.zeros(512, np.uint32)
    run(program, "raw_stores", cells, np.int32(size))
    want = np.zeros(512, np.uint32)
    want[:128] = np.stack([np.arange(64) + 1, np.arange(64) + 1001], 1).reshape(-1)
    want[-(-size // 4) if target == "gfx1030" else size // 4 :] = 0
    np.testing.assert_array_equal(cells, want)


@pytest.mark.parametrize("target", DMA)
def test_global_loads_to_lds(load: Load, target: str) -> None:
    width = DMA[target] // 4
    data = np.arange(64 * width, dtype=np.uint32) * 7
    out = np.zeros(64 * width, np.uint32)
    run(load(target), "to_lds", data, out)
    np.testing.assert_array_equal(out.reshape(64, width), data.reshape(64, width)[::-1])


@pytest.mark.parametrize("target", ["gfx90a", "gfx1201"])
def test_pointer_kept_from_an_earlier_launch(load: Load, target: str) -> None:
    program = load(target)
    run(program, "keep", np.zeros(64, np.uint32))
    with pytest.raises(rocdbg.GpuFault) as caught:
        run(program, "use_kept", np.zeros(64, np.uint32))
    fault = caught.value.fault
    assert (
        fault is not None
        and fault.where == f"at offset 0 of the freed buffer 'arg0' (256 bytes at {fault.address:#x})"
    )


LDS, PRIVATE = layout.SHARED_APERTURE, layout.PRIVATE_APERTURE
WILD = [
    # kernel, pointer, what the message says after "read of 4 bytes at "
    ("read_at", 0x10, "0x10, near the null pointer"),
    ("read_at", 0x1234 << 48, "0x1234000000000000, not an address: bits 63 to 47 differ"),
    (
        "read_at",
        LDS + (1 << 20),
        "local#0x100000, 1048576 bytes past the end of the workgroup's 0 bytes of LDS",
    ),
    ("read_at", PRIVATE + 0x20000, "private_lane#0x20000, "),
    (
        "read_global_at",
        LDS + 16,
        "0x1000000000010, offset 0x10 of the LDS aperture, which only flat instructions reach",
    ),
    ("read_global_at", 1 << 47, "0x800000000000, not an address: bits 63 to 47 differ"),
    ("read_global_at", 0x5555_5555_5554, "0x555555555554"),
]


@pytest.mark.parametrize("target", ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
@pytest.mark.parametrize(("kernel", "address", "where"), WILD, ids=lambda value: str(value)[:20])
def test_wild_pointers(load: Load, target: str, kernel: str, address: int, where: str) -> None:
    with pytest.raises(rocdbg.GpuFault) as caught:
        run(load(target), kernel, np.uint64(address), np.zeros(64, np.uint32))
    fault = caught.value.fault
    assert fault is not None and fault.lanes[0] == 0
    want = f"read of 4 bytes at {where}"
    assert fault.text == want or (where.endswith(", ") and fault.text.startswith(want))


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
@pytest.mark.parametrize("size", [8, 12, 21])
def test_lds_of_any_size_is_aligned_in_every_workgroup(load: Load, target: str, size: int) -> None:
    out = np.zeros(8, np.uint32)
    run(load(target), "lds_atomics", out, items=512, lds=size)
    assert out.tolist() == [64] * 8


@pytest.mark.parametrize("target", ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_reads_of_what_was_never_written(load: Load, target: str) -> None:
    """Each item reads its own cell, which it has written, and a cell beyond those of its group."""
    program = load(target, MachineOptions(count_uninitialized=True))
    kernel = program.kernels["sum_of_unset"]
    data, scratch, out = np.ones(64, np.uint32), np.zeros(128, np.uint32), np.zeros(64, np.uint32)
    dispatch = kernel.launch(64, 64, [data, scratch, out])
    written = dispatch.launch.buffers[1].allocation.written
    assert written is not None
    written[:] = 0  # as of a buffer without contents
    dispatch.run()
    counts = program.machine.uninitialized
    assert counts is not None
    (row,) = counts.rows
    assert (row.reads, row.bytes, row.size, row.wave, row.lane) == (64, 256, 4, 1, 0)
    assert out.tolist() == [1] * 64


def test_counting_changes_no_result_and_no_schedule(load: Load) -> None:
    """The same launch with and without counting: instructions and memory are equal."""
    seen = []
    for options in (None, MachineOptions(count_uninitialized=True)):
        program = load("gfx90a", options)
        data, out = np.arange(512, dtype=np.uint32), np.zeros((64, 8), np.uint32)
        dispatch = program.kernels["raw_loads"].launch(64, 64, [data, np.int32(100), out])
        dispatch.run()
        seen.append((dispatch.instructions, out.tobytes()))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_accesses_beyond_lds_as_hardware_does_them(load: Load, target: str) -> None:
    """If the machine's options say so, such an access reads zeros and does not fault."""
    program = load(target, MachineOptions(lds_out_of_range=LdsOutOfRange.ZERO))
    out = np.full(64, 7, np.uint32)
    run(program, "read_at", np.uint64(layout.SHARED_APERTURE + 0x10000), out)
    assert not out.any()
