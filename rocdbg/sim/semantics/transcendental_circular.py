"""Sine and cosine of f32 and f16 as the transcendental unit of GFX11 and GFX12 computes them, bit for bit.

The method is that of `transcendental_unit`, with figures from the same source. The argument, in revolutions, is
truncated to 31 bits after the point and folded into an eighth of a revolution, each sixteenth of which has one cubic
for the sine and one for the cosine. A distance that is folded is measured from just below the interval's end, so it is
one unit less. f16 is computed as f32 and rounded to nearest even.
"""

from __future__ import annotations

from rocdbg.sim.core.builder import F16, F32, I32, I64, Value
from rocdbg.sim.semantics.floats import arithmetic, format_of, from_bits, is_infinite
from rocdbg.sim.semantics.transcendental_unit import Row, bit_width, chosen_row, packed_float, round_even

_SINE: tuple[Row, ...] = (  # magnitudes; all but the constant are in Q26 of the interval's length
    (0, 3294200, 0, 1322), (3292874, 3290232, 3968, 1320), (6577818, 3278340, 7928, 1312),
    (9846914, 3258548, 11864, 1304), (13092288, 3230908, 15778, 1290), (16306122, 3195480, 19650, 1274),
    (19480674, 3152356, 23476, 1256), (22608294, 3101636, 27246, 1234), (25681450, 3043444, 30948, 1210),
    (28692736, 2977924, 34576, 1182), (31634898, 2905224, 38122, 1152), (34500850, 2825532, 41576, 1118),
    (37283686, 2739032, 44928, 1082), (39976702, 2645928, 48176, 1042), (42573412, 2546452, 51304, 1002),
    (45067558, 2440844, 54310, 958),
)
"""Per interval: its start, and the coefficients of the length (added), its square (subtracted) and its cube
(subtracted)."""
_COSINE: tuple[Row, ...] = (
    (67108864, 0, 80872, 32), (67028028, 161636, 80774, 98), (66785716, 322884, 80482, 162),
    (66382510, 483352, 79996, 226), (65819384, 642664, 79318, 290), (65097694, 800416, 78448, 352),
    (64219178, 956248, 77390, 414), (63185952, 1109776, 76144, 476), (62000504, 1260628, 74716, 536),
    (60665694, 1408448, 73104, 594), (59184734, 1552872, 71320, 652), (57561192, 1693552, 69364, 708),
    (55798980, 1830152, 67242, 762), (53902344, 1962348, 64956, 814), (51875852, 2089812, 62514, 864),
    (49724388, 2212244, 59922, 912),
)
"""As `_SINE`, but the linear term is subtracted and the cubic one is added."""
# The cosine's quadratic coefficient decreases along the interval; hardware counts it up from the end.
_ROWS = (*_SINE, *((a, b, c - d, d) for a, b, c, d in _COSINE))

_FRACTION, _LEADING, _SIGN, _ONE = 0x7F_FFFF, 0x80_0000, 0x8000_0000, 0x3F80_0000
_SMALL_SINE = 0x39C0_0000
"""Below this magnitude (3/8192), a sine is computed as a product."""
_TWO_PI = 6.283182621002197
"""0x40c90fd5, six units in the last place below 2 pi."""
_FLAT_COSINE = 46592
"""Cosines of less than this many 2**-31 revolutions are 1."""
_POSITION_BITS = 24
"""A position within an interval is in units of 2**-24 of its length."""
_POSITION, _EIGHTH = (1 << _POSITION_BITS) - 1, 1 << 28
_FIELD = (1 << 20) - 1


def sine(x: Value) -> Value:
    """Sine of ``x`` (f16, f32) revolutions; infinity gives the default NaN."""
    return _circular(x, False)


def cosine(x: Value) -> Value:
    """Cosine of ``x`` (f16, f32) revolutions; infinity gives the default NaN."""
    return _circular(x, True)


def _circular(x: Value, is_cosine: bool) -> Value:
    single = x.fpext(F32) if x.type is F16 else x
    bits = single.bits().zext(I64)
    magnitude = bits & _SIGN - 1
    result = _folded(bits, is_cosine)
    if not is_cosine:
        with x.builder.nearest():
            product = (single * _TWO_PI).bits().zext(I64)
        result = magnitude.ult(_SMALL_SINE).select(product, result)
    value = result.trunc(I32).bitcast(F32)
    if x.type is F16:
        with x.builder.nearest():
            value = value.fptrunc(F16)
    # Here, because a conversion to f16 need not keep the sign of a NaN.
    value = is_infinite(x).select(from_bits(x, format_of(x).default_nan), value)
    return x.is_nan().select(arithmetic(x, x), value)


def _folded(bits: Value, is_cosine: bool) -> Value:
    """f32 bits of the sine or cosine of a finite number; not for sines of small numbers."""
    const = bits.builder.const
    # Numbers from 2**23 on are whole: all bits after the point are zero.
    up = (bits.lshr(23) & 0xFF) - (127 - 8)
    mantissa = bits & _FRACTION | _LEADING
    phase = mantissa.shl(up.smax(0).smin(31)).lshr((-up).smax(0).smin(31)) & 0x7FFF_FFFF
    quadrant, within = phase.lshr(29), phase & 2 * _EIGHTH - 1
    falls = within.uge(_EIGHTH)
    short = falls.zext(I64)
    distance = falls.select(2 * _EIGHTH - within, within)
    counted = distance - short
    by_cosine = (quadrant & 1).ne(0) ^ falls
    if is_cosine:
        by_cosine = ~by_cosine
    interval, position = counted.lshr(_POSITION_BITS), counted & _POSITION
    row = chosen_row(by_cosine.zext(I64).shl(4) | interval, _ROWS)

    inner_position = by_cosine.select(~position & _POSITION, position) & ~63
    inner = round_even(row.quadratic.shl(_POSITION_BITS) + row.cubic * inner_position, 17)
    square = position.lshr(7) * position.lshr(7)
    first = ~by_cosine & interval.eq(0)
    number = first.select(
        _first_interval(position, short, falls, row.linear, inner, square),
        (~by_cosine & interval.eq(1)).select(
            _second_interval(position, row.constant, row.linear, inner, square),
            _other_intervals(position, row.constant, row.linear, inner, square, by_cosine),
        ),
    )
    number = (by_cosine & counted.ult(_FLAT_COSINE)).select(_ONE, number)
    negative = (quadrant & 2).ne(0)
    negative = negative ^ ((quadrant & 1).ne(0) if is_cosine else (bits & _SIGN).ne(0))
    number = negative.select(number | _SIGN, number)
    return (~by_cosine & distance.eq(0)).select(const(0, I64), number)


def _rounded_field(position: Value, bits: int) -> Value:
    """Drop the lowest ``bits`` bits with rounding, but without a carry out of the field of 20 bits."""
    last = position.lshr(20 + bits).shl(20) | _FIELD
    return (position + (1 << bits - 1)).lshr(bits).umin(last).shl(bits)


def _other_intervals(
    position: Value, constant: Value, linear: Value, inner: Value, square: Value, by_cosine: Value
) -> Value:
    product = linear * _rounded_field(position, 4)
    rounded = product.uge(1 << 45).select(round_even(product, 22).shl(1), round_even(product, 21))
    quadratic = inner * square.lshr(10)
    # Rounded to at most 24 significant bits of Q34, then rounded up to Q28.
    half = quadratic.uge(1 << 47).select(position.builder.const(1 << 23, I64), 1 << 22)
    quadratic = (quadratic - half + ((1 << 29) - 1)).lshr(29)
    total = constant.shl(3) + by_cosine.select(-rounded, rounded) - quadratic.shl(1)
    return packed_float(total, 29)


def _second_interval(position: Value, constant: Value, linear: Value, inner: Value, square: Value) -> Value:
    product = (linear * _rounded_field(position, 2)).lshr(20)
    quadratic = round_even(inner * square.lshr(10), 23)
    return packed_float(constant.shl(8) + product.shl(4) - quadratic, 34)


def _first_interval(
    position: Value, short: Value, falls: Value, linear: Value, inner: Value, square: Value
) -> Value:
    """The sine near 0, where the position is shifted up in steps of 4 bits, and the result is adjusted accordingly."""
    whole = position + short
    width = bit_width(whole)
    up, linear_up = (24 - width).smax(0) & ~3, (25 - width).smax(0) & ~3
    saturated = falls & (whole.shl(up) & _FIELD).eq(0)
    product = (linear * (whole.shl(linear_up) - saturated.zext(I64))).lshr(linear_up - up + 18)
    beyond = (up - 10).smax(0)
    quadratic = round_even(inner * square.lshr((10 - up).smax(0)), 23 - beyond)
    return packed_float(product.shl(2) - quadratic, up + 34)
