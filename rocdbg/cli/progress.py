"""Progress of a running program: a bar on a terminal after two seconds, or text in the full screen's status line.

A separate thread polls the target, since the engine does not return to Python while it runs. The bar is removed before
anything else is written.
"""

from __future__ import annotations

import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, NoReturn, TextIO

from rocdbg import work
from rocdbg.cli.standard_streams import is_dumb
from rocdbg.debugger.target.capabilities.runnable import Progress

if TYPE_CHECKING:
    from tqdm import tqdm

    from rocdbg.debugger.session import Session

DELAY = 2.0
"""How many seconds a run must take before the bar is shown."""
STATUS_DELAY = 0.5
"""The same for the status line, where the display disturbs nothing."""
INTERVAL = 0.1
"""Seconds between two measurements."""

FORMAT = "{percentage:3.0f}%|{bar}| {n}/{total} workgroups, {desc}"


class ProgressShown(ABC):
    """Shows progress between `started` and `ended`; ``look`` measures it."""

    delay = DELAY

    def __init__(self, look: Callable[[], Progress | None]) -> None:
        self._look = look
        self._closed = Event()
        self._drawing = Lock()  # held while the bar is written, so that `ended` returns with a clean line
        self._running = self._working = False
        self._thread: Thread | None = None
        self._began = 0.0
        self._before = 0

    def started(self) -> None:
        """Called when the program resumes, which may happen many times in a command."""
        self._start()
        self._running = True

    def work_began(self) -> None:
        """Called when work that has a name begins, such as reading a file."""
        self._start()
        self._working = True

    def work_ended(self) -> None:
        """Called when that work is over."""
        with self._drawing:
            self._working = False
            if not self._running:
                self._erase()

    def _start(self) -> None:
        if self._thread is None:
            now = self._look()
            self._before = now.instructions if now is not None else 0
            self._began = time.monotonic()
            self._thread = Thread(target=self._watch, daemon=True)
            self._thread.start()

    def ended(self) -> None:
        """Called when the program has stopped; removes the bar."""
        with self._drawing:
            self._running = False
            self._erase()

    def close(self) -> None:
        """Called when the command has ended."""
        self.ended()
        self._closed.set()

    def _watch(self) -> None:
        if self._closed.wait(self.delay):
            return
        while not self._closed.wait(INTERVAL):
            now = self._look() if self._running else None
            with self._drawing:
                if now is not None and self._running:
                    self._draw(now)
                elif self._working and (task := work.shown()) is not None:
                    self._say(task.text)

    def _text(self, now: Progress) -> str:
        rate = (now.instructions - self._before) / (time.monotonic() - self._began)
        task = work.shown()
        return f"{_short(now.instructions)} instructions, {task.text if task is not None else f'{_short(rate)}/s'}"

    @abstractmethod
    def _draw(self, now: Progress) -> None:
        """Show the progress."""

    @abstractmethod
    def _say(self, text: str) -> None:
        """Show which work is in progress."""

    @abstractmethod
    def _erase(self) -> None:
        """Remove the display, if it is shown."""


class ProgressBar(ProgressShown):
    """Shows progress as a bar on a terminal."""

    def __init__(self, look: Callable[[], Progress | None], stream: TextIO) -> None:
        super().__init__(look)
        self._stream = stream
        self._shown: tqdm[NoReturn] | None = None
        self._has_said = False

    def _say(self, text: str) -> None:
        self._has_said = True
        width = shutil.get_terminal_size().columns - 3
        self._stream.write(f"\r{text[:width]}\x1b[K")
        self._stream.flush()

    def _erase(self) -> None:
        if self._has_said:
            self._has_said = False
            self._stream.write("\r\x1b[K")
        if self._shown is not None:
            self._shown.close()
            self._stream.write("\r\x1b[K")
            self._shown = None

    def _draw(self, now: Progress) -> None:
        from tqdm import tqdm

        bar = self._shown
        if bar is None:
            width = shutil.get_terminal_size().columns - 3  # leave room for the ^C that interrupts it
            bar = tqdm(total=now.groups, bar_format=FORMAT, file=self._stream, leave=False, ncols=width)
            self._shown = bar
        bar.n = now.groups_ended
        bar.set_description_str(self._text(now))


class ProgressLine(ProgressShown):
    """Shows progress as a line of text that another part displays; the line is empty if nothing is in progress."""

    delay = STATUS_DELAY

    def __init__(self, look: Callable[[], Progress | None], show: Callable[[str], None]) -> None:
        super().__init__(look)
        self._show = show
        self._is_shown = False

    def _say(self, text: str) -> None:
        self._is_shown = True
        self._show(f"{text} (Ctrl-C ends it)")

    def _erase(self) -> None:
        if self._is_shown:
            self._is_shown = False
            self._show("")

    def _draw(self, now: Progress) -> None:
        self._is_shown = True
        done = f"{now.groups_ended}/{now.groups} workgroups, "
        self._show(f"running (Ctrl-C stops it): {done}{self._text(now)}")


@contextmanager
def progress_shown(session: Session, stream: TextIO) -> Iterator[None]:
    """Return a context manager in whose block long runs of the session show their progress on ``stream``, if possible.
    """
    show: Callable[[str], None] | None = getattr(stream, "show_progress", None)
    if show is None and (not stream.isatty() or is_dumb()):
        yield
        return
    look = session.running.progress
    bar = ProgressLine(look, show) if show is not None else ProgressBar(look, stream)
    session.running.watch(bar.started, bar.ended)
    try:
        with work.watched(bar.work_began, bar.work_ended):
            yield
    finally:
        session.running.watch(None, None)
        bar.close()


class _WorkLine(ProgressBar):
    """Shows on a terminal what a tool is doing; no program runs."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(lambda: None, stream)


@contextmanager
def work_shown(stream: TextIO) -> Iterator[None]:
    """Return a context manager in whose block long work of a tool without a session is shown on ``stream``, if
    possible.
    """
    if not stream.isatty() or is_dumb():
        yield
        return
    line = _WorkLine(stream)
    try:
        with work.watched(line.work_began, line.work_ended):
            yield
    finally:
        line.close()


def _short(number: float) -> str:
    """Format a number with about three digits: 950, 12.3k, 4.56M, 7.89G."""
    for unit in ("", "k", "M", "G"):
        if number < 999.5:
            return f"{number:.3g}{unit}" if unit else f"{number:.0f}"
        number /= 1000
    return f"{number:.3g}T"
