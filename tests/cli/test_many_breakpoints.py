"""Thousands of breakpoints: the work for one breakpoint does not grow with their number."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import rocdbg
from rocdbg.debugger.breakpoints import compiled_conditions
from rocdbg.sim.engine import check_table

SAXPY = Path(__file__).resolve().parents[2] / "demo_kernels" / "saxpy" / "saxpy.toml"


def calls_of(action: Callable[[], object]) -> int:
    """The number of functions (Python's and C's) that an action calls. It measures work, and is the same on every
    machine.
    """
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def session(count: int, location: str) -> tuple[rocdbg.Debugger, int]:
    dbg = rocdbg.Debugger(SAXPY)
    dbg.execute(f"break {location}", to_string=True)

    def make() -> None:
        for _ in range(count):
            dbg.execute(f"break {location}", to_string=True)

    return dbg, calls_of(make)


@pytest.mark.parametrize("location", ["saxpy", "saxpy.hip:10", "saxpy if 1 == 0"])
def test_making_them_takes_time_in_proportion(location: str) -> None:
    _, few = session(50, location)
    _, many = session(400, location)
    assert many < 9 * few


@pytest.mark.parametrize(
    "command", ["info breakpoints", "disable", "delete", "delete 1-{n}", "disable 1-{n}", "tbreak saxpy", "clear saxpy"]
)
def test_passes_over_them(command: str) -> None:
    found = []
    for count in (50, 400):
        dbg, _ = session(count, "saxpy")
        dbg.execute("set confirm off")
        found.append(calls_of(lambda: dbg.execute(command.format(n=count), to_string=True)))  # noqa: B023
    assert found[1] < 9 * found[0]


def test_a_stop_looks_at_those_where_it_is() -> None:
    found = []
    for count in (50, 400):
        dbg, _ = session(count, "saxpy")
        dbg.execute("disable")
        dbg.execute("run", to_string=True)  # what is translated, is
        dbg.execute("enable")
        found.append(calls_of(lambda: dbg.execute("run", to_string=True)))  # noqa: B023
        assert dbg.session.running.last_stop is not None
    assert found[1] < 9 * found[0]


def test_those_that_ask_the_same_are_evaluated_once_for_an_arrival() -> None:
    found = []
    for count in (50, 400):
        dbg, _ = session(count, "saxpy if n == 3")
        dbg.execute("delete 1")
        found.append(calls_of(lambda: dbg.execute("run", to_string=True)))  # noqa: B023
        stop = dbg.session.running.last_stop
        assert stop is not None
        assert stop.exit is not None
    assert found[1] < 2 * found[0]


@pytest.mark.parametrize(
    "conditions",
    [
        ["i == {}"], ["x[i] == {} && n > {}"],
        [f"({a} {o} {b}) == {{}}" for a in ("i", "n") for o in "+-&|^" for b in ("i", "n")],
    ],
)
def test_a_pass_over_conditions_that_differ_takes_time_in_proportion(conditions: list[str]) -> None:
    """Each condition adds little work; the evaluator calls ten thousand functions for one condition."""
    passes = []
    for count in (50, 400):
        dbg = rocdbg.Debugger(SAXPY)
        for number in range(count):
            shape = conditions[number % len(conditions)]
            dbg.execute(f"break saxpy.hip:10 if {shape.format(5000 + number, 5000 + number)}", to_string=True)
        passes.append(calls_of(lambda: dbg.execute("run", to_string=True)))  # noqa: B023
        stop = dbg.session.running.last_stop
        assert stop is not None
        assert stop.exit is not None
    assert passes[1] < passes[0] + 350 * 1000


def test_places_by_the_hundred_are_looked_at_once() -> None:
    """A stop at one place does not change the checks at other places."""
    dbg = rocdbg.Debugger(SAXPY)
    lines = ("saxpy.hip:7", "saxpy.hip:8", "saxpy.hip:9", "saxpy.hip:10")
    for number in range(400):
        dbg.execute(f"break {lines[number % 4]} if n == {number}", to_string=True)
    dbg.execute("break saxpy.hip:10 if n == 1000", to_string=True)
    dbg.execute("run", to_string=True)
    native = dbg.session.running.native
    first = native.checks(frozenset())
    assert len(first) > 1
    again = native.checks(frozenset())
    assert all(again[address] is check for address, check in first.items())
    dbg.execute("condition 2 n == 1")
    changed = native.checks(frozenset())
    assert any(changed.get(address) is not check for address, check in first.items())


def test_those_that_count_are_evaluated_each() -> None:
    dbg = rocdbg.Debugger(SAXPY)
    dbg.execute("set $count = 0")
    for _ in range(5):
        dbg.execute("break saxpy if $count++ == 64 * 4", to_string=True)  # each is asked in all 64 lanes
    dbg.execute("run", to_string=True)
    stop = dbg.session.running.last_stop
    assert stop is not None
    assert stop.breakpoints == (5,)


def test_the_evaluator_decides_on_more_conditions_than_native_code_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_table, "MAX_CONDITIONS", 3)
    monkeypatch.setattr(compiled_conditions, "MAX_CONDITIONS", 3)
    dbg = rocdbg.Debugger(SAXPY)
    for number in range(5):
        dbg.execute(f"break saxpy.hip:10 if i == {70 * number}", to_string=True)
    stops = []
    text = dbg.execute("run", to_string=True)
    while "hit Breakpoint" in text:
        stop = dbg.session.running.last_stop
        assert stop is not None
        stops.append(stop.breakpoints)
        text = dbg.execute("continue", to_string=True)
    assert stops == [(1,), (2,), (3,), (4,), (5,)]


def test_the_note_names_the_first_and_counts_the_rest() -> None:
    dbg, _ = session(210, "saxpy")
    note = dbg.execute("break saxpy", to_string=True).split("\n")[0]
    assert note.startswith("Note: breakpoints 1, 2, 3, ")
    assert ", 49, 50 and 161 more also set at pc 0x" in note
