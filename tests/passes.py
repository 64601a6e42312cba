"""One test for many items: a separate test for each of thousands of items would cost more than the check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

SHOWN = 20
"""The number of failures whose traceback is shown; all failures are named."""


def check_each(items: Iterable[T], name: Callable[[T], str], check: Callable[[T], object]) -> None:
    """Check all items; the failure names every item that fails, and shows how the first of them fail."""
    failures: dict[str, Exception] = {}
    count = 0
    for item in items:
        count += 1
        try:
            check(item)
        except Exception as error:  # an item that fails hides no other
            error.add_note(f"item: {name(item)}")
            failures[name(item)] = error
    assert count, "there are no items"
    if failures:
        names = "\n  ".join(failures)
        raise ExceptionGroup(f"{len(failures)} of {count} fail:\n  {names}\n", list(failures.values())[:SHOWN])
