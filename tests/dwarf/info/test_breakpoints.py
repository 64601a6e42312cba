"""Breakpoint addresses, by GDB's rules."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from rocdbg.dwarf.info import DebugInfo
from rocdbg.dwarf.info.model import LineRow, SourceFile
from rocdbg.dwarf.info.prologue_end import after_prologue

FILE = SourceFile("f.c", "/src", "/src/f.c")


def row(address: int, line: int, *, is_stmt: bool = True, prologue_end: bool = False) -> LineRow:
    return LineRow(address, address + 4, FILE, line, is_stmt=is_stmt, prologue_end=prologue_end)


PROLOGUES = [
    pytest.param([row(0, 5), row(8, 6), row(16, 7)], 0, 8, id="second line"),
    pytest.param([row(0, 5), row(4, 5), row(8, 6, prologue_end=True)], 0, 8, id="marker wins"),
    pytest.param([row(0, 5), row(8, 0), row(12, 6)], 0, 12, id="line 0 is no line"),
    pytest.param([row(0, 5), row(8, 6, is_stmt=False), row(12, 7)], 0, 12, id="no statement start"),
    pytest.param([row(0, 5), row(0, 6), row(8, 7)], 0, 8, id="two rows at the entry"),
    pytest.param([row(0, 5)], 0, 0, id="one line only"),
    pytest.param([], 0, 0, id="no lines"),
    pytest.param([row(0, 5, prologue_end=True), row(16, 6), row(20, 7)], 16, 16, id="begun behind the marker"),
    pytest.param([row(0, 5), row(20, 6, prologue_end=True)], 16, 20, id="begun before the marker"),
    pytest.param([row(0, 5), row(16, 5), row(20, 6)], 16, 20, id="begun, second line"),
]


@pytest.mark.parametrize(("rows", "start", "expected"), PROLOGUES)
def test_after_prologue(rows: list[LineRow], start: int, expected: int) -> None:
    assert after_prologue(rows, 0, start) == expected


# (line requested, [(line found, function)]); the source is in sources/shapes.hip
LINES_O0 = [
    (17, [(17, "get")]),
    (1, [(17, "get")]),  # the next line of the file with code, after that function's prologue
    (35, [(36, "add")]),  # the opening brace: after the prologue
    (36, [(36, "add")]),
    (37, [(37, "add")]),
    (38, [(47, "kern<2>"), (47, "kern<3>")]),  # both instances of a template
    (50, [(51, "kern<2>"), (51, "kern<3>")]),
    (56, [(56, "kern<2>"), (56, "kern<3>")]),
    (66, [(66, "links")]),
    (68, []),  # after the last line
]


@pytest.mark.llvm
@pytest.mark.parametrize("arch", ["gfx90a", "gfx1100"])
@pytest.mark.parametrize(("line", "expected"), LINES_O0)
def test_lines_unoptimised(
    opened: Callable[..., DebugInfo], arch: str, line: int, expected: list[tuple[int, str]]
) -> None:
    info = opened("shapes.hip", "-O0", arch=arch)
    found = info.addresses_of("shapes.hip", line)
    assert [(location.line, location.function and location.function.name) for location in found] == expected
    for location in found:
        at = info.line_at(location.address)
        assert at is not None and (at.line, at.is_stmt, at.address) == (location.line, True, location.address)


@pytest.mark.llvm
@pytest.mark.parametrize(("line", "expected"), [
    (17, [(17, "get"), (17, "get")]),  # inlined into both kernels
    (49, [(49, "kern<2>"), (49, "kern<3>")]),
    (36, [(36, "add")]),
])
def test_lines_optimised(
    opened: Callable[..., DebugInfo], line: int, expected: list[tuple[int, str]]
) -> None:
    found = opened("shapes.hip", "-O2").addresses_of("/src/shapes.hip", line)
    assert [(location.line, location.function and location.function.name) for location in found] == expected


@pytest.mark.llvm
def test_functions(opened: Callable[..., DebugInfo]) -> None:
    info = opened("shapes.hip", "-O0")
    kernel, = info.functions_named("kern<2>")
    location, = info.breakpoint_locations(kernel)
    assert (location.line, location.function, location.address) == (47, kernel, info.breakpoint_address(kernel))
    rows = info.lines_of(kernel)
    assert rows[0].address == kernel.low_pc and rows[-1].end_address == kernel.high_pc
    assert all(before.end_address == after.address for before, after in pairwise(rows))
    assert next(row for row in rows if row.prologue_end).address == location.address
    optimised = opened("shapes.hip", "-O2")
    get, = optimised.functions_named("get")
    assert get.ranges == () and optimised.breakpoint_address(get) is None
    assert [(place.line, place.function) for place in optimised.breakpoint_locations(get)] == [(17, get), (17, get)]


@pytest.mark.llvm
def test_rows_of_line(opened: Callable[..., DebugInfo]) -> None:
    info = opened("shapes.hip", "-O0")
    rows = info.rows_of_line("shapes.hip", 36)
    assert rows and {row.line for row in rows} == {36}
    assert info.rows_of_line("shapes.hip", 38) == [] and info.rows_of_line("other.hip", 36) == []
    assert info.lines_with_code("shapes.hip")[:4] == [17, 35, 36, 37]
