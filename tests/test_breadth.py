"""The parameters that ./test leaves to `make truth`, and a table without rows for tests that no longer exist."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.breadth import chosen_by_name, few, in_turn, kept_in_test, left_out, named_by_mutants, spread

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def test_rows_name_tests() -> None:
    functions: dict[str, set[str]] = {}
    gone = []
    for row in kept_in_test():
        file, _, name = row.partition("::")
        if file.endswith(".txt"):
            gone += [] if (ROOT / file).exists() else [row]
            continue
        if file not in functions:
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            functions[file] = {one.name for one in ast.walk(tree) if isinstance(one, FUNCTIONS)}
        if name not in functions[file]:
            gone.append(row)
    assert not gone


@pytest.mark.parametrize(("length", "order"), [
    (1, [0]),
    (2, [0, 1]),
    (5, [0, 4, 2, 1, 3]),
    (8, [0, 4, 2, 6, 1, 5, 3, 7]),
])
def test_an_order_that_is_spread(length: int, order: list[int]) -> None:
    assert spread(length) == order


GRID: list[dict[str, Hashable]] = [
    {"target": target, "level": level} for target in ("gfx90a", "gfx1100", "gfx1201") for level in ("O0", "O2")
]


@pytest.mark.parametrize(("count", "kept"), [
    (0, []),
    (1, ["gfx90a O0"]),
    (2, ["gfx90a O0", "gfx1201 O2"]),
    (3, ["gfx90a O0", "gfx1100 O0", "gfx1201 O2"]),
    (9, ["gfx90a O0", "gfx90a O2", "gfx1100 O0", "gfx1100 O2", "gfx1201 O0", "gfx1201 O2"]),
])
def test_values_occur_evenly(count: int, kept: list[str]) -> None:
    assert [f"{GRID[index]['target']} {GRID[index]['level']}" for index in few(GRID, count)] == kept


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=40), st.integers(0, 50))
def test_as_many_as_wanted_and_each_value_first(rows: list[tuple[int, int]], count: int) -> None:
    parameters: list[dict[str, Hashable]] = [{"a": a, "b": b} for a, b in rows]
    kept = few(parameters, count)
    assert kept == sorted(set(kept)) and len(kept) == min(count, len(rows))
    if count >= 7:  # as many as there are values
        seen = Counter(item for index in kept for item in parameters[index].items())
        assert seen.keys() == {item for each in parameters for item in each.items()}


def item(nodeid: str, **parameters: Any) -> Any:
    return SimpleNamespace(nodeid=nodeid, callspec=SimpleNamespace(params=parameters))


def test_what_is_named_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = next(name for name in sorted(named_by_mutants()) if name.endswith("]"))
    test = mutant.partition("[")[0]
    monkeypatch.setattr("tests.breadth.kept_in_test", lambda: {test: 0})
    other = f"{test}[another]"
    items = [item(mutant, a=1), item(other, a=2), item("tests/x.py::test_x[1]", a=1)]
    assert [one.nodeid for one in left_out(items, ["tests"])] == [other]
    assert left_out(items, [other]) == left_out(items, [test]) == []


def test_a_row_may_name_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.breadth._rows", lambda: [["1", "a.py::test_a[2]"], ["1", "b.py::test_b"]])
    monkeypatch.setattr("tests.breadth.kept_in_test", kept_in_test.__wrapped__)
    monkeypatch.setattr("tests.breadth.chosen_by_name", chosen_by_name.__wrapped__)
    items = [item(f"{test}[{number}]", number=number) for test in ("a.py::test_a", "b.py::test_b") for number in (1, 2)]
    assert [one.nodeid for one in left_out(items, [])] == ["a.py::test_a[1]", "b.py::test_b[2]"]
    with pytest.raises(pytest.UsageError, match=r"no test is called a\.py::test_a\[2\]"):
        left_out(items[:1], ["tests"])


def test_turns_have_each_value() -> None:
    turns = in_turn(("a", "b"), (1, 2, 3, 4))
    assert {turn[0] for turn in turns} == {"a", "b"}
    assert {turn[1] for turn in turns} == {1, 2, 3, 4}
