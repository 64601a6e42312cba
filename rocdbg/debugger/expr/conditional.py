"""``condition ? then : otherwise``, in OpenCL for each element of vectors."""

from __future__ import annotations

from typing import Protocol

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.environments.environment import Environment, is_opencl
from rocdbg.debugger.expr.names.meanings import need_names
from rocdbg.debugger.expr.operators import convert
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import VectorType


class Operands(Protocol):
    """Evaluates parts of an expression."""

    def value(self, node: syntax.Expression) -> Value:
        """The value of a tree."""

    def operand(self, node: syntax.Expression) -> Value:
        """The value as an operand."""


def conditional(node: syntax.Conditional, operands: Operands, environment: Environment) -> Value:
    """The value of the operator; of what is not chosen only the names are looked up. Raises `ExpressionError`."""
    condition = operands.operand(node.condition)
    if isinstance(condition.bare, VectorType) and is_opencl(environment):
        return _selected(condition, operands.operand(node.then), operands.operand(node.otherwise))
    chosen, other = (node.then, node.otherwise) if condition.is_true() else (node.otherwise, node.then)
    need_names(other, environment)
    return operands.value(chosen)


def _selected(condition: Value, then: Value, otherwise: Value) -> Value:
    """For each element of a vector that of ``then`` where it is not zero; a scalar stands for all elements."""
    if isinstance(then.bare, VectorType):
        shape = then
    elif isinstance(otherwise.bare, VectorType):
        shape = otherwise
    else:
        raise ExpressionError("Cannot perform conditional operation on incompatible types")
    sides = [each if isinstance(each.bare, VectorType) else convert(each, shape.bare) for each in (then, otherwise)]
    kinds = {
        (c_types.is_float(element), c_types.is_signed(element), c_types.size_of(element), count)
        for element, count, _ in (side.elements() for side in sides)
    }
    if len(kinds) > 1:
        raise ExpressionError("Cannot perform operation on vectors with different types")
    if condition.elements()[1] != shape.elements()[1]:
        raise ExpressionError("Cannot perform conditional operation on vectors with different sizes")
    parts = [
        sides[0 if each.is_true() else 1].element(index).contents()
        for index, each in enumerate(condition.each_element())
    ]
    return Value(shape.bare, data=b"".join(parts).ljust(shape.size, b"\0"))
