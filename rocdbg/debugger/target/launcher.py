"""What makes targets from what the user gave: a launch file and its kernel, a whole program, a core file."""

from __future__ import annotations

from typing import Protocol

from rocdbg.debugger.target.state import Target


class Launcher(Protocol):
    """Makes the target of the next run, and takes leave of the last one.

    ``needs_program``: whether a code object has to be known before.
    """

    needs_program: bool

    def start(self) -> Target:
        """A target with nothing run yet. Raises a `rocdbg.Error` that says what is missing."""

    def remains(self) -> Target | None:
        """The last target when it is over, as long as its global memory can be read."""

    def release(self) -> None:
        """Let the last target's memory go."""
