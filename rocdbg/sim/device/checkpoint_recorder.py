"""Reverse execution: stores checkpoints of a run, and repeats the run between them.

A run is determined by its launch and its journal (`rocdbg.sim.device.journal`). From time to time, the recorder stores
the whole state as a version of a `PageHistory`, which is a *checkpoint*. To reach a position, it runs again from the
checkpoint before that position. The distance between checkpoints is measured as a time, because it bounds how long it
takes to reach a position. It is at least `INTERVAL`, and large enough that storing checkpoints takes only a small part
of the run's time. When there are too many, the recorder thins out those that are far from the current position.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.errors import Error
from rocdbg.sim.architecture import image
from rocdbg.sim.architecture.places import Lds, Memory, Special
from rocdbg.sim.architecture.state import ArchitecturalState, ArchitectureError, Extent
from rocdbg.sim.core.memory import Allocation
from rocdbg.sim.core.run_options import NO_STOPS, Followed, RunOptions, Stops
from rocdbg.sim.core.stops import Stop, StopKind
from rocdbg.sim.core.watched_words import EVERY_ACCESS, Access
from rocdbg.sim.core.wave import Wave
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.journal import Entry, Given, Journal, Written
from rocdbg.sim.device.machine import Machine
from rocdbg.sim.device.page_history import PAGE, Bytes, PageHistory, cut
from rocdbg.sim.services.host_services import ServicesState

INTERVAL = 0.03
"""Minimum time between two checkpoints, in seconds of processor time."""
SHARE = 12
"""The time until the next checkpoint is at least this many times the time that storing one takes."""
MOST_BYTES = 400 << 20
"""Bytes of checkpoints, not counting one copy of the written memory, above which they are thinned out. The first one,
the last one and the one at the current position are always kept.
"""
MOST = 256
"""Number of checkpoints above which they are thinned out."""
_LEG = 60_000
"""Up to this many instructions are repeated without storing checkpoints."""
_FIRST_PIECE = 4_000
"""Number of instructions at the end of the history that are searched first."""
_SHRINK = 8
"""While a run is repeated, checkpoints are stored. The distance of each from the destination is that of the previous
one, divided by this number.
"""


class HistoryError(Error):
    """A position cannot be reached, or a repetition differs from the original run."""


class Store(Struct, frozen=True):
    """An instruction that stored to memory: the position before it, the mask of lanes that stored, and its PC."""

    position: int
    lanes: int
    pc: int


class _Checkpoint(Struct):
    """A moment of the run: its ``position``, the journal's next entry, the instructions executed by each wave, the
    number of waves created, the lines of the instruction cache, and the state of the host's services.
    """

    position: int
    entry: int
    counts: dict[int, int]
    created: int
    lines: dict[int, bytes]
    services: ServicesState

    def precedes(self, wave: int, count: int) -> bool:
        """Whether the wave has executed at most ``count`` instructions."""
        return self.counts.get(wave, count + 1) <= count or wave > self.created


class Recorder:
    """The past of a dispatch. The dispatch may already have run; the history begins at its current position.

    ``originals`` maps the address of an allocation to its initial contents, in memory that will not change. ``journal``
    is that of a run to be repeated from its beginning; without it, this is a new run. Raises `JournalError` if the
    journal does not fit the launch.
    """

    def __init__(
        self, machine: Machine, dispatch: Dispatch, originals: Mapping[int, Bytes], journal: Journal | None = None
    ) -> None:
        self.dispatch = dispatch
        self.journal = journal or Journal()
        self._machine = machine
        self._state = ArchitecturalState(dispatch, machine.memory, machine.share)
        self._launched = machine.memory.allocations
        """Memory of the launch; the debugger's later allocations do not belong to the run."""
        if journal is not None:
            journal.check(Extent.of(dispatch.plan), self._state.check)
        dispatch.services.keep(True)
        self.begin = dispatch.instructions
        """The first position known."""
        self.journal.free(self.begin)
        self._known: set[Allocation] = set()
        self._addresses: dict[int, int] = {}
        """Simulated address of each page of the history that belongs to an allocation."""
        self._history = PageHistory([], [])
        pages, begin = self._new_memory(originals)
        others = [page for memory in self._other_memory() for page in cut(memory)]
        self._history.add(pages + others, begin + [None] * len(others))
        self._entry = self.journal.index_at(self.begin) if journal is not None else self.journal.next
        self._checkpoints = [self._moment(self._entry)]
        self._last_kept = time.thread_time()
        self._unkept = 0.0
        """Seconds of execution since the last checkpoint, summed over all runs because many short runs also add up."""
        self._interval = INTERVAL
        self._keeping = True
        self._expected: bytes | None = None
        self._stored = (0, 0, 0)
        self._set_live(journal is None)
        dispatch.between_turns = self._tick

    # -- position in time --------------------

    @property
    def position(self) -> int:
        """Wave-instructions executed since the beginning."""
        return self.dispatch.instructions

    @property
    def end(self) -> int:
        """The last position known."""
        return self.position if self.live else self.journal.end

    @property
    def live(self) -> bool:
        """Whether continuing from here makes new history; otherwise it repeats recorded history."""
        return self._live

    @property
    def checkpoints(self) -> list[int]:
        """Positions of the checkpoints."""
        return [checkpoint.position for checkpoint in self._checkpoints]

    @property
    def size(self) -> int:
        """Size in bytes of the checkpoints, including one copy of the written memory."""
        return self._history.size

    @property
    def kept(self) -> int:
        """Size in bytes of the checkpoints, without one copy of the written memory."""
        return self._history.kept

    def close(self) -> None:
        """Detach from the dispatch, which continues without being recorded."""
        self.dispatch.between_turns = self.dispatch.journal = None
        self.dispatch.services.keep(False)

    def _set_live(self, live: bool) -> None:
        self._live = live
        self.dispatch.journal = self.journal if live else None

    # -- continuing, and writes --------------------

    def run(self, options: RunOptions) -> Stop:
        """`Dispatch.run` at the end of the history."""
        self._last_kept = time.thread_time() - self._unkept
        stop = self.dispatch.run(options)
        self._unkept = time.thread_time() - self._last_kept
        if stop.kind in (StopKind.FAULT, StopKind.ILLEGAL) and stop.wave is not None:
            self.journal.free(self.position)
            self.journal.wrote(Special(stop.wave.number, "trapsts"), stop.wave.trapsts.to_bytes(4, "little"))
        return stop

    @contextmanager
    def writing(self, wave: Wave) -> Iterator[None]:
        """A context in which writes to a wave and its LDS are recorded as part of the run."""
        state, lds = wave.state.copy(), wave.lds.copy()
        yield
        self._begin_writing()
        for place, data in self._state.changes(wave, state):
            self.journal.wrote(place, data)
        places = np.flatnonzero(wave.lds != lds)
        if places.size:
            low, high = int(places[0]), int(places[-1]) + 1
            self.journal.wrote(Lds(wave.number, low), wave.lds[low:high].tobytes())

    def wrote(self, address: int, data: bytes) -> None:
        """Record that the debugger wrote to global memory."""
        self._begin_writing()
        if data:
            self.journal.wrote(Memory(address), data)

    def differences(self) -> dict[tuple[int, int], bytes]:
        """The current state, to be compared with a later one in order to find what a function called outside the run
        has changed.
        """
        return self._history.differences()

    def changed_since(self, before: dict[tuple[int, int], bytes]) -> list[tuple[int, int]]:
        """Places in memory that have changed since `differences` returned ``before``."""
        now = self._history.differences()
        return sorted(place for place in before.keys() | now.keys() if before.get(place) != now.get(place))

    def note(self, places: list[tuple[int, int]]) -> None:
        """Record that the debugger wrote to these places, which `changed_since` returned."""
        self._begin_writing()
        for number, at in places:
            data = self._history.chunk(number, at)
            address = self._addresses.get(number)
            if address is not None:
                self.journal.wrote(Memory(address + at), data)
                continue
            host = int(self._history.pages[number].ctypes.data) + at
            for place, part in self._state.place_at(host, len(data)):
                self.journal.wrote(place, part)

    def again(self) -> None:
        """Undo all of the debugger's writes since the current position was reached."""
        here = self.position
        index = bisect_right(self._checkpoints, here, key=lambda checkpoint: checkpoint.position) - 1
        self._restore(index)
        self._reach(here, None)

    def _begin_writing(self) -> None:
        if not self.live:
            self.branch()
        self.journal.free(self.position)

    def branch(self) -> None:
        """Discard the history after the current position: execution from here on is new history."""
        if self.live:
            return
        here, entry = self.position, self._entry
        while len(self._checkpoints) > 1 and self._key(self._checkpoints[-1]) > (here, entry):
            self._checkpoints.pop()
        self._history.lay_out(len(self._checkpoints) - 1)
        self._history.cut_off(len(self._checkpoints) - 1)
        self.journal.cut(entry, here)
        self._expected = None
        self.dispatch.services.output.branch()
        last = self.journal.entries[-1] if self.journal.entries else None
        if isinstance(last, Given) and last.end == here:
            last.cursor, last.turn_of, last.turn_left, last.random = self.dispatch.bookkeeping
        self._set_live(True)

    # -- going to a position --------------------

    def go(self, position: int) -> None:
        """Restore the state at a position, including writes there. Raises HistoryError if it is out of bounds."""
        if not self.begin <= position <= self.end:
            raise HistoryError(f"position {position} is not in the history, which is from {self.begin} to {self.end}")
        here = self.position
        if position == here:
            return
        self._leave_end()
        best = bisect_right(self._checkpoints, position, key=lambda checkpoint: checkpoint.position) - 1
        if position < here or self._checkpoints[best].position > here:
            self._restore(best)
        self._reach(position, None)

    def go_before(self, wave: int, count: int, present: int) -> None:
        """Go to the last position at which a wave has executed ``count`` instructions and is about to execute the next.

        Raises HistoryError if the wave has not executed more than ``count`` instructions by position ``present``.
        """
        self._leave_end()
        best = len(self._checkpoints) - 1
        while best and not (
            self._checkpoints[best].precedes(wave, count) and self._checkpoints[best].position <= present
        ):
            best -= 1
        self._restore(best)
        stop = self._reach(present, Followed(wave, count))
        if stop is None or stop.kind is not StopKind.STEP:
            raise HistoryError(f"wave {wave} has not executed {count} instructions before position {present}")

    def first_count(self, wave: int) -> int:
        """Instructions that a wave had executed when the history began."""
        return self._checkpoints[0].counts.get(wave, 0)

    def trace(self, wave: int, first: int, end: int, present: int) -> NDArray[np.uint64]:
        """PC and EXEC of a wave before each of its instructions ``first`` to ``end`` - 1, counted from 0: uint64[n, 2].
        Afterwards the position is somewhere between that of the first one and ``present``.

        Raises HistoryError if the wave has not executed that many by position ``present``.
        """
        rows = np.zeros((end - first + 1, 2), np.uint64)
        self.go_before(wave, first, present)
        self.dispatch.trace(rows, first)
        self._reach_plainly(present, Followed(wave, end, traced=True))
        return rows[: end - first]

    @property
    def _here(self) -> int:
        return self.journal.next if self.live else self._entry

    def next_wave(self) -> int | None:
        """The wave that executes the next instruction of the history; None at its end."""
        entries, index = self.journal.entries, self._entry
        while not self.live and index < len(entries) and entries[index].end <= self.position:
            index += 1
        if self.live or index == len(entries):
            return None
        entry = entries[index]
        return entry.wave if isinstance(entry, Given) else self.dispatch.next_wave

    def repeat(
        self, until: int, stops: Stops = NO_STOPS, followed: Followed | None = None
    ) -> Stop | None:
        """Repeat the history up to a position or a stop; None if the position is reached.

        Writes from outside to watched memory do not cause a stop; later comparisons use the new values.
        """
        stop = self._forward(min(until, self.end), stops, followed)
        if stop is not None and not self.live and self.position == self.journal.end:
            self._forward(self.position, NO_STOPS, None)  # the history has been repeated
        return stop

    def _leave_end(self) -> None:
        """Store a checkpoint at the end of the history, because the run will return to it."""
        if self.live:
            self._keep()

    def first_of_group(self, wave: int, present: int) -> int:
        """The last known position at which a workgroup, identified by its first wave, has not executed anything."""
        if self.first_count(wave):
            return self.begin
        self.go_before(wave, 0, present)
        others = range(wave + 1, wave + self.dispatch.plan.waves_per_group)
        while True:  # another wave may have been the first to run, if the user stepped it
            counts = self.dispatch.counts()
            earlier = next((other for other in others if counts.get(other)), None)
            if earlier is None:
                return self.position
            self.go_before(earlier, self.first_count(earlier), self.position)
            if self.first_count(earlier):
                return self.begin

    def last_store(
        self, ranges: NDArray[np.uint64], present: int, begin: int | None = None
    ) -> Store | None:
        """Find the last instruction before position ``present`` that stored to ranges of host memory, uint64[n, 2] of
        begin and end; None if there is none. Changes the position. The search ends at position ``begin``.
        """
        start = self.begin if begin is None else begin

        def search() -> int | None:
            end, size = present, _FIRST_PIECE
            while end > start:
                first = max(start, end - size)
                if self._stores(first, end):
                    while end - first > 1:
                        middle = (first + end) // 2
                        first, end = (middle, end) if self._stores(middle, end) else (first, middle)
                    return first
                end, size = first, size * _SHRINK
            return None

        return self._searching(ranges, search)

    def first_store(
        self, ranges: NDArray[np.uint64], present: int, begin: int | None = None
    ) -> Store | None:
        """As `last_store`, but find the first such instruction since ``begin``."""
        start = self.begin if begin is None else begin

        def search() -> int | None:
            first, size = start, _FIRST_PIECE
            while first < present:
                end = min(first + size, present)
                if self._stores(first, end):
                    while end - first > 1:
                        middle = (first + end) // 2
                        first, end = (first, middle) if self._stores(first, middle) else (middle, end)
                    return first
                first, size = end, size * _SHRINK
            return None

        return self._searching(ranges, search)

    def _searching(self, ranges: NDArray[np.uint64], search: Callable[[], int | None]) -> Store | None:
        """Run a search while stores are recorded, and return the store at the position that it finds."""
        self._leave_end()
        self.dispatch.note_stores(ranges)
        try:
            position = search()
            if position is None:
                return None
            self._stores(position, position + 1)
            return Store(position, self._stored[1], self._stored[2])
        finally:
            self.dispatch.note_stores(None)

    def _stores(self, first: int, end: int) -> int:
        """Number of stores to the given memory from one position up to another."""
        self.go(first)
        self.dispatch.take_noted()
        self._reach_plainly(end, None)
        self._stored = self.dispatch.take_noted()
        return self._stored[0]

    def access_at(self, position: int) -> Access | None:
        """The first memory access of the instruction that is executed at a position. Afterwards, the position is after
        that instruction.
        """
        self.go(position)
        stop = self.repeat(position + 1, Stops(watches=(EVERY_ACCESS,)))
        if stop is not None and stop.kind is StopKind.INTERRUPTED:
            raise KeyboardInterrupt
        if self.position == position:
            self._reach_plainly(position + 1, None)
        return self.dispatch.last_access if stop is not None and stop.kind is StopKind.WATCH else None

    def settle(self) -> None:
        """Complete the journal up to the current position."""
        if self.live:
            self.journal.free(self.position)

    def digest(self) -> bytes:
        """Digest of the run's whole state (`architecture.image`), the same on every machine."""
        return image.digest(self.dispatch, self._machine.share, self._launched)

    def saved_journal(self) -> Journal:
        """The journal to be stored in a file, without writes to memory that the debugger allocated during the run."""
        launched = {allocation.address for allocation in self._launched}

        def is_of_the_run(entry: Entry) -> bool:
            if not (isinstance(entry, Written) and isinstance(entry.place, Memory)):
                return True
            found = self._machine.memory.find(entry.place.address)
            return found is not None and found.address in launched

        return Journal([entry for entry in self.journal.entries if is_of_the_run(entry)])

    def expect(self, digest: bytes) -> None:
        """Register the digest that the run's state must have at the end of the history."""
        self._expected = digest

    # -- repetition

    def _reach(self, position: int, followed: Followed | None) -> Stop | None:
        """Repeat the run up to a position, or until a followed wave stops. Checkpoints are stored on the way, more
        densely towards the end.
        """
        distance = position - self.position
        legs = []
        while distance > _LEG * _SHRINK:
            distance //= _SHRINK
            legs.append(position - distance)
        for leg in [*legs, position]:
            stop = self._reach_plainly(leg, followed)
            if stop is not None:
                return stop
            if leg != position:
                self._keep()
        return None

    def _reach_plainly(self, position: int, followed: Followed | None) -> Stop | None:
        stuck = 0
        while True:
            before = self.position
            stop = self._forward(position, NO_STOPS, followed)
            if stop is None or stop.kind in (StopKind.STEP, StopKind.RANGE):
                return stop
            if stop.kind is StopKind.INTERRUPTED:
                raise KeyboardInterrupt
            stuck = stuck + 1 if self.position == before else 0
            if stuck > len(self.dispatch.waves) + 1:
                raise HistoryError(f"the history cannot be repeated beyond position {before}: {stop.message}")

    def _forward(self, until: int, stops: Stops, followed: Followed | None) -> Stop | None:
        """Follow the journal up to a position or a stop."""
        entries = self.journal.entries
        while not self.live:
            here = self.position
            entry = entries[self._entry] if self._entry < len(entries) else None
            if isinstance(entry, Written) and entry.end <= here:
                self._write(entry)
                self._entry += 1
            elif entry is None:
                self._set_live(True)
                if self._expected is not None and self.digest() != self._expected:
                    raise HistoryError("the end of the history is not what it was where it was recorded")
                self._expected = None
            elif entry.end <= here:
                if isinstance(entry, Given):
                    self.dispatch.given(entry)
                self._entry += 1
            elif here >= until:
                return None
            else:
                budget, cut = min(until, entry.end) - here, entry.end < until
                if isinstance(entry, Given):
                    self._check_given(entry)
                    stop = self.dispatch.give(entry.wave, budget, stops, followed, cut)
                else:
                    stop = self.dispatch.follow(budget, stops, followed, cut)
                if stop is not None and stop.kind not in (StopKind.BUDGET, StopKind.DONE):
                    return stop
                if self.position == here:
                    raise HistoryError(
                        f"the history cannot be repeated: the run ends at position {here}, but the history continues "
                        f"to {entry.end}"
                    )
        return None

    def _check_given(self, entry: Given) -> None:
        """Check that the wave of a turn exists and does not wait, which a journal from a file does not guarantee."""
        wave = self.dispatch.resident(entry.wave)
        if wave is None or wave.waiting:
            state = "does not exist" if wave is None else "waits at a barrier"
            raise HistoryError(f"the history cannot be repeated: wave {entry.wave} {state} at position {self.position}")

    def _write(self, entry: Written) -> None:
        """Repeat a write from outside."""
        try:
            self._state.write(entry.place, entry.data)
        except ArchitectureError as error:
            raise HistoryError(f"the history cannot be repeated: at position {entry.end}: {error}") from None

    # -- checkpoints

    @staticmethod
    def _key(checkpoint: _Checkpoint) -> tuple[int, int]:
        return checkpoint.position, checkpoint.entry

    def _moment(self, entry: int) -> _Checkpoint:
        dispatch = self.dispatch
        return _Checkpoint(
            self.position, entry, dispatch.counts(), dispatch.created, dispatch.instruction_lines,
            dispatch.services.snapshot(),
        )

    def _tick(self) -> None:
        """Called when the dispatch is between two turns: store a checkpoint if it is time."""
        if self._keeping and time.thread_time() - self._last_kept >= self._interval:
            self._keep()

    def _keep(self) -> None:
        """Store a checkpoint here, unless there is one."""
        began = time.thread_time()
        if self.live:
            self.journal.free(self.position)
        moment = self._moment(self._here)
        index = bisect_right(self._checkpoints, self._key(moment), key=self._key)
        if self._checkpoints[index - 1].position < moment.position:
            self._add_memory()
            self._history.lay_out(index - 1)
            self.dispatch.keep_words()
            self._history.keep()
            self._checkpoints.insert(index, moment)
            self._thin_out()
        self._last_kept, self._unkept = time.thread_time(), 0.0
        self._interval = max(INTERVAL, SHARE * (self._last_kept - began))

    def _restore(self, index: int) -> None:
        """Restore a checkpoint."""
        self._set_live(False)
        checkpoint = self._checkpoints[index]
        self._history.restore(index)
        self._entry = checkpoint.entry
        self.dispatch.services.restore(checkpoint.services)
        self.dispatch.restored()
        self.dispatch.refetch(checkpoint.lines)
        self._last_kept, self._unkept = time.thread_time(), 0.0

    def _thin_out(self) -> None:
        """Remove checkpoints where their distances are shortest in relation to their distance from the current
        position.
        """
        while len(self._checkpoints) > MOST or self._history.kept > MOST_BYTES:
            here = self.position
            positions = self.checkpoints
            candidates = [n for n in range(1, len(positions) - 1) if n != self._history.current]
            if not candidates:
                return
            worst = min(
                candidates,
                key=lambda n: (positions[n + 1] - positions[n - 1]) / (abs(here - positions[n]) + 1),
            )
            self._history.forget(worst)
            del self._checkpoints[worst]

    # -- memory

    @property
    def _pages_known(self) -> int:
        return len(self._history.pages)

    def _other_memory(self) -> list[Bytes]:
        machine = self._machine
        rows = [machine.share.gds, machine.share.gws.view(np.uint8).reshape(-1)]
        if machine.uninitialized is not None:
            rows.append(machine.uninitialized.table)
        return rows + self.dispatch.memory_of_waves()

    def _new_memory(self, originals: Mapping[int, Bytes]) -> tuple[list[Bytes], list[Bytes | None]]:
        """The pages of allocations that are not known yet, and the initial contents of each page, in memory that does
        not change.
        """
        pages: list[Bytes] = []
        begin: list[Bytes | None] = []
        for allocation in self._machine.memory.allocations:
            if allocation in self._known:
                continue
            self._known.add(allocation)
            parts = cut(allocation.data)
            for index in range(len(parts)):
                self._addresses[self._pages_known + len(pages) + index] = allocation.address + index * PAGE
            original = originals.get(allocation.address)
            pages += parts
            begin += cut(original) if original is not None else [None] * len(parts)
            if allocation.written is not None:
                parts = cut(allocation.written)
                pages += parts
                begin += [None] * len(parts)
        return pages, begin

    def _add_memory(self) -> None:
        """Add allocations that were made in the meantime."""
        self._history.add(*self._new_memory({}))


__all__ = ["HistoryError", "Recorder", "Store"]
