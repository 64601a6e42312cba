"""Location storage of LLVM's own entities, which the specification adds to those of DWARF: values, registers, stack
slots.

An entity's storage holds its value. An implicit address is storage too: its bits have no value, but it leads to the
location from which it was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rocdbg.dwarf.errors import EvaluationError
from rocdbg.dwarf.location import LocationDescription, Place
from rocdbg.dwarf.storage import Storage, StorageKind, Write

__all__ = ["Cells", "EntityStorage", "EntityValue", "ImplicitAddressStorage", "entity_words"]

EntityValue = int | Sequence[int] | LocationDescription
"""What is known about an entity: its bits, its bits in each lane, or its location."""


class Cells(Protocol):
    """The store of the values of entities."""

    def entity(self, name: str) -> int:
        """The bits of an entity; raises `EvaluationError` if they are not known."""
        ...

    def set_entity(self, name: str, value: int) -> None:
        """Change the bits of an entity."""
        ...


def entity_words(name: str) -> str:
    """The kind of entity that a name denotes."""
    if name.startswith("@"):
        return f"the address of {name}"
    if name.startswith("$"):
        return f"physical register {name}"
    if name.startswith(("%frame.index.", "%stack.", "%fixed-stack.")):
        return f"stack slot {name}"
    return f"value {name}"


class EntityStorage(Storage):
    """The `size` bits of an entity."""

    __slots__ = ("cells", "name", "size")
    kind = StorageKind.REGISTER

    def __init__(self, cells: Cells, name: str, size: int) -> None:
        self.cells = cells
        self.name = name
        self.size = size

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        mask = (1 << bits) - 1
        return self.cells.entity(self.name) >> offset & mask, mask

    def plan_write(self, offset: int, bits: int, value: int, plan: list[Write]) -> None:
        plan.append(Write(self, offset, bits, value))

    def store(self, offset: int, bits: int, value: int) -> None:
        mask = (1 << bits) - 1 << offset
        self.cells.set_entity(self.name, self.cells.entity(self.name) & ~mask | value << offset & mask)

    def words(self, offset: int = 0) -> str:
        return entity_words(self.name) + (f", bit {offset}" if offset else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EntityStorage) and (self.cells, self.name) == (other.cells, other.name)

    def __hash__(self) -> int:
        return hash((id(self.cells), self.name))


class ImplicitAddressStorage(Storage):
    """The address of a location (`DIOpAddrOf`) where the address itself does not exist at run time."""

    __slots__ = ("location", "size")
    kind = StorageKind.IMPLICIT_POINTER
    has_implicit_pointer = True

    def __init__(self, location: LocationDescription, size: int) -> None:
        self.location = location
        self.size = size

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        raise EvaluationError("the bits of an implicit address cannot be read; it can only be dereferenced")

    def words(self, offset: int = 0) -> str:
        return f"implicit address of {self.location.describe()}" + (f", bit {offset}" if offset else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImplicitAddressStorage) and (self.location, self.size) == (other.location, other.size)

    def __hash__(self) -> int:
        return hash((self.location, self.size))


def implicit_address(location: LocationDescription, size: int) -> LocationDescription:
    """The location description of an implicit address of `size` bits."""
    return LocationDescription(Place(ImplicitAddressStorage(location, size)))
