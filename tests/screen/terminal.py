"""The real program on a terminal that exists only in memory: pyte provides the visible screen.

Nothing here waits for a fixed time: `wait` returns when the screen satisfies a condition, however slow the machine is.
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
"""Seconds after which a missing screen is an error."""
PROMPT = "(rocdbg)"


class Terminal:
    """A program on a terminal with a given size. It is a context manager, whose end terminates the program.

    ``folder`` is its home; ``where`` is its current directory.
    """

    def __init__(
        self, arguments: list[str], columns: int, lines: int, folder: Path, where: Path = ROOT, **environment: str
    ) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.child, self.master = pty.fork()
        if self.child == 0:
            os.chdir(where)
            own = {
                "HOME": str(folder), "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT),
                "PATH": os.environ["PATH"], "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(folder)),
                "PYTHONPYCACHEPREFIX": os.environ.get("PYTHONPYCACHEPREFIX", str(folder)),
                # translations of other tests are trusted with the key that is next to them
                **{name: os.environ[name] for name in ("ROCDBG_CACHE_DIR", "XDG_STATE_HOME") if name in os.environ},
                **environment,
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
        """Set another size; the program gets SIGWINCH."""
        self.screen.resize(lines, columns)
        self._resize(columns, lines)

    def text(self) -> str:
        """The text on the screen, without blanks at the ends of lines."""
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
        """Wait until the screen satisfies a condition and no more output arrives; return the screen."""
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
        """Give a command; wait until the prompt is back (below the command, if that is still visible), and for a text.
        """
        self.type(line)
        self.wait_for(f"{PROMPT} {line}"[:60])
        self.type("\r")

        def is_back(shown: str) -> bool:
            rows = [row for row in shown.splitlines() if row.startswith(PROMPT)]
            return bool(rows) and rows[-1].strip() == PROMPT and then in shown

        return self.wait(is_back, f"the prompt after {line!r}")

    def wait_while_running(self, text: str) -> None:
        """As `wait_for`, while the screen keeps changing."""
        end = time.monotonic() + PATIENCE
        while text not in self.text():
            assert time.monotonic() < end, f"{text!r} does not come:\n{self.text()}"
            self._read(0.05)

    def wait_for_prompt(self, *prompts: str, since: int = 0) -> str:
        """Wait until the output since some byte ends with a prompt; return the output before the prompt.

        For terminals that are never redrawn.
        """
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = self.raw[since:].decode("utf-8", "replace").replace("\r", "")
            for prompt in prompts:
                if text.endswith(prompt):
                    return text.removesuffix(prompt)
            self._read(1)
        raise AssertionError(f"no prompt comes after {text!r}")

    def say(self, line: str, *prompts: str) -> str:
        """Type a line and wait for a prompt; return the output in between."""
        since = len(self.raw)
        self.type(f"{line}\r")
        text = self.wait_for_prompt(*prompts, since=since)
        while text.startswith(f"{line}\n"):  # the terminal itself may show what is typed before it is read
            text = text.removeprefix(f"{line}\n")
        return text

    def click(self, column: int, row: int) -> None:
        """Press and release the left button at a cell, counted from 0."""
        for end in "Mm":
            self.type(f"\x1b[<0;{column + 1};{row + 1}{end}")
