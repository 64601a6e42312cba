"""What the evaluation of a watched expression reads, written down: memory by lane, registers by dword."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.dwarf_registers import FRAME_REGISTERS
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.breakpoints.watchpoints import RegisterDword
from rocdbg.debugger.frames.wave_access import ThreadAccess
from rocdbg.debugger.target.runnable import WatchedMemory
from rocdbg.debugger.values.value_storage import Memory


class RecordedMemory(Struct):
    """Memory and registers as an environment reads them, written down."""

    memory: Memory
    thread: int | None
    lane: int | None
    reads: list[WatchedMemory]

    def read(self, space: int, address: int, size: int) -> bytes:
        self.reads.append(WatchedMemory(space, address, size, self.thread, self.lane))
        return self.memory.read(space, address, size)

    def write(self, space: int, address: int, data: bytes) -> None:
        raise ExpressionError("A watched expression cannot assign.")

    def generic_address(self, space: int, address: int) -> int | None:
        return self.memory.generic_address(space, address)


class RecordedReads(Struct):
    """Registers and memory as locations read them, written down."""

    memory: list[WatchedMemory]
    registers: dict[RegisterDword, int]

    def read_register(self, access: ThreadAccess, number: int, offset: int, size: int) -> None:
        if number in FRAME_REGISTERS:
            return
        data = access.target.read_register(access.thread, number)
        for index in range(offset // 4, (offset + size + 3) // 4):
            self.registers[number, index] = int.from_bytes(data[4 * index : 4 * index + 4], "little")

    def read_memory(self, access: ThreadAccess, space: int, address: int, size: int, lane: int | None) -> None:
        self.memory.append(WatchedMemory(space, address, size, access.thread, lane))


__all__ = ["RecordedMemory", "RecordedReads"]
