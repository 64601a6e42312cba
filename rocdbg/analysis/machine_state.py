"""What is known about registers and stack slots in terms of their contents when the function was entered.

A scalar value is the contents a scalar register had at entry, an address on the stack, a number, or unknown. The value
of a vector register or stack slot has a part for the lanes that were active at entry, a part for the other lanes, and
scalars that were put into single lanes. Scalar registers are identified by their hardware operand codes (vcc 106, exec
126), vector registers by number, accumulation registers by ``AGPR`` plus number.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, TypeAlias

from msgspec import Struct, field

from rocdbg.isa import Instruction, Operand, OperandKind

STACK_POINTER: Final = 32
VCC_LO: Final = 106
EXEC_LO: Final = 126
EXEC_HI: Final = 127
AGPR: Final = 4096


class Saved(Struct, frozen=True):
    """What scalar register ``register`` held at entry."""

    register: int


class StackAddress(Struct, frozen=True):
    """The stack pointer at entry, plus ``offset``, in the units of the stack pointer."""

    offset: int


class Number(Struct, frozen=True):
    """A known 32-bit number."""

    value: int


class Complement(Struct, frozen=True):
    """The bits that were zero at entry in scalar register ``register``, half of EXEC."""

    register: int


Scalar: TypeAlias = Saved | StackAddress | Number | Complement | None
"""A scalar value; None when nothing is known about it."""


def entry_scalar(register: int) -> Scalar:
    """What a scalar register holds at entry."""
    return StackAddress(0) if register == STACK_POINTER else Saved(register)


class Vector(Struct, frozen=True):
    """Contents of a vector register or a dword per lane of the stack.

    ``active`` is the vector register whose contents at entry are now in the lanes that were active at entry;
    ``inactive`` is the same for the other lanes. They are None when unknown. ``lanes`` are scalars in single lanes,
    sorted by lane.
    """

    active: int | None = None
    inactive: int | None = None
    lanes: tuple[tuple[int, Scalar], ...] = ()

    def with_lane(self, lane: int, value: Scalar) -> Vector:
        """The contents after a scalar was written to a lane; the previous contents of the whole register count as lost.
        """
        kept = {**dict(self.lanes), lane: value}
        return Vector(None, None, tuple(sorted((n, v) for n, v in kept.items() if v is not None)))


UNKNOWN: Final = Vector()


class Lanes(Enum):
    """Which lanes EXEC selects, in relation to the lanes active at entry."""

    ENTRY = auto()
    """Exactly the lanes active at entry."""
    SUBSET = auto()
    """Some of the lanes active at entry: control flow has diverged."""
    ALL = auto()
    """All lanes of the wave."""
    INACTIVE = auto()
    """All lanes that were inactive at entry."""
    UNKNOWN = auto()


def written(old: Vector, new: Vector, lanes: Lanes) -> Vector:
    """The contents of a register or slot after ``new`` was written to some of its lanes."""
    match lanes:
        case Lanes.ALL:
            return new
        case Lanes.ENTRY:
            return Vector(new.active, old.inactive)
        case Lanes.SUBSET:
            return Vector(new.active if new.active == old.active else None, old.inactive)
        case Lanes.INACTIVE:
            return Vector(old.active, new.inactive)
    return UNKNOWN


class State(Struct):
    """What is known at a point of a function. A register that is not in its mapping is as it was at entry; a slot that
    is not in its mapping is unknown.

    The keys of ``slots`` are offsets from the stack pointer at entry, in bytes of one lane. ``carry`` is SCC if that is
    the carry of a sum of known numbers.
    """

    scalars: dict[int, Scalar] = field(default_factory=dict)
    vectors: dict[int, Vector] = field(default_factory=dict)
    slots: dict[int, Vector] = field(default_factory=dict)
    carry: int | None = None

    def copy(self) -> State:
        """An independent copy."""
        return State(dict(self.scalars), dict(self.vectors), dict(self.slots), self.carry)

    def scalar(self, register: int) -> Scalar:
        """What a scalar register holds."""
        return self.scalars[register] if register in self.scalars else entry_scalar(register)

    def set_scalar(self, register: int, value: Scalar) -> None:
        """Record a write to a scalar register."""
        if value == entry_scalar(register):
            self.scalars.pop(register, None)
        else:
            self.scalars[register] = value

    def vector(self, register: int) -> Vector:
        """What a vector register holds."""
        return self.vectors.get(register) or Vector(register, register)

    def set_vector(self, register: int, value: Vector) -> None:
        """Record a write to a vector register."""
        if value == Vector(register, register):
            self.vectors.pop(register, None)
        else:
            self.vectors[register] = value

    def slot(self, offset: int) -> Vector:
        """What a stack slot holds."""
        return self.slots.get(offset, UNKNOWN)

    def lanes(self, wave_size: int) -> Lanes:
        """The lanes that EXEC selects. If EXEC is neither unchanged, a constant, nor the complement of the mask at
        entry, it is assumed to be a subset of that mask, because compilers write no other masks to it.
        """
        scalars = self.scalars  # the mapping has only registers that changed since entry
        if EXEC_LO not in scalars and (wave_size == 32 or EXEC_HI not in scalars):
            return Lanes.ENTRY
        halves = [self.scalar(EXEC_LO)] + ([self.scalar(EXEC_HI)] if wave_size == 64 else [])
        if all(half == Number(0xFFFFFFFF) for half in halves):
            return Lanes.ALL
        if all(half == Complement(EXEC_LO + n) for n, half in enumerate(halves)):
            return Lanes.INACTIVE
        if any(isinstance(half, Complement | Number) for half in halves):
            return Lanes.UNKNOWN
        return Lanes.SUBSET

    def merge(self, other: State) -> bool:
        """Where two paths meet, keep only what both states agree on. True if that is less than before."""
        before = (len(self.slots), self.carry, dict(self.scalars), dict(self.vectors), dict(self.slots))
        for register in self.scalars.keys() | other.scalars.keys():
            if self.scalar(register) != other.scalar(register):
                self.set_scalar(register, None)
        for register in self.vectors.keys() | other.vectors.keys():
            self.set_vector(register, _common(self.vector(register), other.vector(register)))
        self.slots = {
            offset: _common(slot, other.slots[offset]) for offset, slot in self.slots.items()
            if offset in other.slots
        }
        if self.carry != other.carry:
            self.carry = None
        return before != (len(self.slots), self.carry, self.scalars, self.vectors, self.slots)


def _common(one: Vector, other: Vector) -> Vector:
    if one == other:
        return one
    shared = set(other.lanes)
    return Vector(
        one.active if one.active == other.active else None,
        one.inactive if one.inactive == other.inactive else None,
        tuple(lane for lane in one.lanes if lane in shared),
    )


def vector_key(operand: Operand) -> int | None:
    """The number of a vector register, accumulation registers from `AGPR` on; None for anything else."""
    if operand.kind is OperandKind.VGPR:
        return operand.index
    return AGPR + operand.index if operand.kind is OperandKind.AGPR else None


def written_scalars(instruction: Instruction, destination: Operand) -> range:
    """The scalar registers that an instruction may write by an operand: all from there on if M0 selects them."""
    if "movreld" in instruction.name or "movrelsd" in instruction.name:
        return range(destination.index, VCC_LO)
    return range(destination.index, destination.index + destination.dwords)
