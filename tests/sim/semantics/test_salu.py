"""Scalar instructions: result and SCC, one line each."""

from __future__ import annotations

import pytest

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
MIN32, MAX32 = 1 << 31, (1 << 31) - 1

# name, sources, SCC before, result, SCC after
TWO_32 = [
    ("s_add_u32", (M32, 2), 0, 1, 1),
    ("s_add_u32", (3, 4), 1, 7, 0),
    ("s_addc_u32", (M32, 0), 1, 0, 1),
    ("s_addc_u32", (M32, M32), 1, M32, 1),
    ("s_sub_u32", (1, 2), 0, M32, 1),
    ("s_subb_u32", (5, 5), 1, M32, 1),
    ("s_subb_u32", (6, 5), 1, 0, 0),
    ("s_add_i32", (MAX32, 1), 0, MIN32, 1),  # signed overflow
    ("s_add_i32", (M32, 1), 1, 0, 0),
    ("s_sub_i32", (MIN32, 1), 0, MAX32, 1),
    ("s_sub_i32", (0, MIN32), 0, MIN32, 1),
    ("s_min_i32", (M32, 1), 0, M32, 1),
    ("s_min_i32", (1, 1), 1, 1, 0),  # SCC: the first is smaller
    ("s_min_u32", (M32, 1), 1, 1, 0),
    ("s_max_i32", (1, 1), 1, 1, 0),  # SCC: the first is greater
    ("s_max_u32", (0, MIN32), 1, MIN32, 0),
    ("s_and_b32", (6, 3), 0, 2, 1),
    ("s_and_b32", (6, 1), 1, 0, 0),
    ("s_or_b32", (6, 1), 0, 7, 1),
    ("s_xor_b32", (5, 5), 1, 0, 0),
    ("s_andn2_b32", (7, 2), 0, 5, 1),
    ("s_orn2_b32", (0, M32), 1, 0, 0),
    ("s_nand_b32", (M32, M32), 1, 0, 0),
    ("s_nor_b32", (0, 0), 0, M32, 1),
    ("s_xnor_b32", (5, 5), 0, M32, 1),
    ("s_lshl_b32", (1, 33), 0, 2, 1),  # counts modulo 32
    ("s_lshr_b32", (MIN32, 31), 0, 1, 1),
    ("s_lshr_b32", (1, 1), 1, 0, 0),
    ("s_ashr_i32", (MIN32, 31), 0, M32, 1),
    ("s_bfm_b32", (4, 8), 1, 0xF00, 1),  # SCC is left alone
    ("s_mul_i32", (M32, 3), 1, M32 - 2, 1),
    ("s_mul_hi_u32", (M32, M32), 0, M32 - 1, 0),
    ("s_mul_hi_i32", (M32, 2), 0, M32, 0),
    ("s_bfe_u32", (0xABCD1234, 8 | 12 << 16), 0, 0xD12, 1),
    ("s_bfe_u32", (0xABCD1234, 8 | 0 << 16), 1, 0, 0),  # width 0
    ("s_bfe_u32", (0xABCD1234, 0 | 32 << 16), 0, 0xABCD1234, 1),  # the whole
    ("s_bfe_i32", (0x00000F00, 8 | 4 << 16), 0, M32, 1),
    ("s_bfe_i32", (0x80000000, 28 | 8 << 16), 0, 0xFFFFFFF8, 1),  # past the top: sign copies
    ("s_absdiff_i32", (3, 5), 0, 2, 1),
    ("s_absdiff_i32", (MIN32, 0), 0, MIN32, 1),
    ("s_lshl2_add_u32", (0x40000000, 5), 0, 5, 1),
    ("s_cselect_b32", (7, 9), 1, 7, 1),
    ("s_cselect_b32", (7, 9), 0, 9, 0),
    ("s_pack_ll_b32_b16", (0x11112222, 0x33334444), 0, 0x44442222, 0),
    ("s_pack_lh_b32_b16", (0x11112222, 0x33334444), 0, 0x33332222, 0),
    ("s_pack_hh_b32_b16", (0x11112222, 0x33334444), 0, 0x33331111, 0),
    ("s_pack_hl_b32_b16", (0x11112222, 0x33334444), 0, 0x44441111, 0),
]
ONE_32 = [
    ("s_mov_b32", 5, 1, 5, 1),
    ("s_not_b32", M32, 1, 0, 0),
    ("s_brev_b32", 1, 0, MIN32, 0),
    ("s_abs_i32", M32, 0, 1, 1),
    ("s_abs_i32", MIN32, 0, MIN32, 1),
    ("s_bcnt0_i32_b32", M32, 1, 0, 0),
    ("s_bcnt1_i32_b32", 0xF0F, 0, 8, 1),
    ("s_ff0_i32_b32", 7, 0, 3, 0),
    ("s_ff0_i32_b32", M32, 0, M32, 0),
    ("s_ff1_i32_b32", 8, 0, 3, 0),
    ("s_ff1_i32_b32", 0, 0, M32, 0),
    ("s_flbit_i32_b32", 1, 0, 31, 0),
    ("s_flbit_i32_b32", 0, 0, M32, 0),
    ("s_flbit_i32", M32, 0, M32, 0),
    ("s_flbit_i32", 0xFFFF0000, 0, 16, 0),
    ("s_sext_i32_i8", 0x80, 0, 0xFFFFFF80, 0),
    ("s_sext_i32_i16", 0x7FFF, 0, 0x7FFF, 0),
    ("s_wqm_b32", 0x00100200, 0, 0x00F00F00, 1),
    ("s_quadmask_b32", 0x00100200, 0, 0b100100, 1),
    ("s_quadmask_b32", 0, 1, 0, 0),
]


@pytest.mark.parametrize("name, sources, scc, want, scc_after", TWO_32)
def test_two_sources(run, name, sources, scc, want, scc_after):
    result, after, _ = run.scalar(name, *sources, scc=scc)
    assert (f"{result:#x}", after) == (f"{want:#x}", scc_after)


@pytest.mark.parametrize("name, source, scc, want, scc_after", ONE_32)
def test_one_source(run, name, source, scc, want, scc_after):
    result, after, _ = run.scalar(name, source, scc=scc)
    assert (f"{result:#x}", after) == (f"{want:#x}", scc_after)


@pytest.mark.parametrize("name, sources, widths, scc, width, want, scc_after", [
    ("s_mov_b64", (M64 - 1,), (64,), 1, 64, M64 - 1, 1),
    ("s_and_b64", (0xF << 60, 1 << 63), (64, 64), 0, 64, 1 << 63, 1),
    ("s_xor_b64", (M64, M64), (64, 64), 1, 64, 0, 0),
    ("s_lshl_b64", (1, 65), (64, 32), 0, 64, 2, 1),
    ("s_lshr_b64", (1 << 63, 63), (64, 32), 0, 64, 1, 1),
    ("s_ashr_i64", (1 << 63, 63), (64, 32), 0, 64, M64, 1),
    ("s_bfm_b64", (8, 60), (32, 32), 0, 64, 0xF << 60, 0),
    ("s_bfe_u64", (0xABCD << 40, 40 | 12 << 16), (64, 32), 0, 64, 0xBCD, 1),
    ("s_bfe_i64", (0xF << 40, 40 | 4 << 16), (64, 32), 0, 64, M64, 1),
    ("s_brev_b64", (1,), (64,), 0, 64, 1 << 63, 0),
    ("s_bcnt1_i32_b64", (M64,), (64,), 0, 32, 64, 1),
    ("s_ff1_i32_b64", (1 << 40,), (64,), 0, 32, 40, 0),
    ("s_flbit_i32_b64", (1,), (64,), 0, 32, 63, 0),
    ("s_flbit_i32_i64", (M64,), (64,), 0, 32, M32, 0),
    ("s_bitreplicate_b64_b32", (0x80000005,), (32,), 0, 64, 0xC000000000000033, 0),
    ("s_wqm_b64", (1 << 62,), (64,), 0, 64, 0xF << 60, 1),
    ("s_quadmask_b64", (1 << 62 | 1,), (64,), 0, 64, 0x8001, 1),
    ("s_cselect_b64", (1, 2), (64, 64), 0, 64, 2, 0),
])
def test_64_bit(run, name, sources, widths, scc, width, want, scc_after):
    result, after, _ = run.scalar(name, *sources, width=width, source_width=widths, scc=scc)
    assert (f"{result:#x}", after) == (f"{want:#x}", scc_after)


@pytest.mark.parametrize("name, old, constant, scc, want, scc_after", [
    ("s_movk_i32", 0, -2, 1, M32 - 1, 1),
    ("s_cmovk_i32", 7, 5, 0, 7, 0),
    ("s_cmovk_i32", 7, 5, 1, 5, 1),
    ("s_addk_i32", MAX32, 1, 0, MIN32, 1),
    ("s_addk_i32", 5, -5, 1, 0, 0),
    ("s_mulk_i32", 7, -1, 1, M32 - 6, 1),
    ("s_cmpk_lt_i32", M32, 0, 0, M32, 1),  # -1 < 0
    ("s_cmpk_lt_u32", M32, 0xFFFF, 1, M32, 0),  # the constant is zero-extended
    ("s_cmpk_eq_i32", M32, -1, 0, M32, 1),
    ("s_bitset1_b32", 0, None, 0, 8, 0),
    ("s_cmov_b32", 9, None, 0, 9, 0),
])
def test_with_the_old_destination(run, name, old, constant, scc, want, scc_after):
    sources = () if constant is not None else (3,)
    result, after, _ = run.scalar(name, *sources, old=old, simm16=constant, scc=scc)
    assert (f"{result:#x}", after) == (f"{want:#x}", scc_after)


@pytest.mark.parametrize("name, sources, scc", [
    ("s_cmp_lt_i32", (M32, 0), 1), ("s_cmp_lt_u32", (M32, 0), 0), ("s_cmp_ge_u32", (5, 5), 1),
    ("s_cmp_lg_u32", (5, 5), 0), ("s_bitcmp1_b32", (4, 34), 1), ("s_bitcmp0_b32", (4, 2), 0),
])
def test_compare(run, name, sources, scc):
    assert run.scalar(name, *sources, scc=1 - scc, writes=False)[1] == scc


def test_64_bit_compare(run):
    assert run.scalar("s_cmp_eq_u64", 1 << 40, 1 << 40, source_width=64, writes=False)[1] == 1
    assert run.scalar("s_cmp_lg_u64", 1 << 40, 1 << 41, source_width=64, writes=False)[1] == 1


@pytest.mark.parametrize("name, source, result, exec_after, scc", [
    ("s_and_saveexec_b64", 0x0F, 0x3C, 0x0C, 1),
    ("s_and_saveexec_b64", 0x01, 0x3C, 0x00, 0),
    ("s_or_saveexec_b64", 0x01, 0x3C, 0x3D, 1),
    ("s_xor_saveexec_b64", 0x3C, 0x3C, 0x00, 0),
    ("s_andn2_saveexec_b64", 0x0F, 0x3C, 0x03, 1),  # source & ~EXEC
    ("s_andn1_saveexec_b64", 0x0F, 0x3C, 0x30, 1),  # ~source & EXEC
    ("s_andn2_wrexec_b64", 0x0F, 0x03, 0x03, 1),
    ("s_orn1_saveexec_b64", M64, 0x3C, 0x3C, 1),
])
def test_exec(run, name, source, result, exec_after, scc):
    assert run.scalar(name, source, width=64, source_width=64, exec=0x3C) == (result, scc, exec_after)


def test_32_bit_exec_leaves_the_upper_half(run):
    got = run.scalar("s_and_saveexec_b32", 0x0F, exec=0x7_0000_003C)
    assert got == (0x3C, 1, 0x7_0000_000C)
