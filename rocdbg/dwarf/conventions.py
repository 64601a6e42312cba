"""The meaning of producers' expressions where it differs from the specification. The conventions are chosen once for
each unit.

A unit's `Conventions` give expressions in the form of the specification, so that their users need not know any
producer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rocdbg.dwarf import gcc_conventions
from rocdbg.dwarf.clang_conventions import in_focused_lane, normalise
from rocdbg.dwarf.composite_storage import CompositeStorage
from rocdbg.dwarf.decoding import Operation
from rocdbg.dwarf.location import LocationDescription, Place, undefined_location
from rocdbg.dwarf.object_expressions import about_object
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.storage import StorageKind

__all__ = ["AmdClang", "Conventions", "Gcc", "Proposal2020", "UpstreamClang", "conventions_of"]


class Conventions:
    """Conventions of producers that follow the specification. `dialect` is that of the expressions returned."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    def location(
        self, data: bytes, target: str, wave_size: int, size: int | None = None, aggregate: bool = False
    ) -> bytes:
        """Return the expression that locates an object, in the form of the specification.

        `size` is the object's in bytes (None: not known), and `aggregate` says whether its type is a class, union or
        array. `target` is the processor ("gfx90a") and `wave_size` the wavefront size of the code.
        """
        return data

    def frame_base(self, data: bytes, target: str, wave_size: int) -> bytes:
        """As `location`, for a DW_AT_frame_base."""
        return data

    def member(self, data: bytes) -> bytes:
        """Return an expression that turns the location of an object, on the initial stack, into the location of a part
        of it.
        """
        return data

    def property(self, data: bytes, is_location: bool) -> bytes:
        """Return an expression about the object that DW_OP_push_object_address pushes. Its result is a location (such
        as that of the object's data) if `is_location`, else a number (such as a bound).
        """
        return data

    def extent(self, location: LocationDescription, size: int) -> LocationDescription:
        """Return an object's location, in which all storage that cannot hold the object is undefined; `size` is the
        object's size in bytes.
        """
        return location

    def without_space(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        """The operations of a location as its producer wrote them, without those that only name its address space."""
        return operations

    def address_space(self, address_class: int) -> int:
        """The DWARF address space that a pointer with a DW_AT_address_class points into."""
        return address_class


class Proposal2020(Conventions):
    """Conventions of the 2020 proposal, where address classes are the source language's memory spaces."""

    def __init__(self) -> None:
        super().__init__("proposal2020")

    def address_space(self, address_class: int) -> int:
        """Follows "AMDGPU DWARF Address Class Mapping"; a class that is not in it means the default space."""
        return _CLASSES_2020.get(address_class, 0)


class AmdClang(Conventions):
    """Conventions of AMD's own compilers where they announce the extensions."""

    def location(
        self, data: bytes, target: str, wave_size: int, size: int | None = None, aggregate: bool = False
    ) -> bytes:
        """In an expression whose operations the compiler lost (DW_OP_LLVM_poisoned), a vector register means its dword
        for the focused lane.
        """
        return in_focused_lane(data, self.dialect)


class Gcc(Conventions):
    """Conventions of GCC, whose threads are waves: a whole vector register is a vector."""

    def location(
        self, data: bytes, target: str, wave_size: int, size: int | None = None, aggregate: bool = False
    ) -> bytes:
        """Return the expression as `rocdbg.dwarf.gcc_conventions.location` rewrites it."""
        return gcc_conventions.location(data, self.dialect)

    def frame_base(self, data: bytes, target: str, wave_size: int) -> bytes:
        """As `location`."""
        return gcc_conventions.location(data, self.dialect)


class UpstreamClang(Conventions):
    """Conventions of upstream clang (`rocdbg.dwarf.clang_conventions`). `version` is its major version, None if that is
    not known.
    """

    def __init__(self, version: int | None = None) -> None:
        super().__init__("amd")
        self.version = version

    def location(
        self, data: bytes, target: str, wave_size: int, size: int | None = None, aggregate: bool = False
    ) -> bytes:
        """Return the expression as `normalise` rewrites it."""
        version = self.version if self.version is not None else _SPACES_SINCE
        return normalise(
            data, target, wave_size=wave_size, frame_base=False, size=size, aggregate=aggregate,
            split_tuples=version < _TUPLES_SINCE, old_spaces=version < _SPACES_SINCE,
        )

    def frame_base(self, data: bytes, target: str, wave_size: int) -> bytes:
        """Return the expression as `normalise` rewrites it."""
        return normalise(data, target, wave_size=wave_size, frame_base=True)

    def member(self, data: bytes) -> bytes:
        """To reach a virtual base, clang adds an offset to the object's location as if it were a number, which is valid
        only in the default space.
        """
        return data[:-1] + _OFFSET if _VIRTUAL_BASE.fullmatch(data) else data

    def property(self, data: bytes, is_location: bool) -> bytes:
        """Compilers do arithmetic on the object's address as if it were a number, and treat the addresses that they
        load as generic pointers.
        """
        return about_object(data, self.dialect, is_location)

    def extent(self, location: LocationDescription, size: int) -> LocationDescription:
        """Only the part of an object that is in its register is available: the next dword of a vector register belongs
        to another lane.
        """
        if len(location.places) != 1 or location.places[0].storage.kind is not StorageKind.REGISTER:
            return location
        place = location.places[0]
        limit = place.storage.size
        if limit > _MAX_SCALAR_BITS:
            limit = place.bit_offset - place.bit_offset % _LANE_BITS + _LANE_BITS
        known = limit - place.bit_offset
        if 8 * size <= known:
            return location
        parts = [(location, known), (undefined_location(), 8 * size - known)]
        return LocationDescription(Place(CompositeStorage(parts)))

    def without_space(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        """Remove the literal, `DW_OP_swap` and `DW_OP_xderef` that name the address space after an address or a
        register's contents.
        """
        if len(operations) > 3 and [operation.info.meaning for operation in operations[-2:]] == ["swap", "xderef"]:
            return operations[:-3]
        return operations

    def address_space(self, address_class: int) -> int:
        """Up to clang 21, classes were clang's own numbers (1 private, 2 local); since then they are address spaces."""
        if self.version is not None and self.version < _SPACES_SINCE:
            return _OLD_CLASSES.get(address_class, address_class)
        return address_class


_CLASSES_2020 = {0: 1, 1: 0, 2: 0, 3: 3, 4: 5, 0x8000: 2}
_OLD_CLASSES = {1: 5, 2: 3}
_SPACES_SINCE = 22
_TUPLES_SINCE = 19
"""Older versions (14 and 15 are known to) describe a whole tuple of registers where only its first register holds a
part.
"""
_CLANG = re.compile(r"(AMD )?clang version ([0-9]{1,4})\b")
_VIRTUAL_BASE = re.compile(rb"\x12\x06\x10[\x80-\xff]*[\x00-\x7f]\x1c\x06\x22", re.DOTALL)
"""DW_OP_dup, deref, constu N, minus, deref, plus: the operations by which clang goes from an object to a virtual base.
"""
_OFFSET = assemble("offset")
_LANE_BITS = 32
"""Bits of a vector register per lane."""
_MAX_SCALAR_BITS = 64
"""Bits of the largest register that lanes share: EXEC, VCC and the PC in wave64."""



@lru_cache(maxsize=256)
def conventions_of(dialect: str, producer: str = "") -> Conventions:
    """The conventions for a dialect (A.7) and a producer; `producer` is a unit's DW_AT_producer."""
    clang = _CLANG.search(producer)
    if producer.startswith("GNU "):
        return Gcc(dialect)
    if dialect == "llvm22":
        # AMD's compilers used the address space numbers long before upstream did.
        return UpstreamClang(int(clang[2]) if clang and not clang[1] else None)
    if dialect == "proposal2020":
        return Proposal2020()
    return AmdClang(dialect) if clang and clang[1] else Conventions(dialect)
