"""What a cast makes of a value: conversions of scalars, other looks at the same bytes, vectors from elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.arch.address_spaces import AddressSpace, UnknownAddressSpaceError, address_space_by_name
from rocdbg.debugger.errors import ExpressionError
from rocdbg.debugger.expr import ast
from rocdbg.debugger.expr.environment import Environment
from rocdbg.debugger.expr.operators import convert
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ClassType, PointerType, Type, VectorType


def cast(type_: Type, value: Value, environment: Environment, implicit: bool = False) -> Value:
    """Convert a scalar. A pointer cast keeps the address space unless the type names one.

    An ``implicit`` conversion (of an assignment) makes of an address in one space that of the same place in another.
    Raises `ExpressionError` where there is none.
    """
    stripped = type_.strip_typedefs()
    source = value.bare
    if (
        isinstance(stripped, PointerType)
        and isinstance(source, PointerType)
        and not implicit
        and stripped.address_class is None
        and source.address_class
    ):
        space = source.address_class
        type_ = PointerType(stripped.target, stripped.kind, source.byte_size, space)
    elif isinstance(stripped, PointerType) and isinstance(source, PointerType) and implicit:
        value = _between_spaces(value, source, stripped, environment)
    elif isinstance(source, PointerType) and ctypes.size_of(type_) == 8 and ctypes.is_integral(type_):
        # a number has no address space: that of the place in the generic one, as in the language
        flat = environment.memory.generic_address(source.address_class or 0, value.as_int())
        value = value if flat is None else Value.of_int(ctypes.UNSIGNED_LONG, flat)
    return convert(value, type_)


def _between_spaces(value: Value, source: PointerType, target: PointerType, environment: Environment) -> Value:
    """An address of one space as the same place's address in another, where one exists."""
    have, want = source.address_class or 0, target.address_class or 0
    flat = {AddressSpace.GLOBAL, AddressSpace.GENERIC}
    if have == want or {have, want} <= flat or value.as_int() == 0:
        return value
    place = environment.memory.generic_address(have, value.as_int()) if want in flat else None
    if place is not None:
        return Value.of_int(ctypes.UNSIGNED_LONG, place)
    raise ExpressionError(
        f"Cannot assign a {AddressSpace(have).name.lower()} address to a pointer to "
        f"{AddressSpace(want).name.lower()}."
    )


def aggregate_cast(type_: Type, value: Value) -> Value:
    """A structure or array as another of the same size; between classes of any size, as a derived class and its bases.

    Raises `ExpressionError` for other sizes.
    """
    between_classes = isinstance(value.bare, ClassType) and isinstance(type_.strip_typedefs(), ClassType)
    if between_classes or value.size == ctypes.size_of(type_):
        return value.with_type(type_)
    raise ExpressionError("Invalid cast.")


def vector_literal(
    type_: Type, elements: Sequence[ast.Expression], operand: Callable[[ast.Expression], Value]
) -> Value:
    """``(float4)(1, 2, 3, 4)``, or ``(float4)(1)`` for the same in each element.

    ``type_`` is a vector type, ``operand`` evaluates an element. Raises `ExpressionError` for another number of them.
    """
    vector = type_.strip_typedefs()
    assert isinstance(vector, VectorType)
    if len(elements) not in (1, vector.count):
        raise ExpressionError(f"A {type_} takes {vector.count} elements.")
    values = [convert(operand(element), vector.element).contents() for element in elements]
    if len(values) == 1:
        values *= vector.count
    return Value(type_, data=b"".join(values).ljust(vector.byte_size, b"\0"))


def space_number(name: str) -> int:
    """The DWARF number of a named address space. Raises `ExpressionError`."""
    try:
        return int(address_space_by_name(name).space)
    except UnknownAddressSpaceError:
        raise ExpressionError(f"Address space {name} not recognised by the architecture") from None
