"""Integer expressions of C and C++ in source text, evaluated by the rules of these languages.

Undefined behaviour (overflow of signed numbers, division by zero, shifts beyond the width) gives no value: the text
does not determine the result of the compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from rocdbg.dwarf.info import Variable
from rocdbg.dwarf.info.types import BaseType, Encoding, PointerKind, PointerType, Type


class Kind(Struct, frozen=True):
    """The kind of a value: its size in bytes, and whether it is signed; ``step``: the size of a pointer's target.

    ``is_opaque``: a floating-point number, which is only copied.
    """

    size: int
    signed: bool = False
    is_bool: bool = False
    step: int = 0
    is_opaque: bool = False


INT: Final = Kind(4, True)
UNSIGNED: Final = Kind(4)
LONG: Final = Kind(8, True)
SIZE: Final = Kind(8)
BOOL: Final = Kind(1, is_bool=True)


class Number(Struct, frozen=True):
    """A literal."""

    kind: Kind
    value: int


class Name(Struct, frozen=True, eq=False):
    """A variable that never changes."""

    kind: Kind
    variable: Variable


class Position(Struct, frozen=True):
    """A position of a work-item: ``what`` is a `Where` name, ``axis`` is 0 to 2."""

    kind: Kind
    what: str
    axis: int


class Conversion(Struct, frozen=True, eq=False):
    """A value converted to another kind."""

    kind: Kind
    operand: Expression


class Operation(Struct, frozen=True, eq=False):
    """An operator with one or two operands of kind ``kind``; comparisons convert operands to their common kind."""

    kind: Kind
    operator: str
    operands: tuple[Expression, ...]


class Choice(Struct, frozen=True, eq=False):
    """``condition ? operands[0] : operands[1]``."""

    kind: Kind
    condition: Expression
    operands: tuple[Expression, Expression]


Expression: TypeAlias = Number | Name | Position | Conversion | Operation | Choice


def kind_of(type_: Type) -> Kind | None:
    """Return the kind of an integer, floating-point or pointer type; None for other types."""
    integer = type_.integer
    if integer is not None:
        return Kind(integer.size, integer.signed, integer.boolean) if integer.size <= 8 else None
    bare = type_.bare
    if isinstance(bare, PointerType) and bare.kind is PointerKind.POINTER and bare.byte_size == 8:
        return Kind(8, step=bare.target.size or 0)
    if isinstance(bare, BaseType) and bare.encoding == Encoding.FLOAT and bare.byte_size in (2, 4, 8):
        return Kind(bare.byte_size, is_opaque=True)
    return None


def promoted(kind: Kind) -> Kind:
    """Apply integer promotion."""
    return INT if kind.size < 4 else Kind(kind.size, kind.signed)


def common(left: Kind, right: Kind) -> Kind:
    """Apply the usual arithmetic conversions."""
    first, second = promoted(left), promoted(right)
    if first.size != second.size:
        return first if first.size > second.size else second
    return Kind(first.size, first.signed and second.signed)


def variables_of(expression: Expression) -> list[Variable]:
    """Return the variables in an expression."""
    match expression:
        case Name():
            return [expression.variable]
        case Conversion():
            return variables_of(expression.operand)
        case Operation():
            return [variable for operand in expression.operands for variable in variables_of(operand)]
        case Choice():
            parts = (expression.condition, *expression.operands)
            return [variable for operand in parts for variable in variables_of(operand)]
        case _:
            return []


COMPARISONS: Final[dict[str, Callable[[int, int], bool]]] = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}
_EXACT: Final[dict[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
}


def converted(value: int, kind: Kind) -> int:
    """Convert a number to a kind."""
    if kind.is_bool:
        return int(value != 0)
    value &= (1 << 8 * kind.size) - 1
    return value - (1 << 8 * kind.size) if kind.signed and value >> 8 * kind.size - 1 else value


class Reader(Struct):
    """Provides the inputs of expressions.

    ``variable`` returns the bits of a variable, ``position`` a position of the work-item; None if it is not known.
    """

    variable: Callable[[Variable], int | None]
    position: Callable[[str, int], int | None]


def evaluate(expression: Expression, reader: Reader) -> int | None:
    """Return the value of an expression, within its kind; None if it is not known or not defined."""
    match expression:
        case Number():
            return converted(expression.value, expression.kind)
        case Name():
            bits = reader.variable(expression.variable)
            return None if bits is None else converted(bits, expression.kind)
        case Position():
            place = reader.position(expression.what, expression.axis)
            return None if place is None else converted(place, expression.kind)
        case Conversion():
            value = evaluate(expression.operand, reader)
            return None if value is None else converted(value, expression.kind)
        case Choice():
            condition = evaluate(expression.condition, reader)
            if condition is None:
                return None
            value = evaluate(expression.operands[0 if condition else 1], reader)
            return None if value is None else converted(value, expression.kind)
        case Operation():
            return _operation(expression, reader)


def _operation(expression: Operation, reader: Reader) -> int | None:
    name, kind = expression.operator, expression.kind
    first = evaluate(expression.operands[0], reader)
    if first is None:
        return None
    if name in ("&&", "||"):
        if bool(first) is (name == "||"):
            return int(bool(first))
        second = evaluate(expression.operands[1], reader)
        return None if second is None else int(bool(second))
    if len(expression.operands) == 1:
        return int(not first) if name == "!" else _checked({"-": -first, "~": ~first}[name], kind)
    second = evaluate(expression.operands[1], reader)
    if second is None:
        return None
    if name in COMPARISONS:
        wide = common(expression.operands[0].kind, expression.operands[1].kind)
        return int(COMPARISONS[name](converted(first, wide), converted(second, wide)))
    if kind.step:
        return converted(first + kind.step * (second if name == "+" else -second), kind)
    if name in ("<<", ">>"):
        if not 0 <= second < 8 * kind.size:
            return None
        first = converted(first, kind)
        return converted(first << second if name == "<<" else first >> second, kind)
    first, second = converted(first, kind), converted(second, kind)
    if name in ("/", "%"):
        if not second:
            return None
        quotient = abs(first) // abs(second) * (-1 if (first < 0) != (second < 0) else 1)
        return _checked(quotient if name == "/" else first - quotient * second, kind)
    return _checked(_EXACT[name](first, second), kind)


def _checked(value: int, kind: Kind) -> int | None:
    """Return a result of a kind; None if signed numbers overflow."""
    found = converted(value, kind)
    return None if kind.signed and found != value else found
