"""The instructions that a wave has executed, newest first, with the facts about each that steps need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.base.errors import MemoryAccessError
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.target.capabilities.recording import Recording
from rocdbg.isa.decoder import DecodeError, decode
from rocdbg.isa.instruction import Flow

_FIRST_WINDOW = 256
_MOST_WINDOW = 1 << 20
"""How many instructions are processed at once: 16 MiB of trace."""
_LONGEST, _CALL_SIZE = 24, 4
"""The size in bytes of the longest instruction, and of every call instruction."""


class CodePlace(Struct, frozen=True):
    """Facts about a code address. ``line`` is None if there is no line, or line 0."""

    row_start: int
    """Where the row of the line table begins; if that row is no statement, where the one of its line before it does."""
    row_end: int
    line: tuple[str, int] | None
    is_statement: bool
    function_low: int | None
    inline: tuple[int, ...]
    calls: bool
    jumps: bool
    follows_call: bool


class PastInstruction(Struct, frozen=True):
    """An instruction that a wave has executed.

    ``count`` is how many instructions the wave had executed before it. ``depth`` is the call depth relative to the
    present function: positive in functions that have returned since, negative in callers. ``active`` is the mask of
    active lanes.
    """

    count: int
    pc: int
    active: int
    depth: int
    place: CodePlace


class WavePast:
    """The instructions that a wave has executed before the present one."""

    def __init__(self, inferior: Inferior, recording: Recording, thread: int) -> None:
        self._inferior = inferior
        self._recording = recording
        self._thread = thread
        self.present = recording.position
        self.count = recording.count(thread)
        self.first = recording.first_count(thread)
        wave = inferior.wave(thread)
        self._wave_size = wave.lane_count
        self._lanes = (1 << wave.lane_count) - 1
        self._pc = int(wave.pc)
        self._places: dict[int, CodePlace] = {}

    @property
    def here(self) -> CodePlace:
        """Facts about the address of the next instruction."""
        return self.place(self._pc)

    def place(self, pc: int) -> CodePlace:
        """Facts about an address."""
        found = self._places.get(pc)
        if found is None:
            found = self._places[pc] = self._look(LoadedAddress(pc))
        return found

    def instructions(self) -> Iterator[PastInstruction]:
        """All instructions, newest first. This moves the target in time."""
        for rows, first, depths in self._windows():
            for index in range(len(rows) - 1, -1, -1):
                pc, active = int(rows[index, 0]), int(rows[index, 1]) & self._lanes
                yield PastInstruction(first + index, pc, active, int(depths[index]), self.place(pc))

    def candidates(
        self, lane: int | None, stops: Set[int], level: Callable[[], int] | None
    ) -> Iterator[PastInstruction]:
        """Yield the instructions for which a lane was active, newest first (all instructions if ``lane`` is None).

        ``level`` returns a call depth, which may change after each instruction. Instructions at a greater depth are
        included only at ``stops``.
        """
        wanted_stops = np.fromiter(stops, np.uint64, len(stops))
        for rows, first, depths in self._windows():
            fits = np.ones(len(rows), bool)
            if lane is not None:
                fits = (rows[:, 1] >> np.uint64(lane) & np.uint64(1)).astype(bool)
            at_stop = np.isin(rows[:, 0], wanted_stops)
            end = len(rows)
            while end > 0:
                base = level() if level is not None else 0
                chosen = fits[:end] & (at_stop[:end] | (depths[:end] <= base)) if level is not None else fits[:end]
                before, end = end, 0
                for index in np.flatnonzero(chosen)[::-1].tolist():
                    pc, active = int(rows[index, 0]), int(rows[index, 1]) & self._lanes
                    yield PastInstruction(first + index, pc, active, int(depths[index]), self.place(pc))
                    if level is not None and level() != base:
                        assert index < before
                        end = index
                        break

    def straight(self, most: int, stops: Set[int], over: bool) -> tuple[int, int]:
        """Count the steps back, at most ``most``, that do not reach any of ``stops``. Return their number, and how many
        instructions the wave had executed before the earliest of them. ``over``: a call is one step, and no step leaves
        the frame.
        """
        wanted_stops = np.fromiter(stops, np.uint64, len(stops))
        steps, count = 0, self.count
        for rows, first, depths in self._windows():
            own = depths == 0 if over else np.ones(len(rows), bool)
            ends = own & np.isin(rows[:, 0], wanted_stops)
            if over:
                ends |= depths < 0
            found = np.flatnonzero(ends)
            begin = int(found[-1]) + 1 if found.size else 0
            taken = (np.flatnonzero(own[begin:]) + begin)[::-1][: most - steps]
            if taken.size:
                steps, count = steps + int(taken.size), first + int(taken[-1])
            if found.size or steps >= most:
                break
        return steps, count

    def last(self, wanted: Callable[[CodePlace], bool], depth: int) -> PastInstruction | None:
        """Return the newest instruction at a wanted place and this call depth. This is fast even if it was executed
        long ago.
        """
        for rows, first, depths in self._windows():
            pcs, inverse = np.unique(rows[:, 0], return_inverse=True)
            fits = np.array([wanted(self.place(int(pc))) for pc in pcs])[inverse.reshape(-1)] & (depths == depth)
            found = np.flatnonzero(fits)
            if found.size:
                index = int(found[-1])
                pc, active = int(rows[index, 0]), int(rows[index, 1]) & self._lanes
                return PastInstruction(first + index, pc, active, depth, self.place(pc))
        return None

    def last_of(
        self, wanted: Callable[[int], bool], lane: int | None, first: bool,
        anyway: Callable[[int], bool] = lambda pc: False, beside: Callable[[int], int | None] | None = None,
        after: int = 0,
    ) -> PastInstruction | None:
        """Return the newest (``first``: the oldest) instruction at a wanted PC for which a lane was active (None: any
        lane).

        ``anyway`` selects instructions that count regardless of active lanes. ``beside`` returns another lane that has
        to be active too (``lane`` itself if there is none), or None if the instruction never counts. ``after``:
        consider only instructions before which the wave had executed at least that many.
        """
        known: dict[int, bool] = {}
        always: dict[int, bool] = {}
        others: dict[int, int] = {}
        result: PastInstruction | None = None
        for rows, start, depths in self._windows():
            pcs, inverse = np.unique(rows[:, 0], return_inverse=True)
            for pc in pcs.tolist():
                if pc not in known:
                    known[pc] = wanted(pc)
                    always[pc] = known[pc] and anyway(pc)
                    if known[pc] and lane is not None:
                        other = beside(pc) if beside is not None else lane
                        known[pc], others[pc] = other is not None, lane if other is None else other
            fits = np.array([known[pc] for pc in pcs.tolist()])[inverse.reshape(-1)]
            if lane is not None:
                regardless = np.array([always[pc] for pc in pcs.tolist()])[inverse.reshape(-1)]
                other_lanes = np.array([others.get(pc, lane) for pc in pcs.tolist()], np.uint64)[inverse.reshape(-1)]
                both = rows[:, 1] >> np.uint64(lane) & rows[:, 1] >> other_lanes & np.uint64(1)
                fits &= both.astype(bool) | regardless
            found = np.flatnonzero(fits)
            found = found[found + start >= after]
            if found.size:
                index = int(found[0 if first else -1])
                pc, active = int(rows[index, 0]), int(rows[index, 1]) & self._lanes
                result = PastInstruction(start + index, pc, active, int(depths[index]), self.place(pc))
                if not first:
                    return result
        return result

    def _windows(self) -> Iterator[tuple[NDArray[np.uint64], int, NDArray[np.int64]]]:
        """Yield rows of the trace, the count of the first row, and the rows' depths; the newest window comes first."""
        end, following, depth, size = self.count, self._pc, 0, _FIRST_WINDOW
        while end > self.first:
            first = max(self.first, end - size)
            rows = self._recording.trace(self._thread, first, end, self.present)
            depths = depth + self._depths(rows[:, 0], following)
            yield rows, first, depths
            following, depth, end = int(rows[0, 0]), int(depths[0]), first
            size = min(size * 8, _MOST_WINDOW)

    def _depths(self, pcs: NDArray[np.uint64], following: int) -> NDArray[np.int64]:
        """Return the call depth of each instruction relative to the code after the last one."""
        unique, inverse = np.unique(pcs, return_inverse=True)
        places = [self.place(int(pc)) for pc in unique]
        inverse = inverse.reshape(-1)
        calls, jumps, follows = (
            np.array([getattr(place, name) for place in places], bool)[inverse]
            for name in ("calls", "jumps", "follows_call")
        )
        returns = jumps & np.append(follows[1:], self.place(following).follows_call)
        change = returns.astype(np.int64) - calls
        depths: NDArray[np.int64] = change[::-1].cumsum()[::-1]
        return depths

    def _look(self, pc: LoadedAddress) -> CodePlace:
        program = self._inferior.programs.at(pc)
        row = program.line_at(pc)
        function = program.function_at(pc)
        flow = self._flow(pc)
        line = (row.file.path, row.line) if row is not None and row.line else None
        while row is not None and line is not None and not row.is_stmt:
            before = program.info.line_at(FileAddress(row.address - 1))
            if before is None or (before.file.path, before.line) != line:
                break
            row = replace(before, end_address=row.end_address)
        address = program.to_file(pc)
        inline = tuple(i.offset for i in program.info.inline_frames_at(address)) if function is not None else ()
        low = function.low_pc if function is not None else None
        return CodePlace(
            program.to_loaded(row.address) if row is not None else pc,
            program.to_loaded(row.end_address) if row is not None else pc + 4,
            line,
            row is not None and row.is_stmt,
            program.to_loaded(low) if low is not None else None,
            inline,
            flow is Flow.CALL,
            flow is Flow.INDIRECT,
            self._flow(LoadedAddress(pc - _CALL_SIZE)) is Flow.CALL,
        )

    def _flow(self, pc: LoadedAddress) -> Flow | None:
        """Return how the instruction at an address transfers control; None if there is no instruction."""
        target = self._inferior.need_target()
        for size in (_LONGEST, _CALL_SIZE):  # the code may end before the longest size
            try:
                code = target.read_memory(AddressSpace.GLOBAL, pc, size)
                return decode(code, target.architecture, pc, wave_size=self._wave_size).flow
            except (DecodeError, MemoryAccessError):
                continue
        return None
