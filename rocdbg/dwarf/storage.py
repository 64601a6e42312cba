"""Location storage: the streams of bits that location descriptions point into (A.2.5.3).

Every storage returns exact integers: `read_known(offset, bits)` gives the bits of
`[offset, offset + bits)`, bit `offset` lowest, together with a mask of those that are defined; so a
vector with undefined lanes is still read in one step. Writing first collects a plan of
primitive writes, which fails as a whole before anything is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Protocol

from msgspec import Struct

from rocdbg.dwarf.architecture import AddressSpace, Architecture
from rocdbg.dwarf.errors import EvaluationError

__all__ = [
    "ANY_LANE",
    "Fragment",
    "ImplicitPointerStorage",
    "ImplicitStorage",
    "MemoryAccess",
    "MemoryStorage",
    "RegisterAccess",
    "RegisterStorage",
    "Storage",
    "StorageKind",
    "UndefinedStorage",
    "Write",
]


class StorageKind(Enum):
    """The kinds of location storage (A.2.5.3); implicit pointers are a kind of their own."""

    MEMORY = "memory"
    REGISTER = "register"
    IMPLICIT = "implicit"
    IMPLICIT_POINTER = "implicit pointer"
    UNDEFINED = "undefined"
    COMPOSITE = "composite"


class MemoryAccess(Protocol):
    """The source of the bytes of memory storage. Failures raise `EvaluationError` or another `rocdbg.Error`."""

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Exactly `size` bytes at `address` of DWARF address space `space`, as `lane` sees it."""
        ...

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Replace the bytes at `address` with `data`."""
        ...


class RegisterAccess(Protocol):
    """The source of the bytes of register storage: the registers of one thread's top frame."""

    def read_register(self, number: int, offset: int, size: int) -> bytes:
        """Exactly `size` bytes of DWARF register `number` from byte `offset`, least significant first."""
        ...

    def write_register(self, number: int, offset: int, data: bytes) -> None:
        """Replace bytes of the register from byte `offset` on."""
        ...


class Fragment(Struct, frozen=True):
    """A run of bits of a location that lies in one primitive storage."""

    storage: Storage
    offset: int
    """First bit within the storage."""
    bits: int


class Write(Struct, frozen=True):
    """One primitive write of a plan: `bits` bits of `value` to bit `offset` of `storage`."""

    storage: Storage
    offset: int
    bits: int
    value: int

    def perform(self) -> None:
        """Write."""
        self.storage.store(self.offset, self.bits, self.value)


class Storage:
    """A linear stream of `size` bits.

    `weight` counts the storages below it and `depth` their levels; both limit what hostile expressions can build.
    `has_implicit_pointer` means that reading needs the implicit pointer rules. The class is not an `ABC`, because that
    would slow down every isinstance check of the evaluator.
    """

    __slots__ = ()
    kind: StorageKind
    size: int
    weight: int = 1
    depth: int = 0
    has_implicit_pointer: bool = False

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        """The bits and the mask of defined bits; the caller has checked the bounds."""
        raise NotImplementedError  # abstract: each kind of storage defines it

    def plan_write(self, offset: int, bits: int, value: int, plan: list[Write]) -> None:
        """Append the primitive writes that store `value`, or raise `EvaluationError`."""
        raise EvaluationError(f"{self.words()} cannot be written")

    def store(self, offset: int, bits: int, value: int) -> None:
        """Perform a primitive write; implemented only by storages that plan writes to themselves."""
        raise AssertionError(f"primitive write to {self.kind.value} storage")

    def fragments(self, offset: int, bits: int) -> Iterator[Fragment]:
        """The primitive runs that make up the bits, lowest first."""
        yield Fragment(self, offset, bits)

    def words(self, offset: int = 0) -> str:
        """The storage and a bit offset into it, as text."""
        raise NotImplementedError  # abstract: each kind of storage defines it


def _bit_words(offset: int) -> str:
    return f", bit {offset}" if offset else ""


class UndefinedStorage(Storage):
    """Bits that do not exist (A.2.5.4.4.2). It has no size of its own: it counts as the largest storage."""

    __slots__ = ()
    kind = StorageKind.UNDEFINED
    size = 1 << 67

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        return 0, 0

    def words(self, offset: int = 0) -> str:
        return "undefined"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UndefinedStorage)

    def __hash__(self) -> int:
        return hash(UndefinedStorage)


_MAX_DIGITS, _SHOWN_DIGITS = 32, 16
"""The most hexadecimal digits of an implicit value that are shown in full, and how many are shown of a longer value."""


class ImplicitStorage(Storage):
    """A fixed value of `size` bits that can only be read (A.2.5.4.4.5)."""

    __slots__ = ("size", "value")
    kind = StorageKind.IMPLICIT

    def __init__(self, value: int, size: int) -> None:
        self.value = value
        self.size = size

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        mask = (1 << bits) - 1
        return self.value >> offset & mask, mask

    def words(self, offset: int = 0) -> str:
        digits = f"{self.value:x}"
        if len(digits) > _MAX_DIGITS:  # a vector register's worth of lanes
            digits = f"...{digits[-_SHOWN_DIGITS:]}"
        return f"implicit value 0x{digits} of {_size_words(self.size)}{_bit_words(offset)}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImplicitStorage) and (self.value, self.size) == (other.value, other.size)

    def __hash__(self) -> int:
        return hash((self.value, self.size))


def _size_words(bits: int) -> str:
    return f"{bits // 8} bytes" if bits % 8 == 0 else f"{bits} bits"


class ImplicitPointerStorage(Storage):
    """A pointer that does not exist at run time, but whose target is described (A.2.5.4.4.5).

    Its bits have no value. Only reading all of them with `DW_OP_deref*` is allowed, which the evaluator does.
    """

    __slots__ = ("address_space", "die", "displacement", "size")
    kind = StorageKind.IMPLICIT_POINTER
    has_implicit_pointer = True

    def __init__(self, die: int, displacement: int, address_space: int, size: int) -> None:
        self.die = die
        self.displacement = displacement
        self.address_space = address_space
        self.size = size

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        raise EvaluationError("the bits of an implicit pointer cannot be read; it can only be dereferenced")

    def words(self, offset: int = 0) -> str:
        plus = f"{self.displacement:+d}" if self.displacement else ""
        return f"implicit pointer to the object of DIE {self.die:#x}{plus}{_bit_words(offset)}"

    def _key(self) -> tuple[int, int, int, int]:
        return self.die, self.displacement, self.address_space, self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImplicitPointerStorage) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class _ByteStorage(Storage):
    """Storage whose bytes are held by another object."""

    __slots__ = ()

    def plan_write(self, offset: int, bits: int, value: int, plan: list[Write]) -> None:
        plan.append(Write(self, offset, bits, value))

    def store(self, offset: int, bits: int, value: int) -> None:
        first = offset >> 3
        count = (offset & 7) + bits + 7 >> 3
        if not count:
            return
        data = value.to_bytes(count, "little") if not (offset | bits) & 7 else b""
        if not data:
            data = _merge(self._read(first, count), offset & 7, bits, value)
        self._write(first, data)

    def _read(self, first: int, count: int) -> bytes:
        raise NotImplementedError  # abstract: registers and memory define it

    def _write(self, first: int, data: bytes) -> None:
        raise NotImplementedError  # abstract: registers and memory define it


class RegisterStorage(_ByteStorage):
    """A register of a thread (A.2.5.4.4.4); `size` in bits."""

    __slots__ = ("access", "architecture", "number", "size")
    kind = StorageKind.REGISTER

    def __init__(self, access: RegisterAccess, architecture: Architecture, number: int, size: int) -> None:
        self.access = access
        self.architecture = architecture
        self.number = number
        self.size = size

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        first = offset >> 3
        shift = offset & 7
        data = self.access.read_register(self.number, first, (shift + bits + 7) >> 3)
        mask = (1 << bits) - 1
        return int.from_bytes(data, "little") >> shift & mask, mask

    def _read(self, first: int, count: int) -> bytes:
        return self.access.read_register(self.number, first, count)

    def _write(self, first: int, data: bytes) -> None:
        self.access.write_register(self.number, first, data)

    @property
    def name(self) -> str:
        """The register's name in the architecture's assembler."""
        return self.architecture.register_name(self.number)

    def words(self, offset: int = 0) -> str:
        return f"register {self.name}{_bit_words(offset)}"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RegisterStorage) and self.access is other.access and self.number == other.number
        )

    def __hash__(self) -> int:
        return hash((id(self.access), self.number))


def _merge(old: bytes, shift: int, bits: int, value: int) -> bytes:
    """`old` with `bits` bits from bit `shift` on replaced by `value`."""
    mask = (1 << bits) - 1 << shift
    merged = int.from_bytes(old, "little") & ~mask | value << shift & mask
    return merged.to_bytes(len(old), "little")


ANY_LANE = -1
"""The `lane` of a context that represents every lane (`rocdbg.dwarf.any_lane`); memory of this lane cannot be read."""


class MemoryStorage(_ByteStorage):
    """An address space, as one lane of one thread sees it (A.2.5.4.4.3)."""

    __slots__ = ("access", "lane", "size", "space")
    kind = StorageKind.MEMORY

    def __init__(self, access: MemoryAccess, space: AddressSpace, lane: int | None) -> None:
        self.access = access
        self.space = space
        self.lane = lane
        self.size = 8 << space.address_bits

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        if self.lane == ANY_LANE:
            raise EvaluationError("per-lane memory can be accessed only in a certain lane, and no lane is selected")
        shift = offset & 7
        data = self.access.read_memory(self._space, offset >> 3, (shift + bits + 7) >> 3, self.lane)
        mask = (1 << bits) - 1
        return int.from_bytes(data, "little") >> shift & mask, mask

    def _read(self, first: int, count: int) -> bytes:
        return self.access.read_memory(self._space, first, count, self.lane)

    def _write(self, first: int, data: bytes) -> None:
        self.access.write_memory(self._space, first, data, self.lane)

    @property
    def _space(self) -> int:
        space = self.space
        return space.number if space.alias is None else space.alias

    def words(self, offset: int = 0) -> str:
        prefix = "" if self.space.number == 0 else f"{self.space.name}#"
        lane = f" of lane {self.lane}" if self.lane is not None and self.space.number != 1 else ""
        bit = f", bit {offset & 7}" if offset & 7 else ""
        return f"memory at {prefix}{offset >> 3:#x}{lane}{bit}"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MemoryStorage)
            and self.access is other.access
            and self.space == other.space
            and self.lane == other.lane
        )

    def __hash__(self) -> int:
        return hash((id(self.access), self.space.number, self.lane))
