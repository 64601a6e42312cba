"""Registers and memory of one wave, as DWARF location storages ask for them."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.target.state import Target


class ThreadAccess(Struct):
    """`rocdbg.dwarf.storage.RegisterAccess` and `MemoryAccess` of one wave; equal for the same wave."""

    target: Target
    thread: int

    def read_register(self, number: int, offset: int, size: int) -> bytes:
        """Bytes of a register of the innermost frame."""
        return self.target.read_register(self.thread, number)[offset : offset + size]

    def write_register(self, number: int, offset: int, data: bytes) -> None:
        """Write bytes of a register of the innermost frame."""
        self.target.write_register(self.thread, number, data, offset)

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Memory as a lane of the wave sees it."""
        return self.target.read_memory(space, address, size, self.thread, lane)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """As `read_memory`, the other way."""
        self.target.write_memory(space, address, data, self.thread, lane)
