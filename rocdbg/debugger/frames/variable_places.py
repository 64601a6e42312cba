"""Where variables and addresses are, as a frame sees them."""

from __future__ import annotations

from rocdbg import dwarf
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.dwarf.encoding import assemble
from rocdbg.dwarf.info import Exprloc, Loclist, Variable
from rocdbg.dwarf.info.attribute_expressions import AnyExpression
from rocdbg.dwarf.info.types import is_aggregate
from rocdbg.dwarf.location import LocationDescription


def memory_location(context: FrameContext, space: int, address: int) -> LocationDescription:
    """Memory of a DWARF address space as the context's lane sees it."""
    data = assemble(("constu", address), ("constu", space), "form_aspace_address")
    return dwarf.evaluate_location(data, context)


def variable_expression(
    variable: Variable, context: FrameContext, size: int | None = None
) -> AnyExpression | None:
    """What says where a variable is, ready to be evaluated; ``None`` without a location of that kind.

    ``size`` is that of its complete type, in bytes; ``None``: its type's own.
    """
    location = variable.location
    if not isinstance(location, Exprloc | Loclist):
        return None
    return context.program.expressions.location(
        location, variable.unit, context.wave_size, size or variable.type.size, is_aggregate(variable.type)
    )
