"""An excursion: the run of a function on a copy of a wave, while the wave itself does not change.

A debugger calls functions in this way. The copy has its own registers: all that the target has, even if the kernel
requested fewer. Its private memory begins with a copy of the wave's private memory, followed by the function's stack.
It shares the memory that waves share. When the excursion ends, the function's stores to the wave's private memory
remain. Nothing else about the wave changes, nor do the schedule and the counters.

The registers at a function's entry are those of LLVM's AMDGPU backend (AMDGPUUsage, "Non-Kernel Functions"; special
inputs as `SIMachineFunctionInfo` fixes them): s[0:3] scratch resource (if scratch is accessed through one), s[4:5]
dispatch packet, s[6:7] queue, s[8:9] implicit arguments, s[10:11] dispatch id, s12 to s14 workgroup ids, s15 the
kernel's LDS id, s[30:31] return address, s32 stack pointer, v31 work-item ids of 10 bits each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rocdbg.arch.targets import Generation, ScratchKind
from rocdbg.codeobject.metadata import KernelMetadata
from rocdbg.sim.core.initial_state import DispatchState
from rocdbg.sim.core.layout import WINDOW_BASE, PageFlags, Status
from rocdbg.sim.core.memory import Allocation, AllocationKind, GlobalMemory
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.scratch import area_size, buffer_descriptor
from rocdbg.sim.core.stops import Stop, StopKind
from rocdbg.sim.core.watched_words import ExistingWatches
from rocdbg.sim.core.wave import Wave, state_block
from rocdbg.sim.device.engine_stops import UNREPORTED, EngineStops
from rocdbg.sim.device.kernarg import HiddenValues, implicit_arguments
from rocdbg.sim.device.schedule import QUANTUM
from rocdbg.sim.services.host_services import HostServices
from rocdbg.work import Stopped, asking

if TYPE_CHECKING:
    from rocdbg.sim.engine.native import Engine

RETURN_ADDRESS = WINDOW_BASE - 0x1000
"""The return address that a function gets, which ends the excursion: an address without code, below all memory."""

ALIGN = 64
"""Alignment of a lane's stack in bytes."""


class Excursion:
    """A function's run on a copy of ``original``, created just before the function is entered.

    ``wave`` is the copy. ``stack`` is the offset in each lane's private memory at which the function's ``room`` bytes
    begin. Raises `rocdbg.sim.core.memory.AllocationError` if there is no memory for them.
    """

    def __init__(
        self, original: Wave, dispatch: DispatchState, metadata: KernelMetadata | None, hidden: HiddenValues,
        engine: Engine, memory: GlobalMemory, room: int, services: HostServices,
    ) -> None:
        self.original = original
        self.room = room
        self._engine, self._memory, self._services = engine, memory, services
        self._stops = EngineStops(engine, memory, lambda fault: None)
        self._lane_size = original.lane_scratch_size
        self.stack = -(-self._lane_size // ALIGN) * ALIGN
        size = area_size(self.stack + room, original.wave_size)
        self._scratch = memory.allocate(
            size, name="called function", kind=AllocationKind.SCRATCH, protection=PageFlags.READ | PageFlags.WRITE
        )
        if self._own:
            self._scratch.data[: self._own] = memory.view(original.scratch_base, self._own)
        self.wave = self._copy(dispatch)
        self._implicit: Allocation | None = None
        self._enter(dispatch, self._implicit_address(dispatch, metadata, hidden), size)
        self._reported: int | None = None
        self._watches = ExistingWatches(memory, engine.set_watches)

    @property
    def _own(self) -> int:
        """Size in bytes of the wave's own private memory, for all lanes together."""
        return self._lane_size * self.original.wave_size

    def _copy(self, dispatch: DispatchState) -> Wave:
        original = self.original
        block = state_block(original.target, original.wave_size)
        block.state[:], block.engine[:] = original.state, original.engine
        wave = Wave(
            block, original.target, original.wave_size, original.number, original.workgroup, original.index,
            original.workgroup_size, original.lds, np.copy(original.flags),
        )
        wave.sgpr_count, wave.agpr_count = original.sgpr_count, original.agpr_count
        wave.vgpr_count = max(original.vgpr_count, 32)
        wave.set_word("register_bounds", 0)  # no bounds: the function may use more registers than the kernel
        wave.set_word("vgpr_limit", original.target.vgpr_file)
        wave.mode = dispatch.mode
        return wave

    def _implicit_address(
        self, dispatch: DispatchState, metadata: KernelMetadata | None, hidden: HiddenValues
    ) -> int:
        """Address of the implicit arguments: after the kernel's own arguments, or in memory allocated here if the
        kernel was compiled without them.
        """
        if metadata is not None and metadata.hidden_args:
            return dispatch.kernarg_address + min(argument.offset for argument in metadata.hidden_args)
        block = implicit_arguments(hidden)
        self._implicit = self._memory.allocate(len(block), name="implicit arguments", kind=AllocationKind.KERNARG)
        self._implicit.data[:] = np.frombuffer(block, np.uint8)
        return self._implicit.address

    def _enter(self, dispatch: DispatchState, implicit: int, size: int) -> None:
        """Set the registers that every function expects at entry."""
        wave, target, base = self.wave, self.wave.target, self._scratch.address
        wave.set_word("scratch_base", base)
        wave.set_word("scratch_size", (self.stack + self.room) * wave.wave_size)
        if target.scratch is ScratchKind.ARCHITECTED or target.generation >= Generation.GFX10:
            wave.set_field("flat_scratch", base)
        elif target.generation is Generation.GFX9:
            wave.set_sgpr64(102, base)
        elif target.flat_scratch_is_offset:
            wave.set_field("flat_scratch", base)
            wave.set_sgpr64(target.flat_scratch_code, self.stack + self.room)
        unit = 1
        if target.scratch is ScratchKind.BUFFER:
            wave.sgprs[0:4] = buffer_descriptor(target, wave.wave_size, base, size)
            unit = wave.wave_size
        if target.generation < Generation.GFX9:
            wave.m0 = 0xFFFF_FFFF  # the bound of LDS
        for first, value in ((4, dispatch.packet_address), (6, dispatch.queue_address), (8, implicit),
                             (10, dispatch.dispatch_id), (30, RETURN_ADDRESS)):
            wave.set_sgpr64(first, value)
        for number, value in zip((12, 13, 14, 15), (*wave.workgroup, 0), strict=True):
            wave.set_sgpr(number, value)
        wave.set_sgpr(32, self.stack * unit)
        wave.set_sgpr(33, 0)
        flat = np.arange(wave.wave_size, dtype=np.uint32) + np.uint32(wave.index * wave.wave_size)
        width, height, _ = wave.workgroup_size
        ids = flat % width | flat // width % height << 10 | flat // (width * height) << 20
        wave.vgpr(31)[:] = ids

    def set_stack(self, offset: int) -> None:
        """Set the offset in each lane's private memory at which the function's stack begins."""
        unit = self.wave.wave_size if self.wave.target.scratch is ScratchKind.BUFFER else 1
        self.wave.set_sgpr(32, offset * unit)

    def end(self) -> None:
        """Discard the copy; its stores to the wave's own private memory remain."""
        if self._own:
            self._memory.view(self.original.scratch_base, self._own)[:] = self._scratch.data[: self._own]
        self._memory.free(self._scratch)
        if self._implicit is not None:
            self._memory.free(self._implicit)

    # -- running

    @property
    def returned(self) -> bool:
        """Whether the function has returned."""
        return self.wave.pc == RETURN_ADDRESS

    def run(self, options: RunOptions, interrupted: Callable[[], bool], asked: Callable[[], bool]) -> Stop:
        """Continue until the function returns or something else happens; like `Dispatch.run` for this wave alone.

        ``interrupted`` is polled from time to time: it returns whether there is an interrupt, and clears it. ``asked``
        returns the same without clearing it.
        """
        try:
            with asking(asked):
                try:
                    self._engine.set_stops(frozenset(options.stop_pcs), options.checks)
                    self._watches.set(options.watches, (self.wave.number, self.wave.number))
                    return self._run(options, interrupted, asked)
                except Stopped:
                    if not interrupted():
                        raise
                    return self._stop(StopKind.INTERRUPTED)
        finally:
            self._engine.collect()

    def _run(self, options: RunOptions, interrupted: Callable[[], bool], asked: Callable[[], bool]) -> Stop:
        if self.wave.enabled_exceptions:
            self._engine.watch_exceptions()
        left = options.budget
        while True:
            if self.returned:
                return self._stop(StopKind.RETURNED)
            if options.range is not None and not options.range[0] <= self.wave.pc < options.range[1]:
                return self._stop(StopKind.RANGE)
            if interrupted():
                return self._stop(StopKind.INTERRUPTED)
            if left is not None and left <= 0:
                return self._stop(StopKind.BUDGET)
            before = self.wave.instructions
            status = Status(self._engine.run(
                self.wave.address, budget=QUANTUM if left is None else min(left, QUANTUM), step=options.step,
                range=options.range, ignore_stop=self._reported == self.wave.pc,
            ))
            self._reported = None
            if left is not None:
                left -= self.wave.instructions - before
            if status is Status.MISS:  # it was interrupted during translation
                if not asked():
                    raise Stopped
                continue
            if self.returned:
                return self._stop(StopKind.RETURNED)
            stop = self._handle(status)
            if stop is not None and not (options.step and status is Status.BREAK):
                return stop
            if options.step:
                return self._stop(StopKind.STEP)

    def _handle(self, status: Status) -> Stop | None:
        """Interpret the status returned by generated code; None if the function continues."""
        match status:
            case Status.BUDGET | Status.RANGE | Status.SLEEP:
                return None
            case Status.INTERRUPT:
                problem = self._services.interrupt()
                self._watches.forget_freed()  # the function may have freed memory
                return self._stop(StopKind.ABORT, reason=problem) if problem is not None else None
            case Status.BREAK:
                return self._stop(StopKind.BREAKPOINT)
            case Status.END:
                return self._stop(StopKind.WAVE_DONE)
            case Status.CRASH:
                return self._stop(StopKind.INTERNAL, reason="generated code crashed: " + self._engine.crash().text)
            case _:
                stop = self._stops.of(self.wave, status)
        if stop is None:  # the function waits at a barrier: the kernel's other waves do not run here
            return self._stop(
                StopKind.HANG, reason="the function waits for other waves, which do not run during a call"
            )
        if status not in UNREPORTED:
            self._reported = self.wave.pc
        return stop

    def _stop(self, kind: StopKind, reason: str | None = None) -> Stop:
        self._reported = self.wave.pc
        return self._stops.stop(kind, self.wave, reason=reason)
