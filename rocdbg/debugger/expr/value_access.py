"""Access through values: references, pointers, elements, members, and addresses."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.class_casts import base_part
from rocdbg.debugger.expr.class_members import find_member, find_method
from rocdbg.debugger.expr.dynamic_types import whole_pointer
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.operators import advance
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.variable_places import memory_location
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.located_values import LocationStorage
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Address, ConvenienceStorage, MemoryStorage, Nowhere
from rocdbg.debugger.values.vector_types import vector_of
from rocdbg.dwarf.info.types import (
    ArrayType,
    ClassType,
    EnumType,
    FlagsType,
    FunctionType,
    MemberPointerType,
    PointerKind,
    PointerType,
    Type,
    VectorType,
    VoidType,
)
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.reader import results

_ALL = (1 << 64) - 1


def follow(value: Value, environment: Environment) -> Value:
    """Return the target of a reference; other values are returned unchanged."""
    stripped = value.type.bare
    if isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER:
        return environment.at_address(stripped.target, stripped.address_class or 0, value.as_int())
    return value


def decay(value: Value) -> Value:
    """Convert an array to a pointer to its first element, and a function to a pointer to it."""
    stripped = value.type.bare
    if isinstance(stripped, ArrayType):
        address = value.address
        if address is None:
            return value
        return Value.of_int(c_types.pointer_to(stripped.element, address.space), address.value)
    if isinstance(stripped, FunctionType):
        address = value.address
        return Value.of_int(c_types.pointer_to(value.type), address.value if address else 0)
    return value


def placed(value: Value, environment: Environment, only_type: bool = False) -> Value:
    """Return a value; an array that is not in the program's memory (a string) is first copied there.

    Raises `DebuggerError` if no program is running.
    """
    is_kept = isinstance(value.storage, ConvenienceStorage) or value.storage is None
    if only_type or not is_kept or value.absence is not None or not isinstance(value.bare, ArrayType) or not value.size:
        return value
    return environment.at_address(value.type, AddressSpace.GLOBAL, environment.memory.keep(value.contents()))


def pointee(pointer: Value, environment: Environment, only_type: bool = False) -> Value:
    """Return the target of a pointer; as in GDB, an integer is the address of a ``long``.

    With ``only_type``, the pointer's value is not read. Raises `ExpressionError` for other values, and for ``void *``.
    """
    stripped = pointer.bare
    if not isinstance(stripped, PointerType):
        if c_types.is_number(stripped) and not isinstance(stripped, FlagsType):
            if only_type:
                return Value.of_int(c_types.INT, 0)
            # "*0x1000": GDB reads a long at such an address
            return environment.at_address(c_types.LONG, 0, pointer.as_int() & _ALL)
        if isinstance(stripped, MemberPointerType):
            raise ExpressionError("Attempt to dereference pointer to member without an object")
        if isinstance(stripped, ArrayType) and pointer.data is not None:
            return pointer.element(0)  # a string that is not in memory
        raise ExpressionError("Attempt to take contents of a non-pointer value.")
    if isinstance(stripped.target.strip_typedefs().strip_qualifiers(), VoidType):
        if only_type:
            return Value(stripped.target)
        raise ExpressionError("Attempt to dereference a generic pointer.")
    behind = pointer.storage
    if isinstance(behind, LocationStorage) and pointer.data is None:
        place = behind.pointee(pointer.offset, pointer.size, stripped.address_class or 0)
        if place is not None:
            return environment.at_location(stripped.target, place)
    if only_type and isinstance(stripped.target.bare, ClassType):
        nowhere = MemoryStorage(environment.memory, stripped.address_class or 0, 0)
        return Value(environment.complete_type(stripped.target), nowhere)  # the layout of the object is not needed
    if only_type:
        return environment.at_address(stripped.target, stripped.address_class or 0, 0)
    return environment.at_address(stripped.target, stripped.address_class or 0, pointer.as_int())


def address_of(value: Value, only_type: bool = False, name: str = "") -> Value:
    """Return ``&value``. With ``only_type``, a value without an address gets a null address.

    Raises `ExpressionError` for registers, bit-fields, and optimized-out and computed values. ``name`` is the name of
    the variable, if the value is one.
    """
    address = value.address
    if address is not None:
        return Value.of_int(c_types.pointer_to(value.type, address.space), address.value)
    if only_type and name and value.storage is None and value.data is not None:
        raise ExpressionError("Attempt to take address of register or constant.")
    if only_type:
        return Value.of_int(c_types.pointer_to(value.type), 0)
    storage = value.storage
    if value.bit_size is not None and storage is not None and storage.address is not None:
        # as in GDB: the address of the unit, of the type's size, that contains the bit-field
        start = storage.address
        size = c_types.size_of(value.type)
        unit = value.offset + value.bit_offset // 8 // size * size
        return Value.of_int(c_types.pointer_to(value.type, start.space), start.value + unit)
    is_member = "::" in name and value.absence is not None  # a static member that is only declared
    register = (storage.register or "").removeprefix("register ") if storage is not None else ""
    if name and not is_member and register:
        raise ExpressionError(f'Address requested for identifier "{name}" which is in register ${register}')
    if name and not is_member:
        raise ExpressionError(f'Can\'t take address of "{name}" which isn\'t an lvalue.')
    raise ExpressionError("Attempt to take address of value not located in memory.")


def element(base: Value, index: Value, environment: Environment, only_type: bool = False) -> Value:
    """Return ``base[index]`` of a vector, array or pointer. Raises `ExpressionError` for values without elements.

    Elements beyond the end are rejected only if the array is not in memory.
    """
    stripped = base.bare
    if not isinstance(stripped, VectorType | ArrayType | PointerType) and not c_types.is_pointer(index.type):
        raise _not_subscripted(stripped)
    if not c_types.is_scalar(index.type):
        raise ExpressionError("Value can't be converted to integer.")
    number = 0 if only_type else int(index.as_float()) if c_types.is_float(index.type) else index.as_int()
    if isinstance(stripped, VectorType):
        if not 0 <= number < stripped.count and (base.storage is None or base.address is None):
            raise ExpressionError("no such vector element")
        return base.element(number)
    if isinstance(stripped, ArrayType):
        lower = stripped.lower_bound if isinstance(stripped.lower_bound, int) else 0
        if base.storage is None or base.address is None:
            count = base.elements()[1]
            if not 0 <= number - lower < count:
                raise ExpressionError("no such vector element")
        return base.element(number - lower)
    if isinstance(stripped, PointerType):
        if number == 0:
            return pointee(base, environment, only_type)  # this also works for a pointer without a value to advance
        return pointee(advance(base, number), environment, only_type)
    if c_types.is_integral(stripped) and isinstance(index.bare, PointerType):
        return pointee(advance(index, base.as_int()), environment, only_type)
    raise _not_subscripted(stripped)


def _not_subscripted(type_: Type) -> ExpressionError:
    """Return the error for a subscript of a value, with or without a type name, that has no elements."""
    name = type_.name if isinstance(type_, ClassType | EnumType) else str(type_)
    if isinstance(type_, FunctionType) or not name:
        return ExpressionError("cannot subscript requested type")
    return ExpressionError(f"cannot subscript something of type `{name}'")


def repeated(first: Value, number: Value, only_type: bool = False) -> Value:
    """Return ``first@number``: an array in memory that begins with ``first``. Raises `ExpressionError`."""
    if not c_types.is_integral(number.type) or c_types.is_bool(number.type):
        raise ExpressionError('Non-integral right operand for "@" operator.')
    count = number.as_int()
    if not -(1 << 31) <= count < 1 << 31:
        raise ExpressionError("Value out of range.")
    if only_type:
        return Value(c_types.array_of(first.type, count), data=b"")
    if first.address is None:
        raise ExpressionError("Only values in memory can be extended with '@'.")
    if count <= 0:
        raise ExpressionError(f"Invalid number {count} of repetitions.")
    return Value(c_types.array_of(first.type, count), first.storage, first.offset)


def member(base: Value, node: syntax.Member, environment: Environment, only_type: bool = False) -> Value:
    """Return ``base.name`` or ``base->name``: members, static members, methods, components of vectors.

    Raises `ExpressionError` for a value that is not a structure, or that has no such member.
    """
    is_pointer = isinstance(base.bare, PointerType)
    if is_pointer:
        # like GDB, accept "." in place of "->" where the left side is a pointer
        whole = whole_pointer(base, environment) if environment.settings.print.object else None
        base = pointee(whole or base, environment, only_type)
    elif isinstance(base.bare, ArrayType):
        base = pointee(decay(base), environment, only_type)
    base = completed(base, environment)
    stripped = base.bare
    if isinstance(stripped, VectorType) and not (node.arrow and not is_pointer):
        return swizzle(base, node.name)
    if not isinstance(stripped, ClassType):
        pointer = " pointer" if node.arrow else ""
        raise ExpressionError(
            f"Attempt to extract a component of a value that is not a structure{pointer}."
        )
    scope, _, name = node.name.rpartition("::")
    if scope:
        part = _part(base, scope, environment)
        found = find_member(part, name, environment) or find_method(part, name, environment)
        if found is None:
            raise ExpressionError(f"There is no field named {name}")
        return found
    found = find_member(base, name, environment) or find_method(base, name, environment)
    if found is None:
        raise ExpressionError(f"There is no member{' or method' if stripped.methods else ''} named {name}.")
    return found


def _part(object_: Value, scope: str, environment: Environment) -> Value:
    """Return the part of an object that has a class type. Raises `ExpressionError` if the object has none."""
    class_ = _base_named(object_.type, scope, environment) or environment.types.named(scope, "")
    part = base_part(object_, class_, environment)
    if part is None:
        raise ExpressionError(f"base class '{scope}' is ambiguous or no base of type '{object_.type}'")
    return part


def _base_named(type_: Type, name: str, environment: Environment, depth: int = 100) -> Type | None:
    """Return the class itself or a base of this name: inside the class, their names are visible without scopes."""
    complete = environment.complete_type(type_.strip_typedefs().strip_qualifiers())
    if not isinstance(complete, ClassType) or depth == 0:
        return None
    if name in (complete.name, complete.qualified_name):
        return complete
    found = (_base_named(base.type, name, environment, depth - 1) for base in complete.bases)
    return next((type_ for type_ in found if type_ is not None), None)


def member_of_this(name: str, environment: Environment, only_type: bool = False) -> Value | None:
    """Return a member of the current method's object; it is optimized out if the object is."""
    if not environment.is_cplusplus:
        return None
    this = environment.local("this")
    if this is None or not isinstance(this.bare, PointerType):
        return None
    if this.absence is not None:
        class_ = environment.complete_type(this.bare.target)
        return find_member(Value.absent(class_, this.absence), name, environment)
    object_ = pointee(follow(this, environment), environment, only_type)
    return find_member(object_, name, environment) or find_method(object_, name, environment)


def completed(value: Value, environment: Environment) -> Value:
    """Return the value with the definition of its type, if the type is only declared here."""
    complete = environment.complete_type(value.bare)
    if complete is value.bare:
        return value
    return Value(complete, value.storage, value.offset, value.data, absence=value.absence)


def place_of(value: Value, environment: Environment) -> Address:
    """Return the memory of an address operand: a pointer's target, the place of an array or function, or a number.

    Addresses wrap at 64 bits, like arithmetic on them.
    """
    followed = follow(value, environment)
    if isinstance(followed.bare, FunctionType) and followed.address is not None:
        return followed.address
    if c_types.is_void(followed.type):
        raise ExpressionError("Value can't be converted to integer.")
    pointer = decay(placed(followed, environment))
    return Address(c_types.pointer_space(pointer.type), pointer.as_int() & _ALL)


# Components of vectors under the names that OpenCL gives them.
_COMPONENTS = "xyzw"
_COUNTS = (1, 2, 3, 4, 8, 16)
"""The numbers of components that a vector can have."""


class ComponentStorage(Nowhere, Struct, frozen=True):
    """Components of a vector that has storage, in the order in which they were named, and with repetitions.

    ``stride`` is the size of a component in bytes. Bytes after the last component (the fourth place of a
    three-component vector) are zero.
    """

    vector: Value
    indices: tuple[int, ...]
    stride: int

    def read(self, offset: int, size: int) -> bytes:
        data = b"".join(self.vector.element(index).contents() for index in self.indices)
        return data.ljust(offset + size, b"\0")[offset : offset + size]

    def write(self, offset: int, data: bytes) -> None:
        for at in range(offset, min(offset + len(data), len(self.indices) * self.stride), self.stride):
            element = self.vector.element(self.indices[at // self.stride])
            element.store(data[at - offset : at - offset + self.stride])


def swizzle(base: Value, name: str) -> Value:
    """Return ``v.x``, ``v.s3``, ``v.xyz``, ``v.lo``: components of a vector as OpenCL names them (OpenCL C 6.3.7).

    They can be assigned to if the vector has storage and no component is named twice.
    """
    element, count, stride = base.elements()
    room = base.size // stride if stride else count
    indices = _swizzle_indices(name, count)
    if indices is None or any(index >= room for index in indices):
        raise ExpressionError(f"Invalid OpenCL vector component accessor {name}")
    if len(indices) == 1:
        return _component(base, indices[0], element, stride)
    type_ = vector_of(element, len(indices))
    if base.storage is not None and base.data is None and len(set(indices)) == len(indices):
        return Value(type_, ComponentStorage(base, tuple(indices), stride))
    data = b"".join(_component(base, index, element, stride).contents() for index in indices)
    return Value(type_, data=data.ljust(type_.size or 0, b"\0"))


def _component(base: Value, index: int, element: Type, stride: int) -> Value:
    """Return an element; a vector of three has a place for a fourth, which counts as an element here."""
    return base.part(element, index * stride)


def _swizzle_indices(name: str, count: int) -> list[int] | None:
    whole = 4 if count == 3 else count  # a vector of three is halved like one of four
    halves = {"lo": range(whole // 2), "hi": range(whole // 2, whole),
              "even": range(0, whole, 2), "odd": range(1, whole, 2)}
    if name in halves:
        return list(halves[name])
    named: list[int] | None = None
    if name and all(letter in _COMPONENTS for letter in name):
        named = [_COMPONENTS.index(letter) for letter in name]
    elif name and all(letter in "rgba" for letter in name):
        named = ["rgba".index(letter) for letter in name]
    elif len(name) > 1 and name[0] in "sS" and all(c in "0123456789abcdefABCDEF" for c in name[1:]):
        named = [int(c, 16) for c in name[1:]]
    if named is None or max(named) >= count or len(named) not in _COUNTS:
        return None
    return named


# Members of objects to which C++ pointers to members lead.
NULL = -1
"""The value of a null pointer to a data member in the Itanium ABI."""


def data_member(pointer: Value) -> tuple[MemberPointerType, int]:
    """Return the type and the number of a pointer to a data member.

    Raises `ExpressionError` for anything else, for a pointer to a member function, and for a null pointer.
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
    """Return an object as one of its base classes, or the object itself if it has no such base."""
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
    """Return the member's location from DW_AT_use_location; ``None`` if that is absent.

    The expression starts with the pointer's value and the object's location on the stack (DWARF 5, 5.14). Raises a
    `rocdbg.Error` if it cannot be evaluated or the object has no location.
    """
    if type_.use_location is None or type_.offset is None:
        return None
    entry = context.program.info.die(type_.offset)
    return results.use_location(entry, context, number, object_location(object_, context.for_unit(entry.unit)))


def object_location(object_: Value, context: FrameContext) -> LocationDescription:
    """Return an object's location, to be put on an expression's initial stack. Raises `ExpressionError` if it has none.
    """
    storage = object_.storage
    if isinstance(storage, LocationStorage):
        return storage.location.offset_by(8 * object_.offset)
    address = object_.address
    if address is None:
        raise ExpressionError("Attempt to take a member of a value not located in memory.")
    return memory_location(context, address.space, address.value)
