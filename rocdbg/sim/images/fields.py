"""The positions of the fields of image descriptors (T#, eight dwords) and sampler descriptors (S#, four), per
generation.

A field consists of one or more pieces, from the low bits up, each given as (dword, first bit, number of bits). The
positions are those of the ISA documents' tables "Image Resource Definition" and "Image Sampler Definition" and of what
runtimes write. Each generation has a row: a field without a position in it reads 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

from rocdbg.arch.targets import Generation, Target

Piece = tuple[int, int, int]
Field = tuple[Piece, ...]
Layout = Mapping[str, Field]

IMAGE_DWORDS = 8
SAMPLER_DWORDS = 4
_LINEAR_ALIGNED = 8
"""Linear with aligned rows, in all tables of tilings that Linux drivers write."""


class Rules(IntEnum):
    """The kind of descriptors that a target reads, and its layout of linear images."""

    GFX6 = 0
    """GFX6 to GFX8."""
    GFX9 = 1
    GFX10 = 2
    GFX10_3 = 3
    """As GFX10, but one- and two-dimensional images may have an explicit pitch."""
    GFX11 = 4
    GFX12 = 5

    @property
    def shape_in_image(self) -> bool:
        """Whether the image, rather than the instruction, determines the meaning of the addresses; all levels of detail
        have one pitch."""
        return self <= Rules.GFX9

    @property
    def linear(self) -> int:
        """The value of the field ``tiling`` that means a linear image. Up to GFX8 the field is the number of a row in a
        table that the kernel driver fills.
        """
        return _LINEAR_ALIGNED if self is Rules.GFX6 else 0


def rules_of(target: Target) -> Rules:
    """The rules of a target."""
    match target.generation:
        case Generation.GFX6 | Generation.GFX7 | Generation.GFX8:
            return Rules.GFX6
        case Generation.GFX10:
            return Rules.GFX10_3 if target.version is not None and target.version >= (10, 3, 0) else Rules.GFX10
        case Generation.GFX11:
            return Rules.GFX11
        case Generation.GFX12 | Generation.GFX13:
            return Rules.GFX12
    return Rules.GFX9


_SHARED_IMAGE: dict[str, Field] = {
    "base": ((0, 0, 32), (1, 0, 8)),  # in units of 256 bytes
    "dst_sel": ((3, 0, 12),),
    "base_level": ((3, 12, 4),),
    "last_level": ((3, 16, 4),),
    "tiling": ((3, 20, 5),),
    "bc_swizzle": ((3, 25, 3),),
    "type": ((3, 28, 4),),
    "compressed": ((6, 21, 1),),
}
_GFX9: dict[str, Field] = {
    **_SHARED_IMAGE,
    "min_lod": ((1, 8, 12),),
    "format": ((1, 20, 10),),  # DATA_FORMAT and, above it, NUM_FORMAT
    "width": ((2, 0, 14),),
    "height": ((2, 14, 14),),
    "depth": ((4, 0, 13),),
    "pitch": ((4, 13, 16),),
    "bc_swizzle": ((4, 29, 3),),
    "base_array": ((5, 0, 13),),
    "max_mip": ((5, 28, 4),),
}
_GFX6: dict[str, Field] = {
    **{name: field for name, field in _GFX9.items() if name not in ("bc_swizzle", "max_mip")},
    "padded": ((3, 25, 1),),
    "pitch": ((4, 13, 14),),
    "last_array": ((5, 13, 13),),
}
_GFX10: dict[str, Field] = {
    **_SHARED_IMAGE,
    "min_lod": ((1, 8, 12),),
    "format": ((1, 20, 9),),
    "width": ((1, 30, 2), (2, 0, 12)),
    "height": ((2, 14, 14),),
    "depth": ((4, 0, 13),),
    "base_array": ((4, 16, 13),),
    "max_mip": ((5, 4, 4),),
}
_GFX11: dict[str, Field] = {
    **_GFX10,
    "min_lod": ((5, 27, 5), (6, 0, 7)),
    "format": ((1, 20, 8),),
    "pitch": ((4, 0, 14),),
    "max_mip": ((1, 16, 4),),
}
_GFX12: dict[str, Field] = {
    **_SHARED_IMAGE,
    "min_lod": ((5, 26, 6), (6, 0, 7)),
    "format": ((1, 17, 8),),
    "width": ((1, 30, 2), (2, 0, 14)),
    "height": ((2, 14, 16),),
    "base_level": ((1, 25, 5),),
    "last_level": ((3, 15, 5),),
    "depth": ((4, 0, 14),),
    "pitch": ((4, 0, 16),),
    "base_array": ((4, 16, 14),),
    "max_mip": ((1, 12, 5),),
    "compressed": (),  # memory is compressed and expanded transparently
}
IMAGE_FIELDS: Mapping[Rules, Layout] = {
    Rules.GFX6: _GFX6,
    Rules.GFX9: _GFX9,
    Rules.GFX10: _GFX10,
    Rules.GFX10_3: {**_GFX10, "pitch": ((4, 0, 14),)},
    Rules.GFX11: _GFX11,
    Rules.GFX12: _GFX12,
}
"""Sizes, including the pitch, are stored minus one. ``depth`` is the depth of a 3D image; for arrays it is the last
layer of the view. Up to GFX8, ``last_array`` is the last layer of the view, and ``depth`` the last layer in memory (for
cubes, the last cube). ``padded`` means that sizes in memory are rounded up to powers of two, as those of smaller levels
of detail always are.
"""

_SAMPLER: dict[str, Field] = {
    "clamp_x": ((0, 0, 3),),
    "clamp_y": ((0, 3, 3),),
    "clamp_z": ((0, 6, 3),),
    "max_aniso": ((0, 9, 3),),
    "compare": ((0, 12, 3),),
    "unnormalized": ((0, 15, 1),),
    "truncate": ((0, 27, 1),),
    "no_cube_wrap": ((0, 28, 1),),
    "reduction": ((0, 29, 2),),
    "min_lod": ((1, 0, 12),),
    "max_lod": ((1, 12, 12),),
    "lod_bias": ((2, 0, 14),),
    "mag_filter": ((2, 20, 2),),
    "min_filter": ((2, 22, 2),),
    "z_filter": ((2, 24, 2),),
    "mip_filter": ((2, 26, 2),),
    "border": ((3, 30, 2),),
}
_GFX12_SAMPLER: dict[str, Field] = {**_SAMPLER, "min_lod": ((1, 0, 13),), "max_lod": ((1, 13, 13),)}
SAMPLER_FIELDS: Mapping[Rules, Layout] = {
    rules: _GFX12_SAMPLER if rules is Rules.GFX12 else _SAMPLER for rules in Rules
}
"""Levels of detail are unsigned numbers with 8 bits of fraction, the bias a signed one."""


def read(layout: Layout, name: str, words: Sequence[int]) -> int:
    """The value of a field."""
    value = at = 0
    for word, first, bits in layout.get(name, ()):
        value |= (words[word] >> first & (1 << bits) - 1) << at
        at += bits
    return value


def room(layout: Layout, name: str) -> int:
    """The largest value of a field."""
    return (1 << sum(bits for _, _, bits in layout.get(name, ()))) - 1


def write(layout: Layout, name: str, words: list[int], value: int) -> None:
    """Store ``value``, which must fit, in a field."""
    if not 0 <= value <= room(layout, name):
        raise ValueError(f"the {name.replace('_', ' ')} of the image does not fit into a descriptor")
    for word, first, bits in layout.get(name, ()):
        mask = (1 << bits) - 1
        words[word] = words[word] & ~(mask << first) | (value & mask) << first
        value >>= bits


__all__ = [
    "IMAGE_DWORDS", "IMAGE_FIELDS", "SAMPLER_DWORDS", "SAMPLER_FIELDS", "Field", "Layout", "Rules", "read", "room",
    "rules_of", "write",
]
