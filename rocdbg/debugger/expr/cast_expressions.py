"""Casts of all kinds in an expression: of arrays, references, pointers and numbers, and vectors from elements."""

from __future__ import annotations

from typing import Protocol

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.casting import (
    cast,
    dynamic_cast,
    is_reinterpreted,
    object_cast,
    reference_cast,
    reinterpretable,
    reinterpreted,
)
from rocdbg.debugger.expr.class_casts import cast_pointer
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.literals import comma_list, vector_literal
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.value_access import decay, placed
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ArrayType, ClassType, PointerKind, PointerType, Type, VectorType


class Operands(Protocol):
    """Evaluates parts of an expression; nothing need be readable where ``only_type`` is wanted."""

    environment: Environment
    only_type: bool

    def lvalue(self, node: syntax.Expression) -> Value:
        """The value with references followed."""

    def operand(self, node: syntax.Expression) -> Value:
        """The value as an operand."""

    def readable(self, value: Value) -> Value:
        """The value, or one of its type where that is all that is wanted."""


def cast_value(type_: Type, operand: syntax.Expression, kind: str, operands: Operands) -> Value:
    """The value of ``(type) operand``; ``kind`` is ``static`` for ``static_cast`` and so on. Raises `rocdbg.Error`."""
    environment = operands.environment
    stripped = type_.strip_typedefs()
    if isinstance(operand, syntax.ArrayLiteral) and isinstance(stripped, VectorType):
        return vector_literal(type_, operand.elements, operands.operand)
    if isinstance(stripped, VectorType) and isinstance(operand, syntax.Binary) and operand.operator == ",":
        return vector_literal(type_, comma_list(operand), operands.operand)
    if isinstance(stripped, ClassType | ArrayType):
        return object_cast(type_, operands.lvalue(operand), environment)
    if isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER:
        return reference_cast(stripped, operands.lvalue(operand), environment)
    value = operands.operand(operand)
    if isinstance(stripped, PointerType):
        value = decay(placed(value, environment, operands.only_type))
    if kind != "dynamic":
        value = operands.readable(value)
    if is_reinterpreted(type_, value):
        return reinterpreted(type_, value, environment)
    if kind == "dynamic":
        return dynamic_cast(type_, value, environment)
    if kind == "reinterpret" and not reinterpretable(stripped, value.bare):
        raise ExpressionError("Invalid reinterpret_cast")
    if kind != "reinterpret" and isinstance(stripped, PointerType) and c_types.is_pointer(value.type):
        value = value if operands.only_type else cast_pointer(value, stripped, environment)
    return cast(type_, value, environment)
