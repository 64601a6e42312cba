"""Reciprocals and square roots of f32 as the transcendental unit of GFX11 and GFX12 computes them.

The method is that of `transcendental_unit`: cubics in fixed point, with figures from the same captures of every
mantissa. For 1 in 3000 mantissas (reciprocal), 1 in 6700 (reciprocal root) and 1 in 45000 (root), hardware rounds in
the other direction; `transcendental_residuals` lists these mantissas.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.sim.core.builder import F32, I32, I64, Value
from rocdbg.sim.semantics.floats import arithmetic, is_infinite, sign_bit
from rocdbg.sim.semantics.transcendental_residuals import RECIPROCAL, RECIPROCAL_ROOT, ROOT
from rocdbg.sim.semantics.transcendental_unit import Row, chosen_row, round_even

_RECIPROCAL: tuple[Row, ...] = (  # in quarters of the result's last place
    (67108864, 2097138, 65462, 1925), (65075262, 1971966, 59693, 1705), (63161283, 1857674, 54582, 1516),
    (61356675, 1753039, 50039, 1352), (59652323, 1657001, 45986, 1210), (58040098, 1568644, 42359, 1086),
    (56512727, 1487171, 39104, 977), (55063683, 1411884, 36174, 882), (53687091, 1342172, 33529, 798),
    (52377649, 1277499, 31136, 724), (51130563, 1217390, 28966, 658), (49941480, 1161426, 26992, 599),
    (48806446, 1109234, 25194, 547), (47721858, 1060483, 23552, 501), (46684427, 1014876, 22050, 459),
    (45691141, 972149, 20673, 421), (44739242, 932065, 19408, 388), (43826196, 894410, 18244, 357),
    (42949672, 858991, 17171, 330), (42107522, 825636, 16181, 305), (41297762, 794186, 15266, 282),
    (40518559, 764500, 14418, 262), (39768215, 736447, 13632, 243), (39045157, 709911, 12902, 226),
    (38347922, 684783, 12223, 210), (37675151, 660966, 11591, 196), (37025580, 638371, 11002, 183),
    (36398027, 616915, 10452, 171), (35791394, 596522, 9938, 160), (35204649, 577124, 9458, 150),
    (34636833, 558658, 9007, 140), (34087042, 541063, 8585, 131),
)
_RECIPROCAL_ROOT: tuple[Row, ...] = (  # even exponents, then odd ones
    (67108864, 1048572, 24555, 606), (66084241, 1001273, 22738, 545), (65105161, 957426, 21104, 491),
    (64168347, 916688, 19629, 445), (63270843, 878759, 18295, 403), (62409975, 843376, 17084, 367),
    (61583317, 810305, 15983, 335), (60788660, 779340, 14978, 306), (60023992, 750298, 14060, 280),
    (59287474, 723016, 13219, 257), (58577418, 697349, 12446, 237), (57892279, 673165, 11735, 218),
    (57230631, 650347, 11080, 201), (56591163, 628789, 10475, 186), (55972661, 608397, 9915, 173),
    (55374006, 589084, 9396, 160), (54794158, 570771, 8914, 149), (54232151, 553388, 8467, 139),
    (53687091, 536870, 8050, 129), (53158141, 521157, 7661, 121), (52644524, 506196, 7298, 113),
    (52145512, 491938, 6959, 105), (51660427, 478336, 6641, 99), (51188632, 465350, 6343, 93),
    (50729532, 452941, 6064, 87), (50282567, 441074, 5802, 82), (49847212, 429717, 5555, 77),
    (49422973, 418838, 5322, 73), (49009384, 408411, 5103, 68), (48606008, 398409, 4897, 65),
    (48212431, 388809, 4702, 61), (47828262, 379589, 4517, 58),
    (47453132, 741452, 17363, 428), (46728614, 708007, 16078, 385), (46036300, 677002, 14922, 347),
    (45373873, 648196, 13880, 314), (44739242, 621376, 12936, 285), (44130517, 596356, 12080, 259),
    (43545981, 572972, 11301, 236), (42984073, 551076, 10591, 216), (42443372, 530541, 9942, 198),
    (41922574, 511250, 9347, 182), (41420490, 493100, 8801, 167), (40936023, 475999, 8298, 154),
    (40468167, 459864, 7835, 142), (40015995, 444621, 7407, 132), (39578648, 430202, 7011, 122),
    (39155335, 416545, 6644, 113), (38745320, 403596, 6303, 105), (38347922, 391304, 5987, 98),
    (37962506, 379624, 5692, 91), (37588482, 368514, 5417, 85), (37225300, 357935, 5160, 80),
    (36872445, 347852, 4920, 74), (36529438, 338235, 4696, 70), (36195829, 329052, 4485, 65),
    (35871196, 320278, 4288, 61), (35555144, 311887, 4102, 58), (35247302, 303855, 3928, 54),
    (34947319, 296163, 3763, 51), (34654868, 288790, 3609, 48), (34369638, 281718, 3462, 45),
    (34091337, 274930, 3325, 43), (33819688, 268410, 3194, 41),
)
_ROOT: tuple[Row, ...] = (  # even exponents, then odd ones
    (0, 2097143, 32722, 474), (1032684, 2034529, 29882, 409), (2035417, 1977208, 27431, 356),
    (3010662, 1924474, 25297, 312), (3960563, 1875745, 23425, 275), (4886999, 1830541, 21774, 244),
    (5791627, 1788454, 20308, 218), (6675918, 1749143, 18999, 195), (7541186, 1712315, 17825, 176),
    (8388608, 1677719, 16767, 159), (9219243, 1645139, 15810, 145), (10034053, 1614387, 14940, 132),
    (10833909, 1585296, 14147, 120), (11619604, 1557724, 13422, 110), (12391866, 1531542, 12757, 102),
    (13151360, 1506637, 12145, 94),
    (13898700, 2965809, 46276, 670), (15359137, 2877259, 42260, 578), (16777216, 2796194, 38793, 503),
    (18156420, 2721617, 35775, 441), (19499783, 2652705, 33129, 389), (20809961, 2588776, 30793, 346),
    (22089298, 2529256, 28720, 308), (23339875, 2473662, 26869, 277), (24563549, 2421579, 25208, 249),
    (25761984, 2372654, 23712, 225), (26936680, 2326579, 22358, 205), (28088995, 2283088, 21129, 186),
    (29220162, 2241948, 20008, 171), (30331303, 2202954, 18982, 156), (31423446, 2165927, 18042, 144),
    (32497533, 2130707, 17176, 133),
)

_BIAS = 127
_FRACTION, _SIGN, _INFINITY, _NAN = 0x7F_FFFF, 0x8000_0000, 0x7F80_0000, 0xFFC0_0000
_RECIPROCAL_DOUBT, _RECIPROCAL_ROOT_DOUBT, _ROOT_DOUBT = 2, 4, 2 << 12
"""If the value is farther than this from the middle between two numbers, the rounding is certain. The distances are
1/32, 1/32 and 1/2048 of the last place.
"""
_HALF, _UNIT = 0x3E80_0000, 0x3F80_0000
"""f32 bits of 1/4, to which results in (1/2, 1] are added with their leading bit, and f32 bits of 1."""


def _square_term(quadratic: Value, cubic: Value, fraction: Value) -> Value:
    """(quadratic - cubic * fraction) * fraction**2 without the low 51 bits; the product has up to 70."""
    inner = quadratic.shl(18) - cubic * fraction
    even = fraction & ~1
    square = even * even
    return (inner * square.lshr(18) + (inner * (square & 0x3_FFFF)).lshr(18)).lshr(33)


def _linear_term(product: Value, bits: int) -> Value:
    """Drop ``bits`` bits, rounding to at most 24 significant bits."""
    return product.uge(1 << 24 + bits).select(round_even(product, bits + 1).shl(1), round_even(product, bits))


def _parts(bits: Value) -> tuple[Value, Value]:
    """Half of the exponent, and the mantissa below the exponent's lowest bit."""
    exponent = (bits.lshr(23) & 0xFF) - _BIAS
    return exponent.ashr(1), (exponent & 1).shl(23) | bits & _FRACTION


def _settled(
    name: str, table: Sequence[int], index: Value, total: Value, rounded: Value, bits: int, doubt: int
) -> Value:
    """Drop ``bits`` bits of ``total``: the result is ``rounded``, or the neighbouring number where hardware gives that.
    """
    middle = 1 << bits - 1
    near = ((total & (1 << bits) - 1) - (middle - doubt)).ule(2 * doubt)
    other = rounded.eq(total.ashr(bits)).select(rounded + 1, rounded - 1)
    return total.builder.contains(name, table, index.trunc(I32), near).select(other, rounded)


def _finished(x: Value, result: Value) -> Value:
    return x.is_nan().select(arithmetic(x, x), result.trunc(I32).bitcast(F32))


def reciprocal(x: Value) -> Value:
    """1 / x of an f32; subnormals are not supported."""
    bits = x.bits().zext(I64)
    sign, magnitude = bits & _SIGN, bits & (_SIGN - 1)
    row, fraction = chosen_row((bits & _FRACTION).lshr(18), _RECIPROCAL), bits & 0x3_FFFF
    linear = _linear_term(row.linear * fraction, 14)
    square = _square_term(row.quadratic, row.cubic, fraction)
    total = row.constant.shl(4) - linear + square.shl(1)
    rounded = (total + 32).lshr(6)
    rounded = _settled("reciprocals", RECIPROCAL, bits & _FRACTION, total, rounded, 6, _RECIPROCAL_DOUBT)
    result = _HALF + rounded + (_BIAS - magnitude.lshr(23)).shl(23)
    result = result.slt(1 << 23).select(0, result)
    result = magnitude.ult(1 << 23).select(_INFINITY, result)
    result = is_infinite(x).select(0, result)
    return _finished(x, result | sign)


def reciprocal_square_root(x: Value) -> Value:
    """1 / sqrt(x) of an f32 that is not subnormal."""
    bits = x.bits().zext(I64)
    half, index = _parts(bits)
    row, fraction = chosen_row(index.lshr(18), _RECIPROCAL_ROOT), index & 0x3_FFFF
    linear = _linear_term(row.linear * fraction, 13)
    square = _square_term(row.quadratic, row.cubic, fraction)
    total = row.constant.shl(5) - linear + square.shl(2)
    rounded = (total + 64).lshr(7)
    rounded = _settled("reciprocal_roots", RECIPROCAL_ROOT, index, total, rounded, 7, _RECIPROCAL_ROOT_DOUBT)
    result = _HALF + rounded - half.shl(23)
    result = is_infinite(x).select(0, result)
    result = sign_bit(x).select(_NAN, result)
    result = (bits & (_SIGN - 1)).ult(1 << 23).select(bits & _SIGN | _INFINITY, result)
    return _finished(x, result)


def square_root(x: Value) -> Value:
    """sqrt(x) of an f32 that is not subnormal."""
    bits = x.bits().zext(I64)
    half, index = _parts(bits)
    row, fraction = chosen_row(index.lshr(19), _ROOT), index & 0x7_FFFF
    product = row.linear * fraction
    linear = (product + product.uge(1 << 40).select(product.builder.const(1 << 16, I64), 1 << 15)).lshr(17)
    cut = fraction & ~3
    inner = row.quadratic.shl(8) + (256 - row.cubic * fraction).ashr(10)
    product = inner * (cut * cut).lshr(14)
    negated = product.uge(1 << 47).select(
        ((1 << 23) - product).ashr(24).shl(1), ((1 << 22) - product).ashr(23)
    )
    total = row.constant.shl(22) + linear.shl(19) + negated.shl(12)
    rounded = _settled("roots", ROOT, index, total, round_even(total, 24), 24, _ROOT_DOUBT)
    result = _UNIT + rounded + half.shl(23)
    result = is_infinite(x).select(_INFINITY, result)
    result = sign_bit(x).select(_NAN, result)
    result = (bits & (_SIGN - 1)).ult(1 << 23).select(bits & _SIGN, result)
    return _finished(x, result)
