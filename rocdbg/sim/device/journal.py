"""Records what determines a run in addition to its launch: turns that the schedule did not choose, and writes from
outside.

A dispatch runs deterministically, except for what its user does: single steps and range steps give a turn to a wave
that is not next, and a debugger writes registers and memory. The journal records all of that by position, which is the
number of wave-instructions executed since the beginning. Launch and journal together suffice to reproduce every state
of the run (`rocdbg.sim.device.checkpoint_recorder`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from msgspec import Struct

from rocdbg.errors import Error
from rocdbg.sim.architecture.places import Lds, Place, Register, Special, Unsigned, WaveNumber
from rocdbg.sim.architecture.state import ArchitectureError, Extent

MOST_INSTRUCTIONS = 1 << 62
"""A limit that no run reaches."""


class JournalError(Error):
    """A journal has entries that no run can produce."""


class Free(Struct, tag="f", array_like=True):
    """Turns that the schedule chose, up to position ``end``."""

    end: Unsigned


class Given(Struct, tag="g", array_like=True):
    """A turn of ``wave`` alone, up to position ``end``. The other fields describe the schedule at that position.

    ``cursor``: the next turn goes to the first runnable wave with this number or a higher one. ``turn_of``: the wave
    whose turn is not over (0: none), with ``turn_left`` instructions left. ``random``: the state of the generator of
    turn lengths.
    """

    end: Unsigned
    wave: WaveNumber
    cursor: Unsigned
    turn_of: Unsigned
    turn_left: Unsigned
    random: Unsigned


class Written(Struct, tag="w", array_like=True):
    """A write by the debugger at position ``end``."""

    end: Unsigned
    place: Place
    data: bytes


Entry = Free | Given | Written


class Journal:
    """The entries of a run in order. Each begins where the previous one ends; entries for writes have no length."""

    def __init__(self, entries: list[Entry] | None = None) -> None:
        self.entries: list[Entry] = entries if entries is not None else []

    @property
    def end(self) -> int:
        """The position up to which the run is recorded."""
        return self.entries[-1].end if self.entries else 0

    @property
    def next(self) -> int:
        """Index of the entry to which the next instructions belong: the last one if it may be extended."""
        growing = bool(self.entries) and not isinstance(self.entries[-1], Written)
        return len(self.entries) - growing

    def free(self, position: int) -> None:
        """Record that the schedule has given turns up to ``position``."""
        if position <= self.end:
            return
        last = self.entries[-1] if self.entries else None
        if isinstance(last, Free):
            last.end = position
        else:
            self.entries.append(Free(position))

    def given(self, position: int, wave: int, cursor: int, turn_of: int, turn_left: int, random: int) -> None:
        """Record that ``wave`` was given a turn, or a part of one, up to ``position``."""
        last = self.entries[-1] if self.entries else None
        if isinstance(last, Given) and last.wave == wave:
            last.end, last.cursor, last.turn_of, last.turn_left, last.random = (
                position, cursor, turn_of, turn_left, random
            )
        else:
            self.entries.append(Given(position, wave, cursor, turn_of, turn_left, random))

    def wrote(self, place: Place, data: bytes) -> None:
        """Record a write from outside."""
        self.entries.append(Written(self.end, place, data))

    def check(self, extent: Extent, fits: Callable[[Place, bytes], None]) -> None:
        """Check before a run whether a launch of this extent can have these entries: positions ascend, and everything
        that an entry names can exist at its position. ``fits`` is `ArchitecturalState.check`. Raises `JournalError`.
        """
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
            raise JournalError(f"an entry for position {entry.end} follows one for position {position}")
        if entry.end >= MOST_INSTRUCTIONS:
            raise JournalError(
                f"an entry is for position {entry.end}, but no run has more than {MOST_INSTRUCTIONS - 1} instructions"
            )
        if isinstance(entry, Given):
            extent.check_wave(entry.wave, entry.end)
            last = extent.first_wave + extent.waves
            if entry.cursor > last or entry.turn_of >= last or entry.turn_left > MOST_INSTRUCTIONS:
                raise JournalError(f"the turns at position {entry.end} are not possible with any schedule")
            if entry.random >> 64:
                raise JournalError(
                    f"the state of the random number generator at position {entry.end} has more than 64 bits"
                )
        elif isinstance(entry, Written):
            if entry.end != position:
                raise JournalError(
                    f"a write at position {entry.end} follows an entry for position {position}, without instructions "
                    "between them"
                )
            if isinstance(entry.place, Register | Special | Lds):
                extent.check_wave(entry.place.wave, position)
            fits(entry.place, entry.data)

    def cut(self, index: int, position: int) -> None:
        """Remove everything after ``position``, which is at the beginning of entry ``index`` or within it."""
        start = self.entries[index - 1].end if index else 0
        del self.entries[index + (position > start) :]
        if position > start:
            self.entries[-1].end = position

    def index_at(self, position: int) -> int:
        """Index of the entry that the instruction executed at ``position`` belongs to."""
        return bisect_right(self.entries, position, key=lambda entry: entry.end)


__all__ = ["MOST_INSTRUCTIONS", "Entry", "Free", "Given", "Journal", "JournalError", "Written"]
