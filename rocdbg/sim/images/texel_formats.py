"""Data formats of images: how many bits each channel has, and what they mean; the codes of each generation.

GFX9 names a format by DATA_FORMAT and NUM_FORMAT (here the code is DATA_FORMAT | NUM_FORMAT << 6), later generations by
one number, whose low codes are those of buffers. Compressed, subsampled, depth-stencil and multi-sample-mask formats
are omitted: they are not simulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rocdbg.sim.data.buffer_formats import GFX9_FORMATS, GFX10_FORMATS, GFX11_FORMATS, BufferFormat, NumberFormat
from rocdbg.sim.images.fields import Rules


class ImageFormat(BufferFormat, frozen=True):
    """One data format."""

    @property
    def row(self) -> int:
        """The format as translated code reads it: widths, six bits each; ``number`` at bit 40; bytes at bit 48."""
        widths = sum(width << 6 * n for n, width in enumerate(self.widths))
        return widths | int(self.number) << 40 | self.size << 48


def _image(form: BufferFormat) -> ImageFormat:
    return ImageFormat(form.name, form.widths, form.number)


def _packed(data: str, number: NumberFormat) -> ImageFormat:
    widths = [int(width) for width in reversed(data.split("_"))] + [0] * 4
    name = f"{data}_{'FLOAT' if number is NumberFormat.SHARED else number.name}"
    return ImageFormat(name, (widths[0], widths[1], widths[2], widths[3]), number)


_UNORM, _SRGB, _SHARED = NumberFormat.UNORM, NumberFormat.SRGB, NumberFormat.SHARED
_LATE = {
    0: _packed("8", _SRGB), 1: _packed("8_8", _SRGB), 2: _packed("8_8_8_8", _SRGB), 4: _packed("5_9_9_9", _SHARED),
    5: _packed("5_6_5", _UNORM), 6: _packed("1_5_5_5", _UNORM), 7: _packed("5_5_5_1", _UNORM),
    8: _packed("4_4_4_4", _UNORM), 9: _packed("4_4", _UNORM),
}
"""Formats by distance from 8_SRGB, in GFX10's numbering; GFX11 has no 6E4 at 3."""


def _gfx9() -> dict[int, ImageFormat]:
    found = {code & 15 | (code >> 4) << 6: _image(form) for code, form in GFX9_FORMATS.items()}
    for code, data in ((16, "5_6_5"), (17, "1_5_5_5"), (18, "5_5_5_1"), (19, "4_4_4_4")):
        found[code] = _packed(data, _UNORM)
    for code, data in ((1, "8"), (3, "8_8"), (10, "8_8_8_8")):
        found[code | int(_SRGB) << 6] = _packed(data, _SRGB)
    found[34 | int(NumberFormat.FLOAT) << 6] = _packed("5_9_9_9", _SHARED)
    return found


@lru_cache(maxsize=8)
def formats_of(rules: Rules) -> Mapping[int, ImageFormat]:
    """The formats by their code in a descriptor. Texels of 12 bytes are omitted: no pitch is a multiple of them."""
    if rules.shape_in_image:
        found = _gfx9()
    elif rules <= Rules.GFX10_3:
        found = {code: _image(form) for code, form in GFX10_FORMATS.items()}
        found |= {128 + n: form for n, form in _LATE.items()}
    else:
        found = {code: _image(form) for code, form in GFX11_FORMATS.items()}
        found |= {64 + n - (n > 3): form for n, form in _LATE.items()}
    return {code: form for code, form in found.items() if form.size != 12}


def code_of(rules: Rules, name: str) -> int | None:
    """The code of the format called ``name`` (``8_8_8_8_UNORM``), or None if a generation does not have it."""
    return next((code for code, form in formats_of(rules).items() if form.name == name), None)


CODES = {Rules.GFX6: 1024, Rules.GFX9: 1024, Rules.GFX10: 512, Rules.GFX10_3: 512, Rules.GFX11: 256, Rules.GFX12: 256}
"""How many codes a descriptor of each kind can hold."""


__all__ = ["CODES", "ImageFormat", "code_of", "formats_of"]
