"""Lists of numbers as users type them: `3`, `0-7 12`, `2:5`, `2:*`."""

from __future__ import annotations

import re

from msgspec import Struct

from rocdbg.debugger.base.digits import decimal
from rocdbg.errors import Error

ITEM = re.compile(r"(\d+)(?:-(\d+))?$")
PAIR = re.compile(r"(?:1\.)?(\d+(?:-\d+)?|\*)(?::(\d+(?:-\d+)?|\*))?$")  # 1. is the inferior
LIMIT = 1 << 20


class RangeError(Error):
    """A list of numbers has invalid syntax."""


def parse_ranges(words: list[str]) -> list[int]:
    """Return the numbers of items such as ``3`` and ``0-7``, in the order given, without repetitions.

    Raises `RangeError`.
    """
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


class NumberList(Struct, frozen=True):
    """Numbers and ranges: the text as typed, and its meaning."""

    text: str
    numbers: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> NumberList:
        """``3 0-7``. Raises `RangeError`."""
        words = text.split()
        return cls(" ".join(words), tuple(parse_ranges(words)))


class ThreadSpec(Struct, frozen=True):
    """``T`` or ``T:L``, each a number, a range or ``*``; ``lanes`` is None if no lane is given."""

    threads: str
    lanes: str | None

    def picks_thread(self, number: int) -> bool:
        """Whether the item includes a thread."""
        return self.threads == "*" or number in parse_ranges([self.threads])

    def picks_lane(self, number: int) -> bool:
        """Whether the item includes a lane."""
        return self.lanes in (None, "*") or number in parse_ranges([self.lanes or ""])


class ThreadList(Struct, frozen=True):
    """Threads, and lanes of threads: the text as typed, and its meaning."""

    text: str
    specs: tuple[ThreadSpec, ...]

    @classmethod
    def parse(cls, text: str) -> ThreadList:
        """``1-3 2:5``, or ``all``. Raises `RangeError`."""
        words = text.split()
        return cls(text, tuple(parse_thread_spec("*" if word == "all" else word) for word in words))

    def of_thread(self, number: int) -> list[ThreadSpec]:
        """Return the items that select a thread, or lanes of it."""
        return [spec for spec in self.specs if spec.picks_thread(number)]


def parse_thread_spec(word: str) -> ThreadSpec:
    """``2``, ``1-3``, ``2:5``, ``2:*``, ``*:0-3``. Raises `RangeError`."""
    match = PAIR.match(word)
    if match is None:
        raise RangeError(f"Invalid thread ID: {word}")
    return ThreadSpec(match.group(1), match.group(2))


def is_thread_spec(word: str) -> bool:
    """Whether a word has the syntax of an item in a list of threads."""
    return PAIR.match(word) is not None
