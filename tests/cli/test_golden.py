"""Whole sessions compared with golden texts; conftest.py describes their form and how to write them again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parent / "golden").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_session(path: Path, run_golden: Callable[[str], str]) -> None:
    expected = path.read_text(encoding="utf-8")
    got = run_golden(expected)
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        path.write_text(got, encoding="utf-8")
    assert got == expected


def test_there_are_golden_sessions() -> None:
    assert len(FILES) > 15
