"""A table of conditions stops and counts as the same conditions do one by one; each row has its own answer."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from rocdbg.sim.core.builder import I1, I32, I64, Op
from rocdbg.sim.core.checks import ANY_WAVE, Check, Condition, Counter, Table
from rocdbg.sim.core.lane_expressions import (
    Cell,
    Choose,
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
    unsigned,
)
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from tests.sim.engine.test_checks import TARGETS, _loop

pytestmark = pytest.mark.llvm

V1, LANE, ROUND = unsigned(Vector(1), I64), LaneNumber(), unsigned(Scalar(4), I64)
FALSE = constant(0, I1)


def _same(left: Node, right: Node) -> Node:
    return apply(Op.EQ, left, right)


EXPRESSIONS: list[tuple[str, Node]] = [
    ("one comparison", _same(V1, Cell(0))),
    ("the same for all lanes", _same(ROUND, Cell(1))),
    ("both", apply(Op.AND, _same(apply(Op.AND, LANE, constant(7)), Cell(1)), apply(Op.ULT, Cell(0), V1))),
    ("a choice", Choose(apply(Op.ULT, LANE, Cell(1)), _same(V1, Cell(0)), FALSE)),
    ("undecided by a cell", Require(apply(Op.ULT, Cell(1), constant(90)), _same(V1, Cell(0)))),
    ("undecided by a lane", Require(apply(Op.NE, LANE, constant(5)), _same(V1, Cell(0)))),
    ("undecided where chosen", Choose(_same(LANE, Cell(1)), Require(_same(V1, Cell(0)), constant(1, I1)), FALSE)),
    ("memory that is not there", _same(unsigned(Load(I32, Space.FLAT, constant(0)), I64), Cell(0))),
    ("memory at a cell", Choose(_same(LANE, Cell(1)), _same(Load(I64, Space.FLAT, Cell(0)), LANE), FALSE)),
    ("no cell", _same(V1, constant(200))),
    ("a quotient", _same(apply(Op.UDIV, V1, Cell(1)), Cell(0))),
]
Row = tuple[tuple[int, int], int, int | None, int]
"""Cells, lanes, wave, hits to skip."""


def _rows(seed: int, wave_size: int, count: int) -> list[Row]:
    rng = random.Random(seed)
    return [
        (
            (rng.choice((rng.randrange(60, 6000), 200, 5000)), rng.randrange(1, 100)),
            rng.choice(((1 << wave_size) - 1, rng.getrandbits(wave_size), 1 << rng.randrange(wave_size))),
            rng.choice((None, None, 1, 2)), rng.choice((0, 0, 0, 1, 3)),
        )
        for _ in range(count)
    ]


def _one_by_one(node: Node, rows: Sequence[Row], counters: Sequence[Counter], wave_size: int) -> Check:
    return Check(tuple(
        Condition(exec_mask(wave_size), node, counter, cells, lanes, wave)
        for (cells, lanes, wave, _), counter in zip(rows, counters, strict=True)
    ))


def _table(node: Node, rows: Sequence[Row], counters: Sequence[Counter]) -> Table:
    return Table(
        node, np.array([row[0] for row in rows], np.uint64), np.array([row[1] for row in rows], np.uint64),
        np.array([ANY_WAVE if row[2] is None else row[2] for row in rows], np.uint64), tuple(counters),
    )


def _stops(run: Any, check: Check) -> list[tuple[int, int]]:
    """The stops of waves: their numbers, and the iteration of the loop."""
    found = []
    while (stop := run.dispatch.run(RunOptions(checks={run.at("middle"): check}))).kind is StopKind.BREAKPOINT:
        found.append((stop.wave.number, stop.wave.sgpr(4)))
    assert stop.kind is StopKind.DONE
    return found


@pytest.mark.parametrize(("target", "wave_size"), TARGETS)
@pytest.mark.parametrize(("name", "node"), EXPRESSIONS, ids=[name for name, _ in EXPRESSIONS])
def test_a_table_is_its_rows_one_by_one(
    assembled: Callable[..., Any], target: str, wave_size: int, name: str, node: Node
) -> None:
    for seed, count in ((1, 1), (2, 7), (3, 70)):  # the last is optimised
        rows = _rows(seed, wave_size, count)
        found = []
        for in_table in (False, True):
            run = assembled(target, _loop(target), wave_size=wave_size, items=wave_size, groups=2)
            counters = [Counter(skips=row[3]) for row in rows]
            check = (
                Check((), (_table(node, rows, counters),), exec_mask(wave_size)) if in_table
                else _one_by_one(node, rows, counters, wave_size)
            )
            found.append((_stops(run, check), [(each.hits, each.skips) for each in counters]))
        assert found[0] == found[1]


@pytest.mark.parametrize(("target", "wave_size"), TARGETS)
def test_each_row_has_an_answer_for_a_stopped_wave(
    assembled: Callable[..., Any], target: str, wave_size: int
) -> None:
    run = assembled(target, _loop(target), wave_size=wave_size, items=wave_size, groups=2)
    stop = run.dispatch.run(RunOptions(stop_pcs=frozenset({run.at("middle")})))
    assert stop.kind is StopKind.BREAKPOINT
    rows = _rows(5, wave_size, 40)
    every = (1 << wave_size) - 1
    nodes = [node for _, node in EXPRESSIONS]
    tables = [_table(node, rows, [Counter()] * len(rows)) for node in nodes]
    together = run.dispatch.answers(stop.wave, tables, every)
    undecided = 0
    for node, answer in zip(nodes, together, strict=True):
        for number, (cells, lanes, wave, _) in enumerate(rows):
            alone = [
                run.dispatch.answers(stop.wave, [_table(node, [(cells, 1 << lane, wave, 0)], [Counter()])], every)[0]
                for lane in range(wave_size) if lanes >> lane & 1
            ]
            bad = any(bool(one.undecided[0]) for one in alone)
            assert bool(answer.undecided[number]) == bad
            undecided += bad
            if not bad:
                assert int(answer.lanes[number]) == sum(int(one.lanes[0]) for one in alone)
    assert 0 < undecided < len(nodes) * len(rows)


def test_tables_conditions_and_counters_of_one_check(assembled: Callable[..., Any]) -> None:
    """All of them are counted together, or none of them is."""
    run = assembled("gfx90a", _loop("gfx90a"))
    passed, mine, kept = Counter(skips=1000), Counter(skips=1000), Counter(skips=1000)
    active = exec_mask(64)
    table = _table(_same(ROUND, Cell(0)), [((7, 0), 3, None, 0), ((9, 0), 3, None, 0)], [mine, Counter()])
    other = _table(_same(LANE, Cell(0)), [((3, 0), 8, None, 0)], [kept])
    check = Check((Condition(active, None, passed),), (table, other), active)
    assert _stops(run, check.plus(Condition(active, _same(ROUND, constant(50)), Counter()))) == [(1, 9), (1, 50)]
    assert (passed.hits, mine.hits, kept.hits) == (98, 1, 98)


def test_too_few_cells(assembled: Callable[..., Any]) -> None:
    run = assembled("gfx90a", _loop("gfx90a"))
    table = _table(_same(ROUND, Cell(2)), _rows(1, 64, 2), [Counter(), Counter()])
    with pytest.raises(LaneExpressionError, match="2 cells are too few"):
        run.dispatch.run(RunOptions(checks={run.at("middle"): Check((), (table,), exec_mask(64))}))
