"""Observers are notified of launches, stops and ends: plug-ins, checkers, front ends."""

from __future__ import annotations

from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.debugger.target.capabilities.target_state import Target


class Observer:
    """Base class: override the methods of interest. An exception from them ends the command that runs the program."""

    def launched(self, target: Target) -> None:
        """Called when a target has been created; nothing has run on it yet."""

    def stopped(self, event: StopEvent) -> None:
        """Called when a command that runs the program returns; at its end ``event.exit`` holds the outcome."""

    def left(self) -> None:
        """Called when the target has ended: normally, by a signal, ``kill`` or another ``run``. Its memory may still be
        readable.
        """
