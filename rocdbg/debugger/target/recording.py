"""The capability to go to other positions in time: checkpoints, where in time the target is, and the way back."""

from __future__ import annotations

from typing import Protocol


class Recording(Protocol):
    """A target whose past is kept. Positions count executed wave-instructions from the beginning of the run."""

    @property
    def position(self) -> int:
        """Where in time the target is."""

    @property
    def bounds(self) -> tuple[int, int]:
        """The first and the last position that can be gone to."""

    def go_to(self, position: int) -> None:
        """Make the state that of another position. Raises a `rocdbg.Error` out of `bounds`."""
