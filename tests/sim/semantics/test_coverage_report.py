"""The data of ``maint isa coverage``."""

from __future__ import annotations

import pytest

from rocdbg.sim.instruction_coverage import Coverage, instruction_coverage, summary


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx1030", "gfx1100"])
def test_kinds(target):
    rows = {row.name: row for row in instruction_coverage(target)}
    assert rows["v_add_f32"].coverage is Coverage.EXACT and rows["v_add_f32"].reason == ""
    assert {"VOP2", "VOP3"} <= set(rows["v_add_f32"].encodings)
    assert rows["v_rcp_f64"].coverage is Coverage.APPROXIMATE and rows["v_rcp_f64"].reason
    counts = summary(list(rows.values()))
    assert sum(counts.values()) == len(rows) > 700
    decoded = [r for r in rows.values() if r.coverage is Coverage.DECODED]
    assert all(r.reason for r in decoded) and sum(r.reason == "no semantics yet" for r in decoded) < 60


@pytest.mark.parametrize("target, f32, f16", [
    ("gfx1030", "approximate", "approximate"), ("gfx1100", "exact", "approximate"),
    ("gfx1201", "exact", "exact"), ("gfx1250", "approximate", "approximate"),
])
@pytest.mark.parametrize("stem", ["exp", "log", "rcp", "rsq", "sqrt", "sin", "cos"])
def test_measured_transcendentals(target, f32, f16, stem):
    """Hardware's own tables are known only for gfx1100 and gfx1201; halves have been compared on the latter."""
    rows = {row.name: row for row in instruction_coverage(target)}
    assert [rows[f"v_{stem}_{kind}"].coverage.value for kind in ("f32", "f16")] == [f32, f16]
