"""The capability to evaluate compiled conditions for a wave where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rocdbg.sim.core.checks import Answers, Table


class Deciding(Protocol):
    """A target that can do it."""

    def decide(self, thread: int, tables: Sequence[Table], lanes: int) -> list[Answers] | None:
        """The answers of tables for a wave and some of its lanes; ``None`` if there are none for this wave. Raises
        `work.Stopped`.
        """


def deciding_of(target: object) -> Deciding | None:
    """The capability of a target; only devices have it."""
    return target if hasattr(target, "decide") else None


__all__ = ["Deciding", "deciding_of"]
