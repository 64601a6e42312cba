"""What a C++ pointer to a member leads to in an object."""

from __future__ import annotations

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.variable_places import memory_location
from rocdbg.debugger.values.located_values import LocationStorage
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ClassType, FunctionType, MemberPointerType, Type
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.reader import results

NULL = -1
"""The value of a null pointer to a data member in the Itanium ABI."""


def data_member(pointer: Value) -> tuple[MemberPointerType, int]:
    """The type and the number of a pointer to a data member.

    Raises `ExpressionError` for anything else, for one to a function, and for a null pointer.
    """
    type_ = pointer.bare
    if not isinstance(type_, MemberPointerType):
        raise ExpressionError("non-pointer-to-member value used in pointer-to-member construct")
    if isinstance(type_.target.strip_typedefs(), FunctionType):
        raise ExpressionError("not implemented: pointer-to-method in pointer-to-member construct")
    number = int.from_bytes(pointer.contents(), "little", signed=True)
    if number == NULL:
        raise ExpressionError("Attempt to take contents of a null pointer to a member.")
    return type_, number


def as_class(object_: Value, wanted: Type) -> Value:
    """An object as one of its base classes; itself where it has no such base."""
    type_ = object_.bare
    name = wanted.strip_typedefs()
    if not isinstance(type_, ClassType) or not isinstance(name, ClassType):
        return object_
    for base in type_.bases:
        if base.byte_offset is None:
            continue
        part = object_.base(base)
        found = part.bare
        if isinstance(found, ClassType) and found.qualified_name == name.qualified_name:
            return part
        inner = as_class(part, wanted)
        if inner is not part:
            return inner
    return object_


def member_location(
    type_: MemberPointerType, number: int, object_: Value, context: FrameContext
) -> LocationDescription | None:
    """Where DW_AT_use_location says that the member is; ``None`` without it.

    The expression starts with the pointer's value and the object's location on the stack (DWARF 5, 5.14).
    Raises a `rocdbg.Error` where it cannot be evaluated, or the object is nowhere.
    """
    if type_.use_location is None or type_.offset is None:
        return None
    entry = context.program.info.die(type_.offset)
    return results.use_location(entry, context, number, _location(object_, context.for_unit(entry.unit)))


def _location(object_: Value, context: FrameContext) -> LocationDescription:
    storage = object_.storage
    if isinstance(storage, LocationStorage):
        return storage.location.offset_by(8 * object_.offset)
    address = object_.address
    if address is None:
        raise ExpressionError("Attempt to take a member of a value that is not in the program.")
    return memory_location(context, address.space, address.value)
