"""Observers are notified of launches, stops and ends: plug-ins, checkers, front ends."""

from __future__ import annotations

from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.debugger.target.state import Target


class Observer:
    """Override the methods of interest. An exception from them ends the command that runs the program."""

    def launched(self, target: Target) -> None:
        """A target was created; nothing has run on it."""

    def stopped(self, event: StopEvent) -> None:
        """A command that runs the program returns; at the program's end ``event.exit`` holds the outcome."""

    def left(self) -> None:
        """The target has ended: normally, by a signal, ``kill`` or another ``run``. Its memory may still be readable.
        """
