"""Values at DWARF locations."""

from __future__ import annotations

from msgspec import Struct

from rocdbg import dwarf
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Absence, AbsentError, Address, Memory, MemoryStorage
from rocdbg.dwarf.composite_storage import CompositeStorage
from rocdbg.dwarf.context import Context
from rocdbg.dwarf.errors import UndefinedValue
from rocdbg.dwarf.info import Exprloc, Variable
from rocdbg.dwarf.info.types import ArrayType, ClassType, Type
from rocdbg.dwarf.location import LocationDescription, Place, undefined_location
from rocdbg.dwarf.reader import results
from rocdbg.dwarf.storage import MemoryStorage as MemoryPlace
from rocdbg.dwarf.storage import StorageKind


class LocationStorage(Struct, frozen=True):
    """Storage at a location description: registers, pieces, constants. Writes go to every place that is described."""

    location: LocationDescription
    absence: Absence = Absence.OPTIMIZED_OUT
    context: Context | None = None

    def pointee(self, offset: int, size: int, space: int) -> LocationDescription | None:
        """Return the target of the implicit pointer at a byte offset; ``None`` if a plain value is there.

        ``space`` is the address space of the pointer's type. Raises `EvaluationError` if the pointer names another
        space (A.2.5.4.4.5).
        """
        if self.context is None or not self._holds_implicit_pointer(offset, size):
            return None
        return results.pointed_to(self.context, self.location.offset_by(8 * offset), space, size, strict=False)

    def _holds_implicit_pointer(self, offset: int, size: int) -> bool:
        if not self.location.has_implicit_pointer:
            return False
        parts = self.location.fragments(8 * size, 8 * offset)
        return any(part.storage.kind is StorageKind.IMPLICIT_POINTER for part in parts)

    def read(self, offset: int, size: int) -> bytes:
        """Read bytes. Raises `AbsentError` if any bit is undefined."""
        if self._holds_implicit_pointer(offset, size):
            raise AbsentError(Absence.SYNTHETIC_POINTER)
        try:
            return self.location.read_bytes(size, 8 * offset)
        except UndefinedValue:
            raise AbsentError(self.absence) from None

    def write(self, offset: int, data: bytes) -> None:
        """Write bytes. Raises a `rocdbg.Error` for constants and unavailable storage."""
        if self.location.is_undefined:
            raise AbsentError(self.absence)
        if all(place.kind is StorageKind.IMPLICIT for place in self.location.places):
            raise DebuggerError("This value is a constant that the compiler folded; it cannot be changed.")
        self.location.write(int.from_bytes(data, "little"), 8 * len(data), 8 * offset)

    @property
    def address(self) -> Address | None:
        """The address if this is a single place in memory."""
        place = self.location.memory
        if place is None or place.address is None or place.address_space is None:
            return None
        return Address(place.address_space, place.address)

    @property
    def register(self) -> str | None:
        """The description of the register if the value is in one."""
        places = self.location.places
        return places[0].describe() if places and places[0].kind is StorageKind.REGISTER else None


def has_fixed_address(variable: Variable) -> bool:
    """Whether a variable is at the same address everywhere in the program, so that no frame is needed to find it."""
    location = variable.location
    if not isinstance(location, Exprloc):
        return False
    operations = dwarf.decode(location.data, variable.unit.dialect)
    return bool(operations) and operations[0].info.meaning in ("addr", "addrx")


def value_at(
    type_: Type, location: LocationDescription, memory: Memory, context: Context | None = None
) -> Value:
    """Return a value of a type at a location; it is read lazily. ``context`` finds targets of implicit pointers."""
    if location.is_undefined:
        return Value.absent(type_, Absence.OPTIMIZED_OUT)
    location = _as_large_as(type_, location)
    place = location.memory
    if place is not None and isinstance(place.storage, MemoryPlace):
        return Value(type_, MemoryStorage(memory, place.storage.space.number, place.offset >> 3))
    return Value(type_, LocationStorage(location, context=context))


def _as_large_as(type_: Type, location: LocationDescription) -> LocationDescription:
    """Return a location padded with undefined bits, if it describes only the beginning of an object.

    Pieces need not describe the whole object; the rest of a class or array may be missing in any storage.
    """
    bits = 8 * (type_.size or 0)
    if location.remaining >= bits:
        return location
    is_aggregate = isinstance(type_.bare, ArrayType | ClassType)
    return LocationDescription(*(
        _extended(place, bits) if is_aggregate or place.kind is StorageKind.COMPOSITE else place
        for place in location.places
    ))


def _extended(place: Place, bits: int) -> Place:
    known = place.remaining
    if known >= bits:
        return place
    return Place(CompositeStorage([(LocationDescription(place), known), (undefined_location(), bits - known)]))
