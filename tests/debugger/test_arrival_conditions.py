"""The conditions of one arrival: those that compiled code evaluates together, and those evaluated one by one, in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from rocdbg.debugger.running.arrival_conditions import ArrivalConditions, Asked


class Session:
    """Conditions are texts: ``n`` is compiled, ``u`` compiled but undecided, ``e`` has an effect, ``p`` is plain."""

    def __init__(self, least: int = 1) -> None:
        self.done: list[object] = []
        self.conditions = ArrivalConditions(
            self._evaluate, lambda text, lanes: text[0] == "e", lambda text: text[0] in "nu", lambda n: n >= least,
            self._answers,
        )

    def _evaluate(self, text: str, lanes: int) -> int:
        self.done.append(text)
        return lanes & 1

    def _answers(self, asked: Sequence[Asked]) -> Mapping[Asked, int]:
        self.done.append([text for text, _ in asked])
        return {(text, lanes): lanes & 1 for text, lanes in asked if text[0] == "n"}


@pytest.mark.parametrize(
    ("texts", "least", "done"),
    [
        ("n1 n2 n3", 1, [["n1", "n2", "n3"]]),
        ("n1 n2 n3", 4, ["n1", "n2", "n3"]),
        ("n1 p1 n2 p1 p2", 1, [["n1", "n2"], "p1", "p2"]),
        ("p1 p1 n1 n1", 1, ["p1", ["n1", "n1"]]),
        ("n1 u1 n2 u1", 1, [["n1", "u1", "n2", "u1"], "u1"]),
        ("n1 n2 e1 n3 n4", 1, [["n1", "n2"], "e1", ["n3", "n4"]]),
        ("e1 e1 p1 e1 p1", 1, ["e1", "e1", "p1", "e1", "p1"]),
        ("n1 e1 n1 e1 n1", 1, [["n1"], "e1", "n1", "e1", "n1"]),
    ],
)
def test_what_is_evaluated(texts: str, least: int, done: list[object]) -> None:
    session = Session(least)
    session.conditions.expect((text, 7) for text in texts.split())
    assert [session.conditions(text, 7) for text in texts.split()] == [1] * len(texts.split())
    assert session.done == done


def test_other_lanes_are_another_condition() -> None:
    session = Session()
    session.conditions.expect([("n1", 7), ("n1", 6)])
    assert (session.conditions("n1", 7), session.conditions("n1", 6), session.conditions("n1", 4)) == (1, 0, 0)
    assert session.done == [["n1", "n1"], "n1"]
