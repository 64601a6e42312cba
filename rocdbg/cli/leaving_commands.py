"""Exceptions that leave a command without being errors: `quit`, and the control commands of `while` loops."""

from __future__ import annotations

from rocdbg.debugger.base.errors import ControlFlow


class Quit(ControlFlow):
    """`quit`: unwinds to the front end. ``status`` is the exit status, ``None`` if none was given."""

    def __init__(self, status: int | None = None) -> None:
        self.status = status
        super().__init__(status)


class LoopBreak(ControlFlow):
    """`loop_break` inside `while`: leaves the loop."""


class LoopContinue(ControlFlow):
    """`loop_continue` inside `while`: begins the next pass of the loop."""
