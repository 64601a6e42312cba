"""Numbers as users type them, with any number of digits."""

from __future__ import annotations

from rocdbg.debugger.base.errors import ExpressionError

MAX_DIGITS = 4000
"""More digits than any radix needs for 64 bits, but fewer than Python's limit."""


def decimal(text: str, radix: int = 10) -> int:
    """Return the value of a string of digits. Raises `ExpressionError`, as GDB does, if no integer type can hold it."""
    if len(text) > MAX_DIGITS and len(text.lstrip("0")) > MAX_DIGITS:
        raise ExpressionError("Numeric constant too large.")
    return int(text.lstrip("0") or "0", radix)
