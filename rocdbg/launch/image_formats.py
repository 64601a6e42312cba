"""Names of image formats in launches: ``rgba8``, ``r32f``, ``bgra8``, ``rgb565``.

A name consists of the order of the components, their bits and their kind: no suffix for numbers from 0 to 1, ``snorm``
for -1 to 1, ``ui`` and ``i`` for integers, ``f`` for floats, ``srgb``.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from msgspec import Struct

from rocdbg.launch.errors import LaunchError, shown

ZERO, ONE, X, Y, Z, W = 0, 1, 4, 5, 6, 7
_Select = tuple[int, int, int, int]


class Order(Struct, frozen=True):
    """An order of components: how many are in memory, DST_SEL, the position of alpha in the border colour, HSA's
    number.
    """

    channels: int
    select: _Select
    border: int
    hsa: int


ORDERS = {
    "a": Order(1, (ZERO, ZERO, ZERO, X), 3, 0), "r": Order(1, (X, ZERO, ZERO, ONE), 1, 1),
    "rg": Order(2, (X, Y, ZERO, ONE), 0, 3), "ra": Order(2, (X, ZERO, ZERO, Y), 1, 5),
    "rgba": Order(4, (X, Y, Z, W), 0, 8), "bgra": Order(4, (Z, Y, X, W), 4, 9), "argb": Order(4, (Y, Z, W, X), 3, 10),
    "intensity": Order(1, (X, X, X, X), 0, 16), "luminance": Order(1, (X, X, X, ONE), 1, 17),
    "depth": Order(1, (X, ZERO, ZERO, ZERO), 1, 18),
}
"""The orders by name, with the values that ROCm's runtime puts into descriptors."""
_SRGBA = 14
_KINDS = {  # by suffix and bits: the number format, the element type, HSA's channel type
    ("", 8): ("UNORM", "u8", 2), ("", 16): ("UNORM", "u16", 3), ("snorm", 8): ("SNORM", "i8", 0),
    ("snorm", 16): ("SNORM", "i16", 1), ("i", 8): ("SINT", "i8", 8), ("i", 16): ("SINT", "i16", 9),
    ("i", 32): ("SINT", "i32", 10), ("ui", 8): ("UINT", "u8", 11), ("ui", 16): ("UINT", "u16", 12),
    ("ui", 32): ("UINT", "u32", 13), ("f", 16): ("FLOAT", "f16", 14), ("f", 32): ("FLOAT", "f32", 15),
    ("srgb", 8): ("SRGB", "u8", 2),
}
_NAME = re.compile(r"([a-z]+?)(8|16|32)(snorm|ui|i|f|srgb)?")


class FormatName(Struct, frozen=True):
    """The meaning of a name: the format's name in the tables for descriptors, its storage, its swizzles, and HSA's
    numbers.
    """

    name: str
    data: str
    element: str
    elements: int
    """Elements of a texel."""
    select: _Select
    border: int
    hsa_type: int
    hsa_order: int


def _packed(
    name: str, data: str, element: str, select: _Select, hsa_type: int, order: int, border: int = 0
) -> FormatName:
    return FormatName(name, data, element, 1, select, border, hsa_type, order)


_REVERSED: _Select = (Z, Y, X, ONE)
_PACKED = {
    form.name: form
    for form in (
        _packed("rgb565", "5_6_5_UNORM", "u16", _REVERSED, 6, 6, 4),
        _packed("rgb555", "1_5_5_5_UNORM", "u16", _REVERSED, 5, 6, 4),
        _packed("rgb10", "2_10_10_10_UNORM", "u32", _REVERSED, 7, 6, 4),
        _packed("rgb10a2", "2_10_10_10_UNORM", "u32", (X, Y, Z, W), 7, 8),
        _packed("rgb10a2ui", "2_10_10_10_UINT", "u32", (X, Y, Z, W), 13, 8),
        _packed("r11g11b10f", "10_11_11_FLOAT", "u32", (X, Y, Z, ONE), 15, 6),
        _packed("rgb9e5", "5_9_9_9_FLOAT", "u32", (X, Y, Z, ONE), 15, 6),
    )
}


def parse_format(text: str, where: str) -> FormatName:
    """The format called ``text``. Raises LaunchError."""
    if text in _PACKED:
        return _PACKED[text]
    match = _NAME.fullmatch(text)
    order = ORDERS.get(match[1]) if match is not None else None
    kind = _KINDS.get((match[3] or "", int(match[2]))) if match is not None else None
    if match is None or order is None or kind is None:
        raise LaunchError(
            where,
            f"`{shown(text)[1:-1]}` is not an image format; write an order ({', '.join(ORDERS)}), then 8, 16 or 32, "
            f"then nothing, snorm, ui, i, f or srgb, for example rgba8; or write one of {', '.join(_PACKED)}",
        )
    number, element, hsa_type = kind
    data = "_".join([match[2]] * order.channels)
    hsa_order = _SRGBA if number == "SRGB" and match[1] == "rgba" else order.hsa
    return FormatName(
        text, f"{data}_{number}", element, order.channels, order.select, order.border, hsa_type, hsa_order
    )


def every_format() -> list[FormatName]:
    """All named formats."""
    words = [f"{order}{bits}{suffix}" for order in ORDERS for suffix, bits in _KINDS]
    return [parse_format(word, "format") for word in (*words, *_PACKED)]


def format_of_array(dtype: np.dtype[Any], channels: int, where: str) -> str:
    """The name of the format that suits a NumPy type and a number of channels. Raises LaunchError."""
    kind, size = dtype.kind, dtype.itemsize
    order = {1: "r", 2: "rg", 4: "rgba"}.get(channels)
    suffix = {"f": "f", "u": "" if size < 4 else "ui", "i": "i"}.get(kind)
    if order is None:
        raise LaunchError(where, f"no image format has {channels} channels: the array must have 1, 2 or 4")
    if suffix is None or size > 4 or (kind == "f" and size < 2):
        wanted = "8-bit, 16-bit or 32-bit integers, float16 or float32"
        raise LaunchError(where, f"no image format has elements of type {dtype}: the array must have {wanted}")
    return f"{order}{size * 8}{suffix}"


__all__ = ["ORDERS", "FormatName", "every_format", "format_of_array", "parse_format"]
