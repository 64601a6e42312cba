"""Composite location storage (A.2.5.4.4.6): parts in a row, one location repeated, two selected by a mask.

The vector forms of `DW_OP_LLVM_extend` and `DW_OP_LLVM_select_bit_piece` have their own storages: reading a 64-lane
vector is a few operations on wide integers, not 64 nested objects.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

from rocdbg.dwarf.errors import EvaluationError, IllFormed, LimitExceeded
from rocdbg.dwarf.location import LocationDescription, Place
from rocdbg.dwarf.storage import Fragment, Storage, StorageKind, Write
from rocdbg.errors import Error

__all__ = ["CompositeStorage", "RepeatedStorage", "SelectedStorage"]

MAX_WEIGHT = 1 << 14
"""Limit on the storages of which one composite is built; a part counts each time that it is used."""
MAX_DEPTH = 128
"""How deeply composites may be nested."""
MAX_FRAGMENTS = 1 << 16


def _limit(weight: int, depth: int) -> None:
    if weight > MAX_WEIGHT:
        raise LimitExceeded(f"the composite location has more than {MAX_WEIGHT} parts")
    if depth > MAX_DEPTH:
        raise LimitExceeded(f"the composite location is nested more than {MAX_DEPTH} deep")


def check_part(location: LocationDescription, bits: int, first: int = 0) -> None:
    """All bits of a part must be within its storage, in every place, or the expression is ill-formed."""
    for place in location.places:
        storage = place.storage
        if storage.kind is not StorageKind.UNDEFINED and place.offset + first + bits > storage.size:
            raise IllFormed(
                f"a part of {bits} bits, starting at bit {place.offset + first}, reaches beyond the end of "
                f"{storage.words()} ({storage.size} bits)"
            )


class CompositeStorage(Storage):
    """Parts one after the other; `parts` holds (location, bits) of each, lowest first."""

    __slots__ = ("depth", "has_implicit_pointer", "parts", "size", "starts", "weight")
    kind = StorageKind.COMPOSITE

    def __init__(self, parts: Sequence[tuple[LocationDescription, int]]) -> None:
        self.parts = tuple(parts)
        self.starts: list[int] = []
        size, weight, depth = 0, 1, 0
        has_implicit_pointer = False
        for location, bits in self.parts:
            self.starts.append(size)
            size += bits
            for place in location.places:
                storage = place.storage
                weight += storage.weight
                depth = max(depth, storage.depth)
                has_implicit_pointer = has_implicit_pointer or storage.has_implicit_pointer
        self.size = size
        self.weight = weight
        self.depth = depth + 1
        self.has_implicit_pointer = has_implicit_pointer
        _limit(self.weight, self.depth)

    def _pieces(self, offset: int, bits: int) -> Iterator[tuple[LocationDescription, int, int, int]]:
        """(location, first bit within the part, bits, position in the result) of each part that the range covers."""
        if not bits:
            return
        index = bisect_right(self.starts, offset) - 1
        end = offset + bits
        while offset < end:
            location, size = self.parts[index]
            first = offset - self.starts[index]
            count = min(size - first, end - offset)
            if count > 0:
                yield location, first, count, bits - (end - offset)
                offset += count
            index += 1

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        value = known = 0
        for location, first, count, position in self._pieces(offset, bits):
            part, mask = location.read_known(count, first)
            value |= part << position
            known |= mask << position
        return value, known

    def plan_write(self, offset: int, bits: int, value: int, plan: list[Write]) -> None:
        for location, first, count, position in self._pieces(offset, bits):
            location.plan_write(count, first, value >> position & (1 << count) - 1, plan)

    def fragments(self, offset: int, bits: int) -> Iterator[Fragment]:
        for location, first, count, _ in self._pieces(offset, bits):
            yield from location.fragments(count, first)

    def words(self, offset: int = 0) -> str:
        shown = [
            f"bits {start}..{start + size - 1} in {location.describe()}"
            for start, (location, size) in zip(self.starts[:64], self.parts[:64], strict=True)
            if size
        ]
        if len(self.parts) > 64:
            shown.append(f"and {len(self.parts) - 64} more parts")
        at = f" from bit {offset}" if offset else ""
        return f"composite of {self.size} bits{at}: [{'; '.join(shown)}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompositeStorage) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)


@lru_cache(maxsize=256)
def _replicator(bits: int, count: int) -> int:
    """Return a number made of `count` elements of `bits` bits each, with only bit 0 of each element set."""
    return ((1 << bits * count) - 1) // ((1 << bits) - 1)


class RepeatedStorage(Storage):
    """`count` parts of `element_bits` bits, all the same location (`DW_OP_LLVM_extend`)."""

    __slots__ = ("count", "depth", "element_bits", "has_implicit_pointer", "location", "size", "weight")
    kind = StorageKind.COMPOSITE

    def __init__(self, location: LocationDescription, element_bits: int, count: int) -> None:
        self.location = location
        self.element_bits = element_bits
        self.count = count
        self.size = element_bits * count
        self.weight = 1 + location.weight
        self.depth = 1 + location.depth
        self.has_implicit_pointer = location.has_implicit_pointer
        _limit(self.weight, self.depth)

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        size = self.element_bits
        first, skip = divmod(offset, size)
        if skip + bits <= size:
            return self.location.read_known(bits, skip)
        elements = (offset + bits - 1) // size - first + 1
        value, known = self.location.read_known(size)
        spread = _replicator(size, elements)
        mask = (1 << bits) - 1
        return value * spread >> skip & mask, known * spread >> skip & mask

    def _pieces(self, offset: int, bits: int) -> Iterator[tuple[int, int, int]]:
        position = 0
        while position < bits:
            skip = (offset + position) % self.element_bits
            count = min(self.element_bits - skip, bits - position)
            yield skip, count, position
            position += count

    def plan_write(self, offset: int, bits: int, value: int, plan: list[Write]) -> None:
        for skip, count, position in self._pieces(offset, bits):
            if len(plan) > MAX_FRAGMENTS:
                raise LimitExceeded(
                    f"a write to this composite location would consist of more than {MAX_FRAGMENTS} parts"
                )
            self.location.plan_write(count, skip, value >> position & (1 << count) - 1, plan)

    def fragments(self, offset: int, bits: int) -> Iterator[Fragment]:
        for skip, count, _ in self._pieces(offset, bits):
            yield from self.location.fragments(count, skip)

    def words(self, offset: int = 0) -> str:
        at = f" from bit {offset}" if offset else ""
        return f"vector of {self.count} x {self.element_bits} bits{at}, each in {self.location.describe()}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RepeatedStorage) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[LocationDescription, int, int]:
        return self.location, self.element_bits, self.count


@lru_cache(maxsize=1024)
def expand_mask(mask: int, element_bits: int, count: int) -> int:
    """`mask` with each of its `count` bits repeated `element_bits` times."""
    digits = format(mask & (1 << count) - 1, f"0{count}b")
    if element_bits % 4 == 0:
        width = element_bits // 4
        return int(digits.replace("1", "f" * width).replace("0", "0" * width), 16)
    return int(digits.replace("0", "0" * element_bits).replace("1", "1" * element_bits), 2)


class SelectedStorage(Storage):
    """`count` parts of `element_bits` bits; part N is at bit N * `element_bits` of `one` or `zero`.

    Bit N of `mask` selects `one` or `zero` (`DW_OP_LLVM_select_bit_piece`).
    """

    __slots__ = (
        "count",
        "depth",
        "element_bits",
        "has_implicit_pointer",
        "mask",
        "one",
        "size",
        "weight",
        "zero",
    )
    kind = StorageKind.COMPOSITE

    def __init__(
        self, zero: LocationDescription, one: LocationDescription, mask: int, element_bits: int, count: int
    ) -> None:
        self.zero = zero
        self.one = one
        self.mask = mask & (1 << count) - 1
        self.element_bits = element_bits
        self.count = count
        self.size = element_bits * count
        self.weight = 1 + zero.weight + one.weight
        self.depth = 1 + max(zero.depth, one.depth)
        self.has_implicit_pointer = zero.has_implicit_pointer or one.has_implicit_pointer
        _limit(self.weight, self.depth)

    def read_known(self, offset: int, bits: int) -> tuple[int, int]:
        size = self.element_bits
        first = offset // size
        last = (offset + bits - 1) // size if bits else first
        lanes = (1 << last - first + 1) - 1
        mask = self.mask >> first & lanes
        if mask == lanes or not mask:
            return (self.one if mask else self.zero).read_known(bits, offset)
        try:
            value0, known0 = self.zero.read_known(bits, offset)
            value1, known1 = self.one.read_known(bits, offset)
        except Error:  # a lane that is not selected may be out of bounds: go lane by lane
            return self._read_lanes(offset, bits)
        wide = expand_mask(mask, size, last - first + 1) >> offset - first * size & (1 << bits) - 1
        return value0 & ~wide | value1 & wide, known0 & ~wide | known1 & wide

    def _lanes(self, offset: int, bits: int) -> Iterator[tuple[LocationDescription, int, int, int]]:
        """(location, offset into it, bits, position in the result) of each run of equal mask bits."""
        end = offset + bits
        start = offset
        while start < end:
            lane = start // self.element_bits
            bit = self.mask >> lane & 1
            stop = lane + 1
            while stop * self.element_bits < end and self.mask >> stop & 1 == bit:
                stop += 1
            count = min(stop * self.element_bits, end) - start
            yield (self.one if bit else self.zero), start, count, start - offset
            start += count

    def _read_lanes(self, offset: int, bits: int) -> tuple[int, int]:
        value = known = 0
        for location, start, count, position in self._lanes(offset, bits):
            part, mask = location.read_known(count, start)
            value |= part << position
            known |= mask << position
        return value, known

    def plan_write(self, offset: int, bits: int, value: int, plan: list[Write]) -> None:
        for location, start, count, position in self._lanes(offset, bits):
            location.plan_write(count, start, value >> position & (1 << count) - 1, plan)

    def fragments(self, offset: int, bits: int) -> Iterator[Fragment]:
        for location, start, count, _ in self._lanes(offset, bits):
            yield from location.fragments(count, start)

    def words(self, offset: int = 0) -> str:
        at = f" from bit {offset}" if offset else ""
        return (
            f"vector of {self.count} x {self.element_bits} bits{at}, selected by mask {self.mask:#x}: "
            f"1 in {self.one.describe()}; 0 in {self.zero.describe()}"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SelectedStorage) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[LocationDescription, LocationDescription, int, int, int]:
        return self.zero, self.one, self.mask, self.element_bits, self.count


def repeat(location: LocationDescription, element_bits: int, count: int) -> RepeatedStorage:
    """The storage of `DW_OP_LLVM_extend`, with its rules."""
    if not element_bits or not count:
        raise IllFormed(f"element size {element_bits} and count {count} must not be 0")
    check_part(location, element_bits)
    return RepeatedStorage(location, element_bits, count)


def select(
    zero: LocationDescription, one: LocationDescription, mask: int, mask_bits: int, element_bits: int, count: int
) -> SelectedStorage:
    """The storage of `DW_OP_LLVM_select_bit_piece`, with its rules; `mask_bits` is the mask type's size."""
    if not element_bits or not count:
        raise IllFormed(f"element size {element_bits} and count {count} must not be 0")
    if mask_bits < count:
        raise IllFormed(f"a {mask_bits}-bit mask is too small for {count} elements")
    lanes = (1 << count) - 1
    beyond: tuple[int, LocationDescription, Place] | None = None
    for location, chosen in ((zero, ~mask & lanes), (one, mask & lanes)):
        for place in location.places:
            misfits = chosen >> place.remaining // element_bits
            if misfits and place.kind is not StorageKind.UNDEFINED:
                lane = place.remaining // element_bits + (misfits & -misfits).bit_length() - 1
                if beyond is None or lane < beyond[0]:
                    beyond = lane, location, place
    if beyond is not None:
        # The first lane that does not fit determines what the error blames: the start of its part, or its end.
        lane, location, place = beyond
        offset, storage = place.offset + lane * element_bits, place.storage
        if offset >= storage.size:
            raise EvaluationError(f"bit offset {offset} is outside of {storage.words()} ({storage.size} bits)")
        check_part(location, element_bits, lane * element_bits)
    return SelectedStorage(zero, one, mask, element_bits, count)
