"""Where variables and addresses are, as seen from a frame."""

from __future__ import annotations

from rocdbg import dwarf
from rocdbg.arch.address_spaces import address_space
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.dwarf.context import Expression, LocationList
from rocdbg.dwarf.info import Variable
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.operation_table import Dialect
from rocdbg.dwarf.reader.prepared import location_expression


def memory_location(context: FrameContext, space: int, address: int) -> LocationDescription:
    """Return memory of a DWARF address space as the context's lane, or the lane that owns the space, sees it."""
    dialect: Dialect = "amd" if address_space(space).lane is None else "proposal2020"
    data = assemble(("constu", address), ("constu", space), "form_aspace_address", dialect=dialect)
    return dwarf.evaluate_location(Expression(data, dialect), context)


def variable_expression(
    variable: Variable, context: FrameContext, size: int | None = None
) -> Expression | LocationList | None:
    """Return the description of a variable's place, ready to be evaluated; ``None`` without DW_AT_location.

    ``size`` is that of its complete type in bytes; ``None``: the size of the type that it is declared with.
    """
    return location_expression(variable.die, context.wave_size, size or variable.type.size)
