"""The peculiarities of GFX6, GFX7 and GFX8, in code from LLVM's assembler."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

EARLY = ("gfx600", "gfx700", "gfx803")
LANES = np.arange(64)


def stopped(kernel):
    """The wave at the label ``done``."""
    stop = kernel.dispatch.run(RunOptions(stop_pcs=frozenset((kernel.at("done"),))))
    assert stop.kind is StopKind.BREAKPOINT, stop
    return kernel.wave


def bits(number: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", number))[0])


@pytest.mark.llvm
@pytest.mark.parametrize("target", EARLY)
def test_m0_bounds_lds(assembled, target):
    """Accesses that end beyond M0 read 0 and write nothing."""
    run = assembled(target, """
        v_lshlrev_b32 v1, 2, v0
        v_mov_b32 v2, 7
        s_mov_b32 m0, 128
        ds_write_b32 v1, v2
        s_mov_b32 m0, -1
        ds_read_b32 v3, v1
        s_mov_b32 m0, 64
        v_mov_b32 v4, 9
        ds_read_b32 v4, v1
        ds_add_rtn_u32 v5, v1, v2
        s_mov_b32 m0, 66
        ds_read_b64 v[8:9], v1
        s_mov_b32 m0, -1
        ds_read_b32 v6, v1
        s_waitcnt lgkmcnt(0)
        .globl done
        done: s_nop 0
    """)
    wave = stopped(run)
    written = np.where(LANES < 32, 7, 0)
    np.testing.assert_array_equal(wave.vgpr(3), written)
    np.testing.assert_array_equal(wave.vgpr(4), np.where(LANES < 16, 7, 0))
    np.testing.assert_array_equal(wave.vgpr(5), np.where(LANES < 16, 7, 0))
    np.testing.assert_array_equal(wave.vgpr(6), np.where(LANES < 16, 14, written))
    # Eight bytes of lane 14 end at 64, those of lane 15 at 68.
    np.testing.assert_array_equal(wave.vgpr(8), np.where(LANES < 15, 14, 0))


@pytest.mark.llvm
@pytest.mark.parametrize(("target", "unit"), [("gfx600", 4), ("gfx700", 4), ("gfx803", 1)])
def test_units_of_scalar_offsets(assembled, target, unit):
    """Constants count dwords before GFX8, registers count bytes; GFX7 has literals."""
    literal = "s_load_dword s11, s[4:5], 0x101" if target == "gfx700" else "s_nop 0"
    run = assembled(target, f"""
        s_getpc_b64 s[4:5]
        .globl here
        here: s_mov_b32 s8, 12
        s_load_dword s6, s[4:5], 0x10
        s_load_dword s9, s[4:5], s8
        {literal}
        s_waitcnt lgkmcnt(0)
        .globl done
        done: s_nop 0
        .rept 300
        .long 0x7e000280 + 0x20000 * (. - here) / 4
        .endr
    """)
    wave, here = stopped(run), run.at("here")

    def word(offset: int) -> int:
        return int.from_bytes(run.machine.memory.read(here + offset, 4), "little")

    assert wave.sgpr64(4) == here
    assert wave.sgpr(6) == word(0x10 * unit)
    assert wave.sgpr(9) == word(12)
    if target == "gfx700":
        assert wave.sgpr(11) == word(0x404)


@pytest.mark.llvm
@pytest.mark.parametrize("target", EARLY)
def test_additions_have_carries(assembled, target):
    letter = "u" if target == "gfx803" else "i"
    run = assembled(target, f"""
        v_mov_b32 v1, -1
        v_add_{letter}32 v2, vcc, v0, v1
        s_mov_b64 s[4:5], vcc
        v_addc_u32 v3, vcc, 5, v0, vcc
        v_sub_{letter}32 v4, s[6:7], v0, 3
        v_subrev_{letter}32 v5, vcc, 3, v0
        v_subb_u32 v6, vcc, v0, v0, vcc
        .globl done
        done: s_nop 0
    """)
    wave = stopped(run)
    np.testing.assert_array_equal(wave.vgpr(2), (LANES - 1).astype(np.uint32))
    assert wave.sgpr64(4) == (1 << 64) - 2  # a carry everywhere but in lane 0
    np.testing.assert_array_equal(wave.vgpr(3), LANES + 5 + (LANES > 0))
    np.testing.assert_array_equal(wave.vgpr(4), (LANES - 3).astype(np.uint32))
    assert wave.sgpr64(6) == 7
    np.testing.assert_array_equal(wave.vgpr(5), (LANES - 3).astype(np.uint32))
    np.testing.assert_array_equal(wave.vgpr(6), np.where(LANES < 3, 0xFFFFFFFF, 0))


_LARGEST = 0x7F7FFFFF
_NAN = 0x7FC00001


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx600", "gfx700"])
def test_instructions_of_gfx6_and_gfx7(assembled, target):
    """Instructions that GFX8 no longer has: results are in v10 and following registers."""
    rows = [
        ("v_lshl_b32 {0}, 3, v1", 3 << 5),
        ("v_lshr_b32 {0}, v2, v1", 0x80000000 >> 5),
        ("v_ashr_i32 {0}, v2, v1", 0xFC000000),
        ("v_min_legacy_f32 {0}, v3, v4", bits(2.0)),  # of NaN and 2 the second
        ("v_min_legacy_f32 {0}, v4, v3", _NAN),
        ("v_max_legacy_f32 {0}, v3, v4", bits(2.0)),
        ("v_max_legacy_f32 {0}, v4, v5", bits(2.0)),
        ("v_mullit_f32 {0}, 0, v6, 1.0", 0),  # zero times infinity
        ("v_mullit_f32 {0}, v4, v5, 1.0", bits(2.0)),
        ("v_mullit_f32 {0}, v4, v5, 0", 0x80000000 | _LARGEST),
        ("v_mullit_f32 {0}, v4, v3, 1.0", 0x80000000 | _LARGEST),
        ("v_rcp_legacy_f32 {0}, 0", 0),
        ("v_rcp_legacy_f32 {0}, v2", 0x80000000),
        ("v_rcp_clamp_f32 {0}, 0", _LARGEST),
        ("v_rcp_clamp_f32 {0}, v2", 0x80000000 | _LARGEST),
        ("v_rsq_clamp_f32 {0}, 0", _LARGEST),
        ("v_rsq_legacy_f32 {0}, 0", 0),
        ("v_rsq_legacy_f32 {0}, 4.0", bits(0.5)),
        ("v_log_clamp_f32 {0}, 0", 0x80000000 | _LARGEST),
        ("v_log_clamp_f32 {0}, v4", bits(1.0)),
        ("v_mac_legacy_f32 {0}, v4, v5", bits(2.0)),
        ("v_bcnt_u32_b32 {0}, v3, v1", (0x7FC00001).bit_count() + 5),
        ("v_bfm_b32 {0}, 4, v1", 0xF << 5),
    ]
    code = "\n".join(row.format(f"v{10 + n}") for n, (row, _) in enumerate(rows))
    run = assembled(target, f"""
        v_mov_b32 v1, 5
        v_bfrev_b32 v2, 1
        v_mov_b32 v3, {_NAN:#x}
        v_mov_b32 v4, 2.0
        v_mov_b32 v5, 1.0
        v_mov_b32 v6, 0x7f800000
        {code}
        v_mov_b32 v6, v1
        v_mov_b32 v7, v2
        v_lshl_b64 v[40:41], v[6:7], v1
        v_lshr_b64 v[42:43], v[6:7], v1
        v_ashr_i64 v[44:45], v[6:7], v1
        v_cmps_lt_f32 vcc, v3, v4
        s_mov_b64 s[4:5], vcc
        v_cmpsx_nlt_f32 vcc, v5, v4
        .globl done
        done: s_nop 0
    """, vgprs=48)
    wave = stopped(run)
    found = [(row, hex(wave.vgpr(10 + n)[0])) for n, (row, _) in enumerate(rows)]
    assert found == [(row, hex(value)) for row, value in rows]
    value = 0x80000000_00000005
    for first, expected in ((40, value << 5), (42, value >> 5), (44, value - (1 << 64) >> 5)):
        pair = int(wave.vgpr(first)[0]) | int(wave.vgpr(first + 1)[0]) << 32
        assert pair == expected & (1 << 64) - 1
    assert wave.sgpr64(4) == 0
    assert wave.exec == 0


@pytest.mark.llvm
@pytest.mark.parametrize(("target", "kept"), [("gfx600", True), ("gfx700", True), ("gfx803", True), ("gfx900", False)])
def test_minimum_keeps_subnormals(assembled, target, kept):
    """MODE flushes subnormals of f32: before GFX9, only minimum, maximum and median ignore it."""
    legacy = "v_min_legacy_f32 v8, v1, v2" if target < "gfx8" else "v_mov_b32 v8, v1"
    run = assembled(target, f"""
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0
        v_mov_b32 v1, 3
        v_mov_b32 v2, 5
        v_mov_b32 v3, 1.0
        v_min_f32 v4, v1, v2
        v_max_f32 v5, v1, v2
        v_med3_f32 v6, v1, v2, v3
        v_max3_f32 v7, v1, v2, v2
        {legacy}
        v_mul_f32 v9, 1.0, v2
        .globl done
        done: s_nop 0
    """)
    wave = stopped(run)
    wanted = [3, 5, 5, 5] if kept else [0, 0, 0, 0]
    assert [int(wave.vgpr(n)[0]) for n in (4, 5, 6, 7, 8, 9)] == [*wanted, 3, 0]


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx600", "gfx700"])
def test_buffers_with_64_bit_addresses(assembled, target):
    run = assembled(target, """
        s_getpc_b64 s[4:5]
        .globl here
        here: s_mov_b32 s6, 0
        s_mov_b32 s7, 0
        v_lshlrev_b32 v2, 2, v0
        v_mov_b32 v3, 0
        s_mov_b32 s8, 4
        buffer_load_dword v4, v[2:3], s[4:7], s8 addr64 offset:8
        s_waitcnt vmcnt(0)
        .globl done
        done: s_nop 0
    """)
    wave = stopped(run)
    code = np.frombuffer(run.machine.memory.read(run.at("here") + 12, 256), np.uint32)
    np.testing.assert_array_equal(wave.vgpr(4), code)


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx600", "gfx700"])
def test_formats_with_64_bit_addresses(assembled, target):
    """The resource specifies four unsigned bytes, the typed instruction two signed halves; sizes have no effect."""
    run = assembled(target, f"""
        s_getpc_b64 s[4:5]
        .globl here
        here: s_mov_b32 s6, 0
        s_mov_b32 s7, {0o7654 | 4 << 12 | 10 << 15:#x}
        v_lshlrev_b32 v2, 2, v0
        v_mov_b32 v3, 0
        s_mov_b32 s8, 4
        buffer_load_format_xyzw v[4:7], v[2:3], s[4:7], s8 addr64 offset:8
        tbuffer_load_format_xy v[8:9], v[2:3], s[4:7], dfmt:5, nfmt:5, s8 addr64 offset:8
        s_waitcnt vmcnt(0)
        .globl done
        done: s_nop 0
    """)
    wave = stopped(run)
    code = run.machine.memory.read(run.at("here") + 12, 256)
    for n in range(4):
        np.testing.assert_array_equal(wave.vgpr(4 + n), np.frombuffer(code, np.uint8)[n::4])
    for n in range(2):
        np.testing.assert_array_equal(wave.vgpr(8 + n).view(np.int32), np.frombuffer(code, np.int16)[n::2])


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("target", "code", "registers"),
    [
        ("gfx600", "s_mov_b32 s103, 1\ns_mov_b32 tba_lo, 2\ns_mov_b64 tma, 3\ns_mov_b32 ttmp0, 4",
         {103: 1, 108: 2, 110: 3, 111: 0, 112: 4}),
        ("gfx700", "s_mov_b32 s103, 1\ns_mov_b32 flat_scratch_hi, 2\ns_mov_b32 ttmp11, 4", {103: 1, 105: 2, 123: 4}),
        ("gfx803", "s_mov_b32 s101, 1\ns_mov_b32 flat_scratch_hi, 2\ns_mov_b32 tma_hi, 4", {101: 1, 103: 2, 111: 4}),
    ],
)
def test_codes_of_scalar_registers(assembled, target, code, registers):
    run = assembled(target, f"{code}\n.globl done\ndone: s_nop 0")
    wave = stopped(run)
    assert {number: wave.sgpr(number) for number in registers} == registers
    assert wave.ttmp(0) == wave.sgpr(112)


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx700", "gfx803", "gfx810"])
def test_rare_accesses_and_conversions(assembled, target):
    """Cases are ds_wrap, pairs of which M0 excludes one, three dwords, four-bit numbers and directed conversions."""
    run = assembled(target, """
        s_mov_b32 m0, -1
        v_lshlrev_b32 v1, 2, v0
        v_mov_b32 v2, 10
        v_mov_b32 v3, 100
        ds_write_b32 v1, v0
        ds_wrap_rtn_b32 v4, v1, v2, v3
        ds_read_b32 v5, v1
        s_mov_b32 m0, 64
        ds_read2_b32 v[6:7], v1 offset0:0 offset1:4
        v_mov_b32 v8, 5
        ds_write2_b32 v1, v8, v8 offset0:0 offset1:1
        s_mov_b32 m0, -1
        ds_read_b32 v9, v1
        v_lshlrev_b32 v10, 4, v0
        ds_read_b96 v[12:14], v10
        v_cvt_off_f32_i4 v15, v0
        v_cvt_rpi_i32_f32 v16, v15
        v_cvt_flr_i32_f32 v17, v15
        s_waitcnt lgkmcnt(0)
        .globl done
        done: s_nop 0
    """)
    wave = stopped(run)
    wrapped = np.where(LANES >= 10, LANES - 10, LANES + 100)
    np.testing.assert_array_equal(wave.vgpr(4), LANES)
    np.testing.assert_array_equal(wave.vgpr(5), wrapped)
    np.testing.assert_array_equal(wave.vgpr(6), np.where(LANES < 16, wrapped, 0))
    np.testing.assert_array_equal(wave.vgpr(7), np.where(LANES < 12, np.roll(wrapped, -4), 0))
    written = np.where(LANES < 16, 5, wrapped)
    np.testing.assert_array_equal(wave.vgpr(9), written)
    memory = np.concatenate([written, np.zeros(4 * 64, int)])
    for n in range(3):
        np.testing.assert_array_equal(wave.vgpr(12 + n), memory[4 * LANES + n])
    sixteenths = ((LANES & 15 ^ 8) - 8) / 16
    np.testing.assert_array_equal(wave.vgpr(15).view(np.float32), sixteenths)
    np.testing.assert_array_equal(wave.vgpr(16).view(np.int32), np.floor(sixteenths + 0.5))
    np.testing.assert_array_equal(wave.vgpr(17).view(np.int32), np.floor(sixteenths))
