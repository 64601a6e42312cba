"""Casts of values: conversions of scalars, reinterpretation of bytes, vectors from elements."""

from __future__ import annotations

from rocdbg.arch.address_spaces import AddressSpace, address_space
from rocdbg.debugger.base.errors import ExpressionError, NoSymbolError
from rocdbg.debugger.expr.class_casts import base_part, cast_pointer
from rocdbg.debugger.expr.dynamic_types import whole_object
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.operators import convert
from rocdbg.debugger.expr.value_access import decay
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import (
    ArrayType,
    ClassType,
    FunctionType,
    MemberPointerType,
    PointerType,
    Type,
    VectorType,
    VoidType,
)

POINTER = 8
"""The size of a pointer in bytes."""


def cast(
    type_: Type, value: Value, environment: Environment, implicit: bool = False, is_address: bool = False
) -> Value:
    """Convert a scalar. A pointer cast keeps the address space unless the type names one.

    An ``implicit`` conversion (in an assignment), or a conversion to another space, translates an address into the
    address of the same place in the other space. A null pointer, or the number 0, becomes the null pointer of the type;
    an operand written as an address (``is_address``: ``private_lane#0xffffffff``) keeps that address. Raises
    `ExpressionError` if the place has no address in the other space.
    """
    stripped = type_.bare
    source = value.bare
    keeps = is_address and isinstance(stripped, PointerType) and stripped.address_class is None
    if isinstance(stripped, PointerType) and not keeps and is_null(value):
        return Value.of_int(type_, c_types.null_number(stripped))
    if (
        isinstance(stripped, PointerType)
        and isinstance(source, PointerType)
        and not implicit
        and stripped.address_class is None
        and source.address_class
    ):
        space = source.address_class
        type_ = PointerType(stripped.target, stripped.kind, source.byte_size, space)
    elif isinstance(stripped, PointerType) and isinstance(source, PointerType):
        value = _between_spaces(value, source, stripped, environment)
    elif isinstance(source, PointerType) and c_types.size_of(type_) == 8 and c_types.is_integral(type_):
        # A number has no address space: use the generic address of the place, as the language does.
        flat = environment.memory.generic_address(source.address_class or 0, value.as_int())
        value = value if flat is None else Value.of_int(c_types.UNSIGNED_LONG, flat)
    return convert(value, type_)


def _between_spaces(value: Value, source: PointerType, target: PointerType, environment: Environment) -> Value:
    """Return the address, in another space, of the place at an address, if it has one there."""
    have, want = source.address_class or 0, target.address_class or 0
    flat = {AddressSpace.GLOBAL, AddressSpace.GENERIC}
    if have == want or {have, want} <= flat:
        return value
    place = environment.memory.generic_address(have, value.as_int())
    if want not in flat and place is not None:
        aperture = environment.memory.generic_address(want, 0)
        size = 1 << 8 * address_space(want).address_size
        place = place - aperture if aperture is not None and aperture <= place < aperture + size else None
    if place is not None:
        return Value.of_int(c_types.UNSIGNED_LONG, place)
    raise ExpressionError(
        f"This {address_space(have).name} address cannot be converted to a pointer into the "
        f"{address_space(want).name} address space."
    )


def is_null(value: Value) -> bool:
    """Whether a value is a null pointer, or the number 0 used as one."""
    if isinstance(value.bare, PointerType):
        return not value.is_true()
    return c_types.is_integral(value.type) and value.as_int() == 0


def reference_cast(type_: PointerType, value: Value, environment: Environment) -> Value:
    """Return a reference to an object, seen as its own class, as one of its bases or as a class that contains it; or a
    reference to a value of the same type.

    Raises `ExpressionError` for a value that is not in memory, such as the result of a conversion.
    """
    part = base_part(value, type_.target, environment)
    if part is None and isinstance(value.bare, ClassType) and value.address is not None:
        whole = cast_pointer(
            Value.of_int(c_types.pointer_to(value.type, value.address.space), value.address.value), type_, environment
        )
        part = environment.at_address(type_.target, c_types.pointer_space(whole.type), whole.as_int())
    if part is None and type_.target.bare == value.bare:
        part = value
    if part is None and c_types.is_pointer(type_.target) and c_types.is_pointer(value.type):
        part = value.with_type(type_.target) if value.address is None else environment.at_address(
            type_.target, value.address.space, value.address.value
        )
    if part is None or part.address is None:
        raise ExpressionError("Attempt to take address of value not located in memory.")
    space = part.address.space
    return Value.of_int(PointerType(type_.target, type_.kind, 8, space or None), part.address.value)


def reinterpretable(wanted: Type, source: Type) -> bool:
    """Whether ``reinterpret_cast`` allows the types: two pointers, or a pointer and an integer."""
    pointers = PointerType | MemberPointerType
    if isinstance(wanted, pointers) and isinstance(source, pointers):
        return type(wanted) is type(source)
    return (isinstance(wanted, pointers) and c_types.is_integral(source)) or (
        isinstance(source, pointers) and c_types.is_integral(wanted)
    )


def dynamic_cast(type_: Type, value: Value, environment: Environment) -> Value:
    """``dynamic_cast`` of a pointer, by the object's dynamic type; null if the object has no such part.

    Raises `ExpressionError` for types that C++ does not allow.
    """
    target, source = type_.strip_typedefs(), value.bare
    if not isinstance(target, PointerType):
        raise ExpressionError("Argument to dynamic_cast must be a pointer or reference type")
    wanted = target.target.strip_typedefs().strip_qualifiers()
    if not isinstance(wanted, ClassType | VoidType):
        raise ExpressionError("Argument to dynamic_cast must be pointer to class or `void *'")
    if c_types.is_integral(value.type) and value.as_int() == 0:
        return cast(type_, value, environment)
    if not isinstance(source, PointerType) or not isinstance(source.target.bare, ClassType):
        raise ExpressionError("Argument to dynamic_cast does not have pointer to class type")
    space = source.address_class or 0
    object_ = environment.at_address(source.target, space, value.as_int())
    if is_null(value):
        return cast(type_, value, environment)
    part = base_part(object_, wanted, environment)
    whole = object_ if part is not None else whole_object(object_, environment)
    if whole is None:
        raise ExpressionError("Argument to dynamic_cast does not have polymorphic type")
    if part is None:
        part = whole if isinstance(wanted, VoidType) else base_part(whole, wanted, environment, public=True)
    if part is None or part.address is None:
        missing = c_types.pointer_to(target.target, space)
        return Value.of_int(missing, c_types.null_number(missing))
    return Value.of_int(c_types.pointer_to(target.target, part.address.space), part.address.value)


def in_one_space(left: Value, right: Value, environment: Environment) -> tuple[Value, Value]:
    """Convert two pointers into different address spaces to the generic space, if both spaces are part of it."""
    a, b = left.bare, right.bare
    if not (isinstance(a, PointerType) and isinstance(b, PointerType)):
        return left, right
    spaces = a.address_class or 0, b.address_class or 0
    flat = {AddressSpace.GLOBAL, AddressSpace.GENERIC}
    if spaces[0] == spaces[1] or set(spaces) <= flat:
        return left, right
    moved = []
    for value, type_, space in ((left, a, spaces[0]), (right, b, spaces[1])):
        place = value.as_int() if space in flat else environment.memory.generic_address(space, value.as_int())
        if is_null(value):
            place = 0
        if place is None:
            return left, right
        moved.append(Value.of_int(c_types.pointer_to(type_.target, AddressSpace.GENERIC), place))
    return moved[0], moved[1]


def character_type(prefix: str, environment: Environment) -> Type:
    """Return the type of characters whose quotes have the prefix ``L``, ``u`` or ``U``; in C these are typedefs.

    Raises `NoSymbolError` if the program does not define the type.
    """
    if not prefix:
        return c_types.CHAR
    name = {"L": "wchar_t", "u": "char16_t", "U": "char32_t"}[prefix]
    basic = c_types.basic_type(name)
    if environment.is_cplusplus and basic is not None:
        return basic
    found = environment.types.find(name, "")
    if found is None:
        raise NoSymbolError(name, f"No type named {name}.")
    return found


def object_cast(type_: Type, value: Value, environment: Environment) -> Value:
    """Cast a value to a class or array type. Raises `ExpressionError` if the value cannot be reinterpreted."""
    if isinstance(type_.strip_typedefs(), ArrayType):
        if isinstance(value.bare, ArrayType | FunctionType) and c_types.size_of(type_) != POINTER:
            raise ExpressionError("Invalid cast.")  # here an array counts as a pointer to its elements
        return reinterpreted(type_, value, environment)
    part = base_part(value, type_, environment)
    return part.with_type(part.type) if part is not None else reinterpreted(type_, decay(value), environment)


def reinterpreted(type_: Type, value: Value, environment: Environment) -> Value:
    """Return the bytes of a value as another type, if C has no conversion; the type has the same size, or the value is
    in memory.

    GDB does the same. Raises `ExpressionError` for a value of another size that is not in memory.
    """
    if isinstance(value.bare, PointerType) and value.size < POINTER == c_types.size_of(type_):
        return Value(type_, data=value.contents().ljust(POINTER, b"\0"))  # the pointer has an address space of its own
    if value.size == c_types.size_of(type_) and (not isinstance(value.bare, PointerType) or value.size == POINTER):
        return value.with_type(type_)
    address = value.address
    if address is None:
        raise ExpressionError("Invalid cast.")
    return environment.at_address(type_, address.space, address.value)


def is_reinterpreted(type_: Type, value: Value) -> bool:
    """Whether a cast to a scalar type reinterprets the bytes of the value (a structure, or a pointer cast to a float).
    """
    target, source = type_.strip_typedefs(), value.bare
    if c_types.is_complex(target) or not c_types.is_scalar(target):
        return False
    if c_types.is_complex(source) or isinstance(source, VectorType):
        return True
    return isinstance(source, ClassType) or (
        isinstance(source, PointerType) and c_types.is_float(target)
    ) or (isinstance(target, PointerType) and c_types.is_float(source))


def aggregate_cast(type_: Type, value: Value) -> Value:
    """Return a structure or array as another one of the same size; sizes may differ between a class and its bases.

    Raises `ExpressionError` for other sizes.
    """
    between_classes = isinstance(value.bare, ClassType) and isinstance(type_.strip_typedefs(), ClassType)
    if between_classes or value.size == c_types.size_of(type_):
        return value.with_type(type_)
    raise ExpressionError("Invalid cast.")
