"""The patterns of `pcode.deviations` match the instructions for which they were written, and no others."""

from __future__ import annotations

from tests.sim.pcode.deviating_names import FILE, rows


def test_patterns_match_their_own_instructions() -> None:
    assert FILE.read_text(encoding="utf-8") == rows(), "python -m tests.sim.pcode.deviating_names"


def test_every_pattern_matches_something() -> None:
    empty = [part.splitlines()[0] for part in rows().split("\n\n") if len(part.splitlines()) < 2]
    assert empty == []
