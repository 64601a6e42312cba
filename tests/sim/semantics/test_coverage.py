"""Instructions without semantics: a compute kernel can use none of them, on any target."""

from __future__ import annotations

import pytest

from rocdbg.arch.targets import TARGETS
from rocdbg.sim.instruction_coverage import Coverage, instruction_coverage

FAMILIES = sorted(
    name
    for name, target in TARGETS.items()
    if 6 <= target.generation <= 12 and "generic" not in name and not target.is_gfx125
)


@pytest.mark.parametrize("target", FAMILIES)
def test_every_compute_instruction_has_semantics(target):
    rows = instruction_coverage(target)
    assert len(rows) > 700
    decoded = [row.name for row in rows if row.coverage is Coverage.DECODED and row.reason == "no semantics yet"]
    # One half of the scaled matrix instructions, which are one instruction of two such words.
    assert [name for name in decoded if name != "v_mfma_ld_scale_b32"] == []
