"""What takes minutes over all compilers and targets runs on a few of them in ``./test``, on all in ``make truth``."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

EVERYTHING = bool(os.environ.get("ROCDBG_TEST_EVERYTHING"))
"""Whether the tests marked ``truth`` run with all their parameters."""


def some_of(everything: Sequence[T], usual: Sequence[T]) -> Sequence[T]:
    """Parameters of a test that is marked ``truth``."""
    assert all(one in everything for one in usual)
    return everything if EVERYTHING else usual


def in_turn(*values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Parameters of a test that is marked ``truth``: there all combinations of values, in ``./test`` as many as the
    longest list has, so that each value is in one."""
    if EVERYTHING:
        return list(itertools.product(*values))
    rows = max(map(len, values))
    return [tuple(each[(row + row // len(each)) % len(each)] for each in values) for row in range(rows)]
