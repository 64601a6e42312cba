"""Packed math, mixed precision, dot products and VOPD pairs."""

from __future__ import annotations

import numpy as np
import pytest

from rocdbg.isa.instruction import Instruction, Operand, OperandKind

HALVES = {"op_sel_hi": 7}


def packed(low: int, high: int) -> np.ndarray:
    return np.array([low & 0xFFFF | (high & 0xFFFF) << 16], np.uint32)


def half(low: float, high: float) -> np.ndarray:
    return np.array([low, high], np.float16).view(np.uint32)


@pytest.mark.parametrize("modifiers, want", [
    (HALVES, (1 + 10, 2 + 20)),
    ({"op_sel": 1, "op_sel_hi": 2}, (2 + 10, 1 + 20)),  # source 0 crossed
    ({"op_sel_hi": 0}, (1 + 10, 1 + 10)),
    (HALVES | {"neg_lo": 1, "neg_hi": 2}, (-1 + 10, 2 - 20)),
    (HALVES | {"clamp": 1}, (1, 1)),
])
def test_selection_of_halves(run, modifiers, want):
    got = run("v_pk_add_f16", half(1, 2), half(10, 20), encoding="VOP3P", modifiers=modifiers).value
    assert got.view(np.float16).tolist() == list(want)


@pytest.mark.parametrize("name, modifiers, sources, want", [
    ("v_pk_add_u16", {}, ((0xFFFF, 1), (1, 2)), (0, 3)),
    ("v_pk_add_u16", {"clamp": 1}, ((0xFFFF, 1), (1, 2)), (0xFFFF, 3)),
    ("v_pk_sub_i16", {"clamp": 1}, ((0x8000, 5), (1, 7)), (0x8000, -2)),
    ("v_pk_mul_lo_u16", {}, ((300, 7), (300, 3)), (90000, 21)),
    ("v_pk_mad_i16", {"clamp": 1}, ((300, -2), (300, 3), (0, 1)), (0x7FFF, -5)),
    ("v_pk_min_i16", {}, ((-1, 5), (1, 7)), (-1, 5)),
    ("v_pk_max_u16", {}, ((-1, 5), (1, 7)), (-1, 7)),
    ("v_pk_lshlrev_b16", {}, ((4, 17), (1, 1)), (16, 2)),
    ("v_pk_ashrrev_i16", {}, ((4, 1), (-256, 8)), (-16, 4)),
])
def test_packed_integers(run, name, modifiers, sources, want):
    got = run(name, *(packed(*s) for s in sources), encoding="VOP3P", modifiers=HALVES | modifiers).value
    assert hex(got[0]) == hex(packed(*want)[0])


def test_packed_f32(run):
    a, b = (np.array(v, np.float32).view(np.uint64) for v in ([1.5, -2], [4, 8]))
    got = run("v_pk_mul_f32", a, b, result="u8", encoding="VOP3P", modifiers=HALVES).value.view(np.float32)
    assert got.tolist() == [6, -16]
    crossed = run(
        "v_pk_add_f32", a, b, result="u8", encoding="VOP3P", modifiers={"op_sel": 1, "op_sel_hi": 2}
    ).value
    assert crossed.view(np.float32).tolist() == [-2 + 4, 1.5 + 8]
    moved = run(
        "v_pk_mov_b32", a, b, result="u8", encoding="VOP3P", modifiers={"op_sel": 1, "op_sel_hi": 0}
    ).value
    assert moved.view(np.float32).tolist() == [-2, 4]


@pytest.mark.parametrize("name, modifiers, want", [
    ("v_fma_mix_f32", {"op_sel_hi": 3, "op_sel": 1}, 2 * 3 + 100),  # high half of 0, low half of 1, f32
    ("v_fma_mix_f32", {"op_sel_hi": 3, "neg_lo": 4}, 1 * 3 - 100),
    ("v_fma_mix_f32", {"op_sel_hi": 3, "neg_hi": 4, "neg_lo": 4}, 1 * 3 - 100),
])
def test_mixed_precision(run, name, modifiers, want):
    c = np.array([100], np.float32)
    got = run(name, half(1, 2), half(3, 4), c, result="f4", encoding="VOP3P", modifiers=modifiers).value
    assert got[0] == want


@pytest.mark.parametrize("name, want", [("v_fma_mixlo_f16", 0xABCD5670), ("v_fma_mixhi_f16", 0x56701234)])
def test_mixed_precision_to_half(run, name, want):
    """1 * 3 + 100 = 103 = 0x5670 in one half; the other half stays unchanged."""
    c, old = np.array([100], np.float32), np.array([0xABCD1234], np.uint32)
    got = run(name, half(1, 2), half(3, 4), c, old=old, encoding="VOP3P", modifiers={"op_sel_hi": 3}).value
    assert hex(got[0]) == hex(want)


A8, B8 = 0xFF02807F, 0x01FF7F02  # bytes from the lowest: 7f 80 02 ff; 02 7f ff 01


@pytest.mark.parametrize("name, modifiers, c, want", [
    ("v_dot4_i32_i8", {}, 10, 127 * 2 - 128 * 127 - 2 - 1 + 10),
    ("v_dot4_u32_u8", {}, 10, 127 * 2 + 128 * 127 + 2 * 255 + 255 + 10),
    ("v_dot4_u32_u8", {"clamp": 1}, 0xFFFFFFFF, 0xFFFFFFFF),
    ("v_dot4_i32_i8", {"clamp": 1}, 0x80000000, -(1 << 31)),
    ("v_dot4_i32_iu8", {"neg_lo": 1}, 10, 127 * 2 - 128 * 127 + 2 * 255 - 1 + 10),  # only source 0 is signed
    ("v_dot2_i32_i16", HALVES, 0, -32641 * 0x7F02 + -254 * 0x1FF),
    ("v_dot8_u32_u4", {}, 1, sum((A8 >> 4 * n & 15) * (B8 >> 4 * n & 15) for n in range(8)) + 1),
])
def test_integer_dot(run, name, modifiers, c, want):
    a, b = np.array([A8], np.uint32), np.array([B8], np.uint32)
    got = run(name, a, b, np.array([c], np.uint32), encoding="VOP3P", modifiers=modifiers).value[0]
    assert hex(got) == hex(want & 0xFFFFFFFF)


def test_float_dot(run):
    c, old = np.array([0.5], np.float32), np.array([100], np.float32)
    dot = {"encoding": "VOP3P", "modifiers": HALVES, "result": "f4"}
    assert run("v_dot2_f32_f16", half(1, 2), half(3, 4), c, **dot).value[0] == 1 * 3 + 2 * 4 + 0.5
    assert (
        run("v_dot2c_f32_f16", half(1, 2), half(3, 4), old=old, result="f4", encoding="VOP2").value[0] == 111
    )
    bf = np.array([0x40003F80], np.uint32)  # 1, 2 as bfloat16
    assert run("v_dot2_f32_bf16", bf, bf, c, **dot).value[0] == 5.5


@pytest.mark.parametrize("bits, kind", [(32, "b32"), (16, "f16")])
@pytest.mark.parametrize("code, selects, want", [
    (242, {"op_sel": 1}, 7.5), (242, {"op_sel": 0}, 4.0), (241, {"op_sel": 1}, -0.75), (242, {"op_sel": 3}, 2.0),
    (242, {"op_sel": 1, "op_sel_hi": 5}, 7.5), (242, {"op_sel": 3, "op_sel_hi": 5}, 7.5), (240, {"neg_lo": 2}, 1.0),
])
def test_inline_constants_of_16_bit_sources(run, code, selects, want, bits, kind):
    """v0 = [2.0, 5.5]: a half times the constant plus the low half. The constant's f16 is in its low half, 0 above."""
    value = {240: 0x3F000000, 241: 0xBF000000, 242: 0x3F800000}[code] if bits == 32 else 0x3C00
    constant = Operand("src1", OperandKind.CONSTANT, code, value=value, bits=bits, type=kind)
    vector = [Operand(f"src{k}", OperandKind.VGPR, 0) for k in (0, 2)]
    insn = Instruction(
        0, 8, "VOP3P", "v_fma_mix_f32", "v_fma_mix_f32", (_vgpr("vdst", 4), vector[0], constant, vector[1]),
        {"op_sel_hi": 7} | selects, "v_fma_mix_f32",
    )
    after = run.registers(insn, {0: np.full(64, 0x45804000, np.uint32)}, (4,), target="gfx90a")
    assert after[4].view(np.float32)[0] == want


@pytest.mark.parametrize("name, code, want", [
    ("v_dot2_f32_f16", 242, 1.0), ("v_fma_mix_f32", 240, 0.5), ("v_fma_mix_f32", 247, -4.0),
])
def test_inline_constants_of_32_bit_sources(run, name, code, want):
    """Some tables describe these sources as 16 bits wide; the constant is a full f32."""
    sources = tuple(Operand(f"src{k}", OperandKind.VGPR, 8 * k) for k in range(2))
    constant = Operand("src2", OperandKind.CONSTANT, code, value=0x3C00, bits=16, type="f16")
    insn = Instruction(
        0, 8, "VOP3P", name, name, (_vgpr("vdst", 4), *sources, constant), {"op_sel_hi": 3}, name
    )
    after = run.registers(
        insn, {0: np.zeros(64, np.float32), 8: np.zeros(64, np.float32)}, (4,), target="gfx90a"
    )
    assert after[4].view(np.float32)[0] == want


def _vgpr(name: str, index: int) -> Operand:
    return Operand(name, OperandKind.VGPR, index)


def test_both_halves_of_a_pair_read_first(run):
    """v_dual_mov_b32 v1, v0 :: v_dual_add_f32 v0, v1, v2 uses the old values of both registers."""
    insn = Instruction(
        0, 8, "VOPD", "v_dual_mov_b32", "v_dual_mov_b32",
        (_vgpr("vdstx", 1), _vgpr("src0x", 0), _vgpr("vdsty", 0), _vgpr("src0y", 1), _vgpr("vsrc1y", 2)),
        {"opy": "v_dual_add_f32"}, "v_dual_mov_b32 v1, v0 :: v_dual_add_f32 v0, v1, v2",
    )
    before = {n: np.full(64, 10.0**n, np.float32) for n in range(3)}
    after = run.registers(insn, before, (0, 1, 2), target="gfx1100")
    assert [after[n].view(np.float32)[0] for n in range(3)] == [110, 1, 100]


def test_pair_with_a_literal(run):
    """fmaak computes a * b + K, and fmamk a * K + b."""
    literal = Operand("literal", OperandKind.LITERAL, value=0x41200000)  # 10.0
    insn = Instruction(
        0, 12, "VOPD", "v_dual_fmaak_f32", "v_dual_fmaak_f32",
        (_vgpr("vdstx", 4), _vgpr("src0x", 1), _vgpr("vsrc1x", 2), literal,
         _vgpr("vdsty", 5), _vgpr("src0y", 1), literal, _vgpr("vsrc1y", 2)),
        {"opy": "v_dual_fmamk_f32"},
        "v_dual_fmaak_f32 v4, v1, v2, 0x41200000 :: v_dual_fmamk_f32 v5, v1, 0x41200000, v2",
    )
    after = run.registers(
        insn, {1: np.full(64, 2, np.float32), 2: np.full(64, 3, np.float32)}, (4, 5), target="gfx1100"
    )
    assert [after[n].view(np.float32)[0] for n in (4, 5)] == [2 * 3 + 10, 2 * 10 + 3]
