"""Selects parameters of long tests: ``./test`` runs them on a few compilers and targets, ``make truth`` on all.

A test is selected in one of two ways:

* It is marked ``truth`` and takes its parameters from `some_of` or `in_turn`, if the test itself knows best which
  ones matter.
* `breadth.txt` has a row with its name and the number of its parameters that ``./test`` keeps, or rows with those
  parameters.
"""

from __future__ import annotations

import itertools
import os
import tomllib
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

T = TypeVar("T")

EVERYTHING = bool(os.environ.get("ROCDBG_TEST_EVERYTHING"))
"""Whether all tests run with all their parameters."""
TABLE = Path(__file__).with_name("breadth.txt")
MUTANTS = Path(__file__).parent / "mutants" / "mutants.toml"


def some_of(everything: Sequence[T], usual: Sequence[T]) -> Sequence[T]:
    """The parameters of a test that is marked ``truth``."""
    assert all(one in everything for one in usual)
    return everything if EVERYTHING else usual


def in_turn(*values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Parameters of a test that is marked ``truth``: in ``make truth`` all combinations of values; in ``./test`` as
    many as the longest list has elements, so that each value occurs once.
    """
    if EVERYTHING:
        return list(itertools.product(*values))
    rows = max(map(len, values))
    return [tuple(each[(row + row // len(each)) % len(each)] for each in values) for row in range(rows)]


@cache
def kept_in_test() -> dict[str, int]:
    """The rows of `breadth.txt`: how many parameters of a test ``./test`` keeps, in addition to those with separate
    rows. 0 means that only ``make truth`` runs the test.
    """
    counts: dict[str, int] = {}
    for count, name in _rows():
        test, parameters = test_of(name), "[" in name
        counts[test] = counts.get(test, 0) + (0 if parameters else int(count))
    return counts


@cache
def chosen_by_name() -> frozenset[str]:
    """Tests with parameters that have their own rows in `breadth.txt`."""
    return frozenset(name for _, name in _rows() if "[" in name)


def _rows() -> list[list[str]]:
    return [line.split(None, 1) for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]


@cache
def named_by_mutants() -> frozenset[str]:
    """Tests that catch a mutant, which always run."""
    rows = tomllib.loads(MUTANTS.read_text(encoding="utf-8"))["mutant"]
    return frozenset(test for row in rows for test in row["test"].split(" && "))


def few(parameters: Sequence[dict[str, Hashable]], count: int) -> list[int]:
    """Indexes of ``count`` of a test's parameters, in ascending order: first those with values that none before them
    has, then those with rare values, and among equals those that are spread over the list."""

    def known(index: int) -> tuple[int, int]:
        often = [seen[item] for item in parameters[index].items()]
        return -often.count(0), sum(often)

    seen: Counter[tuple[str, Hashable]] = Counter()
    left = spread(len(parameters))
    chosen: list[int] = []
    for _ in range(min(count, len(left))):
        best = min(left, key=known)
        left.remove(best)
        chosen.append(best)
        seen.update(parameters[best].items())
    return sorted(chosen)


def spread(length: int) -> list[int]:
    """All indexes below ``length``, in an order that spreads them by halving: 0, 1/2, 1/4, 3/4, 1/8, ..."""
    bits = max(1, (length - 1).bit_length())
    reversed_bits = (int(f"{number:0{bits}b}"[::-1], 2) for number in range(1 << bits))
    return [index for index in reversed_bits if index < length]


def left_out(items: Iterable[pytest.Item], arguments: Sequence[str]) -> list[pytest.Item]:
    """Tests that only ``make truth`` runs; never a test that an argument of pytest names.

    Raises `pytest.UsageError` for a row with parameters that a test does not have.
    """
    named = (named_by_mutants() | chosen_by_name()).union(argument for argument in arguments if "::" in argument)
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        name = test_of(item.nodeid)
        if name in kept_in_test():
            tests.setdefault(name, []).append(item)
    if not any("::" in argument for argument in arguments):
        there = {item.nodeid for found in tests.values() for item in found}
        for row in sorted(chosen_by_name() - there):
            if test_of(row) in tests:
                raise pytest.UsageError(f"{TABLE.name}: no test is called {row}")
    gone = []
    for name, found in tests.items():
        if name in named:
            continue
        kept = set(few([_parameters(item) for item in found], kept_in_test()[name]))
        gone += [item for index, item in enumerate(found) if index not in kept and item.nodeid not in named]
    return gone


def test_of(nodeid: str) -> str:
    """The name in a row of `breadth.txt`: a test without its parameters, or a table of programs."""
    file, _, _ = nodeid.partition("::")
    return file if file.endswith(".txt") else nodeid.partition("[")[0]


def _parameters(item: pytest.Item) -> dict[str, Hashable]:
    """Parameters by name; a parameter that is not hashable is replaced by something that identifies it."""
    callspec = getattr(item, "callspec", None)
    return {} if callspec is None else {name: _hashable(value) for name, value in callspec.params.items()}


def _hashable(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return id(value)
    return cast(Hashable, value)
