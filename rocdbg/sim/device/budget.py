"""Counts the instructions that one run of a dispatch may still execute."""

from __future__ import annotations


class Budget:
    """Wave-instructions left in one call of ``run``."""

    def __init__(self, total: int | None) -> None:
        self._left = total

    @property
    def exhausted(self) -> bool:
        """Whether no instructions are left; false if there is no limit."""
        return self._left is not None and self._left <= 0

    def share(self, most: int) -> int:
        """How many instructions the next turn may use."""
        return most if self._left is None else min(most, self._left)

    def spend(self, count: int) -> None:
        """Subtract instructions that were executed."""
        if self._left is not None:
            self._left -= count
