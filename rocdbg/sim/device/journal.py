"""What makes a run what it is beside its launch: turns that were not the schedule's choice, and writes from outside.

A dispatch runs deterministically, but for what its user does: single steps and ranges give turns to a wave that is not
next, and a debugger writes registers and memory. The journal has all of it, by position: the count of wave-instructions
executed since the beginning. With the launch it gives every state of the run again (`rocdbg.sim.device.recorder`).
"""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct


class Free(Struct, tag="f", array_like=True):
    """Turns as the schedule gives them, up to position ``end``."""

    end: int


class Given(Struct, tag="g", array_like=True):
    """A wave runs alone up to position ``end``; then the schedule has these values in these fields.
    """

    end: int
    wave: int
    cursor: int
    turn_of: int
    turn_left: int
    random: int


class Poke(Struct, tag="p", array_like=True):
    """A write from outside at position ``end``: ``data`` at a simulated address, or, with ``wave``, at an offset of
    that wave's state block, or (``lds``) of its workgroup's LDS. A negative ``wave``: of the memory beside allocations
    with the number that is its complement (`Recorder`)."""

    end: int
    address: int
    data: bytes
    wave: int = 0
    lds: bool = False


Entry = Free | Given | Poke


class Journal:
    """The entries of a run in order. Each begins where the one before it ends; those that only write have no length."""

    def __init__(self, entries: list[Entry] | None = None) -> None:
        self.entries: list[Entry] = entries if entries is not None else []

    @property
    def end(self) -> int:
        """The position that is journaled so far."""
        return self.entries[-1].end if self.entries else 0

    @property
    def next(self) -> int:
        """Index of the entry that what comes next belongs to: the last one if it may go on."""
        growing = bool(self.entries) and not isinstance(self.entries[-1], Poke)
        return len(self.entries) - growing

    def free(self, position: int) -> None:
        """The schedule has given turns up to ``position``."""
        if position <= self.end:
            return
        last = self.entries[-1] if self.entries else None
        if isinstance(last, Free):
            last.end = position
        else:
            self.entries.append(Free(position))

    def given(self, position: int, wave: int, cursor: int, turn_of: int, turn_left: int, random: int) -> None:
        """``wave`` was given a turn, or a part of one, up to ``position``."""
        last = self.entries[-1] if self.entries else None
        if isinstance(last, Given) and last.wave == wave:
            last.end, last.cursor, last.turn_of, last.turn_left, last.random = (
                position, cursor, turn_of, turn_left, random
            )
        else:
            self.entries.append(Given(position, wave, cursor, turn_of, turn_left, random))

    def poke(self, address: int, data: bytes, wave: int = 0, lds: bool = False) -> None:
        """Something was written from outside."""
        self.entries.append(Poke(self.end, address, data, wave, lds))

    def cut(self, index: int, position: int) -> None:
        """Forget what came after ``position``, which lies in entry ``index`` or at its beginning."""
        start = self.entries[index - 1].end if index else 0
        del self.entries[index + (position > start) :]
        if position > start:
            self.entries[-1].end = position

    def index_at(self, position: int) -> int:
        """Index of the entry that the instruction executed at ``position`` belongs to."""
        return bisect_right(self.entries, position, key=lambda entry: entry.end)


__all__ = ["Entry", "Free", "Given", "Journal", "Poke"]
