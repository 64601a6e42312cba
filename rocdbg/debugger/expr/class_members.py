"""Members of an object by name: data, static data and methods, of its class or of a base."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.overload_resolution import method_value
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Block, Constant
from rocdbg.dwarf.info.types import ClassType, FunctionType, PointerType, StaticMember, Type

MOST_CANDIDATES = 1000


class _Candidate(Struct, frozen=True):
    """A member, and the classes through which it was found."""

    value: Value | None
    """``None`` for a static member without a definition."""
    text: str
    """The declaration of the member: ``int A::same``."""
    path: tuple[str, ...]


def this_has(name: str, environment: Environment) -> bool:
    """Whether the object of the frame's method has a data member or method of that name, possibly in a base."""
    this = environment.local("this")
    return this is not None and pointed_has(this.type, name, environment)


def pointed_has(type_: Type, name: str, environment: Environment) -> bool:
    """Whether the target of a pointer type has such a member; see `this_has`."""
    pointer = type_.bare
    waiting, seen = [pointer.target] if isinstance(pointer, PointerType) else [], 0
    while waiting and seen < MOST_CANDIDATES:
        class_ = environment.complete_type(waiting.pop().strip_typedefs())
        seen += 1
        if isinstance(class_, ClassType):
            names = [*(one.name for one in class_.members), *(one.name for one in class_.static_members)]
            if name in names or any(one.name == name for one in class_.methods):
                return True
            waiting += [base.type for base in class_.bases]
            waiting += [one.type for one in class_.members if not one.name]
    return False


def find_member(value: Value, name: str, environment: Environment) -> Value | None:
    """Return a data member, also of anonymous members and base classes; ``None`` if there is none.

    Raises `ExpressionError` if the name is ambiguous, because several bases have it.
    """
    class_ = environment.complete_type(value.bare)
    if not isinstance(class_, ClassType):
        return None
    found = _candidates(value, class_, name, environment, (str(class_),))
    places = {(each.value.address if each.value is not None else None, each.text) for each in found}
    if len(found) > 1 and len(places) > 1:
        lines = "".join(f"\n  '{each.text}' ({' -> '.join(each.path)})" for each in found)
        raise ExpressionError(f"Request for member '{name}' is ambiguous in type '{class_}'. Candidates are:{lines}")
    return found[0].value if found else None


def _candidates(
    value: Value, class_: ClassType, name: str, environment: Environment, path: tuple[str, ...]
) -> list[_Candidate]:
    """Return the members of that name: those of the class or, if it has none, of its bases."""
    for member in class_.members:
        if member.name == name:
            return [_Candidate(value.field(member), _declared(member.type, class_, name), path)]
        if not member.name:
            inner = find_member(value.field(member), name, environment)
            if inner is not None:
                return [_Candidate(inner, _declared(inner.type, class_, name), path)]
    for static in class_.static_members:
        if static.name == name:
            return [_Candidate(static_value(class_, static, environment), _declared(static.type, class_, name), path)]
    found: list[_Candidate] = []
    for base in class_.bases:
        complete = environment.complete_type(base.type.strip_typedefs())
        if base.byte_offset is not None and isinstance(complete, ClassType) and len(found) < MOST_CANDIDATES:
            part = value.base(base)
            found += _candidates(part, complete, name, environment, (*path, str(complete)))
    return found


def static_value(class_: ClassType, static: StaticMember, environment: Environment) -> Value:
    """Return a static member at its definition, otherwise the constant in its declaration; absent if it has neither."""
    defined = environment.variable(f"{_name(class_)}::{static.name}")
    if defined is not None and defined.absence is None:
        return defined
    constant, size = static.const_value, static.type.size or 0
    if isinstance(constant, Constant) and 0 < size <= 8:
        return Value.of_int(c_types.signed_of(size), constant.signed_value(size)).with_type(static.type)
    if isinstance(constant, Block) and size:
        return Value(static.type, data=constant.data[:size].ljust(size, b"\0"))
    return Value.absent(static.type) if defined is None else defined


def _declared(type_: Type, class_: ClassType, name: str) -> str:
    return type_.declare(f"{class_}::{name}")


def find_method(value: Value, name: str, environment: Environment) -> Value | None:
    """Return a method of the class, or else of a base, as a function; ``None`` if there is no method of this name.

    Raises `ExpressionError` if the method is overloaded or has no code of its own.
    """
    class_ = environment.complete_type(value.bare)
    if not isinstance(class_, ClassType):
        return None
    methods = [method for method in class_.methods if method.name == name]
    if len(methods) > 1:
        raise ExpressionError(f"cannot resolve overloaded method `{name}': no arguments supplied")
    if methods:
        found = method_value(class_, methods[0], environment)
        if found is None:
            raise ExpressionError(f"Cannot take address of method {name}.")
        type_ = found.type
        return found.with_type(replace(type_, of_member=True)) if isinstance(type_, FunctionType) else found
    for base in class_.bases:
        if base.byte_offset is not None:
            found = find_method(value.base(base), name, environment)
            if found is not None:
                return found
    return None


def has_method(value: Value, name: str, environment: Environment, depth: int = 100) -> bool:
    """Whether the object's class or a base has a method of this name."""
    class_ = environment.complete_type(value.bare)
    if not isinstance(class_, ClassType) or depth == 0:
        return False
    parts = (value.base(base) for base in class_.bases if base.byte_offset is not None)
    own = any(method.name == name for method in class_.methods)
    return own or any(has_method(part, name, environment, depth - 1) for part in parts)


def _name(class_: ClassType) -> str | None:
    return class_.qualified_name or class_.name
