"""2**x and log2 x of f32 as the transcendental unit of GFX11 and GFX12 computes them, bit for bit.

Both are cubics with one set of coefficients per 1/32 of an octave, evaluated in fixed point with every intermediate
result truncated or rounded; MODE has no effect. Coefficients and widths were derived from captures of a gfx1100 and a
gfx1201 (github.com/ROCm/rocm-systems, emulation/rocjitsu). Qn is a fixed-point number with n bits after the point.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.sim.core.builder import F32, I1, I32, I64, Value
from rocdbg.sim.semantics.floats import arithmetic, is_infinite, sign_bit

Row = tuple[int, int, int, int]
"""Coefficients of the powers 0 to 3 of the distance from the interval's start."""

_EXP: tuple[Row, ...] = (  # Q28, Q28, Q35, Q24
    (268435456, 5814541, 8060268, 29), (274313427, 5941862, 8236765, 29), (280320109, 6071972, 8417127, 30),
    (286458319, 6204931, 8601438, 31), (292730941, 6340801, 8789785, 31), (299140913, 6479647, 8982256, 32),
    (305691246, 6621533, 9178942, 33), (312385013, 6766525, 9379934, 33), (319225354, 6914693, 9585328, 34),
    (326215479, 7066105, 9795219, 35), (333358667, 7220833, 10009707, 36), (340658273, 7378948, 10228891, 36),
    (348117717, 7540526, 10452874, 37), (355740503, 7705642, 10681762, 38), (363530205, 7874374, 10915663, 39),
    (371490480, 8046800, 11154685, 40), (379625062, 8223002, 11398940, 41), (387937769, 8403062, 11648545, 42),
    (396432501, 8587066, 11903614, 42), (405113242, 8775098, 12164270, 43), (413984066, 8967247, 12430633, 44),
    (423049137, 9163605, 12702828, 45), (432312707, 9364261, 12980984, 46), (441779122, 9569312, 13265230, 47),
    (451452826, 9778853, 13555701, 48), (461338356, 9992982, 13852532, 49), (471440350, 10211799, 14155863, 50),
    (481763549, 10435409, 14465836, 52), (492312797, 10663914, 14782597, 53), (503093043, 10897424, 15106293, 54),
    (514109347, 11136046, 15437078, 55), (525366876, 11379894, 15775106, 56),
)
_LOG: tuple[Row, ...] = (  # Q30, Q28, Q34, Q37
    (15, 12102179, 12095174, 1925858), (47667825, 11735468, 11378345, 1799053), (93912517, 11390291, 10714741, 1610016),
    (138816594, 11064855, 10111507, 1477533), (182455591, 10757500, 9557803, 1359325),
    (224898847, 10466758, 9048378, 1253542), (266210154, 10191316, 8578611, 1158417),
    (306448312, 9930003, 8144494, 1072666), (345667679, 9681753, 7742500, 995087),
    (383918558, 9445614, 7369567, 924970),
    (421247645, 9220718, 7022931, 861214), (457698312, 9006284, 6700175, 803096), (493310964, 8801596, 6399165, 750066),
    (528123258, 8606005, 6118007, 701755), (562170399, 8418918, 5854955, 657310), (595485263, 8239793, 5608532, 616715),
    (628098719, 8068131, 5377341, 579376), (660039693, 7903475, 5160150, 544955), (691335339, 7745406, 4955875, 513361),
    (722011229, 7593536, 4763477, 484038), (752091435, 7447506, 4582059, 456830), (781598650, 7306987, 4410807, 431594),
    (810554297, 7171673, 4248984, 408222), (838978616, 7041279, 4095937, 386761), (866890752, 6915542, 3950988, 366593),
    (894308853, 6794217, 3813578, 347636), (921250083, 6677075, 3683220, 330396), (947730761, 6563905, 3559471, 313859),
    (973766367, 6454506, 3441820, 298469), (999371610, 6348694, 3329908, 284397),
    (1024560488, 6246298, 3223482, 270890), (1049346329, 6147160, 3121894, 258238),
)
_LOG_SECOND_HALF: Row = (47667912, 11735350, 11363743, 1719989)
"""The row for the half of interval 1 that is farther from 1."""
_BELOW_ONE: tuple[Row, ...] = ((0, 12102203, 12101979, 2035248), (100 << 16, 12102221, 12097323, 2088428))
"""Rows for up to 1/128 below 1, and up to 1/64 below."""
_ABOVE_ONE: tuple[Row, ...] = (
    (0, 12102203, 12102094, 1999052), (192, 12102186, 12097614, 1948887), (2856, 12102072, 12084310, 1883467),
)
"""Rows for up to 1/128 above 1, up to 1/64, and up to 1/32."""

_ONE, _INFINITY = 0x3F80_0000, 0x7F80_0000
_EXP_ONE, _EXP_HIGH, _EXP_LOW = 0x3380_0000, 0x4300_0000, 0x42FC_0000
"""If |x| is below 2**-24, 2**x is 1; from 128 on it is infinite; below -126 it is 0."""
_NEAR_BELOW, _NEAR_ABOVE = 0x3F7C_0000, 0x3F84_0000
"""Between 1 - 1/64 and 1 + 1/32, logarithms have separate rows."""
_FRACTION, _LEADING = 0x7F_FFFF, 0x80_0000
_LINEAR_BITS, _CUBIC_BITS = 24, 24


class _Coefficients:
    """A row chosen per lane. Each row is stored as two numbers, which halves the cost of choosing."""

    def __init__(self, outer: Value, inner: Value) -> None:
        self.constant, self.linear = outer.lshr(_LINEAR_BITS), outer & (1 << _LINEAR_BITS) - 1
        self.quadratic, self.cubic = inner.lshr(_CUBIC_BITS), inner & (1 << _CUBIC_BITS) - 1


def _packed(row: Row) -> tuple[int, int]:
    return row[0] << _LINEAR_BITS | row[1], row[2] << _CUBIC_BITS | row[3]


def chosen_row(index: Value, rows: Sequence[Row], instead: tuple[Value, Row] | None = None) -> _Coefficients:
    """Row ``index`` of 32 or 64, or a row of ``instead`` where its condition holds."""
    columns = []
    for part in range(2):
        values = [index.builder.const(_packed(row)[part], I64) for row in rows]
        bit = 0
        while len(values) > 1:
            odd = (index.lshr(bit) & 1).ne(0)
            values = [odd.select(values[n + 1], values[n]) for n in range(0, len(values), 2)]
            bit += 1
        value = values[0]
        if instead is not None:
            value = instead[0].select(_packed(instead[1])[part], value)
        columns.append(value)
    return _Coefficients(*columns)


def _stepped(conditions: Sequence[Value], rows: Sequence[Row]) -> _Coefficients:
    """The row after the last condition that holds."""
    columns = []
    for part in range(2):
        value = conditions[0].builder.const(_packed(rows[0])[part], I64)
        for condition, row in zip(conditions, rows[1:], strict=True):
            value = condition.select(_packed(row)[part], value)
        columns.append(value)
    return _Coefficients(*columns)


def round_even(value: Value, bits: int | Value) -> Value:
    """Drop the lowest ``bits`` bits (at least one), with ties to even."""
    half = 1 << bits - 1 if isinstance(bits, int) else value.builder.const(1, I64).shl(bits - 1)
    return (value + (half - 1) + (value.lshr(bits) & 1)).lshr(bits)


def _rounded_product(a: Value, b: Value) -> Value:
    """The product of two 24-bit numbers without 23 bits, rounded to at most 24 significant bits."""
    product = a * b
    return product.uge(1 << 47).select(round_even(product, 24).shl(1), round_even(product, 23))


def bit_width(value: Value) -> Value:
    """Number of bits of an I64, not counting leading zeros."""
    return 64 - value.ctlz()


def packed_float(magnitude: Value, point: int | Value, *, up: Value | None = None, more: int = 0) -> Value:
    """f32 bits of a positive fixed-point number with ``point`` bits after the point, truncated to 24 bits and rounded
    up where ``up`` holds; ``more`` is added to the last place. A carry increments the exponent."""
    leading = bit_width(magnitude) - 1
    shift = (leading - 23).smax(0)
    if up is not None:
        magnitude = magnitude + up.select(magnitude.builder.const(1, I64).shl(shift) - 1, 0)
    mantissa = magnitude.lshr(shift) + more
    return (leading - point + 127).shl(23) + mantissa - _LEADING


def exp2(x: Value) -> Value:
    """2**x of an f32 that is not subnormal."""
    bits, negative = x.bits().zext(I64), sign_bit(x)
    magnitude = bits & 0x7FFF_FFFF
    exponent = (magnitude.lshr(23) - 103).smax(0).smin(30)
    absolute = (magnitude & _FRACTION | _LEADING).shl(exponent).lshr(18)
    # Q29. Negative numbers are complemented, not negated: integers are 2**-29 too small.
    position = negative.select(~absolute, absolute)
    fraction = position & 0xFF_FFFF
    row = chosen_row(position.lshr(24) & 31, _EXP)
    product = row.linear * fraction
    linear = product.uge(1 << 47).select(round_even(product, 24), round_even(product, 23).lshr(1))
    coordinate = fraction.lshr(6)
    inner = round_even(row.quadratic.shl(7) + row.cubic * coordinate, 7)
    quadratic = _rounded_product(inner, (coordinate * coordinate).lshr(12))
    mantissa = round_even((row.constant + linear).shl(8) + quadratic, 13)
    result = (position.ashr(29) + 126).shl(23) + mantissa
    result = magnitude.ult(_EXP_ONE).select(_ONE, result)
    result = (~negative & magnitude.uge(_EXP_HIGH)).select(_INFINITY, result)
    result = (negative & magnitude.ugt(_EXP_LOW)).select(0, result)
    return x.is_nan().select(arithmetic(x, x), result.trunc(I32).bitcast(F32))


def log2(x: Value) -> Value:
    """log2 x of an f32 that is not subnormal."""
    bits = x.bits().zext(I64)
    result = _log2_far(bits)
    result = (bits.uge(_NEAR_BELOW) & bits.ult(_ONE)).select(_log2_below_one(bits), result)
    result = (bits.ugt(_ONE) & bits.ult(_NEAR_ABOVE)).select(_log2_above_one(bits), result)
    result = bits.eq(_ONE).select(0, result)
    result = is_infinite(x).select(_INFINITY, result)
    result = sign_bit(x).select(0xFFC0_0000, result)
    result = (bits & 0x7FFF_FFFF).ult(1 << 23).select(0xFF80_0000, result)
    return x.is_nan().select(arithmetic(x, x), result.trunc(I32).bitcast(F32))


def _log2_far(bits: Value) -> Value:
    fraction, interval = bits & 0x3_FFFF, bits.lshr(18) & 31
    second_half = interval.eq(1) & fraction.uge(0x2_0000)
    row = chosen_row(interval, _LOG, (second_half, _LOG_SECOND_HALF))
    linear = (row.linear * fraction).lshr(16)
    inner = round_even(row.quadratic.shl(22) - row.cubic * (fraction.shl(1) + 1), 22)
    quadratic = _rounded_product(inner, (fraction * fraction).lshr(12))
    # Q35, with its sign; the magnitude is truncated for positive and rounded up for negative results.
    fixed = (bits.lshr(23) - 127).shl(35) + (row.constant + linear).shl(5) - quadratic
    negative = fixed.slt(0)
    number = packed_float(negative.select(-fixed, fixed), 35, up=negative)
    return negative.select(number | 0x8000_0000, number)


def _normalisation(distance: Value) -> Value:
    """By how many bits, in steps of 4, a distance from 1 is shifted up so that its leading one is among the top 4 of 18
    bits.
    """
    return (18 - bit_width(distance).smin(18)) & ~3


def _log2_below_one(bits: Value) -> Value:
    distance = _ONE - bits  # in units of 2**-24
    row = _stepped([distance.uge(0x2_0000)], _BELOW_ONE)
    up = _normalisation(distance)

    def cut(value: Value, count: int) -> Value:
        low = (count - up).smax(0)
        return value.lshr(low).shl(low)

    linear = cut((row.linear * distance).shl(1), 14)
    inner = round_even(row.quadratic.shl(22) + row.cubic * (distance - 1), 22)
    product = inner * cut(distance * distance, 12)
    quadratic = (product + (bits.builder.const(1, I64).shl(38 - up) - 1)).lshr(38 - up)
    fixed = linear.shl(2) + quadratic.shl(16 - up) - row.constant
    return packed_float(fixed, 50, up=bits.builder.const(1, I1)) | 0x8000_0000


def _log2_above_one(bits: Value) -> Value:
    distance = bits - _ONE  # in units of 2**-23
    second = distance.uge(0x1_0000)
    row = _stepped([second, distance.uge(0x2_0000)], _ABOVE_ONE)
    up = second.select(0, _normalisation(distance))
    normalised = distance.shl(up)
    linear = (row.linear * normalised).lshr(13).shl(2)
    inner = round_even(row.quadratic.shl(22) - row.cubic * (distance.shl(1) + 1), 22)
    quadratic = _rounded_product(inner, (normalised * distance).lshr(12))
    return packed_float(row.constant + linear - quadratic, 35 + up, more=1)
