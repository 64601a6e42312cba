"""A progress bar while the program runs: on terminals, for runs that take longer than two seconds.

A thread of its own looks at the target from time to time, since the engine does not come back to Python while
it runs. The bar is gone before anything else is written.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, NoReturn, TextIO

from rocdbg.debugger.target.protocol import Progress

if TYPE_CHECKING:
    from tqdm import tqdm

    from rocdbg.debugger.session import Session

DELAY = 2.0
"""Seconds a run takes before the bar is shown."""
INTERVAL = 0.1
"""Seconds between looks."""

FORMAT = "{percentage:3.0f}%|{bar}| {n}/{total} workgroups, {desc}"


class ProgressBar:
    """Shows how far the program is while it runs, which `started` and `ended` say; ``look`` measures it."""

    def __init__(self, look: Callable[[], Progress | None], stream: TextIO) -> None:
        self._look = look
        self._stream = stream
        self._closed = Event()
        self._drawing = Lock()  # held while the bar is written, so that `ended` returns with a clean line
        self._running = False
        self._thread: Thread | None = None
        self._shown: tqdm[NoReturn] | None = None
        self._began = 0.0
        self._before = 0

    def started(self) -> None:
        """The program goes on. A command may let it do so many times."""
        if self._thread is None:
            now = self._look()
            self._before = now.instructions if now is not None else 0
            self._began = time.monotonic()
            self._thread = Thread(target=self._watch, daemon=True)
            self._thread.start()
        self._running = True

    def ended(self) -> None:
        """The program has stopped; takes the bar away."""
        with self._drawing:
            self._running = False
            if self._shown is not None:
                self._shown.close()
                self._stream.write("\r\x1b[K")
                self._shown = None

    def close(self) -> None:
        """The command is over."""
        self.ended()
        self._closed.set()

    def _watch(self) -> None:
        if self._closed.wait(DELAY):
            return
        while not self._closed.wait(INTERVAL):
            now = self._look()
            with self._drawing:
                if now is not None and self._running:
                    self._draw(now)

    def _draw(self, now: Progress) -> None:
        from tqdm import tqdm

        bar = self._shown
        if bar is None:
            width = shutil.get_terminal_size().columns - 3  # room for the ^C that interrupts it
            bar = tqdm(total=now.groups, bar_format=FORMAT, file=self._stream, leave=False, ncols=width)
            self._shown = bar
        rate = (now.instructions - self._before) / (time.monotonic() - self._began)
        bar.n = now.groups_ended
        bar.set_description_str(f"{_short(now.instructions)} instructions, {_short(rate)}/s")


@contextmanager
def progress_shown(session: Session, stream: TextIO) -> Iterator[None]:
    """While this is open, long runs of the session show a bar on ``stream``, if that is a terminal."""
    if not stream.isatty():
        yield
        return
    bar = ProgressBar(session.running.progress, stream)
    session.running.watch(bar.started, bar.ended)
    try:
        yield
    finally:
        session.running.watch(None, None)
        bar.close()


def _short(number: float) -> str:
    """Three digits or so: 950, 12.3k, 4.56M, 7.89G."""
    for unit in ("", "k", "M", "G"):
        if number < 999.5:
            return f"{number:.3g}{unit}" if unit else f"{number:.0f}"
        number /= 1000
    return f"{number:.3g}T"
