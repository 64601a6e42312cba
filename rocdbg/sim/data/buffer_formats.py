"""Data formats of buffers: how many bits each channel has, and what they mean.

GFX9 names a format by two fields (DFMT and NFMT), GFX10 and later by one number; GFX11 has fewer formats and new
numbers. The names are those that ``llvm-mc`` prints. They list the channels from the high bits down, while
`BufferFormat.widths` begins with channel X in the low bits.
"""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct

from rocdbg.arch.targets import Generation


class NumberFormat(IntEnum):
    """The meaning of a channel's bits; the values are those of GFX9's NFMT field."""

    UNORM = 0
    SNORM = 1
    USCALED = 2
    SSCALED = 3
    UINT = 4
    SINT = 5
    FLOAT = 7
    SRGB = 9
    """For images only."""
    SHARED = 15
    """For images only: three mantissas of nine bits and a shared exponent of five bits. The value is rocdbg's own."""

    @property
    def is_integer(self) -> bool:
        """Whether registers hold integers (otherwise f32, or f16 with d16 instructions)."""
        return self in (NumberFormat.UINT, NumberFormat.SINT)


class BufferFormat(Struct, frozen=True):
    """One data format. ``widths``: bits of channels X, Y, Z, W, from the low bits up; 0 where there is none."""

    name: str
    widths: tuple[int, int, int, int]
    number: NumberFormat

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return sum(self.widths) // 8

    @property
    def channels(self) -> int:
        """How many channels it has."""
        return sum(width > 0 for width in self.widths)


_DATA_FORMATS = (
    "INVALID", "8", "16", "8_8", "32", "16_16", "10_11_11", "11_11_10", "10_10_10_2", "2_10_10_10", "8_8_8_8", "32_32",
    "16_16_16_16", "32_32_32", "32_32_32_32",
)
"""GFX9's DFMT field."""

_SCALED = "UNORM SNORM USCALED SSCALED UINT SINT"
_ALL = f"{_SCALED} FLOAT"
_WIDE = "UINT SINT FLOAT"
_GFX10_ORDER = (
    ("8", _SCALED), ("16", _ALL), ("8_8", _SCALED), ("32", _WIDE), ("16_16", _ALL), ("10_11_11", _ALL),
    ("11_11_10", _ALL), ("10_10_10_2", _SCALED), ("2_10_10_10", _SCALED), ("8_8_8_8", _SCALED), ("32_32", _WIDE),
    ("16_16_16_16", _ALL), ("32_32_32", _WIDE), ("32_32_32_32", _WIDE),
)
_GFX11_ORDER = (
    ("8", _SCALED), ("16", _ALL), ("8_8", _SCALED), ("32", _WIDE), ("16_16", _ALL), ("10_11_11", "FLOAT"),
    ("11_11_10", "FLOAT"), ("10_10_10_2", "UNORM SNORM UINT SINT"), ("2_10_10_10", _SCALED), ("8_8_8_8", _SCALED),
    ("32_32", _WIDE), ("16_16_16_16", _ALL), ("32_32_32", _WIDE), ("32_32_32_32", _WIDE),
)


def _format(data: str, number: NumberFormat) -> BufferFormat:
    widths = [int(width) for width in reversed(data.split("_"))]
    widths += [0] * (4 - len(widths))
    return BufferFormat(f"{data}_{number.name}", (widths[0], widths[1], widths[2], widths[3]), number)


def _is_float_width(width: int) -> bool:
    return width in (10, 11, 16, 32)


def _gfx9() -> dict[int, BufferFormat]:
    """Formats by DFMT | NFMT << 4, as MTBUF encodes them. Floats of 2 or 8 bits do not exist, nor does number format 6.
    """
    found: dict[int, BufferFormat] = {}
    for number in (each for each in NumberFormat if each <= NumberFormat.FLOAT):  # the field has three bits
        for code, data in enumerate(_DATA_FORMATS):
            if code == 0:
                continue
            form = _format(data, number)
            if number is not NumberFormat.FLOAT or all(_is_float_width(w) for w in form.widths if w):
                found[code | number << 4] = form
    return found


def _unified(order: tuple[tuple[str, str], ...]) -> dict[int, BufferFormat]:
    forms = [_format(data, NumberFormat[number]) for data, numbers in order for number in numbers.split()]
    return dict(enumerate(forms, 1))


GFX9_FORMATS = _gfx9()
GFX10_FORMATS = _unified(_GFX10_ORDER)
GFX11_FORMATS = _unified(_GFX11_ORDER)


def formats_of(generation: Generation) -> dict[int, BufferFormat]:
    """The formats of a generation by their code: DFMT | NFMT << 4 on GFX9, FORMAT from GFX10 on. Other codes are
    invalid: a resource with such a code reads 0 and ignores stores."""
    if generation < Generation.GFX10:
        return GFX9_FORMATS
    return GFX10_FORMATS if generation is Generation.GFX10 else GFX11_FORMATS


__all__ = ["GFX9_FORMATS", "GFX10_FORMATS", "GFX11_FORMATS", "BufferFormat", "NumberFormat", "formats_of"]
