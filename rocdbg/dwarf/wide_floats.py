"""Floating-point numbers for which Python has no type: x87 extended (80, 96 bits) and IEEE quadruple (128 bits).

`WideFloat` is a float, rounded for code that only displays it, which also carries its exact bits and value. Arithmetic
is exact on fractions and rounded once, to nearest even, as IEEE 754 requires.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct

__all__ = ["WIDE_SIZES", "WideFloat", "wide_binary", "wide_from_bits", "wide_from_number"]

_BIAS = 16383
_EXPONENT_MASK = 0x7FFF
_LEAST_EXPONENT = 1 - _BIAS


class _Format(Struct, frozen=True):
    """`precision` counts the leading bit of the significand, which is stored if `explicit`."""

    precision: int
    explicit: bool

    @property
    def stored(self) -> int:
        return self.precision if self.explicit else self.precision - 1


_X87 = _Format(64, True)
_QUADRUPLE = _Format(113, False)
_FORMATS = {80: _X87, 96: _X87, 128: _QUADRUPLE}

WIDE_SIZES = frozenset(_FORMATS)
"""Bits of the types whose literals are `WideFloat`."""


class WideFloat(float):
    """A number of a wide format: `bits` is its representation; `exact` is its value, None if it is not finite."""

    __slots__ = ("bits", "exact", "size")
    bits: int
    exact: Fraction | None
    size: int

    def __neg__(self) -> WideFloat:
        return wide_from_bits(self.bits ^ 1 << _sign_position(self.size), self.size)

    def __abs__(self) -> WideFloat:
        return wide_from_bits(self.bits & ~(1 << _sign_position(self.size)), self.size)

    def __trunc__(self) -> int:
        return super().__trunc__() if self.exact is None else math.trunc(self.exact)


def _sign_position(size: int) -> int:
    return 127 if size == 128 else 79  # 96 bits are 80 and padding


def wide_from_bits(bits: int, size: int) -> WideFloat:
    """The number whose representation in the format of `size` bits (80, 96, 128) is `bits`."""
    form = _FORMATS[size]
    negative = bits >> _sign_position(size) & 1
    exponent = bits >> form.stored & _EXPONENT_MASK
    significand = bits & (1 << form.stored) - 1
    fraction = significand & (1 << form.precision - 1) - 1
    exact: Fraction | None = None
    if exponent == _EXPONENT_MASK:
        rounded = math.nan if fraction else math.inf
    else:
        if exponent and not form.explicit:
            significand |= 1 << form.precision - 1
        exact = _scaled(significand, max(exponent, 1) - _BIAS - form.precision + 1)
        rounded = _as_double(exact)
    number = WideFloat(-rounded if negative else rounded)
    number.bits = bits
    number.exact = -exact if exact is not None and negative else exact
    number.size = size
    return number


def _scaled(significand: int, exponent: int) -> Fraction:
    return Fraction(significand << exponent) if exponent >= 0 else Fraction(significand, 1 << -exponent)


def _as_double(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def wide_from_number(number: Fraction | float, size: int) -> WideFloat:
    """`number` rounded to nearest even in the format of `size` bits; too large ones become infinite."""
    if isinstance(number, WideFloat):
        if number.size == size:
            return number
        if number.exact is not None and number.exact != 0:
            return wide_from_number(number.exact, size)
    if isinstance(number, float) and (not math.isfinite(number) or number == 0):
        negative = math.copysign(1.0, number) < 0
        return _special(number, negative, size)
    exact = Fraction(number)
    if not exact:
        return wide_from_bits(0, size)
    form = _FORMATS[size]
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < _scaled(1, exponent):
        exponent -= 1
    exponent = max(exponent, _LEAST_EXPONENT)
    unit = exponent - form.precision + 1
    significand = round(magnitude / _scaled(1, unit))  # to even
    if significand >> form.precision:
        significand >>= 1
        exponent += 1
    if exponent > _BIAS:
        return _special(math.inf, exact < 0, size)
    biased = exponent + _BIAS if significand >> form.precision - 1 else 0
    return _assemble(exact < 0, biased, significand, size)


def _special(number: float, negative: bool, size: int) -> WideFloat:
    form = _FORMATS[size]
    if number == 0:
        return _assemble(negative, 0, 0, size)
    leading = 1 << form.precision - 1
    quiet = leading >> 1 if math.isnan(number) else 0
    return _assemble(negative, _EXPONENT_MASK, leading | quiet, size)


def _assemble(negative: bool, biased: int, significand: int, size: int) -> WideFloat:
    form = _FORMATS[size]
    bits = significand & (1 << form.stored) - 1 | biased << form.stored | negative << _sign_position(size)
    return wide_from_bits(bits, size)


def wide_binary(size: int, double: Callable[[float, float], float]) -> Callable[[float, float], WideFloat]:
    """Return a function that applies `double` to the exact values of numbers in a wide format, and rounds once.

    `double` must work on fractions too. Its arguments are plain floats where an operand or the result is not a
    fraction: infinities, NaN, zeros (for their sign) and division by zero.
    """

    def operation(a: float, b: float) -> WideFloat:
        exact_a, exact_b = getattr(a, "exact", None), getattr(b, "exact", None)
        if exact_a and exact_b:
            result = double(exact_a, exact_b)
            if result:
                return wide_from_number(result, size)
        elif exact_a is not None and exact_b is not None and (exact_a or exact_b):
            # One of the operands is zero, so the other determines the result; a double keeps that operand's sign but
            # not its range.
            rounded = double(_small(a), _small(b))
            if rounded and math.isfinite(rounded):
                return wide_from_number(double(exact_a, exact_b), size)
            return wide_from_number(rounded, size)
        return wide_from_number(double(_small(a), _small(b)), size)

    return operation


def _small(number: float) -> float:
    """Return a plain float that has the sign of `number` and is zero, infinite or NaN if `number` is, otherwise 1 or
    -1.
    """
    exact = getattr(number, "exact", None)
    if not exact:
        return float(number) + 0.0 if math.isnan(number) else math.copysign(abs(float(number)), number)
    return 1.0 if exact > 0 else -1.0
