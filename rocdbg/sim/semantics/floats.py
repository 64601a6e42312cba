"""Floating point beyond the builder's primitives: NaN rules, flushing, minimum and maximum, classification,
scaling.

The functions take and return builder values; they know formats, not instructions or MODE.

NaNs ---- The builder leaves the payload of a NaN result open. The hardware gives the first NaN operand, made quiet
(before GFX12 only if MODE.IEEE is set); an invalid operation on numbers gives the *default NaN*, which has the sign bit
set (0xffc00000 for f32), as the ISA documents' examples of v_sqrt, v_log, v_rsq and v_sin show. `arithmetic` applies
these rules to a primitive's result, so that results do not depend on the host or on how LLVM orders commutative
operands.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.sim.core.builder import F16, F32, F64, I32, I64, INTEGER, Op, Type, Value


class Format(Struct, frozen=True):
    """Layout of an IEEE binary format in an integer of ``bits`` bits."""

    bits: int
    fraction_bits: int

    @property
    def exponent_bits(self) -> int:
        return self.bits - 1 - self.fraction_bits

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def max_exponent(self) -> int:
        """The exponent field of infinities and NaNs."""
        return (1 << self.exponent_bits) - 1

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        return self.max_exponent << self.fraction_bits

    @property
    def quiet_bit(self) -> int:
        return 1 << (self.fraction_bits - 1)

    @property
    def default_nan(self) -> int:
        return self.sign | self.infinity | self.quiet_bit

    @property
    def fraction_mask(self) -> int:
        return (1 << self.fraction_bits) - 1

    @property
    def smallest_normal(self) -> int:
        return 1 << self.fraction_bits

    @property
    def largest(self) -> int:
        """The largest finite number."""
        return self.infinity - 1


FORMATS = {F16: Format(16, 10), F32: Format(32, 23), F64: Format(64, 52)}


def format_of(value: Value) -> Format:
    """The format of a float value."""
    return FORMATS[value.type]


def from_bits(like: Value, pattern: int) -> Value:
    """A constant of ``like``'s float type with these bits."""
    integer = INTEGER[like.type.bits]
    return like.builder.const(pattern, integer).bitcast(like.type)


# -- pieces of a number ----------------------------------------------------------------------------


def exponent_field(value: Value) -> Value:
    """The biased exponent, as an integer of the value's width."""
    form = format_of(value)
    return value.bits().lshr(form.fraction_bits) & form.max_exponent


def magnitude(value: Value) -> Value:
    """The bits without the sign; ordered like the absolute values, NaNs above infinity."""
    return value.bits() & (format_of(value).sign - 1)


def sign_bit(value: Value) -> Value:
    """I1: the sign is set."""
    return value.bits().slt(0)


def with_sign_of(value: Value, sign: Value) -> Value:
    """``value``'s magnitude with the sign of ``sign``."""
    form = format_of(value)
    return (magnitude(value) | (sign.bits() & form.sign)).bitcast(value.type)


def is_infinite(value: Value) -> Value:
    return magnitude(value).eq(format_of(value).infinity)


def is_zero(value: Value) -> Value:
    return magnitude(value).eq(0)


def is_subnormal_or_zero(value: Value) -> Value:
    return exponent_field(value).eq(0)


def is_subnormal(value: Value) -> Value:
    """Whether the number is not zero, but its exponent field is."""
    return (magnitude(value) - 1).ult(format_of(value).fraction_mask)


def is_signaling(value: Value) -> Value:
    """I1: a NaN whose quiet bit is clear."""
    form = format_of(value)
    return (magnitude(value) - (form.infinity + 1)).ult(form.quiet_bit - 1)


def quiet(value: Value) -> Value:
    """Make a NaN quiet; meaningful for NaNs only."""
    return (value.bits() | format_of(value).quiet_bit).bitcast(value.type)


def flush(value: Value) -> Value:
    """Make subnormals zeros of the same sign."""
    form = format_of(value)
    bits = value.bits()
    return is_subnormal_or_zero(value).select(bits & form.sign, bits).bitcast(value.type)


def convert(value: Value, type: Type) -> Value:
    """Widen or narrow (one rounding, to nearest even); a NaN keeps its sign and the top of its payload, and becomes
    quiet."""
    if type is value.type:
        return value
    source, target = format_of(value), FORMATS[type]
    wider = type.bits > value.type.bits
    number = value.fpext(type) if wider else rounded(Op.FPTRUNC, type, value)
    integer = INTEGER[type.bits]
    shift = target.fraction_bits - source.fraction_bits
    payload = value.bits() & source.fraction_mask
    sign = value.bits().lshr(source.bits - 1)
    moved = payload.zext(integer).shl(shift) if wider else payload.lshr(-shift).trunc(integer)
    top = (sign.zext(integer) if wider else sign.trunc(integer)).shl(target.bits - 1)
    nan = (top | moved | (target.infinity | target.quiet_bit)).bitcast(type)
    return value.is_nan().select(nan, number)


def rounded(op: Op, type: Type, *args: Value) -> Value:
    """Apply a primitive whose result is rounded as the instruction's MODE says."""
    return args[0].builder.rounded(op, type, args)


def from_integer(value: Value, type: Type, *, signed: bool) -> Value:
    """An integer as a float, rounded as MODE says."""
    return rounded(Op.SITOFP if signed else Op.UITOFP, type, value)


def narrow_toward_zero(value: Value, type: Type) -> Value:
    """Narrow, rounding toward zero (overflow gives the largest number)."""
    nearest = convert(value, type)
    too_big = nearest.fpext(value.type).fabs().fgt(value.fabs())
    # One step toward zero subtracts one from the bits, also from infinity.
    return too_big.select(nearest.bits() - 1, nearest.bits()).bitcast(type)


# -- arithmetic with the hardware's NaNs -----------------------------------------------------------


def arithmetic(result: Value, *operands: Value) -> Value:
    """``result`` of a primitive on ``operands``, but with the hardware's NaN where it is a NaN."""
    nan = from_bits(result, format_of(result).default_nan)
    for operand in reversed(operands):
        nan = operand.is_nan().select(_propagated(operand), nan)
    return result.is_nan().select(nan, result)


def _propagated(nan: Value) -> Value:
    """The result when an instruction propagates a NaN operand."""
    return nan if nan.builder.keeps_signaling else quiet(nan)


def add(a: Value, b: Value) -> Value:
    return arithmetic(rounded(Op.FADD, a.type, a, b), a, b)


def subtract(a: Value, b: Value) -> Value:
    # A NaN operand keeps its sign, because the hardware subtracts rather than adds a negated operand.
    return arithmetic(rounded(Op.FSUB, a.type, a, b), a, b)


def multiply(a: Value, b: Value) -> Value:
    return arithmetic(rounded(Op.FMUL, a.type, a, b), a, b)


def fma(a: Value, b: Value, c: Value) -> Value:
    """a * b + c with one rounding."""
    if a.builder.on_rounding is not None:
        result = rounded(Op.FMA, a.type, a, b, c)
        return result.is_nan().select(fma_nan(a, b, c), result)
    # Shortcut: replace a NaN in c, so that the sum shows whether the product is a NaN.
    left_out = c.is_nan()
    result = rounded(Op.FMA, a.type, a, b, left_out.select(0.0, c))
    return (left_out & ~result.is_nan()).select(_propagated(c), arithmetic(result, a, b))


def fma_nan(a: Value, b: Value, c: Value) -> Value:
    """The NaN of a * b + c where the result is one: a NaN of the product, even an invalid one, takes precedence over a
    NaN in c."""
    with a.builder.nearest():
        product = arithmetic(a * b, a, b)
    default = from_bits(a, format_of(a).default_nan)
    return product.is_nan().select(product, c.is_nan().select(_propagated(c), default))


def rounds_below_normal(exact: Value, type: Type) -> Value:
    """I1: ``exact`` (of a wider type), rounded to the precision of ``type`` as MODE says but with unlimited exponent
    range, is below its normal numbers."""
    form = FORMATS[type]
    smallest, half_unit = 2.0 ** (1 - form.bias), 2.0 ** (-form.bias - form.fraction_bits - 1)
    size, mode = exact.fabs(), exact.builder.rounding_of(type)
    below = size.flt(smallest)
    if mode == 0:
        return size.flt(smallest - half_unit)
    if mode == 3:
        return below
    away = ~sign_bit(exact) if mode == 1 else sign_bit(exact)
    return away.select(size.fle(smallest - 2 * half_unit), below)


def is_tiny(op: Op, a: Value, b: Value, c: Value | None = None) -> Value:
    """I1: the result of FMUL or FMA, rounded to its precision but with unlimited exponent range, is below the normal
    numbers.

    Where subnormal results become zeros, hardware tests this value; the rounded result may be the smallest normal
    number.
    """
    type, builder = a.type, a.builder
    mode = builder.rounding_of(type)
    with builder.nearest():
        if type is F16:
            wide = [convert(v, F64) for v in (a, b)]  # everything below 2**-13 is exact
            exact = wide[0] * wide[1] if c is None else wide[0] * wide[1] + convert(c, F64)
        else:
            factor = 2.0 ** (FORMATS[type].fraction_bits + 1)
            args = [a * factor, b] if c is None else [a * factor, b, c * factor]
            scaled = builder.emit_directed(op, type, args, mode) if mode else builder.emit(op, type, args)
            return scaled.fabs().flt(factor * 2.0 ** (1 - FORMATS[type].bias))
    return rounds_below_normal(exact, type)


def signed_zero(value: Value) -> Value:
    """Zero with the sign of ``value``."""
    return (value.bits() & format_of(value).sign).bitcast(value.type)


def multiply_add(a: Value, b: Value, c: Value) -> Value:
    """a * b + c, where the product is rounded too (v_mad, v_mac)."""
    return add(multiply(a, b), c)


def legacy_zero(a: Value, b: Value, result: Value, otherwise: Value) -> Value:
    """``result``, or ``otherwise`` where a factor is zero (DX9 rule: 0 * anything is 0)."""
    return (is_zero(a) | is_zero(b)).select(otherwise, result)


# -- rounding to integral values -------------------------------------------------------------------


def truncate(a: Value) -> Value:
    return arithmetic(a.ftrunc(), a)


def ceiling(a: Value) -> Value:
    return arithmetic(a.ceil(), a)


def floor(a: Value) -> Value:
    return arithmetic(a.floor(), a)


def round_even(a: Value) -> Value:
    return arithmetic(a.rint(), a)


def fract(a: Value) -> Value:
    """a - floor(a), kept below 1 where rounding would give 1; infinities give the default NaN."""
    below_one = from_bits(a, (format_of(a).bias << format_of(a).fraction_bits) - 1)
    with a.builder.nearest():
        whole = a.floor()
    difference = arithmetic(rounded(Op.FSUB, a.type, a, whole), a)
    difference = difference.eq(0.0).select(0.0, difference)  # integers give +0, even when rounding down
    return difference.fgt(below_one).select(below_one, difference)


# -- minimum and maximum ---------------------------------------------------------------------------


def _less(a: Value, b: Value) -> Value:
    """a < b with -0 below +0, for numbers."""
    both_zero = (magnitude(a) | magnitude(b)).eq(0)
    return a.flt(b) | (both_zero & sign_bit(a) & ~sign_bit(b))


def minimum_number(a: Value, b: Value, *, ieee: bool, second_first: bool = False) -> Value:
    """v_min: if one operand is a NaN, the result is the other operand; -0 is below +0.

    ``ieee``: MODE.IEEE is set, and a signaling NaN gives that NaN made quiet. With two NaNs the result is the second
    one, or on gfx11+ the first one (``second_first``: the second operand is examined first).
    """
    return _pick(_less(a, b), a, b, ieee, second_first)


def maximum_number(a: Value, b: Value, *, ieee: bool, second_first: bool = False) -> Value:
    """v_max; see `minimum_number`."""
    return _pick(_less(b, a), a, b, ieee, second_first)


def _pick(first: Value, a: Value, b: Value, ieee: bool, second_first: bool) -> Value:
    result = first.select(a, b)
    if second_first:
        result = b.is_nan().select(a, a.is_nan().select(b, result))
    else:
        result = a.is_nan().select(b, b.is_nan().select(a, result))
    if ieee:
        result = is_signaling(b).select(quiet(b), result)
        result = is_signaling(a).select(quiet(a), result)
    return result


def minimum_num(a: Value, b: Value) -> Value:
    """v_min_num of gfx12: IEEE 754-2019 minimumNumber; a (quiet) NaN only if both operands are NaNs."""
    return _pick_num(_less(a, b), a, b)


def maximum_num(a: Value, b: Value) -> Value:
    """v_max_num of gfx12: IEEE 754-2019 maximumNumber."""
    return _pick_num(_less(b, a), a, b)


def _pick_num(first: Value, a: Value, b: Value) -> Value:
    number = a.is_nan().select(b, b.is_nan().select(a, first.select(a, b)))
    return (a.is_nan() & b.is_nan()).select(quiet(a), number)


def minimum(a: Value, b: Value) -> Value:
    """v_minimum of gfx12: IEEE 754-2019 minimum, which propagates the first NaN, quiet."""
    return _pick_nan(_less(a, b), a, b)


def maximum(a: Value, b: Value) -> Value:
    """v_maximum of gfx12: IEEE 754-2019 maximum."""
    return _pick_nan(_less(b, a), a, b)


def _pick_nan(first: Value, a: Value, b: Value) -> Value:
    # The ISA document gives signaling NaNs precedence; gfx1201 was measured to take the first NaN of any kind.
    return a.is_nan().select(quiet(a), b.is_nan().select(quiet(b), first.select(a, b)))


# -- classes, exponents, scaling -------------------------------------------------------------------


def in_class(value: Value, classes: Value) -> Value:
    """v_cmp_class: I1, the bit of ``classes`` (I32) for ``value``'s class is set.

    Bits: 0 signaling NaN, 1 quiet NaN, 2 -infinity, 3 -normal, 4 -subnormal, 5 -0, 6 +0, 7 +subnormal, 8
    +normal, 9 +infinity.
    """
    const = value.builder.const
    negative = sign_bit(value)
    exponent = exponent_field(value)
    number = negative.select(const(1 << 3, I32), 1 << 8)
    number = exponent.eq(0).select(negative.select(const(1 << 4, I32), 1 << 7), number)
    number = is_zero(value).select(negative.select(const(1 << 5, I32), 1 << 6), number)
    number = is_infinite(value).select(negative.select(const(1 << 2, I32), 1 << 9), number)
    number = value.is_nan().select(is_signaling(value).select(const(1 << 0, I32), 1 << 1), number)
    return (classes & number).ne(0)


def normalised(value: Value) -> tuple[Value, Value]:
    """Bits of the magnitude of a finite non-zero number, shifted so that its leading one is at the implicit place, and
    its exponent field.

    For subnormals the exponent field continues below 1 (signed). Both are integers of the value's width.
    """
    form = format_of(value)
    bits = magnitude(value)
    exponent = exponent_field(value)
    shift = bits.ctlz() - (form.bits - 1 - form.fraction_bits)
    small = exponent.eq(0)
    shift = small.select(shift, 0) & (form.bits - 1)
    significand = (bits & form.fraction_mask).shl(shift) | form.smallest_normal
    return significand, small.select(1 - shift, exponent)


def frexp_exponent(value: Value) -> Value:
    """Exponent such that value = mantissa * 2**exponent with the mantissa in [0.5, 1); 0 for zero, infinity and NaN.

    An integer of the value's width, signed.
    """
    form = format_of(value)
    _, exponent = normalised(value)
    special = is_zero(value) | magnitude(value).uge(form.infinity)
    return special.select(0, exponent - (form.bias - 1))


def frexp_mantissa(value: Value) -> Value:
    """Mantissa in +-[0.5, 1); zeros, infinities and (quiet) NaNs are returned unchanged."""
    form = format_of(value)
    significand, _ = normalised(value)
    half = (form.bias - 1) << form.fraction_bits
    bits = (significand & form.fraction_mask) | half | (value.bits() & form.sign)
    special = is_zero(value) | magnitude(value).uge(form.infinity)
    number = special.select(value, bits.bitcast(value.type))
    return value.is_nan().select(quiet(value), number)


def power_of_two(exponent: Value, type: Type) -> Value:
    """2**exponent for an I32 exponent in the range of normal numbers of ``type``."""
    form = FORMATS[type]
    integer = INTEGER[type.bits]
    field = exponent + form.bias
    wide = field.sext(integer) if integer.bits > 32 else field.trunc(integer) if integer.bits < 32 else field
    return wide.shl(form.fraction_bits).bitcast(type)


def scale(value: Value, exponent: Value) -> Value:
    """value * 2**exponent (I32, signed, any) with one rounding (v_ldexp)."""
    if value.type is F64:
        # Three factors reach from the largest number to below the smallest. When shrinking, only the last product may
        # be inexact: until then the value is kept at or above 2**-969, so that no bit is lost early.
        e = exponent.smax(-2200).smin(2200)
        up = e.smin(1023).smax(0)
        rest = (e - up).smin(1023).smax(0)
        last = (e - up - rest).smin(1023).smax(0)
        raised = value
        for factor in (up, rest, last):
            raised = rounded(Op.FMUL, F64, raised, power_of_two(factor, F64))
        return arithmetic(e.slt(0).select(_lower(value, e), raised), value)
    # f16 and f32 fit into f64 with room for every relevant exponent: one exact product, one rounding.
    e = exponent.smax(-600).smin(600)
    with value.builder.nearest():
        wide = value.fpext(F64) * power_of_two(e, F64)
    return arithmetic(rounded(Op.FPTRUNC, value.type, wide), value)


def _lower(value: Value, exponent: Value) -> Value:
    """value * 2**exponent for f64 and a negative exponent above -2201, rounded once.

    The number is first scaled (exactly) to an exponent just above the subnormals, then multiplied down in one step.
    """
    form = FORMATS[F64]
    field = exponent_field(value).trunc(I32)
    # The exact part: scale down as far as the number stays normal.
    exact = (1 - field).smax(exponent).smin(0)
    lowered = (value.bits() + exact.sext(I64).shl(form.fraction_bits)).bitcast(F64)
    number = (field.sgt(0) & field.slt(form.max_exponent)).select(lowered, value)
    done = (field.sgt(0) & field.slt(form.max_exponent)).select(exact, 0)
    left = (exponent - done).smax(-1022)
    return rounded(Op.FMUL, F64, number, power_of_two(left, F64))
