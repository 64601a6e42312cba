"""Sets of lanes as masks, as lists and as text."""

from __future__ import annotations

import pytest

from rocdbg.arch.lane_sets import all_lanes, format_lanes, lane_list, lane_mask, lane_ranges

SETS = [
    # mask, lanes, words
    pytest.param(0, [], "", id="none"),
    pytest.param(0x1, [0], "0", id="the first"),
    pytest.param(1 << 63, [63], "63", id="the last"),
    pytest.param(0b1110_0101, [0, 2, 5, 6, 7], "0 2 5-7", id="runs"),
    pytest.param(0xFFFF_FFFF | 1 << 40, [*range(32), 40], "0-31 40", id="half a wave and one"),
]


@pytest.mark.parametrize(("mask", "lanes", "words"), SETS)
def test_forms_of_a_set(mask: int, lanes: list[int], words: str) -> None:
    assert (lane_list(mask), lane_mask(lanes), lane_ranges(mask)) == (lanes, mask, words)


def test_all_lanes_of_a_wave() -> None:
    assert [all_lanes(count) for count in (0, 1, 32)] == [0, 1, 0xFFFF_FFFF]


@pytest.mark.parametrize(("lanes", "words"), [((5,), "lane 5"), ((0, 1, 2, 9), "lanes [0-2 9]")])
def test_lanes_in_words(lanes: tuple[int, ...], words: str) -> None:
    assert format_lanes(lanes) == words
