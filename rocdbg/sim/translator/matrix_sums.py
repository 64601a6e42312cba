"""How matrix instructions add products.

No document says it; the models are those that were found to agree bit for bit with MI250X and MI300X (P. Xie et al.,
"MMA-Sim", arXiv:2511.10909). Functions take and give builder values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocdbg.sim.builder import F16, F32, F64, I8, I16, I32, I64, Type, Value
from rocdbg.sim.semantics import floats
from rocdbg.sim.semantics.float8 import E4M3_FNUZ, E5M2_FNUZ, widen

_KEPT = 24
"""Fraction bits products keep below the largest exponent."""
_SUM = 31
"""Fraction bits of the sum with the accumulator."""
_NO_EXPONENT = -126
"""The exponent that a product which is zero takes part with."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Of a small format: in the low ``bits`` of an integer."""

    bits: int
    fraction: int
    bias: int


_LAYOUTS = {
    "f16": _Layout(16, 10, 15),
    "bf16": _Layout(16, 7, 127),
    "xf32": _Layout(19, 10, 127),
    "fp8": _Layout(8, 3, E4M3_FNUZ.bias),
    "bf8": _Layout(8, 2, E5M2_FNUZ.bias),
}


def number(raw: Value, kind: str) -> Value:
    """An element's bits (an integer of its size) as f32 or f64, exactly; xf32 loses its low 13 bits."""
    match kind:
        case "f16":
            return floats.convert(raw.bitcast(F16), F32)
        case "bf16":
            return raw.zext(I32).shl(16).bitcast(F32)
        case "xf32":
            return (raw & 0xFFFFE000).bitcast(F32)
        case "fp8":
            return widen(raw, E4M3_FNUZ)
        case "bf8":
            return widen(raw, E5M2_FNUZ)
    return raw.bitcast(F64 if kind == "f64" else F32)


def integer_type(bits: int) -> Type:
    return {8: I8, 16: I16, 32: I32, 64: I64}[bits]


# -- CDNA2: f16, bf16 ----------------------------------------------------------------------------------------------


def _flush_positive(value: Value, smallest: float) -> Value:
    """Subnormals (below ``smallest``) become +0."""
    return value.fabs().flt(smallest).select(0.0, value)


def flushing(a: Sequence[Value], b: Sequence[Value], c: Value, kind: str, at_once: int) -> Value:
    """Products of ``at_once`` (2 or 4) elements are added pairwise, the sum then to the accumulator, all in f32."""
    smallest = 2.0**-14 if kind == "f16" else 2.0**-126
    products = [
        floats.flush(
            floats.multiply(
                _flush_positive(number(x, kind), smallest), _flush_positive(number(y, kind), smallest)
            )
        )
        for x, y in zip(a, b, strict=True)
    ]
    total = _flush_positive(c, 2.0**-126)
    for start in range(0, len(products), at_once):
        part = products[start : start + at_once]
        while len(part) > 1:
            part = [floats.flush(floats.add(x, y)) for x, y in zip(part[::2], part[1::2], strict=True)]
        total = floats.flush(floats.add(total, part[0]))
    return total


# -- CDNA3: f16, bf16, xf32, fp8, bf8 ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Scaled:
    """``value`` (I64) in units of 2^(``exponent`` (I64) - some number of fraction bits)."""

    value: Value
    exponent: Value


def _split(raw: Value, kind: str) -> tuple[Value, Value, Value]:
    """Sign (I1), significand with its leading one (I64), exponent (I64; that of the smallest normal for subnormals)."""
    form = _LAYOUTS[kind]
    bits = raw.zext(I64)
    if kind == "xf32":
        bits = bits.lshr(13)
    field = bits.lshr(form.fraction) & (1 << form.bits - 1 - form.fraction) - 1
    fraction = bits & (1 << form.fraction) - 1
    significand = field.eq(0).select(fraction, fraction | 1 << form.fraction)
    negative = (bits & 1 << form.bits - 1).ne(0)
    return negative, significand, field.umax(1) - form.bias


def _down(value: Value, count: Value) -> Value:
    """Arithmetic shift right by any count of at least 0."""
    return value.ashr(count.umin(63))


def _sum_truncated(a: Sequence[Value], b: Sequence[Value], kinds: tuple[str, str]) -> _Scaled:
    """Products cut off (toward zero) `_KEPT` bits below the largest exponent, and added; in units of
    2^(exponent - _KEPT)."""
    terms = []
    left = _KEPT - _LAYOUTS[kinds[0]].fraction - _LAYOUTS[kinds[1]].fraction
    for x, y in zip(a, b, strict=True):
        (sx, mx, ex), (sy, my, ey) = _split(x, kinds[0]), _split(y, kinds[1])
        product = mx * my
        terms.append((sx ^ sy, product.shl(left), product.eq(0).select(_NO_EXPONENT, ex + ey)))
    largest = terms[0][2]
    for _, _, exponent in terms[1:]:
        largest = largest.smax(exponent)
    total = None
    for negative, magnitude, exponent in terms:
        cut = magnitude.lshr((largest - exponent).umin(63))
        term = negative.select(-cut, cut)
        total = term if total is None else total + term
    assert total is not None
    return _Scaled(total, largest)


def _with_accumulator(products: _Scaled, c: Value, *, drop_far: bool) -> Value:
    """The sum of products and an f32, both floored at their common exponent, rounded once to f32."""
    bits = c.bits().zext(I64)
    field = bits.lshr(23) & 0xFF
    fraction = bits & 0x7FFFFF
    magnitude = field.eq(0).select(fraction, fraction | 0x800000)
    exponent = field.umax(1) - 127
    common = products.exponent.smax(exponent)
    # Products: from _KEPT to _SUM fraction bits, at the common exponent.
    moved = _down(products.value.shl(_SUM - _KEPT), common - products.exponent)
    signed = c.bits().slt(0).select(-magnitude, magnitude).shl(_KEPT - 23)
    addend = _down(signed, common - exponent)
    if drop_far:
        addend = exponent.slt(common - _KEPT - 1).select(0, addend)
    total = moved + addend.shl(_SUM - _KEPT)
    # Below 2^53 in magnitude: exact as f64; the scale as two factors, since 2^-283 to 2^223 fit easily.
    scale = (common - _SUM + 1023).shl(52).bitcast(F64)
    return (total.sitofp(F64) * scale).fptrunc(F32)


def _special(x: Value, y: Value) -> Value:
    """I1: a factor is infinite or NaN."""
    return floats.exponent_field(x).eq(0xFF) | floats.exponent_field(y).eq(0xFF)


def truncated(
    a: Sequence[Value], b: Sequence[Value], c: Value, kinds: tuple[str, str], halves: bool
) -> Value:
    """c + the sum of products. ``halves``: even and odd products are added apart first (fp8, bf8)."""
    if halves:
        even, odd = (_sum_truncated(a[n::2], b[n::2], kinds) for n in range(2))
        common = even.exponent.smax(odd.exponent)
        total = _down(even.value, common - even.exponent) + _down(odd.value, common - odd.exponent)
        result = _with_accumulator(_Scaled(total, common), c, drop_far=True)
    else:
        result = _with_accumulator(_sum_truncated(a, b, kinds), c, drop_far=False)
    # Infinities and NaNs: the sum of those terms alone.
    zero = c.builder.const(0.0, F32)
    special = floats.exponent_field(c).eq(0xFF)
    exceptional = special.select(c, zero)
    for x, y in zip(a, b, strict=True):
        fx, fy = number(x, kinds[0]), number(y, kinds[1])
        mine = _special(fx, fy)
        product = floats.multiply(fx, fy)
        if kinds[0] in ("bf16", "xf32"):  # products that overflow f32 are infinite
            mine = mine | floats.is_infinite(product)
        special = special | mine
        exceptional = floats.add(mine.select(product, zero), exceptional)
    return special.select(exceptional, result)
