"""A dispatch: the waves of one kernel launch, run deterministically until something stops them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from rocdbg.codeobject.kernels import Kernel
from rocdbg.codeobject.metadata import ValueKind
from rocdbg.sim.core.checks import Answers, Table
from rocdbg.sim.core.layout import PRIVATE_APERTURE, SHARED_APERTURE, Status
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.core.run_options import NEVER, NO_STOPS, Followed, RunOptions, RunRequestError, Stops
from rocdbg.sim.core.stop_plan import StopPlan
from rocdbg.sim.core.stops import Fault, Space, Stop, StopKind
from rocdbg.sim.core.watched_words import ExistingWatches
from rocdbg.sim.core.wave import Wave
from rocdbg.sim.device.budget import Budget
from rocdbg.sim.device.called_function_run import Excursion
from rocdbg.sim.device.deadlock import is_deadlock
from rocdbg.sim.device.dispatch_plan import DispatchPlan
from rocdbg.sim.device.engine_stops import UNREPORTED, EngineStops
from rocdbg.sim.device.journal import Given, Journal
from rocdbg.sim.device.kernarg import HiddenValues
from rocdbg.sim.device.queue_structures import GRID_SYNC_REFUSED, GRID_SYNC_SIZE
from rocdbg.sim.device.residency_and_barriers import Residency
from rocdbg.sim.device.schedule import Schedule
from rocdbg.sim.device.workgroup_places import Places, SparePlaces
from rocdbg.sim.faults import crash_report
from rocdbg.sim.services.host_services import SERVED, HostServices
from rocdbg.work import Stopped, asking

if TYPE_CHECKING:
    from rocdbg.sim.engine.native import Engine

_Result = TypeVar("_Result")

RESIDENT_WAVES = 128
"""The most waves that exist at once, unless a single workgroup has more. When waves end, the next workgroups of the
grid are created.
"""

_UNLIMITED = 1 << 62
_AT_ONCE = 200_000
"""Number of instructions that a long step executes between two checks for other work."""


class Dispatch:
    """One kernel launch. ``Machine.dispatch`` creates it, and passes it ``spare`` places and their ``kind``.

    Waves are numbered in order of creation, from 1 or the number that the plan gives: by workgroup (x fastest), then by
    wave in the group. They take turns in that order, each for as many instructions as the `Schedule` says or until it
    waits, so a launch always runs the same way.
    """

    def __init__(
        self, plan: DispatchPlan, engine: Engine, memory: GlobalMemory, schedule: Schedule | None = None,
        services: HostServices | None = None, spare: SparePlaces | None = None, kind: Hashable = None,
    ) -> None:
        self.plan = plan
        self.memory = memory
        self.services = services or HostServices(memory, RESIDENT_WAVES)
        """The host services that the kernel reaches through its hidden arguments."""
        self._engine = engine
        self._stops = EngineStops(engine, memory, self._waits, bool(plan.state.descriptor.uses_dynamic_stack))
        self._spare, self._kind = spare, kind
        places = spare.take(kind) if spare is not None else None
        if places is None:
            places = Places(plan.state, plan.grid, plan.workgroup, plan.resident_groups)
        self._residency = Residency(plan.state, places, plan.scratch, plan.first_wave)
        if schedule is not None:
            self._residency.choose(schedule)
        engine.fill(self._residency)
        self._released = False
        self._crashed: Stop | None = None
        # Where each wave was when it was last reported; a wave does not stop at the same place again until it has
        # moved.
        self._reported: dict[int, int] = {}
        self._cut = False
        """Whether the current run ends at an arbitrary place and will be continued."""
        self.journal: Journal | None = None
        """Records turns that were not the schedule's choice."""
        self.between_turns: Callable[[], None] | None = None
        """A hook that is called from time to time while the dispatch runs, between two turns."""
        self._watches = ExistingWatches(memory, engine.set_watches)
        self._interrupted_at: Wave | None = None
        """The wave of the last stop, if the stop was an interrupt and no earlier stop had been reported for the wave at
        that place.
        """
        self._followed: Followed | None = None

    # -- properties ------------------------------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The dispatch's number on its machine, from 1."""
        return self.plan.number

    @property
    def kernel(self) -> Kernel:
        """The kernel that runs."""
        return self.plan.kernel

    @property
    def waves(self) -> Sequence[Wave]:
        """The resident waves in order of creation. A wave leaves when it ends."""
        return tuple(self._residency.wave(slot) for slot in self._residency.slots())

    @property
    def global_data_share(self) -> NDArray[np.uint8]:
        """GDS, which all waves of the device share; empty if the processor has none."""
        return self._engine.share.gds

    @property
    def finished(self) -> bool:
        """Whether every wave of the grid has ended."""
        return self._residency.empty

    @property
    def instructions(self) -> int:
        """Wave-instructions executed so far."""
        return self._residency.executed()

    def progress(self) -> tuple[int, int, int]:
        """Wave-instructions executed, workgroups that have ended, workgroups in all; may be called from another thread.
        """
        return self._residency.progress()

    def wave(self, number: int) -> Wave:
        """The resident wave with this number. Raises RunRequestError if it has ended or does not exist yet."""
        wave = self.resident(number)
        if wave is not None:
            return wave
        known = self.plan.first_wave <= number <= self._residency.get("created")
        state = "has ended" if known else "does not exist"
        raise RunRequestError(f"wave {number} {state}")

    def resident(self, number: int) -> Wave | None:
        """The wave with this number, if it is resident."""
        slot = self._residency.slot(number)
        return self._residency.wave(slot) if slot is not None else None

    def interrupt(self) -> None:
        """Make ``run``, or the next call of it if none is running, return INTERRUPTED soon. May be called from a signal
        handler or another thread.
        """
        self._residency.set("interrupted", 1)

    def forget_interrupt(self) -> None:
        """Cancel an `interrupt` to which no run has responded."""
        self._residency.set("interrupted", 0)

    @property
    def asked(self) -> bool:
        """Whether an `interrupt` is pending, to which no run has responded yet."""
        return bool(self._residency.get("interrupted"))

    def take_interrupt(self) -> bool:
        """Whether an `interrupt` is pending, to which no run has responded; clears it."""
        asked = bool(self._residency.get("interrupted"))
        self._residency.set("interrupted", 0)
        return asked

    def excursion(self, wave: Wave, room: int) -> Excursion:
        """Run a function on a copy of a wave, with ``room`` bytes of stack in each lane."""
        plan = self.plan
        hidden = HiddenValues(
            plan.grid, plan.workgroup, plan.dynamic_lds, PRIVATE_APERTURE >> 32, SHARED_APERTURE >> 32,
            plan.state.queue_address, served=self._served_functions,
        )
        return Excursion(
            wave, plan.state, plan.kernel.metadata, hidden, self._engine, self.memory, room, self.services
        )

    @property
    def _served_functions(self) -> dict[ValueKind, int]:
        """The values of the hidden arguments that the host provides for functions, if the kernel has none that they
        could share.
        """
        metadata = self.plan.kernel.metadata
        return {} if metadata is not None and metadata.hidden_args else self.services.arguments(SERVED)

    def renumber(self, first_wave: int) -> None:
        """Renumber the first wave and all that follow; earlier `Wave` objects become invalid."""
        delta = first_wave - self.plan.first_wave
        self._residency.renumber(delta)
        self._reported = {number + delta: pc for number, pc in self._reported.items()}
        self.plan = replace(self.plan, first_wave=first_wave)

    def release(self) -> None:
        """End the dispatch wherever it is and free its memory. Its waves no longer exist afterwards."""
        if self._released:
            return
        self._released = True
        residency = self._residency
        ended = residency.empty
        residency.set("retired", residency.executed())
        residency.clear()
        if ended and residency.private and self._spare is not None:
            residency.leave()
            self._spare.give(self._kind, residency.places)
        for allocation in (*self.plan.owned, self.plan.scratch):
            if allocation is not None:
                self.memory.free(allocation)

    # -- running ---------------------------------------------------------------------------------------------

    def run(self, options: RunOptions | None = None) -> Stop:
        """Continue until something stops the program; see `RunOptions` and `StopKind`.

        At a stop the state is exact: PC is at the next instruction (for a fault: at the instruction that faulted,
        without effect). Raises RunRequestError for a wave that is not resident, or when the dispatch has been
        released.
        """
        options = options or RunOptions()
        if self._released:
            raise RunRequestError("the dispatch has been released")
        if self.finished:
            return Stop(StopKind.DONE)
        if self._crashed is not None:
            return self._crashed
        self._interrupted_at = None
        if any(wave.enabled_exceptions for wave in self._residency.known()):
            self._engine.watch_exceptions()
        try:
            with asking(lambda: self.asked):
                try:
                    self._engine.set_stops(frozenset(options.stop_pcs), options.checks)
                    self._engine.set_cuts(options.plan.cuts if options.plan is not None else frozenset())
                    first = self.plan.first_wave
                    self._watches.set(options.watches, (first, first + self.plan.waves - 1))
                    stop = self._run(options)
                except Stopped:
                    stop = self._untranslated(self.waves[0])
            self.services.stopped(stop.kind is StopKind.DONE)
            return stop
        finally:
            self._engine.collect()

    def answers(self, wave: Wave, tables: Sequence[Table], lanes: int) -> list[Answers] | None:
        """As `Engine.answers`, for a resident wave."""
        return self._engine.answers(wave.address, tables, lanes)

    def _let_others(self) -> None:
        """Call the hook between two turns, and stop watching memory that it has freed."""
        if self.between_turns is not None:
            self.between_turns()
            self._watches.forget_freed()

    def _untranslated(self, wave: Wave) -> Stop:
        """Return the stop for an interrupt during translation. Raises `Stopped` for an interrupt that concerned another
        dispatch.
        """
        if not self.take_interrupt():
            raise Stopped
        return self._report(StopKind.INTERRUPTED, wave)

    def _run(self, options: RunOptions) -> Stop:
        focus = self.wave(options.wave) if options.wave is not None else None
        left = Budget(options.budget)
        if focus is None or (options.range is None and not options.step):
            return self._run_waves(left, only=focus if options.only else None)
        if options.step:
            return self._step(focus, left, options.steps)
        assert options.range is not None
        return self._run_range(focus, options, left)

    def _run_waves(self, left: Budget, only: Wave | None) -> Stop:
        """Run all waves in turn, or ``only`` one (and the others while it waits for them)."""
        while True:
            if only is None:
                stop = self._native_turns(left)
                if stop is None and self.finished:
                    return Stop(StopKind.DONE)
                stop = stop or self._next_turn(left)
            elif only.ended:
                return self._done_or(StopKind.WAVE_DONE, only)
            else:
                stop = self._next_turn(left) if only.waiting else self._give_turn(only, left)
            if stop is not None:
                return stop
            if self.finished:
                return Stop(StopKind.DONE)
            self._let_others()

    def _native_turns(self, left: Budget) -> Stop | None:
        """Run turns for as long as native code can do so alone; everything else is left to the next turn."""
        places = self._residency
        if places.get("interrupted") or left.exhausted:
            return None
        followed = self._followed
        places.set("followed", followed.wave if followed else 0)
        places.set("followed_end", followed.end if followed else 0)
        routine = self._engine.followed_routine(followed.range, followed.traced, followed.plan) if followed else 0
        places.set("followed_run", routine)
        status = self._engine.schedule(places, left.share(_UNLIMITED))
        left.spend(places.get("executed"))
        places.synchronise()
        if followed is not None and status is Status.CONTINUE and self._has_arrived(followed):
            return None  # the next turn of this wave reports it
        waves = (places.wave(slot) for slot in places.slots())
        if status is Status.CONTINUE and is_deadlock(waves, self._engine.share, self.memory):
            waiting = prod(self.plan.state.groups) > self.plan.resident_groups
            reason = self._too_large if waiting else "every wave waits at global wave sync that none releases"
            return self._report(StopKind.HANG, self.waves[0], reason=reason)
        if status in (Status.CONTINUE, Status.MISS, Status.REGISTERS):
            return None
        if status is Status.CRASH:
            places.set("following", -1)
            return self._crash(self.wave(places.get("turn_of")))
        return self._finish_turn(places.wave(places.get("current")), status)

    def _step(self, wave: Wave, left: Budget, steps: int) -> Stop:
        """Execute ``steps`` instructions of ``wave``, or fewer if it reaches a stop or begins to wait for other waves.
        If it already waits at the beginning, the other waves run.
        """
        first = True
        while True:
            stop = self._await(wave, left)
            if stop is not None:
                return stop
            begun, before, count = self._begin_given(), wave.instructions, min(steps, _AT_ONCE)
            status = Status(
                self._engine.run(wave.address, budget=count, step=count == 1 and first, ignore_stop=first)
            )
            if status is Status.MISS:
                self._end_given(wave.number, begun)
                return self._untranslated(wave)
            # A step ignores the stop it starts from, so BREAK means that it has arrived at another one.
            stop = self._handle(wave, status) if status is not Status.BREAK else None
            self._end_given(wave.number, begun)
            if stop is not None:
                return stop
            if wave.ended:
                return self._done_or(StopKind.WAVE_DONE, wave)
            done = wave.instructions - before
            steps, first = steps - done, False
            if status is Status.BREAK or steps <= 0 or not done or wave.waiting:
                return self._report(StopKind.STEP, wave)
            if self.take_interrupt():
                return self._report(StopKind.INTERRUPTED, wave)
            self._let_others()

    def _run_range(self, wave: Wave, options: RunOptions, left: Budget) -> Stop:
        """Run ``wave`` until its PC leaves the bounds, or its plan ends. The other waves have their turns in between,
        unless ``only``. ``wave`` has the first turn, regardless of the schedule; then the schedule continues."""
        assert options.range is not None
        plan, begin = options.plan or StopPlan.of_range(*options.range), wave.instructions
        end = NEVER if options.most is None else begin + options.most
        first, self._followed = True, Followed(wave.number, end, plan=plan)
        try:
            while True:
                before = self.instructions
                if options.only:
                    stop = self._await(wave, left) or self._give_turn(wave, left, alone=True)
                elif first and not wave.waiting and self.next_wave != wave.number:
                    stop = self._give_turn(wave, left)
                else:
                    stop = self._native_turns(left)
                    if stop is None:
                        stop = Stop(StopKind.DONE) if self.finished else self._next_turn(left)
                first = False
                if plan.spent(self.instructions - before):
                    self._engine.set_cuts(plan.cuts)
                if stop is not None:
                    return stop
                if wave.ended:
                    return self._done_or(StopKind.WAVE_DONE, wave)
                if options.most is not None and (wave.waiting or wave.instructions - begin >= options.most):
                    return self._report(StopKind.STEP, wave)
                self._let_others()
        finally:
            self._followed = None

    def _await(self, wave: Wave, left: Budget) -> Stop | None:
        """Run the other waves until ``wave`` no longer waits at a barrier."""
        while wave.waiting:
            stop = self._next_turn(left)
            if stop is not None:
                return stop
        return None

    def _next_turn(self, left: Budget) -> Stop | None:
        """Run the turn of the next wave. Returns a hang if no wave can continue (on GFX12, if waves wait for a barrier
        that they did not signal).
        """
        slot = self._residency.next_slot()
        if slot is None:
            reason = "every wave waits at a barrier that none completes"
            return self._report(StopKind.HANG, self.waves[0], reason=reason)
        return self._turn(self._residency.wave(slot), left)

    def _give_turn(self, wave: Wave, left: Budget, alone: bool = False) -> Stop | None:
        """Run a turn that the schedule did not choose. ``alone``: afterwards the schedule continues as if it had not
        happened, as after single steps.
        """
        begun, before = self._begin_given(), self.bookkeeping
        stop = self._turn(wave, left)
        if alone:
            self._residency.resume_turns(*before)
        self._end_given(wave.number, begun)
        return stop

    def _begin_given(self) -> bool:
        """Bring the journal up to date before a turn that it must record; returns whether there is a journal."""
        if self.journal is not None:
            self.journal.free(self.instructions)
        return self.journal is not None

    def _end_given(self, wave: int, begun: bool) -> None:
        if begun and self.journal is not None:
            self.journal.given(self.instructions, wave, *self.bookkeeping)

    # -- repetition of an earlier run -------------------------------------------------------------------------

    def follow(
        self, budget: int, stops: Stops = NO_STOPS, followed: Followed | None = None, cut: bool = False
    ) -> Stop:
        """As `run`, for all waves in turn, while one of them is followed. ``cut`` says that the run will be continued
        after the budget ends.
        """
        return self._following(stops, followed, cut, lambda: self._run_waves(Budget(budget), None))

    def give(
        self, number: int, budget: int, stops: Stops = NO_STOPS, followed: Followed | None = None, cut: bool = False
    ) -> Stop | None:
        """Let one wave execute up to ``budget`` instructions, regardless of the schedule; returns None when it has
        executed them, or waits.
        """
        return self._following(stops, followed, cut, lambda: self._turn(self.wave(number), Budget(budget)))

    def _following(self, stops: Stops, followed: Followed | None, cut: bool, action: Callable[[], _Result]) -> _Result:
        self._engine.set_stops(frozenset(stops.pcs), stops.checks)
        self._engine.set_watches(stops.watches)
        self._followed, self._cut = followed, cut
        try:
            with asking(lambda: self.asked):
                return action()
        finally:
            self._followed, self._cut = None, False
            self._engine.collect()

    def given(self, entry: Given) -> None:
        """Set the schedule to its state after the turn that a journal entry describes."""
        self._residency.resume_turns(entry.cursor, entry.turn_of, entry.turn_left, entry.random)

    @property
    def bookkeeping(self) -> tuple[int, int, int, int]:
        """``cursor``, ``turn_of``, ``turn_left`` and ``random`` of the schedule."""
        places = self._residency
        return places.get("cursor"), places.get("turn_of"), places.get("turn_left"), places.get("random")

    @property
    def next_wave(self) -> int | None:
        """The number of the wave that has the next turn; None if all wait."""
        slot = self._residency.next_slot()
        return self._residency.number(slot) if slot is not None else None

    def _has_arrived(self, followed: Followed) -> bool:
        """Whether the followed wave is next and has executed all instructions that it may."""
        slot = self._residency.next_slot()
        if slot is None or self._residency.number(slot) != followed.wave:
            return False
        return self._residency.instructions(slot) >= followed.end

    def trace(self, rows: NDArray[np.uint64], first: int) -> None:
        """Make a followed wave write PC and EXEC to ``rows``, uint64[n, 2], before each instruction. Row 0 belongs to
        the instruction before which the wave has executed ``first`` instructions.
        """
        self._engine.trace_into(rows, first)

    def memory_of_waves(self) -> list[NDArray[np.uint8]]:
        """All memory, in addition to the machine's, that must be restored to return to an earlier state. Call
        `restored` after restoring it, and `keep_words` before comparing it.
        """
        return self._residency.memory()

    def keep_words(self) -> None:
        """Update the copies in `memory_of_waves`."""
        self._residency.keep_words()

    def restored(self) -> None:
        """Note that the waves' state was overwritten."""
        self._crashed = None
        self._residency.restore_words()
        self._residency.set("following", -1)
        self._residency.set("interrupted", 0)
        self._residency.synchronise()
        self.stand(None)

    def rewritten(self) -> None:
        """Record that the debugger wrote to registers and memory."""
        self._residency.set("following", -1)
        self.stand(None)

    @property
    def created(self) -> int:
        """The number of the wave that was created last."""
        return self._residency.get("created")

    def counts(self) -> dict[int, int]:
        """Wave-instructions that each resident wave has executed, by wave number."""
        places = self._residency
        return {places.number(slot): places.instructions(slot) for slot in places.slots()}

    def refetch(self, lines: dict[int, bytes]) -> None:
        """Set the contents of the instruction cache to these lines (`instruction_lines`)."""
        self._engine.set_code_lines(lines)

    @property
    def instruction_lines(self) -> dict[int, bytes]:
        """The lines of the instruction cache."""
        return self._engine.code_lines

    def note_stores(self, ranges: NDArray[np.uint64] | None) -> None:
        """Record stores to ranges of host memory, uint64[n, 2] of begin and end, from now on; None stops this."""
        self._engine.note_stores(ranges)

    def take_noted(self) -> tuple[int, int, int]:
        """Stores of lanes to these ranges since the last call, the lanes that stored, and the PC of the last store."""
        return self._engine.take_noted()

    def pass_over(self, number: int) -> None:
        """Let a wave continue past the stop at its place."""
        self._note_reported(self.wave(number))

    def stop_again(self, number: int) -> bool:
        """Let a wave stop at its place although it was already reported there; returns whether it was."""
        wave = self.wave(number)
        return self._take_reported(wave) == wave.pc

    def stand(self, number: int | None) -> None:
        """Treat the current state as that of a stop at this wave, and no other wave as reported."""
        for slot in self._residency.slots():
            self._residency.set_reported(slot, False)
        self._reported.clear()
        if number is not None:
            self._note_reported(self.wave(number))

    def _turn(self, wave: Wave, left: Budget) -> Stop | None:
        """Let ``wave`` run for one quantum."""
        places = self._residency
        if places.get("interrupted"):
            places.set("interrupted", 0)
            return self._report(StopKind.INTERRUPTED, wave)
        if left.exhausted and self._cut:  # the stop at the place that the wave has reached must still occur
            return Stop(StopKind.BUDGET, wave, wave.pc, wave.active_lanes())
        if left.exhausted:
            return self._report(StopKind.BUDGET, wave)
        followed, most, traced, plan = self._followed, _UNLIMITED, False, None
        bounds: tuple[int, int] | None = None
        if followed is not None and followed.wave == wave.number:
            most, bounds, traced = followed.end - wave.instructions, followed.range, followed.traced
            plan = followed.plan
            if most <= 0:
                return Stop(StopKind.STEP, wave, wave.pc)
        places.set("cursor", wave.number)
        if places.get("turn_of") != wave.number:
            places.set("turn_of", wave.number)
            places.set("turn_left", places.next_turn_length())
        before, reported = wave.instructions, self._take_reported(wave) == wave.pc
        status = Status(
            self._engine.run(
                wave.address,
                budget=min(left.share(places.get("turn_left")), most),
                range=bounds,
                traced=traced,
                ignore_stop=reported,
                plan=plan,
            )
        )
        used = wave.instructions - before
        left.spend(used)
        if reported and not used and status in (Status.BUDGET, Status.MISS):
            self._note_reported(wave)  # it arrived there with the last instruction of its turn, and has not moved
        places.set("turn_left", places.get("turn_left") - used)
        stop = self._finish_turn(wave, status)
        return self._untranslated(wave) if status is Status.MISS else stop

    def _finish_turn(self, wave: Wave, status: Status) -> Stop | None:
        """Handle the end of a turn with ``status``."""
        places = self._residency
        stop = self._handle(wave, status)
        goes_on = status in (Status.SIGNAL, Status.SIGNAL_FIRST, Status.BARRIER_STATE, Status.INTERRUPT) or (
            status is Status.WAIT and not wave.waiting
        )
        # A turn that was cut short by the caller's budget or an interrupt continues later, so neither changes the
        # schedule.
        early = goes_on or status in (Status.BUDGET, Status.MISS)
        cut = status is Status.RANGE or (places.get("turn_left") > 0 and early)
        places.set("following", -1)
        if stop is None and not cut:
            places.set("cursor", wave.number + 1)
            places.set("turn_of", 0)
        if stop is None and status is Status.RANGE:
            return self._report(StopKind.RANGE, wave)
        if stop is None and status is Status.END and self._followed is not None and wave.number == self._followed.wave:
            return self._done_or(StopKind.WAVE_DONE, wave)
        return stop

    def _handle(self, wave: Wave, status: Status) -> Stop | None:
        """Interpret the status returned by generated code; None if execution can continue."""
        match status:
            case Status.BUDGET | Status.RANGE | Status.SLEEP | Status.MISS:
                return None
            case Status.INTERRUPT:
                problem = self.services.interrupt()
                self._watches.forget_freed()  # the wave may have freed memory
                return self._report(StopKind.ABORT, wave, reason=problem) if problem is not None else None
            case Status.BREAK:
                return self._report(StopKind.BREAKPOINT, wave)
            case Status.BARRIER:
                self._residency.arrive(self._residency.slot_of(wave))
                return None
            case Status.SIGNAL | Status.SIGNAL_FIRST:
                first = self._residency.signal(self._residency.slot_of(wave))
                if status is Status.SIGNAL_FIRST:
                    wave.scc = first
                return None
            case Status.BARRIER_STATE:
                state = self._residency.barrier_state(self._residency.slot_of(wave))
                wave.set_sgpr(wave.word("requested"), state)
                return None
            case Status.WAIT:
                self._residency.wait(self._residency.slot_of(wave))
                return None
            case Status.END:
                self._reported.pop(wave.number, None)
                self._residency.end(self._residency.slot_of(wave))
                return None
            case Status.CRASH:
                return self._crash(wave)
            case Status.WATCH:
                self.last_access = self._engine.access()
            case _:
                pass
        stop = self._stops.of(wave, status)
        assert stop is not None, f"the engine returned {status!r}"
        if status not in UNREPORTED:
            self._note_reported(wave)
        return stop

    def _waits(self, fault: Fault) -> str | None:
        refused = fault.space is Space.GLOBAL and 0 <= fault.address - GRID_SYNC_REFUSED < GRID_SYNC_SIZE
        return self._too_large if refused else None

    def _crash(self, wave: Wave) -> Stop:
        """End the dispatch, because generated code was abandoned within a block and it is not known how much of the
        block was executed.
        """
        wave.set_word("limit", 0)
        reason = f"generated code of the block at {wave.pc:#x} crashed: {self._engine.crash().text}"
        stop = self._report(StopKind.INTERNAL, wave, instruction=self._stops.text(wave, wave.pc), reason=reason)
        report = crash_report(wave, self._engine.crash(), self.memory)
        self._crashed = replace(stop, report=f"{reason}\n{report}")
        return self._crashed

    @property
    def _too_large(self) -> str:
        """The reason why the workgroups of the grid cannot synchronise with each other; None if they can."""
        return (
            f"the kernel waits for its whole grid of {prod(self.plan.state.groups)} workgroups, "
            f"but at most {self.plan.resident_groups} can be resident at once"
        )

    def _report(self, kind: StopKind, wave: Wave, *, instruction: str | None = None, reason: str | None = None) -> Stop:
        was_reported = self._reported.get(wave.number) == wave.pc
        self._interrupted_at = wave if kind is StopKind.INTERRUPTED and not was_reported else None
        self._note_reported(wave)
        return self._stops.stop(kind, wave, instruction=instruction, reason=reason)

    def take_back_interrupt(self) -> None:
        """Undo the effect of an interrupt that only made a pause which the user does not see: if a wave is at a stop,
        it still stops there.
        """
        if self._interrupted_at is not None:
            self._take_reported(self._interrupted_at)
            self._interrupted_at = None

    def _note_reported(self, wave: Wave) -> None:
        self._reported[wave.number] = wave.pc
        self._residency.set_reported(self._residency.slot_of(wave), True)

    def _take_reported(self, wave: Wave) -> int | None:
        """Return and forget where the wave was last reported; None if it has run since."""
        pc = self._reported.pop(wave.number, None)
        if pc is not None:
            self._residency.set_reported(self._residency.slot_of(wave), False)
        return pc

    def _done_or(self, kind: StopKind, wave: Wave) -> Stop:
        return Stop(StopKind.DONE) if self.finished else Stop(kind, wave)
