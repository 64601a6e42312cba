"""Several queues of one memory, their dispatches run in shares of time.

Each queue has at most one dispatch under way; the next begins when it has ended, so that queues wait for one another
only where their packets or kernels do. A share is so many wave-instructions, whatever the time: kernels of two queues
of which one waits for what the other writes both end. Within a dispatch everything is deterministic; between queues and
a program that feeds them it is not, as on hardware.
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
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.excursion import Excursion

SHARE: Final = 1_000_000
"""Wave-instructions of a dispatch's share."""
BESIDE: Final = 1_000
"""Those that each other dispatch may execute before a wave is stepped, however short the step is."""
_YIELD: Final = 50e-6  # seconds: between two looks whether who wants a pause has it


class PacketQueue(Protocol):
    """A queue as its owner, who processes packets, shows it.

    ``first_wave`` is set by the runner: the number that the first wave of the next dispatch is to have.
    """

    first_wave: Callable[[], int]

    def take(self) -> Dispatch | None:
        """Process the packets at its head up to the first kernel's, and start that one; None: the packet at its head is
        not ready, or there is none."""

    def complete(self, dispatch: Dispatch) -> None:
        """The dispatch that was taken last has run to its end: its packet is done."""


class QueueStop(Struct, frozen=True):
    """Why the queues came back: what stopped, of which queue's dispatch.

    ``begins``: the dispatch is about to begin, and ``stop`` says nothing. Without ``queue`` it had none: an
    interrupt."""

    stop: Stop
    queue: PacketQueue | None = None
    dispatch: Dispatch | None = None
    begins: bool = False


class QueueRunner:
    """Runs what is in the queues.

    Attributes:
        begun: called with each dispatch before it runs; its result says whether to return with that.
        resolve: asked about each memory fault whether it has mended what was missing; the instruction is done again.
        quiet: dispatches that pass breakpoints and watchpoints. Their waves have no numbers of their own, until one
            of them is why the queues come back.
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
        self._counting = threading.Lock()  # of those who wait for the other one

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
        """A new queue."""
        with self.paused():
            queue.first_wave = lambda: self._next_wave
            self._queues.append(queue)

    def remove(self, queue: PacketQueue) -> None:
        """The queue is gone, with what it was doing."""
        with self.paused():
            if queue in self._queues:
                self._queues.remove(queue)
            self.abandon(queue)

    def abandon(self, queue: PacketQueue) -> None:
        """What the queue was doing is over, without having been completed."""
        with self.paused():
            dispatch = self._active.pop(queue, None)
            if dispatch is not None:
                self.quiet.discard(dispatch)
                dispatch.release()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While this is open no wave runs: for who changes code, or takes memory or a queue away, in another thread.
        What runs comes back for it, and goes on afterwards."""
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
        """Counted among those who want a pause, until they have it or give up."""
        with self._counting:
            self._waiting += 1
        try:
            yield
        finally:
            with self._counting:
                self._waiting -= 1

    def _between(self) -> None:
        """Let others have their pause."""
        while self._waiting:
            self._lock.release()
            time.sleep(_YIELD)
            self._lock.acquire()

    # -- running

    def interrupt(self) -> None:
        """Make a running (or else the next) ``run`` come back soon; may be called from a signal handler or another
        thread."""
        self._interrupted = True
        for dispatch in tuple(self._active.values()):
            dispatch.interrupt()

    def forget_interrupt(self) -> None:
        """Take back an `interrupt` that no run has answered."""
        self._interrupted = False
        for dispatch in tuple(self._active.values()):
            dispatch.forget_interrupt()

    def holder(self, wave: int) -> tuple[PacketQueue, Dispatch]:
        """Whose a resident wave is, by its number. Raises RunRequestError."""
        for queue, dispatch in self.active:
            if dispatch.plan.first_wave <= wave <= dispatch.created and any(w.number == wave for w in dispatch.waves):
                return queue, dispatch
        raise RunRequestError(f"wave {wave} does not exist")

    def run(self, options: RunOptions | None = None) -> QueueStop | None:
        """Go on until something stops; None: no queue has anything to do. Options are those of `Dispatch.run`; with a
        ``wave``, the dispatches of others run in shares beside it, unless it alone is to run."""
        options = options or RunOptions()
        free = replace(options, wave=None, step=False, range=None, only=False, alone=False, plan=None)
        with self._lock:
            if options.wave is None:
                return self._rotate(free, options.budget)
            queue, chosen = self.holder(options.wave)
            if not options.alone:  # a step may be too short for others to have a turn beside it
                stopped, _ = self._others(queue, free, BESIDE)
                if stopped is not None:
                    return stopped
            return self._follow(queue, chosen, options, free)

    def _rotate(self, options: RunOptions, budget: int | None) -> QueueStop | None:
        """All queues in turn."""
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
        """A stop that no wave is the reason of: at one of the dispatch that would be next, if any is under way."""
        for queue, dispatch in self.active:
            if dispatch not in self.quiet and dispatch.waves:
                wave = dispatch.waves[0]
                return QueueStop(Stop(kind, wave, wave.pc, wave.active_lanes()), queue, dispatch)
        return QueueStop(Stop(kind))

    def _share(self, queue: PacketQueue, options: RunOptions, share: int) -> tuple[QueueStop | None, int]:
        """A share for a queue: what came of it that the caller has to know, and the instructions that it took."""
        dispatch = self._active.get(queue)
        if dispatch is None:
            dispatch = queue.take()
            if dispatch is None:
                return None, 0
            dispatch.between_turns = self._between
            self._active[queue] = dispatch
            if self._interrupted or self._waiting:  # since the last look: it was not there to be told
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
            return None, used  # for a pause
        if stop.kind is StopKind.INTERRUPTED:
            self.forget_interrupt()
        if stop.kind is StopKind.BUDGET:
            return None, used
        if dispatch in self.quiet:
            stop = self._surface(dispatch, stop)
        return QueueStop(stop, queue, dispatch), used

    def _surface(self, dispatch: Dispatch, stop: Stop) -> Stop:
        """A hidden dispatch becomes visible: its waves need numbers that no others have."""
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
        """Whether an `interrupt` has come that no run has answered yet."""
        return self._interrupted

    def take_interrupt(self) -> bool:
        """Whether an `interrupt` has come that no run has answered; it is answered by this."""
        asked = self._interrupted
        self.forget_interrupt()
        return asked

    def _others(self, queue: PacketQueue, options: RunOptions, share: int) -> tuple[QueueStop | None, int]:
        """A share for each other queue."""
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
        """One wave as the options say, its dispatch and others beside it."""
        budget = options.budget
        while True:
            self._between()
            if self._active.get(queue) is not chosen:
                return None  # taken away meanwhile
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
