"""Numbers as users type them: digits, however many."""

from __future__ import annotations

from rocdbg.debugger.base.errors import ExpressionError

MAX_DIGITS = 4000
"""More digits than any radix needs for 64 bits, and less than Python refuses."""


def decimal(text: str, radix: int = 10) -> int:
    """The number that digits stand for. Raises `ExpressionError`, as GDB, for one that no machine holds."""
    if len(text) > MAX_DIGITS and len(text.lstrip("0")) > MAX_DIGITS:
        raise ExpressionError("Numeric constant too large.")
    return int(text.lstrip("0") or "0", radix)
