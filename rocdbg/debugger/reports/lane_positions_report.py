"""Positions of the lanes of waves: by address for one wave, by source line for all of them."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.dwarf.info import SourceFile
from rocdbg.errors import Error


class LanePlace(Struct, frozen=True):
    """A position of some lanes of a wave; ``lanes`` is their mask, ``file`` and ``line`` are ``None`` if unknown."""

    pc: int
    lanes: int
    file: SourceFile | None
    line: int | None


class WaveStanding(Struct, frozen=True):
    """Positions of the lanes of a wave.

    ``lane_count`` is their number. ``used``, ``active`` and ``nowhere`` are masks of lanes with a work-item, active
    lanes, and inactive lanes whose position is not known. ``places`` has all other positions; that of the active lanes
    is first.
    """

    thread: int
    lane_count: int
    used: int
    active: int
    nowhere: int
    places: tuple[LanePlace, ...]

    def place_of(self, lane: int) -> int | None:
        """Return the index of a lane's place in `places`."""
        return next((index for index, place in enumerate(self.places) if place.lanes >> lane & 1), None)

    def at_line(self, path: str, line: int) -> int:
        """Return the mask of lanes at a line of a file."""
        mask = 0
        for place in self.places:
            if place.line == line and place.file is not None and place.file.path == path:
                mask |= place.lanes
        return mask


def standing(inferior: Inferior, thread: int) -> WaveStanding:
    """Return the positions of the lanes of one wave. Raises `FocusError` if the wave has ended."""
    wave = inferior.wave(thread)
    count = inferior.lane_count(thread)
    used = wave.used_lanes & (1 << count) - 1
    active = inferior.active_lanes(thread) & used
    places: list[LanePlace] = []
    if active:
        frame = inferior.frame(Focus(thread, (active & -active).bit_length() - 1))
        places.append(LanePlace(frame.pc, active, frame.file, frame.line))
    waiting: dict[int, int] = {}
    nowhere = 0
    for lane in lane_list(used & ~active):
        entered = inferior.entered(thread, lane)
        if entered is None or entered.pc is None:
            nowhere |= 1 << lane
        else:
            waiting[entered.pc] = waiting.get(entered.pc, 0) | 1 << lane
    for pc, lanes in waiting.items():
        file, line = line_at(inferior, pc)
        places.append(LanePlace(pc, lanes, file, line))
    return WaveStanding(thread, count, used, active, nowhere, tuple(places))


def line_at(inferior: Inferior, pc: int) -> tuple[SourceFile | None, int | None]:
    """Return the source line of a loaded address."""
    try:
        row = inferior.programs.at(LoadedAddress(pc)).line_at(LoadedAddress(pc))
    except Error:
        return None, None
    return (row.file, row.line) if row is not None and row.line else (None, None)


def lanes_by_line(inferior: Inferior, without: int | None) -> Counter[tuple[str, int]]:
    """Count the active lanes at each line (path of the file, line), except those of the wave ``without``."""
    counts: Counter[tuple[str, int]] = Counter()
    lines: dict[int, tuple[str, int] | None] = {}  # cached, because many waves are at the same place
    for wave in inferior.target.waves() if inferior.target is not None else ():
        if wave.number == without:
            continue
        pc = int(wave.pc)
        if pc not in lines:
            file, line = line_at(inferior, pc)
            lines[pc] = None if file is None or line is None else (file.path, line)
        place = lines[pc]
        if place is not None:
            counts[place] += (inferior.active_lanes(wave.number) & wave.used_lanes).bit_count()
    return counts
