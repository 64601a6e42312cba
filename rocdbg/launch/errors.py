"""The errors of a launch."""

from __future__ import annotations

import reprlib

from rocdbg.codeobject.errors import one_line
from rocdbg.errors import Error


class LaunchError(Error):
    """A launch is not possible as described. ``what`` is the part concerned: ``grid``, ``arg 2``."""

    def __init__(self, what: str, reason: str, where: str = "") -> None:
        self.what = what
        self.reason = reason
        self.where = where
        super().__init__(one_line(f"{where}: {what}: {reason}" if where else f"{what}: {reason}"))


class _Shown(reprlib.Repr):
    """Shows values of a launch file in messages, however large or deeply nested they are."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = 100

    def repr_int(self, x: int, level: int) -> str:
        """Show large numbers in another way, because Python refuses to write numbers with many thousand decimal digits.
        """
        return str(x) if x.bit_length() <= 256 else f"an integer of {x.bit_length()} bits"


shown = _Shown().repr
"""A value as text of moderate length."""
