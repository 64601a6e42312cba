"""The conditions of the breakpoints that a wave has arrived at, evaluated in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

Asked = tuple[str, int]
"""A condition, and the lanes for which it is evaluated."""


class ArrivalConditions:
    """Evaluates the conditions for one arrival, each condition once.

    ``evaluate`` returns those of the given lanes for which a condition holds, as a mask, or raises a `rocdbg.Error`.
    ``has_effect``: whether evaluating a condition may change the results of others. ``compiled``: whether there is
    compiled code for it. ``answers_well``: whether this code is faster for a number of conditions. ``answers`` runs the
    code, and returns its results.
    """

    def __init__(
        self,
        evaluate: Callable[[str, int], int],
        has_effect: Callable[[str, int], bool],
        compiled: Callable[[str], bool] = lambda text: False,
        answers_well: Callable[[int], bool] = lambda count: False,
        answers: Callable[[Sequence[Asked]], Mapping[Asked, int]] = lambda asked: {},
    ) -> None:
        self._evaluate, self._has_effect = evaluate, has_effect
        self._compiled, self._answers_well, self._answers = compiled, answers_well, answers
        self._known: dict[Asked, int] = {}
        self._ahead: dict[Asked, list[Asked]] = {}
        """For each compiled condition that will be evaluated, all those that may be evaluated together with it."""

    def expect(self, conditions: Iterable[Asked]) -> None:
        """Declare which conditions will be evaluated, in order. Compiled ones are evaluated together, up to the next
        condition whose evaluation may change something.
        """
        together: list[Asked] = []
        for text, lanes in conditions:
            if self._compiled(text):
                together.append((text, lanes))
                self._ahead.setdefault((text, lanes), together)
            elif self._has_effect(text, lanes):
                together = []

    def __call__(self, text: str, lanes: int) -> int:
        """Return the lanes for which a condition holds."""
        asked = text, lanes
        if asked not in self._known:
            together = self._ahead.pop(asked, [])
            if together and self._answers_well(len(together)):
                self._known.update(self._answers(together))
                together.clear()
        if asked not in self._known:
            held = self._evaluate(text, lanes)
            if self._has_effect(text, lanes):
                self._known.clear()
                return held
            self._known[asked] = held
        return self._known[asked]


__all__ = ["ArrivalConditions", "Asked"]
