"""The real program on a terminal that only exists in memory: pyte shows what a person would see.

Nothing here waits for a time: `wait` returns when the screen satisfies a condition, however slow the machine is.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pyte

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = float(os.environ.get("ROCDBG_TEST_PATIENCE", "120"))
"""Seconds after which a screen that does not come is an error."""
PROMPT = "(rocdbg)"


class Terminal:
    """A program on a terminal of a size. Use as a context manager; the program is ended with it."""

    def __init__(self, arguments: list[str], columns: int, lines: int, folder: Path, **environment: str) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.child, self.master = pty.fork()
        if self.child == 0:
            os.chdir(ROOT)
            own = {
                "HOME": str(folder), "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT),
                "PATH": os.environ["PATH"], "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(folder)),
                "PYTHONPYCACHEPREFIX": os.environ.get("PYTHONPYCACHEPREFIX", str(folder)), **environment,
            }
            os.execve(sys.executable, [sys.executable, "-m", "rocdbg", "-nx", "-q", *arguments], own)
        self._resize(columns, lines)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.master)

    def _resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns: int, lines: int) -> None:
        """Another size; the program gets SIGWINCH."""
        self.screen.resize(lines, columns)
        self._resize(columns, lines)

    def text(self) -> str:
        """What is on the screen, without blanks at the ends of lines."""
        return "\n".join(line.rstrip() for line in self.screen.display) + "\n"

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self.master, text.encode())

    def _read(self, seconds: float) -> bool:
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        self.raw += data
        self._stream.feed(data)
        if b"\x1b[6n" in data:  # where is the cursor?
            os.write(self.master, f"\x1b[{self.screen.cursor.y + 1};{self.screen.cursor.x + 1}R".encode())
        return True

    def wait(self, condition: Callable[[str], object], what: str = "") -> str:
        """Wait until the screen satisfies a condition and nothing more comes; gives the screen."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if condition(self.text()) and not self._read(0.05):
                return self.text()
            self._read(0.05)
        raise AssertionError(f"{what or condition} does not come:\n{self.text()}")

    def wait_for(self, text: str) -> str:
        """Wait for a text on the screen."""
        return self.wait(lambda shown: text in shown, repr(text))

    def command(self, line: str, then: str = "") -> str:
        """Give a command; wait until the prompt is back (below it, if it is still to be seen), and for a text."""
        self.type(line)
        self.wait_for(f"{PROMPT} {line}"[:60])
        self.type("\r")

        def is_back(shown: str) -> bool:
            rows = [row for row in shown.splitlines() if row.startswith(PROMPT)]
            return bool(rows) and rows[-1].strip() == PROMPT and then in shown

        return self.wait(is_back, f"the prompt after {line!r}")

    def click(self, column: int, row: int) -> None:
        """Press and release the left button at a cell, counted from 0."""
        for end in "Mm":
            self.type(f"\x1b[<0;{column + 1};{row + 1}{end}")
