"""Values of the pseudocode: bits with a type, and exact arithmetic on them.

Numbers are unpacked to (sign, integer mantissa, exponent), computed exactly and rounded once. Only the transcendental
functions use the host's floating point; they are within an ulp of f64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


class Value:
    """``kind``: u, i, b (integers, "b" plain bits), f, bf, fp8, bf8 (floats), "pow2" (a power of two, ``raw`` the
    exponent), "sym" (``raw`` a name: INF, NAN, DENORM ...). ``raw`` of the others is not negative."""

    __slots__ = ("bits", "kind", "raw")

    def __init__(self, kind: str, bits: int, raw: object) -> None:
        self.kind, self.bits, self.raw = kind, bits, raw

    def __repr__(self) -> str:
        raw = f"{self.raw:#x}" if isinstance(self.raw, int) else self.raw
        return f"{self.kind}{self.bits}:{raw}"

    @property
    def is_float(self) -> bool:
        return self.kind in FLOAT_KINDS


FLOAT_KINDS = frozenset(("f", "bf", "fp", "sym", "pow2"))


@dataclass(frozen=True)
class Format:
    exponent_bits: int
    fraction_bits: int

    @property
    def bias(self) -> int:
        return (1 << self.exponent_bits - 1) - 1

    @property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def quiet(self) -> int:
        return 1 << self.fraction_bits - 1

    @property
    def nan(self) -> int:
        """The default NaN, sign set."""
        return 1 << self.width - 1 | self.infinity | self.quiet


FORMATS = {
    ("f", 16): Format(5, 10),
    ("f", 32): Format(8, 23),
    ("f", 64): Format(11, 52),
    ("bf", 16): Format(8, 7),
}

FINITE, INFINITE, NAN = range(3)
Number = tuple[int, int, int, int]
"""(class, sign, mantissa, exponent): mantissa * 2**exponent if finite; a NaN keeps its payload in the mantissa."""


def format_of(value: Value) -> Format:
    return FORMATS[value.kind, value.bits]


def unpack(value: Value) -> Number:
    if value.kind == "pow2":
        return FINITE, 0, 1, int(value.raw)  # type: ignore[call-overload]
    form = FORMATS[value.kind, value.bits]
    raw: int = value.raw  # type: ignore[assignment]
    sign = raw >> form.width - 1
    fraction = raw & (1 << form.fraction_bits) - 1
    exponent = raw >> form.fraction_bits & (1 << form.exponent_bits) - 1
    if exponent == (1 << form.exponent_bits) - 1:
        return (NAN if fraction else INFINITE), sign, fraction, 0
    if exponent:
        return FINITE, sign, fraction | 1 << form.fraction_bits, exponent - form.bias - form.fraction_bits
    return FINITE, sign, fraction, 1 - form.bias - form.fraction_bits


def pack(kind: str, bits: int, sign: int, mantissa: int, exponent: int, rounding: int) -> Value:
    """Round (-1)**sign * mantissa * 2**exponent. ``rounding``: 0 nearest even, 1 up, 2 down, 3 toward zero."""
    form = FORMATS[kind, bits]
    top = sign << form.width - 1
    if not mantissa:
        return Value(kind, bits, top)
    lowest = 1 - form.bias - form.fraction_bits
    wanted = max(mantissa.bit_length() - 1 + exponent - form.fraction_bits, lowest)
    shift = wanted - exponent
    if shift <= 0:
        kept, rest, half = mantissa << -shift, 0, 1
    else:
        kept, rest, half = mantissa >> shift, mantissa & (1 << shift) - 1, 1 << shift - 1
    up = {0: rest > half or (rest == half and kept & 1), 1: rest and not sign, 2: rest and sign, 3: False}[
        rounding
    ]
    if rest and up:
        kept += 1
    biased = wanted - lowest  # exponent field of a normal number, less one
    raw = kept + (biased << form.fraction_bits)
    if raw >= form.infinity:
        to_infinity = rounding == 0 or (rounding == 1 and not sign) or (rounding == 2 and sign)
        raw = form.infinity if to_infinity else form.infinity - 1
    return Value(kind, bits, top | raw)


def pack_number(kind: str, bits: int, number: Number, rounding: int) -> Value:
    group, sign, mantissa, exponent = number
    form = FORMATS[kind, bits]
    if group == FINITE:
        return pack(kind, bits, sign, mantissa, exponent, rounding)
    if group == INFINITE:
        return Value(kind, bits, sign << form.width - 1 | form.infinity)
    return Value(kind, bits, form.nan)


def quieted(value: Value) -> Value:
    return Value(value.kind, value.bits, value.raw | format_of(value).quiet)  # type: ignore[operator]


def is_nan(value: Value) -> bool:
    return value.kind in ("f", "bf") and unpack(value)[0] == NAN


def is_signaling(value: Value) -> bool:
    return is_nan(value) and not value.raw & format_of(value).quiet  # type: ignore[operator]


def is_subnormal(value: Value) -> bool:
    form = format_of(value)
    raw: int = value.raw  # type: ignore[assignment]
    return 0 < raw & ~(1 << form.width - 1) < 1 << form.fraction_bits


def flushed(value: Value) -> Value:
    if is_subnormal(value):
        return Value(value.kind, value.bits, value.raw & 1 << value.bits - 1)  # type: ignore[operator]
    return value


def convert(value: Value, kind: str, bits: int, rounding: int) -> Value:
    """Convert between float types; a NaN becomes quiet, and keeps its sign and the top bits of its payload."""
    if (value.kind, value.bits) == (kind, bits):
        return value
    number = unpack(value)
    if number[0] != NAN:
        return pack_number(kind, bits, number, rounding)
    source, target = format_of(value), FORMATS[kind, bits]
    shift = target.fraction_bits - source.fraction_bits
    payload = number[2] << shift if shift >= 0 else number[2] >> -shift
    return Value(kind, bits, number[1] << target.width - 1 | target.infinity | target.quiet | payload)


def nan_of(kind: str, bits: int, *operands: Value) -> Value:
    """The NaN result of an operation: the first NaN operand, made quiet, or the default one."""
    for operand in operands:
        if is_nan(operand):
            return quieted(convert(operand, kind, bits, 0))
    return Value(kind, bits, FORMATS[kind, bits].nan)


def add(kind: str, bits: int, a: Value, b: Value, rounding: int, negate: int = 0) -> Value:
    x, y = unpack(a), unpack(b)
    if x[0] == NAN or y[0] == NAN:
        return nan_of(kind, bits, a, b)
    y = (y[0], y[1] ^ negate, y[2], y[3])
    if x[0] == INFINITE or y[0] == INFINITE:
        if x[0] == y[0] and x[1] != y[1]:
            return nan_of(kind, bits)
        return pack_number(kind, bits, x if x[0] == INFINITE else y, rounding)
    return _sum(kind, bits, x, y, rounding)


def _sum(kind: str, bits: int, x: Number, y: Number, rounding: int) -> Value:
    low = min(x[3], y[3])
    left = (x[2] << x[3] - low) * (-1 if x[1] else 1)
    right = (y[2] << y[3] - low) * (-1 if y[1] else 1)
    total = left + right
    if total:
        return pack(kind, bits, total < 0, abs(total), low, rounding)
    sign = x[1] if x[1] == y[1] else int(rounding == 2)
    return pack(kind, bits, sign, 0, 0, rounding)


def _product(x: Number, y: Number) -> Number | None:
    """The product; None for infinity times zero."""
    sign = x[1] ^ y[1]
    if x[0] == INFINITE or y[0] == INFINITE:
        if (x[0] == FINITE and not x[2]) or (y[0] == FINITE and not y[2]):
            return None
        return INFINITE, sign, 0, 0
    return FINITE, sign, x[2] * y[2], x[3] + y[3]


def multiply(kind: str, bits: int, a: Value, b: Value, rounding: int) -> Value:
    x, y = unpack(a), unpack(b)
    if x[0] == NAN or y[0] == NAN:
        return nan_of(kind, bits, a, b)
    product = _product(x, y)
    return nan_of(kind, bits) if product is None else pack_number(kind, bits, product, rounding)


def fma(a: Value, b: Value, c: Value, rounding: int) -> Value:
    kind, bits = a.kind, a.bits
    x, y, z = unpack(a), unpack(b), unpack(c)
    if NAN in (x[0], y[0], z[0]):
        return nan_of(kind, bits, a, b, c)
    product = _product(x, y)
    if product is None or (product[0] == z[0] == INFINITE and product[1] != z[1]):
        return nan_of(kind, bits)
    if product[0] == INFINITE or z[0] == INFINITE:
        return pack_number(kind, bits, product if product[0] == INFINITE else z, rounding)
    return _sum(kind, bits, product, z, rounding)


def divide(kind: str, bits: int, a: Value, b: Value, rounding: int) -> Value:
    x, y = unpack(a), unpack(b)
    if x[0] == NAN or y[0] == NAN:
        return nan_of(kind, bits, a, b)
    sign = x[1] ^ y[1]
    zero_x, zero_y = x[0] == FINITE and not x[2], y[0] == FINITE and not y[2]
    if x[0] == y[0] == INFINITE or (zero_x and zero_y):
        return nan_of(kind, bits)
    if x[0] == INFINITE or zero_y:
        return pack_number(kind, bits, (INFINITE, sign, 0, 0), rounding)
    if y[0] == INFINITE or zero_x:
        return pack(kind, bits, sign, 0, 0, rounding)
    quotient, rest = divmod(x[2] << 200, y[2])
    return pack(kind, bits, sign, quotient << 1 | (rest != 0), x[3] - y[3] - 201, rounding)


def square_root(value: Value, rounding: int) -> Value:
    kind, bits = value.kind, value.bits
    group, sign, mantissa, exponent = unpack(value)
    if group == NAN:
        return nan_of(kind, bits, value)
    if (group == FINITE and not mantissa) or (group == INFINITE and not sign):
        return value
    if sign:
        return nan_of(kind, bits)
    shift = 200 + (exponent & 1)
    root = math.isqrt(mantissa << shift)
    return pack(
        kind, bits, 0, root << 1 | (root * root != mantissa << shift), (exponent - shift) // 2 - 1, rounding
    )


def to_float(value: Value) -> float:
    """The value as the host's f64; a NaN remains a NaN."""
    if value.kind in ("f", "bf"):
        group, sign, mantissa, exponent = unpack(value)
        if group == NAN:
            return math.nan
        if group == INFINITE:
            return -math.inf if sign else math.inf
        return math.copysign(math.ldexp(float(mantissa), exponent), -1 if sign else 1)
    return float(signed(value))


def from_float(number: float, kind: str, bits: int, rounding: int) -> Value:
    if math.isnan(number):
        return nan_of(kind, bits)
    sign = int(math.copysign(1, number) < 0)
    if math.isinf(number):
        return pack_number(kind, bits, (INFINITE, sign, 0, 0), rounding)
    mantissa, exponent = math.frexp(abs(number))
    return pack(kind, bits, sign, int(math.ldexp(mantissa, 53)), exponent - 53, rounding)


def signed(value: Value) -> int:
    """The integer that a value represents."""
    raw: int = value.raw  # type: ignore[assignment]
    if value.kind == "i" and raw >> value.bits - 1:
        return raw - (1 << value.bits)
    return raw


def integral(value: Value, way: str) -> Value:
    """``way``: trunc, floor, ceil or even."""
    group, sign, mantissa, exponent = unpack(value)
    if group == NAN:
        return quieted(value)
    if group == INFINITE or exponent >= 0 or not mantissa:
        return value
    whole, rest, half = mantissa >> -exponent, mantissa & (1 << -exponent) - 1, 1 << -exponent - 1
    up = {
        "trunc": False,
        "floor": bool(rest and sign),
        "ceil": bool(rest and not sign),
        "even": rest > half or (rest == half and whole & 1),
    }[way]
    return pack(value.kind, value.bits, sign, whole + bool(up), 0, 0)


def to_integer(value: Value, low: int, high: int) -> int:
    """Truncated and clamped; NaN is 0."""
    group, sign, mantissa, exponent = unpack(value)
    if group == NAN:
        return 0
    if group == INFINITE:
        return low if sign else high
    whole = mantissa << exponent if exponent >= 0 else mantissa >> -exponent
    return max(low, min(high, -whole if sign else whole))
