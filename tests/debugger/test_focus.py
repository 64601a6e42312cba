"""Lanes of masks, and a focus that another session uses."""

from __future__ import annotations

import pytest

from rocdbg.arch.lane_sets import lane_list, lane_ranges
from rocdbg.debugger.base.focus import STATIC, Focus

MASKS = [
    # mask, lanes, as stops write them
    (0, [], ""),
    (0b1, [0], "0"),
    (0b11, [0, 1], "0-1"),
    (0b101, [0, 2], "0 2"),
    (0b1011, [0, 1, 3], "0-1 3"),
    (0b1101_1000, [3, 4, 6, 7], "3-4 6-7"),
    (1 << 63, [63], "63"),
    (0x100_FFFF_FFFF, [*range(32), 40], "0-31 40"),
    (0xFFFF_FFFF_FFFF_FFFF, list(range(64)), "0-63"),
    (0x5, [0, 2], "0 2"),
]


@pytest.mark.parametrize(("mask", "lanes", "text"), MASKS)
def test_lanes_of_a_mask(mask: int, lanes: list[int], text: str) -> None:
    assert lane_list(mask) == lanes
    assert lane_ranges(mask) == text


FOCUSES = [
    # unchanged, taken to lane 7, taken to frame 3
    (Focus(2, 5, 1, 4), Focus(2, 7, 1, 4), Focus(2, 5, 3, 4)),
    (Focus(2, 7), Focus(2, 7), Focus(2, 7, 3)),
    (Focus(1, 0, 3), Focus(1, 7, 3), Focus(1, 0, 3)),
]


@pytest.mark.parametrize(("focus", "lane", "frame"), FOCUSES)
def test_taken_elsewhere_the_rest_stays(focus: Focus, lane: Focus, frame: Focus) -> None:
    assert focus.with_lane(7) == lane
    assert focus.with_frame(3) == frame


def test_only_a_wave_runs() -> None:
    assert [STATIC.running, Focus(1, 0).running, Focus(1).running] == [False, True, True]
