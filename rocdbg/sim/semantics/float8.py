"""The small float formats: the 8-bit formats E4M3 and E5M2, in the FNUZ variants of gfx940 to gfx942 and the OCP
variants of later targets; and gfx950's 6-bit and 4-bit formats, which do not have infinities or NaNs.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.targets import Generation, Target
from rocdbg.sim.core.builder import F32, F64, I8, I32, I64, Value


class Float8(Struct, frozen=True):
    """A format: ``fraction_bits``, ``bias``, the bits of the largest number and of a NaN, and the special values it
    has."""

    fraction_bits: int
    bias: int
    largest: int
    """Bits of the largest finite number."""
    nan: int
    """The bits (including the sign) to which NaN inputs are converted; in formats without NaNs, the largest number."""
    infinity: int | None
    """Bits of infinity, if the format has one."""
    negative_zero: bool
    """Whether 0x80 is -0; otherwise it is the only NaN (FNUZ)."""
    bits: int = 8

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << self.bits - 1


E4M3_FNUZ = Float8(3, 8, 0x7F, 0x80, None, False)
E5M2_FNUZ = Float8(2, 16, 0x7F, 0x80, None, False)
E4M3_OCP = Float8(3, 7, 0x7E, 0xFF, None, True)
E5M2_OCP = Float8(2, 15, 0x7B, 0xFE, 0x7C, True)
E2M3 = Float8(3, 1, 0x1F, 0x1F, None, True, 6)
E3M2 = Float8(2, 3, 0x1F, 0x1F, None, True, 6)
E2M1 = Float8(1, 1, 0x07, 0x07, None, True, 4)


def formats(target: Target) -> dict[str, Float8]:
    """The formats ``fp8``, ``bf8``, ``fp6``, ``bf6`` and ``fp4`` of a target."""
    fnuz = target.generation is Generation.GFX9 and target.version is not None and target.version[1:] < (5, 0)
    eight = {"fp8": E4M3_FNUZ, "bf8": E5M2_FNUZ} if fnuz else {"fp8": E4M3_OCP, "bf8": E5M2_OCP}
    return {**eight, "fp6": E2M3, "bf6": E3M2, "fp4": E2M1}


def widen(byte: Value, form: Float8) -> Value:
    """The number in the low bits of an I8 (or I32), as f32 (exact); NaNs of either sign as the default NaN."""
    word = byte.zext(I32)
    magnitude, sign = word & form.sign - 1, (word & form.sign).shl(32 - form.bits)
    # Move the bits to f32's position, subnormals included; multiplying corrects for the different bias.
    number = magnitude.shl(23 - form.fraction_bits).bitcast(F32) * 2.0 ** (127 - form.bias)
    bits = number.bits()
    if form.infinity is not None:
        bits = magnitude.eq(form.infinity).select(0x7F800000, bits)
        bits = magnitude.ugt(form.infinity).select(0xFFC00000, bits)
    elif form.negative_zero and form.largest < form.sign - 1:
        bits = magnitude.ugt(form.largest).select(0xFFC00000, bits)
    result = bits | sign
    if not form.negative_zero:
        result = word.eq(0x80).select(0x7FC00000, result)
    return result.bitcast(F32)


def narrow(value: Value, form: Float8, *, saturate: bool) -> Value:
    """An f32 rounded to nearest even, as I8. ``saturate``: finite overflow gives the largest number."""
    wide = value.fpext(F64)
    # The unit of the last place: for the number's exponent, but not below that of the smallest normal number.
    exponent = (wide.bits().lshr(52) & 0x7FF).trunc(I32)
    unit = exponent.smax(1023 + 1 - form.bias) - form.fraction_bits
    unit = unit.smin(1023 + 200)
    factor = unit.zext(I64).shl(52).bitcast(F64)
    rounded = ((wide / factor).rint() * factor).fptrunc(F32)
    scaled = rounded * 2.0 ** (form.bias - 127)
    bits = scaled.bits()
    sign = bits.lshr(24) & 0x80
    code = (bits & 0x7FFFFFFF).lshr(23 - form.fraction_bits)
    overflow = form.infinity if form.infinity is not None else form.nan & 0x7F if form.negative_zero else None
    infinite = (value.bits() & 0x7FFFFFFF).eq(0x7F800000)
    too_big = code.ugt(form.largest)
    if overflow is None:  # FNUZ: there is one NaN, without a sign
        result = code.eq(0).select(0, code | sign)
        clamped = sign | form.largest
        special = value.builder.const(form.nan, I32)
        result = too_big.select(clamped if saturate else special, result)
        result = infinite.select(special, result)
    else:
        result = too_big.select(form.largest if saturate else overflow, code)
        result = infinite.select(overflow, result) | sign
    return value.is_nan().select(form.nan, result).trunc(I8)


def round_scaled(
    wide: Value, negative: Value, form: Float8, *, saturate: bool, noise: tuple[Value, int] | None = None
) -> Value:
    """Round an f64 that holds a scaled f32, f16 or bf16 exactly to the bits of ``form`` (I32). ``negative`` (I1) is the
    number's sign, also for a NaN.

    Rounded to nearest even, or stochastically: ``noise`` is 32 random bits and the fraction bits of the source; the
    number is truncated to that many fraction bits, the top random bits are added below the last bit kept, and the sum
    is truncated. Without ``saturate`` overflow gives infinity, or the NaN of a format that has no infinity; formats of
    less than 8 bits always saturate.
    """
    kept = noise[1] if noise else form.fraction_bits
    lowest = 1 - form.bias
    exponent = ((wide.bits().lshr(52) & 0x7FF).trunc(I32) - 1023).smax(lowest).smin(form.bias + 40)
    # |wide| in units of the last place kept: 2**(exponent - kept).
    unit = (1023 + kept - exponent).zext(I64).shl(52).bitcast(F64)
    steps = wide.fabs() * unit
    whole = (steps.ftrunc() if noise else steps.rint()).fptoui(I64).umin(1 << 40)
    code = whole + (exponent - lowest).zext(I64).shl(kept)
    if noise:
        dropped = kept - form.fraction_bits
        code = (code + noise[0].lshr(32 - dropped).zext(I64)).lshr(dropped)
    code = code.umin(0xFFFF).trunc(I32)
    special = form.nan & form.sign - 1
    limit = form.infinity if form.infinity is not None else special
    code = code.ugt(form.largest).select(form.largest if saturate else limit, code)
    sign = negative.select(wide.builder.const(form.sign, I32), 0)
    return wide.is_nan().select(special, code) | sign
