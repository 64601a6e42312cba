"""Images and samplers as arguments: their syntax in launches, and the objects that kernels get.

An image's contents are given and returned without row padding: level by level, layer by layer (or plane by plane), row
by row. On the device they have the target's linear layout, or the tiling that a launch names. The argument is the
address of an object with the layout of ROCm's runtime: the descriptor in eight dwords, the numbers of channel type and
order, and the width. A sampler's object begins with its descriptor; a HIP texture is an image's object followed by a
sampler's.
"""

from __future__ import annotations

import re
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.arch.targets import Target
from rocdbg.launch.elements import MAX_BUFFER_SIZE, ArrayType
from rocdbg.launch.errors import LaunchError, shown
from rocdbg.launch.image_formats import FormatName, format_of_array, parse_format
from rocdbg.launch.value_arguments import swapped
from rocdbg.sim.images.buffer_images import buffer_words
from rocdbg.sim.images.chips import Chip, chip_of
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.image_descriptor import ImageDescriptor, ImageType
from rocdbg.sim.images.made_image import made_image
from rocdbg.sim.images.sampler_descriptor import LINEAR, MIP_LINEAR, MIP_POINT, Border, Clamp, SamplerDescriptor
from rocdbg.sim.images.texel_formats import code_of
from rocdbg.sim.images.texel_layout import ImageLayout, Level
from rocdbg.sim.images.tiles import TILINGS, tiling_named

KINDS = {
    "1d": (ImageType.ONE, 1), "2d": (ImageType.TWO, 2), "3d": (ImageType.THREE, 3),
    "1d_array": (ImageType.ONE_ARRAY, 2), "2d_array": (ImageType.TWO_ARRAY, 3), "cube": (ImageType.CUBE, 3),
    "buffer": (None, 1),
}
"""The type and the number of sizes of each kind, by name. A cube's third size is the number of faces. A buffer image
has a buffer resource (V#) as its descriptor.
"""
OBJECT_SIZE = 48
SAMPLER_SIZE = 32
_TEXT = re.compile(
    r"\s*(\w+?)\s*(?:\s(1d|2d|3d|1d_array|2d_array|cube|buffer)\s*)?\[([^\]]*)\]\s*(?:levels\s+(\d{1,4})\s*)?(?:tiling\s+(\w{1,16})\s*)?",
    re.ASCII,
)
_MOST_LEVELS = 15
_ROW = 256
"""Maximum row alignment in bytes; up to GFX8 there may be twice as many rows."""


def chip_for(target: Target, where: str) -> Chip:
    """The rules of a target's images. Raises LaunchError if it has none."""
    if not target.has_images:
        raise LaunchError(where, f"{target.name} does not support images")
    return chip_of(target)


class ImageSpec(Struct, frozen=True, dict=True):
    """An image without its contents; written ``rgba8[64,64]``, ``r32f 2d_array[64,64,5]``, ``r8[64,64] levels 7``."""

    format: FormatName
    kind: str
    sizes: tuple[int, ...]
    """Width, then height, then depth or layers; only those that the kind has."""
    levels: int = 1
    tiling: str = ""
    """The name of a tiling, as it was written; empty for linear images."""

    @classmethod
    def parse(cls, text: str, where: str) -> ImageSpec:
        """Raises LaunchError."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise LaunchError(
                where, f"`{shown(text)[1:-1]}`: write an image as FORMAT[WIDTH,HEIGHT], for example rgba8[64,64]"
            )
        words = [word.strip() for word in match[3].split(",")]
        if not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
            raise LaunchError(where, f"`{shown(match[3])[1:-1]}` is not a list of sizes; write, for example, [64,64]")
        kind = match[2] or ("1d", "2d", "3d")[min(len(words), 3) - 1]
        sizes = tuple(int(word) for word in words)
        if kind == "cube" and len(sizes) == 2:
            sizes = (*sizes, 6)
        return cls.of(parse_format(match[1], where), kind, sizes, int(match[4] or 1), where, match[5] or "")

    @classmethod
    def of(
        cls, form: FormatName, kind: str, sizes: tuple[int, ...], levels: int, where: str, tiling: str = ""
    ) -> ImageSpec:
        """An image with these properties, after checking them. Raises LaunchError."""
        count = KINDS[kind][1]
        if len(sizes) != count:
            raise LaunchError(where, f"a {kind} image has {count} sizes, but {len(sizes)} are given")
        if not all(sizes):
            raise LaunchError(where, "the sizes of an image must be at least 1")
        if kind == "cube" and (sizes[0] != sizes[1] or sizes[2] % 6):
            raise LaunchError(where, "the faces of a cube must be square, and their number must be a multiple of 6")
        most = max(sizes[: 1 if kind == "1d_array" else 2 if kind != "3d" else 3]).bit_length()
        most = min(most, _MOST_LEVELS) if kind != "buffer" else 1
        if not 1 <= levels <= most:
            raise LaunchError(where, f"an image of this size can have 1 to {most} levels, not {shown(levels)}")
        if tiling and kind == "buffer":
            raise LaunchError(where, "a buffer image cannot have a tiling")
        if tiling and all(tiling_named(rules, tiling) is None for rules in Rules):
            raise LaunchError(
                where, f"`{shown(tiling)[1:-1]}` is not a tiling of any target; an example of a tiling is 64KB_S"
            )
        found = cls(form, kind, sizes, levels, tiling)
        if found.array.nbytes > MAX_BUFFER_SIZE:
            raise LaunchError(where, f"the image has {found.array.nbytes} bytes; the limit is {MAX_BUFFER_SIZE}")
        return found

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """For each level, the numbers of slices, rows and texels, and of the elements of a texel."""
        width, height, deep = (*self.sizes, 1, 1)[:3]
        if self.kind == "1d_array":
            height, deep = 1, self.sizes[1]
        found = []
        for n in range(self.levels):
            slices = max(1, deep >> n) if self.kind == "3d" else deep
            found.append((slices, max(1, height >> n), max(1, width >> n), self.format.elements))
        return tuple(found)

    @cached_property
    def array(self) -> ArrayType:
        """The image's contents as an array of elements."""
        return ArrayType(self.format.element, sum(prod(shape) for shape in self.shapes))

    @property
    def padded_size(self) -> int:
        """Approximate bytes on a device, where rows are aligned. An image that turns out much larger is rejected when
        it is created.
        """
        size = self.array.dtype.itemsize
        return sum(
            slices * rows * (-(-texels * elements * size // _ROW) * _ROW)
            for slices, rows, texels, elements in self.shapes
        )

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The shape of the array that a user sees: [layers,] [rows,] texels[, elements]; one-dimensional if there are
        several levels.
        """
        if self.levels > 1:
            return (self.array.count,)
        elements = (self.format.elements,) if self.format.elements > 1 else ()
        return (*reversed(self.sizes), *elements)

    def __str__(self) -> str:
        kind = "" if self.kind == ("1d", "2d", "3d")[len(self.sizes) - 1] else f" {self.kind}"
        levels = f" levels {self.levels}" if self.levels > 1 else ""
        tiling = f" tiling {self.tiling}" if self.tiling else ""
        return f"{self.format.name}{kind}[{','.join(map(str, self.sizes))}]{levels}{tiling}"

    # -- on a device --------------------

    def layout(self, chip: Chip, where: str) -> ImageLayout:
        """The image's layout in a device's memory. Raises LaunchError for images that a target does not support."""
        if self.kind == "buffer":
            width, size = self.sizes[0], self.array.nbytes
            return ImageLayout((Level(0, width, width, 1, 1, size),), size // width, 1, size)
        return self._made(chip, 0, where)[1]

    def object_words(self, chip: Chip, base: int, where: str) -> list[int]:
        """The twelve dwords of the object of the image at ``base``. Raises LaunchError."""
        if self.kind == "buffer":
            words = buffer_words(chip, base, self.format.data, self.sizes[0], self.format.select)
            if words is None:
                raise LaunchError(where, f"the target has no buffer format for {self.format.name}")
        else:
            words = self._made(chip, base, where)[0].encode()
        return [*words, self.format.hsa_type, self.format.hsa_order, self.sizes[0], 0]

    def _made(self, chip: Chip, base: int, where: str) -> tuple[ImageDescriptor, ImageLayout]:
        code = code_of(chip.rules, self.format.data)
        if code is None:
            raise LaunchError(where, f"the target has no image format for {self.format.name}")
        kind, _ = KINDS[self.kind]
        assert kind is not None
        slices, height, width, _ = self.shapes[0]
        tiling = tiling_named(chip.rules, self.tiling) if self.tiling else None
        if self.tiling and tiling is None:
            known = ", ".join(tiling.name for tiling in TILINGS[chip.rules])
            raise LaunchError(where, f"the target has no tiling {self.tiling}; its tilings are {known}")
        try:
            image, layout = made_image(
                chip, kind, code, base, (width, height, slices), self.levels, select=self.format.select,
                border=self.format.border, tiling=None if tiling is None else tiling.mode,
            )  # fmt: skip
        except ValueError as error:
            raise LaunchError(where, f"this image is not possible on the target: {error}") from None
        if layout.size > 2 * MAX_BUFFER_SIZE:
            raise LaunchError(
                where, f"with its padding, the image takes {layout.size} bytes on the device; the limit is "
                f"{2 * MAX_BUFFER_SIZE}"
            )
        return image, layout


def _rows(spec: ImageSpec, layout: ImageLayout, padded: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """For linear images: for each level a view of its texels, [slice][row][byte]."""
    size = spec.array.dtype.itemsize * spec.format.elements
    found = []
    for level, shape in zip(layout.levels, spec.shapes, strict=True):
        strides = (level.slice, level.pitch * size, 1)
        # Unlike `as_strided`, this checks that the view ends within the memory.
        found.append(np.ndarray((shape[0], shape[1], shape[2] * size), np.uint8, padded, level.offset, strides))
    return found


def _tiled(spec: ImageSpec, layout: ImageLayout) -> list[tuple[slice, NDArray[np.int64]]]:
    """For tiled images: the texels of each level, and their positions in memory, in texels."""
    found, at = [], 0
    for n, (slices, rows, texels, _) in enumerate(spec.shapes):
        where = layout.offsets(n, slices).reshape(-1) // layout.texel
        found.append((slice(at, at + slices * rows * texels), where))
        at += slices * rows * texels
    return found


def _texels(data: NDArray[np.uint8], layout: ImageLayout) -> NDArray[Any]:
    """Bytes as whole texels."""
    return data.view(f"V{layout.texel}") if layout.texel > 8 else data.view(f"u{layout.texel}")


def spread(spec: ImageSpec, layout: ImageLayout, dense: NDArray[np.uint8], padded: NDArray[np.uint8]) -> None:
    """Write contents without padding into device memory."""
    if layout.tile is not None:
        texels, there = _texels(dense, layout), _texels(padded[: layout.size], layout)
        for some, where in _tiled(spec, layout):
            there[where] = texels[some]
        return
    at = 0
    for rows in _rows(spec, layout, padded):
        rows[:] = dense[at : at + rows.size].reshape(rows.shape)
        at += rows.size


def gathered(spec: ImageSpec, layout: ImageLayout, padded: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Contents without padding, a copy, uint8[n]."""
    if layout.tile is not None:
        there = _texels(padded[: layout.size], layout)
        return np.concatenate([there[where].view(np.uint8) for _, where in _tiled(spec, layout)])
    return np.concatenate([rows.reshape(-1) for rows in _rows(spec, layout, padded)])


IMAGE_TYPES = {
    "image1d_t": "1d", "image2d_t": "2d", "image3d_t": "3d", "image1d_array_t": "1d_array",
    "image1d_buffer_t": "buffer", "image2d_array_t": "2d_array", "image2d_depth_t": "2d",
    "image2d_array_depth_t": "2d_array",
}
"""OpenCL's image types, as in metadata."""


def image_of_array(array: NDArray[Any], format: str | None, kind: str | None, where: str) -> ImageSpec:
    """The image with an array's contents. ``format`` may be a whole description, such as ``r32f[64,64] levels 3``; then
    only the array's number of elements matters. Raises LaunchError.
    """
    if not array.dtype.isnative:
        raise LaunchError(where, swapped(array.dtype))
    if format is not None and "[" in format:
        whole = ImageSpec.parse(format, where)
        if array.size != whole.array.count or array.dtype.itemsize != whole.array.dtype.itemsize:
            wanted = f"{whole.array.count} elements of type {whole.format.element}"
            raise LaunchError(where, f"{whole} has {wanted}, but the array has {array.size} of type {array.dtype}")
        return whole
    if kind is not None and kind not in KINDS:
        raise LaunchError(where, f"unknown kind of image `{shown(kind)[1:-1]}`; use one of {', '.join(KINDS)}")
    axes = KINDS[kind][1] if kind is not None else None
    form = parse_format(format, where) if format is not None else None
    if axes is None:
        axes = array.ndim - (form.elements > 1 if form is not None else array.ndim > 2)
    channels = array.shape[axes] if array.ndim == axes + 1 else 1
    if form is None:
        form = parse_format(format_of_array(array.dtype, channels, where), where)
    if array.ndim not in (axes, axes + 1) or channels != form.elements or not 1 <= axes <= 3:
        shape = "x".join(map(str, array.shape)) or "()"
        suffix = f" and kind {kind}" if kind else ""
        raise LaunchError(where, f"an array with the shape {shape} cannot be an image with format {form.name}{suffix}")
    if array.dtype.itemsize != ArrayType(form.element, 1).nbytes:
        raise LaunchError(
            where, f"{form.name} has elements of type {form.element}, but the array has elements of type {array.dtype}"
        )
    return ImageSpec.of(form, kind or ("1d", "2d", "3d")[axes - 1], tuple(reversed(array.shape[:axes])), 1, where)


class SamplerSpec(Struct, frozen=True):
    """A sampler; written as words in any order: ``linear clamp``, ``nearest wrap unnormalized``."""

    text: str
    clamp: Clamp = Clamp.EDGE
    linear: bool = False
    mip: int = 0
    unnormalized: bool = False
    border: Border = Border.TRANSPARENT_BLACK

    @classmethod
    def parse(cls, text: str, where: str) -> SamplerSpec:
        """Raises LaunchError."""
        values: dict[str, Any] = {}
        for word in text.split():
            found = _WORDS.get(word)
            if found is None:
                known = ", ".join(_WORDS)
                raise LaunchError(where, f"unknown property of a sampler `{shown(word)[1:-1]}`; use some of {known}")
            name, value = found
            if values.setdefault(name, value) != value:
                raise LaunchError(where, f"`{word}` contradicts an earlier word")
        return cls(" ".join(text.split()), **values)

    def descriptor(self, rules: Rules) -> SamplerDescriptor:
        """The sampler's descriptor for a target."""
        filter = LINEAR if self.linear else 0
        clamp = (self.clamp, self.clamp, self.clamp)
        return SamplerDescriptor(
            rules, clamp, filter, filter, self.mip, unnormalized=self.unnormalized, border=self.border
        )

    def object_words(self, rules: Rules) -> list[int]:
        """The eight dwords of the object."""
        return [*self.descriptor(rules).encode(), 0, 0, 0, 0]


_WORDS: dict[str, tuple[str, Any]] = {
    "nearest": ("linear", False), "linear": ("linear", True), "wrap": ("clamp", Clamp.WRAP),
    "mirror": ("clamp", Clamp.MIRROR), "clamp": ("clamp", Clamp.EDGE), "border": ("clamp", Clamp.BORDER),
    "mirror-once": ("clamp", Clamp.MIRROR_ONCE_EDGE), "normalized": ("unnormalized", False),
    "unnormalized": ("unnormalized", True), "mip-nearest": ("mip", MIP_POINT), "mip-linear": ("mip", MIP_LINEAR),
    "transparent-black": ("border", Border.TRANSPARENT_BLACK), "opaque-black": ("border", Border.OPAQUE_BLACK),
    "opaque-white": ("border", Border.OPAQUE_WHITE),
}


__all__ = [
    "IMAGE_TYPES", "KINDS", "OBJECT_SIZE", "SAMPLER_SIZE", "ImageSpec", "SamplerSpec", "chip_for", "gathered",
    "image_of_array", "spread",
]
