"""Blocks that set all bits of EXEC themselves: their lane code is translated without a mask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

CODE = """
v_mov_b32 v1, 7
v_mov_b32 v2, 3
{some}
s_and_saveexec_{b} s[14:15], s[12:13]
v_mov_b32 v1, 8
s_or_saveexec_{b} s[10:11], -1
v_mov_b32 v2, 9
v_cmp_gt_u32 vcc, 5, v0
v_cndmask_b32 v3, v1, v2, vcc
s_mov_{b} s[18:19], vcc
s_mov_{b} s[20:21], s[12:13]
s_mov_b32 s22, s20
s_mov_b32 s23, s21
s_mov_{b} exec, s[10:11]
v_mov_b32 v2, 1
.globl end
end:
"""
SOME, HIGH = 0x0F30, 0xA5


def kernel(size: int) -> str:
    if size == 64:
        return CODE.format(b="b64", some=f"s_mov_b32 s12, {SOME}\ns_mov_b32 s13, {HIGH}")
    text = CODE.format(b="b32", some=f"s_mov_b32 s12, {SOME}").replace("exec,", "exec_lo,").replace("vcc", "vcc_lo")
    for pair in ("s[10:11]", "s[12:13]", "s[14:15]", "s[18:19]", "s[20:21]"):
        text = text.replace(pair, pair[: pair.index(":")].replace("[", ""))
    return text


@pytest.mark.llvm
@pytest.mark.parametrize(("target", "size"), [("gfx90a", 64), ("gfx1030", 32), ("gfx1030", 64)])
@pytest.mark.parametrize("stepped", [False, True], ids=["blocks", "steps"])
def test_lanes_under_all_of_exec(assembled: Callable[..., Any], target: str, size: int, stepped: bool) -> None:
    made = assembled(target, kernel(size), wave_size=size)
    end = made.at("end")
    while stepped and made.wave.pc != end:
        assert made.dispatch.run(RunOptions(budget=1)).kind is StopKind.BUDGET
    if not stepped:
        assert made.dispatch.run(RunOptions(stop_pcs={end})).kind is StopKind.BREAKPOINT
    wave = made.wave
    mask = SOME | HIGH << 32 if size == 64 else SOME
    some = [bool(mask >> lane & 1) for lane in range(size)]
    assert wave.vgpr(1).tolist() == [8 if one else 7 for one in some]
    assert wave.vgpr(2).tolist() == [1 if one else 9 for one in some]
    assert wave.vgpr(3).tolist() == [9 if lane < 5 else 8 if one else 7 for lane, one in enumerate(some)]
    assert (wave.exec, wave.sgpr(18)) == (mask, 0b11111)
    if size == 64:
        assert [wave.sgpr(n) for n in range(19, 24)] == [0, SOME, HIGH, SOME, HIGH]
