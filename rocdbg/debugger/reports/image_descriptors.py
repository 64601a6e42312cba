"""`info image` and `info sampler`: descriptors in memory, in registers, or as values."""

from __future__ import annotations

import re

import numpy as np

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.values.image_object_text import buffer_lines, image_lines, kind_of, sampler_lines, words_at
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ClassType, PointerType
from rocdbg.sim.images.fields import IMAGE_DWORDS, SAMPLER_DWORDS

_REGISTERS = re.compile(r"\s*\$?(s|ttmp)\[\s*(\d{1,3})\s*:\s*(\d{1,3})\s*\]\s*")


def described_image(data: Data, inferior: Inferior, text: str) -> list[str]:
    """Describe the image whose descriptor ``text`` denotes. Raises `Error` if there is none."""
    words, kind = _words(data, inferior, text, IMAGE_DWORDS)
    if kind == "sampler":
        raise DebuggerError(f"{text.strip()} is a sampler: try \"info sampler {text.strip()}\".")
    lines = buffer_lines if kind == "buffer" else image_lines
    return lines(words, inferior.need_program().code_object.target)


def described_sampler(data: Data, inferior: Inferior, text: str) -> list[str]:
    """Describe the sampler whose descriptor ``text`` denotes. Raises `Error` if there is none."""
    words, kind = _words(data, inferior, text, SAMPLER_DWORDS)
    if kind in ("image", "buffer"):
        raise DebuggerError(f"{text.strip()} is an image: try \"info image {text.strip()}\".")
    return sampler_lines(words, inferior.need_program().code_object.target)


def _words(data: Data, inferior: Inferior, text: str, count: int) -> tuple[list[int], str]:
    """Return the dwords of a descriptor, and its kind (`kind_of`) if a type determines it.

    The dwords come from registers as an instruction names them, from a value that is long enough, or from memory at an
    address. An image descriptor of four dwords is padded with zeros.
    """
    target = inferior.need_program().code_object.target
    if not target.has_images:
        raise DebuggerError(f"{target.name} does not support images.")
    match = _REGISTERS.fullmatch(text)
    if match is not None:
        first, last = int(match[2]), int(match[3])
        given = last - first + 1
        if given not in (SAMPLER_DWORDS, count):
            raise DebuggerError(f"The descriptor needs {count} registers, but {text.strip()} names {max(0, given)}.")
        return _dwords(data.evaluate(f"${match[1]}[{first}:{last}]"), count), ""
    value = data.evaluate(text)
    size = value.bare.size or 0
    if not isinstance(value.bare, PointerType) and size >= 4 * SAMPLER_DWORDS:
        return _dwords(value, count), ""
    memory = data.environment().memory
    if memory is None:
        raise DebuggerError("Cannot read a descriptor: the program is not being run.")
    space, kind = 0, ""
    if isinstance(value.bare, PointerType):
        space = value.bare.address_class or 0
        pointed = value.bare.target.strip_typedefs()
        kind = kind_of(pointed.name or "") if isinstance(pointed, ClassType) else ""
    return words_at(memory, space, data.integer(text), count), kind


def _dwords(value: Value, count: int) -> list[int]:
    """Return the first dwords of a value; a shorter value is padded with zeros."""
    body = value.contents()[: 4 * count]
    return [int(word) for word in np.frombuffer(body.ljust(4 * count, b"\0"), "<u4")]


__all__ = ["described_image", "described_sampler"]
