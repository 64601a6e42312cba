"""Facts about a variable at a place of the code that are known before anything is read."""

from __future__ import annotations

from msgspec import Struct, field

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program import lds_variable_places
from rocdbg.debugger.program.opencl_kernels import KERNEL_BODY, is_kernel_wrapper
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.any_lane import ANY_LANE, at_lane, location_for_any_lane
from rocdbg.dwarf.context import Expression, ExpressionLike, LocationList
from rocdbg.dwarf.info import Function, Unit, Variable
from rocdbg.dwarf.info.types import Type
from rocdbg.dwarf.location import LocationDescription, undefined_location
from rocdbg.dwarf.reader import results
from rocdbg.errors import Error


class Known(Struct, frozen=True):
    """What is known about a variable at a place of the code, for all lanes."""

    variable: Variable
    type: Type
    size: int
    """Size in bytes, 0 if not known."""
    expression: ExpressionLike | None
    unit: Unit
    is_own_unit: bool
    """Whether the variable belongs to the unit of the frame's context."""
    may_be_dynamic: bool

    def located(self, context: FrameContext) -> LocationDescription:
        """Return the variable's location in a frame; the variable must have an expression."""
        assert self.expression is not None
        return results.located(self.variable.die, self.expression, context, self.size)


class SharedLocations(Struct):
    """The locations of variables in all lanes of a wave that are at the same place; each location is evaluated once.

    Valid until a register is written or the target runs.
    """

    _found: dict[int, LocationDescription | None] = field(default_factory=dict)

    def whole(self, known: Known, context: FrameContext) -> LocationDescription | None:
        """Return the location for `ANY_LANE`, given the context of any of the lanes; ``None``: each lane has to be
        evaluated separately.
        """
        key = id(known.variable)
        if key not in self._found:
            self._found[key] = self._evaluated(known, context)
        return self._found[key]

    def located(self, known: Known, context: FrameContext) -> LocationDescription:
        """Return the location in one lane, as `Known.located` does."""
        whole = self.whole(known, context)
        if whole is not None and context.lane is not None and 0 <= context.lane < context.lanes:
            try:
                return at_lane(whole, context.lane)
            except Error:
                pass
        return known.located(context)

    @staticmethod
    def _evaluated(known: Known, context: FrameContext) -> LocationDescription | None:
        what = known.expression
        if isinstance(what, LocationList) and context.pc is not None and not what.matching(
            LoadedAddress(context.pc - context.load_bias)
        ):
            return undefined_location()
        if not isinstance(what, Expression):
            return None
        try:
            found = location_for_any_lane(what, context.at_lane(ANY_LANE))
            return known.unit.conventions.extent(found, known.size)
        except Error:
            return None


# Variables in LDS that have no location.


def lds_offset(variable: Variable, program: Program, frame: Frame | None) -> int | None:
    """Return the LDS offset of a variable: from its symbol, otherwise from the backend's layout for the frame's kernel;
    ``None`` if neither gives it.
    """
    for name in (variable.linkage_name, variable.name):
        offset = program.lds_offset(name) if name is not None else None
        if offset is not None:
            return offset
    if frame is None or variable.is_parameter:
        return None
    kernel = _kernel_of(frame, program)
    if kernel is not None:
        placed = lds_variable_places.place_variables(program, kernel)
    else:
        placed = lds_variable_places.place_shared(program)
    return placed.get(variable.offset)


def _kernel_of(frame: Frame, program: Program) -> Function | None:
    """Return the kernel of a frame; for OpenCL, the function with its body. Without one, return the only kernel."""
    function = frame.context.function
    if function is None or not program.is_kernel(function):
        return lds_variable_places.sole_kernel(program)
    if is_kernel_wrapper(program, function):
        name = KERNEL_BODY + (function.linkage_name or function.name or "")
        bodies = program.info.functions_named(name)
        return next((body for body in bodies if body.low_pc is not None), function)
    return function


def dynamic_lds(frame: Frame) -> int | None:
    """Return the offset at which dynamic LDS (whose size the launch gives) begins; None if the kernel has none."""
    kernel = _kernel_of(frame, frame.program)
    if kernel is None:
        return None
    name = (kernel.linkage_name or kernel.name or "").removeprefix(KERNEL_BODY)
    found = frame.program.code_object.kernels.find(name)
    if found is None:
        return None
    begin, access, scope = found.descriptor.group_segment_fixed_size, frame.context.access, frame.scope
    try:
        access.target.read_memory(AddressSpace.LOCAL, begin, 1, scope.thread, scope.lane)
    except Error:
        return None
    return begin
