"""A dispatch: the waves of one kernel launch, run deterministically until something stops them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rocdbg.codeobject.kernels import Kernel
from rocdbg.sim import initial_state
from rocdbg.sim.faults import describe_fault, fetch_fault, instruction_text
from rocdbg.sim.initial_state import DispatchState, GroupIds
from rocdbg.sim.layout import Status
from rocdbg.sim.memory import Allocation, GlobalMemory
from rocdbg.sim.options import RunOptions, RunRequestError
from rocdbg.sim.stops import DEBUG_TRAP, Stop, StopKind
from rocdbg.sim.wave import Dim3, Wave, state_block
from rocdbg.sim.workgroup import Workgroup

if TYPE_CHECKING:
    from rocdbg.sim.native import Engine

QUANTUM = 10_000
"""Wave-instructions a wave may execute before the next has its turn, and between looks at the interrupt
flag.
"""

RESIDENT_WAVES = 128
"""Waves that exist at once, at least one workgroup; the others of the grid are created as these end."""

_S_TRAP_SIZE = 4


@dataclass(frozen=True, slots=True)
class DispatchPlan:
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


@dataclass(slots=True)
class _Slot:
    """What a resident workgroup occupies. The next one takes it over, ended waves' blocks included."""

    lds: NDArray[np.uint8]
    states: list[NDArray[np.uint8]] = field(default_factory=list)


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
        self._prototype = initial_state.prototype(plan.state)
        self._ids: dict[Dim3, GroupIds] = {}
        self._positions = _positions(plan.state.groups)
        self._free_slots = list(range(plan.resident_groups - 1, -1, -1))
        self._slots: dict[int, _Slot] = {}
        self._groups: dict[int, Workgroup] = {}  # by wave number
        self._waves: list[Wave] = []
        self._created = 0
        self._retired_instructions = 0
        self._cursor = 0
        self._turn_of, self._turn_left = 0, QUANTUM  # wave whose turn it is, instructions left of the turn
        self._interrupted = False
        self._released = False
        # Where each wave was when it was last reported: it does not stop there again before it moved.
        self._reported: dict[int, int] = {}
        self._fill()

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
        return tuple(self._waves)

    @property
    def finished(self) -> bool:
        """Whether every wave of the grid has ended."""
        return not self._waves

    @property
    def instructions(self) -> int:
        """Wave-instructions executed so far."""
        return self._retired_instructions + sum(wave.instructions for wave in self._waves)

    def wave(self, number: int) -> Wave:
        """The resident wave with this number. Raises RunRequestError if it has ended or is yet to come."""
        for wave in self._waves:
            if wave.number == number:
                return wave
        state = "has ended" if 0 < number <= self._created else "does not exist"
        raise RunRequestError(f"wave {number} {state}")

    def interrupt(self) -> None:
        """Make a running (or else the next) ``run`` return INTERRUPTED soon; may be called from a signal
        handler.
        """
        self._interrupted = True

    def release(self) -> None:
        """End the dispatch wherever it is and give its memory back. The waves are gone afterwards."""
        if self._released:
            return
        self._released = True
        self._retired_instructions = self.instructions
        self._waves.clear()
        self._groups.clear()
        self._slots.clear()
        self._positions = iter(())
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
        self._engine.set_stops(frozenset(options.stop_pcs))
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
            if only is not None and not only.ended and not only.waiting:
                wave = only
            elif only is not None and only.ended:
                return self._done_or(StopKind.WAVE_DONE, only)
            else:
                wave = self._next()
            stop = self._turn(wave, left)
            if stop is not None:
                return stop
            if not self._waves:
                return Stop(StopKind.DONE)

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
                for other in tuple(self._waves):
                    if other is not wave and not other.waiting and not other.ended:
                        stop = self._turn(other, left)
                        if stop is not None:
                            return stop

    def _await(self, wave: Wave, left: _Budget) -> Stop | None:
        """Run the other waves until ``wave`` no longer waits at a barrier."""
        while wave.waiting:
            stop = self._turn(self._next(), left)
            if stop is not None:
                return stop
        return None

    def _turn(self, wave: Wave, left: _Budget, bounds: tuple[int, int] | None = None) -> Stop | None:
        """Let ``wave`` run for one quantum."""
        if self._interrupted:
            self._interrupted = False
            return self._report(StopKind.INTERRUPTED, wave)
        if left.exhausted:
            return self._report(StopKind.BUDGET, wave)
        self._cursor = wave.number
        if self._turn_of != wave.number:
            self._turn_of, self._turn_left = wave.number, QUANTUM
        before = wave.instructions
        status = Status(
            self._engine.run(
                wave.address,
                budget=left.share(self._turn_left),
                range=bounds,
                ignore_stop=self._reported.pop(wave.number, None) == wave.pc,
            )
        )
        used = wave.instructions - before
        left.spend(used)
        self._turn_left -= used
        stop = self._handle(wave, status)
        # A turn that only the caller's budget cut short goes on later, so that no budget changes the schedule.
        over = status is not Status.RANGE and (status is not Status.BUDGET or self._turn_left <= 0)
        if stop is None and over:
            self._cursor, self._turn_of = wave.number + 1, 0
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
                self._groups[wave.number].arrive(wave)
                return None
            case Status.END:
                self._end(wave)
                return None
            case Status.FAULT:
                fault = describe_fault(self._engine.fault(), wave, self.memory)
                self._reported[wave.number] = wave.pc
                return Stop(
                    StopKind.FAULT, wave, wave.pc, fault.lanes, fault, instruction=self._text(wave, wave.pc)
                )
            case Status.FETCH:
                fault = fetch_fault(wave.pc, self.memory)
                return Stop(StopKind.FAULT, wave, wave.pc, wave.active_lanes(), fault)
            case Status.TRAP:
                return self._trap(wave)
            case Status.ILLEGAL | Status.UNSUPPORTED:
                kind = StopKind.ILLEGAL if status is Status.ILLEGAL else StopKind.UNSUPPORTED
                return self._report(kind, wave, instruction=self._text(wave, wave.pc))
            case _:
                raise AssertionError(f"the engine returned {status!r}")

    def _trap(self, wave: Wave) -> Stop:
        """``s_trap``: a debug trap is over once reported, so PC moves behind it; any other is final and
        stays.
        """
        trap = wave.field("trap_id")
        text = self._text(wave, wave.pc)
        if trap == DEBUG_TRAP:
            wave.pc += _S_TRAP_SIZE
            wave.set_field("instructions", wave.instructions + 1)
        return self._report(StopKind.TRAP, wave, trap=trap, instruction=text)

    def _report(
        self, kind: StopKind, wave: Wave, *, trap: int | None = None, instruction: str | None = None
    ) -> Stop:
        self._reported[wave.number] = wave.pc
        return Stop(kind, wave, wave.pc, wave.active_lanes(), None, trap, instruction)

    def _done_or(self, kind: StopKind, wave: Wave) -> Stop:
        return Stop(kind, wave) if self._waves else Stop(StopKind.DONE)

    def _text(self, wave: Wave, pc: int) -> str | None:
        return instruction_text(self.plan.state.target, wave.wave_size, pc, self.memory)

    def _next(self) -> Wave:
        """The wave whose turn it is: the first runnable one from the cursor on, around the end."""
        first: Wave | None = None
        for wave in self._waves:
            if wave.waiting:
                continue
            if wave.number >= self._cursor:
                return wave
            first = first or wave
        if first is None:
            raise AssertionError("every resident wave waits at a barrier")
        return first

    # -- creation and end of waves ---------------------------------------------------------------------------

    def _end(self, wave: Wave) -> None:
        self._retired_instructions += wave.instructions
        self._waves.remove(wave)
        self._reported.pop(wave.number, None)
        group = self._groups.pop(wave.number)
        group.leave(wave)
        if group.ended:
            slot = self._slots[group.slot]
            slot.states = [member.state for member in group.waves]
            self._free_slots.append(group.slot)
            self._fill()

    def _fill(self) -> None:
        """Create workgroups while there are slots and positions left."""
        while self._free_slots:
            position = next(self._positions, None)
            if position is None:
                return
            self._create(position, self._free_slots.pop())

    def _create(self, position: Dim3, slot_number: int) -> None:
        plan, state = self.plan, self.plan.state
        size = _group_size(plan.grid, plan.workgroup, position)
        ids = self._ids.get(size)
        if ids is None:
            registers = state.descriptor.enable_vgpr_workitem_id + 1
            ids = GroupIds(size, state.wave_size, registers, state.target.packed_work_item_ids)
            self._ids[size] = ids
        slot = self._slots.get(slot_number)
        if slot is None:
            # Padded, so that the address of an empty LDS is one of its own.
            slot = self._slots[slot_number] = _Slot(np.zeros(state.lds_size + 64, np.uint8)[: state.lds_size])
        else:
            slot.lds[:] = 0
            self._clear_scratch(slot_number)
        group = Workgroup(position, size, slot_number, slot.lds)
        for index in range(len(ids.used)):
            block = slot.states.pop() if slot.states else state_block(state.target, state.wave_size)
            self._created += 1
            wave = Wave(block, state.target, state.wave_size, self._created, position, index, size, slot.lds)
            scratch_slot = slot_number * plan.waves_per_group + index
            initial_state.apply(wave, state, self._prototype, ids, scratch_slot)
            group.waves.append(wave)
            self._groups[wave.number] = group
            self._waves.append(wave)

    def _clear_scratch(self, slot_number: int) -> None:
        """A new group must not depend on what ran in its place before."""
        scratch, size = self.plan.scratch, self.plan.waves_per_group * self.plan.state.wave_scratch_size
        if scratch is not None:
            scratch.data[slot_number * size : (slot_number + 1) * size] = 0


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


def _positions(groups: Dim3) -> Iterator[Dim3]:
    """Workgroup positions in order of dispatch, x fastest."""
    for z in range(groups[2]):
        for y in range(groups[1]):
            for x in range(groups[0]):
                yield x, y, z


def _group_size(grid: Dim3, workgroup: Dim3, position: Dim3) -> Dim3:
    """The size of the group at ``position``: smaller at the grid's edge where the sizes do not divide."""
    x, y, z = (
        min(size, total - at * size) for total, size, at in zip(grid, workgroup, position, strict=True)
    )
    return x, y, z
