"""Literals: vectors, arrays, addresses in a named space."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from rocdbg.arch.address_spaces import UnknownAddressSpaceError, address_space_by_name
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.operators import convert
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.value_access import place_of
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ArrayType, PointerType, Type, VectorType

_HEXADECIMAL = re.compile("[0-9a-fA-F]{1,16}")


@lru_cache(maxsize=1024)
def integer_literal(number: int, suffix: str, radix: int) -> Value:
    """Return a number as written, with the type that its size, suffix and radix determine."""
    return Value.of_int(c_types.literal_type(number, suffix, radix), number)


def vector_literal(
    type_: Type, elements: Sequence[syntax.Expression], operand: Callable[[syntax.Expression], Value]
) -> Value:
    """Return ``(float4)(1, 2, 3, 4)``, ``(float4)(1)`` (the same in each element) or ``(float4)(pair, pair)``.

    ``type_`` is a vector type, ``operand`` evaluates an element. Raises `ExpressionError` if the number of elements is
    wrong.
    """
    vector = type_.strip_typedefs()
    assert isinstance(vector, VectorType)
    given: list[Value] = []
    for value in map(operand, elements):
        given += value.each_element() if isinstance(value.bare, VectorType) else [value]
    if len(given) not in (1, vector.count):
        raise ExpressionError(f"A literal of type {type_} needs 1 or {vector.count} elements, but has {len(given)}.")
    values = [convert(value, vector.element).contents() for value in given]
    if len(values) == 1:
        values *= vector.count
    return Value(type_, data=b"".join(values).ljust(vector.byte_size, b"\0"))


def space_number(name: str) -> int:
    """Return the DWARF number of a named address space. Raises `ExpressionError`."""
    try:
        return address_space_by_name(name).number
    except UnknownAddressSpaceError:
        raise ExpressionError(f"Address space {name} not recognised by the architecture") from None


def array_literal(values: Sequence[Value]) -> Value:
    """Return ``{1, 2, 3}``. Raises `ExpressionError` if elements differ in size or there are none."""
    if not values:
        raise ExpressionError("bad array bounds (0, -1)")
    first = values[0]
    if any(value.size != first.size for value in values):
        raise ExpressionError("array elements must all be the same size")
    return Value(c_types.array_of(first.type, len(values)), data=b"".join(value.contents() for value in values))


def space_address(space: str, address: Value) -> Value:
    """Return ``local#0x10``: a pointer into a named address space; it keeps the target type if ``address`` is one."""
    target: Type = address.bare.target if isinstance(address.bare, PointerType) else c_types.VOID
    return Value.of_int(c_types.pointer_to(target, space_number(space)), address.as_int())


def comma_list(node: syntax.Expression) -> list[syntax.Expression]:
    """Return the operands of a chain of comma operators."""
    elements = []
    while isinstance(node, syntax.Binary) and node.operator == ",":
        elements.append(node.right)
        node = node.left
    return [node, *reversed(elements)]


def hexadecimal(name: str, environment: Environment) -> Value:
    """Read a name without any other meaning as a number, if the input radix is 16. Raises `NoSymbolError`."""
    if environment.input_radix == 16 and _HEXADECIMAL.fullmatch(name):
        number = int(name, 16)
        return Value.of_int(c_types.literal_type(number, "", 16), number)
    raise environment.types.missing(name)


def size_value(type_: Type, align: bool, environment: Environment) -> Value:
    """Return ``sizeof`` a type, or its alignment. The size of a reference is that of its target."""
    type_ = environment.complete_type(type_ if align else c_types.referred(type_))
    return Value.of_int(c_types.INT, c_types.alignment_of(type_) if align else c_types.size_of(type_))  # GDB's size_t


def typed_memory(type_: Type, address: Value, environment: Environment) -> Value:
    """Return ``{type} address``. Raises `ExpressionError` for a string that is shorter than the type."""
    if isinstance(address.bare, ArrayType) and address.address is None:  # a string's own bytes
        size = c_types.size_of(type_)
        if size > address.size:
            raise ExpressionError(f"The string has only {address.size} bytes, but type {type_} needs {size}.")
        return Value(type_, data=address.contents()[:size])
    place = place_of(address, environment)
    return environment.at_address(type_, place.space, place.value)
