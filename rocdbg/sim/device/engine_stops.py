"""Converts statuses of generated code to stops, for the waves of a dispatch and for called functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.sim.core.arithmetic_exceptions import ILLEGAL_INSTRUCTION, MEMORY_VIOLATION, causes
from rocdbg.sim.core.layout import Status
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.core.register_bounds import excess
from rocdbg.sim.core.stops import ABORT_TRAP, Fault, Space, Stop, StopKind, watch_stop
from rocdbg.sim.core.wave import Wave
from rocdbg.sim.faults import describe_fault, fetch_fault, instruction_at, instruction_text, unsupported_reason

if TYPE_CHECKING:
    from rocdbg.sim.engine.native import Engine

_S_TRAP_SIZE = 4

UNREPORTED = frozenset({Status.WATCH, Status.FETCH})
"""The statuses after which a wave that has not moved stops again."""


class EngineStops:
    """Makes stops from an engine's statuses. ``waits`` returns the reason if an access that faulted would wait forever
    on hardware, otherwise None.
    """

    def __init__(
        self, engine: Engine, memory: GlobalMemory, waits: Callable[[Fault], str | None], open_stack: bool = False
    ) -> None:
        """``open_stack``: whether the launch, rather than the compiler, chose the size of the stack."""
        self._engine, self._memory, self._waits, self._open_stack = engine, memory, waits, open_stack

    def of(self, wave: Wave, status: Status) -> Stop | None:
        """The stop that an instruction of the wave itself caused; None for statuses whose meaning depends on the
        caller.
        """
        match status:
            case Status.WATCH:
                change = self._engine.change()
                return watch_stop(wave, change, self.text(wave, change.pc))
            case Status.FAULT:
                return self._fault(wave)
            case Status.FETCH:
                wave.trapsts |= MEMORY_VIOLATION
                return Stop(StopKind.FAULT, wave, wave.pc, wave.active_lanes(), fetch_fault(wave.pc, self._memory))
            case Status.TRAP:
                return self._trap(wave)
            case Status.EXCEPTION:
                return self._exception(wave)
            case Status.ILLEGAL:
                wave.trapsts |= ILLEGAL_INSTRUCTION
                return self._refused(wave, StopKind.ILLEGAL)
            case Status.UNSUPPORTED:
                return self._refused(wave, StopKind.UNSUPPORTED)
            case Status.HALT:
                return self.stop(StopKind.HANG, wave, reason="the wave halted itself")
            case _:
                return None

    @staticmethod
    def stop(
        kind: StopKind, wave: Wave, *,
        trap: int | None = None, instruction: str | None = None, reason: str | None = None,
    ) -> Stop:
        """A stop of all active lanes where the wave is."""
        return Stop(kind, wave, wave.pc, wave.active_lanes(), None, trap, instruction, reason=reason)

    def text(self, wave: Wave, pc: int) -> str | None:
        """The instruction at an address; None if there is none."""
        return instruction_text(wave.target, wave.wave_size, pc, self._memory)

    def _fault(self, wave: Wave) -> Stop:
        record = self._engine.fault()
        text = self.text(wave, wave.pc)
        if (unsupported := unsupported_reason(record)) is not None:
            return self.stop(StopKind.UNSUPPORTED, wave, instruction=text, reason=unsupported)
        fault = describe_fault(record, wave, self._memory)
        if (reason := self._waits(fault)) is not None:
            return self.stop(StopKind.HANG, wave, reason=reason)
        wave.trapsts |= MEMORY_VIOLATION
        if self._open_stack and fault.space is Space.PRIVATE and fault.address >= wave.lane_scratch_size - fault.size:
            fault = replace(fault, where=f'{fault.where} ("set stack-size" gives it more)')
        return Stop(StopKind.FAULT, wave, wave.pc, fault.lanes, fault, instruction=text)

    def _trap(self, wave: Wave) -> Stop:
        """The stop for ``s_trap``. The abort trap is final, and PC stays at it; for other traps, PC moves past the
        instruction.
        """
        trap = wave.take("trap_id")
        text = self.text(wave, wave.pc)
        if trap != ABORT_TRAP:
            wave.pc += _S_TRAP_SIZE
            wave.set_word("instructions", wave.instructions + 1)
        return self.stop(StopKind.TRAP, wave, trap=trap, instruction=text)

    def _exception(self, wave: Wave) -> Stop:
        """An arithmetic exception that is enabled. The instruction was executed: PC is after it."""
        flags, pc = wave.word("exception"), wave.word("exception_pc")
        return Stop(
            StopKind.EXCEPTION, wave, wave.pc, wave.exception_lanes(flags), instruction=self.text(wave, pc),
            causes=causes(flags), instruction_pc=pc,
        )

    def _refused(self, wave: Wave, kind: StopKind) -> Stop:
        found = instruction_at(wave.target, wave.wave_size, wave.pc, self._memory)
        reason = excess(found, wave.word("register_bounds")) if found is not None else None
        if found is not None and reason is None and kind is StopKind.UNSUPPORTED:
            reason = self._engine.refusal(int(wave.state.ctypes.data), found)
        return self.stop(kind, wave, instruction=self.text(wave, wave.pc), reason=reason)


__all__ = ["UNREPORTED", "EngineStops"]
