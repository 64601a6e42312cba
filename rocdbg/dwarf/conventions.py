"""What a producer means by its expressions where that is not what the text says: chosen once for each unit.

Who asks a unit's `Conventions` gets expressions in the form of the text, and needs to know of no producer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rocdbg.dwarf import gcc_conventions
from rocdbg.dwarf.composite import CompositeStorage
from rocdbg.dwarf.decoding import Operation
from rocdbg.dwarf.encoding import assemble
from rocdbg.dwarf.location import LocationDescription, Place, undefined_location
from rocdbg.dwarf.normalisation import in_focused_lane, normalise
from rocdbg.dwarf.object_expressions import about_object
from rocdbg.dwarf.storage import StorageKind

__all__ = ["AmdClang", "Conventions", "Gcc", "Proposal2020", "UpstreamClang", "conventions_of"]


class Conventions:
    """Those of producers that mean what the text says. `dialect` is that of the expressions it gives."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    def location(
        self, data: bytes, target: str, wave_size: int, size: int | None = None, aggregate: bool = False
    ) -> bytes:
        """An expression for where an object of `size` bytes (None: not known) is, in code for a processor ("gfx90a")
        and a wavefront size; `aggregate`: one of a class, union or array type."""
        return data

    def frame_base(self, data: bytes, target: str, wave_size: int) -> bytes:
        """As `location`, of a DW_AT_frame_base."""
        return data

    def member(self, data: bytes) -> bytes:
        """An expression that leads from the location of an object, on the initial stack, to that of a part of it."""
        return data

    def property(self, data: bytes, is_location: bool) -> bytes:
        """An expression about the object that DW_OP_push_object_address gives: for a location (where its data is), or
        for a number (a bound)."""
        return data

    def extent(self, location: LocationDescription, size: int) -> LocationDescription:
        """The part of an object's location that holds the object, whose `size` is in bytes; the rest is undefined."""
        return location

    def without_space(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        """The operations of a location as its producer wrote them, without those that only name its address space."""
        return operations

    def address_space(self, address_class: int) -> int:
        """The DWARF address space of what a pointer with a DW_AT_address_class points to."""
        return address_class


class Proposal2020(Conventions):
    """Those of the proposal of 2020, where classes of addresses are the source language's memory spaces."""

    def __init__(self) -> None:
        super().__init__("proposal2020")

    def address_space(self, address_class: int) -> int:
        """By "AMDGPU DWARF Address Class Mapping"; a class that is not in it is taken for the default space."""
        return _CLASSES_2020.get(address_class, 0)


class AmdClang(Conventions):
    """Those of AMD's own compilers where they announce the extensions."""

    def location(
        self, data: bytes, target: str, wave_size: int, size: int | None = None, aggregate: bool = False
    ) -> bytes:
        """Where their expressions lost their operations (DW_OP_LLVM_poisoned), a vector register stands for the
        focused lane's dword of it."""
        return in_focused_lane(data, self.dialect)


class Gcc(Conventions):
    """Those of GCC, whose threads are waves: a vector register as a whole is a vector."""

    def location(
        self, data: bytes, target: str, wave_size: int, size: int | None = None, aggregate: bool = False
    ) -> bytes:
        """As `rocdbg.dwarf.gcc_conventions.location` puts it."""
        return gcc_conventions.location(data, self.dialect)

    def frame_base(self, data: bytes, target: str, wave_size: int) -> bytes:
        """As `location`."""
        return gcc_conventions.location(data, self.dialect)


class UpstreamClang(Conventions):
    """Those of upstream clang (`rocdbg.dwarf.normalisation`). `version` is its major one, None where not known."""

    def __init__(self, version: int | None = None) -> None:
        super().__init__("amd")
        self.version = version

    def location(
        self, data: bytes, target: str, wave_size: int, size: int | None = None, aggregate: bool = False
    ) -> bytes:
        """As `normalise` puts it."""
        return normalise(data, target, wave_size=wave_size, frame_base=False, size=size, aggregate=aggregate)

    def frame_base(self, data: bytes, target: str, wave_size: int) -> bytes:
        """As `normalise` puts it."""
        return normalise(data, target, wave_size=wave_size, frame_base=True)

    def member(self, data: bytes) -> bytes:
        """To a virtual base clang adds to the object as if it were a number, as it is in the default space only."""
        return data[:-1] + _OFFSET if _VIRTUAL_BASE.fullmatch(data) else data

    def property(self, data: bytes, is_location: bool) -> bytes:
        """Compilers add to the object's address as if it were a number, and mean generic pointers by what they load."""
        return about_object(data, self.dialect, is_location)

    def extent(self, location: LocationDescription, size: int) -> LocationDescription:
        """What goes beyond its register is not there: the next dword of a vector register is another lane's."""
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
        """It is named by a literal, `DW_OP_swap` and `DW_OP_xderef` behind an address or a register's contents."""
        if len(operations) > 3 and [operation.info.meaning for operation in operations[-2:]] == ["swap", "xderef"]:
            return operations[:-3]
        return operations

    def address_space(self, address_class: int) -> int:
        """Up to clang 21 classes were numbers of its own: 1 private, 2 local; since then they are address spaces."""
        if self.version is not None and self.version < _SPACES_SINCE:
            return _OLD_CLASSES.get(address_class, address_class)
        return address_class


_CLASSES_2020 = {0: 1, 1: 0, 2: 0, 3: 3, 4: 5, 0x8000: 2}
_OLD_CLASSES = {1: 5, 2: 3}
_SPACES_SINCE = 22
_CLANG = re.compile(r"(AMD )?clang version ([0-9]{1,4})\b")
_VIRTUAL_BASE = re.compile(rb"\x12\x06\x10[\x80-\xff]*[\x00-\x7f]\x1c\x06\x22", re.DOTALL)
"""DW_OP_dup, deref, constu N, minus, deref, plus: clang's way from an object to a virtual base."""
_OFFSET = assemble("offset")
_LANE_BITS = 32
"""Of a vector register, per lane."""
_MAX_SCALAR_BITS = 64
"""Of a register that lanes share: EXEC, VCC and the PC in wave64."""



@lru_cache(maxsize=256)
def conventions_of(dialect: str, producer: str = "") -> Conventions:
    """The conventions of those who write a dialect (A.7); `producer` is a unit's DW_AT_producer."""
    clang = _CLANG.search(producer)
    if producer.startswith("GNU "):
        return Gcc(dialect)
    if dialect == "llvm22":
        # AMD's compilers had the address spaces' numbers long before upstream.
        return UpstreamClang(int(clang[2]) if clang and not clang[1] else None)
    if dialect == "proposal2020":
        return Proposal2020()
    return AmdClang(dialect) if clang and clang[1] else Conventions(dialect)
