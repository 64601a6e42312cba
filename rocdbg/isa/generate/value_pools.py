"""Numbers for values that occur repeatedly in a table."""

from __future__ import annotations

import json
from typing import Any


class Pool:
    """Distinct values by number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value, which is added if it is new."""
        key = json.dumps(value)
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]
