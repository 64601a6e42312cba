"""What takes minutes over all compilers and targets runs on a few of them in ``./test``, on all in ``make truth``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

EVERYTHING = bool(os.environ.get("ROCDBG_TEST_EVERYTHING"))
"""Whether the tests marked ``truth`` run with all their parameters."""


def some_of(everything: Sequence[T], usual: Sequence[T]) -> Sequence[T]:
    """Parameters of a test that is marked ``truth``."""
    assert all(one in everything for one in usual)
    return everything if EVERYTHING else usual
