"""Stacks of hundreds of frames: each frame and each register is found."""

from __future__ import annotations

import pytest

import rocdbg
from rocdbg.debugger.expr.evaluator import evaluate
from rocdbg.debugger.expr.value_access import decay

pytestmark = pytest.mark.llvm
TARGETS = ["gfx90a", "gfx942", "gfx1030", "gfx1100"]


def stack(path, depth):
    """A session that is ``depth`` recursive calls deep, and its frames."""
    debugger = rocdbg.Debugger(path)
    for line in ("set grid 64", "set workgroup 64", "set arg 0 i32[16]", f"set arg 1 {depth}", "run"):
        debugger.execute(line, to_string=True)
    frames = list(debugger.session.focus.frames())
    assert [frame.name for frame in frames] == ["down"] * (depth + 1) + ["deep"]
    assert [frame.level for frame in frames] == list(range(depth + 2))

    def value(level, text):
        where = debugger.session.data.environment(frames[level].scope)
        return decay(evaluate(text, where)).as_int()

    return value


@pytest.mark.parametrize("target", TARGETS)
def test_four_hundred_optimised_frames(compiled, target):
    value = stack(compiled("deep.hip", target, "-O1"), 400)
    # What no frame has touched, the stack pointer that each moves by the same, and where each returns to.
    assert len({value(level, "$s50") for level in (0, 1, 200, 399, 400)}) == 1
    moved = {value(level, "$s32") - value(level + 1, "$s32") for level in range(400)}
    assert len(moved) == 1 and moved.pop() > 0
    assert len({value(level, "$s[30:31]") for level in range(0, 400, 7)}) == 1


@pytest.mark.parametrize("target", TARGETS)
def test_three_hundred_frames_with_variables(compiled, target):
    value = stack(compiled("deep.hip", target), 300)
    for level in (0, 1, 150, 299, 300):
        assert value(level, "depth") == level and value(level, "here") == 3 * level
