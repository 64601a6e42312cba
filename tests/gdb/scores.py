"""How many answers are equal: ``scores.txt`` has a line ``SESSION, AREA: EQUAL/TOTAL`` for each area of each session.

What differs on purpose does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.gdb.build import HERE
from tests.gdb.compare import Pair

FILE = HERE / "scores.txt"
Scores = dict[str, tuple[int, int]]
"""By area: equal answers, all answers."""


def score(pairs: Iterable[Pair]) -> Scores:
    """The scores of the pairs, areas in alphabetical order."""
    total: Counter[str] = Counter()
    equal: Counter[str] = Counter()
    for pair in pairs:
        if not pair.reason:
            total[pair.area] += 1
            equal[pair.area] += pair.equal
    return {area: (equal[area], total[area]) for area in sorted(total)}


def read_scores() -> dict[str, Scores]:
    """The recorded scores by session."""
    found: dict[str, Scores] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        place, _, numbers = line.rpartition(": ")
        name, _, area = place.partition(", ")
        equal, _, total = numbers.partition("/")
        found.setdefault(name, {})[area] = int(equal), int(total)
    return found


def write_scores(name: str, scores: Scores) -> None:
    """Record those of one session."""
    every = {**read_scores(), name: scores}
    rows = [
        f"{each}, {area}: {equal}/{total}\n" for each in sorted(every) for area, (equal, total) in every[each].items()
    ]
    FILE.write_text("".join(rows), encoding="utf-8")


def table(scores: Scores) -> str:
    """``AREA: EQUAL/TOTAL``, a line for each area."""
    return "".join(f"{area}: {equal}/{total}\n" for area, (equal, total) in scores.items())
