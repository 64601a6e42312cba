"""The capability to evaluate compiled conditions for a wave at its present position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rocdbg.sim.core.checks import Answers, Table


class Deciding(Protocol):
    """A target with this capability."""

    def decide(self, thread: int, tables: Sequence[Table], lanes: int) -> list[Answers] | None:
        """Return the answers of tables for a wave and some of its lanes; ``None`` if they cannot be evaluated for this
        wave. Raises `work.Stopped`.
        """


def deciding_of(target: object) -> Deciding | None:
    """Return the capability of a target; only devices have it."""
    return target if hasattr(target, "decide") else None


__all__ = ["Deciding", "deciding_of"]
