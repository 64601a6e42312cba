"""Register moves indexed by M0."""

from __future__ import annotations

import numpy as np
import pytest

from rocdbg.isa.instruction import Instruction, Operand, OperandKind


@pytest.mark.parametrize("name, m0, changed", [
    ("v_movrels_b32", 2, {5: 12}),  # v5 = v[10 + 2]
    ("v_movreld_b32", 2, {7: 10}),  # v[5 + 2] = v10
    ("v_movrelsd_b32", 3, {8: 13}),  # v[5 + 3] = v[10 + 3]
    ("v_movrelsd_2_b32", 1 << 16 | 4, {6: 14}),  # v[5 + 1] = v[10 + 4]
    ("v_swaprel_b32", 1 << 16 | 4, {6: 14, 14: 6}),
])
def test_vector(run, name, m0, changed):
    """v0 .. v19 hold their numbers; the operands are v5 and v10."""
    insn = Instruction(
        0, 4, "VOP1", name, name,
        (Operand("vdst", OperandKind.VGPR, 5), Operand("src0", OperandKind.VGPR, 10)), {}, name,
    )
    before = {n: np.full(64, n, np.uint32) for n in range(20)}
    after = run.registers(insn, before, tuple(range(20)), target="gfx1030", m0=m0)
    assert {n: int(v[0]) for n, v in after.items() if v[0] != n} == changed


@pytest.mark.parametrize("name, m0, changed", [
    ("s_movrels_b32", 2, {5: 12}), ("s_movreld_b32", 2, {7: 10}), ("s_movrelsd_2_b32", 1 << 16 | 4, {6: 14}),
])
def test_scalar(run, name, m0, changed):
    insn = Instruction(
        0, 4, "SOP1", name, name,
        (Operand("sdst", OperandKind.SGPR, 5), Operand("ssrc0", OperandKind.SGPR, 10)), {}, name,
    )
    assert run.scalar_registers(insn, {n: n for n in range(20)}, target="gfx1030", m0=m0) == changed
