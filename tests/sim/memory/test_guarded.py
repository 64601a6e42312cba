"""Blocks between guard pages: their places, that they are zero and are reused, and their maximum number."""

from __future__ import annotations

import ctypes
import gc
import itertools
import mmap
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rocdbg.sim.core import guarded as module
from rocdbg.sim.core.guarded import ALIGN, guarded, guarded_rows

PAGE = mmap.PAGESIZE


def forbidden(low: int, high: int) -> bool:
    """Whether a whole page between two host addresses cannot be touched."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end, rights = re.match(r"(\w+)-(\w+) (....)", line).groups()
        if rights.startswith("---") and int(start, 16) < high and int(end, 16) > low:
            first = max(int(start, 16), low)
            if min(int(end, 16), high) - first >= PAGE:
                return True
    return False


@pytest.mark.parametrize("size", [1, 63, 64, 100, 4095, 4096, 4097, 66560, 1 << 20, (4 << 20) + 5])
def test_a_block_lies_between_guard_pages(size: int) -> None:
    block = guarded(size)
    start = int(block.ctypes.data)
    assert block.shape == (size,) and block.dtype == np.uint8 and not block.any() and start % ALIGN == 0
    assert forbidden(start - 2 * PAGE, start)
    assert (start + size + ALIGN - 1) // ALIGN * ALIGN % PAGE == 0 and forbidden(start + size, start + size + 2 * PAGE)
    block[:] = 255
    assert ctypes.string_at(start + size, -size % ALIGN) == bytes(-size % ALIGN)


@pytest.mark.parametrize(("rows", "size"), [(2, 64), (3, 100), (8, 4096), (16, 66560), (128, 33792), (5, 132096)])
def test_each_of_many_blocks_lies_between_guard_pages(rows: int, size: int) -> None:
    blocks = guarded_rows(rows, size)
    starts = [int(block.ctypes.data) for block in blocks]
    assert blocks.shape == (rows, size) and all(start % ALIGN == 0 for start in starts)
    assert {b - a for a, b in itertools.pairwise(starts)} == {blocks.strides[0]}
    for start in starts:
        assert forbidden(start - 3 * PAGE, start) and forbidden(start + size, start + size + 2 * PAGE)
    blocks[:] = 255
    assert blocks.all()


@pytest.mark.parametrize(
    ("rows", "size", "sparse"),
    [(1, 100, False), (1, 2 << 20, False), (4, 5000, False), (32, 66560, False), (1, 8 << 20, True)],
)
def test_blocks_are_zero_when_used_again(rows: int, size: int, sparse: bool) -> None:
    module._keep_none()  # of other tests
    first = guarded_rows(rows, size, sparse=sparse)
    at = first.ctypes.data
    first[:] = 1
    part = first[0, 3:5]
    del first
    other = guarded_rows(rows, size, sparse=sparse)
    assert other.ctypes.data != at and part.all()  # the first is still in use
    del part, other
    again = [guarded_rows(rows, size, sparse=sparse) for _ in range(2)]
    assert at in [int(a.ctypes.data) for a in again] and not any(a.any() for a in again)


def test_what_is_said_to_be_used_is_cleared() -> None:
    parts = ((0, 100), (6000, 6500))
    for _ in range(3):
        blocks = guarded_rows(3, 7000, parts)
        assert not blocks.any()
        for low, high in parts:
            blocks[:, low:high] = 9
        del blocks


@pytest.fixture
def few_objects() -> None:
    """Garbage collections examine only objects that the test makes, not those that other tests have left."""
    gc.collect()
    gc.freeze()


@pytest.mark.usefixtures("few_objects")
def test_very_many_blocks() -> None:
    """A process has no more than 65,530 mappings by default."""
    before = module._guards
    blocks = [guarded(10) for _ in range(20_000)]
    assert module._guards <= module.MOST_GUARDS
    for n, block in enumerate(blocks):
        block[:] = n & 0xFF
    assert all((block == n & 0xFF).all() for n, block in enumerate(blocks))
    assert int(blocks[-1].ctypes.data) % ALIGN == 0
    del blocks, block
    module._keep_none()
    assert module._guards <= before
    block = guarded(10)
    assert forbidden(int(block.ctypes.data) - 2 * PAGE, int(block.ctypes.data))


IN_CYCLES = """
import gc
from rocdbg.sim.core import guarded

gc.disable()  # Python's own collector does not come to blocks while few other objects are made
for _ in range(2 * guarded.MOST_GUARDS):
    held = [guarded.guarded(10)]
    held.append(held)
print(guarded._guards < guarded.MOST_GUARDS, len(guarded._shown) < guarded.MOST_GUARDS)
"""


def test_blocks_in_cycles_do_not_use_up_the_guards() -> None:
    """For example, from launches that were not ended. Runs in its own process, because blocks of other tests have
    guards too.
    """
    done = subprocess.run([sys.executable, "-c", IN_CYCLES], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


IN_CYCLES_OF_LARGE_BLOCKS = """
import gc, resource
from pathlib import Path
from rocdbg.sim.core import guarded

used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20),) * 2)
gc.disable()
for _ in range(20):
    held = [guarded.guarded(64 << 20, sparse=True)]
    held.append(held)
print("done")
"""


def test_blocks_in_cycles_do_not_use_up_the_addresses() -> None:
    done = subprocess.run([sys.executable, "-c", IN_CYCLES_OF_LARGE_BLOCKS], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr


def test_blocks_may_go_at_the_end_of_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finaliser written in Python could not even be called there, for example when garbage is collected."""
    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # sessions that nest deeply have raised it

    def descend(depth: int, blocks: list[NDArray[np.uint8]]) -> None:
        if depth:
            descend(depth - 1, blocks)
        else:
            blocks.clear()

    try:
        with pytest.raises(RecursionError):
            for depth in itertools.count(sys.getrecursionlimit() // 2):
                descend(depth, [guarded(100)])
    finally:
        sys.setrecursionlimit(before)
    assert said == []


def test_too_much_is_a_memory_error() -> None:
    for size in (1 << 62, (1 << 63) - 1, 1 << 70):
        with pytest.raises(MemoryError):
            guarded(size)


@pytest.mark.usefixtures("few_objects")
def test_kept_blocks_leave_most_guards_to_others() -> None:
    """This holds for blocks of any size."""
    blocks = [guarded(10 + n % 7) for n in range(module.MOST_GUARDS // 2)]
    del blocks
    module._take_back()
    assert 0 < module._kept_guards <= module._KEPT_GUARDS == module.MOST_GUARDS // 8
    assert sum(mapping.rows + 1 for kept in module._kept.values() for mapping in kept) == module._kept_guards
