"""Observers are notified of launches, stops and ends: plug-ins, checkers, front ends."""

from __future__ import annotations

from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.debugger.target.state import Target


class Observer:
    """Override what matters. An exception out of here ends the command that runs the program."""

    def launched(self, target: Target) -> None:
        """There is a target; nothing of it has run."""

    def stopped(self, event: StopEvent) -> None:
        """A command that runs the program comes back; of the program's end ``event.exit`` says what came out."""

    def left(self) -> None:
        """The target is gone: by its end, a signal, ``kill`` or another ``run``. Its memory may still be readable."""
