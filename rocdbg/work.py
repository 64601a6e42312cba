"""Long work: what is in progress, how much of it is done, and whether it should end.

Code that can take long divides its work into units, each far below 0.3 s, and calls `unit` between them: readers for
each section and unit, checkers and lowering for each node, analysis for each block, the translator for each module.
`unit` checks a token that says whether to continue. Code that starts interruptible work uses `asking` to install the
check; a process that exits stops all of its other threads (`leave`).

Threads that translate are started here, and none remains inside a compiler when the process ends: LLVM would crash when
its global data is destroyed.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

PATIENCE: Final = 10.0
"""Seconds to wait for a thread when the process exits: many times its longest unit."""


class Stopped(KeyboardInterrupt):
    """Work was stopped between two of its units: its object is unchanged, or partly processed."""


class Task:
    """Work in progress: what it is, and how many of its parts are done. ``total`` is 0 if not known."""

    __slots__ = ("began", "done", "outer", "total", "what")

    def __init__(self, what: str, total: int, outer: Task | None) -> None:
        self.what, self.total, self.outer = what, total, outer
        self.done = 0
        self.began = time.monotonic()

    @property
    def text(self) -> str:
        """``translating code: 12``, ``reading units: 3 of 40``."""
        done = f"{self.done} of {self.total}" if self.total else str(self.done)
        return f"{self.what}: {done}"


class _Token:
    """Tells a thread to end its work."""

    __slots__ = ("asked", "outer")

    def __init__(self, outer: _Token | None, asked: Callable[[], bool]) -> None:
        self.outer, self.asked = outer, asked


class _Mine:
    """A thread's state. ``leaves``: whether it ends when the process exits, as threads of `start` do."""

    __slots__ = ("leaves", "task", "token", "units")

    def __init__(self) -> None:
        self.token: _Token | None = None
        self.task: Task | None = None
        self.units = 0
        self.leaves = False


_by_thread: Final[dict[int, _Mine]] = {}
"""The state of each thread by its number, which is several times as fast as `threading.local`. A number may be reused
after its thread has ended, but then token and task are None.
"""
_ident: Final = threading.get_ident


def _own() -> _Mine:
    return _by_thread.setdefault(_ident(), _Mine())


_leaving = False
_watcher: tuple[Callable[[], None], Callable[[], None]] | None = None
_shown: Task | None = None
"""The main thread's task: the one that a front end shows."""


def unit(count: int = 1) -> None:
    """Count units of work about to be done. Raises `Stopped` if the work should end."""
    mine = _by_thread.get(_ident()) or _own()
    mine.units += count
    task = mine.task
    if task is not None:
        task.done += count
    if _leaving and mine.leaves:
        raise Stopped
    token = mine.token
    while token is not None:
        if token.asked():
            raise Stopped
        token = token.outer


def units() -> int:
    """How many units of work the calling thread has done, which tests measure instead of time."""
    return _own().units


@contextmanager
def asking(asked: Callable[[], bool]) -> Iterator[None]:
    """A context in which the thread's work ends when ``asked()``, which must be fast, returns true."""
    mine = _own()
    outer = mine.token
    mine.token = _Token(outer, asked)
    try:
        yield
    finally:
        mine.token = outer


@contextmanager
def doing(what: str, total: int = 0) -> Iterator[None]:
    """A context in which ``what`` is the thread's task, and units are counted as parts of it."""
    global _shown
    mine = _own()
    outer = mine.task
    main = threading.current_thread() is threading.main_thread()
    task = mine.task = Task(what, total, outer)
    if main:
        _shown = task
        if outer is None and _watcher is not None:
            _watcher[0]()
    try:
        yield
    finally:
        mine.task = outer
        if main:
            _shown = outer
            if outer is None and _watcher is not None:
                _watcher[1]()


@contextmanager
def watched(began: Callable[[], None], ended: Callable[[], None]) -> Iterator[None]:
    """A context in which a front end is notified when the main thread begins a task, and when it ends."""
    global _watcher
    outer, _watcher = _watcher, (began, ended)
    try:
        yield
    finally:
        _watcher = outer


def shown() -> Task | None:
    """The main thread's task, readable from any thread; None without one."""
    return _shown


# -- threads --------------------

_threads: Final[set[threading.Thread]] = set()
_lock: Final = threading.Lock()
_last_wishes: Final[list[Callable[[], None]]] = []


def start(
    body: Callable[[], None], name: str, made: Callable[[threading.Thread], object] = lambda thread: None
) -> threading.Thread | None:
    """Start a thread that may run a compiler. When the process exits, it waits for the thread, which ends between two
    units.

    ``made`` is called with the thread before it runs. Returns None, without starting it, if the process is already
    exiting.
    """

    def run() -> None:
        mine = _own()
        mine.leaves = True
        try:
            with suppress(Stopped):
                body()
        finally:
            mine.leaves = False
            with _lock:
                _threads.discard(threading.current_thread())

    thread = threading.Thread(target=run, name=name, daemon=True)
    with _lock:
        if _leaving:
            return None
        _threads.add(thread)
        made(thread)
        thread.start()
    return thread


def join(thread: threading.Thread, seconds: float) -> None:
    """Wait for a thread of `start`, but not if an interrupt came before it ran: it never runs then."""
    if thread.ident is not None:
        thread.join(seconds)


def when_leaving(wish: Callable[[], None]) -> Callable[[], None]:
    """Register a function to be called once when the process exits, to wake waiting threads. Returns a function that
    unregisters it.
    """
    _last_wishes.append(wish)

    def forget() -> None:
        with suppress(ValueError):
            _last_wishes.remove(wish)

    return forget


def leaving() -> bool:
    """Whether the process is about to end."""
    return _leaving


def leave() -> None:
    """Stop all threads of `start`, and wait for them, because the process is about to end."""
    global _leaving
    with _lock:
        _leaving = True
        threads = [thread for thread in _threads if thread is not threading.current_thread()]
    while _last_wishes:
        _last_wishes.pop()()
    end = time.monotonic() + PATIENCE
    for thread in threads:
        join(thread, max(0.0, end - time.monotonic()))


atexit.register(leave)


__all__ = [
    "PATIENCE", "Stopped", "Task", "asking", "doing", "join", "leave", "leaving", "shown", "start",
    "unit", "units", "watched", "when_leaving",
]  # fmt: skip
