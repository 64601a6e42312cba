"""Text of image and sampler objects, from their descriptors."""

from __future__ import annotations

import re

import numpy as np

from rocdbg.arch.targets import Target
from rocdbg.debugger.values.value_storage import Memory
from rocdbg.errors import Error
from rocdbg.sim.images.buffer_images import buffer_text
from rocdbg.sim.images.chips import chip_of
from rocdbg.sim.images.fields import IMAGE_DWORDS, SAMPLER_DWORDS
from rocdbg.sim.images.image_descriptor import ImageDescriptor, ImageType
from rocdbg.sim.images.sampler_descriptor import SamplerDescriptor

_IMAGE = re.compile(r"opencl_image[123]d(_array)?(_depth)?_(ro|wo|rw)_t")
_BUFFER = re.compile(r"opencl_image1d_buffer_(ro|wo|rw)_t")
_SAMPLER = "opencl_sampler_t"


def kind_of(type_name: str) -> str:
    """Return ``image``, ``buffer`` or ``sampler`` for clang's names of OpenCL's opaque structures; otherwise empty."""
    if type_name == _SAMPLER:
        return "sampler"
    return "image" if _IMAGE.fullmatch(type_name) else "buffer" if _BUFFER.fullmatch(type_name) else ""


def words_at(memory: Memory, space: int, address: int, count: int) -> list[int]:
    """Read ``count`` dwords of memory. Raises the memory's error."""
    return [int(word) for word in np.frombuffer(memory.read(space, address, 4 * count), "<u4")]


def image_lines(words: list[int], target: Target) -> list[str]:
    """Describe the contents of an image's descriptor (eight dwords); the first line is a summary."""
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
        lines.append(f"Image instructions that use it stop the wave: {image.problem}.")
    return lines


def buffer_lines(words: list[int], target: Target) -> list[str]:
    """Describe the contents of the resource descriptor of an image that is a buffer."""
    text = buffer_text(chip_of(target), words)
    return [text[:1].upper() + text[1:]]


def sampler_lines(words: list[int], target: Target) -> list[str]:
    """Describe the contents of a sampler's descriptor (four dwords)."""
    text = SamplerDescriptor.decode(words, chip_of(target).rules).text
    return [text[:1].upper() + text[1:]]


def opaque_text(type_name: str, memory: Memory, space: int, address: int, target: Target) -> str | None:
    """Describe the target of a pointer to ``type_name``; None if it is neither image nor sampler, or unavailable."""
    if not target.has_images:
        return None
    chip, kind = chip_of(target), kind_of(type_name)
    try:
        if kind == "image":
            words = words_at(memory, space, address, IMAGE_DWORDS)
            return ImageDescriptor.decode(words, chip.rules, chip).text
        if kind == "buffer":
            return buffer_text(chip, words_at(memory, space, address, IMAGE_DWORDS))
        if kind == "sampler":
            return SamplerDescriptor.decode(words_at(memory, space, address, SAMPLER_DWORDS), chip.rules).text
    except Error:
        pass
    return None


__all__ = ["buffer_lines", "image_lines", "kind_of", "opaque_text", "sampler_lines", "words_at"]
