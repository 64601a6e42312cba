"""Long work: what is under way, how much of it is done, and whether it is to end.

Whatever can take longer than a moment does its work in units, each far below 0.3 s, and calls `unit` between them:
readers per section and unit, checkers and lowering per node, analysis per block, the translator per module. There
the work looks at the one token that says whether it is to go on. Who starts something that can be stopped says with
`asking` how it is asked; a process that leaves asks all of its other threads (`leave`).

Threads that translate are started here, and none is left inside a compiler when the process ends: LLVM does not survive
that its own data go away under it.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

PATIENCE: Final = 10.0
"""Seconds that a thread is waited for when the process leaves: many times what its longest unit takes."""


class Stopped(KeyboardInterrupt):
    """Work was asked to end, between two units of it: what it was about is as it was before, or known in part."""


class Task:
    """Something under way: what it is, and how many of its parts are done. ``total`` is 0 where nobody knows."""

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
    """How a thread's work is asked to end."""

    __slots__ = ("asked", "outer")

    def __init__(self, outer: _Token | None, asked: Callable[[], bool]) -> None:
        self.outer, self.asked = outer, asked


class _Mine:
    """What a thread is at. ``leaves``: whether it ends when the process leaves, as threads of `start` do."""

    __slots__ = ("leaves", "task", "token", "units")

    def __init__(self) -> None:
        self.token: _Token | None = None
        self.task: Task | None = None
        self.units = 0
        self.leaves = False


_by_thread: Final[dict[int, _Mine]] = {}
"""By the number of a thread, several times as quick as `threading.local`. A number may come again when its thread has
ended: token and task are None by then."""
_ident: Final = threading.get_ident


def _own() -> _Mine:
    return _by_thread.setdefault(_ident(), _Mine())


_leaving = False
_watcher: tuple[Callable[[], None], Callable[[], None]] | None = None
_shown: Task | None = None
"""The main thread's task: the one that a front end shows."""


def unit(count: int = 1) -> None:
    """Some units of work are about to be done. Raises `Stopped` when the work is to end."""
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
    """How many units the calling thread has done: what tests count instead of time."""
    return _own().units


@contextmanager
def asking(asked: Callable[[], bool]) -> Iterator[None]:
    """While this is open, the thread's work ends when ``asked()``, which has to be quick, is true."""
    mine = _own()
    outer = mine.token
    mine.token = _Token(outer, asked)
    try:
        yield
    finally:
        mine.token = outer


@contextmanager
def doing(what: str, total: int = 0) -> Iterator[None]:
    """While this is open, ``what`` is what the thread is at: units are counted as parts of it."""
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
    """While this is open, a front end is told when the main thread begins work that has a name, and when it is over."""
    global _watcher
    outer, _watcher = _watcher, (began, ended)
    try:
        yield
    finally:
        _watcher = outer


def shown() -> Task | None:
    """What the main thread is at, as seen from any thread; None: nothing that says so."""
    return _shown


# -- threads --------------------

_threads: Final[set[threading.Thread]] = set()
_lock: Final = threading.Lock()
_last_wishes: Final[list[Callable[[], None]]] = []


def start(
    body: Callable[[], None], name: str, made: Callable[[threading.Thread], object] = lambda thread: None
) -> threading.Thread | None:
    """A thread whose work may be in a compiler: it ends between two units when the process leaves, which waits for it.

    ``made`` is given the thread before it runs. None if the process leaves already: nothing was started.
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


def when_leaving(wish: Callable[[], None]) -> Callable[[], None]:
    """Have something called, once, when the process leaves: what wakes threads that wait. Returns what takes it back.
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
    """The process is about to end: have all threads of `start` end, and wait for them."""
    global _leaving
    with _lock:
        _leaving = True
        threads = [thread for thread in _threads if thread is not threading.current_thread()]
    while _last_wishes:
        _last_wishes.pop()()
    end = time.monotonic() + PATIENCE
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))


atexit.register(leave)


__all__ = [
    "PATIENCE", "Stopped", "Task", "asking", "doing", "leave", "leaving", "shown", "start", "unit",
    "units", "watched", "when_leaving",
]  # fmt: skip
