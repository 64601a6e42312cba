"""C's operators on values. Pure: memory is only accessed through the values themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.complex_numbers import complex_binary, complex_unary, to_complex
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.vector_types import vector_of
from rocdbg.dwarf.info.types import (
    ArrayType,
    ClassType,
    FunctionType,
    Integer,
    MemberPointerType,
    PointerType,
    QualifiedType,
    Type,
    TypedefType,
    VectorType,
    VoidType,
    numeric,
)

_COMPARE: dict[str, Callable[[float | int, float | int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}
_NO_NUMBER = "Argument to arithmetic operation not a number or boolean."
COMPARISONS = frozenset(_COMPARE)
"""The operators whose result is a truth value."""


def binary(operator: str, left: Value, right: Value, bool_type: Type = c_types.INT) -> Value:
    """``left operator right`` for arithmetic, comparison, shifts and pointer arithmetic.

    Arrays must have decayed already. ``bool_type`` is the type of comparisons: int in C, bool in C++.
    """
    integers = left.type.integer, right.type.integer
    if integers[0] is not None and integers[1] is not None and operator in _COMPARE:
        # fast path for conditions; the general code below does the same
        a, b = _common(left.as_int(), integers[0], right.as_int(), integers[1])
        return Value.of_int(bool_type, _COMPARE[operator](a, b))
    if left.type is c_types.INT and right.type is c_types.INT and operator not in ("<<", ">>"):
        # fast path for counters of scripts
        return Value.of_int(c_types.INT, _integer(operator, left.as_int(), right.as_int()))
    if c_types.is_complex(left.type) or c_types.is_complex(right.type):
        return complex_binary(operator, left, right, bool_type)
    if isinstance(left.bare, VectorType) or isinstance(right.bare, VectorType):
        return _vector_binary(operator, left, right)
    assert operator not in ("&&", "||"), "short-circuit operators are the evaluator's"
    if isinstance(left.bare, MemberPointerType) or isinstance(right.bare, MemberPointerType):
        return _member_pointer_binary(operator, left, right, bool_type)
    left, right = _numbered(left), _numbered(right)
    left_pointer, right_pointer = _is_address(left), _is_address(right)
    if operator in ("==", "!=") and (_is_text(left) or _is_text(right)):
        return Value.of_int(bool_type, operator == "!=")  # a literal has no location to compare
    if left_pointer or right_pointer:
        return _pointer_binary(operator, left, right, left_pointer, right_pointer, bool_type)
    if not (c_types.is_scalar(left.type) and c_types.is_scalar(right.type)):
        unions = isinstance(left.bare, ClassType) and isinstance(right.bare, ClassType)
        if operator in ("==", "!=") and unions and left.size == right.size:
            return Value.of_int(bool_type, (left.contents() == right.contents()) == (operator == "=="))
        functions = isinstance(left.bare, FunctionType) and isinstance(right.bare, FunctionType)
        if operator in ("==", "!=") and functions:
            return Value.of_int(bool_type, (left.address == right.address) == (operator == "=="))
        if operator in _COMPARE:
            raise ExpressionError(_not_comparable(operator))
        raise ExpressionError(_NO_NUMBER)
    if operator in ("<<", ">>"):
        return shift(operator, left, right)
    if c_types.is_bool(left.type) and c_types.is_bool(right.type) and operator not in _COMPARE:
        if operator not in ("&", "|", "^"):
            raise ExpressionError("Invalid operation on booleans.")
        return Value.of_int(left.type, _integer(operator, left.as_int(), right.as_int()))
    type_ = c_types.arithmetic_type(left.type, right.type)
    if operator in _COMPARE:
        if c_types.is_float(type_):
            answer = _COMPARE[operator](left.as_float(), right.as_float())
        else:
            answer = _COMPARE[operator](convert(left, type_).as_int(), convert(right, type_).as_int())
        return Value.of_int(bool_type, answer)
    if c_types.is_float(type_):
        return Value.of_float(type_, _float(operator, left.as_float(), right.as_float()))
    a, b = convert(left, type_).as_int(), convert(right, type_).as_int()
    return Value.of_int(type_, _integer(operator, a, b))


def _common(a: int, a_type: Integer, b: int, b_type: Integer) -> tuple[int, int]:
    """Apply C's usual arithmetic conversions to two integers."""
    size_a, size_b = max(4, a_type.size), max(4, b_type.size)
    signed_a, signed_b = a_type.signed or a_type.size < 4, b_type.signed or b_type.size < 4
    signed = signed_a and signed_b if size_a == size_b else signed_a if size_a > size_b else signed_b
    if signed:
        return a, b
    mask = (1 << 8 * max(size_a, size_b)) - 1
    return a & mask, b & mask


def _not_comparable(operator: str) -> str:
    test = "equality test" if operator in ("==", "!=") else "ordering comparison"
    return f"Invalid type combination in {test}."


def _numbered(value: Value) -> Value:
    """Return an untyped null pointer as a number, which is how GDB treats it."""
    return Value.of_int(c_types.INT, 0) if c_types.is_null_type(value.type) else value


def _is_text(value: Value) -> bool:
    """Whether a value is an array that is not in memory."""
    return isinstance(value.bare, ArrayType) and value.data is not None


def _member_pointer_binary(operator: str, left: Value, right: Value, bool_type: Type) -> Value:
    if operator not in ("==", "!="):
        raise ExpressionError(_NO_NUMBER)
    if not (isinstance(left.bare, MemberPointerType) and isinstance(right.bare, MemberPointerType)):
        raise ExpressionError("Invalid type combination in equality test.")
    return Value.of_int(bool_type, (left.contents() == right.contents()) == (operator == "=="))


def _is_address(value: Value) -> bool:
    return isinstance(value.bare, PointerType)


def _integer(operator: str, a: int, b: int) -> int:
    if operator == "+":
        return a + b
    if operator == "-":
        return a - b
    if operator == "*":
        return a * b
    if operator in ("/", "%"):
        if b == 0:
            raise ExpressionError("Division by zero")
        quotient = abs(a) // abs(b)
        if (a < 0) != (b < 0):
            quotient = -quotient
        return quotient if operator == "/" else a - b * quotient
    if operator == "&":
        return a & b
    if operator == "|":
        return a | b
    if operator == "^":
        return a ^ b
    raise ExpressionError("Invalid binary operation on numbers.")


def _float(operator: str, a: float, b: float) -> float:
    """Compute as GDB's host does: a NaN result has its sign bit set."""
    number = _float_result(operator, a, b)
    return -abs(number) if math.isnan(number) and not (math.isnan(a) or math.isnan(b)) else number


def _float_result(operator: str, a: float, b: float) -> float:
    if operator == "+":
        return a + b
    if operator == "-":
        return a - b
    if operator == "*":
        try:
            return a * b
        except OverflowError:
            return math.copysign(math.inf, a) * math.copysign(1.0, b)
    if operator == "/":
        if b == 0:
            if a == 0 or math.isnan(a):
                return math.nan
            return math.copysign(math.inf, a) * math.copysign(1.0, b)
        return a / b
    raise ExpressionError("Integer-only operation on floating point number.")


def _pointer_binary(
    operator: str, left: Value, right: Value, left_pointer: bool, right_pointer: bool, bool_type: Type
) -> Value:
    if operator in _COMPARE:
        sides = left.type, right.type
        if not all(map(c_types.is_scalar, sides)) or any(map(c_types.is_float, sides)):
            raise ExpressionError(_not_comparable(operator))
        return Value.of_int(bool_type, _COMPARE[operator](_compared(left, right), _compared(right, left)))
    if operator in ("+", "-") and left_pointer and not right_pointer and not c_types.is_float(right.type):
        return advance(left, right.as_int() if operator == "+" else -right.as_int())
    if operator == "+" and right_pointer and not left_pointer and not c_types.is_float(left.type):
        return advance(right, left.as_int())
    if operator == "-" and left_pointer and right_pointer:
        size = _target_size(left)
        if size != _target_size(right):
            raise ExpressionError(
                "First argument of `-' is a pointer and second argument is neither\n"
                "an integer nor a pointer of the same type."
            )
        difference = left.as_int() - right.as_int()
        return Value.of_int(c_types.LONG, int(difference / size) if difference % size else difference // size)
    raise ExpressionError(_NO_NUMBER)


def _compared(value: Value, other: Value) -> int:
    """Return the number of a compared value; if ``other`` is a pointer, an integer 0 is a null pointer."""
    number = value.as_int()
    return number if number or _is_address(value) else c_types.null_number(other.type)


def need_no_operator(operator: str, operands: Sequence[Value]) -> None:
    """Raise `ExpressionError` for objects, which need a user-defined operator; as in GDB, unions are excepted."""
    if c_types.is_class(operands[0].type):
        raise ExpressionError(f"Structure has no component named operator{operator}.")
    if any(c_types.is_class(operand.type) for operand in operands):
        raise ExpressionError("Can't do that binary op on that type")


def advance(pointer: Value, count: int) -> Value:
    """Return a pointer moved by ``count`` elements."""
    return Value.of_int(pointer.type, pointer.as_int() + count * _target_size(pointer))


def stepped(value: Value, operator: str) -> Value:
    """Return the result of ``++`` or ``--``."""
    one = 1 if operator == "++" else -1
    if isinstance(value.bare, ArrayType | FunctionType) and not getattr(value.bare, "of_member", False):
        raise ExpressionError("Invalid cast.")
    if c_types.is_bool(value.type):
        raise ExpressionError("Invalid operation on booleans.")
    type_ = value.type
    if c_types.is_complex(type_) or c_types.is_void(type_) or isinstance(value.bare, ClassType | FunctionType):
        raise ExpressionError("Not a numeric type.")
    if c_types.is_pointer(value.type):
        return advance(value, one)
    return convert(binary("+", value, Value.of_int(c_types.INT, one)), value.type)


def _target_size(pointer: Value) -> int:
    stripped = pointer.bare
    assert isinstance(stripped, PointerType)
    target = stripped.target.strip_typedefs()
    if isinstance(target, VoidType):
        return 1
    return max(1, c_types.size_of(target))


def unary(operator: str, operand: Value, bool_type: Type = c_types.INT) -> Value:
    """``- + ~ !``."""
    if isinstance(operand.bare, VectorType) and operator != "!":
        type_, _, _ = operand.elements()
        parts = [convert(unary(operator, e), type_).contents() for e in operand.each_element()]
        return Value(operand.bare, data=b"".join(parts).ljust(operand.size, b"\0"))
    if c_types.is_complex(operand.type):
        return complex_unary(operator, operand, bool_type)
    if operator == "!":
        return Value.of_int(bool_type, c_types.is_void(operand.type) or not operand.is_true())
    if not c_types.is_scalar(operand.type) or _is_address(operand):
        what = {"-": "negate operation not a number.", "+": "positive operation not a number."}
        raise ExpressionError(f"Argument to {what.get(operator, 'complement operation not an integer, boolean.')}")
    if operator == "~":
        if c_types.is_float(operand.type):
            raise ExpressionError("Argument to complement operation not an integer, boolean.")
        return Value.of_int(_unary_type(operand), ~operand.as_int())
    type_ = _unary_type(operand)
    if c_types.is_float(type_):
        number = operand.as_float()
        return Value.of_float(type_, -number if operator == "-" else number)
    integer = operand.as_int()
    return Value.of_int(type_, -integer if operator == "-" else integer)


def _unary_type(operand: Value) -> Type:
    """Return the type of a unary result. As in GDB, a type that is not promoted keeps qualifiers and enumerations."""
    if c_types.is_integral(operand.type) and operand.size < c_types.size_of(c_types.INT):
        return c_types.INT
    return _without_typedefs(operand.type)


def _without_typedefs(type_: Type) -> Type:
    """Return a type without typedefs, but with its qualifiers."""
    if isinstance(type_, QualifiedType):
        return QualifiedType(type_.qualifier, _without_typedefs(type_.target))
    return _without_typedefs(type_.target) if isinstance(type_, TypedefType) else type_


def _vector_binary(operator: str, left: Value, right: Value) -> Value:
    """Apply an operator element by element; a scalar operand is first spread over the elements."""
    shape = left if isinstance(left.bare, VectorType) else right
    element, count, _ = shape.elements()
    for side in (left, right):
        if isinstance(side.bare, VectorType) and not _same_elements(side, element, count):
            raise ExpressionError("Cannot perform operation on vectors with different types")
        if not isinstance(side.bare, VectorType) and not c_types.is_scalar(side.type):
            raise ExpressionError(_NO_NUMBER)
    logical = operator in ("&&", "||")
    compare = logical or operator in _COMPARE
    result = numeric(c_types.signed_of(c_types.size_of(element))) if compare else element
    parts = []
    for index in range(count):
        a = left.element(index) if isinstance(left.bare, VectorType) else convert(left, element)
        b = right.element(index) if isinstance(right.bare, VectorType) else convert(right, element)
        if logical:
            truths = a.is_true(), b.is_true()
            answer = Value.of_int(result, all(truths) if operator == "&&" else any(truths))
        else:
            answer = binary(operator, a, b)
        if compare:
            # where a vector comparison is true, it gives all ones
            answer = Value.of_int(result, -answer.as_int())
        parts.append(convert(answer, result).contents())
    type_ = vector_of(result, count) if compare else shape.bare  # as in GDB, typedefs are not kept
    return Value(type_, data=b"".join(parts).ljust(shape.size, b"\0"))


def vector_not(operand: Value) -> Value:
    """OpenCL's ``!v``: all ones where an element is zero."""
    element, count, _ = operand.elements()
    result = numeric(c_types.signed_of(c_types.size_of(element)))
    parts = [Value.of_int(result, -(not each.is_true())).contents() for each in operand.each_element()]
    return Value(vector_of(result, count), data=b"".join(parts).ljust(operand.size, b"\0"))


def _same_elements(vector: Value, element: Type, count: int) -> bool:
    own, own_count, _ = vector.elements()
    kinds = [(c_types.is_float(t), c_types.is_signed(t), c_types.size_of(t)) for t in (own, element)]
    return own_count == count and kinds[0] == kinds[1]


def convert(value: Value, type_: Type) -> Value:
    """Convert a value to another arithmetic, pointer, vector or class type, as an implicit conversion or cast.

    Raises `ExpressionError` if C has no such conversion.
    """
    target = type_.strip_typedefs()
    source = value.bare
    if isinstance(target, VoidType):
        return Value(type_, data=b"")
    if isinstance(source, VoidType):
        raise ExpressionError("Invalid cast.")
    if isinstance(target, VectorType):
        return _to_vector(value, type_, target)
    if c_types.is_complex(target):
        return to_complex(value, type_)
    if isinstance(target, MemberPointerType) and c_types.is_integral(source) and not value.as_int():
        to_function = isinstance(target.target.bare, FunctionType)
        return Value(type_, data=(b"\0" if to_function else b"\xff") * c_types.size_of(type_))  # a null pointer
    if isinstance(target, ClassType | ArrayType):
        if isinstance(source, type(target)) and source.size == target.size:
            return value.with_type(type_)
        raise ExpressionError("Invalid cast.")
    if isinstance(source, VectorType | ArrayType | ClassType):
        if source.size == target.size:
            return Value(type_, data=value.contents())
        raise ExpressionError("Invalid cast.")
    if c_types.is_bool(target):
        # as in GDB, which first converts a fraction to an integer
        return Value.of_int(type_, abs(value.as_float()) >= 1 if c_types.is_float(source) else value.is_true())
    if c_types.is_float(target):
        return Value.of_float(type_, value.as_float())
    if not c_types.is_scalar(target):
        raise ExpressionError("Invalid cast.")
    if c_types.is_float(source):
        number = value.as_float()
        if not math.isfinite(number):
            # saturate as v_cvt_* does: 0 for NaN, the limits for infinities
            bits = 8 * c_types.size_of(target)
            signed = c_types.is_signed(target)
            high = (1 << (bits - signed)) - 1
            low = -(1 << (bits - 1)) if signed else 0
            return Value.of_int(type_, 0 if math.isnan(number) else (high if number > 0 else low))
        return Value.of_int(type_, int(number))
    return Value.of_int(type_, value.as_int())


def _to_vector(value: Value, type_: Type, target: VectorType) -> Value:
    if isinstance(value.bare, VectorType | ArrayType):
        if value.size == target.size:
            return Value(type_, data=value.contents())
        raise ExpressionError("Cannot convert between vector values of different sizes")
    if not c_types.is_scalar(value.type):
        raise ExpressionError("Invalid cast.")
    lane = convert(value, target.element).contents()
    return Value(target, data=(lane * target.count).ljust(target.byte_size, b"\0"))


# Shifts of numbers, and the warnings about their counts.


def shift(operator: str, left: Value, right: Value) -> Value:
    """Compute ``<<`` or ``>>``; the result has the left operand's type after promotion. Raises `ExpressionError` for
    operands that are not integers.
    """
    if not (c_types.is_integral(left.type) and c_types.is_integral(right.type)):
        raise ExpressionError("Integer-only operation on floating point number.")
    type_ = c_types.promote(left.type)
    number, count = left.as_int(), right.as_int()
    bits = 8 * c_types.size_of(type_)
    if count < 0 or count >= bits:
        # the hardware would use count modulo width; C leaves it undefined and GDB gives 0 or the sign
        number = -1 if operator == ">>" and number < 0 and count > 0 else 0
        return Value.of_int(type_, number)
    return Value.of_int(type_, number << count if operator == "<<" else number >> count)


def shift_warning(operator: str, left: Value, right: Value) -> str | None:
    """Return the warning about a shift by too many bits, or by a negative number."""
    if operator not in ("<<", ">>") or not (c_types.is_integral(left.type) and c_types.is_integral(right.type)):
        return None
    word, count = "left" if operator == "<<" else "right", right.as_int()
    if count < 0:
        return f"{word} shift count is negative"
    if count >= 8 * c_types.size_of(c_types.promote(left.type)):
        return f"{word} shift count >= width of type"
    return None
