"""The focus (wave, lane and frame), a value that is passed with each request.

Only the session has a current focus; everything below it takes a `Focus`.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace


class Focus(Struct, frozen=True):
    """Where a request is evaluated.

    ``thread`` is the wave's number (from 1), ``lane`` the lane within it (from 0), ``frame`` the level (0 is the
    innermost), ``iteration`` the number of a loop iteration among those that execute together. Without a running
    program ``thread`` and ``lane`` are ``None``.
    """

    thread: int | None = None
    lane: int | None = None
    frame: int = 0
    iteration: int = 0

    @property
    def running(self) -> bool:
        """Whether this names a wave of a running program."""
        return self.thread is not None

    def with_lane(self, lane: int) -> Focus:
        """Return the same wave and frame level with another lane."""
        return replace(self, lane=lane)

    def with_frame(self, frame: int) -> Focus:
        """Return the same lane with another frame level."""
        return self if frame == self.frame else replace(self, frame=frame)


STATIC = Focus()
"""The focus in a program that is not running: only static storage exists."""
