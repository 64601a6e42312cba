"""Descriptions that scheduling has moved past the write of another value."""

from __future__ import annotations

import pytest

from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.lane_coverage import LaneCoverage
from rocdbg.analysis.register_effects import BY_CONVENTION, Machine
from rocdbg.analysis.saved_registers import analyse
from rocdbg.analysis.value_flow import VECTOR
from rocdbg.isa import assemble

END = "s_endpgm"
# (instructions, the first one that the description of v1 covers, the last one that it covers; is it in doubt)
CASES = {
    "behind the write": (["v_mov_b32 v1, v2", "v_mov_b32 v3, v1", END], 1, 2, False),
    "an independent reader before the write": (
        ["v_add_u32 v5, v1, v0", "v_mov_b32 v1, v2", "v_mov_b32 v3, v4", END], 3, 3, True
    ),
    "nothing read what was there before": (
        ["v_add_u32 v5, v6, v0", "v_mov_b32 v1, v2", "v_mov_b32 v3, v4", END], 3, 3, False
    ),
    "the anchor computes with what was written": (
        ["v_add_u32 v5, v1, v0", "v_mov_b32 v1, v2", "v_add_u32 v3, v1, v4", END], 3, 3, False
    ),
    "the anchor computes with what was read": (
        ["v_add_u32 v5, v1, v0", "v_mov_b32 v1, v2", "v_add_u32 v3, v5, v4", END], 3, 3, False
    ),
    "the anchor overwrites what the write reads": (
        ["v_mov_b32 v5, v1", "v_mov_b32 v1, v2", "v_mov_b32 v2, v4", END], 3, 3, False
    ),
    "the write itself is the reader": (
        ["v_add_u32 v1, v1, v0", "v_mov_b32 v3, v4", END], 2, 2, True
    ),
    "no code is moved across a change of EXEC": (
        ["v_add_u32 v5, v1, v0", "v_mov_b32 v1, v2", "s_or_b64 exec, exec, s[2:3]", "v_mov_b32 v3, v4", END], 4, 4,
        False,
    ),
    "the description of what was there before ends with the write": (
        ["v_mov_b32 v1, v7", "v_add_u32 v1, v1, v0", "v_mov_b32 v3, v4", END], 3, 3, None
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_descriptions_behind_a_write(name: str) -> None:
    lines, first, last, doubtful = CASES[name]
    code, starts = b"", list[int]()
    for line in lines:
        starts.append(len(code))
        code += assemble(line, "gfx90a")
    ends = [*starts[1:], len(code)]
    function = FunctionCode(0, len(code), is_kernel=True)
    analysis = analyse(function, code, "gfx90a", Machine(64, False, lambda address: BY_CONVENTION))
    extent = starts[first], ends[last]
    extents = [extent] if doubtful is not None else [(ends[0], ends[1]), extent]
    found = LaneCoverage(analysis).code.misplaced(extents, {VECTOR + 1}, [(0, len(code))])
    assert found == ({extent} if doubtful else set())


# (instructions, the first one that the description of v1 covers, the last one; may the write come after it)
EARLY = {
    "the anchor has nothing to do with the write": (
        ["v_mov_b32 v1, v7", "v_mov_b32 v3, v4", "v_mov_b32 v5, v6", "v_fmac_f32 v1, 0.5, v8", END], 2, 3, True
    ),
    "the anchor computes what was there": (
        ["v_mov_b32 v1, v7", "v_mov_b32 v5, v6", "v_fmac_f32 v1, 0.5, v8", END], 1, 2, False
    ),
    "the write needs the anchor": (
        ["v_mov_b32 v1, v7", "v_mov_b32 v3, v4", "v_mov_b32 v5, v6", "v_fmac_f32 v1, 0.5, v3", END], 2, 3, False
    ),
    "the register is one that a kernel begins with": (
        ["v_mov_b32 v3, v4", "v_mov_b32 v5, v6", "v_fmac_f32 v1, 0.5, v8", END], 1, 2, False
    ),
    "the write does not read what was there": (
        ["v_mov_b32 v1, v7", "v_mov_b32 v3, v4", "v_mov_b32 v5, v6", "v_mov_b32 v1, v8", END], 2, 3, False
    ),
}


@pytest.mark.parametrize("name", EARLY)
def test_descriptions_before_a_write(name: str) -> None:
    lines, first, last, doubtful = EARLY[name]
    code, starts = b"", list[int]()
    for line in lines:
        starts.append(len(code))
        code += assemble(line, "gfx90a")
    function = FunctionCode(0, len(code), is_kernel=True)
    analysis = analyse(function, code, "gfx90a", Machine(64, False, lambda address: BY_CONVENTION))
    found = LaneCoverage(analysis).code.early([(starts[first], starts[last + 1])], {VECTOR + 1})
    assert sorted(found) == (starts[first : last + 1] if doubtful else [])
