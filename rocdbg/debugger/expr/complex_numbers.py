"""Arithmetic of ``_Complex`` numbers."""

from __future__ import annotations

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value, decode_float, encode_float
from rocdbg.dwarf.info.types import BaseType, Encoding, Type

COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")


def parts(value: Value) -> tuple[Value, Value]:
    """Return the real and the imaginary part of a complex number. Raises `ExpressionError` for any other value."""
    if not c_types.is_complex(value.type):
        raise ExpressionError("expected a complex number")
    data = value.contents()
    element, middle = element_type(value.type), len(data) // 2
    return Value(element, data=data[:middle]), Value(element, data=data[middle:])


def element_type(type_: Type) -> Type:
    """Return the type of a complex type's parts."""
    size = c_types.size_of(type_) // 2
    return {4: c_types.FLOAT, 8: c_types.DOUBLE}.get(size) or BaseType("half", Encoding.FLOAT, size)


def _number(value: Value) -> complex:
    if not c_types.is_complex(value.type):
        return complex(value.as_float())
    data = value.contents()
    element, middle = element_type(value.type), len(data) // 2
    return complex(decode_float(element, data[:middle]), decode_float(element, data[middle:]))


def _value(type_: Type, number: complex) -> Value:
    element = element_type(type_)
    return Value(type_, data=encode_float(element, number.real) + encode_float(element, number.imag))


def complex_binary(operator: str, left: Value, right: Value, bool_type: Type) -> Value:
    """Return ``left operator right``, where one of the operands is complex. Raises `ExpressionError`."""
    for side in (left, right):
        if not (c_types.is_complex(side.type) or c_types.is_float(side.type) or c_types.is_integral(side.type)):
            raise ExpressionError("Argument to arithmetic operation not a number or boolean.")
    if operator in COMPARISONS:
        both = c_types.is_complex(left.type) and c_types.is_complex(right.type)
        if not both or operator not in ("==", "!="):
            test = "equality test" if operator in ("==", "!=") else "ordering comparison"
            raise ExpressionError(f"Invalid type combination in {test}.")
    a, b = _number(left), _number(right)
    if operator in ("==", "!="):
        return Value.of_int(bool_type, (a == b) == (operator == "=="))
    types = [side.type for side in (left, right) if c_types.is_complex(side.type)]
    type_ = max(types, key=c_types.size_of)
    if operator == "+":
        return _value(type_, a + b)
    if operator == "-":
        return _value(type_, a - b)
    if operator == "*":
        return _value(type_, a * b)
    if operator == "/":
        if not b:
            raise ExpressionError("Division by zero")
        return _value(type_, a / b)
    raise ExpressionError("Invalid binary operation on numbers.")


def complex_unary(operator: str, operand: Value, bool_type: Type) -> Value:
    """``-``, ``+``, ``~`` (the conjugate) and ``!``."""
    number = _number(operand)
    if operator == "!":
        return Value.of_int(bool_type, not number)
    changed = {
        "-": complex(0 - number.real, 0 - number.imag),  # as in GDB, which subtracts from zero
        "~": complex(number.real, 0 - number.imag),
    }
    return _value(operand.type, changed.get(operator, number))


def to_complex(value: Value, type_: Type) -> Value:
    """Convert a number to a complex type. Raises `ExpressionError` for other values."""
    if not (c_types.is_complex(value.type) or c_types.is_scalar(value.type)):
        raise ExpressionError("cannot cast non-number to complex")
    return _value(type_, _number(value))
