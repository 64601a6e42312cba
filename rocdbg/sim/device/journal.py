"""What makes a run what it is beside its launch: turns that were not the schedule's choice, and writes from outside.

A dispatch runs deterministically, but for what its user does: single steps and ranges give turns to a wave that is not
next, and a debugger writes registers and memory. The journal has all of it, by position: the count of wave-instructions
executed since the beginning. With the launch it gives every state of the run again (`rocdbg.sim.device.recorder`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from msgspec import Struct

from rocdbg.errors import Error
from rocdbg.sim.architecture.places import Lds, Place, Register, Special, Unsigned, WaveNumber
from rocdbg.sim.architecture.state import ArchitectureError, Extent

MOST_INSTRUCTIONS = 1 << 62
"""No run comes to so many."""


class JournalError(Error):
    """Entries that no run can have."""


class Free(Struct, tag="f", array_like=True):
    """Turns as the schedule gives them, up to position ``end``."""

    end: Unsigned


class Given(Struct, tag="g", array_like=True):
    """A wave runs alone up to position ``end``. Whose turn it is then: the next one is that of the first wave that can
    run with the number ``cursor`` or a higher one; that of wave ``turn_of``, if not 0, is not over and has
    ``turn_left`` instructions left; ``random`` is the state of the generator of turns' lengths."""

    end: Unsigned
    wave: WaveNumber
    cursor: Unsigned
    turn_of: Unsigned
    turn_left: Unsigned
    random: Unsigned


class Written(Struct, tag="w", array_like=True):
    """A write from outside at position ``end``."""

    end: Unsigned
    place: Place
    data: bytes


Entry = Free | Given | Written


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
        growing = bool(self.entries) and not isinstance(self.entries[-1], Written)
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

    def wrote(self, place: Place, data: bytes) -> None:
        """Something was written from outside."""
        self.entries.append(Written(self.end, place, data))

    def check(self, extent: Extent, fits: Callable[[Place, bytes], None]) -> None:
        """Whether a launch of this extent can have had these entries, before any of it runs: positions ascend, and
        what is named at each can be there then. ``fits`` is `ArchitecturalState.check`. Raises `JournalError`."""
        position = 0
        for entry in self.entries:
            try:
                self._check(entry, position, extent, fits)
            except ArchitectureError as error:
                raise JournalError(f"at position {entry.end}: {error}") from None
            position = entry.end

    @staticmethod
    def _check(entry: Entry, position: int, extent: Extent, fits: Callable[[Place, bytes], None]) -> None:
        if entry.end < position or (isinstance(entry, Free) and entry.end == position):
            raise JournalError(f"position {entry.end} follows {position}")
        if entry.end >= MOST_INSTRUCTIONS:
            raise JournalError(f"no run has {entry.end} instructions")
        if isinstance(entry, Given):
            extent.check_wave(entry.wave, entry.end)
            last = extent.first_wave + extent.waves
            if entry.cursor > last or entry.turn_of >= last or entry.turn_left > MOST_INSTRUCTIONS:
                raise JournalError(f"no schedule has such turns at position {entry.end}")
            if entry.random >> 64:
                raise JournalError(f"the state of the generator at position {entry.end} has more than 64 bits")
        elif isinstance(entry, Written):
            if entry.end != position:
                raise JournalError(f"position {entry.end} follows {position} without instructions between them")
            if isinstance(entry.place, Register | Special | Lds):
                extent.check_wave(entry.place.wave, position)
            fits(entry.place, entry.data)

    def cut(self, index: int, position: int) -> None:
        """Forget what came after ``position``, which lies in entry ``index`` or at its beginning."""
        start = self.entries[index - 1].end if index else 0
        del self.entries[index + (position > start) :]
        if position > start:
            self.entries[-1].end = position

    def index_at(self, position: int) -> int:
        """Index of the entry that the instruction executed at ``position`` belongs to."""
        return bisect_right(self.entries, position, key=lambda entry: entry.end)


__all__ = ["MOST_INSTRUCTIONS", "Entry", "Free", "Given", "Journal", "JournalError", "Written"]
