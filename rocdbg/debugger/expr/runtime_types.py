"""What an object of a polymorphic class really is, by its virtual table (Itanium C++ ABI, 2.5)."""

from __future__ import annotations

from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ClassType, PointerType, Type
from rocdbg.errors import Error

TABLE = "vtable for "
TO_TOP = -16
"""Bytes from where an object points to in its table to the offset of the whole object."""


def is_polymorphic(type_: Type, environment: Environment, depth: int = 100) -> bool:
    """Whether objects of a class begin with a pointer to a virtual table."""
    complete = environment.complete_type(type_.strip_typedefs().strip_qualifiers())
    if not isinstance(complete, ClassType) or depth == 0:
        return False
    if any((member.name or "").startswith("_vptr") for member in complete.members):
        return True
    return any(base.virtual or is_polymorphic(base.type, environment, depth - 1) for base in complete.bases)


def whole_object(object_: Value, environment: Environment) -> Value | None:
    """The object that this one is a part of, in its own type; ``None`` where no table tells."""
    address = object_.address
    if address is None or not is_polymorphic(object_.type, environment):
        return None
    try:
        table = int.from_bytes(environment.memory.read(address.space, address.value, 8), "little")
        program = environment.types.program
        name = (program.symbolize(table + TO_TOP) if program is not None else None) or ""
        if not name.startswith(TABLE):
            return None
        offset = int.from_bytes(environment.memory.read(0, table + TO_TOP, 8), "little", signed=True)
        type_ = environment.types.find(name.removeprefix(TABLE).partition("+")[0], "")
    except Error:
        return None
    if type_ is None:
        return None
    return environment.at_address(environment.complete_type(type_), address.space, address.value + offset)


def whole(value: Value, environment: Environment) -> Value | None:
    """`whole_object` of an object, `whole_pointer` of a pointer or reference."""
    if isinstance(value.bare, ClassType):
        return whole_object(value, environment)
    return whole_pointer(value, environment)


def whole_pointer(pointer: Value, environment: Environment) -> Value | None:
    """A pointer or reference to what `whole_object` gives; ``None`` as there."""
    type_ = pointer.bare
    if not isinstance(type_, PointerType) or not isinstance(
        type_.target.strip_typedefs().strip_qualifiers(), ClassType
    ):
        return None
    space = type_.address_class or 0
    try:
        whole = whole_object(environment.at_address(type_.target, space, pointer.as_int()), environment)
    except Error:
        return None
    if whole is None or whole.address is None:
        return None
    target = c_types.qualified_like(whole.type, type_.target)
    real = PointerType(target, type_.kind, type_.byte_size, type_.address_class)
    return Value.of_int(c_types.qualified_like(real, pointer.type), whole.address.value)
