"""The functions the pseudocode calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tests.sim.pcode import values as v
from tests.sim.pcode.operations import cast, flag
from tests.sim.pcode.scope import PcodeError, Scope
from tests.sim.pcode.values import Value


def scoped(function: Callable[..., Value]) -> Callable[..., Value]:
    """The function takes the scope (for its rounding) as its first argument."""
    function.wants_scope = True  # type: ignore[attr-defined]
    return function


def _exponent(value: Value) -> Value:
    form = v.format_of(value)
    raw: int = value.raw  # type: ignore[assignment]
    return Value("i", 32, raw >> form.fraction_bits & (1 << form.exponent_bits) - 1)


def _sign(value: Value) -> Value:
    return Value("u", 1, int(value.raw) >> value.bits - 1)  # type: ignore[call-overload]


def _abs(value: Value) -> Value:
    return Value(value.kind, value.bits, int(value.raw) & (1 << value.bits - 1) - 1)  # type: ignore[call-overload]


def _mantissa(value: Value) -> Value:
    """The fraction in +-[0.5, 1), as from frexp."""
    group, sign, mantissa, _ = v.unpack(value)
    if group != v.FINITE or not mantissa:
        return value
    return v.pack(value.kind, value.bits, sign, mantissa, -mantissa.bit_length(), 0)


def _frexp_exponent(value: Value) -> Value:
    group, _, mantissa, exponent = v.unpack(value)
    number = mantissa.bit_length() + exponent if group == v.FINITE and mantissa else 0
    return Value("i", 32, number & 0xFFFFFFFF)


def _to_integer(low: int, high: int, bits: int) -> Callable[[Value], Value]:
    kind = "i" if low < 0 else "u"
    return lambda value: Value(kind, bits, v.to_integer(value, low, high) & (1 << bits) - 1)


def _normalised(low: int, high: int) -> Callable[[Value], Value]:
    """f16_to_snorm and similar functions: value * high, rounded to nearest even and clamped."""

    def convert(value: Value) -> Value:
        scaled = v.multiply("f", 64, v.convert(value, "f", 64, 0), v.from_float(float(high), "f", 64, 0), 0)
        if v.is_nan(scaled):
            return Value("i" if low < 0 else "u", 16, 0)
        number = v.to_integer(v.integral(scaled, "even"), low, high)
        return Value("i" if low < 0 else "u", 16, number & 0xFFFF)

    return convert


def _clamped(low: int, high: int) -> Callable[[Value], Value]:
    return lambda value: Value("i" if low < 0 else "u", 16, max(low, min(high, v.signed(value))) & 0xFFFF)


def _host(function: Callable[[float], float]) -> Callable[..., Value]:
    """A function computed in the host's f64, rounded once more: within an ulp."""

    def call(scope: Scope, value: Value) -> Value:
        if v.is_nan(value):
            return v.nan_of(value.kind, value.bits, value)
        try:
            result = function(v.to_float(value))
        except ValueError:
            result = math.nan
        except OverflowError:
            result = math.inf
        return v.from_float(result, value.kind, value.bits, 0)

    return scoped(call)


def _log2(number: float) -> float:
    return -math.inf if number == 0 else math.log2(number)


def _exp2(number: float) -> float:
    return math.inf if number > 2000 else 0.0 if number < -2000 else 2.0**number


def _turns(function: Callable[[float], float]) -> Callable[[float], float]:
    def call(number: float) -> float:
        part = math.fmod(number, 1.0)
        # Exact at quarters; elsewhere the argument's error is far below an ulp of f32.
        quarters = part * 4
        if quarters == int(quarters):
            return (
                function(quarters * math.pi / 2)
                if abs(function(quarters * math.pi / 2)) > 0.5
                else math.copysign(0, number)
            )
        return function(part * 2 * math.pi)

    return call


@scoped
def _fma(scope: Scope, a: Value, b: Value, c: Value) -> Value:
    wide = max((a, b, c), key=lambda x: x.bits)
    a, b, c = (v.convert(x, wide.kind, wide.bits, 0) for x in (a, b, c))
    return v.fma(a, b, c, scope.rounding(wide.bits))


@scoped
def _scaled(scope: Scope, value: Value, exponent: Value) -> Value:
    group, sign, mantissa, power = v.unpack(value)
    if group != v.FINITE:
        return v.quieted(value) if group == v.NAN else value
    return v.pack(
        value.kind, value.bits, sign, mantissa, power + v.signed(exponent), scope.rounding(value.bits)
    )


@scoped
def _square_root(scope: Scope, value: Value) -> Value:
    return v.square_root(value, scope.rounding(value.bits))


@scoped
def _power(scope: Scope, base: Value, exponent: Value) -> Value:
    assert v.to_float(base) == 2.0
    return NAMES["exp2"](scope, exponent)  # type: ignore[no-any-return]


def _fract(value: Value) -> Value:
    floor = v.integral(value, "floor")
    return v.add(value.kind, value.bits, value, floor, 0, negate=1)


def _even(value: Value) -> Value:
    number = v.to_float(value)
    return flag(math.isfinite(number) and number % 2 == 0)


def _signext(value: Value) -> Value:
    return Value(
        "i", max(64, value.bits), v.signed(Value("i", value.bits, value.raw)) & (1 << max(64, value.bits)) - 1
    )


def _signext_from_bit(value: Value, width: Value) -> Value:
    count = v.signed(width)
    if count == 0:
        return Value("i", value.bits, 0)
    raw = int(value.raw) & (1 << count) - 1  # type: ignore[call-overload]
    if count <= value.bits and raw >> count - 1:
        raw -= 1 << count
    return Value("i", value.bits, raw & (1 << value.bits) - 1)


def _to_float(bits: int, kind: str = "f") -> Callable[..., Value]:
    @scoped
    def call(scope: Scope, value: Value) -> Value:
        if value.is_float:
            return v.convert(value, kind, bits, scope.rounding(16 if kind == "bf" else bits))
        number = v.signed(value)
        return v.pack(kind, bits, number < 0, abs(number), 0, scope.rounding(bits))

    return call


def small_float(raw: int, exponent_bits: int, fraction_bits: int, bias: int, special: str) -> Value:
    """A number of an 8, 6 or 4-bit format as f32. ``special``: "ieee" (infinities and NaNs), "ocp" (one NaN at all
    ones, no infinity), "fnuz" (NaN is minus zero) or "none"."""
    sign = raw >> exponent_bits + fraction_bits & 1
    exponent = raw >> fraction_bits & (1 << exponent_bits) - 1
    fraction = raw & (1 << fraction_bits) - 1
    top = exponent == (1 << exponent_bits) - 1
    if special == "fnuz" and sign and not exponent and not fraction:
        return Value("f", 32, 0xFFC00000)
    if special == "ieee" and top:
        if fraction:
            return Value("f", 32, sign << 31 | 0x7FC00000)
        return Value("f", 32, sign << 31 | 0x7F800000)
    if special == "ocp" and top and fraction == (1 << fraction_bits) - 1:
        return Value("f", 32, sign << 31 | 0x7FC00000)
    if exponent:
        return v.pack("f", 32, sign, fraction | 1 << fraction_bits, exponent - bias - fraction_bits, 0)
    return v.pack("f", 32, sign, fraction, 1 - bias - fraction_bits, 0)


def from_fp8(ocp: bool) -> Callable[[Value], Value]:
    return lambda x: small_float(int(x.raw), 4, 3, 7 if ocp else 8, "ocp" if ocp else "fnuz")  # type: ignore[call-overload]


def from_bf8(ocp: bool) -> Callable[[Value], Value]:
    return lambda x: small_float(int(x.raw), 5, 2, 15 if ocp else 16, "ieee" if ocp else "fnuz")  # type: ignore[call-overload]


def to_small(
    value: Value, exponent_bits: int, fraction_bits: int, bias: int, special: str, saturate: bool
) -> int:
    """An f32 as a number of a small format, nearest even; see `small_float`. gfx1201 encodes every NaN with
    the sign set and
    the quiet bit only."""
    group, sign, mantissa, exponent = v.unpack(value)
    top = sign << exponent_bits + fraction_bits
    ones = (1 << exponent_bits + fraction_bits) - 1
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    largest = {"ieee": infinity - 1, "ocp": ones - 1, "fnuz": ones}[special]
    nan = {"ieee": 0x80 | infinity | 1 << fraction_bits - 1, "ocp": 0x80 | ones, "fnuz": 0x80}[special]
    beyond = {"ieee": top | infinity, "ocp": top | ones, "fnuz": 0x80}[special]
    if group == v.NAN:
        return nan
    if group == v.INFINITE:
        return beyond
    if not mantissa:
        return 0 if special == "fnuz" else top
    lowest = 1 - bias - fraction_bits
    wanted = max(mantissa.bit_length() - 1 + exponent - fraction_bits, lowest)
    shift = wanted - exponent
    kept = mantissa << -shift if shift <= 0 else mantissa >> shift
    if shift > 0:
        rest, half = mantissa & (1 << shift) - 1, 1 << shift - 1
        kept += rest > half or (rest == half and kept & 1)
    raw = kept + (wanted - lowest << fraction_bits)
    if raw > largest:
        return top | largest if saturate else beyond
    return 0 if special == "fnuz" and not raw else top | raw


def to_fp8(ocp: bool, saturate: bool) -> Callable[[Value], Value]:
    return lambda x: Value("fp8", 8, to_small(x, 4, 3, 7 if ocp else 8, "ocp" if ocp else "fnuz", saturate))


def to_bf8(ocp: bool, saturate: bool) -> Callable[[Value], Value]:
    return lambda x: Value(
        "bf8", 8, to_small(x, 5, 2, 15 if ocp else 16, "ieee" if ocp else "fnuz", saturate)
    )


SMALL = {"fp8": (4, 3, 7, "ocp"), "bf8": (5, 2, 15, "ieee"), "fp6": (2, 3, 1, "none"), "bf6": (3, 2, 3, "none"),
         "fp4": (2, 1, 1, "none")}
"""Exponent bits, fraction bits, bias and specials of gfx950's small formats."""


def scale_conversions(saturate: bool) -> dict[str, Callable[..., Value]]:
    """f32_to_fp6_scale(x, scale) and similar functions; ``scale`` is a biased exponent of two."""

    def narrow(name: str) -> Callable[[Value, Value], Value]:
        exponent_bits, fraction_bits, bias, special = SMALL[name]
        width = 1 + exponent_bits + fraction_bits

        def convert(value: Value, scale: Value) -> Value:
            group, sign, mantissa, exponent = v.unpack(value)
            power = 127 - (int(scale.raw) & 255)  # type: ignore[call-overload]
            if special == "none":
                most = (1 << width - 1) - 1
                if group != v.FINITE:
                    return Value(name, width, (0 if group == v.NAN else sign) << width - 1 | most)
                raw = _rounded_small(mantissa, exponent + power, fraction_bits, bias)
                return Value(name, width, sign << width - 1 | min(raw, most))
            if group != v.FINITE or not mantissa:
                raw = to_small(
                    v.convert(value, "f", 32, 0), exponent_bits, fraction_bits, bias, special, saturate
                )
                return Value(name, width, raw)
            exact = v.pack("f", 64, sign, mantissa, exponent + power, 0)
            return Value(name, width, to_small(exact, exponent_bits, fraction_bits, bias, special, saturate))

        return convert

    def widen(name: str, kind: str, bits: int) -> Callable[[Value, Value], Value]:
        def convert(value: Value, scale: Value) -> Value:
            power = (int(scale.raw) & 255) - 127  # type: ignore[call-overload]
            number = small_float(int(value.raw), *SMALL[name])  # type: ignore[call-overload]
            group, sign, mantissa, exponent = v.unpack(number)
            if group == v.NAN:
                return v.convert(number, kind, bits, 0)
            return v.pack_number(kind, bits, (group, sign, mantissa, exponent + power), 0)

        return convert

    found: dict[str, Callable[..., Value]] = {}
    for name in SMALL:
        for wide, kind, bits in (("f32", "f", 32), ("f16", "f", 16), ("bf16", "bf", 16)):
            found[f"{wide}_to_{name}_scale"] = narrow(name)
            found[f"{name}_to_{wide}_scale"] = widen(name, kind, bits)
    return found


def _rounded_small(mantissa: int, exponent: int, fraction_bits: int, bias: int) -> int:
    """The magnitude of a number in a format without specials, nearest even, not yet limited."""
    if not mantissa:
        return 0
    lowest = 1 - bias - fraction_bits
    wanted = max(mantissa.bit_length() - 1 + exponent - fraction_bits, lowest)
    shift = wanted - exponent
    kept = mantissa << -shift if shift <= 0 else mantissa >> shift
    if shift > 0:
        rest, half = mantissa & (1 << shift) - 1, 1 << shift - 1
        kept += rest > half or (rest == half and kept & 1)
    return kept + (wanted - lowest << fraction_bits)


def _minimum(largest: bool) -> Callable[[Value, Value], Value]:
    """IEEE 754-2019 minimum and maximum: the first NaN, -0 below +0."""

    def call(a: Value, b: Value) -> Value:
        for x in (a, b):
            if v.is_nan(x):
                return v.quieted(x)
        x, y = v.to_float(a), v.to_float(b)
        less = x < y or (x == y and math.copysign(1, x) < math.copysign(1, y))
        return a if less != largest else b

    return call


def _minimum3(largest: bool) -> Callable[..., Value]:
    two = _minimum(largest)
    return lambda a, b, c: two(two(a, b), c)


def float32(sign: Value, exponent: Value, mantissa: Value) -> Value:
    """Sign, exponent field and fraction as an f32."""
    raw = int(sign.raw) << 31 | (int(exponent.raw) & 255) << 23 | int(mantissa.raw) & 0x7FFFFF  # type: ignore[call-overload]
    return Value("f", 32, raw)


def _sad(masked: bool) -> Callable[[Value, Value, Value], Value]:
    def call(a: Value, b: Value, c: Value) -> Value:
        total = int(c.raw)  # type: ignore[call-overload]
        for n in range(4):
            x, y = int(a.raw) >> 8 * n & 255, int(b.raw) >> 8 * n & 255  # type: ignore[call-overload]
            total += abs(x - y) if y or not masked else 0
        return Value("u", 64, total)

    return call


def _first_one(value: Value) -> Value:
    raw = int(value.raw)  # type: ignore[call-overload]
    return Value("i", 32, ((raw & -raw).bit_length() - 1) & 0xFFFFFFFF)


def _two_over_pi() -> int:
    """floor(2/pi * 2**1201), from Machin's formula."""

    def arctan_inverse(n: int, one: int) -> int:
        total, term, k = 0, one // n, 0
        while term:
            total += term // (2 * k + 1) * (-1 if k & 1 else 1)
            term //= n * n
            k += 1
        return total

    one = 1 << 1400
    pi = 4 * (4 * arctan_inverse(5, one) - arctan_inverse(239, one))
    return (one * one * 2 // pi) >> 199


TWO_OVER_PI = _two_over_pi()


@scoped
def _by_mode(scope: Scope, value: Value) -> Value:
    return v.integral(value, ("even", "ceil", "floor", "trunc")[scope.rounding(32)])


@scoped
def _doubled(scope: Scope, value: Value) -> Value:
    result = v.add("f", 32, v.flushed(value), v.flushed(value), scope.rounding(32))
    return Value("f", 32, 0) if result.raw == 1 << 31 and scope.rounding(32) != 2 else result


def _nearest_up(value: Value) -> Value:
    half = v.from_float(0.5, "f", 64, 0)
    return v.integral(v.add("f", 64, v.convert(value, "f", 64, 0), half, 0), "floor")


def _nan_by_sign(value: Value, number: Value) -> Value:
    if v.is_nan(value):
        return Value("i", 32, 0x80000000 if int(value.raw) >> 31 else 0x7FFFFFFF)  # type: ignore[call-overload]
    return Value("i", 32, v.to_integer(number, -(1 << 31), (1 << 31) - 1) & 0xFFFFFFFF)


def _div_scale(value: Value, denominator: Value, numerator: Value) -> tuple[int, bool]:
    """(power of two v_div_scale multiplies by, whether v_div_fmas scales back)."""
    f32 = value.bits == 32
    step, far, fraction, bias = (64, 96, 23, 127) if f32 else (128, 768, 52, 1023)
    d, n = v.signed(_exponent(denominator)), v.signed(_exponent(numerator))
    of_denominator = value.raw == denominator.raw
    if n - d >= far:
        return (step if of_denominator else 0), True
    tiny = n - d <= -far
    if d == 0:
        return step, False
    if d >= 2 * bias - 1:
        return (0 if tiny and not of_denominator else -step), tiny
    if tiny:
        return (0 if of_denominator else step), True
    return (step if n <= fraction + 1 else 0), False


@scoped
def _div_scaled(scope: Scope, value: Value, denominator: Value, numerator: Value) -> Value:
    if v.to_float(denominator) == 0 or v.to_float(numerator) == 0:
        return v.nan_of(value.kind, value.bits)
    power, _ = _div_scale(value, denominator, numerator)
    return _scaled(scope, value, Value("i", 32, power & 0xFFFFFFFF)) if power else value


@scoped
def _div_fmas(scope: Scope, a: Value, b: Value, c: Value, post: Value) -> Value:
    rounding = scope.rounding(a.bits)
    if not post.raw or any(v.unpack(x)[0] != v.FINITE for x in (a, b, c)):
        return v.fma(a, b, c, rounding)
    step, bias = (64, 127) if a.bits == 32 else (128, 1023)
    x, y, z = (v.unpack(value) for value in (a, b, c))
    power = step if v.signed(_exponent(c)) > bias else -step
    low = min(x[3] + y[3], z[3])
    total = (x[2] * y[2] << x[3] + y[3] - low) * (-1 if x[1] ^ y[1] else 1)
    total += (z[2] << z[3] - low) * (-1 if z[1] else 1)
    if not total:
        return v.fma(a, b, c, rounding)
    return v.pack(a.kind, a.bits, total < 0, abs(total), low + power, rounding)


def _below_one(value: Value) -> Value:
    form = v.format_of(value)
    raw = int(value.raw)  # type: ignore[call-overload]
    one = form.bias << form.fraction_bits
    if raw == 1 << form.width - 1:
        return Value(value.kind, value.bits, 0)
    return Value(value.kind, value.bits, one - 1 if one <= raw < form.infinity else raw)


@scoped
def _trig_preop(scope: Scope, value: Value, index: Value) -> Value:
    """The bits of 2/pi that affect a large operand: 53 of them from position 53 * index on."""
    exponent = v.signed(_exponent(value))
    shift = v.signed(index) * 53 + max(exponent - 1077, 0)
    bits = (TWO_OVER_PI << shift & (1 << 1201) - 1) >> 1201 - 53
    scale = -53 - shift + (128 if exponent >= 1968 else 0)
    return v.pack("f", 64, 0, bits, scale, 0)


NAMES: dict[str, Any] = {
    "round_by_mode": _by_mode, "doubled": _doubled, "nearest_up": _nearest_up, "nan_by_sign": _nan_by_sign,
    "flushed": v.flushed, "quieted": lambda x: v.quieted(x) if v.is_nan(x) else x,
    "div_scale": _div_scaled, "div_scale_flag": lambda *values: flag(_div_scale(*values)[1]), "div_fmas": _div_fmas,
    "fraction": lambda x: Value("b", 23, int(x.raw) & 0x7FFFFF),
    "is_plus_zero": lambda x: flag(not x.raw), "is_minus_zero": lambda x: flag(x.raw == 1 << x.bits - 1),
    "in_range": lambda x: flag(abs(v.to_float(x)) <= 256 or math.isinf(v.to_float(x))),
    "below_one": _below_one, "trig_preop": _trig_preop, "MAX_FLOAT_F32": Value("f", 32, 0x7F7FFFFF),
    "OVERFLOW_F32": Value("f", 32, 0x7F800000), "OVERFLOW_F64": Value("f", 64, 0x7FF << 52),
    "UNDERFLOW_F32": Value("f", 32, 0), "UNDERFLOW_F64": Value("f", 64, 0),
    "abs": _abs, "sign": _sign, "exponent": _exponent, "mantissa": _mantissa, "frexp_exponent": _frexp_exponent,
    "isNAN": lambda x: flag(v.is_nan(x)),
    "isQuietNAN": lambda x: flag(v.is_nan(x) and not v.is_signaling(x)),
    "isSignalNAN": lambda x: flag(v.is_signaling(x)),
    "cvtToQuietNAN": v.quieted,
    "isEven": _even, "fract": _fract,
    "trunc": lambda x: v.integral(x, "trunc"), "floor": lambda x: v.integral(x, "floor"),
    "ceil": lambda x: v.integral(x, "ceil"), "round_even": lambda x: v.integral(x, "even"),
    "fma": _fma, "ldexp": _scaled, "sqrt": _square_root, "pow": _power,
    "log2": _host(_log2), "exp2": _host(_exp2), "sin_turns": _host(_turns(math.sin)),
    "cos_turns": _host(_turns(math.cos)),
    "tanh": _host(math.tanh),
    "signext": _signext, "signext_from_bit": _signext_from_bit,
    "countbits": lambda x: Value("u", 32, int(x.raw).bit_count()),
    "bitCount": lambda x: Value("u", 32, int(x.raw).bit_count()),
    "s_ff1_i32_b32": _first_one, "s_ff1_i32_b64": _first_one,
    "v_sad_u8": _sad(False), "v_msad_u8": _sad(True),
    "f32_to_u8": _to_integer(0, 255, 8),
    "f16_to_snorm": _normalised(-0x7FFF, 0x7FFF), "f32_to_snorm": _normalised(-0x7FFF, 0x7FFF),
    "f16_to_unorm": _normalised(0, 0xFFFF), "f32_to_unorm": _normalised(0, 0xFFFF),
    "u32_to_u16": _clamped(0, 0xFFFF), "i32_to_i16": _clamped(-0x8000, 0x7FFF),
    "nop": lambda *_: Value("u", 1, 0), "s_nop": lambda *_: Value("u", 1, 0),
    "v_cvt_i16_f32": _to_integer(-0x8000, 0x7FFF, 16), "v_cvt_u16_f32": _to_integer(0, 0xFFFF, 16),
    "WORD1": Value("sym", 0, "WORD1"), "BYTE1": Value("sym", 0, "BYTE1"),
    "is_subnormal": lambda x: flag(v.is_subnormal(x)),
}
for _bits in (16, 32, 64):
    for _source in ("f16", "f32", "f64", "bf16", "i16", "u16", "i32", "u32"):
        NAMES[f"{_source}_to_f{_bits}"] = _to_float(_bits)
    NAMES[f"f{_bits}_to_i32"] = _to_integer(-(1 << 31), (1 << 31) - 1, 32)
    NAMES[f"f{_bits}_to_u32"] = _to_integer(0, (1 << 32) - 1, 32)
for _kind, _bits in (("u", 16), ("u", 32), ("i", 16), ("i", 32)):
    _low, _high = (0, (1 << _bits) - 1) if _kind == "u" else (-(1 << _bits - 1), (1 << _bits - 1) - 1)
    NAMES[f"saturate_{_kind}{_bits}"] = lambda x, k=_kind, n=_bits, low=_low, high=_high: Value(
        k, n, max(low, min(high, v.signed(Value("i", x.bits, x.raw)))) & (1 << n) - 1
    )
for _type in ("f16", "f32"):
    for _word, _largest in (("minimum", False), ("maximum", True)):
        NAMES[f"v_{_word}_{_type}"] = _minimum(_largest)
        NAMES[f"v_{_word}3_{_type}"] = _minimum3(_largest)
NAMES["f32_to_bf16"] = _to_float(16, "bf")
NAMES["f16_to_i16"] = _to_integer(-0x8000, 0x7FFF, 16)
NAMES["f16_to_u16"] = _to_integer(0, 0xFFFF, 16)
for _small in ("u4", "u8", "u16", "i4", "i8", "i16"):
    NAMES[f"{_small}_to_{_small[0]}32"] = lambda x, k=_small[0]: Value(k, 32, v.signed(x) & 0xFFFFFFFF)


def instruction_function(text: str, run: Callable[[str, Scope], None]) -> Callable[..., Value]:
    """v_min_f32(a, b) inside another instruction's text: the text of v_min_f32 on these operands."""

    def call(scope: Scope, *arguments: Value) -> Value:
        names = {**scope.names, **{f"S{n}": value for n, value in enumerate(arguments)}}
        names["D0"] = Value("b", arguments[0].bits, 0)
        inner = Scope(names, (scope.round32, scope.round16_64))
        run(text, inner)
        result: Value = names["D0"]
        return Value(arguments[0].kind, arguments[0].bits, result.raw)

    return scoped(call)


__all__ = ["NAMES", "PcodeError", "cast", "from_bf8", "from_fp8", "instruction_function", "small_float"]
