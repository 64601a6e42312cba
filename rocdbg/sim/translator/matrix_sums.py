"""How matrix instructions add products.

This is not documented; the models are those found to agree bit for bit with MI100, MI250X and MI300X (P. Xie et al.,
"MMA-Sim", arXiv:2511.10909). The functions take and return builder values.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rocdbg.sim.core.builder import F16, F32, F64, I32, I64, Type, Value
from rocdbg.sim.semantics import floats
from rocdbg.sim.semantics.float8 import E4M3_FNUZ, E4M3_OCP, E5M2_FNUZ, E5M2_OCP, widen

_KEPT = 24
"""How many fraction bits of products are kept below the largest exponent."""
_SUM = 31
"""How many fraction bits of the sum with the accumulator are kept."""
_NO_EXPONENT = -999
"""Stands for the exponent of a product that is zero."""


class _Layout(Struct, frozen=True):
    """Layout of a small format, in the low ``bits`` of an integer."""

    bits: int
    fraction: int
    bias: int


_LAYOUTS = {
    "f16": _Layout(16, 10, 15),
    "bf16": _Layout(16, 7, 127),
    "xf32": _Layout(19, 10, 127),
    "fp8": _Layout(8, 3, E4M3_FNUZ.bias),
    "bf8": _Layout(8, 2, E5M2_FNUZ.bias),
    "fp8_ocp": _Layout(8, 3, E4M3_OCP.bias),
    "bf8_ocp": _Layout(8, 2, E5M2_OCP.bias),
}
_FLOAT8 = {"fp8": E4M3_FNUZ, "bf8": E5M2_FNUZ, "fp8_ocp": E4M3_OCP, "bf8_ocp": E5M2_OCP}


def number(raw: Value, kind: str) -> Value:
    """An element's bits (an integer of its size) as f32 or f64, exactly; xf32 loses its low 13 bits."""
    match kind:
        case "f16":
            return floats.convert(raw.bitcast(F16), F32)
        case "bf16":
            return raw.zext(I32).shl(16).bitcast(F32)
        case "xf32":
            return (raw & 0xFFFFE000).bitcast(F32)
    if kind in _FLOAT8:
        return widen(raw, _FLOAT8[kind])
    return raw.bitcast(F64 if kind == "f64" else F32)


# -- CDNA1: f16, bf16 ----------------------------------------------------------------------------------------------


_WIDE = {"f16": (Type("i320", 320), -149), "bf16": (Type("i576", 576), -266)}
"""By type of factor: an integer type that can hold every sum of products and an f32, and the exponent of its unit."""


def exact(a: Sequence[Value], b: Sequence[Value], c: Value, kind: str, at_once: int) -> Value:
    """``at_once`` products and the accumulator are added exactly and rounded to nearest even."""
    total = c
    for start in range(0, len(a), at_once):
        part = slice(start, start + at_once)
        total = _exact_step(a[part], b[part], total, kind)
    return total


def _exact_step(a: Sequence[Value], b: Sequence[Value], c: Value, kind: str) -> Value:
    wide, lowest = _WIDE[kind]
    negative, significand, exponent = _split_f32(c)
    terms = [(negative, significand, exponent - 23)]
    fraction = _LAYOUTS[kind].fraction
    for x, y in zip(a, b, strict=True):
        (sx, mx, ex), (sy, my, ey) = _split(x, kind), _split(y, kind)
        terms.append((sx ^ sy, mx * my, ex + ey - 2 * fraction))
    total = c.builder.const(0, wide)
    for negative, significand, exponent in terms:
        # The upper bound is needed for infinities and NaNs, which are handled below.
        place = (exponent - lowest).smax(0).umin(wide.bits - 64).zext(wide)
        moved = significand.zext(wide).shl(place)
        total = total + negative.select(-moved, moved)
    below = total.slt(0)
    magnitude = below.select(-total, total)
    # Round to 24 bits, but not below the last place of subnormal f32.
    drop = (-magnitude.ctlz() + wide.bits - 24).smax(-149 - lowest)
    half = c.builder.const(1, wide).shl(drop).lshr(1)
    odd = magnitude.lshr(drop) & 1
    rounded = drop.eq(0).select(magnitude, (magnitude + half - 1 + odd).lshr(drop))
    scale = (drop.trunc(I64) + (lowest + 1023)).shl(52).bitcast(F64)
    result = (rounded.trunc(I64).sitofp(F64) * scale).fptrunc(F32)
    return _exceptional(a, b, c, (kind, kind), below.select(-result, result))


# -- CDNA2: f16, bf16 ----------------------------------------------------------------------------------------------


def _flush_positive(value: Value, smallest: float) -> Value:
    """Make subnormals (below ``smallest``) +0."""
    return value.fabs().flt(smallest).select(0.0, value)


def flushing(a: Sequence[Value], b: Sequence[Value], c: Value, kind: str, at_once: int) -> Value:
    """Products of ``at_once`` (2 or 4) elements are added pairwise, and then their sum to the accumulator, all in f32.
    """
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


class _Scaled(Struct, frozen=True):
    """``value`` (I64) in units of 2^(``exponent`` (I64) - some number of fraction bits)."""

    value: Value
    exponent: Value


def _split(raw: Value, kind: str) -> tuple[Value, Value, Value]:
    """Sign (I1), significand with its leading one (I64), and exponent (I64; for subnormals that of the smallest normal
    number)."""
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
    """Arithmetic shift right by any non-negative count."""
    return value.ashr(count.umin(63))


def _sum_truncated(a: Sequence[Value], b: Sequence[Value], kinds: tuple[str, str]) -> _Scaled:
    """The sum of products, each truncated (toward zero) `_KEPT` bits below the largest exponent; in units of
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


def _split_f32(c: Value) -> tuple[Value, Value, Value]:
    """`_split` for an f32."""
    bits = c.bits().zext(I64)
    field = bits.lshr(23) & 0xFF
    fraction = bits & 0x7FFFFF
    return c.bits().slt(0), field.eq(0).select(fraction, fraction | 0x800000), field.umax(1) - 127


def _with_accumulator(products: _Scaled, c: Value, *, drop_far: bool) -> Value:
    """The sum of products and an f32, both floored at their common exponent; the sum is floored again, `_SUM` bits
    below its own exponent, and rounded to f32."""
    negative, magnitude, exponent = _split_f32(c)
    common = products.exponent.smax(exponent)
    # Products have from _KEPT to one more than _SUM fraction bits, at the common exponent.
    finer = _SUM + 1 - _KEPT
    moved = _down(products.value.shl(finer), common - products.exponent)
    signed = negative.select(-magnitude, magnitude).shl(_KEPT - 23)
    addend = _down(signed, common - exponent)
    if drop_far:
        addend = exponent.slt(common - _KEPT - 1).select(0, addend)
    total = moved + addend.shl(finer)
    unit = common - _SUM - 1
    leading = -total.slt(0).select(-total, total).ctlz() + 63
    drop = (leading - _SUM).smax(-126 - _SUM - unit).smax(0).umin(63)
    # Below 2^53 in magnitude: exact as f64.
    scale = (unit + drop + 1023).shl(52).bitcast(F64)
    return (total.ashr(drop).sitofp(F64) * scale).fptrunc(F32)


def _special(x: Value, y: Value) -> Value:
    """I1: a factor is infinite or NaN."""
    return floats.exponent_field(x).eq(0xFF) | floats.exponent_field(y).eq(0xFF)


def truncated(
    a: Sequence[Value], b: Sequence[Value], c: Value, kinds: tuple[str, str], halves: bool
) -> Value:
    """c + the sum of products. ``halves``: even and odd products are added separately first (fp8, bf8)."""
    if halves:
        even, odd = (_sum_truncated(a[n::2], b[n::2], kinds) for n in range(2))
        common = even.exponent.smax(odd.exponent)
        total = _down(even.value, common - even.exponent) + _down(odd.value, common - odd.exponent)
        result = _with_accumulator(_Scaled(total, common), c, drop_far=True)
    else:
        result = _with_accumulator(_sum_truncated(a, b, kinds), c, drop_far=False)
    return _exceptional(a, b, c, kinds, result)


def _exceptional(
    a: Sequence[Value], b: Sequence[Value], c: Value, kinds: tuple[str, str], result: Value
) -> Value:
    """``result``; if there are infinities or NaNs, the sum of those terms alone."""
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
