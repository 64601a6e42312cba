"""Factories of targets for what the user has loaded: a launch file and its kernel, a whole program, a core file."""

from __future__ import annotations

from typing import Protocol

from rocdbg.debugger.target.capabilities.target_state import Target


class Launcher(Protocol):
    """Creates the target of the next run, and releases the last one.

    ``needs_program``: whether a code object must be loaded first.
    """

    needs_program: bool

    def start(self) -> Target:
        """Return a target on which nothing has run yet. Raises a `rocdbg.Error` that names what is missing."""

    def remains(self) -> Target | None:
        """Return the last target after its end, if its global memory can still be read."""

    def release(self) -> None:
        """Free the last target's memory."""
