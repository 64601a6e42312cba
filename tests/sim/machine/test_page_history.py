"""Versions of memory compared with whole copies: any order of storing, restoring, forgetting and adding."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rocdbg.sim.device.page_history import Bytes, PageHistory, cut


def kept(history: PageHistory) -> list[Bytes]:
    return [page.copy() for page in history.pages]


@pytest.mark.parametrize("seed", range(12))
def test_each_version_is_what_it_was(seed: int) -> None:
    rng = random.Random(seed)
    memory = [np.full(rng.choice((100, 5000, 1 << 16, (1 << 20) + 777)), rng.choice((0, 3)), np.uint8) for _ in "1234"]
    pages = [page for each in memory for page in cut(each)]
    history = PageHistory(pages, [page.copy() if rng.random() < 0.5 else None for page in pages])
    versions = [kept(history)]
    for _ in range(40):
        move = rng.random()
        if move < 0.45:
            history.restore(history.current)
            for _ in range(rng.randrange(6)):
                page, size = rng.choice(history.pages), rng.choice((1, 10, 9000))
                at = rng.randrange(page.size)
                page[at : at + size] = rng.randrange(256)
            history.keep()
            versions.insert(history.current, kept(history))
        elif move < 0.7:
            history.restore(rng.randrange(history.versions))
        elif move < 0.9:
            candidates = [version for version in range(1, history.versions) if version != history.current]
            if candidates:
                gone = rng.choice(candidates)
                history.forget(gone)
                del versions[gone]
        elif move < 0.94:
            last = rng.randrange(history.current, history.versions)
            history.cut_off(last)
            del versions[last + 1 :]
        else:
            more = np.full(rng.choice((50_000, 300)), rng.choice((0, 7)), np.uint8)
            history.restore(history.current)
            history.add([more], [None])
            for version in versions:
                version.append(more.copy())
    assert history.versions == len(versions)
    for number, version in enumerate(versions):
        history.restore(number)
        assert all(np.array_equal(now, then) for now, then in zip(history.pages, version, strict=True))


def test_what_a_buffer_held_at_first_is_kept_once() -> None:
    """There is one copy of the written memory, and the rest is stored for the version in between."""
    page = np.zeros(1 << 20, np.uint8)
    history = PageHistory([page], [np.zeros(1 << 20, np.uint8)])
    for value, sizes in ((1, (1 << 20, 0)), (2, (1 << 20, 1 << 20))):
        page[:] = value
        history.keep()
        assert (history.copied, history.kept) == sizes
    history.forget(1)
    assert (history.copied, history.kept) == (1 << 20, 0)
    history.restore(0)
    assert (history.copied, history.kept) == (0, 1 << 20) and not page.any()
