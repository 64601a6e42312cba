"""Shifts of numbers, and the warnings about their counts."""

from __future__ import annotations

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value


def shift(operator: str, left: Value, right: Value) -> Value:
    """``<<`` or ``>>``, of the left side's type after promotion. Raises `ExpressionError` for what is no integer."""
    if not (c_types.is_integral(left.type) and c_types.is_integral(right.type)):
        raise ExpressionError("Integer-only operation on floating point number.")
    type_ = c_types.promote(left.type)
    number, count = left.as_int(), right.as_int()
    bits = 8 * c_types.size_of(type_)
    if count < 0 or count >= bits:
        # the hardware's answer would be count modulo width; C leaves it open and GDB says 0 or the sign
        number = -1 if operator == ">>" and number < 0 and count > 0 else 0
        return Value.of_int(type_, number)
    return Value.of_int(type_, number << count if operator == "<<" else number >> count)


def shift_warning(operator: str, left: Value, right: Value) -> str | None:
    """The warning for a shift by more bits than there are, or by fewer than none."""
    if operator not in ("<<", ">>") or not (c_types.is_integral(left.type) and c_types.is_integral(right.type)):
        return None
    word, count = "left" if operator == "<<" else "right", right.as_int()
    if count < 0:
        return f"{word} shift count is negative"
    if count >= 8 * c_types.size_of(c_types.promote(left.type)):
        return f"{word} shift count >= width of type"
    return None
