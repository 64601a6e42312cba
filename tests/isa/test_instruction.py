"""Operands, modifiers and control flow of decoded instructions."""

from __future__ import annotations

import pytest

from rocdbg import isa
from rocdbg.isa import Flow, OperandKind
from rocdbg.isa.inline_constants import constant_bits, literal_value


def words(*dwords: int) -> bytes:
    return b"".join(d.to_bytes(4, "little") for d in dwords)


def describe(instruction: isa.Instruction) -> list[str]:
    return [f"{o.name} {o.kind.name} {o.index} {o.dwords} {o.value:#x}" for o in instruction.operands]


def test_literal_and_registers() -> None:
    i = isa.decode(words(0x020404FF, 0x12345678), "gfx90a")
    assert (i.encoding, i.name, i.mnemonic, i.size) == ("VOP2", "v_add_f32", "v_add_f32_e32", 8)
    assert describe(i) == ["vdst VGPR 2 1 0x0", "src0 LITERAL -1 1 0x12345678", "vsrc1 VGPR 2 1 0x0"]


@pytest.mark.parametrize(
    ("code", "type_", "bits", "value"),
    [
        (words(0x3E0404F2), "f16", 16, 0x3C00),  # v_add_f16 v2, 1.0, v2
        (words(0x020404F2), "b32", 32, 0x3F800000),  # v_add_f32
        (words(0x7E0406F2), "f64", 64, 0x3FF0000000000000),  # v_cvt_i32_f64
        (words(0x7E0406FF, 0x40080000), "f64", 64, 0x4008000000000000),
        (words(0xBE8201FF, 0x82345678), "b64", 64, 0x82345678),  # s_mov_b64
        (words(0x7E0202C1), "b32", 32, 0xFFFFFFFF),  # v_mov_b32 v1, -1
    ],
)
def test_constants_have_the_operands_width(code: bytes, type_: str, bits: int, value: int) -> None:
    constant = next(o for o in isa.decode(code, "gfx90a").operands if o.type)
    assert (constant.type, constant.bits, constant.value) == (type_, bits, value)


@pytest.mark.parametrize(
    ("code", "kind", "value"),
    [
        (242, "f16", 0x3C00),
        (242, "bf16", 0x3F80),
        (242, "v2f16", 0x3C00),
        (248, "f32", None),
        (193, "b16", 0xFFFF),
        (193, "b64", 0xFFFFFFFFFFFFFFFF),
        (248, "f64", 0x3FC45F306DC9C882),
        (209, "b32", None),
    ],
)
def test_inline_constants(code: int, kind: str, value: int | None) -> None:
    if kind == "f32":
        kind, value = "b32", 0x3E22F983
    assert constant_bits(code, kind, "") == value


def test_signed_64_bit_literals_extend_their_sign() -> None:
    assert literal_value(0x80000000, "b64", "v_cmp_lt_i64") == (0xFFFFFFFF80000000, 64)
    assert literal_value(0x80000000, "b64", "s_mov_b64") == (0x80000000, 64)


def test_sdwa() -> None:
    i = isa.decode(words(0x320406F9, 0x86060605), "gfx90a")
    assert i.text.startswith("v_add_co_u32_sdwa v2, vcc, v5, s3 dst_sel:DWORD")
    assert describe(i) == [
        "vdst VGPR 2 1 0x0",
        "sdst SPECIAL 106 2 0x0",
        "src0 VGPR 5 1 0x0",
        "vsrc1 SGPR 3 1 0x0",
    ]
    assert i.modifiers == {"sdwa": 1, "dst_sel": 6, "dst_unused": 0, "src0_sel": 6, "src1_sel": 6}


def test_source_modifiers() -> None:
    i = isa.decode(
        words(0xD1010102, 0x58020501), "gfx90a"
    )  # v_add_f32_e64 with abs on src0, neg on src1, mul:8/2
    assert i.text == "v_add_f32_e64 v2, |v1|, -v2 div:2"
    first, second = i.operand("src0"), i.operand("src1")
    assert first is not None and (first.abs, first.neg) == (True, False)
    assert second is not None and (second.abs, second.neg) == (False, True)
    assert i.modifiers == {"omod": 3}


def test_scalar_result_in_vop3_is_sdst() -> None:
    i = isa.decode(words(0xD0410004, 0x00020501), "gfx90a")
    assert i.text == "v_cmp_lt_f32_e64 s[4:5], v1, v2"
    assert describe(i)[0] == "sdst SGPR 4 2 0x0"


def test_memory() -> None:
    i = isa.decode(words(0xDC508010, 0x047F0002), "gfx90a")
    assert i.text == "global_load_dword v4, v[2:3], off offset:16"
    assert describe(i) == ["vdst VGPR 4 1 0x0", "vaddr VGPR 2 2 0x0", "saddr OFF -1 0 0x0"]
    assert i.modifiers == {"offset": 16}


def test_dual() -> None:
    i = isa.decode(words(0xCA100080, 0x01000081), "gfx1100")
    assert i.text == "v_dual_mov_b32 v1, 0 :: v_dual_mov_b32 v0, 1"
    assert [o.name for o in i.operands] == ["vdstx", "src0x", "vdsty", "src0y"]
    assert (i.name, i.modifiers["opy"]) == ("v_dual_mov_b32", "v_dual_mov_b32")


@pytest.mark.parametrize(
    ("code", "flow", "target"),
    [
        (0xBF820002, Flow.BRANCH, 0x100C),
        (0xBF85FFFF, Flow.COND_BRANCH, 0x1000),
        (0xBF810000, Flow.END, None),
        (0xBF920002, Flow.TRAP, None),
        (0xBE801D1E, Flow.INDIRECT, None),
        (0xBE9E1E04, Flow.CALL, None),
        (0xBA9E0001, Flow.CALL, 0x1008),
        (0xBF800000, Flow.NEXT, None),
    ],
)
def test_flow(code: int, flow: Flow, target: int | None) -> None:
    i = isa.decode(words(code), "gfx90a", 0x1000)
    assert (i.flow, i.branch_target) == (flow, target)
    labels = [o.value for o in i.operands if o.kind is OperandKind.LABEL]
    assert labels == ([] if target is None else [target])


def test_memo_does_not_mix_addresses() -> None:
    code = words(0xBF820002)
    assert [isa.decode(code, "gfx90a", at).branch_target for at in (0, 0x100, 0)] == [12, 0x10C, 12]


@pytest.mark.parametrize(
    ("code", "target", "operand", "bits", "value"),
    [
        ("f900847cf2008606", "gfx900", "src0", 32, 0x3F800000),  # v_cmp_eq_f32_sdwa vcc, 1.0, v0
        ("f900000285168606", "gfx900", "src0", 32, 5),  # v_add_f32_sdwa v0, 5, v0
        ("f9880164f2168686", "gfx1030", "src0", 16, 0x3C00),  # v_add_f16_sdwa v0, 1.0, -4
        ("f9880164f2168686", "gfx1030", "vsrc1", 16, 0xFFFC),
    ],
)
def test_constants_of_sdwa_forms(code: str, target: str, operand: str, bits: int, value: int) -> None:
    """The codes of these constants have a ninth bit, which distinguishes them from vector registers."""
    found = isa.decode(bytes.fromhex(code), target).operand(operand)
    assert found is not None
    assert (found.kind, found.bits, found.value) == (OperandKind.CONSTANT, bits, value)
