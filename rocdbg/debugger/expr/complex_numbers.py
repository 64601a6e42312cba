"""Arithmetic of ``_Complex`` numbers."""

from __future__ import annotations

from rocdbg.debugger.errors import ExpressionError
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.value import Value, decode_float, encode_float
from rocdbg.dwarf.info.types import BaseType, Encoding, Type


def parts(value: Value) -> tuple[Value, Value]:
    """The real and the imaginary part of a complex number. Raises `ExpressionError` for any other value."""
    if not ctypes.is_complex(value.type):
        raise ExpressionError("expected a complex number")
    data = value.contents()
    element, middle = element_type(value.type), len(data) // 2
    return Value(element, data=data[:middle]), Value(element, data=data[middle:])


def element_type(type_: Type) -> Type:
    """The type of a complex type's parts."""
    size = ctypes.size_of(type_) // 2
    return {4: ctypes.FLOAT, 8: ctypes.DOUBLE}.get(size) or BaseType("half", Encoding.FLOAT, size)


def _number(value: Value) -> complex:
    if not ctypes.is_complex(value.type):
        return complex(value.as_float())
    data = value.contents()
    element, middle = element_type(value.type), len(data) // 2
    return complex(decode_float(element, data[:middle]), decode_float(element, data[middle:]))


def _value(type_: Type, number: complex) -> Value:
    element = element_type(type_)
    return Value(type_, data=encode_float(element, number.real) + encode_float(element, number.imag))


def complex_binary(operator: str, left: Value, right: Value, bool_type: Type) -> Value:
    """``left operator right`` where one of them is complex. Raises `ExpressionError`."""
    for side in (left, right):
        if not (ctypes.is_complex(side.type) or ctypes.is_float(side.type) or ctypes.is_integral(side.type)):
            raise ExpressionError("Argument to arithmetic operation not a number or boolean.")
    a, b = _number(left), _number(right)
    if operator in ("==", "!="):
        return Value.of_int(bool_type, (a == b) == (operator == "=="))
    types = [side.type for side in (left, right) if ctypes.is_complex(side.type)]
    type_ = max(types, key=ctypes.size_of)
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
    raise ExpressionError("Argument to arithmetic operation not a number or boolean.")


def complex_unary(operator: str, operand: Value, bool_type: Type) -> Value:
    """``-``, ``+``, ``~`` (the conjugate) and ``!``."""
    number = _number(operand)
    if operator == "!":
        return Value.of_int(bool_type, not number)
    return _value(operand.type, {"-": -number, "~": number.conjugate()}.get(operator, number))
