"""Memory instructions against NumPy, and faults that leave no trace."""

from __future__ import annotations

import numpy as np
import pytest
from engine_bench import Bench

from rocdbg.sim.core.layout import Access, FaultKind, Space, Status

pytestmark = pytest.mark.llvm
RNG = np.random.default_rng(1)
LANES = np.arange(64, dtype=np.uint64)


def bytes_at(data: np.ndarray, offsets: np.ndarray, size: int) -> np.ndarray:
    """Little-endian unsigned numbers of ``size`` bytes at each offset."""
    return sum(data[offsets + n].astype(np.uint64) << np.uint64(8 * n) for n in range(size))


LOADS = [
    # mnemonic, bytes, result of the loaded unsigned value and the old register
    ("ubyte", 1, lambda v, old: v),
    ("sbyte", 1, lambda v, old: v.astype(np.uint8).view(np.int8).astype(np.int32).view(np.uint32)),
    ("ushort", 2, lambda v, old: v),
    ("sshort", 2, lambda v, old: v.astype(np.uint16).view(np.int16).astype(np.int32).view(np.uint32)),
    ("dword", 4, lambda v, old: v),
    ("short_d16", 2, lambda v, old: (old & 0xFFFF0000) | v),
    ("short_d16_hi", 2, lambda v, old: (old & 0xFFFF) | (v << np.uint64(16))),
    ("ubyte_d16_hi", 1, lambda v, old: (old & 0xFFFF) | (v << np.uint64(16))),
]


@pytest.mark.parametrize("prefix", ["global", "flat"])
@pytest.mark.parametrize(("name", "size", "result"), LOADS, ids=[row[0] for row in LOADS])
def test_narrow_loads(prefix: str, name: str, size: int, result) -> None:
    off = ", off" if prefix == "global" else ""
    bench = Bench(f"{prefix}_load_{name} v1, v[2:3]{off} offset:4\ns_endpgm")
    data = RNG.integers(0, 256, 1024, np.uint8)
    offsets = RNG.permutation(1000)[:64]
    buffer = bench.buffer(data)
    bench.set_vgpr64(2, buffer.address - 4 + offsets.astype(np.uint64))
    bench.exec = 0xFFFF_0F0F_FFFF_0001
    bench.vgpr(1)[:] = RNG.integers(0, 1 << 32, 64, np.uint32)
    old = bench.vgpr(1).copy()
    assert bench.run() is Status.END
    active = (bench.exec >> LANES) & np.uint64(1) != 0
    want = result(bytes_at(data, offsets, size), old.astype(np.uint64)).astype(np.uint32)
    np.testing.assert_array_equal(bench.vgpr(1), np.where(active, want, old))


@pytest.mark.parametrize("dwords", [1, 2, 3, 4])
@pytest.mark.parametrize("misalign", [0, 1, 2])
def test_wide_copy(dwords: int, misalign: int) -> None:
    suffix = "dword" + (f"x{dwords}" if dwords > 1 else "")
    span = "v4" if dwords == 1 else f"v[4:{3 + dwords}]"
    bench = Bench(
        f"global_load_{suffix} {span}, v0, s[0:1] offset:16\ns_waitcnt vmcnt(0)\n"
        f"global_store_{suffix} v1, {span}, s[2:3]\ns_endpgm"
    )
    data = RNG.integers(0, 256, 64 * 16 + 64, np.uint8)
    source, target = bench.buffer(data), bench.buffer(np.zeros(64 * 16 + 16, np.uint8))
    bench.set64(0, source.address)
    bench.set64(2, target.address)
    bench.vgpr(0)[:] = LANES * 16 + misalign
    bench.vgpr(1)[:] = LANES[::-1] * 4 * dwords + misalign
    assert bench.run() is Status.END
    got = np.frombuffer(bench.memory.read(target.address + misalign, 64 * 4 * dwords), np.uint8)
    want = np.concatenate([data[16 + misalign + 16 * lane :][: 4 * dwords] for lane in range(63, -1, -1)])
    np.testing.assert_array_equal(got, want)


def test_fault_has_no_effect_at_all() -> None:
    bench = Bench("v_mov_b32 v9, 5\ns_mov_b32 s9, 7\nglobal_store_dword v[2:3], v1, off\ns_endpgm")
    buffer = bench.buffer(np.full(63 * 4 + 3, 0xAA, np.uint8))  # lane 63's dword is one byte short
    bench.set_vgpr64(2, buffer.address + LANES * np.uint64(4))
    bench.vgpr(1)[:] = 1
    assert bench.run() is Status.FAULT
    assert bench.pc == 8 and bench.get("instructions") == 2
    assert bench.sgprs[9] == 7 and (bench.vgpr(9) == 5).all()
    assert set(bench.memory.read(buffer.address, 63 * 4 + 3)) == {0xAA}
    fault = bench.engine.fault()
    assert (fault.kind, fault.access, fault.space, fault.size) == (
        FaultKind.UNMAPPED, Access.STORE, Space.GLOBAL, 4,
    )
    assert fault.lanes == 1 << 63 and fault.addresses == {63: buffer.address + 252}
    before = bench.state.copy()
    assert bench.run() is Status.FAULT
    np.testing.assert_array_equal(bench.state, before)


@pytest.mark.parametrize(
    "address", [0, 8, 0x7F00_0000_0000, (1 << 64) - 4, 0x7EFF_FFFF_FFFE, 0x8000_0000_0000]
)
def test_wild_addresses_fault(address: int) -> None:
    bench = Bench("flat_load_dword v1, v[2:3]\ns_endpgm")
    bench.set_vgpr64(2, np.full(64, address, np.uint64))
    bench.exec = 1 << 5
    assert bench.run() is Status.FAULT
    assert bench.engine.fault().addresses == {5: address}


def test_lds_two_places() -> None:
    bench = Bench(
        "ds_write2_b32 v0, v1, v2 offset0:1 offset1:65\nds_read2st64_b32 v[4:5], v0 offset0:0 offset1:1\n"
        "ds_read2_b64 v[6:9], v3 offset0:0 offset1:2\ns_endpgm", lds=1024,
    )
    bench.lds[:] = RNG.integers(0, 256, 1024, np.uint8)
    bench.vgpr(0)[:] = LANES * 4
    bench.vgpr(1)[:], bench.vgpr(2)[:] = LANES + 1000, LANES + 2000
    bench.vgpr(3)[:] = LANES * 8
    want = bench.lds.copy().view(np.uint32)
    want[1:65], want[65:129] = LANES + 1000, LANES + 2000
    assert bench.run() is Status.END
    np.testing.assert_array_equal(bench.lds.view(np.uint32), want)
    np.testing.assert_array_equal(bench.vgpr(4), want[:64])
    np.testing.assert_array_equal(bench.vgpr(5), want[64:128])
    for register, first in ((6, 0), (7, 1), (8, 4), (9, 5)):
        np.testing.assert_array_equal(bench.vgpr(register), want[first : first + 128 : 2])


def test_lds_out_of_range_is_a_fault_and_second_place_is_checked_first() -> None:
    bench = Bench("ds_write2_b32 v0, v1, v1 offset0:0 offset1:200\ns_endpgm", lds=512)
    bench.vgpr(0)[:] = 0
    bench.vgpr(1)[:] = 0xFFFFFFFF
    bench.exec = 0b11
    assert bench.run() is Status.FAULT
    assert not bench.lds.any()
    fault = bench.engine.fault()
    assert (fault.kind, fault.space, fault.lanes, fault.addresses[0]) == (
        FaultKind.LDS_RANGE,
        Space.LDS,
        3,
        800,
    )


ATOMICS = [
    ("add", 4, lambda old, x: old + x),
    ("sub", 4, lambda old, x: old - x),
    ("smin", 4, lambda old, x: min(old - (old >> 31 << 32), x - (x >> 31 << 32))),
    ("umax", 4, lambda old, x: max(old, x)),
    ("xor", 4, lambda old, x: old ^ x),
    ("swap", 4, lambda old, x: x),
    ("inc", 4, lambda old, x: 0 if old >= x else old + 1),
    ("dec", 4, lambda old, x: x if old == 0 or old > x else old - 1),
    ("add_x2", 8, lambda old, x: old + x),
    ("umin_x2", 8, lambda old, x: min(old, x)),
]


@pytest.mark.parametrize(("name", "size", "operation"), ATOMICS, ids=[row[0] for row in ATOMICS])
def test_atomics_go_lane_by_lane(name: str, size: int, operation) -> None:
    wide = size == 8
    regs = ("v[4:5]", "v[6:7]") if wide else ("v4", "v6")
    bench = Bench(f"global_atomic_{name} {regs[0]}, v[2:3], {regs[1]}, off glc\ns_endpgm")
    mask = (1 << 8 * size) - 1
    cells = [int(x) & mask for x in RNG.integers(0, 1 << 63, 5)]
    buffer = bench.buffer(np.array(cells, np.uint64 if wide else np.uint32))
    where = RNG.integers(0, 5, 64)
    bench.set_vgpr64(2, buffer.address + where.astype(np.uint64) * np.uint64(size))
    data = [int(x) & mask for x in RNG.integers(0, 1 << 63, 64)]
    bench.set_vgpr64(6, np.array(data, np.uint64))
    assert bench.run() is Status.END
    returned = []
    for cell, x in zip(where, data, strict=True):
        returned.append(cells[cell])
        cells[cell] = operation(cells[cell], x) & mask
    got = bench.vgpr(4).astype(np.uint64) | (
        bench.vgpr(5).astype(np.uint64) << np.uint64(32) if wide else np.uint64(0)
    )
    assert got.tolist() == returned
    assert np.frombuffer(bench.memory.read(buffer.address, 5 * size), f"<u{size}").tolist() == cells


def test_compare_and_swap_orders_of_operands() -> None:
    bench = Bench(
        "global_atomic_cmpswap v4, v[2:3], v[6:7], off glc\nds_cmpst_rtn_b32 v5, v8, v7, v6\ns_endpgm", lds=16
    )
    bench.exec = 1
    buffer = bench.buffer(np.array([11], np.uint32))
    bench.lds.view(np.uint32)[0] = 11
    bench.set_vgpr64(2, np.full(64, buffer.address, np.uint64))
    bench.vgpr(6)[0], bench.vgpr(7)[0] = 99, 11  # new value, compared value
    assert bench.run() is Status.END
    assert bench.vgpr(4)[0] == bench.vgpr(5)[0] == 11
    assert bench.memory.read(buffer.address, 4) == bench.lds[:4].tobytes() == (99).to_bytes(4, "little")


def test_misaligned_atomic_faults() -> None:
    bench = Bench("global_atomic_add v[2:3], v4, off\ns_endpgm")
    buffer = bench.buffer(np.zeros(4, np.uint32))
    bench.set_vgpr64(2, np.full(64, buffer.address, np.uint64))
    bench.vgpr(2)[7] += 2
    assert bench.run() is Status.FAULT
    assert (bench.engine.fault().kind, bench.engine.fault().lanes) == (FaultKind.MISALIGNED, 1 << 7)
    assert not any(bench.memory.read(buffer.address, 16))


def scratch_bench(text: str, target: str, wave_size: int) -> Bench:
    """64 bytes of scratch per lane; s[0:3] the resource, flat_scratch set."""
    bench = Bench(text, target, wave_size)
    area = bench.buffer(np.zeros(64 * wave_size, np.uint8), "scratch")
    bench.set("scratch_base", area.address)
    bench.set("scratch_size", 64 * wave_size)
    bench.set("flat_scratch", area.address)
    bench.set64(102, area.address)
    index_stride = {32: 2, 64: 3}[wave_size]
    bench.set64(0, area.address | 1 << 63)
    bench.set64(2, 0xFFFFFFFF | (index_stride << 21 | 1 << 23 | 1 << 19) << 32)
    bench.area = area
    return bench


def interleaved(lane: int, offset: int, wave_size: int) -> int:
    return offset // 4 * 4 * wave_size + lane * 4 + offset % 4


SCRATCH = [
    ("gfx90a", 64, "buffer_store_{0} v1, v0, s[0:3], s33 offen", "dword"),
    ("gfx90a", 64, "buffer_store_{0} v1, v0, s[0:3], s33 offen", "byte"),
    ("gfx90a", 64, "scratch_store_{0} v0, v1, off", "dword"),
    ("gfx90a", 64, "flat_store_{0} v[4:5], v1", "short"),
    ("gfx1030", 32, "buffer_store_{0} v1, v0, s[0:3], s33 offen", "dword"),
    ("gfx1030", 64, "scratch_store_{0} v0, v1, off", "dword"),
    ("gfx942", 64, "scratch_store_{0} v0, v1, off", "short"),
    ("gfx1100", 32, "scratch_store_{0} v0, v1, off", "b32"),
    ("gfx1100", 64, "flat_store_{0} v[4:5], v1", "b32"),
]
SIZES = {"dword": 4, "b32": 4, "short": 2, "byte": 1}


@pytest.mark.parametrize(("target", "wave", "text", "size"), SCRATCH)
@pytest.mark.parametrize("misalign", [0, 1, 3])
def test_scratch_is_interleaved_by_lane(target: str, wave: int, text: str, size: str, misalign: int) -> None:
    bench = scratch_bench(text.format(size) + "\ns_endpgm", target, wave)
    lanes = np.arange(wave)
    offsets = 4 * (lanes % 13) + misalign
    bench.sgprs[33] = 0
    bench.vgpr(0)[:] = offsets
    bench.set_vgpr64(4, 0x0002_0000_0000_0000 + offsets.astype(np.uint64))
    bench.vgpr(1)[:] = RNG.integers(0, 1 << 32, wave, np.uint32)
    assert bench.run() is Status.END
    want = bytearray(64 * wave)
    for lane in range(wave):
        value = int(bench.vgpr(1)[lane]).to_bytes(4, "little")
        for n in range(SIZES[size]):
            want[interleaved(lane, int(offsets[lane]) + n, wave)] = value[n]
    assert bench.memory.read(bench.area.address, 64 * wave) == bytes(want)


@pytest.mark.parametrize(("target", "wave", "text", "size"), SCRATCH)
def test_scratch_beyond_the_lane_faults(target: str, wave: int, text: str, size: str) -> None:
    bench = scratch_bench(text.format(size) + "\ns_endpgm", target, wave)
    bench.vgpr(0)[:] = 0
    bench.vgpr(0)[9] = 64 - SIZES[size] + 1
    bench.set_vgpr64(4, 0x0002_0000_0000_0000 + bench.vgpr(0).astype(np.uint64))
    assert bench.run() is Status.FAULT
    assert (bench.engine.fault().kind, bench.engine.fault().lanes) == (FaultKind.SCRATCH_RANGE, 1 << 9)
    assert not any(bench.memory.read(bench.area.address, 64 * wave))


def test_scratch_soffset_is_unswizzled() -> None:
    bench = scratch_bench("buffer_store_dword v1, off, s[0:3], s33 offset:8\ns_endpgm", "gfx90a", 64)
    bench.sgprs[33] = 3 * 4 * 64
    bench.vgpr(1)[:] = LANES + 1
    assert bench.run() is Status.END
    got = np.frombuffer(bench.memory.read(bench.area.address, 64 * 64), np.uint32)
    np.testing.assert_array_equal(got[5 * 64 : 6 * 64], LANES + 1)


def test_raw_buffer_range() -> None:
    bench = Bench(
        "buffer_load_dword v1, v0, s[0:3], 0 offen\nbuffer_store_dword v2, v0, s[0:3], 0 offen\ns_endpgm"
    )
    data = np.arange(100, 164, dtype=np.uint32)
    buffer = bench.buffer(data)
    bench.set64(0, buffer.address)
    bench.set64(2, 40 * 4 | 0x00027000 << 32)
    bench.vgpr(0)[:] = LANES * 4
    bench.vgpr(1)[:] = 1
    bench.vgpr(2)[:] = 7
    assert bench.run() is Status.END
    np.testing.assert_array_equal(bench.vgpr(1), np.where(LANES < 40, data, 0))
    got = np.frombuffer(bench.memory.read(buffer.address, 256), np.uint32)
    np.testing.assert_array_equal(got, np.where(LANES < 40, 7, data))


@pytest.mark.parametrize("dwords", [1, 2, 4, 8, 16])
def test_scalar_loads(dwords: int) -> None:
    suffix = "dword" + (f"x{dwords}" if dwords > 1 else "")
    span = "s16" if dwords == 1 else f"s[16:{15 + dwords}]"
    bench = Bench(f"s_load_{suffix} {span}, s[0:1], 0x8\ns_waitcnt lgkmcnt(0)\ns_endpgm")
    data = np.arange(1, 33, dtype=np.uint32) * 0x01010101
    bench.set64(0, bench.buffer(data).address + 3)  # the low two bits are ignored
    assert bench.run() is Status.END
    np.testing.assert_array_equal(bench.sgprs[16 : 16 + dwords], data[2 : 2 + dwords])


def test_scalar_fault() -> None:
    bench = Bench("s_load_dwordx4 s[16:19], s[0:1], 0x8\ns_endpgm")
    buffer = bench.buffer(np.zeros(5, np.uint32))
    bench.set64(0, buffer.address)
    assert bench.run() is Status.FAULT
    fault = bench.engine.fault()
    assert (fault.space, fault.lanes, fault.size, fault.addresses) == (
        Space.SCALAR,
        0,
        16,
        {0: buffer.address + 8},
    )


def test_scalar_buffer_reads_zero_beyond_the_range() -> None:
    bench = Bench("s_buffer_load_dwordx4 s[16:19], s[0:3], 0x8\ns_endpgm")
    buffer = bench.buffer(np.array([1, 2, 3, 4, 5, 6], np.uint32))
    bench.set64(0, buffer.address)
    bench.set64(2, 16)
    bench.sgprs[16:20] = 9
    assert bench.run() is Status.END
    assert bench.sgprs[16:20].tolist() == [3, 4, 0, 0]
