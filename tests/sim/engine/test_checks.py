"""Checks at stops: which waves stop, what is counted, and which checks have no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocdbg.sim.core.builder import I1, I32, I64, Op
from rocdbg.sim.core.checks import Check, Condition, Counter
from rocdbg.sim.core.lane_expressions import (
    Apply,
    Cell,
    Choose,
    Field,
    LaneExpressionError,
    LaneNumber,
    Load,
    Node,
    Require,
    Scalar,
    Space,
    Vector,
    apply,
    constant,
    exec_mask,
    signed,
    unsigned,
)
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

pytestmark = pytest.mark.llvm

TARGETS = [("gfx90a", 64), ("gfx1100", 32), ("gfx1100", 64)]
LOOP = """
s_mov_b32 s4, 0
v_mov_b32 v1, 0
.globl loop
loop:
again:
v_add_u32 v1, v1, v0
s_add_u32 s4, s4, 1
.globl middle
middle:
v_mov_b32 v2, v1
s_cmp_lt_u32 s4, 100
s_cbranch_scc1 again
"""


def _loop(target: str) -> str:
    return LOOP.replace("v_add_u32", "v_add_nc_u32") if target != "gfx90a" else LOOP


def _is(left: Node, right: int) -> Node:
    return apply(Op.EQ, left, constant(right, left.type))


def _check(wave_size: int, holds: Node | None, counter: Counter, **options: Any) -> Check:
    return Check((Condition(exec_mask(wave_size), holds, counter, **options),))


@pytest.mark.parametrize(("target", "wave_size"), TARGETS)
def test_a_wave_stops_where_the_condition_holds_for_a_lane(
    assembled: Callable[..., Any], target: str, wave_size: int
) -> None:
    run = assembled(target, _loop(target), wave_size=wave_size, items=wave_size, groups=3)
    counter = Counter()
    # lane 5 has added 5 forty times
    check = _check(wave_size, _is(Vector(1), 200), counter)
    middle = run.at("middle")
    stops = []
    while (stop := run.dispatch.run(RunOptions(checks={middle: check}))).kind is StopKind.BREAKPOINT:
        assert stop.pc == middle
        values = stop.wave.vgpr(1)
        assert 200 in values
        stops.append((stop.wave.number, stop.wave.sgpr(4)))
    expected = sorted({200 // lane for lane in range(2, wave_size) if 200 % lane == 0})
    assert stops == [(wave, step) for wave in (1, 2, 3) for step in expected]
    assert counter.hits == 0, "the caller counts stops that it receives"
    assert stop.kind is StopKind.DONE


@pytest.mark.parametrize(("target", "wave_size"), TARGETS)
@pytest.mark.parametrize("budget", [None, 1, 7, 64])
def test_arrivals_are_counted_once_however_a_run_is_cut(
    assembled: Callable[..., Any], target: str, wave_size: int, budget: int | None
) -> None:
    """A wave that is reported before a check continues without the check, as from a stop."""
    run = assembled(target, _loop(target), wave_size=wave_size, items=wave_size, groups=2)
    middle, counter, passed = run.at("middle"), Counter(skips=1000), 0
    options = RunOptions(checks={middle: _check(wave_size, None, counter)}, budget=budget)
    while (stop := run.dispatch.run(options)).kind is StopKind.BUDGET:
        passed += stop.pc == middle
    assert counter.hits + passed == 200


def test_a_counter_is_shared_and_a_stop_counts_nothing(assembled: Callable[..., Any]) -> None:
    run = assembled("gfx90a", _loop("gfx90a"))
    shared, other = Counter(skips=7), Counter(skips=1000)
    active = exec_mask(64)
    at_loop = Check((Condition(active, None, shared),))
    at_middle = Check((Condition(active, None, shared), Condition(active, None, other)))
    stop = run.dispatch.run(RunOptions(checks={run.at("loop"): at_loop, run.at("middle"): at_middle}))
    assert (stop.pc, stop.wave.sgpr(4)) == (run.at("middle"), 4)
    assert (shared.hits, shared.skips, other.hits, other.skips) == (7, 0, 3, 997)


def test_only_some_lanes_and_one_wave(assembled: Callable[..., Any]) -> None:
    run = assembled("gfx90a", _loop("gfx90a"), groups=4)
    check = _check(64, _is(unsigned(LaneNumber(), I32), 3), Counter(), lanes=1 << 3, wave=3)
    stop = run.dispatch.run(RunOptions(checks={run.at("middle"): check}))
    assert (stop.kind, stop.wave.number) == (StopKind.BREAKPOINT, 3)
    never = _check(64, _is(unsigned(LaneNumber(), I32), 3), Counter(), lanes=1 << 4)
    assert run.dispatch.run(RunOptions(checks={run.at("middle"): never})).kind is StopKind.DONE


def test_cells_change_between_runs(assembled: Callable[..., Any]) -> None:
    run = assembled("gfx90a", _loop("gfx90a"))
    holds = apply(Op.EQ, unsigned(Scalar(4), I64), Cell(0))
    for wanted in (3, 17, 90):
        check = _check(64, holds, Counter(), cells=(wanted,))
        stop = run.dispatch.run(RunOptions(checks={run.at("middle"): check}))
        assert stop.wave.sgpr(4) == wanted


@pytest.mark.parametrize(
    "load",
    [
        Load(I32, Space.FLAT, constant(0)),
        Load(I64, Space.FLAT, constant(0x7F00_0000_0000 + (1 << 40) - 4)),
        Load(I32, Space.FLAT, constant((1 << 64) - 2)),
        Load(I32, Space.LDS, constant(4093)),
        Load(I32, Space.LDS, constant((1 << 64) - 1)),
        Load(I32, Space.LANE, constant(0)),
        Load(I32, Space.WAVE, constant(0)),
        Load(I32, Space.FLAT, constant(0x0001_0000_0000_0FFE)),
        Load(I32, Space.FLAT, constant(0x0002_0000_0000_0000)),
    ],
)
def test_memory_that_cannot_be_read_stops(assembled: Callable[..., Any], load: Load) -> None:
    run = assembled("gfx90a", _loop("gfx90a"))
    holds = apply(Op.NE, load, load)
    stop = run.dispatch.run(RunOptions(checks={run.at("middle"): _check(64, holds, Counter())}))
    assert (stop.kind, stop.pc) == (StopKind.BREAKPOINT, run.at("middle"))


def test_what_is_not_chosen_is_not_evaluated(assembled: Callable[..., Any]) -> None:
    run = assembled("gfx90a", _loop("gfx90a"))
    bad = Require(constant(0, I1), constant(1, I1))
    holds = Choose(apply(Op.ULT, LaneNumber(), constant(64)), constant(0, I1), bad)
    assert run.dispatch.run(RunOptions(checks={run.at("middle"): _check(64, holds, Counter())})).kind is StopKind.DONE


@pytest.mark.parametrize(("space", "base"), [(Space.LDS, 0), (Space.FLAT, 0x0001_0000_0000_0000)])
def test_lds_is_read(assembled: Callable[..., Any], space: Space, base: int) -> None:
    code = """
    v_lshlrev_b32 v1, 2, v0
    v_mul_u32_u24 v2, 3, v0
    s_mov_b32 m0, -1
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    .globl middle
    middle:
    s_nop 0
    """
    address = apply(Op.ADD, apply(Op.SHL, LaneNumber(), constant(2)), constant(base))
    for wanted, kind in ((189, StopKind.BREAKPOINT), (190, StopKind.DONE)):
        run = assembled("gfx90a", code)
        check = _check(64, _is(Load(I32, space, address), wanted), Counter())
        assert run.dispatch.run(RunOptions(checks={run.at("middle"): check})).kind is kind


@pytest.mark.parametrize(
    "node",
    [
        Vector(256), Vector(-1), Scalar(128), Scalar(-1), Field("nothing"), Cell(-1), Cell(5),
        Vector(0, True, Vector(999)),
        Apply(Op.ADD, I32, (LaneNumber(), LaneNumber())), Load(I1, Space.LDS, constant(0)),
        Choose(LaneNumber(), LaneNumber(), LaneNumber()), Require(LaneNumber(), constant(1, I1)),
    ],
)
def test_what_does_not_exist_is_refused(assembled: Callable[..., Any], node: Node) -> None:
    run = assembled("gfx90a", _loop("gfx90a"))
    holds = Apply(Op.NE, I1, (node, node))
    with pytest.raises(LaneExpressionError):
        run.dispatch.run(RunOptions(checks={run.at("middle"): _check(64, holds, Counter())}))


def test_a_tree_that_is_too_large_is_refused(assembled: Callable[..., Any]) -> None:
    run = assembled("gfx90a", _loop("gfx90a"))
    deep: Node = LaneNumber()
    for _ in range(200):
        deep = Apply(Op.MUL, I64, (deep, LaneNumber()))
    wide: Node = LaneNumber()
    for _ in range(20):
        wide = Apply(Op.MUL, I64, (wide, wide))
    for node in (deep, wide):
        with pytest.raises(LaneExpressionError, match="too large"):
            run.dispatch.run(RunOptions(checks={run.at("middle"): _check(64, _is(node, 3), Counter())}))


def test_checks_and_stops_take_turns(assembled: Callable[..., Any]) -> None:
    """A plain stop takes precedence over a check at the same pc; without both, the wave runs on; blocks are as before.
    """
    run = assembled("gfx90a", _loop("gfx90a"))
    middle = run.at("middle")
    never = _check(64, constant(0, I1), Counter())
    assert run.dispatch.run(RunOptions(stop_pcs={middle}, checks={middle: never})).wave.sgpr(4) == 1
    four = _check(64, _is(Scalar(4), 4), Counter())
    assert run.dispatch.run(RunOptions(checks={middle: four})).wave.sgpr(4) == 4
    assert run.dispatch.run(RunOptions(stop_pcs={middle})).wave.sgpr(4) == 5
    stepped = run.dispatch.run(RunOptions(checks={middle: never}, wave=1, range=(middle, middle + 4)))
    assert stepped.kind is StopKind.RANGE
    negative = _check(64, apply(Op.SLT, signed(Scalar(4), I64), constant(0)), Counter())
    assert run.dispatch.run(RunOptions(checks={middle: negative})).kind is StopKind.DONE
