"""The errors of a launch."""

from __future__ import annotations

import reprlib

from rocdbg.codeobject.errors import one_line
from rocdbg.errors import Error


class LaunchError(Error):
    """A launch that is not possible as described. ``what`` is the part concerned: ``grid``, ``arg 2``."""

    def __init__(self, what: str, reason: str, where: str = "") -> None:
        self.what = what
        self.reason = reason
        self.where = where
        super().__init__(one_line(f"{where}: {what}: {reason}" if where else f"{what}: {reason}"))


class _Shown(reprlib.Repr):
    """Values of a launch file as messages show them, however large or deep they are."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = 100

    def repr_int(self, x: int, level: int) -> str:
        """Python does not write numbers of many thousand digits in decimal."""
        return str(x) if x.bit_length() <= 256 else f"an integer of {x.bit_length()} bits"


shown = _Shown().repr
"""A value as text of moderate length."""
