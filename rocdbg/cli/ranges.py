"""Lists of numbers as users type them: `3`, `0-7 12`, `2:5`, `2:*`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocdbg.debugger.digits import decimal
from rocdbg.errors import Error

ITEM = re.compile(r"(\d+)(?:-(\d+))?$")
PAIR = re.compile(r"(\d+(?:-\d+)?|\*)(?::(\d+(?:-\d+)?|\*))?$")
LIMIT = 1 << 20


class RangeError(Error):
    """A list of numbers that cannot be read."""


def parse_ranges(words: list[str]) -> list[int]:
    """The numbers of items such as ``3`` and ``0-7``, in the order given, each once. Raises `RangeError`."""
    found: dict[int, None] = {}
    for word in words:
        match = ITEM.match(word)
        if match is None:
            raise RangeError(f"Invalid number or range: {word}")
        low = decimal(match.group(1))
        high = decimal(match.group(2)) if match.group(2) else low
        if high < low:
            raise RangeError("inverted range")
        if len(found) + high - low > LIMIT:
            raise RangeError(f"range {word} is too long")
        found.update(dict.fromkeys(range(low, high + 1)))
    return list(found)


def takes_ranges(words: list[str]) -> tuple[list[str], list[str]]:
    """Split words into the leading items of a list of numbers and the rest."""
    count = 0
    while count < len(words) and ITEM.match(words[count]):
        count += 1
    return words[:count], words[count:]


@dataclass(frozen=True, slots=True)
class ThreadSpec:
    """``T`` or ``T:L``, each a number, a range or ``*``; ``lanes`` is None when no lane is named."""

    threads: str
    lanes: str | None

    def picks_thread(self, number: int) -> bool:
        """Whether a thread is meant."""
        return self.threads == "*" or number in parse_ranges([self.threads])

    def picks_lane(self, number: int) -> bool:
        """Whether a lane is meant."""
        return self.lanes in (None, "*") or number in parse_ranges([self.lanes or ""])


def parse_thread_spec(word: str) -> ThreadSpec:
    """``2``, ``1-3``, ``2:5``, ``2:*``, ``*:0-3``. Raises `RangeError`."""
    match = PAIR.match(word)
    if match is None:
        raise RangeError(f"Invalid thread ID: {word}")
    return ThreadSpec(match.group(1), match.group(2))


def is_thread_spec(word: str) -> bool:
    """Whether a word reads as a thread list's item."""
    return PAIR.match(word) is not None
