"""A dispatch: the waves of one kernel launch, run deterministically until something stops them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.codeobject.kernels import Kernel
from rocdbg.sim.arithmetic_exceptions import ILLEGAL_INSTRUCTION, MEMORY_VIOLATION, causes
from rocdbg.sim.device.aql import GRID_SYNC_REFUSED, GRID_SYNC_SIZE
from rocdbg.sim.device.deadlock import is_deadlock
from rocdbg.sim.device.residency import Residency
from rocdbg.sim.device.schedule import QUANTUM
from rocdbg.sim.faults import crash_report, describe_fault, fetch_fault, instruction_at, instruction_text
from rocdbg.sim.initial_state import DispatchState
from rocdbg.sim.layout import Status
from rocdbg.sim.memory import Allocation, GlobalMemory
from rocdbg.sim.options import RunOptions, RunRequestError
from rocdbg.sim.register_bounds import excess
from rocdbg.sim.stops import ABORT_TRAP, Space, Stop, StopKind
from rocdbg.sim.wave import Dim3, Wave

if TYPE_CHECKING:
    from rocdbg.sim.native import Engine

RESIDENT_WAVES = 128
"""Waves that exist at once, at least one workgroup; the others of the grid are created as these end."""

_S_TRAP_SIZE = 4
_UNLIMITED = 1 << 62


class DispatchPlan(Struct, frozen=True):
    """All that is fixed when a dispatch starts. ``allocations`` are those it owns (kernarg, packet,
    scratch).
    """

    kernel: Kernel
    number: int
    """From 1, in order of launch on the machine."""
    state: DispatchState
    grid: Dim3
    workgroup: Dim3
    dynamic_lds: int
    resident_groups: int
    kernarg: Allocation
    packet: Allocation
    scratch: Allocation | None
    descriptor_address: int

    @property
    def waves_per_group(self) -> int:
        """Waves of a complete workgroup."""
        return -(-(self.workgroup[0] * self.workgroup[1] * self.workgroup[2]) // self.state.wave_size)


class Dispatch:
    """One kernel launch. Made by ``Machine.dispatch``.

    Waves are numbered from 1 in order of creation: by workgroup (x fastest), then by wave in the group. They
    take turns in that order, each for ``QUANTUM`` instructions or until it waits, so a launch always runs in
    the same way.
    """

    def __init__(self, plan: DispatchPlan, engine: Engine, memory: GlobalMemory) -> None:
        self.plan = plan
        self.memory = memory
        self._engine = engine
        state = plan.state
        self._residency = Residency(state, plan.grid, plan.workgroup, plan.resident_groups, plan.scratch)
        self._released = False
        self._crashed: Stop | None = None
        # Where each wave was when it was last reported: it does not stop there again before it moved.
        self._reported: dict[int, int] = {}

    # -- what there is ---------------------------------------------------------------------------------------

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
    def finished(self) -> bool:
        """Whether every wave of the grid has ended."""
        return self._residency.empty

    @property
    def instructions(self) -> int:
        """Wave-instructions executed so far."""
        places = self._residency
        return places.get("retired") + sum(places.instructions(slot) for slot in places.slots())

    def progress(self) -> tuple[int, int, int]:
        """Wave-instructions executed, workgroups that have ended, workgroups in all; another thread may ask too."""
        return self._residency.progress()

    def wave(self, number: int) -> Wave:
        """The resident wave with this number. Raises RunRequestError if it has ended or is yet to come."""
        slot = self._residency.slot(number)
        if slot is not None:
            return self._residency.wave(slot)
        state = "has ended" if 0 < number <= self._residency.get("created") else "does not exist"
        raise RunRequestError(f"wave {number} {state}")

    def interrupt(self) -> None:
        """Make a running (or else the next) ``run`` return INTERRUPTED soon; may be called from a signal
        handler or another thread.
        """
        self._residency.set("interrupted", 1)

    def forget_interrupt(self) -> None:
        """Take back an `interrupt` that no run has answered."""
        self._residency.set("interrupted", 0)

    def release(self) -> None:
        """End the dispatch wherever it is and give its memory back. The waves are gone afterwards."""
        if self._released:
            return
        self._released = True
        self._residency.set("retired", self.instructions)
        self._residency.clear()
        for allocation in (self.plan.kernarg, self.plan.packet, self.plan.scratch):
            if allocation is not None:
                self.memory.free(allocation)

    # -- running ---------------------------------------------------------------------------------------------

    def run(self, options: RunOptions | None = None) -> Stop:
        """Go on until something stops the program; see `RunOptions` and `StopKind`.

        Stops leave the state exact: PC at the instruction that is next (for a fault: that faulted, without
        effect). Raises RunRequestError for a wave that is not resident, or when the dispatch has been
        released.
        """
        options = options or RunOptions()
        if self._released:
            raise RunRequestError("the dispatch has been released")
        if self.finished:
            return Stop(StopKind.DONE)
        if self._crashed is not None:
            return self._crashed
        self._engine.set_stops(frozenset(options.stop_pcs))
        if any(wave.enabled_exceptions for wave in self._residency.known()):
            self._engine.watch_exceptions()
        focus = self.wave(options.wave) if options.wave is not None else None
        left = _Budget(options.budget)
        if focus is None or (options.range is None and not options.step):
            return self._run_waves(left, only=focus if options.only else None)
        if options.step:
            return self._step(focus, left)
        assert options.range is not None
        return self._run_range(focus, options.range, left, options.only)

    def _run_waves(self, left: _Budget, only: Wave | None) -> Stop:
        """All waves in turn, or ``only`` one (and the others while it waits for them)."""
        while True:
            if only is None:
                stop = self._native_turns(left)
                if stop is None and self.finished:
                    return Stop(StopKind.DONE)
                stop = stop or self._next_turn(left)
            elif only.ended:
                return self._done_or(StopKind.WAVE_DONE, only)
            else:
                stop = self._next_turn(left) if only.waiting else self._turn(only, left)
            if stop is not None:
                return stop
            if self.finished:
                return Stop(StopKind.DONE)

    def _native_turns(self, left: _Budget) -> Stop | None:
        """As many turns as native code can do by itself; what it cannot is the next turn's affair."""
        places = self._residency
        if places.get("interrupted") or left.exhausted:
            return None
        status = self._engine.schedule(places, left.share(_UNLIMITED))
        left.spend(places.get("executed"))
        places.synchronise()
        if status is Status.CONTINUE and is_deadlock(self.waves, self._engine.share, self.memory):
            waiting = prod(self.plan.state.groups) > self.plan.resident_groups
            reason = self._too_large if waiting else "every wave waits at global wave sync that none releases"
            return self._report(StopKind.HANG, self.waves[0], reason=reason)
        if status in (Status.CONTINUE, Status.MISS, Status.REGISTERS):
            return None
        if status is Status.CRASH:
            places.set("following", -1)
            return self._crash(self.wave(places.get("turn_of")))
        return self._finish_turn(places.wave(places.get("current")), status)

    def _step(self, wave: Wave, left: _Budget) -> Stop:
        """One instruction of ``wave``; the others run first if it waits for them."""
        stop = self._await(wave, left)
        if stop is not None:
            return stop
        status = Status(self._engine.run(wave.address, budget=1, step=True))
        # A step ignores the stop it starts from, so BREAK means that it has arrived at another one.
        stop = self._handle(wave, status) if status is not Status.BREAK else None
        if stop is not None:
            return stop
        if wave.ended:
            return self._done_or(StopKind.WAVE_DONE, wave)
        return self._report(StopKind.STEP, wave)

    def _run_range(self, wave: Wave, bounds: tuple[int, int], left: _Budget, only: bool) -> Stop:
        """``wave`` until its PC leaves the bounds; the others have their turns between its own unless
        ``only``.
        """
        low, high = bounds
        while True:
            stop = self._await(wave, left)
            if stop is not None:
                return stop
            if not low <= wave.pc < high:
                return self._report(StopKind.RANGE, wave)
            stop = self._turn(wave, left, bounds)
            if stop is not None:
                return stop
            if wave.ended:
                return self._done_or(StopKind.WAVE_DONE, wave)
            if not only:
                for other in self.waves:
                    if other is not wave and not other.waiting and not other.ended:
                        stop = self._turn(other, left)
                        if stop is not None:
                            return stop

    def _await(self, wave: Wave, left: _Budget) -> Stop | None:
        """Run the other waves until ``wave`` no longer waits at a barrier."""
        while wave.waiting:
            stop = self._next_turn(left)
            if stop is not None:
                return stop
        return None

    def _next_turn(self, left: _Budget) -> Stop | None:
        """The turn of the wave that is next. A hang if none can go on (GFX12: those that wait did not signal)."""
        slot = self._residency.next_slot()
        if slot is None:
            reason = "every wave waits at a barrier that none completes"
            return self._report(StopKind.HANG, self.waves[0], reason=reason)
        return self._turn(self._residency.wave(slot), left)

    def _turn(self, wave: Wave, left: _Budget, bounds: tuple[int, int] | None = None) -> Stop | None:
        """Let ``wave`` run for one quantum."""
        places = self._residency
        if places.get("interrupted"):
            places.set("interrupted", 0)
            return self._report(StopKind.INTERRUPTED, wave)
        if left.exhausted:
            return self._report(StopKind.BUDGET, wave)
        places.set("cursor", wave.number)
        if places.get("turn_of") != wave.number:
            places.set("turn_of", wave.number)
            places.set("turn_left", QUANTUM)
        before = wave.instructions
        status = Status(
            self._engine.run(
                wave.address,
                budget=left.share(places.get("turn_left")),
                range=bounds,
                ignore_stop=self._take_reported(wave) == wave.pc,
            )
        )
        used = wave.instructions - before
        left.spend(used)
        places.set("turn_left", places.get("turn_left") - used)
        return self._finish_turn(wave, status)

    def _finish_turn(self, wave: Wave, status: Status) -> Stop | None:
        """What comes of a turn that ended with ``status``."""
        places = self._residency
        stop = self._handle(wave, status)
        goes_on = status in (Status.SIGNAL, Status.SIGNAL_FIRST, Status.BARRIER_STATE) or (
            status is Status.WAIT and not wave.waiting
        )
        # A turn that only the caller's budget cut short goes on later, so that no budget changes the schedule.
        cut = status is Status.RANGE or (places.get("turn_left") > 0 and (goes_on or status is Status.BUDGET))
        places.set("following", -1)
        if stop is None and not cut:
            places.set("cursor", wave.number + 1)
            places.set("turn_of", 0)
        if stop is None and status is Status.RANGE:
            return self._report(StopKind.RANGE, wave)
        return stop

    def _handle(self, wave: Wave, status: Status) -> Stop | None:
        """What a return of generated code means; None if execution can go on."""
        match status:
            case Status.BUDGET | Status.RANGE | Status.SLEEP:
                return None
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
                wave.set_sgpr(wave.field("requested"), state)
                return None
            case Status.WAIT:
                self._residency.wait(self._residency.slot_of(wave))
                return None
            case Status.END:
                self._reported.pop(wave.number, None)
                self._residency.end(self._residency.slot_of(wave))
                return None
            case Status.EXCEPTION:
                return self._exception(wave)
            case Status.CRASH:
                return self._crash(wave)
            case Status.HALT:
                return self._report(StopKind.HANG, wave, reason="the wave halted itself")
            case Status.FAULT:
                fault = describe_fault(self._engine.fault(), wave, self.memory)
                if fault.space is Space.GLOBAL and 0 <= fault.address - GRID_SYNC_REFUSED < GRID_SYNC_SIZE:
                    return self._report(StopKind.HANG, wave, reason=self._too_large)
                wave.trapsts |= MEMORY_VIOLATION
                self._note_reported(wave)
                return Stop(
                    StopKind.FAULT, wave, wave.pc, fault.lanes, fault, instruction=self._text(wave, wave.pc)
                )
            case Status.FETCH:
                wave.trapsts |= MEMORY_VIOLATION
                fault = fetch_fault(wave.pc, self.memory)
                return Stop(StopKind.FAULT, wave, wave.pc, wave.active_lanes(), fault)
            case Status.TRAP:
                return self._trap(wave)
            case Status.ILLEGAL | Status.UNSUPPORTED:
                kind = StopKind.ILLEGAL if status is Status.ILLEGAL else StopKind.UNSUPPORTED
                if kind is StopKind.ILLEGAL:
                    wave.trapsts |= ILLEGAL_INSTRUCTION
                text, reason = self._text(wave, wave.pc), self._excess(wave)
                return self._report(kind, wave, instruction=text, reason=reason)
            case _:
                raise AssertionError(f"the engine returned {status!r}")

    def _crash(self, wave: Wave) -> Stop:
        """Generated code was abandoned in the middle of a block, of which nobody knows how much was done: that was all
        of this dispatch."""
        wave.set_field("limit", 0)
        reason = f"generated code of the block at {wave.pc:#x} crashed: {self._engine.crash().text}"
        stop = self._report(StopKind.INTERNAL, wave, instruction=self._text(wave, wave.pc), reason=reason)
        report = crash_report(wave, self._engine.crash(), self.memory)
        self._crashed = replace(stop, report=f"{reason}\n{report}")
        return self._crashed

    @property
    def _too_large(self) -> str:
        """Why the grid cannot wait for itself."""
        return (
            f"the kernel waits for its whole grid of {prod(self.plan.state.groups)} workgroups, "
            f"but at most {self.plan.resident_groups} can be resident at once"
        )

    def _trap(self, wave: Wave) -> Stop:
        """``s_trap``: the abort trap is final, PC stays at it; others are over once reported, PC moves behind them."""
        trap = wave.field("trap_id")
        text = self._text(wave, wave.pc)
        if trap != ABORT_TRAP:
            wave.pc += _S_TRAP_SIZE
            wave.set_field("instructions", wave.instructions + 1)
        return self._report(StopKind.TRAP, wave, trap=trap, instruction=text)

    def _exception(self, wave: Wave) -> Stop:
        """An arithmetic exception that is enabled. The instruction was executed: PC is behind it."""
        flags, pc = wave.field("exception"), wave.field("exception_pc")
        self._note_reported(wave)
        return Stop(
            StopKind.EXCEPTION,
            wave,
            wave.pc,
            wave.exception_lanes(flags),
            instruction=self._text(wave, pc),
            causes=causes(flags),
            instruction_pc=pc,
        )

    def _report(
        self,
        kind: StopKind,
        wave: Wave,
        *,
        trap: int | None = None,
        instruction: str | None = None,
        reason: str | None = None,
    ) -> Stop:
        self._note_reported(wave)
        return Stop(kind, wave, wave.pc, wave.active_lanes(), None, trap, instruction, reason=reason)

    def _note_reported(self, wave: Wave) -> None:
        self._reported[wave.number] = wave.pc
        self._residency.set_reported(self._residency.slot_of(wave), True)

    def _take_reported(self, wave: Wave) -> int | None:
        """Where the wave was last reported, if it has not run since."""
        pc = self._reported.pop(wave.number, None)
        if pc is not None:
            self._residency.set_reported(self._residency.slot_of(wave), False)
        return pc

    def _done_or(self, kind: StopKind, wave: Wave) -> Stop:
        return Stop(StopKind.DONE) if self.finished else Stop(kind, wave)

    def _excess(self, wave: Wave) -> str | None:
        """Which register the instruction at PC names in vain, if any."""
        found = instruction_at(self.plan.state.target, wave.wave_size, wave.pc, self.memory)
        return excess(found, wave.field("register_bounds")) if found is not None else None

    def _text(self, wave: Wave, pc: int) -> str | None:
        return instruction_text(self.plan.state.target, wave.wave_size, pc, self.memory)


class _Budget:
    """Wave-instructions left for one call of ``run``."""

    def __init__(self, total: int | None) -> None:
        self._left = total

    @property
    def exhausted(self) -> bool:
        return self._left is not None and self._left <= 0

    def share(self, most: int) -> int:
        """How many the next turn may use."""
        return most if self._left is None else min(most, self._left)

    def spend(self, count: int) -> None:
        if self._left is not None:
            self._left -= count
