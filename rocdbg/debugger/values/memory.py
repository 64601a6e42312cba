"""Memory as one lane sees it, and as the file has it before the program runs."""

from __future__ import annotations

from dataclasses import dataclass

from rocdbg.arch.address_spaces import AddressSpace, address_space
from rocdbg.debugger.errors import DebuggerError, MemoryAccessError
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.protocol import Target
from rocdbg.sim import layout

_APERTURES = {AddressSpace.LOCAL: layout.SHARED_APERTURE, AddressSpace.PRIVATE_LANE: layout.PRIVATE_APERTURE}


def generic_address(space: int, address: int) -> int | None:
    """A place's address in the generic space; ``None`` for spaces that have no part of it."""
    if space in (AddressSpace.GLOBAL, AddressSpace.GENERIC):
        return address
    aperture = _APERTURES.get(AddressSpace(space))
    return None if aperture is None else aperture | address & 0xFFFFFFFF


def _flat(space: int, address: int) -> int:
    """The space to look in: a plain number in one of the apertures is a generic address."""
    generic = address & ~0xFFFFFFFF in _APERTURES.values() or layout.is_scratch_address(address)
    if space == AddressSpace.GLOBAL and generic:
        return AddressSpace.GENERIC
    return space


@dataclass(frozen=True, slots=True)
class LaneMemory:
    """All address spaces as a lane of a running wave sees them."""

    target: Target
    thread: int
    lane: int | None

    def read(self, space: int, address: int, size: int) -> bytes:
        """Raises `MemoryAccessError`."""
        return self.target.read_memory(_flat(space, address), address, size, self.thread, self.lane)

    def write(self, space: int, address: int, data: bytes) -> None:
        """Raises `MemoryAccessError`."""
        self.target.write_memory(_flat(space, address), address, data, self.thread, self.lane)


@dataclass(frozen=True, slots=True)
class GlobalTargetMemory:
    """The global space of a target whose waves are gone (before the first, after the last)."""

    target: Target

    def read(self, space: int, address: int, size: int) -> bytes:
        """Raises `MemoryAccessError`."""
        return self.target.read_memory(space, address, size)

    def write(self, space: int, address: int, data: bytes) -> None:
        """Raises `MemoryAccessError`."""
        self.target.write_memory(space, address, data)


@dataclass(frozen=True, slots=True)
class FileMemory:
    """What the code object has in its file: code and initialised data."""

    program: Program | None

    def read(self, space: int, address: int, size: int) -> bytes:
        """Raises `MemoryAccessError` for everything else."""
        if space not in (AddressSpace.GLOBAL, AddressSpace.GENERIC) or self.program is None:
            raise MemoryAccessError(address_space(space).name, address, size)
        return self.program.read(address, size)

    def write(self, space: int, address: int, data: bytes) -> None:
        """Refused."""
        raise DebuggerError("cannot access memory without a process")
