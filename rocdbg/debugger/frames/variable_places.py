"""Where variables and addresses are, from a frame's view."""

from __future__ import annotations

from rocdbg import dwarf
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.dwarf.encoding import assemble
from rocdbg.dwarf.info import Exprloc, Loclist, Variable
from rocdbg.dwarf.info.attribute_expressions import AnyExpression
from rocdbg.dwarf.location import LocationDescription


def memory_location(context: FrameContext, space: int, address: int) -> LocationDescription:
    """Memory of a DWARF address space as the context's lane sees it."""
    data = assemble(("constu", address), ("constu", space), "form_aspace_address")
    return dwarf.evaluate_location(data, context)


def variable_expression(
    variable: Variable, context: FrameContext, size: int | None = None
) -> AnyExpression | None:
    """A variable's location attribute, ready to be evaluated; ``None`` without a location of that kind.

    ``size`` is that of its complete type, in bytes; ``None``: its type's own.
    """
    location = variable.location
    if not isinstance(location, Exprloc | Loclist):
        return None
    return context.program.expressions.location(location, variable.unit, context.wave_size, size or variable.type.size)
