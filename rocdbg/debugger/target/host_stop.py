"""A stop of a program's host code."""

from __future__ import annotations

from msgspec import Struct


class HostStop(Struct, frozen=True):
    """A stop of host code.

    ``text`` is what the host debugger prints, with its own numbers of breakpoints and threads; ``breakpoints`` are the
    numbers of those that stopped it. ``thread`` is the thread that it selected. ``signal`` is the signal's name.
    """

    text: str
    breakpoints: tuple[int, ...] = ()
    thread: int | None = None
    signal: str = ""
