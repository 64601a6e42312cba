"""Location descriptions: one or more places, each a bit offset into a location storage (A.2.5.3).

They are immutable values. Reading uses any one of the places, because all hold the same object; writing goes to all of
them. Offsets and sizes are in bits unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg.dwarf.errors import EvaluationError, UndefinedValue
from rocdbg.dwarf.storage import (
    Fragment,
    ImplicitStorage,
    MemoryStorage,
    RegisterStorage,
    Storage,
    StorageKind,
    UndefinedStorage,
    Write,
)
from rocdbg.errors import Error

__all__ = ["LocationDescription", "Place", "implicit_location", "undefined_location"]


class Place:
    """A single location description (A.2.5.3): bit `offset` of `storage`."""

    __slots__ = ("offset", "storage")

    def __init__(self, storage: Storage, offset: int = 0) -> None:
        self.storage = storage
        self.offset = offset

    @property
    def kind(self) -> StorageKind:
        """What kind of storage it is in (A.2.5.3)."""
        return self.storage.kind

    @property
    def bit_offset(self) -> int:
        """The bit offset into the storage (A.2.5.3)."""
        return self.offset

    @property
    def remaining(self) -> int:
        """Bits from the place to the end of the storage (A.2.5.4.4.6, *RBSS*)."""
        return self.storage.size - self.offset

    @property
    def address(self) -> int | None:
        """The byte address of a byte-address memory place, otherwise None (A.2.5.4.4.3)."""
        if isinstance(self.storage, MemoryStorage) and not self.offset & 7:
            return self.offset >> 3
        return None

    @property
    def address_space(self) -> int | None:
        """The DWARF address space of a memory place, otherwise None (A.2.5.4.4.3)."""
        return self.storage.space.number if isinstance(self.storage, MemoryStorage) else None

    @property
    def lane(self) -> int | None:
        """The lane whose memory contains the place, if its address space is per lane; else None (A.2.5.4.4.3)."""
        return self.storage.lane if isinstance(self.storage, MemoryStorage) else None

    @property
    def register(self) -> int | None:
        """The DWARF register number of a register place, otherwise None (A.2.5.4.4.4)."""
        return self.storage.number if isinstance(self.storage, RegisterStorage) else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.offset == other.offset and self.storage == other.storage

    def __hash__(self) -> int:
        return hash((self.storage, self.offset))

    def __repr__(self) -> str:
        return f"<Place {self.describe()}>"

    def describe(self) -> str:
        """The place (A.2.5.3) as text: "register s4, bit 8"."""
        return self.storage.words(self.offset)


class LocationDescription:
    """Where an object is (A.2.5.3): one or more places that hold the same value."""

    __slots__ = ("places",)
    places: tuple[Place, ...]

    def __init__(self, *places: Place) -> None:
        self.places = places

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocationDescription) and self.places == other.places

    def __hash__(self) -> int:
        return hash(self.places)

    def __repr__(self) -> str:
        return f"<LocationDescription {self.describe()}>"

    @property
    def is_undefined(self) -> bool:
        """Whether all places are undefined (A.2.5.4.4.2)."""
        places = self.places
        if len(places) == 1:
            return places[0].storage.kind is StorageKind.UNDEFINED
        return all(place.storage.kind is StorageKind.UNDEFINED for place in places)

    @property
    def weight(self) -> int:
        """How many storages its composites (A.2.5.4.4.6) consist of, which is limited."""
        places = self.places
        return places[0].storage.weight if len(places) == 1 else sum(place.storage.weight for place in places)

    @property
    def depth(self) -> int:
        """How many levels of composites (A.2.5.4.4.6) it has, which is limited."""
        return max((place.storage.depth for place in self.places), default=0)

    @property
    def has_implicit_pointer(self) -> bool:
        """Whether reading needs the rules of implicit pointers (A.2.5.4.4.5)."""
        for place in self.places:  # noqa: SIM110 - executed for every value that is read
            if place.storage.has_implicit_pointer:
                return True
        return False

    @property
    def remaining(self) -> int:
        """*rbss*: bits from the place to the storage's end, the minimum over all places (A.2.5.4.4.6)."""
        return min(place.storage.size - place.offset for place in self.places)

    @property
    def memory(self) -> Place | None:
        """The place, if this is a memory byte address location description (A.2.5.4.4.3); else None."""
        if len(self.places) != 1:
            return None
        place = self.places[0]
        return place if isinstance(place.storage, MemoryStorage) and not place.offset & 7 else None

    # Reading

    def read(self, bits: int, offset: int = 0) -> int:
        """`bits` bits from bit `offset` on (A.2.5.3), as an unsigned integer, the first bit lowest.

        Raises `UndefinedValue` if a bit is undefined, `EvaluationError` if one lies outside of the storage,
        belongs to an implicit pointer, or cannot be fetched.
        """
        value, known = self.read_known(bits, offset)
        if known != (1 << bits) - 1:
            raise UndefinedValue("the value is undefined" if not known else "part of the value is undefined")
        return value

    def read_bytes(self, size: int, offset: int = 0) -> bytes:
        """`size` bytes from *bit* `offset` on (A.2.5.3), the first bits lowest; raises what `read` raises."""
        return self.read(8 * size, offset).to_bytes(size, "little")

    def read_known(self, bits: int, offset: int = 0) -> tuple[int, int]:
        """The bits as `read` gives them (A.2.5.3) with undefined ones as 0, and a mask of the defined ones.

        If there are several places, the one with the most defined bits is read. Raises `EvaluationError` as `read`
        does, except for undefined bits.
        """
        if bits < 0 or offset < 0:
            raise _no_extent(bits, offset)
        best: tuple[int, int] | None = None
        failure: Error | None = None
        for place in self.places:
            try:
                start = place.offset + offset
                if start + bits > place.storage.size:
                    raise EvaluationError(
                        f"{bits} bits from bit {start} reach beyond the {place.storage.size} bits of "
                        f"{place.storage.words()}"
                    )
                result = place.storage.read_known(start, bits)
            except Error as error:  # another place may be readable and holds the same value
                failure = failure or error
                continue
            if result[1] == (1 << bits) - 1:
                return result
            if best is None or result[1].bit_count() > best[1].bit_count():
                best = result
        if best is None:
            raise failure or EvaluationError("the location description is empty: the object is nowhere")
        return best

    def read_elements(self, element_bits: int, count: int, offset: int = 0) -> list[int | None]:
        """`count` elements of `element_bits` bits each from bit `offset`, in one step; None where not fully defined.

        This is how a vector of per-lane values (DW_AT_LLVM_lane_pc, A.3.3.5) is read: undefined lanes are None.
        Raises `EvaluationError` as `read_known` does.
        """
        value, known = self.read_known(element_bits * count, offset)
        full = (1 << element_bits) - 1
        if element_bits % 8 == 0:
            step = element_bits // 8
            data = value.to_bytes(step * count, "little")
            mask = known.to_bytes(step * count, "little")
            whole = full.to_bytes(step, "little")
            return [
                int.from_bytes(data[i : i + step], "little") if mask[i : i + step] == whole else None
                for i in range(0, step * count, step)
            ]
        return [
            value >> i & full if known >> i & full == full else None
            for i in range(0, element_bits * count, element_bits)
        ]

    # Writing

    def write(self, value: int, bits: int, offset: int = 0) -> None:
        """Write the low `bits` bits of `value` from bit `offset` on, to every place (A.2.5.3).

        If any place or part cannot be written, nothing is. Undefined and implicit storage, and bits outside their
        storage, raise `EvaluationError`; unavailable registers and memory raise what their access raises.
        """
        plan: list[Write] = []
        self.plan_write(bits, offset, value & (1 << bits) - 1, plan)
        undo: list[Write] = []
        try:
            for step in plan:
                before, _ = step.storage.read_known(step.offset, step.bits)
                step.perform()
                undo.append(Write(step.storage, step.offset, step.bits, before))
        except Error:
            for step in reversed(undo):
                step.perform()
            raise

    def plan_write(self, bits: int, offset: int, value: int, plan: list[Write]) -> None:
        """Append the primitive writes of `write` (A.2.5.3) to `plan`; raises what `write` raises."""
        if bits < 0 or offset < 0:
            raise _no_extent(bits, offset)
        for place in self.places:
            start = place.offset + offset
            if start + bits > place.storage.size:
                raise EvaluationError(
                    f"{bits} bits from bit {start} reach beyond the {place.storage.size} bits of "
                    f"{place.storage.words()}"
                )
            place.storage.plan_write(start, bits, value, plan)

    # Moving

    def offset_by(self, bits: int) -> LocationDescription:
        """The location moved by `bits`, which may be negative, as by `DW_OP_LLVM_bit_offset` (A.2.5.4.4.1).

        Undefined places stay undefined. Raises `EvaluationError` if a place would leave its storage.
        """
        places = []
        for place in self.places:
            storage = place.storage
            if storage.kind is not StorageKind.UNDEFINED:
                offset = place.offset + bits
                if not 0 <= offset < storage.size:
                    raise EvaluationError(
                        f"bit offset {offset} is outside of {storage.words()} ({storage.size} bits)"
                    )
                place = Place(storage, offset)
            places.append(place)
        return LocationDescription(*places)

    # Inspecting

    def fragments(self, bits: int, offset: int = 0) -> Iterator[Fragment]:
        """The runs of bits in primitive storage that make up `bits` bits of the first place (A.2.5.4.4.6).

        `offset` is in bits. The caller has checked that the bits are within the storage.
        """
        place = self.places[0]
        return place.storage.fragments(place.offset + offset, bits)

    def describe(self) -> str:
        """The location (A.2.5.3) as text: "in 2 places: register s4; memory at 0x1000"."""
        if not self.places:
            return "nowhere"
        if len(self.places) == 1:
            return self.places[0].describe()
        return f"in {len(self.places)} places: " + "; ".join(place.describe() for place in self.places)


def _no_extent(bits: int, offset: int) -> EvaluationError:
    return EvaluationError(f"cannot access {bits} bits at bit offset {offset}")


UNDEFINED_PLACE = Place(UndefinedStorage())
_UNDEFINED = LocationDescription(UNDEFINED_PLACE)


def undefined_location() -> LocationDescription:
    """The location description of one undefined place (A.2.5.4.4.2); it has no size and no offset."""
    return _UNDEFINED


def implicit_location(value: int, bits: int) -> LocationDescription:
    """An implicit location of `bits` bits that holds the low bits of `value` (A.2.5.4.4.5).

    `bits` must not be negative; a negative `value` is encoded in two's complement.
    """
    return LocationDescription(Place(ImplicitStorage(value & (1 << bits) - 1, bits)))
