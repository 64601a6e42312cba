"""Ctrl-C, and signals that request termination.

While the program runs, Ctrl-C stops it; otherwise it ends the current command with "Quit", as in GDB. Outside commands
it is deferred until the next one begins, so that it never breaks the loop that reads them. SIGTERM and SIGHUP end the
session in an orderly way: the program is stopped first, and the terminal is restored.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from rocdbg.debugger.base.errors import ControlFlow

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

PATIENCE = 3
"""How many signals must arrive before one is raised even where it is not expected, because the session does not respond
to them.
"""
LEAVING = (signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a command."""


class Terminated(ControlFlow):
    """A signal has requested the end of the session; ``status`` is the exit status that shells use for this signal."""

    def __init__(self, number: int) -> None:
        self.status = 128 + number
        super().__init__(number)


class Signals:
    """The signal handlers of one shell. Exceptions are raised only between `open` and `close`."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.leave_prompt: Callable[[BaseException], None] | None = None
        """Set while a prompt reads a line in its own event loop: makes the prompt raise an exception."""
        self.raised = False
        """Whether Ctrl-C was raised in the current command: a C library may then turn it into another exception."""
        self._open = False
        self._pending = 0  # interrupts that have not been handled yet
        self._leaving: int | None = None
        self._before: dict[int, Any] = {}

    def install(self, pending: int = 0) -> None:
        """Install the handlers; ``pending`` interrupts arrived before there was a shell."""
        self._pending = pending
        for number, handler in ((signal.SIGINT, self._interrupt), *((n, self._leave) for n in LEAVING)):
            self._before[number] = signal.signal(number, handler)

    def restore(self) -> None:
        """Restore the former handlers."""
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before.clear()

    def open(self) -> None:
        """Begin a command or a read. Raises a deferred interrupt."""
        self._open = True
        self.raised = False
        self._raise_pending()

    def close(self) -> None:
        """End a command or a read. Raises `Terminated` if the session should end."""
        self._open = False
        self.leave_prompt = None
        if self._leaving is not None:
            raise Terminated(self._leaving)

    @property
    def asked(self) -> bool:
        """Whether there is a Ctrl-C that has not been handled yet."""
        return self._pending > 0

    def answered(self) -> None:
        """Mark interrupts as handled."""
        self._pending = 0

    def typed(self) -> None:
        """Record that Ctrl-C was typed after a line, while the prompt still controlled the terminal: it applies to the
        command on that line.
        """
        self._pending += 1

    def _raise_pending(self) -> None:
        if self._leaving is not None:
            self._open = False
            raise Terminated(self._leaving)
        if self._pending:
            self._open, self._pending = False, 0
            raise Interrupted

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        session = self.shell.session
        self._pending += 1
        if self.leave_prompt is not None and self._pending < PATIENCE:
            self.leave_prompt(Interrupted())
        elif self._open and session.running.busy and not session.running.interrupting:
            self._pending = 0
            self.shell.state.interrupted = True
            session.running.interrupt()
        elif self._open or self._pending >= PATIENCE:
            # Close, so that unwinding is not interrupted too. Stay open while a condition is evaluated: then unwinding
            # is short, and the program continues.
            self._open, self._pending = self._open and session.running.evaluating, 0
            self.raised = True
            raise Interrupted

    def _leave(self, number: int, frame: FrameType | None) -> None:
        session = self.shell.session
        again = self._leaving is not None
        self._leaving = number
        if self.leave_prompt is not None and not again:
            self.leave_prompt(Terminated(number))
        elif self._open and session.running.busy and not again:
            self.shell.state.interrupted = True
            session.running.interrupt()
        elif self._open or again:
            self._open = False
            raise Terminated(number)
