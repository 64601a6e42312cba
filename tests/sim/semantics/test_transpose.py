"""Loads that transpose between lanes, and moves between rows, compared with indices written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

pytestmark = pytest.mark.llvm


def _bits(data: bytes, number: int, bits: int) -> int:
    return int.from_bytes(data, "little") >> number * bits & (1 << bits) - 1


def _result(wave, register: int, dwords: int, lane: int) -> bytes:
    return b"".join(int(wave.vgpr(register + n)[lane]).to_bytes(4, "little") for n in range(dwords))


@pytest.mark.parametrize("bits, size", [(16, 8), (8, 8), (6, 12), (4, 8)])
def test_lds(assembled, bits, size):
    """In each block of 16 lanes, whose pieces are rows of 16 numbers, lane c gets column c."""
    name = f"ds_read_b{8 * size}_tr_b{bits}"
    kernel = assembled("gfx950", f".globl done\n{name} v[4:{3 + size // 4}], v0 offset:16\ndone:", vgprs=32)
    wave, data = kernel.wave, np.random.default_rng(bits).bytes(64 * size)
    wave.lds[16 : 16 + len(data)] = np.frombuffer(data, np.uint8)
    wave.vgpr(0)[:] = np.arange(64) * size
    _stop(kernel)
    per_lane = size * 8 // bits
    for lane in range(64):
        block = data[(lane & ~15) * size : (lane & ~15) * size + 16 * size]
        found = _result(wave, 4, size // 4, lane)
        # Number n of row r of the block is number 16 r + n of its bytes.
        wanted = [_bits(block, 16 * row + lane % 16, bits) for row in range(per_lane)]
        assert [_bits(found, n, bits) for n in range(per_lane)] == wanted, lane


def _stop(kernel):
    stop = kernel.dispatch.run(RunOptions(stop_pcs=frozenset((kernel.at("done"),))))
    assert stop.kind is StopKind.BREAKPOINT, stop


@pytest.mark.parametrize("bits", [16, 8])
@pytest.mark.parametrize("wave_size", [32, 64])
def test_global(assembled, bits, wave_size):
    """Blocks of 8 lanes with a row of 8 numbers in each lane; in wave64, only lanes 0 to 31 load, and the halves of the
    wave share the columns.
    """
    size = bits
    dwords = size // 4 * 32 // wave_size
    registers = f"v[4:{3 + dwords}]" if dwords > 1 else "v4"
    kernel = assembled(
        "gfx1200",
        f".globl done\nglobal_load_tr_b{8 * size} {registers}, v[0:1], off\ndone:",
        wave_size=wave_size,
    )
    wave, data = kernel.wave, np.random.default_rng(bits).bytes(32 * size)
    buffer = kernel.machine.memory.allocate(len(data))
    kernel.machine.memory.write(buffer.address, data)
    addresses = buffer.address + np.arange(32, dtype=np.uint64) * size
    wave.vgpr(0)[:32] = addresses & 0xFFFFFFFF
    wave.vgpr(1)[:32] = addresses >> 32
    _stop(kernel)
    rows = [data[lane * size : (lane + 1) * size] for lane in range(32)]
    for lane in range(wave_size):
        first = (lane & 24) + (4 if lane >= 32 else 0)
        count = 256 // wave_size
        wanted = [_bits(rows[first + n], lane % 8, bits) for n in range(count)]
        found = _result(wave, 4, dwords, lane)
        assert [_bits(found, n, bits) for n in range(count)] == wanted, lane


def test_block_load_and_store(assembled):
    """Registers and dwords whose bit in M0 is set; the others stay unchanged."""
    code = """
    .globl done
    s_mov_b32 m0, 0x80000005
    global_load_block v[4:35], v[0:1], off offset:8
    s_mov_b32 m0, 0x6
    global_store_block v[2:3], v[4:35], off
    done:"""
    kernel = assembled("gfx1200", code, vgprs=48, items=1)
    memory, wave = kernel.machine.memory, kernel.wave
    buffer = memory.allocate(4096)
    memory.write(buffer.address, np.arange(1024, dtype=np.uint32).tobytes())
    for register, address in ((0, buffer.address), (2, buffer.address + 2048)):
        wave.vgpr(register)[0], wave.vgpr(register + 1)[0] = address & 0xFFFFFFFF, address >> 32
    for n in range(32):
        wave.vgpr(4 + n)[0] = 1000 + n
    _stop(kernel)
    loaded = [int(wave.vgpr(4 + n)[0]) for n in range(32)]
    assert loaded == [2, 1001, 4, *range(1003, 1031), 33]
    stored = np.frombuffer(memory.read(buffer.address + 2048, 16), np.uint32)
    assert list(stored) == [512, 1001, 4, 515]


def test_block_load_without_effect_if_any_part_faults(assembled):
    kernel = assembled(
        "gfx1200", "s_mov_b32 m0, 0x80000001\nglobal_load_block v[4:35], v[0:1], off", vgprs=48, items=1
    )
    buffer = kernel.machine.memory.allocate(64)
    wave = kernel.wave
    wave.vgpr(0)[0], wave.vgpr(1)[0] = buffer.address & 0xFFFFFFFF, buffer.address >> 32
    wave.vgpr(4)[0] = 77
    stop = kernel.dispatch.run()
    assert stop.kind is StopKind.FAULT and stop.fault.address == buffer.address + 124
    assert wave.vgpr(4)[0] == 77


ROW = np.arange(64)


@pytest.mark.parametrize(
    "row, destination, source",
    [
        # Rows: the odd ones of the destination change places with the even ones of the source.
        (16, [0, "s0", 2, "s2"], ["d1", 1, "d3", 3]),
        (32, [0, 1, "s0", "s1"], ["d2", "d3", 2, 3]),
    ],
)
@pytest.mark.parametrize("form", ["e32", "e64"])
def test_swap_rows(assembled, row, destination, source, form):
    kernel = assembled("gfx950", f".globl done\nv_permlane{row}_swap_b32_{form} v4, v5\ndone:")
    wave = kernel.wave
    wave.vgpr(4)[:], wave.vgpr(5)[:] = 100 + ROW, 200 + ROW
    _stop(kernel)

    def expand(rows, own):
        first = {"d": 100, "s": 200}
        out = []
        for item in rows:
            base = first[item[0]] + 16 * int(item[1]) if isinstance(item, str) else own + 16 * item
            out += range(base, base + 16)
        return out

    assert list(wave.vgpr(4)) == expand(destination, 100)
    assert list(wave.vgpr(5)) == expand(source, 200)


def test_swap_rows_of_one_register(assembled):
    kernel = assembled("gfx950", ".globl done\nv_permlane32_swap_b32 v4, v4\ndone:")
    kernel.wave.vgpr(4)[:] = ROW
    _stop(kernel)
    assert list(kernel.wave.vgpr(4)) == [*range(32, 64), *range(32)]


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("controls", ["", " op_sel:[1,0]", " op_sel:[0,1]"])
def test_permlane_by_lane(assembled, across, controls):
    """Each lane selects a lane of its row (or of the neighbouring row). op_sel: inactive lanes provide values; 0 for
    those.
    """
    name = "v_permlanex16_var_b32" if across else "v_permlane16_var_b32"
    kernel = assembled("gfx1200", f".globl done\n{name} v4, v5, v6{controls}\ndone:")
    wave = kernel.wave
    chosen = np.random.default_rng(1).integers(0, 16, 32, dtype=np.uint32)
    wave.vgpr(4)[:], wave.vgpr(5)[:], wave.vgpr(6)[:] = 100 + ROW[:32], 200 + ROW[:32], chosen | 0x70
    wave.exec = 0xFF00FFFF
    _stop(kernel)
    for lane in range(32):
        source = (lane & 16 ^ (16 if across else 0)) + int(chosen[lane])
        readable = wave.exec >> source & 1 or "[1,0]" in controls
        wanted = 200 + source if readable else 0 if "[0,1]" in controls else 100 + lane
        if not wave.exec >> lane & 1:
            wanted = 100 + lane
        assert wave.vgpr(4)[lane] == wanted, lane


@pytest.mark.parametrize(
    "name, before, after, size",
    [
        ("ds_add_src2_u32", (5, 7), 12, 4),
        ("ds_sub_src2_u32", (5, 7), -2 & 0xFFFFFFFF, 4),
        ("ds_rsub_src2_u32", (5, 7), 2, 4),
        ("ds_inc_src2_u32", (7, 7), 0, 4),
        ("ds_dec_src2_u32", (0, 7), 7, 4),
        ("ds_min_src2_i32", (0xFFFFFFFF, 7), 0xFFFFFFFF, 4),
        ("ds_max_src2_u32", (0xFFFFFFFF, 7), 0xFFFFFFFF, 4),
        ("ds_xor_src2_b32", (0xF0, 0xFF), 0x0F, 4),
        ("ds_add_src2_f32", (0x3F800000, 0x40000000), 0x40400000, 4),
        ("ds_write_src2_b32", (5, 7), 7, 4),
        ("ds_add_src2_u64", (1 << 40, 1 << 41), 3 << 40, 8),
        ("ds_write_src2_b64", (5, 1 << 60), 1 << 60, 8),
    ],
)
@pytest.mark.parametrize("distance", ["offset:4", "offset:32764", "offset:33000"])
def test_lds_to_lds(assembled, name, before, after, size, distance):
    """The second place is a signed number of dwords away, given in the offset or in the address's upper bits."""
    target = "gfx803" if distance == "offset:32764" else "gfx900"
    kernel = assembled(target, f".globl done\ns_mov_b32 m0, 1024\n{name} v0 {distance}\ndone:", items=1)
    wave, first = kernel.wave, 512
    offset = {"offset:4": 4, "offset:32764": -4, "offset:33000": -3}[distance]
    wave.vgpr(0)[0] = first | (offset << 17 & 0xFFFFFFFF if distance == "offset:33000" else 0)
    for place, value in ((first, before[0]), (first + 4 * offset, before[1])):
        wave.lds[place : place + size] = np.frombuffer(value.to_bytes(size, "little"), np.uint8)
    _stop(kernel)
    assert int.from_bytes(wave.lds[first : first + size].tobytes(), "little") == after
