"""Objects of images and samplers in words: what their descriptors say."""

from __future__ import annotations

import re

import numpy as np

from rocdbg.arch.targets import Target
from rocdbg.debugger.values.storage import Memory
from rocdbg.errors import Error
from rocdbg.sim.images.chips import chip_of, has_images
from rocdbg.sim.images.descriptor import ImageDescriptor, ImageType
from rocdbg.sim.images.fields import IMAGE_DWORDS, SAMPLER_DWORDS
from rocdbg.sim.images.sampler import SamplerDescriptor

_IMAGE = re.compile(r"opencl_image[123]d(_array)?(_depth)?_(ro|wo|rw)_t")
"""What clang calls the structures behind OpenCL's types; those of buffers have another descriptor."""
_SAMPLER = "opencl_sampler_t"


def words_at(memory: Memory, space: int, address: int, count: int) -> list[int]:
    """``count`` dwords of memory. Raises the memory's error."""
    return [int(word) for word in np.frombuffer(memory.read(space, address, 4 * count), "<u4")]


def image_lines(words: list[int], target: Target) -> list[str]:
    """What the eight dwords of an image's descriptor say, the first line on the whole."""
    chip = chip_of(target)
    image = ImageDescriptor.decode(words, chip.rules, chip)
    lines = [image.text[:1].upper() + image.text[1:]]
    form, layout = image.format, image.layout()
    if form is not None and image.type >= ImageType.ONE:
        bits = "+".join(str(width) for width in form.widths if width)
        lines.append(f"Texel: {form.size} bytes, channels of {bits} bits")
    if layout is not None:
        lines.append(f"Memory: {image.base:#x} to {image.base + layout.size:#x}, {layout.slice} bytes per layer")
        for n, level in enumerate(layout.levels):
            size = f"{level.width}x{level.height}" + (f"x{level.depth}" if image.type == ImageType.THREE else "")
            lines.append(f"Level {n}: {size} at offset {level.offset}, {level.pitch} texels per row")
    if image.problem is not None:
        lines.append(f"Instructions stop at it: {image.problem}.")
    return lines


def sampler_lines(words: list[int], target: Target) -> list[str]:
    """What the four dwords of a sampler's descriptor say."""
    text = SamplerDescriptor.decode(words, chip_of(target).rules).text
    return [text[:1].upper() + text[1:]]


def opaque_text(type_name: str, memory: Memory, space: int, address: int, target: Target) -> str | None:
    """What the object behind a pointer to ``type_name`` is; None if it is neither image nor sampler, or not there."""
    if not has_images(target):
        return None
    chip = chip_of(target)
    try:
        if _IMAGE.fullmatch(type_name):
            words = words_at(memory, space, address, IMAGE_DWORDS)
            return ImageDescriptor.decode(words, chip.rules, chip).text
        if type_name == _SAMPLER:
            return SamplerDescriptor.decode(words_at(memory, space, address, SAMPLER_DWORDS), chip.rules).text
    except Error:
        pass
    return None


__all__ = ["image_lines", "opaque_text", "sampler_lines", "words_at"]
