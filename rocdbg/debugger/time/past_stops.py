"""The stops that the program would have made in the past: at breakpoints, and at changes of watched values.

The past is searched backwards from the present, in pieces of growing size. Each piece is executed again, and the target
stops wherever it would have stopped then. A piece with many stops is halved, because only the latest are needed. If
breakpoints have ignore counts, the target first only counts: a piece in which all hits are to be ignored is then
skipped at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct, field
from msgspec.structs import replace

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.breakpoint_table import Breakpoint
from rocdbg.debugger.breakpoints.watchpoints import Watchpoint
from rocdbg.debugger.frames.frames import physical_place
from rocdbg.debugger.running.runner import Runner
from rocdbg.debugger.target.capabilities.recording import Recording
from rocdbg.debugger.target.capabilities.runnable import TargetStop, TargetStopKind, WatchedMemory
from rocdbg.debugger.values.value import Value
from rocdbg.sim.core.checks import Counter

_FIRST_PIECE = 2_000
_GROWTH = 8
"""The number of instructions in the latest piece, and the factor by which each earlier piece is longer."""
_MANY = 64
"""How many stops make it worthwhile to halve a piece."""
_LEAST_IGNORED = 128
"""The size of a piece, in instructions, up to which the target does not count ignored hits: going to the beginning of
the piece would take longer than stopping at each hit.
"""


class Arrival(Struct, frozen=True):
    """A stop in the past: its position in time, and the target's report.

    ``values`` are the watched values, by the watchpoint's number, after the instruction at ``position`` changed them.
    ``count``: if registers changed, how many instructions the wave had executed before the change; ``position`` is then
    the position at which the change was found. ``gone``: the watchpoints whose frame or wave does not exist before the
    position.
    """

    position: int
    stop: TargetStop
    values: dict[int, list[Value | None]] = field(default_factory=dict)
    count: int | None = None
    gone: tuple[Watchpoint, ...] = ()


class _TooManyError(Exception):
    """A piece has too many stops."""


class PastStops(Struct):
    """Searches the past of a ``recording`` for stops; this moves the target in time."""

    runner: Runner
    recording: Recording

    def latest(self, stops: frozenset[int], present: int, first: int | None = None) -> Iterator[Arrival]:
        """Yield the arrivals before position ``present``, latest first, back to position ``first``.

        An arrival is a wave that reached one of the addresses with a breakpoint whose condition was true, or that
        changed a watched value. Conditions of watchpoints are not evaluated. The past is searched piece by piece; the
        target is not left at the positions of the arrivals.
        """
        known = self.runner.watcher.prepare()
        begins = self._begins(present)
        end, lowest = present, self.recording.bounds[0] if first is None else first
        for begin in sorted({lowest, *(one for one in begins if one >= lowest)}, reverse=True):
            yield from self._between(begin, end, stops, known)
            gone = tuple(begins.get(begin, ()))
            if gone and begin > self.recording.bounds[0]:
                yield Arrival(begin, TargetStop(TargetStopKind.BREAKPOINT, gone[0].wave), gone=gone)
            end = min(end, begin)

    def _between(
        self, begin: int, end: int, stops: frozenset[int], known: tuple[WatchedMemory, ...]
    ) -> Iterator[Arrival]:
        size = _FIRST_PIECE
        while end > begin:
            first = max(begin, end - size)
            yield from self._piece(first, end, stops, known)
            end, size = first, size * _GROWTH

    def _piece(
        self, first: int, end: int, stops: frozenset[int], known: tuple[WatchedMemory, ...]
    ) -> Iterator[Arrival]:
        """Yield the arrivals from one position up to another, the latest first."""
        if self._ignoring(stops):
            if self._pass_ignored(first, end, stops):
                return
            if end - first > _LEAST_IGNORED:
                middle = (first + end) // 2
                yield from self._piece(middle, end, stops, known)
                yield from self._piece(first, middle, stops, known)
                return
        try:
            found = self._forwards(first, end, stops, known)
        except _TooManyError:
            middle = (first + end) // 2
            yield from self._piece(middle, end, stops, known)
            yield from self._piece(first, middle, stops, known)
        else:
            yield from reversed(found)

    def _forwards(
        self, first: int, end: int, stops: frozenset[int], known: tuple[WatchedMemory, ...]
    ) -> list[Arrival]:
        """Return the arrivals from one position up to another. Raises `_TooManyError`."""
        recording, watcher = self.recording, self.runner.watcher
        recording.go_to(first)
        recording.stand(None)  # so that a wave at a stop address here counts as arriving in this piece
        found: list[Arrival] = []
        stopped: int | None = None
        for one in watcher.all():  # cached values are from another time, even where names are unknown
            one.values = [None] * len(one.lanes)
        while recording.position < end:
            travelled(self.runner)
            watcher.stopped = stopped
            watches = tuple(dict.fromkeys((*watcher.prepare(), *known))) if watcher.all() else ()
            checks = watcher.checks()
            if checks is None:
                raise DebuggerError(
                    'The program cannot run backwards to a watchpoint on registers: delete it, and use "last-write".'
                )
            with self._uncounted():
                asked = self.runner.native.asked(stops)
            for address, check in checks.items():
                if address in asked:
                    asked[address] = asked[address].plus(*check.conditions)
                elif address not in stops:
                    asked[address] = check
            stop = recording.repeat(end, stops - asked.keys(), watches, asked)
            if stop is None:
                found += self._unseen()
                break
            stopped = stop.thread
            if stop.kind is TargetStopKind.INTERRUPTED:
                raise KeyboardInterrupt
            travelled(self.runner)
            if stop.kind is TargetStopKind.WATCH and watcher.changed(stop):
                values = {one.number: one.values for one in watcher.all()}
                found.append(Arrival(recording.position - 1, stop, values))
            elif stop.kind is TargetStopKind.BREAKPOINT and stop.pc in checks and watcher.changed(stop):
                found.append(self._in_registers(stop))
            if stop.kind is TargetStopKind.BREAKPOINT and stop.pc in stops and recording.position < end:
                with self._uncounted():
                    hits = self.runner.hits(stop.thread, stop.pc)[0] if stop.thread is not None else []
                if any(hit.breakpoint.stops_program for hit in hits):
                    found.append(Arrival(recording.position, stop))
            if len(found) > _MANY and end - first > _FIRST_PIECE:
                raise _TooManyError
        return found

    def _in_registers(self, stop: TargetStop) -> Arrival:
        """Return the arrival at which the last instruction of a wave changed watched registers."""
        assert stop.thread is not None
        values = {one.number: one.values for one in self.runner.watcher.all()}
        count = self.recording.count(stop.thread) - 1
        return Arrival(self.recording.position, replace(stop, kind=TargetStopKind.WATCH), values, count)

    def _unseen(self) -> Iterator[Arrival]:
        """Yield the changes of watched registers that a wave's last instruction made, if the wave has not yet reached
        the check that would find them.
        """
        travelled(self.runner)
        watcher = self.runner.watcher
        there = {wave.number for wave in self.runner.target.waves()}
        for thread in sorted(there.intersection(one.wave for one in watcher.all() if one.needs_checks)):
            stop = TargetStop(TargetStopKind.WATCH, thread, self.runner.parts.inferior.wave(thread).pc)
            if watcher.changed(stop):
                yield self._in_registers(stop)

    # -- ignore counts

    def _ignoring(self, stops: frozenset[int]) -> bool:
        """Whether the target can count hits that are to be ignored."""
        return not self.runner.watcher.all() and any(
            each.ignore_count and each.enabled and each.stops_program and not stops.isdisjoint(each.addresses())
            for each in self.runner.parts.breakpoints
        )

    def _pass_ignored(self, first: int, end: int, stops: frozenset[int]) -> bool:
        """Count the hits from one position up to another if all of them are to be ignored; return whether that is so.
        """
        recording, native = self.recording, self.runner.native
        compiled: set[int] = set()
        while True:
            counters: dict[int, tuple[Breakpoint, Counter]] = {}
            asked = native.asked(stops, counters)
            recording.go_to(first)
            recording.stand(None)
            travelled(self.runner)
            stop = recording.repeat(end, stops - asked.keys(), (), asked)
            travelled(self.runner)
            if stop is None:
                break
            if stop.kind is TargetStopKind.INTERRUPTED:
                raise KeyboardInterrupt
            if stop.kind is not TargetStopKind.BREAKPOINT or stop.thread is None or recording.position >= end:
                return False
            if stop.pc in asked or stop.pc in compiled or stop.pc not in stops:
                return False  # a wave stops here, or the evaluator has to decide
            compiled.add(stop.pc)
            with self._uncounted(ignoring=True):
                self.runner.hits(stop.thread, stop.pc)
        for breakpoint_, counter in counters.values():
            breakpoint_.hit_count += counter.hits
            breakpoint_.ignore_count = counter.skips
        return True

    @contextmanager
    def _uncounted(self, ignoring: bool = False) -> Iterator[None]:
        """Return a context manager in whose block breakpoints do not count hits; unless ``ignoring``, ignore counts do
        not apply either.
        """
        kept = [
            (each, each.hit_count, each.ignore_count, each.enable_count, each.enabled)
            for each in self.runner.parts.breakpoints
        ]
        for each, *_ in kept:
            each.ignore_count = each.ignore_count if ignoring else 0
        try:
            yield
        finally:
            for each, hits, ignored, stops, enabled in kept:
                each.hit_count, each.ignore_count = hits, ignored
                each.enable_count, each.enabled = stops, enabled

    # -- where watchpoints come into scope

    def _begins(self, present: int) -> dict[int, list[Watchpoint]]:
        """Return positions before which the objects of watchpoints do not exist, each with the watchpoints that go out
        of scope there when going back.
        """
        groups: dict[int, int] = {}
        begins: dict[int, list[Watchpoint]] = {}
        waves = {wave.number: wave.index for wave in self.runner.target.waves()}
        for one in self.runner.watcher.all():
            if one.wave is None or one.wave not in waves:
                continue
            first = one.wave - waves[one.wave]
            if first not in groups:
                self.recording.go_to(present)
                groups[first] = self.recording.first_of_group(one.wave, present)
            begin = groups[first]
            if one.place is not None:
                begin = self._entry(one, begin, present)
            scoped = begins.setdefault(begin, [])
            if one.scoped:
                scoped.append(one)
        self.recording.go_to(present)
        travelled(self.runner)
        return begins

    def _entry(self, watchpoint: Watchpoint, begin: int, present: int) -> int:
        """Return the last position at which the function of a watchpoint's frame was called."""
        if watchpoint.entry is None:
            return begin
        end, size = present, _FIRST_PIECE
        while end > begin:
            first, found = max(begin, end - size), None
            self.recording.go_to(first)
            self.recording.stand(None)
            while (stop := self.recording.repeat(end, frozenset({watchpoint.entry}))) is not None:
                if stop.kind is TargetStopKind.INTERRUPTED:
                    raise KeyboardInterrupt
                travelled(self.runner)
                if self.recording.position < end and stop.thread == watchpoint.wave and self._is_of(watchpoint):
                    found = self.recording.position
            if found is not None:
                return self._before(found, watchpoint.wave, present)
            end, size = first, size * _GROWTH
        return begin

    def _before(self, position: int, thread: int | None, present: int) -> int:
        """Return the position before the last instruction of a wave before ``position``; that instruction is the call.
        """
        assert thread is not None
        self.recording.go_to(position)
        count = self.recording.count(thread)
        if count > self.recording.first_count(thread):
            self.recording.go_before(thread, count - 1, present)
        return self.recording.position

    def _is_of(self, watchpoint: Watchpoint) -> bool:
        """Whether the innermost frame is the watchpoint's own, or contains the inlined code to which it belongs."""
        thread = watchpoint.wave
        assert thread is not None
        active = self.runner.parts.inferior.active_lanes(thread)
        if not active:
            return False
        frame = self.runner.top_frame(Focus(thread, (active & -active).bit_length() - 1))
        return physical_place(frame.context) == watchpoint.place


def travelled(runner: Runner) -> None:
    """Update cached state after the target has moved in time."""
    runner.parts.inferior.inline_entered.clear()
    runner.parts.inferior.behind_traps.clear()
    runner.parts.state.pending_signal = ""
    runner.watcher.stopped = None
    runner.catcher.forget()
    runner.parts.inferior.state_changed()


__all__ = ["Arrival", "PastStops", "travelled"]
