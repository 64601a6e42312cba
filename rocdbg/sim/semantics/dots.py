"""Adds the products of dot product and WMMA instructions as GFX11 and GFX12 do.

How they do it is not documented. The models were derived from measurements on a gfx1100 and a gfx1201 that AMD
published (github.com/ROCm/rocm-systems, issue 12056 and the captures beside its emulator) and agree with them bit for
bit: terms are integers that are truncated to a common exponent, added, and rounded once to nearest even, regardless of
what MODE says.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rocdbg.sim.core.builder import F16, F32, F64, I1, I16, I32, I64, Operand, Value
from rocdbg.sim.semantics import floats

FACTOR_NAN = 0xFFC00A3D
"""The result if a factor is NaN."""
INVALID = 0xFFC00000
"""The result of infinity times zero, and of infinities of both signs."""

_EMPTY = -1024
"""Represents the exponent of zero."""
_BELOW_FACTORS = 24
"""How many bits are kept below the sum of the factors' exponents."""
_BELOW_LEADING = 26
"""How many bits are kept below a term's leading bit."""


class Format(Struct, frozen=True):
    """Format of factors: field sizes in bits. Formats without infinity use all ones as their only NaN, next to the
    largest number."""

    fraction: int
    exponent: int
    has_infinity: bool = True

    @property
    def bias(self) -> int:
        return (1 << self.exponent - 1) - 1

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.fraction


FORMATS = {"f16": Format(10, 5), "bf16": Format(7, 8), "fp8": Format(3, 4, False), "bf8": Format(2, 5)}


class _Factor(Struct, frozen=True):
    """A factor; all fields are I32 or I1. ``exponent``: for subnormals, that of the smallest normal number."""

    negative: Value
    significand: Value
    exponent: Value
    nan: Value
    infinite: Value


def _factor(raw: Value, form: Format, *, flush: bool) -> _Factor:
    bits = raw.zext(I32)
    ones = (1 << form.exponent) - 1
    field = bits.lshr(form.fraction) & ones
    fraction = bits & (1 << form.fraction) - 1
    subnormal = field.eq(0)
    significand = subnormal.select(0 if flush else fraction, fraction | 1 << form.fraction)
    magnitude = bits & (1 << form.bits - 1) - 1
    largest = ones << form.fraction if form.has_infinity else (1 << form.bits - 1) - 2
    never = bits.builder.const(0, I1)
    return _Factor(
        (bits & 1 << form.bits - 1).ne(0),
        significand,
        field.umax(1) - form.bias,
        magnitude.ugt(largest),
        magnitude.eq(largest) if form.has_infinity else never,
    )


class _Product(Struct, frozen=True):
    """``magnitude`` * 2^(``exponents`` - ``scale``)."""

    negative: Value
    magnitude: Value
    exponents: Value
    scale: int

    @property
    def grid(self) -> Value:
        """The exponent of the last bit that is kept."""
        return self.magnitude.eq(0).select(_EMPTY, self.exponents - _BELOW_FACTORS)


class _Terms(Struct, frozen=True):
    products: list[_Product]
    nan: Value
    invalid: Value
    positive: Value
    negative: Value
    """I1 each: whether a factor is NaN; whether there is an infinity times zero; whether there are positive or negative
    infinite products.
    """


def _terms(a: Sequence[Value], b: Sequence[Value], kinds: tuple[str, str], *, flush: bool) -> _Terms:
    forms = FORMATS[kinds[0]], FORMATS[kinds[1]]
    never = a[0].builder.const(0, I1)
    nan, invalid, positive, negative = never, never, never, never
    products = []
    for raw_x, raw_y in zip(a, b, strict=True):
        x, y = _factor(raw_x, forms[0], flush=flush), _factor(raw_y, forms[1], flush=flush)
        nan = nan | x.nan | y.nan
        invalid = invalid | x.infinite & y.significand.eq(0) | y.infinite & x.significand.eq(0)
        sign = x.negative ^ y.negative
        infinite = x.infinite | y.infinite
        positive, negative = positive | infinite & ~sign, negative | infinite & sign
        exponents = x.exponent + y.exponent
        products.append(
            _Product(sign, x.significand * y.significand, exponents, forms[0].fraction + forms[1].fraction)
        )
    return _Terms(products, nan, invalid | positive & negative, positive, negative)


def _select_special(terms: _Terms, c: Value, result: Value, invalid: int) -> Value:
    """``result`` (f32 bits) unless a factor is infinite or NaN; then the special result."""
    positive, negative = terms.positive | c.eq(0x7F800000), terms.negative | c.eq(0xFF800000)
    result = positive.select(0x7F800000, result)
    result = negative.select(0xFF800000, result)
    result = (positive & negative).select(invalid, result)
    result = (c & 0x7FFFFFFF).ugt(0x7F800000).select(c | 0x400000, result)
    return terms.nan.select(FACTOR_NAN, terms.invalid.select(invalid, result))


def _is_special(terms: _Terms, c: Value) -> Value:
    return terms.nan | terms.invalid | terms.positive | terms.negative | (c & 0x7F800000).eq(0x7F800000)


def _narrow_special(bits: Value, kind: str) -> Value:
    """Infinity or NaN as I16."""
    if kind == "bf16":
        return bits.eq(FACTOR_NAN).select(0xFFFD, bits.lshr(16)).trunc(I16)
    narrow = bits.lshr(16) & 0x8000 | bits.lshr(13) & 0x3FF | 0x7C00
    return bits.eq(FACTOR_NAN).select(0xFE3D, narrow).trunc(I16)


def _shifted(value: Value, left: Value) -> Value:
    """Shifted left by ``left``, or arithmetically right if that is negative."""
    count = left.smax(-31)
    return count.slt(0).select(value.ashr((-count).smax(0)), value.shl(count.smax(0).umin(31)))


def _power(exponent: Value) -> Value:
    """2^``exponent`` as f64; the exponent that represents zero gives some finite number."""
    return (exponent.smax(-1000).sext(I64) + 1023).shl(52).bitcast(F64)


def _times_power(units: Value, grid: Value) -> Value:
    """``units`` * 2^``grid`` as f64, exactly."""
    return units.sitofp(F64) * _power(grid)


def _positive_zero(bits: Value, sign: int) -> Value:
    return (bits & sign - 1).eq(0).select(0, bits)


def _to_half(units: Value, grid: Value, overflow: Value) -> Value:
    """Round to f16 bits; ``overflow`` (I1): results beyond the largest number become that number."""
    bits = _times_power(units, grid).fptrunc(F16).bits()
    bits = ((bits & 0x7FFF).eq(0x7C00) & overflow).select(bits & 0x8000 | 0x7BFF, bits)
    return _positive_zero(bits, 0x8000)


def widened(raw: Value, kind: str) -> Value:
    """A 16-bit accumulator as f32 bits."""
    if kind == "bf16":
        return raw.zext(I32).shl(16)
    return floats.convert(raw.bitcast(F16), F32).bits()


# -- GFX11 -------------------------------------------------------------------------------------------------------------


def gfx11_dot2(
    a: Sequence[Value], b: Sequence[Value], c: Value, kind: str, *, packed: bool = False, overflow: Operand = 0
) -> Value:
    """c + a[0] * b[0] + a[1] * b[1]. Factors are I16, ``kind`` is f16 or bf16; ``c`` is f32 bits.

    The result is f32 bits or, if ``packed``, those of ``kind``; ``overflow`` (I1): f16 does not become infinite.
    Magnitudes are truncated to the common exponent. Those whose sign differs from the accumulator's are one unit
    larger, even zero. Subnormal bf16 factors, f32 accumulators and f32 results are zero.
    """
    terms = _terms(a, b, (kind, kind), flush=kind == "bf16")
    field = c.lshr(23) & 0xFF
    empty = field.eq(0)
    significand = empty.select(0, c & 0x7FFFFF | 0x800000)
    lead = empty.select(_EMPTY, field - 127)
    if packed and kind == "f16":
        lead = lead.smax(-14)
    grid = terms.products[0].grid.smax(terms.products[1].grid)
    for p in terms.products:
        top = p.exponents - p.scale + 31 - p.magnitude.ctlz()
        lead = lead.smax(p.magnitude.eq(0).select(_EMPTY, top))
    grid = grid.smax(lead - _BELOW_LEADING)
    sign = c.slt(0)
    units = _shifted(significand, field - 150 - grid)
    nothing = significand
    for p in terms.products:
        magnitude = _shifted(p.magnitude, p.exponents - p.scale - grid)
        units = units + (p.negative ^ sign).select(~magnitude, magnitude)
        nothing = nothing | p.magnitude
    units = nothing.eq(0).select(0, sign.select(-units, units))
    special = _select_special(terms, c, c.builder.const(0, I32), INVALID)
    if packed and kind == "f16":
        flag = c.builder.const(overflow, I1) if not isinstance(overflow, Value) else overflow
        return _is_special(terms, c).select(_narrow_special(special, kind), _to_half(units, grid, flag))
    # Round to 24 bits first; a result that is then below the smallest normal number is zero.
    wide = units.sitofp(F32).fpext(F64) * _power(grid)
    result = wide.fabs().flt(2.0**-126).select(0, wide.fptrunc(F32).bits())
    if not packed:
        return _is_special(terms, c).select(special, result)
    return _is_special(terms, c).select(_narrow_special(special, kind), result.lshr(16).trunc(I16))


# -- GFX12 -------------------------------------------------------------------------------------------------------------


def gfx12_dot(
    a: Sequence[Value], b: Sequence[Value], c: Value, kinds: tuple[str, str], *, packed: bool = False,
    overflow: Operand = 0,
) -> Value:
    """c + the sum of two or four products; factors are I16 (f16, bf16) or I8 (fp8, bf8), the other arguments are those
    of `gfx11_dot2`.

    Products are floored to a common exponent (for 16-bit factors, in pairs), and their sums are then floored to the
    common exponent of all terms. Subnormals are kept.
    """
    terms = _terms(a, b, kinds, flush=False)
    short = FORMATS[kinds[0]].bits == 8
    at_once = len(terms.products) if short else 2
    invalid = FACTOR_NAN if short else INVALID
    half = packed and kinds[0] == "f16"
    lowest = -14 if half else -126
    field = c.lshr(23) & 0xFF
    subnormal = field.eq(0)
    fraction = c & 0x7FFFFF
    significand = subnormal.select(fraction, fraction | 0x800000)
    exponent = field.umax(1) - 150
    lead = significand.eq(0).select(_EMPTY, exponent + 31 - significand.ctlz())
    groups = []
    grid = lead.smax(lowest) - _BELOW_LEADING
    for start in range(0, len(terms.products), at_once):
        group = terms.products[start : start + at_once]
        common = group[0].grid
        for p in group[1:]:
            common = common.smax(p.grid)
        total = c.builder.const(0, I32)
        for p in group:
            signed = p.negative.select(-p.magnitude, p.magnitude)
            total = total + _shifted(signed, p.exponents - p.scale - common)
        groups.append((total, common))
        grid = grid.smax(common)
    magnitude = _shifted(significand, exponent - grid)
    addend = c.slt(0).select(_shifted(-significand, exponent - grid), magnitude)
    # A negative accumulator that is truncated to zero counts as one unit, but only if the grid is fine.
    units = (magnitude.eq(0) & grid.sgt(lowest)).select(0, addend)
    for total, common in groups:
        units = units + total.ashr((grid - common).umin(31))
    special = _select_special(terms, c, c.builder.const(0, I32), invalid)
    if half:
        flag = c.builder.const(overflow, I1) if not isinstance(overflow, Value) else overflow
        return _is_special(terms, c).select(_narrow_special(special, kinds[0]), _to_half(units, grid, flag))
    result = _positive_zero(_times_power(units, grid).fptrunc(F32).bits(), 1 << 31)
    if not packed:
        return _is_special(terms, c).select(special, result)
    return _is_special(terms, c).select(_narrow_special(special, kinds[0]), result.lshr(16).trunc(I16))


__all__ = ["FORMATS", "Format", "gfx11_dot2", "gfx12_dot", "widened"]
