"""A context in which everything can be read."""

from __future__ import annotations

from rocdbg.dwarf.architecture import UNSPECIFIED, Architecture
from rocdbg.dwarf.context import Context, DieContent, Expression, LocationList
from rocdbg.dwarf.errors import EvaluationError, IllFormed
from rocdbg.dwarf.location import LocationDescription, Place, implicit_location
from rocdbg.dwarf.storage import MemoryStorage, RegisterStorage


class Probe:
    """A `Context` for lane 0 of a wave at a given PC, in which every byte of registers and memory has the same value.
    """

    def __init__(self, architecture: Architecture, pc: int, fill: int, wave_size: int, level: int = 0) -> None:
        self.architecture = architecture
        self.pc: int | None = pc
        self._fill = fill
        self._level = level
        self.wave_size = wave_size
        self.offset_size = 4
        self.lane: int | None = 0
        self.lanes = wave_size
        self.iteration: int | None = 0
        self.iterations = 1
        self.object: LocationDescription | None = None
        self.frame_base: bytes | Expression | LocationList | LocationDescription | None = None

    @property
    def cfa(self) -> LocationDescription | None:
        """An arbitrary location in memory."""
        return self.somewhere

    @property
    def somewhere(self) -> LocationDescription:
        """An arbitrary location in memory at which an object may be."""
        space = self.architecture.address_spaces.get(self.architecture.default_address_space)
        if space is None:
            space = next(iter(self.architecture.address_spaces.values()))
        return LocationDescription(Place(MemoryStorage(self, space, 0), 0x1000 << 3))

    def register_location(self, number: int) -> LocationDescription:
        """The register; ill-formed if there is none, an `EvaluationError` where no architecture is known."""
        size = self.architecture.register_size(number)
        if size is None:
            if self.architecture is UNSPECIFIED:
                raise EvaluationError("registers are not known without an architecture")
            raise IllFormed(f"{self.architecture.name} has no DWARF register {number}")
        return LocationDescription(Place(RegisterStorage(self, self.architecture, number, 8 * size)))

    def entry_register_location(self, number: int) -> LocationDescription:
        """An arbitrary value."""
        size = self.architecture.register_size(number) or 8
        return implicit_location(0, 8 * size)

    def read_register(self, number: int, offset: int, size: int) -> bytes:
        """Return bytes that all have the fill value."""
        return bytes((self._fill,)) * size

    def write_register(self, number: int, offset: int, data: bytes) -> None:
        """Nothing is written."""

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Return bytes that all have the fill value."""
        return bytes((self._fill,)) * size

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Nothing is written."""

    def caller(self) -> Context:
        """Another frame of the same kind."""
        if self._level > 4:
            raise EvaluationError("there is no calling frame")
        return Probe(self.architecture, self.pc or 0, self._fill, self.wave_size, self._level + 1)

    def indexed_address(self, index: int) -> int:
        """The unit's context answers."""
        raise EvaluationError("an indexed address can be found only through a unit")

    def die(self, offset: int, unit_relative: bool) -> tuple[DieContent, Context]:
        """The unit's context answers."""
        raise EvaluationError("an entry can be found only through a unit")

    def tls_location(self, address: int) -> LocationDescription:
        """Not known without a thread."""
        raise EvaluationError("thread-local storage is not known")
