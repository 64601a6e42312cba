"""A target of dictionaries: any state that a test defines, and the stops that the target returns in turn.

It does not use the simulator. `DictionaryTarget` alone is static, like a core file; with `script` it is runnable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from rocdbg.arch.targets import Target as Architecture
from rocdbg.arch.targets import target_by_name
from rocdbg.debugger.base.errors import FocusError, MemoryAccessError
from rocdbg.debugger.target.capabilities.recording import Recording
from rocdbg.debugger.target.capabilities.runnable import ExitInfo, Progress, Resume, TargetStop, TargetStopKind
from rocdbg.debugger.target.capabilities.target_state import (
    AgentInfo,
    DispatchInfo,
    LoadedCodeObject,
    QueueInfo,
    WaveInfo,
)
from rocdbg.debugger.target.rocgdb_ids import WaveId


def wave(number: int, pc: int, exec_mask: int = ~0, lanes: int = 64, kernel: str = "kern") -> WaveInfo:
    """A wave of the first dispatch, with all lanes used; ``exec_mask`` is truncated to its lanes."""
    full = (1 << lanes) - 1
    return WaveInfo(
        WaveId(1, 1, 1, number), (0, 0, 0), number - 1, lanes, full, pc, exec_mask & full, (lanes, 1, 1), kernel,
        104, 64, 0, (lanes, 1, 1), (lanes, 1, 1),
    )


@dataclass
class DictionaryTarget:
    """``registers`` by (thread, DWARF number), ``memory`` by (space, address), as bytes."""

    architecture: Architecture = field(default_factory=lambda: target_by_name("gfx90a"))
    resident: dict[int, WaveInfo] = field(default_factory=dict)
    registers: dict[tuple[int, int], bytes] = field(default_factory=dict)
    memory: dict[tuple[int, int], int] = field(default_factory=dict)
    loaded: Sequence[LoadedCodeObject] = ()
    runnable: ScriptedRun | None = None
    recording: Recording | None = None

    @property
    def finished(self) -> bool:
        return not self.resident

    def code_objects(self) -> Sequence[LoadedCodeObject]:
        return self.loaded

    def agents(self) -> Sequence[AgentInfo]:
        return []

    def queues(self) -> Sequence[QueueInfo]:
        return []

    def dispatches(self) -> Sequence[DispatchInfo]:
        return []

    def waves(self) -> Sequence[WaveInfo]:
        return list(self.resident.values())

    def wave(self, thread: int) -> WaveInfo:
        if thread not in self.resident:
            raise FocusError(f"Thread ID {thread} has terminated.")
        return self.resident[thread]

    def kernarg_address(self, thread: int) -> int:
        return 0

    def read_register(self, thread: int, number: int) -> bytes:
        return self.registers.get((thread, number), bytes(256))

    def write_register(self, thread: int, number: int, data: bytes, offset: int = 0) -> None:
        whole = bytearray(self.read_register(thread, number))
        whole[offset : offset + len(data)] = data
        self.registers[thread, number] = bytes(whole)

    def read_special(self, thread: int, name: str) -> int | None:
        return None

    def write_special(self, thread: int, name: str, value: int) -> None:
        raise FocusError(f"There is no {name} here.")

    def read_memory(
        self, space: int, address: int, size: int, thread: int | None = None, lane: int | None = None
    ) -> bytes:
        try:
            return bytes(self.memory[space, address + index] for index in range(size))
        except KeyError:
            raise MemoryAccessError("global", address, size) from None

    def write_memory(
        self, space: int, address: int, data: bytes, thread: int | None = None, lane: int | None = None
    ) -> None:
        for index, byte in enumerate(data):
            self.memory[space, address + index] = byte

    def generic_address(self, space: int, address: int) -> int | None:
        return address if space == 0 else None

    def is_generic(self, address: int) -> bool:
        return False

    # -- for tests

    def script(self, *moves: Move) -> DictionaryTarget:
        """Make the target runnable: each resume makes the next move."""
        self.runnable = ScriptedRun(self, list(moves))
        return self


Move = Callable[["DictionaryTarget", Resume], TargetStop]


def stop(kind: TargetStopKind, thread: int, pc: int, **fields: object) -> Move:
    """The wave goes to ``pc`` and stops there."""

    def move(target: DictionaryTarget, request: Resume) -> TargetStop:
        target.resident[thread] = replace(target.resident[thread], pc=pc)
        return TargetStop(kind, thread, pc, **fields)  # type: ignore[arg-type]

    return move


def end(target: DictionaryTarget, request: Resume) -> TargetStop:
    """All waves end."""
    target.resident.clear()
    return TargetStop(TargetStopKind.DONE)


@dataclass
class ScriptedRun:
    """A `Runnable` that makes one move after another; ``requests`` records the requests that it received."""

    target: DictionaryTarget
    moves: list[Move]
    requests: list[Resume] = field(default_factory=list)
    interrupted: bool = False

    def resume(self, request: Resume) -> TargetStop:
        self.requests.append(request)
        return self.moves.pop(0)(self.target, request)

    def pass_over(self, thread: int) -> None:
        raise AssertionError("the toy watches nothing")

    def stop_again(self, thread: int) -> bool:
        raise AssertionError("nothing is caught in the toy")

    def exit_info(self) -> ExitInfo:
        return ExitInfo(1, "kern", len(self.requests))

    def progress(self) -> Progress:
        return Progress(len(self.requests), 0, 1)

    def interrupt(self) -> None:
        self.interrupted = True

    def forget_interrupt(self) -> None:
        self.interrupted = False
