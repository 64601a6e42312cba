"""The interface of the debugger that rocdbg uses for the host code of a program.

It starts the program, so that it can stop in `main`, and owns the program's CPU threads. It answers commands about them
with the text that it would print itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from msgspec import Struct

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.target.capabilities.runnable import ProcessEnd
from rocdbg.debugger.target.host_stop import HostStop

_PATIENCE: Final = 0.02
"""Seconds between two looks at whether the program has ended."""


class HostDebuggerError(DebuggerError):
    """The host debugger refuses a request, cannot be started, or has ended; the message is the one to show."""


class HostPlace(Struct, frozen=True):
    """Where a breakpoint in host code is. ``address`` is 0, and the rest empty, as long as no code has the location.

    ``count``: at how many addresses the breakpoint is; the other fields describe the first.
    """

    address: int = 0
    function: str = ""
    file: str = ""
    line: int = 0
    count: int = 1


class HostThread(Struct, frozen=True):
    """A CPU thread: its number in the host debugger, ``Thread 0x7ffff7d8a740 (LWP 12)``, its name, and the line that
    describes its innermost frame.
    """

    number: int
    title: str
    name: str = ""
    frame: str = ""


class HostDebugger(Protocol):
    """A debugger that owns the CPU threads of one program. All threads stop and continue together.

    Every method raises `HostDebuggerError`.
    """

    news: Callable[[], None]
    """Called, in another thread, when the program has stopped or ended."""

    thread_ids: list[int]
    """The threads that exist, by the host debugger's numbers, in the order in which they began."""

    @property
    def pid(self) -> int:
        """The process id; 0 before the program starts."""

    @property
    def running(self) -> bool:
        """Whether the program executes host code now."""

    @property
    def end(self) -> ProcessEnd | None:
        """How the program ended; None if it has not."""

    @property
    def is_over(self) -> bool:
        """Whether the host debugger itself has ended."""

    @property
    def status(self) -> int | None:
        """The exit status of the program, negative for a signal; None while it exists. 0 if it was detached."""

    def insert(self, text: str, temporary: bool = False, condition: str | None = None) -> tuple[int, HostPlace] | None:
        """Set a breakpoint; return its number and place, or None if the program's host code has no such location."""

    def delete(self, number: int) -> None:
        """Delete a breakpoint."""

    def enable(self, number: int, enabled: bool) -> None:
        """Enable or disable a breakpoint."""

    def ignore(self, number: int, count: int) -> None:
        """Let the program pass a breakpoint ``count`` times."""

    def counts(self, number: int) -> tuple[int, int]:
        """Return how often the program has hit a breakpoint, and how often it is still to pass it."""

    def set_condition(self, number: int, condition: str) -> None:
        """Set the condition of a breakpoint; "" removes it."""

    def start(self, arguments: str, environment: Mapping[str, str], directory: str | None) -> None:
        """Start the program; ``arguments`` are in shell syntax. It runs until `take_stop` has a stop."""

    def execute(self, command: str) -> str:
        """Execute a command that does not resume the program, and return its output."""

    def next_by(self, command: str) -> None:
        """Set the command by which the program continues next time, instead of ``continue``."""

    def go_on(self) -> None:
        """Let the program continue, unless it runs, has ended, or has a stop that was not taken."""

    def interrupt(self, reported: bool = False) -> None:
        """Stop the program, and wait until it has stopped. `take_stop` then has a stop only if this is ``reported``, or
        if something else stopped the program first.
        """

    def detach(self) -> None:
        """Let the program continue without the host debugger."""

    def take_stop(self) -> HostStop | None:
        """Return the stop that was not taken yet, if there is one."""

    def threads(self) -> tuple[int, list[HostThread]]:
        """Return the number of the selected thread, and the threads of the stopped program."""

    def kill(self) -> None:
        """Kill the program."""

    def close(self) -> None:
        """End the host debugger, and with it the program if it has not ended."""


class HostChild:
    """The program of a host debugger, with what is used of `subprocess.Popen`."""

    def __init__(self, host: HostDebugger) -> None:
        self._host = host

    @property
    def pid(self) -> int:
        """The process id."""
        return self._host.pid

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal; None while the program exists."""
        return self._host.status

    def wait(self) -> int:
        """Wait until the program has ended."""
        while (status := self.poll()) is None:
            time.sleep(_PATIENCE)
        return status

    def kill(self) -> None:
        """Kill the program."""
        self._host.kill()


__all__ = ["HostChild", "HostDebugger", "HostDebuggerError", "HostPlace", "HostStop", "HostThread"]
