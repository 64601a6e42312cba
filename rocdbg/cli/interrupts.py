"""Ctrl-C, and being asked to leave.

While the program runs, Ctrl-C stops it; otherwise it ends the command under way with "Quit", as in GDB. Outside of
commands it is kept until the next one begins, so that it never tears the loop that reads them. SIGTERM and SIGHUP end
the session in order: the program is stopped first, the terminal is given back as it was.
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
"""Signals after which one is raised even where it is not expected: something does not give up."""
LEAVING = (signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while a command was under way."""


class Terminated(ControlFlow):
    """The session was asked to end by a signal; ``status`` is the exit status that shells give to that."""

    def __init__(self, number: int) -> None:
        self.status = 128 + number
        super().__init__(number)


class Signals:
    """The handlers of one shell. Exceptions are raised between `open` and `close` only."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.leave_prompt: Callable[[BaseException], None] | None = None
        """Set while a prompt reads a line in a loop of its own, which has to be left from inside."""
        self.raised = False
        """Whether Ctrl-C was raised in the command under way. Libraries in C may make another exception of it."""
        self._open = False
        self._pending = 0  # interrupts that nothing has answered yet
        self._leaving: int | None = None
        self._before: dict[int, Any] = {}

    def install(self, pending: int = 0) -> None:
        """Take the signals over; ``pending`` interrupts came before there was a shell."""
        self._pending = pending
        for number, handler in ((signal.SIGINT, self._interrupt), *((n, self._leave) for n in LEAVING)):
            self._before[number] = signal.signal(number, handler)

    def restore(self) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before.clear()

    def open(self) -> None:
        """A command or a read begins. Raises what came in the meantime."""
        self._open = True
        self.raised = False
        self._raise_pending()

    def close(self) -> None:
        """It is over. Raises `Terminated` if the session is to end."""
        self._open = False
        self.leave_prompt = None
        if self._leaving is not None:
            raise Terminated(self._leaving)

    @property
    def asked(self) -> bool:
        """Whether Ctrl-C has come that nothing has answered yet."""
        return self._pending > 0

    def answered(self) -> None:
        """What came is answered."""
        self._pending = 0

    def typed(self) -> None:
        """Ctrl-C was typed behind a line, while the terminal was still the prompt's: it is for the line's command."""
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
            # closed: the way out must not be interrupted too (that of a condition is short, and the program goes on)
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
