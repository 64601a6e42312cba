"""The DWARF evaluation context of one frame of one lane: the engine's answers to the evaluator."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Protocol, TypeVar

from rocdbg.addresses import NOWHERE, FileAddress, LoadedAddress
from rocdbg.arch.dwarf_registers import PC
from rocdbg.debugger.frames.physical_frame import PhysicalFrame
from rocdbg.debugger.frames.unwind_sources import FoundRow, UnwindRow, complain
from rocdbg.debugger.frames.wave_access import ThreadAccess
from rocdbg.dwarf.any_lane import ANY_LANE
from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.context import DieContent, Expression, ExpressionLike
from rocdbg.dwarf.errors import EvaluationError, IllFormed, missing_address
from rocdbg.dwarf.info import Die, Function, Scope, Unit
from rocdbg.dwarf.info.subprogram_entries import EntryPoint
from rocdbg.dwarf.location import LocationDescription, Place
from rocdbg.dwarf.reader import results
from rocdbg.dwarf.reader.content import content_of
from rocdbg.dwarf.storage import RegisterStorage
from rocdbg.errors import Error

_Found = TypeVar("_Found")


class CallSites(Protocol):
    """Knows what the caller's debug information says about its calls."""

    def at_call(self, caller: FrameContext, return_address: LoadedAddress) -> FrameContext:
        """Return a calling frame as described by the call site that returns to a loaded address."""
        ...

    def value_passed(self, caller: FrameContext, return_address: LoadedAddress, parameter: Die) -> Expression | None:
        """Return the value passed for a parameter, to be evaluated in the calling frame; ``None`` if not stated."""
        ...

    def entry_called(self, caller: FrameContext, return_address: LoadedAddress) -> Die | None:
        """Return the entry of the subprogram or entry point that is called; ``None`` if not stated."""
        ...


class FrameContext:
    """One physical frame of one lane (`rocdbg.dwarf.context.Context`).

    ``physical`` is the part that lanes at the same place share. ``unit`` is a compile unit other than the function's;
    ``about`` is the object to which expressions refer (DW_OP_push_object_address).
    """

    def __init__(
        self,
        physical: PhysicalFrame,
        lane: int | None,
        iteration: int | None = 0,
        unit: Unit | None = None,
        about: LocationDescription | None = None,
    ) -> None:
        self.physical = physical
        self.program = physical.program
        self.pc, self.wave_pc = physical.pc, physical.wave_pc
        self.callee = physical.callee
        self.lane = lane
        self.iteration = iteration
        self.object = about
        self._unit = unit

    # -- what all lanes share

    @property
    def access(self) -> ThreadAccess:
        """Registers and memory of the wave."""
        return self.physical.access

    @property
    def architecture(self) -> Architecture:
        """The architecture of the program."""
        return self.physical.program.architecture

    @property
    def function(self) -> Function | None:
        """The function with code at ``pc``."""
        return self.physical.function

    @property
    def wave_size(self) -> int:
        """Lanes of the wave."""
        return self.physical.wave_size

    @property
    def found_row(self) -> FoundRow | None:
        """The unwind rules here."""
        return self.physical.found_row

    @property
    def frame_base(self) -> ExpressionLike | LocationDescription | None:
        """The frame base: see `PhysicalFrame.frame_base`."""
        return self.physical.frame_base(self)

    @property
    def lanes(self) -> int:
        """DW_AT_LLVM_lanes of the function; if absent, the lanes of the wave, since its code is SIMT even then."""
        physical = self.physical
        if physical.lanes is None:
            physical.lanes = self._described_lanes() or physical.wave_size
        return physical.lanes

    def _described_lanes(self) -> int | None:
        for entry in lane_entries(self):
            try:
                count = results.lanes(entry.die, 0)
            except Error as error:
                self.program.complaints.add(error, f"the {self.wave_size} lanes of the wavefront are used")
                continue
            if count:
                return count
        return None

    # -- the unit

    @property
    def unit(self) -> Unit | None:
        """The compile unit to whose entries and addresses expressions refer."""
        if self._unit is not None:
            return self._unit
        function = self.physical.function
        return function.unit if function is not None else None

    @property
    def offset_size(self) -> int:
        """The size of offsets in the unit: 4 or 8 bytes."""
        unit = self.unit
        return unit.offset_size if unit is not None else 4

    @property
    def load_bias(self) -> int:
        """The program's load bias: see `rocdbg.dwarf.context.Loaded`."""
        return self.program.base

    def for_unit(self, unit: Unit, about: LocationDescription | None = None) -> FrameContext:
        """Return the same frame, for expressions of a compile unit that may differ from its own (global variables).

        ``about`` is the object to which they refer, if any (DW_OP_push_object_address).
        """
        if unit is self.unit and about is None:
            return self
        other = copy(self)
        other._unit = unit
        other.object = about if about is not None else self.object
        return other

    def at_lane(self, lane: int) -> FrameContext:
        """Return the same frame of another lane that is at the same place, or of `ANY_LANE`.

        The registers of an outer frame must be the same for both.
        """
        return FrameContext(self.physical, lane, self.iteration, self._unit, self.object)

    @cached_property
    def iterations(self) -> int:
        """DW_AT_LLVM_iterations here, 1 without it: the iterations of a loop that execute together."""
        for entry in lane_entries(self):
            try:
                if results.has_iterations(entry.die):
                    context = copy(self.for_unit(entry.unit))
                    context.iterations = 1  # the default while the expression itself is evaluated
                    return results.iterations(entry.die, context)
            except Error as error:
                self.program.complaints.add(error, "one iteration is assumed")
        return 1

    # -- frames

    @cached_property
    def cfa(self) -> LocationDescription | None:
        """The canonical frame address, ``None`` where no rules are known."""
        return self._by_rules(lambda row: row.cfa_location(self))

    def _by_rules(self, ask: Callable[[UnwindRow], _Found]) -> _Found | None:
        """Apply the unwind rules. If the rules in debug information fail, use those of the next source instead."""
        found = self.found_row
        while found is not None:
            try:
                return ask(found.row)
            except Error as error:
                other = found.instead() if found.instead is not None and self._is_of_a_lane else None
                if other is None:
                    raise
                complain(self.program, self.program.to_file(self.wave_pc or NOWHERE), error, found.source)
                self.physical.found_row = found = other
        return None

    @property
    def _is_of_a_lane(self) -> bool:
        """Whether the context has one lane. Without a lane, evaluation may also fail because the result depends on the
        lane.
        """
        return self.lane is not None and self.lane != ANY_LANE

    def register_location(self, number: int) -> LocationDescription:
        """Return the location of a register of this frame: the register itself in the innermost frame, otherwise where
        the callee's rules say.
        """
        unwound = self.physical.unwound
        if unwound is not None:
            return unwound.location(number, self.architecture)
        size = self.architecture.register_size(number)
        if size is None:
            # GDB's wording; its register numbers have 32 bits
            raise EvaluationError(f"Unable to access DWARF register number {number & 0xFFFFFFFF}")
        return LocationDescription(Place(RegisterStorage(self.access, self.architecture, number, 8 * size)))

    def entry_register_location(self, number: int) -> LocationDescription:
        """Return where the value that the register had on entry is now: the caller's copy of it."""
        found = self.found_row
        if found is None:
            raise EvaluationError("the value on entry is not known: there is no call frame information")
        return found.row.register_location(number, self)

    def caller(self) -> FrameContext:
        """Return the calling frame at its call, with the values that the call site gives. Raises `EvaluationError` if
        there is none.
        """
        next_frame = self.next_frame()
        if next_frame is None or next_frame.pc is None:
            raise EvaluationError("there is no calling frame")
        call_sites = self.physical.call_sites
        if call_sites is None:
            return next_frame
        return call_sites.at_call(next_frame, LoadedAddress(next_frame.pc + 1))

    def call_site_value(self, parameter: int) -> ExpressionLike | None:
        """Return the value that the call site gives for a parameter. ``parameter`` is the offset of the parameter's
        entry in the unit.
        """
        caller, call_sites = self.next_frame(), self.physical.call_sites
        if call_sites is None or self.unit is None or caller is None or caller.pc is None:
            return None
        return call_sites.value_passed(caller, LoadedAddress(caller.pc + 1), self.unit.die(parameter))

    def next_frame(self) -> FrameContext | None:
        """Return the calling frame; ``None`` if this is the outermost (undefined return address) or rules are missing.
        """
        return_address = self.return_address()
        if return_address is None:
            return None
        # the call is the instruction before the return address
        pc = LoadedAddress(return_address - 1)
        own = self.physical
        program, rows = own.program, own.rows
        if own.elsewhere is not None and not program.is_loaded_at(pc):
            program, rows = own.elsewhere(pc)
        outer = PhysicalFrame(program, own.access, pc, rows, self, own.call_sites, own.elsewhere)
        frame = FrameContext(outer, self.lane, self.iteration or 0)
        if self.iteration and not self.iteration < frame.iterations:
            frame.iteration = 0
        return frame

    def return_address(self) -> int | None:
        """Return the PC of the calling frame, ``None`` for the outermost."""
        return self._returns_to

    @cached_property
    def _returns_to(self) -> int | None:
        """`return_address`, cached."""
        if self.found_row is None:
            place = return_addr(self)
            return place.read(64) if place is not None and not place.is_undefined else None
        return self._by_rules(self._returned_to)

    def _returned_to(self, row: UnwindRow) -> int | None:
        column = self.architecture.return_address_register
        location = row.register_location(PC if column is None else column, self)
        return None if location.is_undefined else location.read(64)

    # -- memory and debug information

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Read memory as a lane of this wave sees it."""
        return self.access.read_memory(space, address, size, lane)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Write memory as a lane of this wave sees it."""
        self.access.write_memory(space, address, data, lane)

    def indexed_address(self, index: int) -> int:
        """Return entry ``index`` of the unit's address table, as a loaded address."""
        addresses = self.unit.debug_addr if self.unit is not None else []
        if not 0 <= index < len(addresses):
            raise EvaluationError(missing_address(index, len(addresses)))
        return self.program.to_loaded(FileAddress(addresses[index]))

    def die(self, offset: int, unit_relative: bool) -> tuple[DieContent, FrameContext]:
        """Return the parts of an entry that an expression may use, and the frame in which to evaluate them."""
        if unit_relative:
            if self.unit is None:
                raise EvaluationError("there is no compile unit at this PC")
            die = self.unit.die(offset)
        else:
            die = self.program.info.die(offset)
        return content_of(die, self.wave_size), self

    def tls_location(self, address: int) -> LocationDescription:
        """Fail: this target has no thread-local storage."""
        raise EvaluationError(f"thread-local address {address:#x}: the target has no thread-local storage")


def entered(context: FrameContext) -> EntryPoint | None:
    """Return the entry point through which a frame's function was entered, if not at its beginning."""
    return context.physical.entered(context)


def waiting_at(context: FrameContext, pc: LoadedAddress) -> FrameContext:
    """Return the same frame for a lane that waits at ``pc`` instead of the wave's PC."""
    return FrameContext(context.physical.at_pc(pc), context.lane, context.iteration or 0)


def lane_entries(context: FrameContext) -> list[Scope]:
    """Return the entities that may have attributes about a frame's lanes: inlined calls from the innermost outwards,
    then an entry point, then the function.
    """
    if context.function is None:
        return []
    program, entry = context.program, entered(context)
    inlined = program.info.inline_frames_at(program.to_file(context.pc or NOWHERE))
    return [*inlined, *(() if entry is None else (entry,)), context.function]


def static_link(context: FrameContext) -> LocationDescription | None:
    """Evaluate DW_AT_static_link of a frame's function; ``None`` if it is absent or unusable."""
    return _first(context, lambda entry: results.static_link(entry, context))


def return_addr(context: FrameContext) -> LocationDescription | None:
    """Evaluate DW_AT_return_addr of a frame's function; ``None`` if it is absent or unusable."""
    return _first(context, lambda entry: _return_addr(entry, context))


def _first(
    context: FrameContext, ask: Callable[[Die], LocationDescription | None]
) -> LocationDescription | None:
    """Return the result of ``ask`` for the entry point through which the function was entered; if there is none, the
    result for the function.
    """
    for entry in (entered(context), context.function):
        if entry is None:
            continue
        try:
            found = ask(entry.die)
        except Error as error:
            context.program.complaints.add(error, "it is not used")
            continue
        if found is not None:
            return found
    return None


def _return_addr(entry: Die, context: FrameContext) -> LocationDescription | None:
    """Return the location in DW_AT_return_addr; a register is reported as not allowed, but its content is used."""
    try:
        return results.return_addr(entry, context)
    except IllFormed as error:
        found = results.return_addr(entry, context, strict=False)
        context.program.complaints.add(error, "it is read there")
        return found


def share_caller(context: FrameContext, other: FrameContext) -> None:
    """Share with this frame what the same frame of another lane knows about registers and its caller."""
    context.physical.unwound = other.physical.unwound
    try:
        context._returns_to, context.cfa = other.return_address(), other.cfa
    except Error:
        return  # computed and reported again
