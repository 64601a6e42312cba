"""The three steps of IEEE division: pre-scaling, the last multiply-add with post-scaling, and fix-up.

Compiled code divides n by d as follows: v_div_scale scales d and n away from the ends of the exponent range, v_rcp and
multiply-adds refine a quotient, v_div_fmas does the last multiply-add and undoes the scaling in the same rounding, and
v_div_fixup inserts the results of special operands. The ISA documents' pseudocode of v_div_scale and v_div_fmas is
known to be wrong: it always scales by 2**32 or 2**64, but the factor depends on the direction. This module follows
measurements on hardware.
"""

from __future__ import annotations

from rocdbg.sim.core.builder import F32, F64, I32, Op, Value
from rocdbg.sim.semantics.floats import (
    arithmetic,
    exponent_field,
    format_of,
    from_bits,
    is_infinite,
    is_tiny,
    is_zero,
    magnitude,
    quiet,
    rounded,
    rounds_below_normal,
    scale,
    sign_bit,
    signed_zero,
)

_SCALE = {F32: 64, F64: 128}
_FAR = {F32: 96, F64: 768}


def div_scale(value: Value, denominator: Value, numerator: Value) -> tuple[Value, Value]:
    """v_div_scale: scale ``value`` (the denominator or the numerator); also return whether v_div_fmas must scale back
    (I1)."""
    form, step, far = format_of(value), _SCALE[value.type], _FAR[value.type]
    const = value.builder.const
    d = exponent_field(denominator).trunc(I32)
    n = exponent_field(numerator).trunc(I32)
    distance = n - d
    of_denominator = value.bits().eq(denominator.bits())
    up, down, keep = const(step, I32), const(-step, I32), const(0, I32)
    huge = distance.sge(far)  # quotient near overflow: only the denominator grows
    tiny = distance.sle(-far)  # quotient near the subnormals: only the numerator grows
    big_denominator = d.sge(2 * form.bias - 1)  # its reciprocal would be subnormal

    change = n.sle(form.fraction_bits + 1).select(up, keep)
    change = tiny.select(of_denominator.select(keep, up), change)
    change = big_denominator.select((tiny & ~of_denominator).select(keep, down), change)
    change = d.eq(0).select(up, change)
    change = huge.select(of_denominator.select(up, keep), change)
    post = huge | (d.ne(0) & tiny)

    scaled = change.eq(0).select(value, scale(value, change))
    zero = is_zero(denominator) | is_zero(numerator)
    return zero.select(from_bits(value, form.default_nan), scaled), post


def div_fmas(a: Value, b: Value, c: Value, post: Value, *, drop_tiny: bool) -> Value:
    """v_div_fmas: a * b + c, times a power of two where ``post`` (I1) is set, all with one rounding.

    The power is positive if the quotient estimate ``c`` is large (the denominator was scaled), and negative otherwise.
    ``drop_tiny``: a result that is below the normal numbers before rounding becomes zero.
    """
    form, step = format_of(a), _SCALE[a.type]
    grow = exponent_field(c).trunc(I32).sgt(form.bias)
    plain = rounded(Op.FMA, a.type, a, b, c)
    if a.type is F32:
        exact = _scaled_fma32(a, b, c, grow)
        scaled = rounded(Op.FPTRUNC, F32, exact)
    else:
        scaled = _scaled_fma64(a, b, c, plain, grow, step)
    result = arithmetic(post.select(scaled, plain), a, b, c)
    if not drop_tiny:
        return result
    if a.type is F32:
        tiny = rounds_below_normal(exact, F32)
    else:
        tiny = ~grow & plain.fabs().flt(2.0 ** (1 - form.bias + step))
    return post.select(tiny, is_tiny(Op.FMA, a, b, c)).select(signed_zero(result), result)


def _scaled_fma32(a: Value, b: Value, c: Value, grow: Value) -> Value:
    """The scaled sum in f64, not yet rounded to f32."""
    with a.builder.nearest():
        return fma_to_odd(a, b, c) * grow.select(a.builder.const(2.0**64, F64), 2.0**-64)


def fma_to_odd(a: Value, b: Value, c: Value) -> Value:
    """a * b + c of f32 numbers in f64: the product is exact and the sum is rounded to odd, so that a later rounding to
    f32 or f16 sees every bit."""
    product = a.fpext(F64) * b.fpext(F64)
    addend = c.fpext(F64)
    total = product + addend
    # Knuth's two-sum yields the error of the addition.
    part = total - product
    error = (product - (total - part)) + (addend - part)
    return _to_odd(total, error)


def _to_odd(total: Value, error: Value) -> Value:
    """``total`` rounded to odd, given the exact error of rounding it to nearest."""
    bits = total.bits()
    inexact = error.ne(0.0) & ~error.is_nan() & magnitude(total).ult(format_of(total).infinity)
    away = sign_bit(error) ^ sign_bit(total)  # the exact value is closer to zero than total
    toward_zero = away.select(bits - 1, bits)
    return inexact.select(toward_zero | 1, bits).bitcast(total.type)


def _scaled_fma64(a: Value, b: Value, c: Value, plain: Value, grow: Value, step: int) -> Value:
    """fma, then the power of two. Growing is exact. Shrinking into the subnormals rounds a second time, which is
    corrected where the first rounding produced a tie for the second: only there can two roundings differ from one.
    (Rounding twice in the same direction equals rounding once.)
    """
    const = a.builder.const
    grown = rounded(Op.FMUL, F64, plain, const(2.0**step, F64))
    shrunk = rounded(Op.FMUL, F64, plain, const(2.0**-step, F64))
    if a.builder.rounding_of(F64):
        return grow.select(grown, shrunk)
    # The error of the fma, plain - (a * b + c), as an unevaluated sum; only its sign matters.
    product = a * b
    product_error = a.fma(b, -product)
    total = product + c
    part = total - product
    sum_error = (product - (total - part)) + (c - part)
    missing = (total - plain) + (sum_error + product_error)
    lost = plain - shrunk * const(2.0**step, F64)
    half_unit = const(2.0 ** (-1075 + step), F64)
    tie = lost.fabs().eq(half_unit) & missing.ne(0.0) & sign_bit(missing).eq(sign_bit(lost))
    grows_magnitude = sign_bit(lost).eq(sign_bit(plain))
    bits = shrunk.bits()
    fixed = tie.select(grows_magnitude.select(bits + 1, bits - 1), bits).bitcast(F64)
    return grow.select(grown, fixed)


def div_fixup(quotient: Value, denominator: Value, numerator: Value, *, saturate: bool = False) -> Value:
    """v_div_fixup: the quotient with the right sign, or the result of the special operands.

    ``saturate``: an f16 quotient that overflowed becomes the largest number; division by zero still gives infinity.
    """
    form = format_of(quotient)

    def special(pattern: int) -> Value:
        return from_bits(quotient, pattern)

    sign = (numerator.bits() ^ denominator.bits()) & form.sign
    finite = magnitude(quotient)
    # A NaN here is the result of an overflow in the refinement.
    finite = quotient.is_nan().select(form.infinity, finite)
    if form.bits == 16:
        finite = finite.eq(form.infinity).select(
            form.largest if saturate else _overflow(quotient, sign), finite
        )
    else:
        far = exponent_field(numerator).trunc(I32) - exponent_field(denominator).trunc(I32)
        finite = far.slt(-150 if form.bits == 32 else -1075).select(0, finite)
    result = (finite | sign).bitcast(quotient.type)
    zero_result = is_infinite(denominator) | is_zero(numerator)
    result = zero_result.select(sign.bitcast(quotient.type), result)
    infinite_result = is_zero(denominator) | is_infinite(numerator)
    result = infinite_result.select((sign | form.infinity).bitcast(quotient.type), result)
    invalid = (is_zero(denominator) & is_zero(numerator)) | (
        is_infinite(denominator) & is_infinite(numerator)
    )
    result = invalid.select(special(form.default_nan), result)
    result = denominator.is_nan().select(quiet(denominator), result)
    return numerator.is_nan().select(quiet(numerator), result)


def _overflow(like: Value, sign: Value) -> Value:
    """The magnitude of an overflowed result under MODE's rounding: infinity or the largest number."""
    form, mode = format_of(like), like.builder.rounding_of(like.type)
    if mode in (0, 3):
        return like.builder.const(form.infinity - (mode == 3), sign.type)
    positive, negative = (form.infinity, form.largest) if mode == 1 else (form.largest, form.infinity)
    return sign.eq(0).select(like.builder.const(positive, sign.type), negative)
