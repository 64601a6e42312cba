"""What scrolls a window, and how far: keys, and a number of rows that changes."""

from __future__ import annotations

from typing import Any

import pytest

from rocdbg.cli.screen.pane import Pane

VIEW: Any = None


class Plain(Pane):
    """Nothing but what all windows have."""

    name = "plain"

    def title(self, view: Any) -> list[tuple[str, str]]:
        return []

    def lines(self, view: Any, width: int, height: int) -> list[list[tuple[str, str]]]:
        return []


def pane(top: int, left: int = 0, height: int = 10) -> Plain:
    made = Plain()
    made.top, made.left, made.height = top, left, height
    return made


KEYS = [
    # the key, first row and column and number of rows before, first row and column then
    ("up", (20, 8, 10), (19, 8)),
    ("down", (20, 8, 10), (21, 8)),
    ("pageup", (20, 8, 10), (11, 8)),  # what was at the top is at the bottom
    ("pagedown", (20, 8, 10), (29, 8)),
    ("left", (20, 8, 10), (20, 4)),
    ("right", (20, 8, 10), (20, 12)),
    ("up", (0, 0, 10), (0, 0)),
    ("pageup", (8, 0, 10), (0, 0)),
    ("left", (0, 3, 10), (0, 0)),
    ("pagedown", (0, 0, 1), (1, 0)),
    ("pageup", (5, 0, 1), (4, 0)),
]


@pytest.mark.parametrize(("key", "before", "after"), KEYS)
def test_keys(key: str, before: tuple[int, int, int], after: tuple[int, int]) -> None:
    one = pane(*before)
    assert one.key(VIEW, key) is None
    assert (one.top, one.left) == after


WINDOWS = [
    # the first row, how many there are, how many fit; those that are shown
    (0, 100, 10, range(10)),
    (90, 100, 10, range(90, 100)),
    (91, 100, 10, range(90, 100)),
    (5, 8, 10, range(8)),
    (0, 0, 10, range(0)),
    (3, 10, 10, range(10)),
]


@pytest.mark.parametrize(("top", "count", "height", "shown"), WINDOWS)
def test_rows_that_are_shown(top: int, count: int, height: int, shown: range) -> None:
    one = pane(top)
    assert one.window(count, height) == shown
    assert (one.top, one.height) == (shown.start, height)


LOST = [
    # a row, and how many fit now in place of ten; whether it goes out of sight
    (20, 10, False), (29, 10, False), (24, 5, False), (25, 5, True), (29, 9, True), (28, 9, False),
    (19, 5, False), (30, 5, False),
]


@pytest.mark.parametrize(("row", "height", "lost"), LOST)
def test_rows_that_a_lower_window_loses(row: int, height: int, lost: bool) -> None:
    assert pane(20).loses(row, height) == lost
