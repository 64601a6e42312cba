"""Searches memory for byte patterns: ``find``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from rocdbg import work
from rocdbg.debugger.values.value_storage import Address, Memory
from rocdbg.errors import Error

CHUNK = 16000
"""How many bytes are read at once: the same number as in GDB, whose warning mentions it."""


class SearchSpace(Struct, frozen=True):
    """Where to search: the first byte, and the number of bytes."""

    start: Address
    size: int


def matches(memory: Memory, space: SearchSpace, pattern: bytes, warn: Callable[[str], None]) -> Iterator[int]:
    """Yield the addresses where the pattern begins, in order; occurrences may overlap.

    Where memory ends, ``warn`` is called and the search ends.
    """
    address, left = space.start.value, space.size
    kept = b""
    while len(kept) + left >= len(pattern):
        work.unit()
        more = min(left, CHUNK if kept else CHUNK + len(pattern) - 1)
        try:
            text = kept + memory.read(space.start.space, address, more)
        except Error:
            warn(f"Unable to access {more} bytes of target memory at {address:#x}, halting search.")
            return
        first = address - len(kept)
        found = text.find(pattern)
        while found >= 0:
            yield first + found
            found = text.find(pattern, found + 1)
        address += more
        left -= more
        kept = text[max(0, len(text) - len(pattern) + 1) :]
        if not left:
            return
