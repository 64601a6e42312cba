"""Alignment and bounds of LDS and scalar accesses, with the hardware settings that HSA programs get: unaligned accesses
are allowed, atomics must be aligned.
"""

from __future__ import annotations

import numpy as np
import pytest
from engine_bench import Bench

from rocdbg.sim.core import layout
from rocdbg.sim.core.layout import Access, FaultKind, Space, Status

pytestmark = pytest.mark.llvm
TARGETS = ("gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
NEW = ("gfx1100", "gfx1201")


def wave_of(target: str) -> int:
    return 64 if target.startswith("gfx9") else 32


def filled(bench: Bench) -> np.ndarray:
    """Fill LDS with noise; returns a copy."""
    bench.lds[:] = np.random.default_rng(3).integers(0, 256, bench.lds.size, np.uint8)
    return bench.lds.copy()


WIDTHS = [(2, "u16", "b16"), (4, "b32", "b32"), (8, "b64", "b64"), (12, "b96", "b96"), (16, "b128", "b128")]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("size", "load", "store"), WIDTHS, ids=[row[1] for row in WIDTHS])
@pytest.mark.parametrize("misalign", [1, 2, 3])
def test_lds_of_any_alignment(target: str, size: int, load: str, store: str, misalign: int) -> None:
    words = ("load", "store") if target in NEW else ("read", "write")
    count = max(1, size // 4)
    span = "v4" if count == 1 else f"v[4:{3 + count}]"
    text = f"ds_{words[0]}_{load} {span}, v0\nds_{words[1]}_{store} v1, {span}\ns_endpgm"
    bench = Bench(text, target, wave_of(target), 4096)
    before = filled(bench)
    lanes = np.arange(bench.wave_size)
    bench.vgpr(0)[:], bench.vgpr(1)[:] = lanes * 16 + misalign, 2048 + lanes * 20 + misalign
    assert bench.run() is Status.END
    for lane in lanes:
        source = before[16 * lane + misalign :][:size]
        before[2048 + 20 * lane + misalign :][:size] = source
    np.testing.assert_array_equal(bench.lds, before)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("space", ["ds", "flat", "global"])
@pytest.mark.parametrize(("suffix", "size"), [("u32", 4), ("u64", 8)])
def test_misaligned_atomics_fault(target: str, space: str, suffix: str, size: int) -> None:
    data = "v6" if size == 4 else "v[6:7]"
    new = target in NEW
    name = f"add_{suffix}" if space == "ds" or new else "add" + "_x2" * (size == 8)
    address, rest = ("v2", "") if space == "ds" else ("v[2:3]", ", off" if space == "global" else "")
    operation = "ds_" if space == "ds" else f"{space}_atomic_"
    bench = Bench(f"{operation}{name} {address}, {data}{rest}\ns_endpgm", target, wave_of(target), 4096)
    buffer = bench.buffer(np.zeros(4096, np.uint8))
    base = {"ds": 0, "flat": layout.SHARED_APERTURE, "global": buffer.address}[space]
    addresses = base + np.arange(bench.wave_size, dtype=np.uint64) * np.uint64(8)
    addresses[5] += np.uint64(size // 2)
    bench.set_vgpr64(2, addresses)
    bench.vgpr(6)[:] = 1
    assert bench.run() is Status.FAULT
    fault = bench.engine.fault()
    assert (fault.kind, fault.access, fault.addresses) == (
        FaultKind.MISALIGNED,
        Access.ATOMIC,
        {5: int(addresses[5])},
    )
    assert not bench.lds.any() and not buffer.data.any()


@pytest.mark.parametrize("target", TARGETS)
def test_beyond_lds_faults_or_gives_zeros(target: str) -> None:
    """LDS has 512 bytes: lane n accesses 16 bytes at 16 * n; the last lanes are beyond the end, one of them by half."""
    words = ("load", "store") if target in NEW else ("read", "write")
    text = f"ds_{words[0]}_b128 v[4:7], v0\nds_{words[1]}_b64 v1, v[4:5]\nds_add_rtn_u32 v8, v2, v9\ns_endpgm"
    bench = Bench(text, target, wave_of(target), 512)
    before = filled(bench)
    lanes = np.arange(bench.wave_size)
    bench.vgpr(0)[:] = np.where(lanes == 0, 504, lanes * 16)
    bench.vgpr(1)[:] = np.where(lanes < 2, 508, 0x10000 + 8 * lanes)
    bench.vgpr(2)[:] = np.where(lanes == 3, 8, 512)
    bench.vgpr(9)[:] = 1
    assert bench.run() is Status.FAULT
    assert (bench.engine.fault().kind, bench.engine.fault().space) == (FaultKind.LDS_RANGE, Space.LDS)
    assert min(bench.engine.fault().addresses) == 0
    bench.engine.set_lds_drops(True)
    assert bench.run() is Status.END
    for lane in lanes:
        at = int(bench.vgpr(0)[lane])
        want = before[at : at + 16].view(np.uint32).tolist() if at <= 496 else [0] * 4
        assert [int(bench.vgpr(4 + n)[lane]) for n in range(4)] == want
    old = int(before[8:12].view(np.uint32)[0])
    assert bench.vgpr(8).tolist() == [old if lane == 3 else 0 for lane in lanes]
    before[8:12].view(np.uint32)[0] += 1
    np.testing.assert_array_equal(bench.lds, before)


@pytest.mark.parametrize("target", TARGETS)
def test_each_part_of_a_scalar_address_is_aligned(target: str) -> None:
    """Base + 3, offset 6, and 7 in a register are aligned to 0 + 4 + 4 bytes."""
    if target == "gfx900":  # a register or a constant
        text = "s_load_dword s8, s[0:1], s4\ns_load_dwordx2 s[10:11], s[0:1], 0x6"
    elif target in NEW:
        text = "s_load_b32 s8, s[0:1], s4 offset:0x6\ns_load_b64 s[10:11], s[0:1], 0x6"
    else:
        text = "s_load_dword s8, s[0:1], s4 offset:0x6\ns_load_dwordx2 s[10:11], s[0:1], 0x6"
    bench = Bench(text + "\ns_endpgm", target, wave_of(target))
    bench.set64(0, bench.buffer(np.arange(10, 20, dtype=np.uint32)).address + 3)
    bench.sgprs[4] = 7
    assert bench.run() is Status.END
    assert bench.sgprs[8] == (11 if target == "gfx900" else 12)
    assert bench.sgprs[10:12].tolist() == [11, 12]


NARROW = [
    # instruction, byte offset, value; the buffer is f0 81 92 7f 85 and nothing more
    ("s_load_u8 s8, s[0:1], 0x4", 0x85),
    ("s_load_i8 s8, s[0:1], 0x4", 0xFFFFFF85),
    ("s_load_u16 s8, s[0:1], 0x3", 0x7F92),
    ("s_load_i16 s8, s[0:1], 0x0", 0xFFFF81F0),
    ("s_buffer_load_u8 s8, s[0:3], 0x4", 0x85),
    ("s_buffer_load_i8 s8, s[0:3], 0x5", 0),
    ("s_buffer_load_u16 s8, s[0:3], 0x2", 0x7F92),
    ("s_buffer_load_u16 s8, s[0:3], 0x4", 0),
]


@pytest.mark.parametrize(("text", "value"), NARROW)
def test_narrow_scalar_loads_touch_their_bytes_only(text: str, value: int) -> None:
    bench = Bench(text + "\ns_endpgm", "gfx1201", 32)
    bench.set64(0, bench.buffer(np.array([0xF0, 0x81, 0x92, 0x7F, 0x85], np.uint8)).address)
    bench.set64(2, 5)
    assert bench.run() is Status.END
    assert bench.sgprs[8] == value


def test_scalar_stores_and_atomics_through_a_buffer_are_checked_dword_by_dword() -> None:
    """A resource of 12 bytes, scalar stores of four dwords, an atomic outside and one inside."""
    text = (
        "s_buffer_store_dwordx4 s[8:11], s[0:3], 0x4\ns_buffer_atomic_add s12, s[0:3], 0x0 glc\n"
        "s_buffer_atomic_add_x2 s[14:15], s[0:3], 0x8 glc\ns_endpgm"
    )
    bench = Bench(text, "gfx1010", 32)
    buffer = bench.buffer(np.array([5, 6, 7, 8, 9], np.uint32))
    bench.set64(0, buffer.address)
    bench.set64(2, 12)
    bench.sgprs[8:16] = [1, 2, 3, 4, 100, 0, 200, 0]
    assert bench.run() is Status.END
    assert buffer.data.view(np.uint32).tolist() == [105, 1, 2, 8, 9]
    assert bench.sgprs[12:16].tolist() == [5, 0, 0, 0]


@pytest.mark.parametrize("text", ["s_store_dword s8, s[0:1], 0x10", "s_atomic_add s8, s[0:1], 0x10"])
def test_scalar_stores_and_atomics_fault_without_lanes(text: str) -> None:
    bench = Bench(text + "\ns_endpgm", "gfx1010", 32)
    buffer = bench.buffer(np.zeros(16, np.uint8))
    bench.set64(0, buffer.address)
    assert bench.run() is Status.FAULT
    fault = bench.engine.fault()
    assert (fault.space, fault.lanes, fault.addresses) == (Space.SCALAR, 0, {0: buffer.address + 16})
