"""The value history: ``$1``, ``$``, ``$$``, ``$$3``."""

from __future__ import annotations

from msgspec.structs import replace

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.values.c_types import is_void
from rocdbg.debugger.values.value import Value


class ValueHistory:
    """Values that were printed, numbered from 1."""

    def __init__(self) -> None:
        self._values: list[Value] = []

    def __len__(self) -> int:
        return len(self._values)

    def record(self, value: Value) -> int:
        """Add a value as it is now; return its number."""
        kept = value if is_void(value.type) else value.snapshot()
        self._values.append(replace(kept, recovered=False) if kept.recovered else kept)
        return len(self._values)

    def get(self, number: int) -> Value:
        """Return ``$number``. Raises `ExpressionError` if there is none."""
        if 1 <= number <= len(self._values):
            return self._values[number - 1]
        raise ExpressionError(f"History has not yet reached ${number}.")

    def latest(self) -> Value:
        """Return the last value, for commands without an argument. Raises `ExpressionError` if there is none."""
        if not self._values:
            raise ExpressionError("The history is empty.")
        return self._values[-1]

    def relative(self, back: int) -> Value:
        """Return the value ``back`` steps back: 0 for ``$``, 1 for ``$$``, n for ``$$n``.

        Raises `ExpressionError` if there is none.
        """
        if back == 0:
            return self.latest()
        number = len(self._values) - back
        if number < 1:
            raise ExpressionError(f"History does not go back to $${back}.")
        return self._values[number - 1]

    def rows(self, first: int, count: int) -> list[tuple[int, Value]]:
        """Return at most ``count`` values from number ``first`` on, for ``show values``."""
        last = len(self._values)
        return [(n, self._values[n - 1]) for n in range(first, min(first + count, last + 1))]
