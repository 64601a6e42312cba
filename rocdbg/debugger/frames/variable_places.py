"""Where variables and addresses are, from a frame's view."""

from __future__ import annotations

from rocdbg import dwarf
from rocdbg.arch.address_spaces import address_space
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.dwarf.context import Expression, LocationList
from rocdbg.dwarf.encoding import assemble
from rocdbg.dwarf.info import Variable
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.operations import Dialect
from rocdbg.dwarf.reader.prepared import location_expression


def memory_location(context: FrameContext, space: int, address: int) -> LocationDescription:
    """Memory of a DWARF address space as the context's lane sees it, or of the lane whose own space it is."""
    dialect: Dialect = "amd" if address_space(space).lane is None else "proposal2020"
    data = assemble(("constu", address), ("constu", space), "form_aspace_address", dialect=dialect)
    return dwarf.evaluate_location(Expression(data, dialect), context)


def variable_expression(
    variable: Variable, context: FrameContext, size: int | None = None
) -> Expression | LocationList | None:
    """What says where a variable is, ready to be evaluated; ``None`` without DW_AT_location.

    ``size`` is that of its complete type, in bytes; ``None``: its type's own.
    """
    return location_expression(variable.die, context.wave_size, size or variable.type.size)
