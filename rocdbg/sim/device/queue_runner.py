"""Runs several queues that use the same memory. Their dispatches take turns, each for a share of instructions.

Each queue runs at most one dispatch at a time, and starts the next one when that dispatch has ended. Queues therefore
wait for one another only if their packets or kernels do. A share is a number of wave-instructions, not a time. If the
kernel of one queue waits for what the kernel of another queue writes, both make progress and end. Execution within a
dispatch is deterministic. The interplay of queues with the program that feeds them is not, as on hardware.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.sim.core.run_options import RunOptions, RunRequestError
from rocdbg.sim.core.stops import Stop, StopKind
from rocdbg.sim.core.wave import Wave
from rocdbg.sim.device.called_function_run import Excursion
from rocdbg.sim.device.dispatch import Dispatch

SHARE: Final = 1_000_000
"""Wave-instructions of one share of a dispatch."""
BESIDE: Final = 1_000
"""Wave-instructions that every other dispatch may execute before a wave is stepped, however short the step is."""
_YIELD: Final = 50e-6  # seconds between two checks whether a requested pause was granted


class PacketQueue(Protocol):
    """What the owner of a queue must provide; the owner processes the packets.

    The runner sets ``first_wave``, a function that returns the number of the next dispatch's first wave.
    """

    first_wave: Callable[[], int]

    def take(self) -> Dispatch | None:
        """Process the packets at the queue's head up to the first kernel dispatch, and start that kernel; None if there
        is no packet, or the packet at the head is not ready.
        """

    def complete(self, dispatch: Dispatch) -> None:
        """Complete the packet of the last dispatch, which has ended."""


class QueueStop(Struct, frozen=True):
    """Why the queues stopped running: the stop, and the queue whose dispatch stopped.

    ``begins`` means that the dispatch is about to begin; ``stop`` then has no meaning. If ``queue`` is None, it is an
    interrupt.
    """

    stop: Stop
    queue: PacketQueue | None = None
    dispatch: Dispatch | None = None
    begins: bool = False


class QueueRunner:
    """Runs the contents of the queues.

    Attributes:
        begun: called with each dispatch before it runs; if the result is true, `run` returns. resolve: called for each
        memory fault; if it returns true, it has fixed the cause and the instruction is retried.
        quiet: dispatches that ignore breakpoints and watchpoints. Their waves have no unique numbers until one of them
        makes `run` return.
        executed: wave-instructions of all dispatches so far.
    """

    def __init__(self) -> None:
        self.begun: Callable[[PacketQueue, Dispatch], bool] = lambda queue, dispatch: False
        self.resolve: Callable[[Dispatch, Stop], bool] = lambda dispatch, stop: False
        self.quiet: set[Dispatch] = set()
        self.executed = 0
        self._queues: list[PacketQueue] = []
        self._active: dict[PacketQueue, Dispatch] = {}
        self._next_wave = 1
        self._turn = 0
        self._interrupted = False
        self._lock = threading.RLock()
        self._waiting = 0
        self._counting = threading.Lock()  # guards the number of threads that wait for the other lock

    # -- queues

    @property
    def queues(self) -> Sequence[PacketQueue]:
        """The queues in order of creation."""
        return tuple(self._queues)

    @property
    def active(self) -> Sequence[tuple[PacketQueue, Dispatch]]:
        """The dispatches under way, in order of their queues."""
        return [(queue, self._active[queue]) for queue in tuple(self._queues) if queue in self._active]

    def add(self, queue: PacketQueue) -> None:
        """Add a queue."""
        with self.paused():
            queue.first_wave = lambda: self._next_wave
            self._queues.append(queue)

    def reserve(self) -> int:
        """Return the next number of a wave, which no wave gets: a thread of another kind has it."""
        number, self._next_wave = self._next_wave, self._next_wave + 1
        return number

    def remove(self, queue: PacketQueue) -> None:
        """Remove the queue together with its dispatch."""
        with self.paused():
            if queue in self._queues:
                self._queues.remove(queue)
            self.abandon(queue)

    def abandon(self, queue: PacketQueue) -> None:
        """Abandon the queue's dispatch, without completing its packet."""
        with self.paused():
            dispatch = self._active.pop(queue, None)
            if dispatch is not None:
                self.quiet.discard(dispatch)
                dispatch.release()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A context in which no wave runs, for threads that change code, or free memory or a queue. A call of `run` in
        progress pauses and then continues.
        """
        with self._waits():
            for dispatch in tuple(self._active.values()):
                dispatch.interrupt()
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def _waits(self) -> Iterator[None]:
        """Count the caller among the threads that want a pause, until it has the pause or gives up."""
        with self._counting:
            self._waiting += 1
        try:
            yield
        finally:
            with self._counting:
                self._waiting -= 1

    def _between(self) -> None:
        """Let other threads have the pause for which they wait."""
        while self._waiting:
            self._lock.release()
            time.sleep(_YIELD)
            self._lock.acquire()

    # -- running

    def interrupt(self) -> None:
        """Make ``run``, or the next call of it if none is running, return soon. May be called from a signal handler or
        another thread.
        """
        self._interrupted = True
        for dispatch in tuple(self._active.values()):
            dispatch.interrupt()

    def forget_interrupt(self) -> None:
        """Cancel an `interrupt` to which no run has responded."""
        self._interrupted = False
        for dispatch in tuple(self._active.values()):
            dispatch.forget_interrupt()

    def holder(self, wave: int) -> tuple[PacketQueue, Dispatch]:
        """The queue of a resident wave, by wave number. Raises RunRequestError."""
        for queue, dispatch in self.active:
            if dispatch.plan.first_wave <= wave <= dispatch.created and any(w.number == wave for w in dispatch.waves):
                return queue, dispatch
        raise RunRequestError(f"wave {wave} does not exist")

    def run(self, options: RunOptions | None = None) -> QueueStop | None:
        """Run the queues until something stops them; returns None if no queue has anything to do.

        Options are those of `Dispatch.run`. If a ``wave`` is named, the dispatches of other queues also run in shares,
        unless the options say ``alone``.
        """
        options = options or RunOptions()
        free = replace(options, wave=None, step=False, range=None, only=False, alone=False, plan=None, most=None)
        with self._lock:
            if options.wave is None:
                return self._rotate(free, options.budget)
            queue, chosen = self.holder(options.wave)
            if not options.alone:  # a step may be too short for the others to have a turn during it
                stopped, _ = self._others(queue, free, BESIDE)
                if stopped is not None:
                    return stopped
            return self._follow(queue, chosen, options, free)

    def _rotate(self, options: RunOptions, budget: int | None) -> QueueStop | None:
        """Run all queues in turn."""
        idle = 0
        while idle < max(1, len(self._queues)):
            self._between()
            if self._interrupted:
                self.forget_interrupt()
                return self._nothing(StopKind.INTERRUPTED)
            if budget is not None and budget <= 0:
                return self._nothing(StopKind.BUDGET)
            if not self._queues:
                return None
            self._turn %= len(self._queues)
            queue = self._queues[self._turn]
            stopped, used = self._share(queue, options, SHARE if budget is None else min(SHARE, budget))
            if budget is not None:
                budget -= used
            if stopped is not None:
                return stopped
            idle = 0 if used or queue in self._active else idle + 1
            self._turn += 1
        return None

    def _nothing(self, kind: StopKind) -> QueueStop:
        """A stop that no wave caused. It is in the dispatch that would be next, if there is one."""
        for queue, dispatch in self.active:
            if dispatch not in self.quiet and dispatch.waves:
                wave = dispatch.waves[0]
                return QueueStop(Stop(kind, wave, wave.pc, wave.active_lanes()), queue, dispatch)
        return QueueStop(Stop(kind))

    def _share(self, queue: PacketQueue, options: RunOptions, share: int) -> tuple[QueueStop | None, int]:
        """Run a share of a queue; returns the stop that the caller must handle (None: there is none), and the number of
        executed instructions.
        """
        dispatch = self._active.get(queue)
        if dispatch is None:
            dispatch = queue.take()
            if dispatch is None:
                return None, 0
            dispatch.between_turns = self._between
            self._active[queue] = dispatch
            if self._interrupted or self._waiting:  # this may have happened while the dispatch was not known yet
                dispatch.interrupt()
            back = self.begun(queue, dispatch)
            if dispatch not in self.quiet:
                self._next_wave += dispatch.plan.waves
            if back:
                return QueueStop(Stop(StopKind.BUDGET), queue, dispatch, begins=True), 0
        return self._run(queue, dispatch, replace(options, budget=share))

    def _run(self, queue: PacketQueue, dispatch: Dispatch, options: RunOptions) -> tuple[QueueStop | None, int]:
        if dispatch in self.quiet:
            options = RunOptions(budget=options.budget)
        before = dispatch.instructions
        while True:
            stop = dispatch.run(options)
            if stop.kind is not StopKind.FAULT or not self.resolve(dispatch, stop):
                break
        used = dispatch.instructions - before
        self.executed += used
        if stop.kind is StopKind.DONE:
            self._active.pop(queue, None)
            self.quiet.discard(dispatch)
            dispatch.release()
            queue.complete(dispatch)
            return None, max(used, 1)
        if stop.kind is StopKind.INTERRUPTED and not self._interrupted:
            dispatch.take_back_interrupt()
            return None, used  # so that another thread can have its pause
        if stop.kind is StopKind.INTERRUPTED:
            self.forget_interrupt()
        if stop.kind is StopKind.BUDGET:
            return None, used
        if dispatch in self.quiet:
            stop = self._surface(dispatch, stop)
        return QueueStop(stop, queue, dispatch), used

    def _surface(self, dispatch: Dispatch, stop: Stop) -> Stop:
        """Make a hidden dispatch visible: its waves need unique numbers."""
        self.quiet.discard(dispatch)
        slot = stop.wave.number - dispatch.plan.first_wave if stop.wave is not None else 0
        dispatch.renumber(self._next_wave)
        self._next_wave += dispatch.plan.waves
        return replace(stop, wave=dispatch.wave(dispatch.plan.first_wave + slot)) if stop.wave is not None else stop

    # -- functions that a debugger calls

    def excursion(self, wave: Wave, room: int) -> Excursion:
        """See `Dispatch.excursion`."""
        return self.holder(wave.number)[1].excursion(wave, room)

    @property
    def asked(self) -> bool:
        """Whether an `interrupt` is pending, to which no run has responded yet."""
        return self._interrupted

    def take_interrupt(self) -> bool:
        """Whether an `interrupt` is pending, to which no run has responded; clears it."""
        asked = self._interrupted
        self.forget_interrupt()
        return asked

    def _others(self, queue: PacketQueue, options: RunOptions, share: int) -> tuple[QueueStop | None, int]:
        """Run a share of each other queue."""
        total = 0
        for other in tuple(self._queues):
            if other is not queue and other in self._queues:
                stopped, used = self._share(other, options, share)
                total += used
                if stopped is not None:
                    return stopped, total
        return None, total

    def _follow(
        self, queue: PacketQueue, chosen: Dispatch, options: RunOptions, free: RunOptions
    ) -> QueueStop | None:
        """Run one wave as the options say, and its dispatch and the others beside it."""
        budget = options.budget
        while True:
            self._between()
            if self._active.get(queue) is not chosen:
                return None  # the queue was removed in the meantime
            share = SHARE if budget is None else min(SHARE, budget)
            before = chosen.instructions
            stopped, used = self._run(queue, chosen, replace(options, budget=share))
            if stopped is not None:
                return stopped
            if queue not in self._active:
                return QueueStop(Stop(StopKind.WAVE_DONE), queue)
            if not options.alone:
                stopped, more = self._others(queue, free, share)
                used += more
                if stopped is not None:
                    return stopped
            if budget is not None:
                budget -= used
                if budget <= 0:
                    return self._nothing(StopKind.BUDGET)
            if self._interrupted:
                self.forget_interrupt()
                return self._nothing(StopKind.INTERRUPTED)
            if before == chosen.instructions and options.alone:
                time.sleep(_YIELD)


__all__ = ["BESIDE", "SHARE", "PacketQueue", "QueueRunner", "QueueStop"]
