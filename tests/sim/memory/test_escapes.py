"""Code made to reach host memory: each former escape, and similar attempts. Guard pages surround everything, so that
any escape is a CRASH.
"""

from __future__ import annotations

import mmap

import numpy as np
import pytest
from engine_bench import Bench, assemble

from rocdbg.arch.targets import TARGETS
from rocdbg.isa.decoder import decode
from rocdbg.sim.core import layout
from rocdbg.sim.core.layout import FaultKind, Status
from rocdbg.sim.core.register_bounds import bounds

pytestmark = pytest.mark.llvm

NEW = ("gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201")


@pytest.mark.parametrize("name", [name for name, target in TARGETS.items() if not target.is_r600])
def test_no_wave_has_more_registers_than_its_state_has_room_for(name: str) -> None:
    target = TARGETS[name]
    for wave_size in target.wave_sizes:
        for asked in (1, 100, 250, 253, 256, 1024):
            room = bounds(target, wave_size, asked, 0, 100) & 0x7FFF
            assert 0x7FFF - room <= target.vgpr_file


# The instruction, and the bits of its 64 that make the register of this operand the next one, an odd one.
TUPLES = [
    *((name, "global_load_b64 v[254:255], v[0:1], off", 56 if name < "gfx12" else 32) for name in NEW),
    ("gfx1100", "global_store_b128 v[0:1], v[252:255], off", 40),
    ("gfx1100", "ds_load_b128 v[252:255], v0", 56),
    ("gfx1100", "ds_store_b64 v0, v[254:255]", 40),
    ("gfx1100", "buffer_load_b96 v[253:255], off, s[4:7], 0", 40),
    ("gfx1100", "v_lshlrev_b64 v[254:255], 1, v[2:3]", 0),
    ("gfx1100", "v_fma_f64 v[0:1], v[254:255], v[2:3], v[4:5]", 32),
    ("gfx1100", "v_wmma_i32_16x16x16_iu8 v[248:255], v[0:3], v[4:7], v[8:15]", 0),
    ("gfx1030", "flat_load_dwordx4 v[252:255], v[0:1]", 56),
    ("gfx900", "global_load_dwordx3 v[253:255], v[0:1], off", 56),
    ("gfx900", "v_mad_u64_u32 v[254:255], vcc, v0, v1, v[2:3]", 0),
    ("gfx90a", "v_mfma_f32_32x32x1f32 a[224:255], v0, v1, a[0:31]", 1),  # pairs are even there
    ("gfx942", "ds_read_b128 a[252:255], v0", 57),
    ("gfx908", "v_mfma_f32_32x32x1f32 a[224:255], v0, v1, a[0:31]", 0),
]


@pytest.mark.parametrize(("name", "text", "bit"), TUPLES, ids=[f"{n}-{t.split()[0]}-{b}" for n, t, b in TUPLES])
@pytest.mark.parametrize("step", [False, True])
def test_tuples_are_checked_by_their_last_register(name: str, text: str, bit: int, step: bool) -> None:
    wave = 64 if name.startswith("gfx9") else 32
    bench = Bench(text + "\ns_endpgm", name, wave, lds=64)
    word = int.from_bytes(bench.code[:8], "little") + (1 << bit) & (1 << 64) - 1
    bench.code = word.to_bytes(8, "little") + bench.code[8:]
    bench.memory.write(bench.text.address, bench.code)
    if "a[" not in text:  # the decoder refuses those of AGPRs by itself
        assert decode(bench.code, bench.target, wave_size=wave).name == text.split()[0]
    before = bench.state.copy()
    assert (bench.step() if step else bench.run()) is Status.ILLEGAL
    before[: layout.SGPRS] = bench.state[: layout.SGPRS]
    assert np.array_equal(before, bench.state) and bench.pc == 0


@pytest.mark.parametrize("odd", range(8))
@pytest.mark.parametrize("name", ["gfx90a", "gfx1030"])
def test_private_memory_with_an_odd_base_stays_private(name: str, odd: int) -> None:
    wave = 64 if name == "gfx90a" else 32
    code = [
        "scratch_store_dwordx4 v0, v[4:7], off", "scratch_load_ubyte v8, v0, off",
        "scratch_load_dwordx2 v[10:11], v0, off", "s_endpgm",
    ]
    bench = Bench("\n".join(code), name, wave)
    both = bench.memory.allocate(2 * 64 * wave, name="scratch")  # the wave's own, and the next one's
    bench.set("scratch_base", both.address)
    bench.set("scratch_size", 64 * wave)
    bench.set("flat_scratch", both.address + odd)
    bench.set64(102, both.address + odd)
    seen = set()
    for offset in range(40, 70):
        both.data[:] = 0
        bench.vgpr(0)[:] = offset
        for n in range(4, 8):
            bench.vgpr(n)[:] = 0xA1B2C3D4 + n
        bench.set("pc", bench.text.address)
        seen.add(status := bench.run())
        assert status in (Status.END, Status.FAULT)
        assert not both.data[64 * wave :].any()
        if status is Status.END:
            assert (bench.vgpr(8) == 0xD4 + 4).all() and (bench.vgpr(11) == 0xA1B2C3D4 + 5).all()
        else:
            assert bench.engine.fault().kind is FaultKind.SCRATCH_RANGE and not both.data.any()
    assert seen == {Status.END, Status.FAULT}


@pytest.mark.parametrize("name", ["gfx90a", "gfx1030"])
def test_private_memory_ends_at_both_ends(name: str) -> None:
    """A program may set the base of its private memory to any value; the private memory of the waves before and after
    it stays inaccessible.
    """
    wave = 64 if name == "gfx90a" else 32
    size = 64 * wave
    code = [
        "scratch_store_dwordx2 v0, v[4:5], off", "scratch_load_dwordx2 v[8:9], v0, off",
        "scratch_load_ubyte v10, v0, off", "s_endpgm",
    ]
    bench = Bench("\n".join(code), name, wave)
    areas = bench.memory.allocate(3 * size, name="scratch")
    own = areas.address + size
    bench.set("scratch_base", own)
    bench.set("scratch_size", size)
    seen = set()
    row = 4 * wave
    for shift in (-size, -row, -8, -4, 0, 4, row, size - row, size, -own, (1 << 63) - own):
        base = (own + shift) & (1 << 64) - 1
        bench.set("flat_scratch", base)
        bench.set64(102, base)
        for offset in (0, 4, 8, 56, 60, 64, 68, 2**32 - 4, 2**32 - 8, 1 << 31):
            for one in (False, True):
                areas.data[:] = 0xC3
                areas.data[size : 2 * size] = 0
                bench.exec = 1 if one else (1 << wave) - 1
                bench.vgpr(0)[:] = offset
                for n in range(4, 11):
                    bench.vgpr(n)[:] = n
                bench.set("pc", bench.text.address)
                seen.add(status := bench.run())
                first = base + offset // 4 * row
                end = first + row + (4 if one else row)
                fine = own <= first and end <= own + size
                assert status is (Status.END if fine else Status.FAULT), (shift, offset, one)
                assert (areas.data[:size] == 0xC3).all() and (areas.data[2 * size :] == 0xC3).all()
                assert bench.vgpr(8)[0] == (4 if fine else 8) and bench.vgpr(10)[0] == (4 if fine else 10)
    assert seen == {Status.END, Status.FAULT}


@pytest.mark.parametrize(
    ("shape", "blocks", "size"), [("32x32x1f32", 2, 32), ("16x16x1f32", 4, 16), ("4x4x1f32", 16, 4)]
)
def test_a_block_of_a_matrix_that_does_not_exist(shape: str, blocks: int, size: int) -> None:
    """A is in the last register."""
    found = {}
    for abid in range(16):
        text = f"v_mfma_f32_{shape} a[0:{size - 1}], a255, v1, 0 cbsz:1 abid:{abid}\ns_endpgm"
        bench = Bench(text, "gfx90a")
        registers = bench.state[layout.VGPRS :].view(np.float32).reshape(512, 64)
        registers[511], registers[1] = np.arange(64), np.arange(64) + 100
        assert bench.run() is Status.END
        found[abid] = registers[256 : 256 + size].tobytes()
    assert all(found[abid] == found[abid % blocks] for abid in found)


@pytest.mark.parametrize(
    "text",
    [
        "v_mfma_f32_16x16x128_f8f6f4 v[0:3], a[248:255], a[248:255], 0",
        "v_mfma_f32_32x32x1f32 a[224:255], a255, a255, a[224:255] cbsz:7 abid:15 blgp:7",
        "v_smfmac_f32_32x32x16_f16 a[240:255], a[254:255], a[252:255], v255 cbsz:3 abid:15",
    ],
    ids=lambda text: text.split()[0],
)
def test_matrices_in_the_last_registers(text: str) -> None:
    """A guard page begins after them."""
    bench = Bench(text + "\ns_endpgm", "gfx950")
    assert (int(bench.state.ctypes.data) + bench.state.size) % mmap.PAGESIZE == 0
    assert bench.run() is Status.END


M0 = (0, 1, 28, 29, 30, 215, 245, 255, 0x3FF, 0x10000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF5, 0xFFFF_FFFF)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("gfx1030", text) for text in (
            "v_movrels_b32 v5, v11", "v_movreld_b32 v11, v5", "v_movrelsd_b32 v11, v11", "v_movrelsd_2_b32 v11, v11",
            "v_swaprel_b32 v11, v11",
        )),
        ("gfx900", "s_set_gpr_idx_on s4, gpr_idx(SRC0,SRC2,DST)\nv_fma_f64 v[10:11], v[12:13], 1.0, v[10:11]"),
        ("gfx900", "s_set_gpr_idx_on s4, gpr_idx(SRC0,DST)\nv_mov_b32 v255, v255"),
        ("gfx803", "v_movreld_b32 v11, v5"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("limit", [40, 256])
def test_vector_registers_that_m0_selects(name: str, text: str, limit: int) -> None:
    """Registers that the wave does not have are neither read nor written."""
    wave = 32 if name == "gfx1030" else 64
    bench = Bench(text + "\ns_endpgm", name, wave)
    registers = bench.state[layout.VGPRS :].view(np.uint32).reshape(-1, wave)
    bench.set("vgpr_limit", limit)
    for m0 in M0:
        results = []
        for junk in (0, 0x5A5A5A5A):
            registers[:] = np.arange(len(registers), dtype=np.uint32)[:, None]
            registers[limit:] ^= np.uint32(junk)
            before = registers.copy()
            bench.sgprs[4] = bench.sgprs[124] = m0
            bench.set("pc", bench.text.address)
            bench.set("mode", 0x3F0)
            assert bench.run() is Status.END
            assert np.array_equal(registers[limit:], before[limit:]), hex(m0)
            results.append(registers[:limit].tobytes())
        assert results[0] == results[1], hex(m0)


@pytest.mark.parametrize("m0", [0, 4, 5, 6, 7, 8, 23, 24, 26, 27, 28, 155, 0x3FF, 0x10005, 0x7FFF_FFFF, 0xFFFF_FFFF])
@pytest.mark.parametrize("size", [32, 64, "2_b32"])
def test_scalar_registers_that_m0_selects(size: int | str, m0: int) -> None:
    """M0 can select s0 to s105; with other numbers, reads return s0 (or s[0:1]) and writes are ignored."""
    text = f"s_movrelsd_{size} s100, s100" if size == "2_b32" else (
        f"s_movrels_b{size} s{'20' if size == 32 else '[20:21]'}, s{'100' if size == 32 else '[100:101]'}\n"
        f"s_movreld_b{size} s{'100' if size == 32 else '[100:101]'}, s{'30' if size == 32 else '[30:31]'}"
    )
    bench = Bench(text + "\ns_endpgm", "gfx1030", 32)
    bench.sgprs[:106] = np.arange(106) + 1000
    bench.sgprs[124] = m0
    before = bench.sgprs.copy()
    assert bench.run() is Status.END
    wide = size == 64
    source, target = 100 + (m0 & 0x3FF if size == "2_b32" else m0), 100 + (m0 >> 16 & 0x3FF if size == "2_b32" else m0)
    expected = before.copy()
    for word in range(1 + wide):
        read = before[source + word if source + wide < 106 and not (wide and m0 & 1) else word]
        if size != "2_b32":
            expected[20 + word] = read
        if target + wide < 106 and not (wide and m0 & 1):
            expected[target + word] = read if size == "2_b32" else before[30 + word]
    assert bench.sgprs[:106].tolist() == expected[:106].tolist()
    assert bench.sgprs[106:].tolist() == before[106:].tolist()


LDS = 260
# Each instruction with the offsets and sizes of its pieces; the address is in v0, in the shared aperture in v[2:3].
LDS_ACCESSES = {
    "gfx900": [
        ("ds_read_b32 v8, v0", (0,), 4), ("ds_read_b64 v[8:9], v0 offset:4", (4,), 8),
        ("ds_read_b96 v[8:10], v0", (0,), 12), ("ds_read_b128 v[8:11], v0 offset:16", (16,), 16),
        ("ds_read_u8 v8, v0 offset:1", (1,), 1), ("ds_read_u16_d16_hi v8, v0", (0,), 2),
        ("ds_read2_b32 v[8:9], v0 offset0:0 offset1:3", (0, 12), 4),
        ("ds_read2_b32 v[8:9], v0 offset0:3 offset1:0", (12, 0), 4),
        ("ds_read2_b64 v[8:11], v0 offset0:1 offset1:2", (8, 16), 8),
        ("ds_read2st64_b32 v[8:9], v0 offset0:1 offset1:0", (256, 0), 4),
        ("ds_write_b32 v0, v4", (0,), 4), ("ds_write_b64 v0, v[4:5] offset:4", (4,), 8),
        ("ds_write_b96 v0, v[4:6]", (0,), 12), ("ds_write_b128 v0, v[4:7]", (0,), 16),
        ("ds_write_b8 v0, v4 offset:3", (3,), 1), ("ds_write_b16_d16_hi v0, v4", (0,), 2),
        ("ds_write2_b32 v0, v4, v5 offset0:0 offset1:3", (0, 12), 4),
        ("ds_write2_b64 v0, v[4:5], v[6:7] offset0:2 offset1:0", (16, 0), 8),
        ("ds_write2st64_b64 v0, v[4:5], v[6:7] offset0:0 offset1:1", (0, 512), 8),
        ("ds_add_u32 v0, v4", (0,), 4), ("ds_add_rtn_u64 v[8:9], v0, v[4:5] offset:8", (8,), 8),
        ("ds_wrxchg2_rtn_b32 v[8:9], v0, v4, v5 offset0:1 offset1:0", (4, 0), 4),
        ("flat_load_dword v8, v[2:3]", (0,), 4), ("flat_load_dwordx4 v[8:11], v[2:3]", (0,), 16),
        ("flat_store_byte v[2:3], v4", (0,), 1), ("flat_store_dwordx3 v[2:3], v[4:6]", (0,), 12),
        ("flat_atomic_add v8, v[2:3], v4 glc", (0,), 4), ("flat_atomic_swap_x2 v[2:3], v[4:5]", (0,), 8),
    ],
    "gfx1100": [
        ("ds_load_b32 v8, v0", (0,), 4), ("ds_load_b128 v[8:11], v0", (0,), 16),
        ("ds_load_2addr_b64 v[8:11], v0 offset0:0 offset1:2", (0, 16), 8), ("ds_store_b8 v0, v4", (0,), 1),
        ("ds_store_b64 v0, v[4:5]", (0,), 8), ("ds_store_2addr_b32 v0, v4, v5 offset0:2 offset1:0", (8, 0), 4),
        ("ds_cmpstore_rtn_b64 v[8:9], v0, v[4:5], v[6:7]", (0,), 8), ("flat_store_b128 v[2:3], v[4:7]", (0,), 16),
    ],
}  # fmt: skip
LDS_PLACES = [*(LDS - n for n in range(34)), LDS + 1, LDS + 64, 0, 1 << 31, *(2**32 - n for n in (1, 4, 8, 16, 256))]


@pytest.mark.parametrize("lanes", ["all", "one", "last", "row"])
@pytest.mark.parametrize("name", LDS_ACCESSES)
def test_lds_ends_at_its_last_byte(name: str, lanes: str) -> None:
    """Nothing around LDS is read or written, for any lanes: all together, a single one, one of many, or in a row."""
    wave = 64 if name == "gfx900" else 32
    texts = [text for text, _, _ in LDS_ACCESSES[name]]
    bench = Bench("\n".join(texts) + "\ns_endpgm", name, wave, lds=LDS)
    around = np.full(LDS + 2048, 0xC3, np.uint8)
    first = -int(around.ctypes.data) % 64 + 512
    bench.set("lds_pointer", int(around.ctypes.data) + first)
    lds, outside = around[first : first + LDS], np.r_[:first, first + LDS : around.size]
    at, seen = 0, set()
    for text, offsets, size in LDS_ACCESSES[name]:
        for place in LDS_PLACES:
            addresses = np.full(wave, place, np.uint64)
            if lanes == "last":
                addresses[:-1] = 0
            elif lanes == "row":
                addresses = addresses - np.uint64(4 * wave) + np.arange(wave, dtype=np.uint64) * np.uint64(4)
            addresses &= np.uint64(0xFFFF_FFFF)
            bench.exec = 1 << 5 if lanes == "one" else (1 << wave) - 1
            lds[:] = 0
            bench.vgpr(0)[:] = addresses
            bench.set_vgpr64(2, addresses | np.uint64(layout.SHARED_APERTURE))
            for register in range(4, 12):
                bench.vgpr(register)[:] = register
            bench.set("pc", bench.text.address + at)
            status = bench.step()
            seen.add(status)
            reached = [(addresses + np.uint64(offset)) & np.uint64(0xFFFF_FFFF) for offset in offsets]
            fine = all((each + np.uint64(size) <= LDS).all() for each in reached)
            if fine and ("_add" in text or "xchg" in text or "cmps" in text or "swap" in text):
                fine = all((each % np.uint64(size) == 0).all() for each in reached)
            assert status is (Status.BUDGET if fine else Status.FAULT), (text, place)
            assert (around[outside] == 0xC3).all(), (text, place)
            loaded = np.stack([bench.vgpr(register) for register in range(8, 12)])
            assert not (loaded.view(np.uint16) == 0xC3C3).any(), (text, place)
            if not fine:
                assert not lds.any() and (loaded == np.arange(8, 12)[:, None]).all(), (text, place)
        at += len(assemble(text, name, wave))
    assert seen == {Status.BUDGET, Status.FAULT}


def test_lds_beyond_what_an_index_can_say() -> None:
    """Indices of vector loads are signed. No device has 3 GiB of LDS, but correctness must not depend on that."""
    bench = Bench("ds_read_b32 v1, v0\nds_write_b64 v0, v[2:3]\ns_endpgm", "gfx90a", lds=64)
    # 4 GiB that nothing else uses: the memory after the LDS must not depend on other tests
    nothing = np.frombuffer(mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0), np.uint8)
    start = int(nothing.ctypes.data)
    bench.set("lds_pointer", start)
    bench.set("lds_size", 0xC000_0000)
    bench.sgprs[10] = 0
    for address in (0x8000_0000, 0xBFFF_FF00):
        bench.vgpr(0)[:] = address
        bench.set("pc", bench.text.address)
        assert bench.run() is Status.CRASH  # 2 GiB after the LDS nothing is mapped; before it is other memory
        assert bench.engine.crash().address >= start + 0x7FFF_0000


SCALAR_AFTER_VECTOR = [
    ("s_store_dword s10, s[8:9], 0x0", "gfx900"),
    ("s_store_dwordx4 s[12:15], s[8:9], 0x0", "gfx900"),
    ("s_atomic_add s10, s[8:9], 0x0", "gfx900"),
    ("s_atomic_cmpswap_x2 s[12:15], s[8:9], 0x0 glc", "gfx1010"),
    ("s_buffer_store_dword s10, s[16:19], 0x0", "gfx900"),
    ("s_load_dword s10, s[8:9], 0x0", "gfx900"),
    ("ds_append v9", "gfx900"),
]


@pytest.mark.parametrize(("scalar", "name"), SCALAR_AFTER_VECTOR)
def test_scalar_accesses_leave_what_lanes_have_loaded(scalar: str, name: str) -> None:
    wave = 64 if name == "gfx900" else 32
    load = "global_load_dwordx2 v[4:5], v[2:3], off\n"
    results = []
    for step in (False, True):
        bench = Bench(f"{load}{scalar}\nv_mov_b32 v6, v4\ns_endpgm", name, wave, lds=64)
        source = bench.buffer(np.arange(1000, 1000 + 2 * wave, dtype=np.uint32), "source")
        other = bench.buffer(np.zeros(64, np.uint32), "other")
        bench.set_vgpr64(2, source.address + 8 * np.arange(wave, dtype=np.uint64))
        bench.set64(8, other.address)
        bench.sgprs[10:16] = [7, 0, 1, 2, 3, 4]
        bench.set64(16, other.address)
        bench.sgprs[18:20] = [256, 0x27FAC]
        if step:
            while (status := bench.step()) is Status.BUDGET:
                pass
        else:
            status = bench.run()
        assert status is Status.END
        assert bench.vgpr(4).tolist() == list(range(1000, 1000 + 2 * wave, 2)) == bench.vgpr(6).tolist()
        results.append((bench.state[layout.SGPRS :].tobytes(), other.data.tobytes()))
    assert results[0] == results[1]


def test_a_crash_of_generated_code_is_a_status() -> None:
    """A wrong pointer in the wave's header simulates a wrong check."""
    bench = Bench("s_nop 0\nds_read_b32 v1, v0\ns_endpgm", "gfx90a", lds=64)
    bench.set("lds_pointer", int(bench.lds.ctypes.data) + 64)
    for way in (bench.run, bench.step, bench.run):
        bench.set("pc", bench.text.address + (0 if way == bench.run else len(assemble("s_nop 0", "gfx90a", 64))))
        assert way() is Status.CRASH
        assert bench.engine.crash().text == f"SIGSEGV at host address {bench.get('lds_pointer'):#x}"
    bench.set("lds_pointer", int(bench.lds.ctypes.data))
    bench.set("pc", bench.text.address)
    assert bench.run() is Status.END
