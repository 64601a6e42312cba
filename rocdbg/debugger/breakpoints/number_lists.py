"""Numbers of breakpoints as a command lists them."""

from __future__ import annotations

import re

from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import BreakpointError

MAX_NUMBERS = 1 << 20
"""Numbers that one command names."""


def parse_numbers(text: str) -> list[int]:
    """``1 3-5``: numbers and ranges. Raises `BreakpointError`."""
    numbers: list[int] = []
    for word in text.split():
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if match is None:
            raise BreakpointError(f"Bad breakpoint number '{word}'")
        first = decimal(match[1])
        last = decimal(match[2]) if match[2] else first
        if last < first:
            raise BreakpointError("inverted range")
        if len(numbers) + last - first > MAX_NUMBERS:
            raise BreakpointError(f"range {word} is too long")
        numbers += range(first, last + 1)
    return numbers
