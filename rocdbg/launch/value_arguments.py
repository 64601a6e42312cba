"""Converts values that are passed to a kernel by value from Python and NumPy numbers to bytes of the kernarg segment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rocdbg.launch.elements import ELEMENT_TYPES, encode
from rocdbg.launch.errors import LaunchError, shown

_FLOATS = {2: "f16", 4: "f32", 8: "f64"}


def swapped(dtype: np.dtype[Any]) -> str:
    """An error message for an array whose byte order is not the host's."""
    return f"the byte order of an array of {dtype} is not native; pass a.astype(a.dtype.newbyteorder('=')) instead"


def value_bytes(value: Any, size: int, element: str | None, what: str) -> bytes:
    """The ``size`` bytes of a by-value argument. ``element`` is the parameter's type where it is known.

    Bytes and NumPy values (scalars, structured scalars, small arrays) must have that size. Python numbers are converted
    to the parameter's type; if it is unknown, a float becomes a float of that size, and an int an integer. Raises
    LaunchError, naming ``what``.
    """
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _sized(bytes(value), size, "bytes", what)
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        raise LaunchError(what, swapped(value.dtype))
    if isinstance(value, np.ndarray):
        return _sized(value.tobytes(), size, f"an array of {value.dtype}", what)
    if isinstance(value, np.generic):
        return _sized(value.tobytes(), size, f"a NumPy {value.dtype}", what)
    if not isinstance(value, (int, float)):
        raise LaunchError(
            what, f"a {type(value).__name__} cannot be passed; use a number, NumPy value or bytes"
        )
    if element is None or ELEMENT_TYPES[element].itemsize != size:
        element = _FLOATS.get(size) if isinstance(value, float) else None
        if element is None:
            return _integer_bytes(value, size, what)
    if ELEMENT_TYPES[element].kind in "iu" and element != "bf16":
        return _integer_bytes(value, size, what)
    try:
        number = np.array([value], np.float64)
    except OverflowError:
        raise LaunchError(what, f"{shown(value)} is too large for {element}") from None
    return encode(number, element, what).tobytes()


def _integer_bytes(value: float, size: int, what: str) -> bytes:
    """An integer, signed or not, of any size."""
    if isinstance(value, float):
        if not value.is_integer():
            raise LaunchError(
                what, f"{value} is not a whole number, but the parameter is an integer of {size} bytes"
            )
        value = int(value)
    if not -(1 << size * 8 - 1) <= value < 1 << size * 8:
        raise LaunchError(what, f"{shown(value)} does not fit into {size} bytes")
    return (value & (1 << size * 8) - 1).to_bytes(size, "little")


def _sized(data: bytes, size: int, kind: str, what: str) -> bytes:
    if len(data) != size:
        raise LaunchError(what, f"{kind} of {len(data)} bytes is given, but the kernel expects {size} bytes")
    return data
