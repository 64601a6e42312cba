"""Compares a buffer with its expected contents."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.launch.elements import decode

_PIECE = 1 << 20


class Mismatch(Struct, frozen=True):
    """A buffer that differs from its expected contents: the first differing element, and how many differ."""

    name: str
    index: int
    got: Any
    wanted: Any
    differing: int
    count: int

    @property
    def text(self) -> str:
        """``buffer 'y': element 17 is 3.0, expected 4.0 (12 of 1024 elements differ)``."""
        return (
            f"buffer '{self.name}': element {self.index} is {self.got}, expected {self.wanted} "
            f"({self.differing} of {self.count} elements differ)"
        )


def compare(
    name: str, got: NDArray[Any], wanted: NDArray[Any], element: str, rtol: float = 0.0, atol: float = 0.0
) -> Mismatch | None:
    """Compare two storages of ``element``; None if they agree.

    Without tolerances, values must be equal; all NaNs are equal, and so are zeros of both signs. With tolerances,
    ``abs(got - wanted) <= atol + rtol * abs(wanted)`` must hold; only equal infinities agree.
    """
    differing, first = 0, -1
    for start in range(0, len(got), _PIECE):  # piece by piece, because wider types need copies
        part = slice(start, start + _PIECE)
        wrong = np.flatnonzero(~_equal(got[part], wanted[part], element, rtol, atol))
        if wrong.size and first < 0:
            first = start + int(wrong[0])
        differing += int(wrong.size)
    if not differing:
        return None
    left, right = (decode(storage[first : first + 1], element)[0] for storage in (got, wanted))
    return Mismatch(name, first, left, right, differing, len(got))


def _equal(
    got: NDArray[Any], wanted: NDArray[Any], element: str, rtol: float, atol: float
) -> NDArray[np.bool_]:
    left, right = decode(got, element), decode(wanted, element)
    equal: NDArray[np.bool_]
    if left.dtype.kind == "f":
        equal = (left == right) | (np.isnan(left) & np.isnan(right))
    else:
        equal = left == right
    if rtol or atol:
        wide_left, wide_right = left.astype(np.float64), right.astype(np.float64)
        with np.errstate(invalid="ignore"):
            close = np.abs(wide_left - wide_right) <= atol + rtol * np.abs(wide_right)
        equal |= close & np.isfinite(wide_right)
    return equal
