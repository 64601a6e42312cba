"""The meaning of buffer formats in exact arithmetic: the oracle of the format tests."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from rocdbg.sim.data.buffer_formats import BufferFormat, NumberFormat

IDENTITY = 4 | 5 << 3 | 6 << 6 | 7 << 9


def round_even(x: Fraction) -> int:
    return round(x)  # Python rounds fractions half to even


def to_f32(x: Fraction) -> int:
    """Bits of the nearest f32, ties to even, of a number within its range."""
    if x == 0:
        return 0
    sign, x = (1 << 31, -x) if x < 0 else (0, x)
    exponent = max(math.floor(math.log2(x)), -126)
    while x >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while exponent > -126 and x < Fraction(2) ** exponent:
        exponent -= 1
    mantissa = round_even(x / Fraction(2) ** (exponent - 23))
    return sign | ((exponent + 126) << 23) + mantissa


def f32(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def f32_bits(x: float) -> int:
    return struct.unpack("<I", struct.pack("<f", x))[0]


def f16(bits: int) -> float:
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def f16_bits(x: float) -> int:
    """The nearest f16; numbers that are too large become infinite."""
    try:
        return struct.unpack("<H", struct.pack("<e", x))[0]
    except OverflowError:
        return 0xFC00 if x < 0 else 0x7C00


def f16_bits_truncated(x: float) -> int:
    bits = f16_bits(x)
    magnitude = bits & 0x7FFF
    return bits & 0x8000 | magnitude - (magnitude > 0 and abs(f16(bits)) > abs(x))


def signed(value: int, width: int) -> int:
    return value - (value >> (width - 1) << width)


def channel_bits(raw: bytes, form: BufferFormat, channel: int) -> int:
    at = sum(form.widths[:channel])
    return int.from_bytes(raw, "little") >> at & (1 << form.widths[channel]) - 1


def loaded(raw: bytes, form: BufferFormat, channel: int) -> int:
    """The 32 bits that a register gets."""
    width, kind = form.widths[channel], form.number
    if width == 0:
        return 0
    value = channel_bits(raw, form, channel)
    if width == 32 or kind is NumberFormat.UINT:
        return value
    if kind is NumberFormat.SINT:
        return signed(value, width) & 0xFFFFFFFF
    if kind is NumberFormat.UNORM:
        return to_f32(Fraction(value, (1 << width) - 1))
    if kind is NumberFormat.SNORM:
        return to_f32(max(Fraction(-1), Fraction(signed(value, width), (1 << width - 1) - 1)))
    if kind is NumberFormat.USCALED:
        return to_f32(Fraction(value))
    if kind is NumberFormat.SSCALED:
        return to_f32(Fraction(signed(value, width)))
    half = value if width == 16 else value << 10 - (width - 5)
    return f32_bits(f16(half))


def loaded_half(raw: bytes, form: BufferFormat, channel: int) -> int:
    """The 16 bits that a d16 instruction gives."""
    value = loaded(raw, form, channel)
    if form.number.is_integer:
        return value & 0xFFFF
    truncates = form.widths[channel] == 32
    return f16_bits_truncated(f32(value)) if truncates else f16_bits(f32(value))


def small_float(x: float, mantissa: int) -> int:
    """Unsigned float of 5 exponent bits."""
    if math.isnan(x):
        return 31 << mantissa | 1 << mantissa - 1
    if x <= 0:
        return 0
    if math.isinf(x):
        return 31 << mantissa
    exponent = max(math.frexp(x)[1] - 1, -14)
    bits = (exponent + 14 << mantissa) + round_even(Fraction(x) / Fraction(2) ** (exponent - mantissa))
    return min(bits, (31 << mantissa) - 1)


def stored(value: int, form: BufferFormat, channel: int) -> int:
    """The channel's bits in memory from a register's 32."""
    width, kind = form.widths[channel], form.number
    if width == 0:
        return 0
    mask = (1 << width) - 1
    if width == 32:
        return value & mask
    if kind is NumberFormat.UINT:
        return min(value & 0xFFFFFFFF, mask)
    if kind is NumberFormat.SINT:
        signed = (value & 0xFFFFFFFF ^ 1 << 31) - (1 << 31)
        return max(-(mask + 1) // 2, min(signed, mask >> 1)) & mask
    x = f32(value)
    if kind is NumberFormat.FLOAT:
        return f16_bits(x) if width == 16 else small_float(x, width - 5)
    if math.isnan(x):
        x = 0.0

    def clamp(low: int, high: int) -> Fraction:
        return Fraction(low if x < low else high if x > high else x)

    top, half = mask, mask >> 1
    if kind is NumberFormat.UNORM:
        return round_even(clamp(0, 1) * top)
    if kind is NumberFormat.SNORM:
        return round_even(clamp(-1, 1) * half) & mask
    if kind is NumberFormat.USCALED:
        return math.trunc(clamp(0, top))
    return math.trunc(clamp(-half - 1, half)) & mask


def stored_element(components: list[int], form: BufferFormat, selectors: int = IDENTITY) -> bytes:
    """An element in memory. A channel gets the component whose selector names it; X if there is none."""
    total, at = 0, 0
    for channel, width in enumerate(form.widths):
        source = 0
        for component in range(4):
            if selectors >> 3 * component & 7 == 4 + channel:
                source = components[component if component < len(components) else 0]
                break
        total |= stored(source, form, channel) << at
        at += width
    return total.to_bytes(form.size, "little")


def selected(channels: list[int], form: BufferFormat, selectors: int, one: int) -> list[int]:
    """The four components that a load makes of the channels."""
    return [one if (s := selectors >> 3 * n & 7) == 1 else channels[s - 4] if s >= 4 else 0 for n in range(4)]
