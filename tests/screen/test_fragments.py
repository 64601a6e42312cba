"""Text in terminal columns: wide characters take two, combining characters none."""

from __future__ import annotations

from typing import cast

import pytest

from rocdbg.cli.screen.command_pane import CommandPane
from rocdbg.cli.screen.fragments import columns, expanded, padded, plain, shortened_name, title_of
from rocdbg.cli.screen.locals_pane import filled, fitting
from rocdbg.cli.screen.session_view import View

LONG = "beginning_" + "x" * 90 + "_end.cpp"


@pytest.mark.parametrize(("text", "width", "shown"), [
    ("a.hip", 10, "a.hip"),
    (LONG, 20, "beginnin...x_end.cpp"),
    (LONG, 7, "be...pp"),
    (LONG, 6, "beginn"),
    ("漢字漢字漢字漢字", 11, "漢字...漢字"),
    ("漢字", 4, "漢字"),
    ("漢字", 3, "漢"),
])
def test_names_keep_their_ends(text: str, width: int, shown: str) -> None:
    assert shortened_name(text, width) == shown
    assert columns(shown) <= width


def test_blanks_fill_columns_not_characters() -> None:
    assert padded("变量", 7) == "变量   "
    assert padded("e\u0301", 3) == "e\u0301  "
    assert padded("longer", 3) == "longer"


@pytest.mark.parametrize(("text", "at", "shown"), [
    ("a\tb", 0, "a       b"),
    ("\tx\ty", 0, "        x       y"),
    ("变量\tb", 0, "变量    b"),
    ("\tcode", 2, "      code"),
    ("no tabs", 5, "no tabs"),
])
def test_tabs_go_to_multiples_of_eight(text: str, at: int, shown: str) -> None:
    assert expanded(text, 8, at) == shown


@pytest.mark.parametrize(("width", "shown"), [
    (80, "file.hip  3 of 64 lanes at line 7: 0 5 9-11"),
    (40, "file.hip  3 of 64 lanes at line 7: 0 ..."),
    (36, "file.hip  3 of 64 lanes at line 7"),
    (20, "file.hip  3 of 64..."),
])
def test_titles_leave_out_what_comes_last(width: int, shown: str) -> None:
    parts = [("", "file.hip"), ("", "  3 of 64 lanes at line 7"), ("", ": 0 5 9-11")]
    assert plain(title_of(parts, width)) == shown
    assert plain(title_of([("", LONG), *parts[1:]], width)).startswith("beginnin")


def test_rows_of_the_command_window_lose_nothing() -> None:
    pane = CommandPane()
    pane.write("x漢字漢字 end\n\x1b[31m24\x1b[0m\t\x1b[32mcode\x1b[0m\n")
    rows = [plain(row) for row in pane.lines(cast(View, None), 4, 20)]  # it shows the same in every session
    assert rows == ["x漢", "字漢", "字 e", "nd", "24  ", "    ", "code"]


@pytest.mark.parametrize(("text", "shown"), [
    ("-12", "-12       "),
    ("generic#0x7f0000300000", "...300000 "),
    ("local#0x40", "...l#0x40 "),
    ('"generic#0x7f0000300000"', '"gener... '),
])
def test_pointers_keep_their_last_digits(text: str, shown: str) -> None:
    assert filled(text, 10) == shown


@pytest.mark.parametrize(("texts", "others"), [
    (["1", "2", "3"], 2),
    (["1031181722", "2", "3"], 1),
    (["-1.5e+10", "2", "3"], 2),
    (["generic#0x7f0000300000"] * 3, 2),
    (["123456789012345678901234567890", "2", "3"], 1),
])
def test_fewer_lanes_rather_than_parts_of_numbers(texts: list[str], others: int) -> None:
    assert fitting([("x", texts)], 30, 2) == others
