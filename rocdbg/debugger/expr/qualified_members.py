"""Members named with their class: ``Class::field``, ``&Class::field``, ``&Class::method``."""

from __future__ import annotations

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.class_casts import base_part
from rocdbg.debugger.expr.class_members import find_member, static_value
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.overload_resolution import method_value
from rocdbg.debugger.expr.value_access import pointee
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ClassType, MemberPointerType, Method, Type

POINTER_TO_METHOD = 16
"""The size in bytes of a pointer to member function: the function or its slot, and the adjustment of ``this``."""


def class_of(scope: str, environment: Environment) -> ClassType | None:
    """Return the class to which a name refers; ``None`` if there is none."""
    if not scope or not environment.is_type(scope):
        return None
    found = environment.complete_type(environment.types.named(scope, "").strip_typedefs())
    return found if isinstance(found, ClassType) else None


def member_value(scope: str, name: str, environment: Environment, only_type: bool) -> Value | None:
    """Return ``scope::name`` for a class: a member of ``*this`` in a method, a static member, or a method.

    Return ``None`` if the class has no such member. Raises `ExpressionError` if the member needs an object.
    """
    class_ = class_of(scope, environment)
    if class_ is None:
        return None
    this = environment.local("this")
    if this is not None and c_types.is_pointer(this.type):
        part = base_part(pointee(this, environment, only_type), class_, environment)
        found = find_member(part, name, environment) if part is not None else None
        if found is not None:
            return found
    for owner in _with_bases(class_, environment):
        for member in owner.members:
            if member.name == name:
                if only_type:
                    return Value(member.type, data=bytes(member.type.size or 0))
                raise ExpressionError(f'Cannot reference non-static field "{name}"')
        method = _method(owner, name)
        if method is not None:
            if method.virtual and not only_type:
                raise ExpressionError(f'Cannot reference virtual member function "{name}"')
            return method_value(owner, method, environment)
        for static in owner.static_members:
            if static.name == name:
                return static_value(owner, static, environment)
    return None


def member_pointer(scope: str, name: str, environment: Environment) -> Value | None:
    """Return ``&scope::name`` for a class; ``None`` for anything else, including static members."""
    class_ = class_of(scope, environment)
    if class_ is None:
        return None
    for owner in _with_bases(class_, environment):
        for member in owner.members:
            if member.name == name and member.bit_offset is not None and member.bit_size is None:
                return Value.of_int(MemberPointerType(member.type, owner, 8), member.bit_offset // 8)
        method = _method(owner, name)
        if method is None or method.static:
            continue
        type_ = MemberPointerType(method.type, owner, POINTER_TO_METHOD)
        if method.virtual and method.vtable_slot is not None:
            return Value(type_, data=(8 * method.vtable_slot + 1).to_bytes(POINTER_TO_METHOD, "little"))
        function = method_value(owner, method, environment)
        if function is None or function.address is None:
            raise ExpressionError(f"Cannot take address of method {name}.")
        return Value(type_, data=function.address.value.to_bytes(POINTER_TO_METHOD, "little"))
    return None


def _method(class_: ClassType, name: str) -> Method | None:
    """Return a method of the class by name. Raises `ExpressionError` if it is overloaded."""
    found = [method for method in class_.methods if method.name == name and not method.artificial]
    if len(found) > 1:
        raise ExpressionError(f"non-unique member `{name}' requires type instantiation")
    return found[0] if found else None


def _with_bases(class_: Type, environment: Environment) -> list[ClassType]:
    """Return a class and its bases, each once, nearest first."""
    waiting = [class_]
    found: list[ClassType] = []
    while waiting and len(found) < 1000:
        current = environment.complete_type(waiting.pop(0).strip_typedefs().strip_qualifiers())
        if isinstance(current, ClassType) and current not in found:
            found.append(current)
            waiting += [base.type for base in current.bases]
    return found
