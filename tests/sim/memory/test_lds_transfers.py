"""Loads from memory to LDS and stores from LDS that use no registers."""

from __future__ import annotations

import numpy as np
import pytest
from engine_bench import Bench

from rocdbg.sim.core.layout import FaultKind, Status

pytestmark = pytest.mark.llvm
GFX9_FORMAT, GFX10_FORMAT = 0x00027FAC, 0x31014FAC
M0 = 124


def bench_of(text: str, target: str, lds: int = 4096) -> Bench:
    bench = Bench(text + "\ns_endpgm", target, 64 if target.startswith("gfx9") else 32, lds)
    bench.area = bench.memory.allocate(8192, name="area")
    bench.area.data.view(np.uint32)[:] = np.arange(2048) * 0x01010101 + 0x80
    bench.set64(4, bench.area.address)
    bench.set64(6, 8192 | (GFX9_FORMAT if target.startswith("gfx9") else GFX10_FORMAT) << 32)
    return bench


LOADS = [
    # instruction, targets, bytes in memory, dwords in LDS, distance of lanes in LDS, made of the element
    ("dword", ("gfx900", "gfx90a", "gfx942", "gfx1030"), 4, 1, 4, lambda b: b),
    ("ubyte", ("gfx900", "gfx90a", "gfx942", "gfx1030"), 1, 1, 4, lambda b: b + b"\0\0\0"),
    ("sbyte", ("gfx900", "gfx942", "gfx1030"), 1, 1, 4, lambda b: b + bytes([255 * (b[0] >> 7)]) * 3),
    ("ushort", ("gfx900", "gfx942", "gfx1030"), 2, 1, 4, lambda b: b + b"\0\0"),
    ("sshort", ("gfx900", "gfx942", "gfx1030"), 2, 1, 4, lambda b: b + bytes([255 * (b[1] >> 7)]) * 2),
    ("dwordx3", ("gfx950",), 12, 3, 16, lambda b: b),
    ("dwordx4", ("gfx950",), 16, 4, 16, lambda b: b),
]
ROWS = [(row[0], target, *row[2:]) for row in LOADS for target in row[1]]


@pytest.mark.parametrize(("kind", "target", "size", "dwords", "distance", "made"), ROWS)
def test_buffer_loads(kind: str, target: str, size: int, dwords: int, distance: int, made) -> None:
    """LDS address: M0 + the instruction's offset + a dword (or four) per lane; the offset applies to the memory address
    too.
    """
    bench = bench_of(f"buffer_load_{kind} v1, s[4:7], 0 offen offset:12 lds", target)
    bench.sgprs[M0] = 256
    bench.vgpr(1)[:] = np.arange(bench.wave_size)[::-1] * 20
    bench.exec = 0b1011
    bench.lds[:] = 0xCC
    assert bench.run() is Status.END
    want = np.full(4096, 0xCC, np.uint8)
    for lane in (0, 1, 3):
        source = int(bench.vgpr(1)[lane]) + 12
        data = made(bench.area.data[source : source + size].tobytes())
        want[268 + lane * distance :][: 4 * dwords] = np.frombuffer(data, np.uint8)
    np.testing.assert_array_equal(bench.lds, want)


@pytest.mark.parametrize("target", ["gfx900", "gfx90a"])
def test_buffer_load_without_lane_offsets_gives_all_lanes_the_same(target: str) -> None:
    bench = bench_of("buffer_load_dword off, s[4:7], s8 offset:4 lds", target)
    bench.sgprs[8] = 8
    assert bench.run() is Status.END
    value = int(bench.area.data.view(np.uint32)[3])
    assert (bench.lds.view(np.uint32)[1:65] == value).all() and not bench.lds[260:].any()


def test_format_load_to_lds() -> None:
    bench = bench_of("buffer_load_format_x v1, s[4:7], 0 offen lds", "gfx900")
    bench.sgprs[7] = 0xFAC | 1 << 15  # 8_UNORM
    bench.vgpr(1)[:] = np.arange(64) * 4
    bench.area.data.view(np.uint32)[:64] = np.arange(64) * 5 % 256
    assert bench.run() is Status.END
    want = (np.arange(64) * 5 % 256).astype(np.float32) / np.float32(255)
    np.testing.assert_array_equal(bench.lds[:256].view(np.float32), want)


@pytest.mark.parametrize("target", ["gfx900", "gfx90a"])
def test_store_from_lds(target: str) -> None:
    """A resource that adds the lane number determines the lane's place in memory."""
    bench = bench_of("buffer_store_lds_dword s[4:7], s8 offset:8 lds", target)
    bench.set64(4, bench.area.address | 12 << 48)
    bench.sgprs[7] = 1 << 23
    bench.sgprs[8], bench.sgprs[M0] = 100, 32
    bench.lds.view(np.uint32)[:] = np.arange(1024) + 7000
    before = bench.area.data.view(np.uint32).copy()
    bench.exec = (1 << 64) - 2
    assert bench.run() is Status.END
    for lane in range(1, 64):
        before[(108 + 12 * lane) // 4] = 7000 + 10 + lane
    np.testing.assert_array_equal(bench.area.data.view(np.uint32), before)


GLOBAL = [
    ("global_load_lds_dword v[2:3], off offset:16", "gfx942", 4, 4),
    ("global_load_lds_ushort v[2:3], off offset:16", "gfx942", 2, 4),
    ("global_load_dword v[2:3], off offset:16 lds", "gfx90a", 4, 4),
    ("global_load_ubyte v[2:3], off offset:16 lds", "gfx900", 1, 4),
    ("global_load_lds_dwordx3 v[2:3], off offset:16", "gfx950", 12, 16),
    ("global_load_lds_dwordx4 v[2:3], off offset:16", "gfx950", 16, 16),
]


@pytest.mark.parametrize(("text", "target", "size", "distance"), GLOBAL)
def test_global_loads(text: str, target: str, size: int, distance: int) -> None:
    bench = bench_of(text, target, 160 << 10 if target == "gfx950" else 65536)
    bench.sgprs[M0] = 0x20000 if target == "gfx950" else 0x8000  # M0[17:0]
    bench.set_vgpr64(2, np.uint64(bench.area.address) + np.arange(64, dtype=np.uint64) * np.uint64(40))
    assert bench.run() is Status.END
    start = int(bench.sgprs[M0]) + 16
    for lane in range(64):
        source = bench.area.data[16 + 40 * lane :][:size].tobytes().ljust(max(4, size), b"\0")
        assert bench.lds[start + distance * lane :][: max(4, size)].tobytes() == source


def test_what_does_not_fit_in_lds_faults_and_writes_nothing() -> None:
    bench = bench_of("buffer_load_dword off, s[4:7], 0 lds", "gfx900", 256)
    bench.sgprs[M0] = 4
    assert bench.run() is Status.FAULT
    fault = bench.engine.fault()
    assert (fault.kind, fault.addresses) == (FaultKind.LDS_RANGE, {63: 256})
    assert not bench.lds.any()
