"""Sampler descriptors (S#): decoding, encoding, and description."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from msgspec import Struct

from rocdbg.sim.images.fields import SAMPLER_DWORDS, SAMPLER_FIELDS, Rules, read, room, write


class Clamp(IntEnum):
    """How coordinates outside the image are handled."""

    WRAP = 0
    MIRROR = 1
    EDGE = 2
    MIRROR_ONCE_EDGE = 3
    HALF_BORDER = 4
    MIRROR_ONCE_HALF_BORDER = 5
    BORDER = 6
    MIRROR_ONCE_BORDER = 7

    @property
    def text(self) -> str:
        """``mirror once to edge``."""
        return _CLAMP_TEXT[self]


_CLAMP_TEXT = {
    Clamp.WRAP: "wrap", Clamp.MIRROR: "mirror", Clamp.EDGE: "clamp to edge", Clamp.MIRROR_ONCE_EDGE: "mirror once",
    Clamp.HALF_BORDER: "clamp to half border", Clamp.MIRROR_ONCE_HALF_BORDER: "mirror once to half border",
    Clamp.BORDER: "clamp to border", Clamp.MIRROR_ONCE_BORDER: "mirror once to border",
}


class Border(IntEnum):
    """The colour of the border."""

    TRANSPARENT_BLACK = 0
    OPAQUE_BLACK = 1
    OPAQUE_WHITE = 2
    PALETTE = 3

    @property
    def text(self) -> str:
        """``opaque black``."""
        return self.name.lower().replace("_", " ") if self is not Border.PALETTE else "border from a palette"


POINT, LINEAR = 0, 1
"""The filters within a level. The other two values are anisotropic variants, which are treated as these."""
MIP_NONE, MIP_POINT, MIP_LINEAR = 0, 1, 2
_COMPARE = ("never", "less", "equal", "less or equal", "greater", "not equal", "greater or equal", "always")
_REDUCTION = ("", "minimum", "maximum", "reduction 3")


class SamplerDescriptor(Struct, frozen=True):
    """A sampler as its descriptor describes it. Levels of detail are in units of 1/256."""

    rules: Rules
    clamp: tuple[int, int, int] = (Clamp.EDGE, Clamp.EDGE, Clamp.EDGE)
    mag_filter: int = POINT
    min_filter: int = POINT
    mip_filter: int = MIP_NONE
    z_filter: int = 0
    """0 the same as within the level, 1 nearest, 2 linear."""
    unnormalized: bool = False
    truncate: bool = False
    border: int = Border.TRANSPARENT_BLACK
    compare: int = 0
    reduction: int = 0
    min_lod: int = 0
    max_lod: int = 4095
    lod_bias: int = 0
    max_aniso: int = 0
    no_cube_wrap: bool = False

    @classmethod
    def decode(cls, words: Sequence[int], rules: Rules) -> SamplerDescriptor:
        """Decode the four dwords of a descriptor. Any four dwords are valid."""
        layout = SAMPLER_FIELDS[rules]

        def field(name: str) -> int:
            return read(layout, name, words)

        bias, sign = field("lod_bias"), room(layout, "lod_bias") + 1 >> 1
        return cls(
            rules, (field("clamp_x"), field("clamp_y"), field("clamp_z")), field("mag_filter"), field("min_filter"),
            field("mip_filter"), field("z_filter"), bool(field("unnormalized")), bool(field("truncate")),
            field("border"), field("compare"), field("reduction"), field("min_lod"), field("max_lod"),
            (bias ^ sign) - sign, field("max_aniso"), bool(field("no_cube_wrap")),
        )

    def encode(self) -> list[int]:
        """The four dwords. Raises ValueError if something does not fit its field."""
        layout, words = SAMPLER_FIELDS[self.rules], [0] * SAMPLER_DWORDS
        values = {
            "clamp_x": self.clamp[0], "clamp_y": self.clamp[1], "clamp_z": self.clamp[2],
            "mag_filter": self.mag_filter, "min_filter": self.min_filter, "mip_filter": self.mip_filter,
            "z_filter": self.z_filter, "unnormalized": int(self.unnormalized), "truncate": int(self.truncate),
            "border": self.border, "compare": self.compare, "reduction": self.reduction, "min_lod": self.min_lod,
            "max_lod": self.max_lod, "lod_bias": self.lod_bias & room(layout, "lod_bias"), "max_aniso": self.max_aniso,
            "no_cube_wrap": int(self.no_cube_wrap),
        }
        for name, value in values.items():
            write(layout, name, words, value)
        return words

    @property
    def text(self) -> str:
        """One-line description: ``linear sampler, wrap, normalized coordinates``."""
        mag, least = ("nearest", "linear")[self.mag_filter & 1], ("nearest", "linear")[self.min_filter & 1]
        parts = [f"{mag} sampler" if mag == least else f"{mag} (minified: {least}) sampler"]
        words = [Clamp(mode).text for mode in self.clamp]
        parts.append(words[0] if len(set(words)) == 1 else " / ".join(words))
        if any(mode >= Clamp.HALF_BORDER for mode in self.clamp):
            parts.append(Border(self.border).text)
        parts.append("coordinates in texels" if self.unnormalized else "normalized coordinates")
        if self.mip_filter:
            parts.append(f"{'linear' if self.mip_filter == MIP_LINEAR else 'nearest'} between levels")
            parts.append(f"levels {self.min_lod / 256:g} to {self.max_lod / 256:g}")
        if self.lod_bias:
            parts.append(f"bias {self.lod_bias / 256:g}")
        if self.compare:
            parts.append(f"compares {_COMPARE[self.compare]}")
        if self.reduction:
            parts.append(_REDUCTION[self.reduction])
        if self.max_aniso:
            parts.append(f"anisotropy {1 << self.max_aniso}")
        return ", ".join(parts)


__all__ = ["LINEAR", "MIP_LINEAR", "MIP_NONE", "MIP_POINT", "POINT", "Border", "Clamp", "SamplerDescriptor"]
