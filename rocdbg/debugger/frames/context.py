"""The DWARF evaluation context of one frame of one lane: the engine's answers to the evaluator."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rocdbg import dwarf
from rocdbg.debugger.errors import NoRegistersError
from rocdbg.debugger.frames import simt
from rocdbg.debugger.frames.unwind import FoundRow
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.state import Target
from rocdbg.debugger.values.storage import Memory
from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.context import DieContent, Expression, ExpressionLike, LocationList
from rocdbg.dwarf.encoding import assemble
from rocdbg.dwarf.errors import EvaluationError
from rocdbg.dwarf.info import Constant, Exprloc, Function, Loclist, Unit, Variable
from rocdbg.dwarf.info.attributes import AttributeValue, Block
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.location import LocationDescription, Place, undefined_location
from rocdbg.dwarf.storage import RegisterStorage
from rocdbg.dwarf.values import ConstValue

UPSTREAM = "llvm22"
"""The dialect of upstream clang, whose locations are normalised before they are evaluated."""


@dataclass(slots=True)
class ThreadAccess:
    """Registers and memory of one wave, as location storages want them; equal for the same wave."""

    target: Target
    thread: int

    def read_register(self, number: int, offset: int, size: int) -> bytes:
        """Bytes of a register of the innermost frame."""
        return self.target.read_register(self.thread, number)[offset : offset + size]

    def write_register(self, number: int, offset: int, data: bytes) -> None:
        """Write bytes of a register of the innermost frame."""
        self.target.write_register(self.thread, number, data, offset)

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Memory as a lane of the wave sees it."""
        return self.target.read_memory(space, address, size, self.thread, lane)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """As `read_memory`, the other way."""
        self.target.write_memory(space, address, data, self.thread, lane)


class FrameContext:
    """One physical frame of one lane (`rocdbg.dwarf.context.Context`).

    ``pc`` is the address that decides scopes and rules: for callers the call itself, not the return
    address. Where the lane waits elsewhere than the wave is, ``wave_pc`` is the wave's: that one decides what
    is in registers, and so which rules unwind. Addresses are as loaded. It is good until the target runs or
    a register is written.
    """

    def __init__(
        self,
        program: Program,
        access: ThreadAccess,
        pc: int,
        lane: int | None,
        row: Callable[[int, int], FoundRow | None],
        callee: FrameContext | None = None,
        iteration: int = 0,
    ) -> None:
        self.program = program
        self.access = access
        self.pc: int | None = pc
        self.wave_pc: int | None = pc
        self.lane = lane
        self.callee = callee
        self._row = row
        self._unit: Unit | None = None
        self.object: LocationDescription | None = None
        self.iteration: int | None = iteration
        self.unwound = self._of_caller(callee) if callee is not None else None

    @staticmethod
    def _of_caller(callee: FrameContext) -> dwarf.CallerRegisters:
        """The registers of the frame that called another: shared by all contexts of that frame."""
        found = callee.found_row
        if found is None:
            return dwarf.CallerRegisters(callee, lambda number: undefined_location())
        row = found.row
        return dwarf.CallerRegisters(
            callee, lambda number: row.register_location(number, callee), row, callee.unwound
        )

    # -- what is known of the code

    @cached_property
    def architecture(self) -> Architecture:
        """The program's."""
        return self.program.architecture

    @cached_property
    def function(self) -> Function | None:
        """The function with code at ``pc``."""
        return self.program.function_at(self.pc or 0)

    @property
    def unit(self) -> Unit | None:
        """The compile unit whose entries and addresses expressions refer to."""
        if self._unit is not None:
            return self._unit
        return self.function.unit if self.function is not None else None

    def for_unit(self, unit: Unit) -> FrameContext:
        """The same frame, for expressions of another compile unit (global variables)."""
        other = copy(self)
        other._unit = unit
        return other

    def with_object(self, location: LocationDescription) -> FrameContext:
        """The same frame, for expressions about an object (DW_OP_push_object_address)."""
        other = copy(self)
        other.object = location
        return other

    def at_lane_pc(self, pc: int) -> FrameContext:
        """The same frame of a lane that waits at ``pc``."""
        other = FrameContext(
            self.program, self.access, pc, self.lane, self._row, self.callee, self.iteration or 0
        )
        other.wave_pc, other.unwound = self.wave_pc, self.unwound
        return other

    @property
    def offset_size(self) -> int:
        """4 or 8, of the unit."""
        return self.unit.offset_size if self.unit is not None else 4

    @cached_property
    def wave_size(self) -> int:
        """Lanes of the wave."""
        return self.access.target.wave(self.access.thread).lane_count

    @cached_property
    def lanes(self) -> int:
        """DW_AT_LLVM_lanes of the function; without it the lanes of the wave: its code is SIMT all the same."""
        counts = (simt.lane_count(entry) for entry in simt.entries_at(self.program, self.function, self.pc or 0))
        return next((count for count in counts if count is not None), self.wave_size)

    @cached_property
    def iterations(self) -> int:
        """DW_AT_LLVM_iterations here, 1 without it: the iterations of a loop that run at once."""
        for entry in simt.entries_at(self.program, self.function, self.pc or 0):
            value = simt.expression_of(entry, simt.ITERATIONS)
            if value is not None:
                what = expression(value, entry.unit, self.program)
                context = self.for_unit(entry.unit)
                context.__dict__["iterations"] = 1  # what the expression itself is evaluated with
                count = evaluate_location(what, context).read(64)
                if count <= 0:
                    raise EvaluationError(f"DW_AT_LLVM_iterations of {entry.name} is {count}, not positive")
                return count
        return 1

    @cached_property
    def found_row(self) -> FoundRow | None:
        """The unwind rules here."""
        return self._row(self.program.to_file(self.wave_pc or 0), self.wave_size)

    # -- frames

    @cached_property
    def cfa(self) -> LocationDescription | None:
        """The canonical frame address, ``None`` where no rules are known."""
        return self.found_row.row.cfa_location(self) if self.found_row is not None else None

    @property
    def frame_base(self) -> ExpressionLike | LocationDescription | None:
        """DW_AT_frame_base of the function; in a kernel without one the beginning of private memory.

        An optimised kernel without frame pointer addresses its own variables by constant offsets.
        """
        if self.function is None:
            return None
        if self.function.frame_base is None:
            return _PRIVATE_BASE if self.program.is_kernel(self.function) else None
        return expression(
            self.function.frame_base, self.function.unit, self.program, Form(self.wave_size, True)
        )

    def register_location(self, number: int) -> LocationDescription:
        """Where a register of this frame is: itself in the innermost, else as the callee's rules say."""
        if self.unwound is not None:
            return self.unwound.location(number, self.architecture)
        size = self.architecture.register_size(number)
        if size is None:
            # as GDB says it, whose register numbers have 32 bits
            raise EvaluationError(f"Unable to access DWARF register number {number & 0xFFFFFFFF}")
        return LocationDescription(Place(RegisterStorage(self.access, self.architecture, number, 8 * size)))

    def entry_register_location(self, number: int) -> LocationDescription:
        """Where the register's value on entry is now: the caller's copy of it."""
        found = self.found_row
        if found is None:
            raise EvaluationError("the value on entry is not known: there is no call frame information")
        return found.row.register_location(number, self)

    def caller(self) -> FrameContext:
        """The calling frame at its call, with what the call site says. Raises `EvaluationError` without one."""
        from rocdbg.debugger.frames.call_sites import at_call

        next_frame = self.next_frame()
        if next_frame is None or next_frame.pc is None:
            raise EvaluationError("there is no calling frame")
        return at_call(next_frame, next_frame.pc + 1)

    def call_site_value(self, parameter: int) -> ExpressionLike | None:
        """What the call site says was passed for the parameter at ``parameter`` of the unit."""
        from rocdbg.debugger.frames.call_sites import value_passed

        caller = self.next_frame()
        if self.unit is None or caller is None or caller.pc is None:
            return None
        return value_passed(caller, caller.pc + 1, self.unit.die(parameter))

    def next_frame(self) -> FrameContext | None:
        """The calling frame; ``None`` for the outermost (undefined return address), or without rules."""
        return_address = self.return_address()
        if return_address is None:
            return None
        # the call is the instruction before the return address
        frame = FrameContext(
            self.program, self.access, return_address - 1, self.lane, self._row, self, self.iteration or 0
        )
        if self.iteration and not self.iteration < frame.iterations:
            frame.iteration = 0
        return frame

    def return_address(self) -> int | None:
        """The PC of the calling frame, ``None`` for the outermost."""
        found = self.found_row
        if found is None:
            place = self.attribute_location(At.RETURN_ADDR)
            return place.read(64) if place is not None and not place.is_undefined else None
        column = self.architecture.return_address_register
        location = found.row.register_location(16 if column is None else column, self)
        if location.is_undefined:
            return None
        return location.read(64)

    def attribute_location(self, code: int) -> LocationDescription | None:
        """An attribute of the function that is a location (DW_AT_return_addr, DW_AT_static_link), if it has it."""
        value = self.function.attribute(code) if self.function is not None else None
        if not isinstance(value, Exprloc | Loclist):
            return None
        assert self.function is not None
        what = expression(value, self.function.unit, self.program, Form(self.wave_size))
        return evaluate_location(what, self)

    # -- memory and debug information

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Memory as a lane of this wave sees it."""
        return self.access.read_memory(space, address, size, lane)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """As `read_memory`, the other way."""
        self.access.write_memory(space, address, data, lane)

    def indexed_address(self, index: int) -> int:
        """Entry ``index`` of the unit's addresses, as loaded."""
        addresses = self.unit.debug_addr if self.unit is not None else []
        if not 0 <= index < len(addresses):
            raise EvaluationError(f"the unit has no address {index}; it has {len(addresses)}")
        return self.program.to_loaded(addresses[index])

    def die(self, offset: int, unit_relative: bool) -> tuple[DieContent, FrameContext]:
        """What an entry offers to an expression."""
        if unit_relative:
            if self.unit is None:
                raise EvaluationError("there is no compile unit here")
            die = self.unit.die(offset)
        else:
            die = self.program.info.die(offset)
        content: DieContent = None
        value = die.attribute(At.LOCATION)
        if isinstance(value, Exprloc | Loclist):
            content = expression(value, die.unit, self.program, Form(self.wave_size))
        else:
            content = base_type(die.unit, die.offset, self.program) or _const_value(
                die.attribute(At.CONST_VALUE)
            )
        return content, self

    def tls_location(self, address: int) -> LocationDescription:
        """There is no thread-local storage on this target."""
        raise EvaluationError(f"thread-local address {address:#x}: the target has no thread-local storage")


def _const_value(value: AttributeValue | None) -> ConstValue | None:
    if isinstance(value, Block):
        return ConstValue(value.data)
    if isinstance(value, Constant):
        size = value.size or 8
        return ConstValue((value.value & ((1 << 8 * size) - 1)).to_bytes(size, "little"))
    return None


def base_type(unit: Unit, offset: int, program: Program) -> dwarf.BaseType | None:
    """The base type at an entry as the evaluator knows types; ``None`` when it is none."""
    from rocdbg.dwarf.info.constants import Tag
    from rocdbg.dwarf.info.types import BaseType as InfoBaseType
    from rocdbg.dwarf.info.types import Encoding, VectorType

    die = program.info.die(offset)
    if die.tag != Tag.BASE_TYPE:
        return None
    type_ = program.info.type_at(offset).strip_typedefs()
    elements: int | None = None
    if isinstance(type_, VectorType):
        elements = type_.count
        type_ = type_.element
    if not isinstance(type_, InfoBaseType):
        return None
    encoding = type_.encoding
    name = "DW_ATE_" + (encoding.name.lower() if isinstance(encoding, Encoding) else "unsigned")
    return dwarf.BaseType(
        name=type_.name,
        encoding=name,
        bit_size=type_.bit_size or 8 * type_.byte_size,
        vector_size=elements,
        byte_order="big" if type_.big_endian else "little",
    )


_PRIVATE_BASE = Expression(assemble("lit0", "lit5", "form_aspace_address"), "amd")


@dataclass(frozen=True, slots=True)
class Form:
    """How an upstream compiler's expression is read: for waves of which size, and whether as a frame base."""

    wave_size: int
    frame_base: bool = False


@lru_cache(maxsize=8192)
def _prepare(data: bytes, dialect: str, base: int, target: str, form: Form | None) -> bytes:
    """An expression with load addresses in place and, of upstream clang, in its clean form."""
    if base:
        data = _relocate(data, dialect, base)
    if form is not None and dialect == UPSTREAM:
        return dwarf.normalise(data, target, wave_size=form.wave_size, frame_base=form.frame_base)
    return data


def _relocate(data: bytes, dialect: str, base: int) -> bytes:
    """Add the load address to the operands of DW_OP_addr; everything else stays where it is."""
    patched: bytearray | None = None
    for operation in dwarf.decode(data, dialect):
        if operation.name == "DW_OP_addr":
            patched = patched or bytearray(data)
            at = operation.offset + 1
            value = int.from_bytes(data[at : at + 8], "little") + base
            patched[at : at + 8] = (value & (1 << 64) - 1).to_bytes(8, "little")
    return bytes(patched) if patched is not None else data


def expression(
    value: Exprloc | Loclist, unit: Unit, program: Program, form: Form | None = None
) -> Expression | LocationList:
    """An attribute's expression or location list, relocated and normalised, ready to be evaluated.

    Without ``form`` it is left in its own dialect.
    """
    target = program.code_object.target.name
    dialect = "amd" if form is not None and unit.dialect == UPSTREAM else unit.dialect
    if isinstance(value, Exprloc):
        return Expression(_prepare(value.data, unit.dialect, program.base, target, form), dialect)
    entries = dwarf.parse_location_list(
        value.section,
        value.offset,
        version=unit.version,
        address_size=unit.address_size,
        base_address=unit.base_address,
        debug_addr=unit.debug_addr,
        dialect=unit.dialect,
    )

    def loaded(address: int | None) -> int | None:
        return None if address is None else program.to_loaded(address)

    # read as the file has them, whichever kind of entry gave the range, and only then moved to where the code is
    return LocationList(
        [
            (loaded(low), loaded(high), _prepare(data, unit.dialect, program.base, target, form))
            for low, high, data in entries
        ],
        dialect,
    )


class StaticContext(FrameContext):
    """The context of a program that is not running: its file's memory, and nothing else."""

    def __init__(self, program: Program, memory: Memory) -> None:
        self.program = program
        self.memory = memory
        self.pc = None
        self.wave_pc = None
        self.lane = None
        self.callee = None
        self._unit = None
        self.object = None
        self.iteration = None
        self.unwound = None

    @cached_property
    def function(self) -> Function | None:
        """There is no current function."""
        return None

    @cached_property
    def iterations(self) -> int:
        """There are no loops under way."""
        return 1

    @cached_property
    def wave_size(self) -> int:
        """That of the target's usual waves."""
        return self.program.code_object.target.default_wave_size

    @cached_property
    def found_row(self) -> FoundRow | None:
        """There are no frames."""
        return None

    def register_location(self, number: int) -> LocationDescription:
        """There are no registers."""
        raise NoRegistersError

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Bytes of the file."""
        return self.memory.read(space, address, size)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Refused: the file is not changed."""
        self.memory.write(space, address, data)


def memory_location(context: FrameContext, space: int, address: int) -> LocationDescription:
    """Memory of a DWARF address space as the context's lane sees it."""
    data = assemble(("constu", address), ("constu", space), "form_aspace_address")
    return evaluate_location(Expression(data, "amd"), context)


def locate(variable: Variable, context: FrameContext) -> LocationDescription | None:
    """Where a variable with a location attribute is; ``None`` when it has none of that kind."""
    what = variable_expression(variable, context)
    return evaluate_location(what, context) if what is not None else None


def variable_expression(variable: Variable, context: FrameContext) -> Expression | LocationList | None:
    """What says where a variable is, ready to be evaluated; ``None`` without a location of that kind."""
    location = variable.location
    if not isinstance(location, Exprloc | Loclist):
        return None
    return expression(location, variable.unit, context.program, Form(context.wave_size))


def evaluate_location(what: Expression | LocationList, context: FrameContext) -> LocationDescription:
    """Evaluate to a location description."""
    dialect = what.dialect or "amd"
    if isinstance(what, LocationList):
        return dwarf.evaluate_location_list(what, context, dialect=dialect)
    result = dwarf.evaluate(what.data, context, kind="location", dialect=dialect)
    assert isinstance(result, LocationDescription), "what kind='location' gives"
    return result
