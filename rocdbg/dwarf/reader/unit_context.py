"""A context seen from a unit, extended by the unit, its functions and its call frame information."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.cfi import FrameTable
from rocdbg.dwarf.context import CallSites, Context, DieContent, ExpressionLike, load_bias
from rocdbg.dwarf.errors import IllFormed, missing_address
from rocdbg.dwarf.info.attribute_values import Exprloc, Loclist
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.reader.content import content_of

_MOST_LEVELS = 512


@runtime_checkable
class KnowsUnits(Protocol):
    """A context that switches between units itself, as a debugger's does."""

    def for_unit(self, unit: Unit, about: LocationDescription | None = None) -> Context:
        """The same context for expressions of a unit, with `about` as the current object (DW_OP_push_object_address) if
        given.
        """
        ...


def in_unit(
    context: Context, entry: Die, about: LocationDescription | None = None, frames: FrameTable | None = None
) -> Context:
    """The context for expressions of an entry: its unit is the current compilation unit (A.2.5.1).

    ``about`` is the current object. A context that knows units provides its own context for the unit; any other is
    extended by the unit's addresses and entries, the frame base of the enclosing subprogram, and the CFA from
    ``frames``, where it does not have its own.
    """
    if isinstance(context, KnowsUnits):
        return context.for_unit(entry.unit, about)
    return UnitContext(context, entry, about, frames)


def wave_size_of(context: Context) -> int:
    """The lanes of the context's wavefront: its ``wave_size`` if it has one, else the number of lanes."""
    size: int = getattr(context, "wave_size", context.lanes)
    return size


def subprogram_around(entry: Die) -> Die | None:
    """The out-of-line subprogram that contains an entry, which may be the entry itself."""
    die: Die | None = entry
    for _ in range(_MOST_LEVELS):
        if die is None or die.tag == Tag.SUBPROGRAM:
            return die
        die = die.parent
    return None


class UnitContext:
    """A context (`rocdbg.dwarf.Context`) extended by the debug information of an entry's unit."""

    def __init__(
        self, context: Context, entry: Die, about: LocationDescription | None, frames: FrameTable | None
    ) -> None:
        self.plain = context
        self.entry = entry
        self.unit: Unit = entry.unit
        self.frames = frames
        self._about = about
        self.architecture: Architecture = context.architecture
        self.offset_size: int = self.unit.offset_size
        self.pc: int | None = context.pc
        self.lane: int | None = context.lane
        self.lanes: int = context.lanes
        self.iteration: int | None = context.iteration
        self.iterations: int = context.iterations
        self.wave_size: int = wave_size_of(context)
        self.load_bias: int = load_bias(context)

    @property
    def object(self) -> LocationDescription | None:
        """The current object (A.2.5.1)."""
        return self._about if self._about is not None else self.plain.object

    @property
    def cfa(self) -> LocationDescription | None:
        """The context's CFA (A.6.4.1), otherwise the one that the call frame information at its PC gives; None if
        unknown.
        """
        known = self.plain.cfa
        if known is not None or self.frames is None or self.pc is None:
            return known
        row = self.frames.row(self.pc - self.load_bias)
        return row.cfa_location(self) if row is not None else None

    @property
    def frame_base(self) -> ExpressionLike | LocationDescription | None:
        """The frame base of the context, otherwise the DW_AT_frame_base of the enclosing subprogram (A.3.3.5)."""
        known = self.plain.frame_base
        around = subprogram_around(self.entry) if known is None else None
        value = around.find(At.FRAME_BASE) if around is not None else None
        if not isinstance(value, Exprloc | Loclist):
            return known
        return self.unit.entries.expressions.frame_base(value, self.unit, self.wave_size)

    def register_location(self, number: int) -> LocationDescription:
        """Where a register is (A.2.5.4.4.4), from the context; raises what the context raises."""
        return self.plain.register_location(number)

    def entry_register_location(self, number: int) -> LocationDescription:
        """The register's value on entry (A.2.5.4.4.1): by call frame information if there is some, otherwise from the
        context.
        """
        row = self.frames.row(self.pc - self.load_bias) if self.frames is not None and self.pc is not None else None
        if row is not None:
            return row.register_location(number, self)
        return self.plain.entry_register_location(number)

    def caller(self) -> Context:
        """The calling frame (A.2.5.4.3.4): by call frame information if there is some, otherwise from the context."""
        found = self.frames.unwind(self) if self.frames is not None else None
        return found if found is not None else self.plain.caller()

    def call_site_value(self, parameter: int) -> ExpressionLike | None:
        """The value that a call site passed (A.3.4.2), from the context."""
        return self.plain.call_site_value(parameter) if isinstance(self.plain, CallSites) else None

    def indexed_address(self, index: int) -> int:
        """Entry `index` of the unit's .debug_addr (A.2.5.4.3.1), as loaded; `IllFormed` if there is none."""
        addresses = self.unit.debug_addr
        if not 0 <= index < len(addresses):
            raise IllFormed(missing_address(index, len(addresses)))
        return addresses[index] + self.load_bias

    def die(self, offset: int, unit_relative: bool) -> tuple[DieContent, Context]:
        """What the entry offers (A.2.5.4.2), and this context for the entry's unit. Raises `rocdbg.Error` if there is
        no such entry.
        """
        die = self.unit.die(offset) if unit_relative else self.unit.entries.die(self.unit.reference_base + offset)
        return content_of(die, self.wave_size), UnitContext(self.plain, die, self._about, self.frames)

    def tls_location(self, address: int) -> LocationDescription:
        """Where thread-local storage is (A.2.5.4.4.3), from the context; raises what the context raises."""
        return self.plain.tls_location(address)

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Memory (A.2.5.4.4.3), from the context; raises what the context raises."""
        return self.plain.read_memory(space, address, size, lane)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Memory (A.2.5.4.4.3), from the context; raises what the context raises."""
        self.plain.write_memory(space, address, data, lane)
