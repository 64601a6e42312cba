"""Parameters of compiled expressions, whose values are fixed when the program resumes: convenience variables and values
of the history.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.lanes.lane_terms import Term, size_of
from rocdbg.debugger.frames.compiled_places import InMemory, Number, Untranslatable
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import Type
from rocdbg.errors import Error
from rocdbg.sim.core.lane_expressions import Cell, constant


class Parameter(Struct, frozen=True):
    """A parameter: its name without ``$``, and the type that it had at compile time."""

    name: str
    type: Type


class Parameters:
    """The parameters of one expression, in the order of its cells; ``first`` is the number of their first cell."""

    def __init__(self, environment: Environment, first: int = 0) -> None:
        self._environment = environment
        self._first = first
        self.all: list[Parameter] = []

    def term(self, name: str) -> Term:
        """Return the value of ``$name``. Raises `Untranslatable` if it is not a number."""
        value = _value(name, self._environment)
        if value.data is None and (address := value.address) is not None:
            # It names one of the program's buffers, which stays at the same address while the program runs.
            return Term(value.type, InMemory(address.space, constant(address.value)))
        if not c_types.is_scalar(value.type) or c_types.is_reference(value.type):
            raise Untranslatable(f"the value of ${name}")
        size = size_of(value.type)
        parameter = Parameter(name, value.type)
        if parameter not in self.all:
            self.all.append(parameter)
        return Term(value.type, Number(Cell(self._first + self.all.index(parameter)), 8 * size))


def current(parameters: tuple[Parameter, ...], environment: Environment) -> tuple[int, ...] | None:
    """Return the current contents of the cells; ``None`` if the type of a parameter has changed."""
    numbers = []
    for parameter in parameters:
        try:
            value = _value(parameter.name, environment)
            if value.type != parameter.type:
                return None
            numbers.append(int.from_bytes(value.contents(), "little"))
        except Error:
            return None
    return tuple(numbers)


def _value(name: str, environment: Environment) -> Value:
    """Return the value as the evaluator gives it."""
    history = environment.history
    if name in ("", "$"):
        return history.relative(len(name))
    if name.startswith("$") and name[1:].isdecimal():
        return history.relative(decimal(name[1:]))
    if name.isdecimal():
        return history.get(decimal(name)) if name != "0" else history.relative(0)
    value = environment.convenience.get(name, environment.focus)
    if value.address is None and environment.convenience.is_dynamic(name):
        raise Untranslatable(f"the value of ${name}")
    return value


__all__ = ["Parameter", "Parameters", "current"]
