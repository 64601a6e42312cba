"""The data of ``maint isa coverage``."""

from __future__ import annotations

import pytest

from rocdbg.sim.coverage import Coverage, instruction_coverage, summary


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx1030", "gfx1100"])
def test_kinds(target):
    rows = {row.name: row for row in instruction_coverage(target)}
    assert rows["v_add_f32"].coverage is Coverage.EXACT and rows["v_add_f32"].reason == ""
    assert {"VOP2", "VOP3"} <= set(rows["v_add_f32"].encodings)
    assert rows["v_exp_f32"].coverage is Coverage.APPROXIMATE and rows["v_exp_f32"].reason
    counts = summary(list(rows.values()))
    assert sum(counts.values()) == len(rows) > 700
    decoded = [r for r in rows.values() if r.coverage is Coverage.DECODED]
    assert all(r.reason for r in decoded) and sum(r.reason != "graphics" for r in decoded) < 60
