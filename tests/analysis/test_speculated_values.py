"""Descriptions of values that only some lanes get: results that code selects, and code whose masks cannot be followed.
"""

from __future__ import annotations

import pytest

from rocdbg.analysis import followed_masks
from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.lane_coverage import Held, LaneCoverage
from rocdbg.analysis.register_effects import BY_CONVENTION, Machine
from rocdbg.analysis.saved_registers import analyse
from rocdbg.analysis.value_flow import CONSTANT, VECTOR
from rocdbg.isa import assemble

V1, V2 = VECTOR + 1, VECTOR + 2
END = "s_endpgm"


def coverage(lines: list[str], target: str = "gfx90a") -> tuple[LaneCoverage, list[int]]:
    """The analysis of some code, the addresses of its instructions, and the address of its end."""
    code, starts = b"", list[int]()
    for line in lines:
        starts.append(len(code))
        code += assemble(line, target)
    function = FunctionCode(0, len(code), is_kernel=True)
    wide = target == "gfx90a"
    analysis = analyse(function, code, target, Machine(64 if wide else 32, not wide, lambda address: BY_CONVENTION))
    return LaneCoverage(analysis), [*starts, len(code)]


# (instructions, the first one that the description covers, its place, the place before it; is it speculated)
SELECTS = {
    "between both": (["v_add_u32 v2, v1, v0", "v_cndmask_b32 v1, v1, v2, vcc", END], 1, V2, V1, True),
    "the other way round": (["v_add_u32 v2, v1, v0", "v_cndmask_b32 v3, v2, v1, vcc", END], 1, V2, V1, True),
    "a number before": (
        ["v_add_u32 v2, v3, v0", "v_cndmask_b32 v2, 7, v2, vcc", END], 1, V2, CONSTANT + 7, True,
    ),
    "a number now": (
        ["v_mov_b32 v3, v0", "v_cndmask_b32_e64 v1, v1, 5, s[4:5]", END], 1, CONSTANT + 5, V1, True,
    ),
    "scalars": (["s_add_i32 s5, s4, 1", "s_cselect_b32 s4, s5, s4", END], 1, 5, 4, True),
    "something else": (["v_add_u32 v2, v1, v0", "v_cndmask_b32 v3, v4, v2, vcc", END], 1, V2, V1, False),
    "what was before is overwritten": (
        ["v_add_u32 v2, v1, v0", "v_mov_b32 v1, v9", "v_cndmask_b32 v3, v1, v2, vcc", END], 1, V2, V1, False,
    ),
    "the absolute value": (
        ["v_add_u32 v2, v1, v0", "v_cndmask_b32_e64 v3, |v1|, v2, vcc", END], 1, V2, V1, False,
    ),
}


@pytest.mark.parametrize("name", SELECTS)
def test_results_that_are_selected(name: str) -> None:
    lines, first, place, before, is_speculated = SELECTS[name]
    found, starts = coverage(lines)
    extent = starts[first], starts[-1]
    assert found.is_speculated(extent, place, [Held((0, starts[first]), before)]) == is_speculated
    assert not found.is_speculated(extent, place, [])


def test_two_operations_at_once() -> None:
    dual = "v_dual_mov_b32 v4, v8 :: v_dual_cndmask_b32 v3, v1, v2"
    found, starts = coverage(["v_add_nc_u32 v2, v1, v0", dual, END], "gfx1100")
    assert found.is_speculated((starts[1], starts[-1]), V2, [Held((0, starts[1]), V1)])


BRANCH = [
    "v_cmp_gt_u32 vcc, 3, v0", "s_and_saveexec_b64 s[4:5], vcc", "v_mov_b32 v1, v2", "v_mov_b32 v3, v1",
    "s_or_b64 exec, exec, s[4:5]", "v_mov_b32 v4, v1", "v_mov_b32 v5, v1", END,
]
"""v1 is described from its write (instruction 2) to the end. Lanes that rejoin hold something else."""


@pytest.mark.parametrize("most", (followed_masks._MOST_BLOCKS, 0))
def test_lanes_that_come_back_have_not_what_a_branch_computed(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_masks, "_MOST_BLOCKS", most)  # 0: masks are not followed
    found, starts = coverage(BRANCH)
    gaps = found.gaps([(starts[3], starts[-1])], {V1})
    assert sorted(gaps.active) == starts[5:-1]


def test_diagrams_of_unrolled_loops_stay_small() -> None:
    lines = []
    for number in range(40):  # what leaves the loop early is joined after it
        lines += [
            f"v_cmp_gt_u32 vcc, {number}, v{number + 8}",
            f"s_and_saveexec_b64 s[{2 * number + 4}:{2 * number + 5}], vcc",
        ]
    lines += [f"s_or_b64 exec, exec, s[{2 * number + 4}:{2 * number + 5}]" for number in reversed(range(40))]
    found, starts = coverage([*lines, "v_mov_b32 v1, v2", "v_mov_b32 v3, v1", END])
    assert not found.gaps([(starts[-3], starts[-1])], {V1}).active
    assert found.gaps([(starts[60], starts[-1])], {V1 + 1}).active
