"""Members of an object by name: data, static data and methods, of its class and of the bases."""

from __future__ import annotations

from rocdbg.debugger.errors import ExpressionError
from rocdbg.debugger.expr.environment import Environment
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ClassType


def find_member(value: Value, name: str, environment: Environment) -> Value | None:
    """A data member, through anonymous members and base classes; ``None`` when there is none."""
    class_ = value.bare
    if not isinstance(class_, ClassType):
        return None
    for member in class_.members:
        if member.name == name:
            return value.field(member)
    if any(static.name == name for static in class_.static_members):
        return environment.variable(f"{_name(class_)}::{name}")
    parts = [value.field(member) for member in class_.members if not member.name]
    for part in parts + _bases(value, class_):
        found = find_member(part, name, environment)
        if found is not None:
            return found
    return None


def find_method(value: Value, name: str, environment: Environment) -> Value | None:
    """A method as a function, of the class or else of the bases; ``None`` when none is called so.

    Raises `ExpressionError` for one that is overloaded, and for one that has no code of its own.
    """
    class_ = value.bare
    if not isinstance(class_, ClassType):
        return None
    methods = [method for method in class_.methods if method.name == name]
    if len(methods) > 1:
        raise ExpressionError(f"cannot resolve overloaded method `{name}': no arguments supplied")
    if methods:
        found = environment.variable(f"{_name(class_)}::{name}")
        if found is None:
            raise ExpressionError(f"Cannot take address of method {name}.")
        return found
    for base in _bases(value, class_):
        found = find_method(base, name, environment)
        if found is not None:
            return found
    return None


def _bases(value: Value, class_: ClassType) -> list[Value]:
    return [value.part(base.type, base.byte_offset) for base in class_.bases if base.byte_offset is not None]


def _name(class_: ClassType) -> str | None:
    return class_.qualified_name or class_.name
