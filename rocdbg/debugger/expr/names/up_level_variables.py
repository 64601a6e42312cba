"""Variables of the subprograms around a nested one (A.3.3.5 (3))."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.frames.enclosing_frames import Enclosing, enclosing
from rocdbg.debugger.values.located_values import has_fixed_address
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Exprloc, Loclist, Variable

if TYPE_CHECKING:
    from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment


def up_level_variable(environment: ProgramEnvironment, name: str) -> tuple[Variable, Enclosing] | None:
    """A variable of a subprogram that the frame's is nested in, the nearest, and that subprogram."""
    if environment.frame is None:
        return None
    for around in enclosing(environment.frame):
        for scope in around.scopes:
            for variable in reversed(scope.variables):
                if variable.name == name:
                    return variable, around
    return None


def up_level_value(environment: ProgramEnvironment, name: str) -> Value | None:
    """The value of such a variable, in the frame that the static link tells of.

    Raises `ExpressionError` where the variable has a place in a frame and there is none.
    """
    found = up_level_variable(environment, name)
    if found is None or environment.frame is None:
        return None
    variable, around = found
    if around.context is None:
        if isinstance(variable.location, Exprloc | Loclist) and not has_fixed_address(variable):
            raise ExpressionError(f"No frame is currently executing in block {around.name}.")
        return environment.value_of(variable)
    host = copy(environment.frame)
    host.context, host.function, host.inline, host.scopes = around.context, around.context.function, None, around.scopes
    return replace(environment, frame=host).value_of(variable)
