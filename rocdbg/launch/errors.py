"""The errors of a launch."""

from __future__ import annotations

from rocdbg.errors import Error


class LaunchError(Error):
    """A launch that cannot be made as described. ``what`` is the part concerned: ``grid``, ``arg 2``."""

    def __init__(self, what: str, reason: str, where: str = "") -> None:
        self.what = what
        self.reason = reason
        self.where = where
        super().__init__(f"{where}: {what}: {reason}" if where else f"{what}: {reason}")
