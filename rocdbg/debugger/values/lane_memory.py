"""Memory as one lane sees it, and the file's memory before the program runs."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.addresses import FileAddress
from rocdbg.arch.address_spaces import AddressSpace, address_space
from rocdbg.codeobject.elf import SHF_ALLOC
from rocdbg.debugger.base.errors import DebuggerError, MemoryAccessError
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.capabilities.target_state import Target


class LaneMemory(Struct, frozen=True):
    """All address spaces as a lane of a running wave sees them."""

    target: Target
    thread: int
    lane: int | None

    def read(self, space: int, address: int, size: int) -> bytes:
        """Read bytes. Raises `MemoryAccessError`."""
        return self.target.read_memory(self._space(space, address), address, size, self.thread, self.lane)

    def write(self, space: int, address: int, data: bytes) -> None:
        """Write bytes. Raises `MemoryAccessError`."""
        self.target.write_memory(self._space(space, address), address, data, self.thread, self.lane)

    def generic_address(self, space: int, address: int) -> int | None:
        """Return a place's generic address; the target determines where spaces are in the generic one."""
        return self.target.generic_address(space, address)

    def keep(self, data: bytes) -> int:
        """Store bytes in the target's memory."""
        return self.target.keep(data)

    def _space(self, space: int, address: int) -> int:
        """Return the space of an address: a plain number in one of the apertures is a generic address."""
        return AddressSpace.GENERIC if space == AddressSpace.GLOBAL and self.target.is_generic(address) else space


    def is_of_all_lanes(self, space: int, address: int) -> bool:
        """Whether all lanes of the wave have the same memory at an address."""
        return space == AddressSpace.LOCAL or (space == AddressSpace.GLOBAL and not self.target.is_generic(address))


class WatchedMemory(Struct):
    """A lane's memory that records whether anything was read that may differ in other lanes."""

    memory: LaneMemory
    by_lane: bool = False

    def read(self, space: int, address: int, size: int) -> bytes:
        """Read bytes. Raises `MemoryAccessError`."""
        self.by_lane = self.by_lane or not self.memory.is_of_all_lanes(space, address)
        return self.memory.read(space, address, size)

    def write(self, space: int, address: int, data: bytes) -> None:
        """Write bytes. Raises `MemoryAccessError`."""
        self.memory.write(space, address, data)

    def generic_address(self, space: int, address: int) -> int | None:
        """Return a place's generic address; the target determines where spaces are in the generic one."""
        return self.memory.generic_address(space, address)

    def keep(self, data: bytes) -> int:
        """Store bytes in the target's memory."""
        return self.memory.keep(data)


class GlobalTargetMemory(Struct, frozen=True):
    """The global memory of a target that has no waves, because none has begun or all have ended."""

    target: Target

    def read(self, space: int, address: int, size: int) -> bytes:
        """Read bytes. Raises `MemoryAccessError`."""
        return self.target.read_memory(space, address, size)

    def write(self, space: int, address: int, data: bytes) -> None:
        """Write bytes. Raises `MemoryAccessError`."""
        self.target.write_memory(space, address, data)

    def generic_address(self, space: int, address: int) -> int | None:
        """Return a place's generic address; the target determines where spaces are in the generic one."""
        return self.target.generic_address(space, address)

    def keep(self, data: bytes) -> int:
        """Store bytes in the target's memory."""
        return self.target.keep(data)


class FileMemory(Struct, frozen=True):
    """The contents of the code object's file: code and initialised data."""

    program: Program | None

    def read(self, space: int, address: int, size: int) -> bytes:
        """Read bytes of the file. Raises `MemoryAccessError` for everything else."""
        if space not in (AddressSpace.GLOBAL, AddressSpace.GENERIC) or self.program is None:
            raise MemoryAccessError(address_space(space).name, address, size)
        sections = self.program.code_object.sections.values()
        first = min((section.address for section in sections if section.flags & SHF_ALLOC), default=0)
        if address < self.program.to_loaded(FileAddress(first)):
            raise MemoryAccessError("global", address, size, "the file's headers are there")
        return self.program.read(address, size)

    def write(self, space: int, address: int, data: bytes) -> None:
        """Fail: the file cannot be written."""
        raise MemoryAccessError(address_space(space).name, address, len(data), "no process is there to write to")

    def generic_address(self, space: int, address: int) -> int | None:
        """Return a global address unchanged; without a target, the apertures of the other spaces are not known."""
        return address if space in (AddressSpace.GLOBAL, AddressSpace.GENERIC) else None

    def keep(self, data: bytes) -> int:
        """Fail: there is no memory for new bytes."""
        raise DebuggerError("evaluation of this expression requires the target program to be active")
