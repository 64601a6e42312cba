"""Layouts: their notation, and that windows share a terminal of any size without gap or overlap."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocdbg.cli.screen.window_layout import PREDEFINED, LayoutError, arrange, parse_layout, windows
from tests.breadth import EVERYTHING

PARSED = [
    ("src 2 status 0 cmd 1", "{src 2 status 0 cmd 1}"),
    ("{-horizontal src 1 asm 1} 2 status 0 cmd 1", "{{-horizontal src 1 asm 1} 2 status 0 cmd 1}"),
    ("-horizontal {src 1 cmd 1} 1 lanes 1", "{-horizontal {src 1 cmd 1} 1 lanes 1}"),
    ("{" * 20 + "cmd 1" + "} 1" * 20, "{" * 21 + "cmd 1" + "} 1" * 20 + "}"),
]
REFUSED = [
    # GDB 13's words for the first four
    ("", "New layout does not contain any windows"),
    ("src 1", 'New layout does not contain the "cmd" window'),
    ("foo 1 cmd 1", 'Unknown window "foo"'),
    ("src 1 src 1 cmd 1", 'Window "src" seen twice in layout'),
    ("src cmd 1", 'Missing or bad weight of "src": a number must follow it'),
    ("src -1 cmd 1", 'Missing or bad weight of "src": a number must follow it'),
    ("{src 1", "Missing '}' in layout specification"),
    ("src 1 } cmd 1", "Extra '}' in layout specification"),
    ("{" * 5000 + "cmd 1", "Layout specification is too deep or too long"),
    ("{" * 21 + "cmd 1" + " } 1" * 21, "Layout specification is too deep or too long"),
]


@pytest.mark.parametrize(("text", "layout"), PARSED)
def test_parsing(text: str, layout: str) -> None:
    assert str(parse_layout(text)) == layout


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused(text: str, message: str) -> None:
    with pytest.raises(LayoutError) as error:
        parse_layout(text)
    assert str(error.value) == message


SPLIT = "{-horizontal src 13 {lanes 5 locals 5 waves 3} 11} 5 status 0 cmd 2"
ARRANGED = [
    # layout, size, wanted, window -> x, y, width, height
    ("src 2 status 0 cmd 1", (80, 24), {}, {"src": (0, 0, 80, 16), "status": (0, 16, 80, 1), "cmd": (0, 17, 80, 7)}),
    ("src 2 status 0 cmd 1", (80, 24), {("src", False): 10},
     {"src": (0, 0, 80, 10), "status": (0, 10, 80, 1), "cmd": (0, 11, 80, 13)}),
    ("src 2 status 0 cmd 1", (80, 3), {}, {"cmd": (0, 0, 80, 3)}),
    ("src 2 status 0 cmd 1", (80, 2), {}, {"cmd": (0, 0, 80, 2)}),
    ("src 2 status 0 cmd 1", (80, 24), {("src", False): 24}, {"src": (0, 0, 80, 21), "status": (0, 21, 80, 1),
                                                              "cmd": (0, 22, 80, 2)}),
    ("{-horizontal src 1 asm 1} 2 cmd 1", (81, 9), {}, {"src": (0, 0, 40, 6), "asm": (41, 0, 40, 6),
                                                       "cmd": (0, 6, 81, 3)}),
]


@pytest.mark.parametrize(("text", "size", "wanted", "expected"), ARRANGED)
def test_rectangles(text: str, size: tuple[int, int], wanted: dict[tuple[str, bool], int],
                    expected: dict[str, tuple[int, int, int, int]]) -> None:
    found = arrange(parse_layout(text), *size, wanted)
    assert {name: (rect.x, rect.y, rect.width, rect.height) for name, rect in found.items()} == expected


@settings(max_examples=300 if EVERYTHING else 60)
@given(
    st.sampled_from([*PREDEFINED.values(), SPLIT]), st.integers(1, 300), st.integers(1, 100),
    st.dictionaries(st.tuples(st.sampled_from(["src", "lanes", "cmd", "regs"]), st.booleans()), st.integers(1, 200)),
)
def test_windows_share_the_terminal(text: str, width: int, height: int, wanted: dict[tuple[str, bool], int]) -> None:
    layout = parse_layout(text)
    found = arrange(layout, width, height, wanted)
    assert "cmd" in found and set(found) <= set(windows(layout))
    borders = {0, height} | {edge for rect in found.values() for edge in (rect.y, rect.y + rect.height)}
    for y in sorted(borders)[:-1]:
        row = sorted((rect.x, rect.width) for rect in found.values() if rect.y <= y < rect.y + rect.height)
        at = 0
        for n, (x, columns) in enumerate(row):
            assert x == at + bool(n) and columns > 0, "a line is between neighbours"
            at = x + columns
        assert at == width and 0 <= y < height
