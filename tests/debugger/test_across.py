"""Reports on the values of an expression in many places: folded neighbours, extremes, outliers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocdbg.cli.folded_values import is_condition
from rocdbg.debugger import Session
from rocdbg.debugger.reports.across_lanes import Sample, runs, spread


def samples(values: list[float], inactive: tuple[int, ...] = ()) -> list[Sample]:
    return [
        Sample(number, str(number), f"{value:g}", value, number not in inactive) for number, value in enumerate(values)
    ]


RUNS = [
    ([], (), []),
    ([7], (), ["0: 7"]),
    ([7, 7, 7], (), ["0-2: 7"]),
    ([7, 7, 8, 7], (), ["0-1: 7", "2: 8", "3: 7"]),
    ([7, 7, 7], (1,), ["0: 7", "1: 7", "2: 7"]),
]


@pytest.mark.parametrize(("values", "inactive", "expected"), RUNS)
def test_equal_neighbours_are_folded(values: list[float], inactive: tuple[int, ...], expected: list[str]) -> None:
    assert [f"{run.places}: {run.last.text}" for run in runs(samples(values, inactive))] == expected


def test_places_that_are_missing_end_a_run() -> None:
    found = [sample for sample in samples([1] * 6) if sample.number != 3]
    assert [run.places for run in runs(found)] == ["0-2", "4-5"]


SPREADS = [
    ([5] * 64, 1, "0", "0", []),
    ([5] * 63 + [6], 2, "0", "63", ["63"]),
    ([5] * 56 + [6] * 8, 2, "0", "56", [str(number) for number in range(56, 64)]),
    ([5] * 55 + [6] * 9, 2, "0", "55", []),
    (list(range(64)), 64, "0", "63", []),
    ([3, 1, 2], 3, "1", "0", []),
    ([1, float("nan"), 0], 3, "2", "0", []),
    ([float("inf"), 1], 2, "1", "0", []),
]


@pytest.mark.parametrize(("values", "count", "least", "greatest", "odd"), SPREADS)
def test_what_stands_out(values: list[float], count: int, least: str, greatest: str, odd: list[str]) -> None:
    found = spread(samples(values))
    assert found.least is not None and found.greatest is not None
    assert (found.count, found.values, found.least.label, found.greatest.label, [s.label for s in found.odd]) == (
        len(values), count, least, greatest, odd
    )


CONDITIONS = [
    ("x == 3", True), ("x!=y", True), ("a < b", True), ("f(x) && y", True), ("a || b", True), ("!done", True),
    ("$_lane > 3", True), ("$flag", True),
    ("Lane.*/5", False), ("AMDGPU", False), ("(0,0,0)[5,0,0]", False), ("^my.name$", False), ("a|b", False),
]


@pytest.mark.parametrize(("text", "expected"), CONDITIONS)
def test_conditions_are_told_from_regular_expressions(text: str, expected: bool) -> None:
    assert is_condition(text) is expected


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_all_lanes_show_what_each_shows(lanes: Callable[..., Session], target: str) -> None:
    session = lanes(target)
    session.break_at("kern")
    session.run()
    thread = session.focus.current.thread
    assert thread is not None
    for text in ("$_lane", "$v0", "$exec", "threadIdx.x * 2 + 1"):
        alone = []
        for lane in range(session.inferior.lane_count(thread)):
            session.focus.select_lane(lane)
            alone.append(session.data.format_nested(session.data.evaluate(text)))
        found = session.across.lanes(text, session.data.format_in)
        assert [sample.text for sample in found] == alone
