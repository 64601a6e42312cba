"""Registers and memory of one wave, to which DWARF location storages refer."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from rocdbg.addresses import NOWHERE, LoadedAddress
from rocdbg.debugger.target.capabilities.target_state import Target


class Reader(Protocol):
    """Is notified of what locations read."""

    def read_register(self, access: ThreadAccess, number: int, offset: int, size: int) -> None:
        """Bytes of a register are read."""

    def read_memory(self, access: ThreadAccess, space: int, address: int, size: int, lane: int | None) -> None:
        """Memory is read."""


class ThreadAccess(Struct):
    """Implements `rocdbg.dwarf.storage.RegisterAccess` and `MemoryAccess` for one wave; equal for the same wave."""

    target: Target
    thread: int
    reader: Reader | None = None
    """Notified of what is read."""

    def entry(self) -> LoadedAddress:
        """Where the kernel of the wave's dispatch begins; `NOWHERE` when that is not known."""
        wave = self.target.wave(self.thread).id
        for dispatch in self.target.dispatches():
            if (dispatch.agent, dispatch.queue, dispatch.number) == (wave.agent, wave.queue, wave.dispatch):
                return dispatch.entry
        return NOWHERE

    def read_register(self, number: int, offset: int, size: int) -> bytes:
        """Read bytes of a register of the innermost frame."""
        if self.reader is not None:
            self.reader.read_register(self, number, offset, size)
        return self.target.read_register(self.thread, number)[offset : offset + size]

    def write_register(self, number: int, offset: int, data: bytes) -> None:
        """Write bytes of a register of the innermost frame."""
        self.target.write_register(self.thread, number, data, offset)

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Read memory as a lane of the wave sees it."""
        if self.reader is not None:
            self.reader.read_memory(self, space, address, size, lane)
        return self.target.read_memory(space, address, size, self.thread, lane)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Write memory as a lane of the wave sees it."""
        self.target.write_memory(space, address, data, self.thread, lane)
