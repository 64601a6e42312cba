"""The execution engine: runs waves in native code, and translates code when it is first reached.

One `Engine` serves one machine's waves of one size. `translations` manages the native code.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.arch.targets import Target
from rocdbg.sim.core import layout
from rocdbg.sim.core.checks import Answers, Table
from rocdbg.sim.core.global_share import GlobalShare
from rocdbg.sim.core.layout import ENV, WINDOW_BASE, WORDS, Status
from rocdbg.sim.core.stop_plan import StopPlan
from rocdbg.sim.core.watched_words import Access, Change, WatchedBytes, WatchTable
from rocdbg.sim.engine.instruction_cache import Fetch
from rocdbg.sim.engine.native_guard import Crash, guard
from rocdbg.sim.engine.translations import Translations
from rocdbg.sim.translator.routine_names import prefix
from rocdbg.work import Stopped

if TYPE_CHECKING:
    from rocdbg.isa.instruction import Instruction
    from rocdbg.sim.device.residency_and_barriers import Residency

_UNLIMITED = (1 << 64) - 1
_HOT = 20_000_000  # instructions after which blocks are compiled again with optimisation
_SLICE = 20_000_000  # nanoseconds that native code runs before Python checks for signals


class Fault(Struct, frozen=True):
    """A memory access that was not performed. ``addresses`` maps each faulting lane to its address (see
    `layout.Space`); for a scalar access, ``lanes`` is 0 and the address is that of lane 0. An access that the simulator
    does not support has no addresses, because it ends before they are computed.
    """

    kind: layout.FaultKind
    access: layout.Access
    space: layout.Space
    size: int
    lanes: int
    addresses: dict[int, int]


class Engine(Translations):
    """Runs waves of one size on one target's code.

    ``page_table`` is the host address of simulated memory's page table, ``window_base`` the simulated address at which
    it begins, ``fetch`` reads code (`instruction_cache`). ``share`` is GDS and GWS (default: private to this engine).
    ``reads_table``: host address of `UninitializedReads`' table if uninitialized reads are to be counted.
    """

    def __init__(
        self,
        target: Target,
        wave_size: int,
        page_table: int,
        fetch: Fetch,
        cache_dir: Path | None = None,
        reads_table: int = 0,
        share: GlobalShare | None = None,
        window_base: int = WINDOW_BASE,
    ) -> None:
        super().__init__(target, wave_size, fetch, cache_dir, bool(reads_table), window_base)
        self.share = share or GlobalShare(target)
        """GDS and GWS."""
        self._noted_ranges = np.zeros((0, 2), np.uint64)
        self._watches = WatchTable()
        self._executed = 0
        self._schedule = self._fill = 0
        self._guard = guard(self.jit)
        self._set_env("page_table", page_table)
        self._set_env("window_base", window_base)
        self._set_env("reads_table", reads_table)
        self._set_env("checks", self._checks.address)
        self._set_env("gds_pointer", int(self.share.gds.ctypes.data))
        self._set_env("gds_size", self.share.gds.size)
        self._set_env("gws_pointer", int(self.share.gws.ctypes.data))
        self._set_env("mode_tables", self._blocks.address)
        self._set_env("step_tables", self._steps.address)
        self.set_apertures(layout.SHARED_APERTURE, layout.PRIVATE_APERTURE)

    # -- running --------------------

    def run(
        self,
        state: int,
        *,
        budget: int,
        step: bool = False,
        range: tuple[int, int] | None = None,
        ignore_stop: bool = False,
        traced: bool = False,
        plan: StopPlan | None = None,
    ) -> Status:
        """Run the wave whose state block is at host address ``state``.

        At most ``budget`` instructions are executed, exactly that many when BUDGET is returned. ``step``: execute one
        instruction, even if a stop is set on it (returns BUDGET when it was executed). ``range``: stop with RANGE when
        pc leaves [lo, hi). MISS is returned when the translation of the next block was stopped (`rocdbg.work`): none of
        it was executed. ``ignore_stop``: ignore a stop at the current pc. ``traced``: record what is executed in
        `trace_into`'s rows; cannot be combined with a range or ``ignore_stop``. ``plan``: follow this stop plan, and
        stop with RANGE where the plan ends.
        """
        if budget <= 0:
            return Status.BUDGET
        count, limit = _u64(state, "instructions"), _u64(state, "limit")
        before, end = count.value, min(count.value + (1 if step else budget), _UNLIMITED)
        if step or ignore_stop:
            limit.value = before + 1
            status = self._one(state)
            if status is Status.CONTINUE or (status is Status.BUDGET and count.value > before):
                status = Status.BUDGET if step or count.value >= end else Status.CONTINUE
            if (
                status is Status.CONTINUE
                and range is not None
                and not _inside(range, _u64(state, "pc").value)
            ):
                status = Status.RANGE
        else:
            status = Status.CONTINUE
        if status is Status.CONTINUE:
            limit.value = end
            status = self._run(state, count, end, range, traced, plan)
            self._executed += count.value - before
            if self._executed > _HOT and not self._optimise:
                self.optimise()
        limit.value = 0  # reset, because states are compared and this is not part of them
        return status

    def fill(self, residency: Residency) -> None:
        """Same as `Residency.fill`."""
        if not self._schedule:
            self._link_part("schedule")
            start = prefix(self.wave_size)
            self._schedule, self._fill = self.jit.address(f"{start}schedule"), self.jit.address(f"{start}fill")
        places = residency.places
        clean, places.used = _NEW_SCRATCH | (0 if places.used else _NEW_PLACES), True
        self._guard(self._fill, places.address, places.count, clean)

    def schedule(self, places: Residency, budget: int) -> Status:
        """Give the resident waves their turns natively, for at most ``budget`` instructions.

        Returns CONTINUE or MISS when the next turn needs Python (see `rocdbg.sim.translator.scheduler`), after about 20
        ms at the latest; otherwise the status that ended the turn of the wave in slot ``current``. Field ``executed``
        is the number of executed instructions.
        """
        schedule = places.fields
        schedule.deadline = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + _SLICE
        schedule.look_at, schedule.budget, schedule.executed = 0, budget, 0
        blocks, steps = self._blocks.address, self._steps.address
        status = self._guard(self._schedule, places.address, self._env, self._run_native, blocks, steps)
        if status is Status.REFETCH:
            self.refresh()
            status = Status.CONTINUE
        self._executed += schedule.executed
        if self._executed > _HOT and not self._optimise:
            self.optimise()
        return status

    def _run(
        self, state: int, count: ctypes.c_uint64, end: int, range: tuple[int, int] | None, traced: bool = False,
        plan: StopPlan | None = None,
    ) -> Status:
        """Run until a status other than that for untranslated code is returned."""
        native, table = self._run_native, self._blocks
        if traced or range is not None or plan is not None:
            native, table = self.followed_routine(range, traced, plan), self._steps
        while True:
            status = self._guard(native, state, self._env, table.address)
            if status is Status.MISS:
                missing = self._blocks if plan is not None and plan.get("missed") else table
                try:
                    blocked = self._translate(_u64(state, "pc").value, self._key(state), missing)
                except Stopped:
                    return Status.MISS
                if blocked is not None:
                    return blocked
            elif status is Status.REFETCH:
                self.refresh()
                if range is not None and not _inside(range, _u64(state, "pc").value):
                    return Status.RANGE
            elif status is Status.BUDGET and count.value < end and table is self._blocks:
                native, table = self._run_native, self._steps  # the budget does not suffice for the next block
            elif status is Status.REGISTERS:
                if table is self._steps:
                    return Status.ILLEGAL
                native, table = self._run_native, self._steps  # up to the instruction that names too many registers
            else:
                return status

    def followed_routine(
        self, range: tuple[int, int] | None, traced: bool, plan: StopPlan | None = None
    ) -> int:
        """Host address of the routine that runs a wave by a plan, or instruction by instruction, within a range or
        leaving a trace; 0 if none of these is requested."""
        if plan is not None:
            self._set_env("plan", plan.address)
            plan.set("ends", self._ends.address)
            return self._run_planned
        if range is not None:
            self._set_env("range_lo", range[0])
            self._set_env("range_size", range[1] - range[0])
            return self._run_range
        return self._run_traced if traced else 0

    @cached_property
    def _run_planned(self) -> int:
        suffix = "_indexed" if self._indexed else "_banked" if self._banked else ""
        self._link_part(f"planned{suffix}")
        return self.jit.address(f"{prefix(self.wave_size)}run_planned{suffix}")

    def answers(self, state: int, tables: Sequence[Table], lanes: int) -> list[Answers] | None:
        """Evaluate tables of conditions for the wave whose state block is at host address ``state``; returns ``None``
        if that is not possible. Raises `LaneExpressionError`, or `Stopped` while a routine is translated.
        """
        return self.decide(
            tables, lanes, lambda routine, table: self._guard(routine, state, self._env, table) is Status.CONTINUE
        )

    def trace_into(self, rows: NDArray[np.uint64], first: int) -> None:
        """Make traced waves record PC and EXEC before each instruction, in ``rows``, uint64[n, 2]; row 0 belongs to the
        instruction before which the wave has executed ``first`` instructions.
        """
        self._set_env("trace", int(rows.ctypes.data))
        self._set_env("trace_first", first)

    def _one(self, state: int) -> Status:
        """Execute the instruction at pc."""
        pc, key = _u64(state, "pc").value, self._key(state)
        function = self._single.get((key, pc))
        if pc & 3:
            return Status.FETCH
        if function is None:
            blocked = self._translate_steps(pc, key)
            if blocked is not None:
                return blocked
            function = self._single[key, pc]
        status = self._guard(function, state, self._env)
        if status is Status.REFETCH:
            self.refresh()
            return Status.CONTINUE
        return Status.ILLEGAL if status is Status.REGISTERS else status

    def _key(self, state: int) -> int:
        """The facts, besides the code, on which blocks at the wave's pc depend."""
        mode = _u32(state, "mode").value
        if not self._indexed:
            return layout.mode_key(mode, banked=self._banked)
        return layout.mode_key(mode, ctypes.c_uint32.from_address(state + layout.sgpr_offset(124)).value)

    def refusal(self, state: int, instruction: Instruction) -> str | None:
        """Why the wave's next instruction cannot be translated; None if there is no known reason."""
        # Imported late: it is rarely needed.
        from rocdbg.sim.translator.translate import refusal

        return refusal(*self._recorder(self._key(state)), instruction)

    def note_stores(self, ranges: NDArray[np.uint64] | None) -> None:
        """Record stores to ranges of host memory, uint64[n, 2] of begin and end, from now on; None stops this."""
        self._noted_ranges = np.ascontiguousarray(ranges) if ranges is not None else np.zeros((0, 2), np.uint64)
        self._set_env("noted_ranges", int(self._noted_ranges.ctypes.data))
        self._set_env("noted_count", len(self._noted_ranges))
        if self._noted != (ranges is not None):
            self._noted = ranges is not None
            self._forget_translations()

    def take_noted(self) -> tuple[int, int, int]:
        """Stores of lanes to these ranges since the last call, the lanes that stored, and the PC of the last store."""
        found = (self._get_env("noted_hits"), self._get_env("noted_lanes"), self._get_env("noted_pc"))
        for name in ("noted_hits", "noted_lanes", "noted_pc"):
            self._set_env(name, 0)
        return found

    def set_watches(self, watched: Sequence[WatchedBytes]) -> None:
        """Set the watched bytes, with their current values: a change of one ends a run with WATCH. With no bytes,
        nothing is watched."""
        if not watched and not self._watching:
            return
        touching = any(one.accesses for one in watched)
        if (bool(watched), touching) != (self._watching, self._touching):
            self._watching, self._touching = bool(watched), touching
            self._forget_translations()
        self._watches.set(watched)
        self._set_env("watches", self._watches.address)
        self._set_env("touches", self._watches.touches)

    def change(self) -> Change:
        """The change that caused the last WATCH. If it is not known which lanes wrote, it names all lanes that took
        part.
        """
        lanes, size = self._get_env("watch_lanes"), self._get_env("watch_size")
        pointers = (ctypes.c_uint64 * 64).from_address(self._env + layout.ENV_POINTER)
        strides = (ctypes.c_uint64 * 64).from_address(self._env + layout.ENV_KIND)
        reached, touched = self._watches.reached(list(pointers), list(strides), lanes, size)
        return Change(self._get_env("watch_pc"), reached or lanes, touched, bool(self._get_env("watch_reads")))

    def access(self) -> Access:
        """The memory access that caused the last WATCH."""
        return Access(
            self._get_env("watch_lanes"), self._get_env("watch_size"),
            tuple((ctypes.c_uint64 * 64).from_address(self._env + layout.ENV_POINTER)),
            tuple((ctypes.c_uint64 * 64).from_address(self._env + layout.ENV_KIND)),
        )

    def crash(self) -> Crash:
        """The host's description of the last CRASH."""
        return self._guard.crash()

    def fault(self) -> Fault:
        """The record of the last FAULT."""
        lanes = self._get_env("fault_lanes")
        kind = layout.FaultKind(self._get_env("fault_kind"))
        addresses = (ctypes.c_uint64 * 64).from_address(self._env + layout.ENV_ADDRESS)
        return Fault(
            kind,
            layout.Access(self._get_env("fault_access")),
            layout.Space(self._get_env("fault_space")),
            self._get_env("fault_size"),
            lanes,
            {} if kind.is_unsupported else {lane: addresses[lane] for lane in _bits(lanes or 1)},
        )

    def set_apertures(self, shared: int, private: int) -> None:
        """Base addresses of the LDS and private apertures (multiples of 4 GiB)."""
        self._set_env("shared_aperture", shared)
        self._set_env("private_aperture", private)

    def set_lds_drops(self, drops: bool) -> None:
        """Set what an access beyond a workgroup's LDS does: if ``drops``, it reads 0 or writes nothing, as on hardware
        by default; otherwise it faults.
        """
        self._set_env("lds_drops", int(drops))

    # -- environment --------------------

    def _set_env(self, name: str, value: int) -> None:
        field = ENV[name]
        cut = value & (1 << 8 * field.size) - 1  # line tables may name addresses beyond 64 bits
        ctypes.memmove(self._env + field.offset, cut.to_bytes(field.size, "little"), field.size)

    def _get_env(self, name: str) -> int:
        field = ENV[name]
        return int.from_bytes(ctypes.string_at(self._env + field.offset, field.size), "little")


_NEW_PLACES, _NEW_SCRATCH = 1, 2  # bits that say what `scheduler.fill` need not clear


def _u64(state: int, name: str) -> ctypes.c_uint64:
    return ctypes.c_uint64.from_address(state + WORDS[name].offset)


def _u32(state: int, name: str) -> ctypes.c_uint32:
    return ctypes.c_uint32.from_address(state + WORDS[name].offset)


def _inside(bounds: tuple[int, int], pc: int) -> bool:
    return bounds[0] <= pc < bounds[1]


def _bits(mask: int) -> Iterable[int]:
    return [n for n in range(64) if mask >> n & 1]
