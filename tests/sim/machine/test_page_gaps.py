"""Free runs of pages, compared with a search of all pages."""

from __future__ import annotations

import random

import pytest

from rocdbg.sim.core.page_gaps import PageGaps

END = 700


def lowest(free: set[int], count: int, align: int) -> int | None:
    for page in range(-(-1 // align) * align, END, align):
        if all(at in free for at in range(page, page + count)):
            return page
    return None


@pytest.mark.parametrize("seed", range(4))
def test_the_lowest_that_fit_are_given(seed: int) -> None:
    random_ = random.Random(seed)
    gaps, free = PageGaps(1, END), set(range(1, END))
    taken: list[tuple[int, int]] = []
    for _ in range(400):
        if taken and random_.random() < 0.45:
            page, count = taken.pop(random_.randrange(len(taken)))
            gaps.give(page, count)
            free |= set(range(page, page + count))
            continue
        count = random_.choice((1, 2, 2, 2, 3, random_.randrange(1, 40), random_.randrange(60, 200)))
        align = random_.choice((1, 1, 1, 2, 8))
        page = gaps.take(count, align)
        assert page == lowest(free, count, align)
        if page is not None:
            free -= set(range(page, page + count))
            taken.append((page, count))
    for page, count in taken:
        gaps.give(page, count)
    assert gaps.take(END - 1) == 1
