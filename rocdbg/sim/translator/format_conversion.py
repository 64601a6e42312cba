"""Converts between channels of buffer formats and registers, for formats that are known only at run time.

Loads: normalised numbers are divided by their largest value, f16 and smaller floats are exact, 32-bit channels are
never converted. Stores: normalised numbers round to nearest even, scaled ones toward zero, integers are not converted,
all are clamped, NaN counts as 0. OpenCL requires that integers are clamped. That the hardware does so is not
documented, but AMD's library of OpenCL functions leaves it to the hardware, which passes Khronos' tests of out-of-range
writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.sim.core.builder import F16, F32, F64, I16, I32, I64, Value
from rocdbg.sim.data.buffer_formats import GFX9_FORMATS, GFX10_FORMATS, GFX11_FORMATS, BufferFormat, NumberFormat

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine


class RunTimeFormat(Struct):
    """A format at run time: its row of the table, bytes (0: unbound), number format and DST_SEL, all I64."""

    row: Value
    size: Value
    number: Value
    selectors: Value
    d16: Value

    def width(self, channel: int) -> Value:
        """Bits of a channel."""
        return self.row.lshr(6 * channel) & 63

    def offset(self, channel: int) -> Value:
        """Bit offset of a channel."""
        at = self.row & 0
        for before in range(channel):
            at = at + self.width(before)
        return at & 127


def format_table() -> str:
    """The formats as an LLVM constant: three tables of 128 rows. Row: widths, 6 bits each; number format at bit 40;
    bytes at bit 48; 0 where invalid.
    """

    def row(form: BufferFormat | None) -> int:
        if form is None:
            return 0
        widths = sum(width << 6 * n for n, width in enumerate(form.widths))
        return widths | int(form.number) << 40 | form.size << 48

    rows: list[int] = []
    tables: tuple[Mapping[int, BufferFormat], ...] = (GFX9_FORMATS, GFX10_FORMATS, GFX11_FORMATS)
    for table in tables:
        rows += [row(table.get(code)) for code in range(128)]
    return f"@formats = private constant [{len(rows)} x i64] [{', '.join(f'i64 {n}' for n in rows)}]"


def _is(f: RunTimeFormat, number: NumberFormat) -> Value:
    return f.number.eq(int(number))


def is_integer(number: Value) -> Value:
    return (number & ~1).eq(int(NumberFormat.UINT))


def _choose(f: RunTimeFormat, results: Mapping[NumberFormat, Value], other: Value) -> Value:
    for number, result in results.items():
        other = _is(f, number).select(result, other)
    return other


def _small_float(bits: Value, mantissa: Value) -> Value:
    """An unsigned float with 5 exponent bits and ``mantissa`` (5 or 6) mantissa bits, converted exactly to f32 bits. It
    is an f16 without a sign and with fewer bits."""
    half = bits.shl(10 - mantissa).trunc(I16).bitcast(F16)
    return half.fpext(F32).bits()


def from_memory(r: Routine, f: RunTimeFormat, raw: list[Value], channel: int) -> Value:
    """The I32 that a register receives for a channel; with d16, the value is in the low half."""
    width, at = f.width(channel), f.offset(channel)
    word = raw[0]
    for n in range(1, 4):
        word = at.lshr(5).eq(n).select(raw[n], word)
    width32, shift = width.trunc(I32), (at & 31).trunc(I32)
    unsigned = width.uge(32).select(word, word.lshr(shift) & (r.const(1, I32).shl(width32 & 31) - 1))
    up = (32 - width32) & 31
    signed = unsigned.shl(up).ashr(up)
    most = (r.const(1, I32).shl(width32 & 31) - 1).uitofp(F32)
    largest = (r.const(1, I32).shl((width32 - 1) & 31) - 1).uitofp(F32)
    lowest = r.const(-1.0, F32)
    snorm = signed.sitofp(F32) / largest
    snorm = snorm.flt(lowest).select(lowest, snorm)
    floats = {
        NumberFormat.UNORM: (unsigned.uitofp(F32) / most).bits(),
        NumberFormat.SNORM: snorm.bits(),
        NumberFormat.USCALED: unsigned.uitofp(F32).bits(),
        NumberFormat.SSCALED: signed.sitofp(F32).bits(),
        NumberFormat.FLOAT: width.eq(16).select(
            _half_to_single(unsigned), _small_float(unsigned, (width32 - 5) & 15)
        ),
    }
    converted = _choose(f, floats, unsigned)
    # Channels of 32 bits are never converted.
    value = width.eq(32).select(unsigned, converted)
    integer = _is(f, NumberFormat.SINT).select(signed, unsigned)
    value = is_integer(f.number).select(integer, value)
    # With d16, an f32 in memory is truncated to f16; everything else is rounded to nearest.
    single = value.bitcast(F32)
    nearest = single.fptrunc(F16)
    halves = nearest.bits()
    if_wide = (single.fabs().flt(nearest.fpext(F32).fabs()) & ~single.is_nan()).select(halves - 1, halves)
    narrow = width.eq(32).select(if_wide, halves).zext(I32)
    sixteen = is_integer(f.number).select(value & 0xFFFF, narrow)
    return width.eq(0).select(0, f.d16.select(sixteen, value))


def _half_to_single(bits: Value) -> Value:
    return bits.trunc(I16).bitcast(F16).fpext(F32).bits()


def widen(r: Routine, f: RunTimeFormat, word: Value) -> Value:
    """A register's value as 32 bits: with d16 it is an f16 or a 16-bit integer."""
    half = word & 0xFFFF
    signed = half.shl(16).ashr(16)
    wide = _choose(f, {NumberFormat.UINT: half, NumberFormat.SINT: signed}, _half_to_single(half))
    return f.d16.select(wide, word)


def to_memory(r: Routine, f: RunTimeFormat, value: Value, channel: int) -> Value:
    """The bits of a channel in memory, I32, made from a register's 32 bits."""
    width = f.width(channel)
    width32 = width.trunc(I32)
    mask = width.uge(32).select(r.const(-1, I32), r.const(1, I32).shl(width32 & 31) - 1)
    number = value.bitcast(F32).fpext(F64)
    number = value.bitcast(F32).is_nan().select(r.const(0.0, F64), number)

    def clamp(low: Value, high: Value) -> Value:
        raised = number.flt(low).select(low, number)
        return high.flt(raised).select(high, raised)

    def integer(x: Value) -> Value:
        return x.fptosi(I64).trunc(I32)

    zero, one = r.const(0.0, F64), r.const(1.0, F64)
    top = (r.const(1, I64).shl(width & 31) - 1).uitofp(F64)
    half = r.const(1, I64).shl((width - 1) & 31)
    high = (half - 1).uitofp(F64)
    low = r.const(0, I32) - half.trunc(I32)
    results = {
        NumberFormat.UINT: value.umin(mask),
        NumberFormat.SINT: value.smax(low).smin(-1 - low),
        NumberFormat.UNORM: integer((clamp(zero, one) * top).rint()),
        NumberFormat.SNORM: integer((clamp(r.const(-1.0, F64), one) * high).rint()),
        NumberFormat.USCALED: integer(clamp(zero, top).ftrunc()),
        NumberFormat.SSCALED: integer(clamp(-half.uitofp(F64), high).ftrunc()),
        NumberFormat.FLOAT: width.eq(16).select(
            value.bitcast(F32).fptrunc(F16).bits().zext(I32), _to_small_float(r, value, (width32 - 5) & 15)
        ),
    }
    converted = _choose(f, results, value)
    return width.eq(0).select(0, width.uge(32).select(value, converted & mask))


def _to_small_float(r: Routine, value: Value, mantissa: Value) -> Value:
    """f32 to an unsigned float with 5 exponent bits and ``mantissa`` (5 or 6) mantissa bits: rounded to nearest even;
    negative numbers become 0, large ones the largest number, NaN a NaN with its first bit set."""
    single = value.bitcast(F32)
    infinity = r.const(31, I32).shl(mantissa)
    number = single.is_nan().select(r.const(0.0, F32), single).fpext(F64)
    # Scale so that the last place of the result is 1. All numbers below 2^-14 have the same last place.
    exponent = ((value.lshr(23) & 255).smax(113) - 127).sext(I64)
    unit = exponent - mantissa.zext(I64)
    scale = (r.const(1023, I64) - unit).shl(52).bitcast(F64)
    places = (number * scale).rint().fptosi(I64).trunc(I32)
    bits = (exponent.trunc(I32) + 14).shl(mantissa) + places
    bits = bits.uge(infinity).select(infinity - 1, bits)
    bits = value.slt(0).select(0, bits)
    bits = value.eq(0x7F800000).select(infinity, bits)
    return single.is_nan().select(infinity | r.const(1, I32).shl(mantissa - 1), bits)


__all__ = ["RunTimeFormat", "format_table", "from_memory", "is_integer", "to_memory", "widen"]
