"""The table of implemented parts of the reference texts: its tests exist, and each row has what its state requires."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec import Struct

TESTS = Path(__file__).resolve().parent
DOCUMENT = TESTS.parent / "docs" / "specification.md"
STATES = ("V", "I", "P", "M", "N/A")
NAMED = re.compile(r"`([\w./-]+\.(?:py|txt))(?:::(\w+))?`")


class Row(Struct, frozen=True):
    """A line of a table."""

    section: str
    state: str
    shown_by: str
    left: str


def read_rows(text: str) -> list[Row]:
    """The rows of all tables of a document that have these four columns, without headings."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [Row(*row) for row in cells if row[0] != "section" and set(row[0]) != {"-"}]


def faults(row: Row) -> list[str]:
    """The faults of a row, as text."""
    named = NAMED.findall(row.shown_by)
    found = [
        f"no {name} {test}".strip()
        for name, test in NAMED.findall(row.shown_by + row.left)
        if not (TESTS / name).is_file() or (test and f"def {test}(" not in (TESTS / name).read_text())
    ]
    if row.state not in STATES:
        found.append("no such state")
    if row.state in ("V", "P") and not named:
        found.append("no test")
    if row.state in ("P", "N/A") and not row.left:
        found.append("no reason")
    return found


ROWS = read_rows(DOCUMENT.read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.section)
def test_row(row: Row) -> None:
    assert faults(row) == []


def test_each_text_has_a_table() -> None:
    assert len(re.findall(r"(?m)^\| section \| state \| shown by \|", DOCUMENT.read_text())) == 5
    assert len(ROWS) > 90


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (Row("a", "V", "`test_layers.py::test_circles_are_found`", ""), []),
        (Row("a", "V", "", ""), ["no test"]),
        (Row("a", "P", "`test_layers.py`", ""), ["no reason"]),
        (Row("a", "N/A", "", ""), ["no reason"]),
        (Row("a", "M", "", ""), []),
        (Row("a", "X", "", ""), ["no such state"]),
        (Row("a", "V", "`test_nosuch.py`", ""), ["no test_nosuch.py"]),
        (Row("a", "V", "`test_layers.py::test_nosuch`", ""), ["no test_layers.py test_nosuch"]),
        (Row("a", "V", "`cli/golden/nosuch.txt`", ""), ["no cli/golden/nosuch.txt"]),
    ],
)
def test_faults_are_found(row: Row, found: list[str]) -> None:
    assert faults(row) == found
