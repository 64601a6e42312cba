"""Storage of a value: bytes that can be read and, usually, written.

All storages have the same interface: a variable may be in scratch, in one lane's dword of a VGPR, spread over pieces,
or in a convenience variable. A value is a storage with a type and an offset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from rocdbg.debugger.base.errors import DebuggerError, UnavailableError
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.debugger.values.value import Value


class Absence(Enum):
    """Why a value is unavailable; the value of the enumerator is the text that is shown instead."""

    OPTIMIZED_OUT = "<optimized out>"
    UNAVAILABLE = "<unavailable>"
    SYNTHETIC_POINTER = "<synthetic pointer>"
    NOT_SAVED = "<not saved>"
    NOT_ALLOCATED = "<not allocated>"
    NOT_ASSOCIATED = "<not associated>"
    NOT_PER_LANE = "<not known per lane>"
    """The compiler's description of the value does not say to which lane it belongs, or in which memory it is."""
    UNPLACED = "<place in LDS not known>"

    @property
    def is_lost(self) -> bool:
        """Whether debug information does not describe the location of the value."""
        return self in (Absence.OPTIMIZED_OUT, Absence.NOT_PER_LANE, Absence.UNPLACED)


class AbsentError(UnavailableError):
    """The requested bytes do not exist."""

    def __init__(self, absence: Absence, message: str = "") -> None:
        self.absence = absence
        default = {
            Absence.OPTIMIZED_OUT: "value has been optimized out",
            Absence.UNAVAILABLE: "value is not available",
            Absence.SYNTHETIC_POINTER: "value is a synthetic pointer",
            Absence.NOT_SAVED: "value was not saved",
            Absence.NOT_ALLOCATED: "array is not allocated",
            Absence.NOT_ASSOCIATED: "array is not associated",
            Absence.NOT_PER_LANE: "value is not known per lane",
            Absence.UNPLACED: "the place in LDS is not known",
        }
        super().__init__(message or default[absence])


class Address(Struct, frozen=True):
    """An address in a DWARF address space, as seen by one lane of one wave if that makes a difference."""

    space: int
    value: int


class Storage(Protocol):
    """A place that holds bytes. Offsets and sizes are in bytes."""

    def read(self, offset: int, size: int) -> bytes:
        """Read bytes. Raises `MemoryAccessError` or `AbsentError`."""

    def write(self, offset: int, data: bytes) -> None:
        """Write bytes. Raises `MemoryAccessError`, or another `DebuggerError` if the storage cannot be written."""

    @property
    def address(self) -> Address | None:
        """The address of offset 0 if this is memory, otherwise ``None``."""

    @property
    def register(self) -> str | None:
        """The name of the register if this is one or a part of one, otherwise ``None``."""


class Memory(Protocol):
    """Memory as one lane sees it: the part of a target or file that storages and the evaluator need."""

    def read(self, space: int, address: int, size: int) -> bytes:
        """Read bytes. Raises `MemoryAccessError`."""

    def write(self, space: int, address: int, data: bytes) -> None:
        """Write bytes. Raises `MemoryAccessError`."""

    def generic_address(self, space: int, address: int) -> int | None:
        """Return a place's address in the generic space; ``None`` if its space is not part of the generic one."""

    def keep(self, data: bytes) -> int:
        """Store the debugger's own bytes in global memory; return their address. Raises `rocdbg.Error` if there is no
        room.
        """


class MemoryStorage(Struct, frozen=True):
    """Memory of an address space."""

    memory: Memory
    space: int
    start: int

    def read(self, offset: int, size: int) -> bytes:
        return self.memory.read(self.space, self.start + offset, size)

    def write(self, offset: int, data: bytes) -> None:
        self.memory.write(self.space, self.start + offset, data)

    @property
    def address(self) -> Address | None:
        return Address(self.space, self.start)

    @property
    def register(self) -> str | None:
        return None


class CallbackStorage(Struct, frozen=True):
    """A register or another place, accessed through two functions. ``columns``: the values from which its dwords come,
    in turn.
    """

    name: str
    reader: Callable[[int, int], bytes]
    writer: Callable[[int, bytes], None] | None = None
    columns: tuple[Value, ...] = ()

    def read(self, offset: int, size: int) -> bytes:
        return self.reader(offset, size)

    def write(self, offset: int, data: bytes) -> None:
        if self.writer is None:
            raise DebuggerError(f"{self.name} cannot be changed.")
        self.writer(offset, data)

    @property
    def address(self) -> Address | None:
        return None

    @property
    def register(self) -> str | None:
        return self.name


class Nowhere:
    """Storage that is neither memory with an address nor a register."""

    __slots__ = ()

    @property
    def address(self) -> Address | None:
        return None

    @property
    def register(self) -> str | None:
        return None


class ConvenienceStorage(Nowhere, Struct):
    """A convenience variable: assigning to it also changes its type; members can be changed in place."""

    name: str
    value: Value
    on_change: Callable[[Value], None]

    def read(self, offset: int, size: int) -> bytes:
        return self.value.contents()[offset : offset + size]

    def write(self, offset: int, data: bytes) -> None:
        whole = bytearray(self.value.contents())
        whole[offset : offset + len(data)] = data
        self.on_change(self.value.with_contents(bytes(whole)))


class FaultyStorage(Nowhere, Struct, frozen=True):
    """Storage of a variable whose location is not known: every access raises the reason."""

    error: Error

    def read(self, offset: int, size: int) -> bytes:
        raise self.error

    def write(self, offset: int, data: bytes) -> None:
        raise self.error


class SnapshotStorage(Nowhere, Struct, frozen=True):
    """A snapshot of a value's bytes; where bytes were missing, it has the reason, by position."""

    data: bytes
    missing: Mapping[int, Absence]

    def read(self, offset: int, size: int) -> bytes:
        for position in range(offset, offset + size):
            if position in self.missing:
                raise AbsentError(self.missing[position])
        return self.data[offset : offset + size]

    def write(self, offset: int, data: bytes) -> None:
        raise DebuggerError("A value of the history cannot be changed.")

    @classmethod
    def of(cls, storage: Storage, start: int, size: int) -> SnapshotStorage:
        """Return the current contents of a storage."""
        data = bytearray(size)
        missing: dict[int, Absence] = {}
        for position in range(size):
            try:
                data[position : position + 1] = storage.read(start + position, 1)
            except AbsentError as error:
                missing[position] = error.absence
        return cls(bytes(data), missing)


class RememberedStorage(Struct, frozen=True):
    """Storage with a snapshot of some of its bytes: ``data`` holds the former bytes from offset ``start`` on."""

    now: Storage
    start: int
    data: bytes

    def read(self, offset: int, size: int) -> bytes:
        at = offset - self.start
        if at >= 0 and at + size <= len(self.data):
            return self.data[at : at + size]
        return self.now.read(offset, size)

    def write(self, offset: int, data: bytes) -> None:
        self.now.write(offset, data)

    @property
    def address(self) -> Address | None:
        return self.now.address

    @property
    def register(self) -> str | None:
        return self.now.register


class LanePcStorage(Nowhere, Struct, frozen=True):
    """A vector of PCs of 8 bytes per lane, some of them undefined."""

    pcs: tuple[int | None, ...]

    def read(self, offset: int, size: int) -> bytes:
        data = bytearray()
        for pc in self.pcs[offset // 8 : (offset + size + 7) // 8]:
            if pc is None:
                raise AbsentError(Absence.OPTIMIZED_OUT)
            data += pc.to_bytes(8, "little")
        start = offset % 8
        return bytes(data[start : start + size])

    def write(self, offset: int, data: bytes) -> None:
        raise DebuggerError("Lane PCs cannot be changed.")
