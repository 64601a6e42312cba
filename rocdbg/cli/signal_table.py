"""How signals are handled: the table of `handle` and `info signals`.

Exceptions of kernels are reported as signals (SIGSEGV, SIGILL, SIGABRT, SIGTRAP, SIGBUS, SIGFPE); the other signals
exist for scripts that name them. A kernel has no signal handlers: whether a signal is passed to it is stored, but has
no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from rocdbg.cli.command_registry import CommandError

_NAMED = (
    ("SIGHUP", "spd", "Hangup"),
    ("SIGINT", "sp-", "Interrupt"),
    ("SIGQUIT", "spd", "Quit"),
    ("SIGILL", "spd", "Illegal instruction"),
    ("SIGTRAP", "sp-", "Trace/breakpoint trap"),
    ("SIGABRT", "spd", "Aborted"),
    ("SIGEMT", "spd", "Emulation trap"),
    ("SIGFPE", "spd", "Arithmetic exception"),
    ("SIGKILL", "spd", "Killed"),
    ("SIGBUS", "spd", "Bus error"),
    ("SIGSEGV", "spd", "Segmentation fault"),
    ("SIGSYS", "spd", "Bad system call"),
    ("SIGPIPE", "spd", "Broken pipe"),
    ("SIGALRM", "--d", "Alarm clock"),
    ("SIGTERM", "spd", "Terminated"),
    ("SIGURG", "--d", "Urgent I/O condition"),
    ("SIGSTOP", "spd", "Stopped (signal)"),
    ("SIGTSTP", "spd", "Stopped (user)"),
    ("SIGCONT", "spd", "Continued"),
    ("SIGCHLD", "--d", "Child status changed"),
    ("SIGTTIN", "spd", "Stopped (tty input)"),
    ("SIGTTOU", "spd", "Stopped (tty output)"),
    ("SIGIO", "--d", "I/O possible"),
    ("SIGXCPU", "spd", "CPU time limit exceeded"),
    ("SIGXFSZ", "spd", "File size limit exceeded"),
    ("SIGVTALRM", "--d", "Virtual timer expired"),
    ("SIGPROF", "--d", "Profiling timer expired"),
    ("SIGWINCH", "--d", "Window size changed"),
    ("SIGLOST", "spd", "Resource lost"),
    ("SIGUSR1", "spd", "User defined signal 1"),
    ("SIGUSR2", "spd", "User defined signal 2"),
    ("SIGPWR", "spd", "Power fail/restart"),
    ("SIGPOLL", "--d", "Pollable event occurred"),
    ("SIGWIND", "spd", "SIGWIND"),
    ("SIGPHONE", "spd", "SIGPHONE"),
    ("SIGWAITING", "--d", "Process's LWPs are blocked"),
    ("SIGLWP", "--d", "Signal LWP"),
    ("SIGDANGER", "spd", "Swap space dangerously low"),
    ("SIGGRANT", "spd", "Monitor mode granted"),
    ("SIGRETRACT", "spd", "Need to relinquish monitor mode"),
    ("SIGMSG", "spd", "Monitor mode data available"),
    ("SIGSOUND", "spd", "Sound completed"),
    ("SIGSAK", "spd", "Secure attention"),
    ("SIGPRIO", "--d", "SIGPRIO"),
)
_CANCEL = ("SIGCANCEL", "--d", "LWP internal signal")
_LAST = (
    ("SIGINFO", "spd", "Information request"),
    ("EXC_BAD_ACCESS", "spd", "Could not access memory"),
    ("EXC_BAD_INSTRUCTION", "spd", "Illegal instruction/operand"),
    ("EXC_ARITHMETIC", "spd", "Arithmetic exception"),
    ("EXC_EMULATION", "spd", "Emulation instruction"),
    ("EXC_SOFTWARE", "spd", "Software generated exception"),
    ("EXC_BREAKPOINT", "spd", "Breakpoint"),
    ("SIGLIBRT", "--d", "librt internal signal"),
)
"""The signals after the real-time signals: name; whether it stops, prints, is passed; description."""
HEAD = "Signal        Stop\tPrint\tPass to program\tDescription"
IGNORED = frozenset({"SIGCHLD", "SIGURG", "SIGWINCH", "SIGCONT"})
"""Signals that do not end a process by default."""
USED = ("SIGTRAP", "SIGINT")
"""Signals that the debugger itself needs: `all` does not change them."""
_NUMBERS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
# the signals that GDB accepts by number, with POSIX numbers
BY_NUMBER = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGEMT", 8: "SIGFPE",
    9: "SIGKILL", 10: "SIGBUS", 11: "SIGSEGV", 12: "SIGSYS", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
}
ACTIONS = ("stop", "ignore", "print", "pass", "nostop", "noignore", "noprint", "nopass")


class Handling(Struct):
    """How one signal is handled."""

    name: str
    description: str
    stops: bool
    prints: bool
    passes: bool

    @property
    def row(self) -> str:
        """The signal's line in the table."""
        yes = ["Yes" if flag else "No" for flag in (self.stops, self.prints, self.passes)]
        return f"{self.name:<13} {yes[0]}\t{yes[1]}\t{yes[2]}\t\t{self.description}"


def _rows() -> Iterator[tuple[str, str, str]]:
    yield from _NAMED
    for number in range(33, 64):
        yield f"SIG{number}", "spd", f"Real-time event {number}"
    yield _CANCEL
    for number in (32, *range(64, 128)):
        yield f"SIG{number}", "spd", f"Real-time event {number}"
    yield from _LAST


class SignalTable:
    """All signals, by name."""

    def __init__(self) -> None:
        self.rows = {
            name: Handling(name, text, "s" in flags, "p" in flags, "d" in flags) for name, flags, text in _rows()
        }

    def by_number(self, number: int) -> Handling:
        """Return the signal with a number. Raises `CommandError`."""
        if number not in BY_NUMBER:
            raise CommandError(
                'Only signals 1-15 are valid as numeric signals.\nUse "info signals" for a list of symbolic signals.'
            )
        return self.rows[BY_NUMBER[number]]

    def change(self, words: list[str]) -> tuple[list[Handling], list[str]]:
        """``handle WORDS``: return the named signals, and those of them that the debugger itself uses. Raises
        `CommandError`.
        """
        named: list[Handling] = []
        own: list[str] = []
        actions: list[str] = []
        for word in words:
            numbers = _NUMBERS.fullmatch(word)
            if word in self.rows:
                named.append(self.rows[word])
            elif len(word) > 1 and "all".startswith(word):
                named += [row for row in self.rows.values() if row.name not in USED]
            elif numbers is not None:
                first, last = int(numbers[1]), int(numbers[2] or numbers[1])
                self.by_number(min(first, last))  # raises the error if the numbers are not those of signals
                named += [self.by_number(number) for number in range(min(first, last), min(max(first, last), 16) + 1)]
            else:
                actions.append(self._action(word))
                continue
            own += [row.name for row in named[-1:] if row.name in USED and word != "all"]
        for action in actions:
            for row in named:
                _apply(row, action)
        return [row for row in self.rows.values() if row in named], own

    @staticmethod
    def _action(word: str) -> str:
        found = [action for action in ACTIONS if action.startswith(word)]
        if len(word) < (4 if word.startswith("no") else 1) or (len(found) != 1 and word not in ACTIONS):
            raise CommandError(f'Unrecognized or ambiguous flag word: "{word}".')
        return found[0]


def _apply(row: Handling, action: str) -> None:
    wanted = not action.startswith("no")
    what = action.removeprefix("no")
    if what == "stop":
        row.stops = wanted
        row.prints = row.prints or wanted  # a stop is always shown with its reason
    elif what == "print":
        row.prints = wanted
        row.stops = row.stops and wanted
    else:
        row.passes = wanted == (what == "pass")
