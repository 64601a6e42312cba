"""Transcendental functions and roots: reciprocal, square root and its reciprocal, exp2, log2, sine and cosine.

The hardware's tables are public for f32 on GFX11 and GFX12 only (`transcendental_unit`, `transcendental_roots`,
`transcendental_circular`); this module has the other cases. Everything is computed in f64 with the builder's correctly
rounded primitives and with polynomials of our own, independent of host libraries, to far below an ulp of f32, and
rounded once. The result is within half an ulp (plus 2**-20 ulp) of the exact one, where the documents promise 1 ulp, so
it may differ from hardware by one ulp.

Rules of the documents: the f32 forms of rcp, rsq, sqrt, exp and log flush subnormal inputs and results, regardless of
what MODE says; the f16 and f64 forms obey MODE; sin and cos accept subnormals and take their argument in revolutions.
"""

from __future__ import annotations

import math

from rocdbg.sim.core.builder import F64, I32, Value
from rocdbg.sim.semantics.floats import (
    FORMATS,
    arithmetic,
    convert,
    exponent_field,
    format_of,
    from_bits,
    is_infinite,
    is_zero,
    magnitude,
    power_of_two,
    scale,
    sign_bit,
    with_sign_of,
)


def reciprocal(x: Value) -> Value:
    """1 / x, correctly rounded."""
    return arithmetic(x.builder.const(1.0, x.type) / x, x)


def square_root(x: Value) -> Value:
    """The square root, correctly rounded; -0 gives -0, other negative numbers give the default NaN."""
    return arithmetic(x.sqrt(), x)


def reciprocal_square_root(x: Value) -> Value:
    """1 / sqrt(x). For f16 and f32, it is rounded from f64; for f64, both steps round."""
    wide = convert(x, F64)
    root = (
        (x.builder.const(1.0, F64) / wide.sqrt()).fptrunc(x.type) if x.type is not F64 else 1.0 / wide.sqrt()
    )
    return arithmetic(root, x)


def _polynomial(x: Value, coefficients: list[float]) -> Value:
    """Horner's scheme with fused steps; highest power first."""
    result = x.builder.const(coefficients[0], x.type)
    for coefficient in coefficients[1:]:
        result = result.fma(x, coefficient)
    return result


_EXP = [math.log(2) ** k / math.factorial(k) for k in range(13, -1, -1)]


def exp2(x: Value) -> Value:
    """2**x."""
    kind = x.type
    wide = x.fpext(F64)
    # Beyond these limits the result is infinite or below the smallest subnormal; NaN is handled separately.
    bounded = wide.fgt(200.0).select(200.0, wide.flt(-200.0).select(-200.0, wide))
    whole = bounded.rint()
    fraction = bounded - whole
    power = power_of_two(whole.fptosi(I32), F64)
    return arithmetic((_polynomial(fraction, _EXP) * power).fptrunc(kind), x)


# 2 * atanh(s) / ln 2 = s * (2 / ln 2) * (1 + s^2/3 + s^4/5 + ...)
_LOG = [2 / math.log(2) / (2 * k + 1) for k in range(10, -1, -1)]


def log2(x: Value) -> Value:
    """Base-2 logarithm; -infinity for zeros, the default NaN for negative numbers."""
    kind = x.type
    wide = x.fpext(F64)
    form = FORMATS[F64]
    # Split into a mantissa in [sqrt(1/2), sqrt(2)) and an exponent, so that logarithms near 0 keep all their bits.
    bits = magnitude(wide)
    exponent = exponent_field(wide).trunc(I32) - form.bias
    mantissa = (bits & form.fraction_mask | form.bias << form.fraction_bits).bitcast(F64)
    high = mantissa.fge(math.sqrt(2))
    mantissa = high.select(mantissa * 0.5, mantissa)
    exponent = high.select(exponent + 1, exponent)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    logarithm = s * _polynomial(s * s, _LOG)
    result = (exponent.sitofp(F64) + logarithm).fptrunc(kind)
    target = format_of(x)
    result = (is_infinite(x)).select(x, result)
    result = sign_bit(x).select(from_bits(x, target.default_nan), result)
    result = is_zero(x).select(from_bits(x, target.sign | target.infinity), result)
    return x.is_nan().select(arithmetic(x, x), result)


def _sine_series(a: Value) -> Value:
    return a * _polynomial(a * a, [(-1) ** k / math.factorial(2 * k + 1) for k in range(8, -1, -1)])


def _cosine_series(a: Value) -> Value:
    return _polynomial(a * a, [(-1) ** k / math.factorial(2 * k) for k in range(8, -1, -1)])


def _quarter(x: Value, offset: int) -> Value:
    """sin(2 pi (x + offset / 4)) for f64 x in revolutions, exact at multiples of a quarter."""
    turn = x - x.rint()  # exact, in [-1/2, 1/2]
    quarters = (turn * 4.0).rint()
    angle = (turn - quarters * 0.25) * (2 * math.pi)
    which = (quarters.fptosi(I32) + offset) & 3
    sine, cosine = _sine_series(angle), _cosine_series(angle)
    value = (which & 1).ne(0).select(cosine, sine)
    value = (which & 2).ne(0).select(-value, value)
    return value + 0.0  # adding 0 turns the -0 of a negated zero into 0


def sine(x: Value, *, limit: float | None = None) -> Value:
    """Sine of x revolutions.

    Where |x| exceeds ``limit`` the result is 0 (GFX9 and earlier); infinity gives the default NaN.
    """
    return _circular(x, 0, 0.0, limit)


def cosine(x: Value, *, limit: float | None = None) -> Value:
    """Cosine of x revolutions; 1 beyond ``limit``."""
    return _circular(x, 1, 1.0, limit)


def _circular(x: Value, offset: int, beyond: float, limit: float | None) -> Value:
    wide = x.fpext(F64)
    result = _quarter(wide, offset).fptrunc(x.type)
    if offset == 0:
        result = is_zero(x).select(with_sign_of(result, x), result)
    if limit is not None:
        result = wide.fabs().fgt(limit).select(beyond, result)
    result = is_infinite(x).select(from_bits(x, format_of(x).default_nan), result)
    return x.is_nan().select(arithmetic(x, x), result)


_PI_BITS = 1184
"""Bits of 2 / pi that the hardware holds, after the binary point."""


def _two_over_pi() -> int:
    """The first `_PI_BITS` bits of 2 / pi as an integer."""
    precision = _PI_BITS + 64
    one = 1 << precision

    def arctangent_of_inverse(n: int) -> int:
        power = total = one // n
        k, sign = 1, 1
        while power:
            power //= n * n
            k += 2
            sign = -sign
            total += sign * (power // k)
        return total

    pi = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))
    return (2 * one * one // pi) >> (precision - _PI_BITS)


def trig_preop(x: Value, segment: Value) -> Value:
    """v_trig_preop_f64: the 53 bits of 2 / pi that matter for reducing ``x``, for segment ``segment`` (I32), as a
    number."""
    const = x.builder.const
    exponent = exponent_field(x).trunc(I32)
    shift = (segment & 31) * 53 + (exponent - 1077).smax(0)
    table = _two_over_pi() << (-_PI_BITS % 64)
    count = -(-_PI_BITS // 64)
    words = [table >> 64 * (count - 1 - k) & (1 << 64) - 1 for k in range(count)]
    integer = magnitude(x).type
    index = shift.lshr(6)
    high = low = const(0, integer)
    for k, word in enumerate(words):
        high = index.eq(k).select(const(word, integer), high)
        low = index.eq(k - 1).select(const(word, integer), low)
    window = high.fshl(low, (shift & 63).zext(integer)).lshr(11)
    number = window.uitofp(F64)
    power = -53 - shift + exponent.sge(1968).select(const(128, I32), 0)
    # Results below the normal range are truncated, not rounded.
    rounded = scale(number, power)
    back = scale(rounded, -power)
    return back.fgt(number).select(rounded.bits() - 1, rounded.bits()).bitcast(F64)
