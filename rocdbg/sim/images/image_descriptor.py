"""Image descriptors (T#): decoding, encoding, and description."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from msgspec import Struct

from rocdbg.sim.images.chips import CHIPS, Chip
from rocdbg.sim.images.fields import IMAGE_DWORDS, IMAGE_FIELDS, Rules, read, write
from rocdbg.sim.images.texel_formats import ImageFormat, formats_of
from rocdbg.sim.images.texel_layout import ImageLayout, linear, tiled
from rocdbg.sim.images.tiles import Equation, equation, tiling_of


class ImageType(IntEnum):
    """The TYPE field; other values are not images."""

    ONE = 8
    TWO = 9
    THREE = 10
    CUBE = 11
    ONE_ARRAY = 12
    TWO_ARRAY = 13
    TWO_MSAA = 14
    TWO_MSAA_ARRAY = 15

    @property
    def text(self) -> str:
        """``2D array``."""
        return _TYPE_TEXT[self]

    @property
    def is_array(self) -> bool:
        """Whether it has layers (of which a cube has six)."""
        return self in (ImageType.CUBE, ImageType.ONE_ARRAY, ImageType.TWO_ARRAY, ImageType.TWO_MSAA_ARRAY)


_TYPE_TEXT = {
    ImageType.ONE: "1D", ImageType.TWO: "2D", ImageType.THREE: "3D", ImageType.CUBE: "cube",
    ImageType.ONE_ARRAY: "1D array", ImageType.TWO_ARRAY: "2D array", ImageType.TWO_MSAA: "2D multi-sampled",
    ImageType.TWO_MSAA_ARRAY: "2D multi-sampled array",
}
_OWN_PITCH = (ImageType.ONE, ImageType.TWO, ImageType.TWO_MSAA)
SELECTORS = {0: "0", 1: "1", 4: "x", 5: "y", 6: "z", 7: "w"}
"""DST_SEL: where a component comes from."""
IDENTITY = (4, 5, 6, 7)


class ImageDescriptor(Struct, frozen=True):
    """An image as its descriptor describes it. Sizes are those of level 0; ``code`` is the format's."""

    rules: Rules
    type: int
    base: int
    width: int
    height: int
    code: int
    depth: int = 1
    """Planes of a 3D image, otherwise 1."""
    base_array: int = 0
    last_array: int = 0
    base_level: int = 0
    last_level: int = 0
    """For multi-sampled images, the logarithm of the number of samples."""
    max_mip: int = 0
    """The last level that is in memory."""
    pitch: int = 0
    """Texels from row to row as the descriptor gives it; 0 if it does not."""
    select: tuple[int, int, int, int] = IDENTITY
    border_swizzle: int = 0
    min_lod: int = 0
    tiling: int = 0
    compressed: bool = False
    stored: int = 0
    """GFX6 to GFX8: layers in memory; 0: those up to ``last_array``."""
    padded: bool = False
    """GFX6 to GFX8: sizes are rounded up to powers of two."""
    chip: Chip | None = None
    """The chip whose channels tilings mix; None if only the rules are known."""

    @classmethod
    def decode(cls, words: Sequence[int], rules: Rules, chip: Chip | None = None) -> ImageDescriptor:
        """Decode the eight dwords of a descriptor. Any dwords can be decoded; `problem` says what is wrong with the
        result.
        """
        layout = IMAGE_FIELDS[rules]

        def field(name: str) -> int:
            return read(layout, name, words)

        kind, depth, selectors = field("type"), field("depth"), field("dst_sel")
        pitch = field("pitch")
        early = rules is Rules.GFX6
        last = field("last_array") if early else depth
        stored = (6 if kind == ImageType.CUBE else 1) * (depth + 1) if early and kind in _WITH_LAYERS else 0
        if not rules.shape_in_image and (kind not in _OWN_PITCH or not pitch or field("max_mip")):
            pitch = -1
        return cls(
            rules, kind, field("base") << 8, field("width") + 1, field("height") + 1, field("format"),
            depth=depth + 1 if kind == ImageType.THREE else 1,
            base_array=0 if kind == ImageType.THREE else field("base_array"),
            last_array=last if kind in _WITH_LAYERS else 0 if kind == ImageType.THREE else field("base_array"),
            base_level=field("base_level"), last_level=field("last_level"),
            max_mip=field("last_level") if early else field("max_mip"), pitch=pitch + 1,
            select=(selectors & 7, selectors >> 3 & 7, selectors >> 6 & 7, selectors >> 9),
            border_swizzle=field("bc_swizzle"), min_lod=field("min_lod"), tiling=field("tiling"),
            compressed=bool(field("compressed")), stored=stored, padded=bool(field("padded")), chip=chip,
        )

    def encode(self) -> list[int]:
        """The eight dwords. Raises ValueError if something does not fit its field."""
        layout, words = IMAGE_FIELDS[self.rules], [0] * IMAGE_DWORDS
        if self.base & 0xFF:
            raise ValueError(f"the address {self.base:#x} of the image is not a multiple of 256")
        early = self.rules is Rules.GFX6
        depth = self.depth - 1 if self.type == ImageType.THREE else self.last_array
        if early and self.type in _WITH_LAYERS:
            depth = (self.stored or self.last_array + 1) // (6 if self.type == ImageType.CUBE else 1) - 1
        values = {
            "base": self.base >> 8, "width": self.width - 1, "height": self.height - 1, "format": self.code,
            "type": self.type, "base_array": self.base_array, "base_level": self.base_level,
            "last_level": self.last_level, "max_mip": 0 if early else self.max_mip, "bc_swizzle": self.border_swizzle,
            "min_lod": self.min_lod, "tiling": self.tiling, "compressed": int(self.compressed),
            "padded": int(self.padded), "dst_sel": sum(select << 3 * n for n, select in enumerate(self.select)),
        }
        if early and self.type in _WITH_LAYERS:
            values["last_array"] = self.last_array
        if self.rules.shape_in_image or self.type in _WITH_LAYERS or self.type == ImageType.THREE:
            values["depth"] = depth
        if self.pitch and (self.rules.shape_in_image or "depth" not in values):
            values["pitch"] = self.pitch - 1
        for name, value in values.items():
            if layout.get(name) or value:
                write(layout, name, words, value)
        return words

    @property
    def format(self) -> ImageFormat | None:
        """The image's data format; None if it is not simulated."""
        return formats_of(self.rules).get(self.code)

    @property
    def layers(self) -> int:
        """The number of layers that instructions see; 1 if the image is not an array."""
        return max(0, self.last_array - self.base_array + 1)

    @property
    def problem(self) -> str | None:
        """Why instructions cannot use this descriptor; None if they can."""
        if self.type < ImageType.ONE:
            return None  # nothing is bound: reads give 0
        if self.compressed:
            return "the image is compressed, which is not simulated"
        if self.format is None:
            return f"the image's format {self.code:#x} is not simulated"
        if self.type >= ImageType.TWO_MSAA and self.last_level:
            return f"the image has {1 << self.last_level} samples per pixel, which is not simulated"
        if self.tiling != self.rules.linear:
            return self._problem_of_tiling()
        return None

    def _problem_of_tiling(self) -> str | None:
        known = tiling_of(self.rules, self.tiling)
        if known is None:
            return f"the image is tiled in a way that is not simulated (mode {self.tiling})"
        if self.tile is None and known.mixed and self._chip.pipes is None:
            return f"the image's tiling {known.name} mixes memory channels, and the target's number of these is unknown"
        if self.tile is None:
            return f"the image's tiling {known.name} is not simulated for its type and format"
        if self.max_mip and (self.rules < Rules.GFX10 or (self.rules is Rules.GFX12 and self.tile.depth)):
            return f"the image is tiled ({known.name}) and has levels of detail, which is not simulated"
        return None

    @property
    def _chip(self) -> Chip:
        return self.chip or CHIPS[self.rules]

    @property
    def tile(self) -> Equation | None:
        """The order of the texels in a block; None if it is linear, or not known."""
        form = self.format
        if self.tiling == self.rules.linear or form is None or self.type >= ImageType.TWO_MSAA:
            return None
        if self.rules is not Rules.GFX6 and self.type in (ImageType.ONE, ImageType.ONE_ARRAY):
            return None
        return equation(self._chip, self.tiling, form.size.bit_length() - 1, self.type == ImageType.THREE)

    def layout(self) -> ImageLayout | None:
        """The layout of the texels; None if it is not simulated."""
        form = self.format
        if self.type < ImageType.ONE or self.problem is not None or form is None:
            return None
        flat = self.type in (ImageType.ONE, ImageType.ONE_ARRAY)
        slices = self.depth if self.type == ImageType.THREE else self.stored or self.last_array + 1
        levels = 1 if self.type >= ImageType.TWO_MSAA else self.max_mip + 1
        height, tile = 1 if flat else self.height, self.tile
        if tile is not None:
            return tiled(tile, form.size, self.width, height, self.depth, slices, levels, self.pitch)
        return linear(
            self.rules, form.size, self.width, height, self.depth, slices, levels, self.pitch, padded=self.padded
        )

    @property
    def text(self) -> str:
        """One-line description: ``2D image 64x64, 8_8_8_8_UNORM, xyzw, at 0x7f0000100000``."""
        if self.type < ImageType.ONE:
            return "no image (nothing is bound)" if not self.type else f"no image (type {self.type})"
        kind = ImageType(self.type)
        size = f"{self.width}"
        if kind not in (ImageType.ONE, ImageType.ONE_ARRAY):
            size += f"x{self.height}"
        if kind is ImageType.THREE:
            size += f"x{self.depth}"
        parts = [f"{kind.text} image {size}"]
        if kind.is_array:
            parts.append(f"layers {self.base_array} to {self.last_array}")
        form = self.format
        parts.append(form.name if form is not None else f"format {self.code:#x}")
        parts.append("".join(SELECTORS.get(select, "?") for select in self.select))
        if kind < ImageType.TWO_MSAA and self.last_level:
            parts.append(f"levels {self.base_level} to {self.last_level}")
        elif kind >= ImageType.TWO_MSAA:
            parts.append(f"{1 << self.last_level} samples")
        tiling = tiling_of(self.rules, self.tiling)
        name = f"mode {self.tiling}" if tiling is None else tiling.name
        parts.append("linear" if self.tiling == self.rules.linear else f"tiled ({name})")
        if self.compressed:
            parts.append("compressed")
        return ", ".join([*parts, f"at {self.base:#x}"])


_WITH_LAYERS = frozenset(kind for kind in ImageType if kind.is_array)


__all__ = ["IDENTITY", "SELECTORS", "ImageDescriptor", "ImageType"]
