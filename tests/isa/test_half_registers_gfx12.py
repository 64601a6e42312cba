"""Halves of registers on GFX12: LLVM 22 has none by default, but AMD's compiler does."""

from __future__ import annotations

import pytest

from rocdbg import isa

_INVALID = "/*Invalid register, operand has '{}_32_Lo128' register class*/"


@pytest.mark.parametrize(
    ("code", "text", "op_sel"),
    [
        ("02085dd600030200", "v_cndmask_b16 v2, v0, v1, s0", 1),
        ("02505dd600030200", "v_cndmask_b16 v2, v0, v1, s0", 0b1010),
        ("001001d404030200", "v_cmp_lt_f16_e64 s0, v4, v1", 2),
        ("02005dd600030200", "v_cndmask_b16 v2, v0, v1, s0", None),
    ],
)
def test_selected_halves_that_are_not_printed(code: str, text: str, op_sel: int | None) -> None:
    (instruction,) = isa.disassemble(bytes.fromhex(code), "gfx1200")
    assert instruction.text == text
    assert instruction.modifiers.get("op_sel") == op_sel


@pytest.mark.parametrize(
    ("code", "text", "operands"),
    [
        ("ff38347e003c0000", "v_mov_b16_e32 v26.l, 0x3c00", [(26, 0), (-1, None)]),
        ("a4395a7e", "v_mov_b16_e32 v45.l, v36.h", [(45, 0), (36, 1)]),
        ("01009cd502010000", "v_mov_b16_e64 v1.l, v2.l", [(1, 0), (2, 0)]),
        (
            "82050164",
            f"v_add_f16_e32 v0, v130{_INVALID.format('VS')}, v130{_INVALID.format('VGPR')}",
            [(0, None), (2, 1), (2, 1)],
        ),
        ("01054064", "v_add_f16_e32 v32, v1, v2", [(32, None), (1, None), (2, None)]),
        ("00a30c7f", "v_cvt_f16_i16_e32 v6.h, v0", [(6, 1), (0, None)]),
        (
            "fa040c6500e400ff",
            "v_add_f16_dpp v6.h, v0, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf",
            [(6, 1), (0, None), (2, None)],
        ),
    ],
)
def test_halves(code: str, text: str, operands: list[tuple[int, int | None]]) -> None:
    (instruction,) = isa.disassemble(bytes.fromhex(code), "gfx1200")
    assert instruction.text == text
    assert [(operand.index, operand.half) for operand in instruction.operands] == operands
