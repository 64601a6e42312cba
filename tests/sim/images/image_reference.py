"""The results of samplers, one lane at a time in NumPy's f64: the oracle of the sampling tests."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rocdbg.sim.images.sampler_descriptor import Border, Clamp, SamplerDescriptor

Texels = NDArray[np.float64]
"""[z][y][x][channel] of one level."""


def index(mode: int, at: int, count: int, linear: bool) -> int | None:
    """The texel of a position; None is the border."""
    once = -at - 1 if at < 0 else at
    match mode:
        case Clamp.WRAP:
            return at % count
        case Clamp.MIRROR:
            at %= 2 * count
            return at if at < count else 2 * count - 1 - at
        case Clamp.EDGE:
            return min(max(at, 0), count - 1)
        case Clamp.MIRROR_ONCE_EDGE:
            return min(once, count - 1)
        case Clamp.HALF_BORDER | Clamp.MIRROR_ONCE_HALF_BORDER if not linear:
            return min(once if mode == Clamp.MIRROR_ONCE_HALF_BORDER else max(at, 0), count - 1)
        case Clamp.BORDER | Clamp.HALF_BORDER:
            return at if 0 <= at < count else None
    return once if once < count else None


def position(coordinate: float, mode: int, count: int, linear: bool, sampler: SamplerDescriptor) -> tuple[int, int]:
    """The first texel's position and the weight of the second, in 1/256."""
    at = coordinate if math.isfinite(coordinate) else 0.0
    if not sampler.unnormalized:
        if mode == Clamp.WRAP:
            at -= math.floor(at)
        elif mode == Clamp.MIRROR:
            at -= 2 * math.floor(at / 2)
        at *= count
    if mode == Clamp.MIRROR_ONCE_HALF_BORDER:
        at = abs(at)
    if mode in (Clamp.HALF_BORDER, Clamp.MIRROR_ONCE_HALF_BORDER):
        at = min(max(at, 0.0), float(count))
    at = min(max(at, -float(1 << 20)), float(1 << 20))
    fixed = math.floor(at) * 256 if sampler.truncate and not linear else round(at * 256)
    fixed -= 128 if linear else 0
    return fixed >> 8, fixed & 255 if linear else 0


def border(sampler: SamplerDescriptor) -> NDArray[np.float64]:
    """The border's channels; alpha is the last."""
    white = float(sampler.border == Border.OPAQUE_WHITE)
    return np.array([white, white, white, float(sampler.border in (Border.OPAQUE_BLACK, Border.OPAQUE_WHITE))])


def filtered(
    texels: Texels, coordinates: tuple[float, ...], sampler: SamplerDescriptor, linear: bool,
    offset: tuple[int, int, int] = (0, 0, 0), linear_z: bool | None = None,
) -> NDArray[np.float64]:
    """One level's sample at (x[, y[, z]]); missing coordinates are texel 0."""
    axes = []
    for n, count in enumerate(texels.shape[2::-1]):
        smooth = linear if n < 2 or linear_z is None else linear_z
        if n >= len(coordinates):
            axes.append([(0, 256)])
            continue
        first, weight = position(coordinates[n], sampler.clamp[n], count, smooth, sampler)
        ends = ((first, 256 - weight), (first + 1, weight))
        axes.append([(index(sampler.clamp[n], at + offset[n], count, smooth), w) for at, w in ends if w])
    total = np.zeros(4)
    for iz, wz in axes[2]:
        for iy, wy in axes[1]:
            for ix, wx in axes[0]:
                outside = ix is None or iy is None or iz is None
                value = border(sampler) if outside else texels[iz, iy, ix]
                total += value * (wx * wy * wz / 256**3)
    return total


def gathered(texels: Texels, x: float, y: float, sampler: SamplerDescriptor, channel: int) -> list[float]:
    """The four texels of a linear filter: (0, 1), (1, 1), (1, 0), (0, 0)."""
    (ix, _), (iy, _) = (
        position(c, sampler.clamp[n], texels.shape[2 - n], True, sampler) for n, c in enumerate((x, y))
    )
    found = []
    for dx, dy in ((0, 1), (1, 1), (1, 0), (0, 0)):
        column, row = (
            index(sampler.clamp[n], at, texels.shape[2 - n], True) for n, at in enumerate((ix + dx, iy + dy))
        )
        outside = column is None or row is None
        found.append(float(border(sampler)[channel] if outside else texels[0, row, column, channel]))
    return found
