"""Element types of buffers and values: their names, storage and conversion.

``bf16`` has no NumPy type. Its storage is uint16; values are converted from and to float32, rounded to nearest even.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.launch.errors import LaunchError, shown

MAX_BUFFER_SIZE = 256 << 20
"""Limit on the bytes of one buffer: together with its expected contents and the device's copy, it takes less than a
gigabyte.
"""

ELEMENT_TYPES: dict[str, np.dtype[Any]] = {
    "i8": np.dtype("<i1"),
    "i16": np.dtype("<i2"),
    "i32": np.dtype("<i4"),
    "i64": np.dtype("<i8"),
    "u8": np.dtype("<u1"),
    "u16": np.dtype("<u2"),
    "u32": np.dtype("<u4"),
    "u64": np.dtype("<u8"),
    "f16": np.dtype("<f2"),
    "bf16": np.dtype("<u2"),
    "f32": np.dtype("<f4"),
    "f64": np.dtype("<f8"),
    "bytes": np.dtype("<u1"),
}
"""Storage of each element type."""

_ARRAY = re.compile(r"\s*(\w+)\s*\[\s*(\w+)\s*\]\s*")


class ArrayType(Struct, frozen=True):
    """``count`` elements of the type named ``element``; written ``f32[1024]``."""

    element: str
    count: int

    @classmethod
    def parse(cls, text: str) -> ArrayType:
        """Parse ``ELEMENT[COUNT]``. Raises LaunchError."""
        match = _ARRAY.fullmatch(text)
        if match is None:
            raise LaunchError(
                f"type `{shown(text)[1:-1]}`", "write a buffer's type as ELEMENT[COUNT], for example f32[1024]"
            )
        element, count_text = match.groups()
        check_element(element, f"type `{text}`")
        try:
            count = int(count_text, 0)
        except ValueError:
            reason = f"`{shown(count_text)[1:-1]}` is not a number of elements"
            raise LaunchError(f"type `{shown(text)[1:-1]}`", reason) from None
        found = cls(element, count)
        if found.nbytes > MAX_BUFFER_SIZE:
            size = f"{shown(count)} elements would take more than {MAX_BUFFER_SIZE} bytes"
            raise LaunchError(f"type `{shown(text)[1:-1]}`", f"{size}, the limit of a buffer")
        return found

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of the storage."""
        return ELEMENT_TYPES[self.element]

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.count * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.element}[{self.count}]"


def check_element(name: str, what: str) -> str:
    """Return ``name`` if it is an element type. Raises LaunchError naming ``what`` otherwise."""
    if name not in ELEMENT_TYPES:
        raise LaunchError(what, f"unknown element type `{shown(name)[1:-1]}`; use one of {', '.join(ELEMENT_TYPES)}")
    return name


def encode(values: NDArray[Any], element: str, what: str) -> NDArray[Any]:
    """``values`` (any numeric dtype) as storage of ``element``.

    Floats are rounded to the element's precision. Integers must fit: a value that does not, or a fraction
    for an integer element, raises LaunchError with its index.
    """
    dtype = ELEMENT_TYPES[element]
    if values.dtype.kind not in "biuf":
        raise LaunchError(what, f"values of type {values.dtype} are not numbers")
    if dtype.kind == "f" or element == "bf16":
        # values that are too large become infinite; NaNs become quiet
        with np.errstate(over="ignore", invalid="ignore"):
            return encode_bf16(values.astype(np.float32)) if element == "bf16" else values.astype(dtype)
    limits = np.iinfo(dtype)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):  # signalling NaNs, and long doubles that exceed float64
            wide = values.astype(np.float64)
        # NaN fails every comparison. The upper bound is a power of two, which, unlike the largest integer, is a
        # float64.
        good = (wide >= float(limits.min)) & (wide < float(limits.max + 1)) & (wide == np.trunc(wide))
        stored, bad = np.where(good, wide, 0).astype(dtype), ~good
    else:
        bad = (values < limits.min) | (values > limits.max) if values.dtype.kind != "b" else np.zeros(0, bool)
        stored = values.astype(dtype)
    if bad.any():
        index = int(np.flatnonzero(bad)[0])
        raise LaunchError(what, f"element {index} ({values.flat[index]}) cannot be represented as {element}")
    return stored


def decode(storage: NDArray[Any], element: str) -> NDArray[Any]:
    """Storage of ``element`` as numbers: bf16 becomes float32, everything else is unchanged."""
    if element == "bf16":
        return (storage.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return storage


def encode_bf16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Round float32 to bfloat16, to nearest even; a NaN stays a NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + np.uint64(0x7FFF) + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)
    nan = (bits >> np.uint64(16)) | np.uint64(0x40)
    return np.where(np.isnan(values), nan, rounded).astype(np.uint16)
