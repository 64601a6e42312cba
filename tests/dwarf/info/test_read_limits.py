"""The limit on reading a section through tables and lists that overlap or are shared."""

from __future__ import annotations

import pytest

from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.read_limits import ReadLimit
from rocdbg.dwarf.info.sections import Sections

SLACK = 1 << 14
# (offset, key, size) of the parts, times, bytes of the section; how many are read
READS: list[tuple[list[tuple[int, int | None, int]], int, int, int]] = [
    ([(0, None, 40_000)], 4, 10_000, 1),
    ([(0, None, 40_000), (1, None, SLACK), (2, None, 1)], 4, 10_000, 2),
    ([(0, None, 40_000), (0, None, 40_000), (0, None, 40_000)], 4, 10_000, 3),  # the same part
    ([(0, 7, 10_000), (0, 8, 10_000), (0, 9, 10_000)], 1, 10_000, 2),  # one list for three entries
    ([(0, 7, 10_000), (0, 7, 10_000)], 1, 0, 2),
]


@pytest.mark.parametrize(("parts", "times", "available", "read"), READS)
def test_parts_up_to_the_limit(parts: list[tuple[int, int | None, int]], times: int, available: int, read: int) -> None:
    limit, done = ReadLimit(times, "too much"), 0
    for offset, key, size in parts:
        try:
            limit.check(".debug_x", offset, key)
            limit.count(".debug_x", offset, size, available, key)
        except DebugInfoError as error:
            assert error.reason == "too much"
            break
        done += 1
    assert done == read
    limit.check(".debug_y", 0)  # another section
    for offset, key, _ in parts[:done]:
        limit.check(".debug_x", offset, key)  # what was read before may be read again


def test_each_file_has_limits_of_its_own() -> None:
    """A program may have hundreds of split objects, whose sections have the same names."""
    for _ in range(100):
        sections = Sections({".debug_loclists": bytes(20_000)})
        sections.lists.count(".debug_loclists", 0, 20_000, 20_000, 1)
