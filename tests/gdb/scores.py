"""The number of equal answers by area, as a table for the report. Tests use the pairs (`differences.py`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.gdb.compare import Pair

Scores = dict[str, tuple[int, int]]
"""By area: equal answers, all answers."""


def score(pairs: Iterable[Pair]) -> Scores:
    """The scores of the pairs, with areas in alphabetical order."""
    total: Counter[str] = Counter()
    equal: Counter[str] = Counter()
    for pair in pairs:
        total[pair.area] += 1
        equal[pair.area] += pair.equal
    return {area: (equal[area], total[area]) for area in sorted(total)}


def table(scores: Scores) -> str:
    """``AREA: EQUAL/TOTAL``, a line for each area."""
    return "".join(f"{area}: {equal}/{total}\n" for area, (equal, total) in scores.items())
