"""Images and samplers that programs create: formats, layouts, and the objects that kernels get.

As in ROCm's runtime (`docs/images.md`), except that every image is linear.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from functools import cache
from typing import Final

from msgspec import Struct

from rocdbg.arch.targets import Target
from rocdbg.host.errors import RequestError
from rocdbg.host.protocol import IMAGE, Status
from rocdbg.launch.image_formats import FormatName, every_format
from rocdbg.sim.data.buffer_formats import NumberFormat
from rocdbg.sim.images.buffer_images import buffer_words
from rocdbg.sim.images.chips import Chip, chip_of
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.image_descriptor import ImageDescriptor, ImageType
from rocdbg.sim.images.made_image import made_image
from rocdbg.sim.images.sampler_descriptor import (
    LINEAR,
    MIP_LINEAR,
    MIP_NONE,
    MIP_POINT,
    POINT,
    Clamp,
    SamplerDescriptor,
)
from rocdbg.sim.images.texel_formats import code_of, formats_of
from rocdbg.sim.images.texel_layout import ImageLayout

ALIGNMENT: Final = 256
"""The alignment of images in bytes."""
_MOST_LEVELS: Final = 15
_MOST_BYTES: Final = 1 << 36
_READ, _WRITE, _BOTH = 1, 2, 4


class Geometry(IntEnum):
    """``hsa_ext_image_geometry_t``."""

    ONE = 0
    TWO = 1
    THREE = 2
    ONE_ARRAY = 3
    TWO_ARRAY = 4
    BUFFER = 5
    TWO_DEPTH = 6
    TWO_ARRAY_DEPTH = 7


_TYPES: Final = {
    Geometry.ONE: ImageType.ONE, Geometry.TWO: ImageType.TWO, Geometry.THREE: ImageType.THREE,
    Geometry.ONE_ARRAY: ImageType.ONE_ARRAY, Geometry.TWO_ARRAY: ImageType.TWO_ARRAY,
    Geometry.TWO_DEPTH: ImageType.TWO, Geometry.TWO_ARRAY_DEPTH: ImageType.TWO_ARRAY,
}  # fmt: skip
_DEPTH: Final = (Geometry.TWO_DEPTH, Geometry.TWO_ARRAY_DEPTH)
_LARGEST: Final = {
    Geometry.ONE: (16384, 1, 1), Geometry.TWO: (16384, 16384, 1), Geometry.THREE: (16384, 16384, 8192),
    Geometry.ONE_ARRAY: (16384, 1, 8192), Geometry.TWO_ARRAY: (16384, 16384, 8192),
    Geometry.BUFFER: ((1 << 32) - 1, 1, 1), Geometry.TWO_DEPTH: (16384, 16384, 1),
    Geometry.TWO_ARRAY_DEPTH: (16384, 16384, 8192),
}  # fmt: skip
_DEPTH_ORDER, _SRGBA_ORDER = 18, 14
_NOT_IN_BUFFERS: Final = (5, 6)
"""The packed channel types that hardware cannot read from buffers."""
_FOR_INTENSITY: Final = (0, 1, 2, 3, 14, 15)


@cache
def _formats() -> dict[tuple[int, int], FormatName]:
    """The formats that ROCm's runtime supports, by channel type and order."""
    found = {(form.hsa_type, form.hsa_order): form for form in every_format() if _offered(form)}
    return {key: found[key] for key in sorted(found)}


def _offered(form: FormatName) -> bool:
    order, kind = form.hsa_order, form.hsa_type
    if form.name.startswith(("rgb10a2", "r11", "rgb9e5")):
        return False
    if order == _DEPTH_ORDER:
        return kind in (3, 15)
    if order in (16, 17):
        return kind in _FOR_INTENSITY
    if order in (9, 10):
        return form.element in ("u8", "i8") and "SRGB" not in form.data
    return "SRGB" not in form.data or order == _SRGBA_ORDER


def format_for(target: Target, geometry: Geometry, kind: int, order: int) -> tuple[FormatName, int] | None:
    """A format and the capabilities of images that have it (a mask of ``hsa_ext_image_capability_t``); None if the
    format or the geometry is not supported.
    """
    form = _formats().get((kind, order))
    if form is None or (geometry in _DEPTH and order != _DEPTH_ORDER):
        return None
    if geometry is Geometry.BUFFER and (order == _SRGBA_ORDER or kind in _NOT_IN_BUFFERS):
        return None
    if not target.has_images or code_of(chip_of(target).rules, form.data) is None:
        return None
    if order == _SRGBA_ORDER:
        return form, _READ
    return form, _READ | _WRITE | (0 if order == _DEPTH_ORDER else _BOTH)


class ImageRequest(Struct, frozen=True):
    """An image as a program describes it. Pitches, in bytes, are 0 if not stated; ``linear`` says that the program
    relies on them. ``level`` is the only requested level of detail, or -1 for all levels.
    """

    geometry: Geometry
    linear: bool
    width: int
    height: int
    slices: int
    kind: int
    order: int
    row_pitch: int
    slice_pitch: int
    levels: int
    level: int

    @classmethod
    def decode(cls, data: bytes) -> ImageRequest:
        """Decode the payload of a request. Raises RequestError."""
        if len(data) != IMAGE.size:
            raise RequestError(Status.INVALID_ARGUMENT, "an image's description was received incompletely")
        geometry, linear, width, height, depth, array, kind, order, row, piece, levels, level = IMAGE.unpack(data)
        if geometry not in _LARGEST:
            raise RequestError(Status.INVALID_ARGUMENT, f"image geometry {geometry} is not known")
        shape = Geometry(geometry)
        if not width:
            raise RequestError(Status.INVALID_ARGUMENT, "an image must be at least 1 texel wide")
        high, deep = max(1, height), max(1, depth, array)
        most = _LARGEST[shape]
        if any(size > limit for size, limit in zip((width, high, deep), most, strict=True)):
            sizes = "x".join(map(str, (width, high, deep)))
            reason = f"an image of {sizes} texels exceeds the limit of {'x'.join(map(str, most))}"
            raise RequestError(Status.IMAGE_SIZE_UNSUPPORTED, reason)
        most_levels = 1 if linear or shape is Geometry.BUFFER else min(_MOST_LEVELS, max(width, high).bit_length())
        if levels > most_levels and levels > 1:
            reason = f"an image of this size and geometry has at most {most_levels} levels of detail, not {levels}"
            raise RequestError(Status.IMAGE_SIZE_UNSUPPORTED, reason)
        if level >= max(1, levels):
            raise RequestError(Status.INVALID_ARGUMENT, f"the image does not have a level of detail {level}")
        return cls(shape, bool(linear), width, high, deep, kind, order, row, piece, max(1, levels), level)


class ProgramImage(Struct, frozen=True):
    """An image that was created: the ``size`` of the whole image, row pitch, slice pitch, the offset of the requested
    or first level, and the size of a ``texel``, all in bytes.
    """

    size: int
    texel: int
    row_pitch: int
    slice_pitch: int
    offset: int
    words: tuple[int, ...]
    """The twelve dwords of the object."""


def make_image(target: Target, request: ImageRequest, base: int) -> ProgramImage:
    """Create the image whose texels are at ``base``. Raises RequestError."""
    found = format_for(target, request.geometry, request.kind, request.order)
    if found is None:
        reason = f"{target.name} does not support images of channel type {request.kind} and order {request.order}"
        raise RequestError(Status.IMAGE_FORMAT_UNSUPPORTED, reason)
    form, _ = found
    chip = chip_of(target)
    rules = chip.rules
    code = code_of(rules, form.data)
    assert code is not None
    texel = formats_of(rules)[code].size
    if base % ALIGNMENT:
        raise RequestError(Status.INVALID_ARGUMENT, f"the address of an image, {base:#x}, is not a multiple of 256")
    if request.geometry is Geometry.BUFFER:
        buffer = buffer_words(chip, base, form.data, request.width, form.select)
        if buffer is None:
            reason = f"{target.name} does not support image buffers of format {form.name}"
            raise RequestError(Status.IMAGE_FORMAT_UNSUPPORTED, reason)
        size = request.width * texel
        return ProgramImage(size, texel, size, size, 0, _object(buffer, request))
    image, layout = _linear(chip, request, form, code, texel, base)
    place = layout.levels[max(0, request.level)]
    if request.level >= 0:
        image = _level_alone(image, request.level)
    row = place.pitch * texel
    return ProgramImage(layout.size, texel, row, layout.slice, place.offset, _object(image.encode(), request))


def _linear(
    chip: Chip, request: ImageRequest, form: FormatName, code: int, texel: int, base: int
) -> tuple[ImageDescriptor, ImageLayout]:
    pitch, rest = divmod(request.row_pitch, texel) if request.linear else (0, 0)
    unit = 128 if chip.rules is Rules.GFX12 else 256
    if rest or (request.linear and request.row_pitch % unit):
        reason = f"a row pitch of {request.row_pitch} bytes is not possible: it must be a multiple of {unit}"
        raise RequestError(Status.IMAGE_PITCH_UNSUPPORTED, reason)
    sizes = (request.width, request.height, request.slices)
    try:
        image, layout = made_image(
            chip, _TYPES[request.geometry], code, base, sizes, request.levels,
            select=form.select, border=form.border, pitch=pitch,
        )  # fmt: skip
    except ValueError as error:
        raise RequestError(Status.IMAGE_PITCH_UNSUPPORTED, f"the GPU cannot hold such an image ({error})") from None
    if request.linear and request.slice_pitch and request.slices > 1 and request.slice_pitch != layout.slice:
        reason = f"a slice pitch of {request.slice_pitch} bytes is not possible: it must be {layout.slice}"
        raise RequestError(Status.IMAGE_PITCH_UNSUPPORTED, reason)
    if layout.size > _MOST_BYTES:
        raise RequestError(Status.IMAGE_SIZE_UNSUPPORTED, f"an image of {layout.size} bytes is too large")
    return image, layout


def _level_alone(image: ImageDescriptor, level: int) -> ImageDescriptor:
    values = {name: getattr(image, name) for name in image.__struct_fields__}
    return ImageDescriptor(**{**values, "base_level": level, "last_level": level})


def _object(words: list[int], request: ImageRequest) -> tuple[int, ...]:
    return (*words, request.kind, request.order, request.width & 0xFFFF_FFFF, 0)


# -- samplers ------------------------------------------------------------------------------------------------

_ADDRESSING: Final = {0: Clamp.WRAP, 1: Clamp.EDGE, 2: Clamp.BORDER, 3: Clamp.WRAP, 4: Clamp.MIRROR}
_FILTERS: Final = {0: POINT, 1: LINEAR}
_LEVEL_FILTERS: Final = {0: MIP_POINT, 1: MIP_LINEAR, 2: MIP_NONE}


def make_sampler(
    target: Target, normalized: int, filter: int, level_filter: int, modes: tuple[int, int, int]
) -> tuple[int, ...]:
    """The eight dwords of a sampler's object, from the numbers of ``hsa_ext_sampler_descriptor_v2_t``. Raises
    RequestError."""
    bad = normalized not in (0, 1) or filter not in _FILTERS or level_filter not in _LEVEL_FILTERS
    if bad or not all(mode in _ADDRESSING for mode in modes):
        raise RequestError(Status.INVALID_ARGUMENT, "the sampler has an unknown coordinate, filter or addressing mode")
    if not target.has_images:
        raise RequestError(Status.INVALID_ARGUMENT, f"{target.name} does not support images")
    rules = chip_of(target).rules
    clamp = (_ADDRESSING[modes[0]], _ADDRESSING[modes[1]], _ADDRESSING[modes[2]])
    chosen = _FILTERS[filter]
    sampler = SamplerDescriptor(
        rules, clamp, chosen, chosen, _LEVEL_FILTERS[level_filter], unnormalized=not normalized
    )
    return (*sampler.encode(), 0, 0, 0, 0)


# -- clearing ------------------------------------------------------------------------------------------------


def texel_bytes(target: Target, kind: int, order: int, data: bytes) -> bytes:
    """Encode a texel of a format from four channels (16 bytes) as a kernel would store them: floats, or integers for
    integer formats. Raises RequestError.
    """
    found = format_for(target, Geometry.TWO_DEPTH if order == _DEPTH_ORDER else Geometry.TWO, kind, order)
    if found is None or len(data) != 16:
        raise RequestError(Status.IMAGE_FORMAT_UNSUPPORTED, f"channel type {kind} with order {order} is not supported")
    form, _ = found
    rules = chip_of(target).rules
    code = code_of(rules, form.data)
    assert code is not None
    layout = formats_of(rules)[code]
    number = NumberFormat(layout.number)
    letter = {NumberFormat.UINT: "I", NumberFormat.SINT: "i"}.get(number, "f")
    given = struct.unpack(f"<4{letter}", data)
    value = at = 0
    for component, width in enumerate(width for width in layout.widths if width):
        source = form.select.index(4 + component) if 4 + component in form.select else None
        channel = given[source] if source is not None else 0
        is_colour = component < 3
        value |= _encoded(channel, width, number, is_colour) << at
        at += width
    return value.to_bytes(layout.size, "little")


def _encoded(channel: float, width: int, number: NumberFormat, is_colour: bool) -> int:
    """The bits of a channel: rounded to the nearest, ties to even, and clamped."""
    mask = (1 << width) - 1
    if number is NumberFormat.UINT:
        return min(int(channel), mask)
    if number is NumberFormat.SINT:
        return max(-(mask + 1) // 2, min(int(channel), mask >> 1)) & mask
    if number is NumberFormat.FLOAT:
        return _float_bits(channel, width)
    known = 0.0 if channel != channel else channel
    if number is NumberFormat.SNORM:
        return round(max(-1.0, min(known, 1.0)) * (mask >> 1)) & mask
    known = max(0.0, min(known, 1.0))
    if number is NumberFormat.SRGB and is_colour:
        known = _to_standard(known)
    return round(known * mask)


def _to_standard(channel: float) -> float:
    return channel * 12.92 if channel < 0.0031308 else float(1.055 * channel ** (1 / 2.4) - 0.055)


def _to_linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)


def srgb_table(*, to_standard: bool) -> bytes:
    """A table that converts each value of a colour byte between linear and standard RGB."""
    convert = _to_standard if to_standard else _to_linear
    return bytes(round(convert(value / 255) * 255) for value in range(256))


def _float_bits(channel: float, width: int) -> int:
    if width == 32:
        return int.from_bytes(struct.pack("<f", channel), "little")
    try:
        return int.from_bytes(struct.pack("<e", channel), "little")
    except OverflowError:
        return 0x7C00 | (0x8000 if channel < 0 else 0)


__all__ = [
    "ALIGNMENT", "Geometry", "ImageRequest", "ProgramImage", "format_for", "make_image", "make_sampler",
    "srgb_table", "texel_bytes",
]  # fmt: skip
