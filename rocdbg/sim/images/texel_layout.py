"""The layout of an image's texels in memory.

Rows of linear images are aligned to 256 bytes (GFX12: 128). Up to GFX8, each level of detail contains all its slices
(layers of an array, or planes of a 3D image); larger levels come first, and sizes are padded to powers of two. From
GFX9 on, each slice contains all its levels: GFX9 stores them with one pitch, one below the other; from GFX10 on, each
level has a pitch of its own, and smaller levels come first. Tiled images are rows of blocks
(`rocdbg.sim.images.tiles`); with thick blocks they are layers of such rows. All of this follows AMD's published address
library.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.tiles import Bits, Equation


class Level(Struct, frozen=True):
    """One level of detail: its first byte, its pitch in texels (tiled: a multiple of the block's width), its size, and
    the bytes from one of its slices to the next (tiled: from one layer of blocks to the next)."""

    offset: int
    pitch: int
    width: int
    height: int
    depth: int
    slice: int
    corner: tuple[int, int] = (0, 0)
    """The position of the level's first texel in its first block; small levels of tiled images share one block."""


class ImageLayout(Struct, frozen=True):
    """All levels of an image of ``slices`` slices with texels of ``texel`` bytes."""

    levels: tuple[Level, ...]
    texel: int
    slices: int
    size: int
    """Bytes of the image."""
    tile: Equation | None = None

    @property
    def slice(self) -> int:
        """Bytes from one slice to the next: of all levels together from GFX9 on, before that of the first level."""
        return self.levels[0].slice

    @property
    def align(self) -> int:
        """The alignment of the image's address."""
        return 256 if self.tile is None else max(256, self.tile.size)

    @property
    def field_pitch(self) -> int:
        """The pitch in GFX9's descriptor; for linear images with several levels it is the height of all levels
        together.
        """
        if len(self.levels) == 1 or self.tile is not None:
            return self.levels[0].pitch
        return sum(_shifted_up(self.levels[0].height, n) for n in range(len(self.levels)))

    def offsets(self, level: int, slices: int) -> NDArray[np.int64]:
        """The offset of the first byte of each texel of a level from the image's beginning, as [slice][row][texel]."""
        place = self.levels[level]
        z, y, x = np.ogrid[:slices, : place.height, : place.width]
        if self.tile is None:
            return np.asarray(place.offset + z * place.slice + (y * place.pitch + x) * self.texel, np.int64)
        tile = self.tile
        block = (y >> tile.height) * (place.pitch >> tile.width) + (x >> tile.width)
        x, y = x + place.corner[0], y + place.corner[1]
        within = _bits_of(tile.bits, 0, x) ^ _bits_of(tile.bits, 1, y) ^ _bits_of(tile.bits, 2, z)
        return np.asarray(place.offset + (z >> tile.depth) * place.slice + block * tile.size + within, np.int64)


def _bits_of(rows: tuple[Bits, ...], axis: int, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The part of an address's exclusive or that comes from coordinates along one axis."""
    found = np.zeros_like(values)
    for place, row in enumerate(rows):
        for n in range(row[axis].bit_length()):
            if row[axis] >> n & 1:
                found ^= (values >> n & 1) << place
    return found


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _shifted_up(value: int, count: int) -> int:
    return -(-value >> count)


def power(value: int) -> int:
    """The smallest power of two that is not less than a number."""
    return 1 << max(0, value - 1).bit_length()


def early_pitch(width: int, height: int, size: int) -> int:
    """Texels per row of a linear level up to GFX8. Its ``width`` and ``height`` are powers of two; rows are multiples
    of 8 texels and 64 bytes, slices multiples of 64 texels and 256 bytes.
    """
    return max(width, 8, 64 // size, max(64, 256 // size) // height)


def linear(
    rules: Rules, size: int, width: int, height: int, depth: int, slices: int, levels: int = 1, pitch: int = 0,
    *, padded: bool = False,
) -> ImageLayout:  # fmt: skip
    """The layout of a linear image of ``width`` by ``height`` texels of ``size`` bytes. ``depth``: planes of a 3D
    image, otherwise 1; ``slices``: layers, or the planes of a 3D image; ``pitch``: texels per row if a descriptor gives
    it explicitly; ``padded``: up to GFX8 the first level is padded to powers of two as the others are."""
    if rules is Rules.GFX6:
        return _early(size, (width, height, depth), slices, levels, pitch, padded)
    if pitch and levels == 1:
        piece = pitch * height * size
        return ImageLayout((Level(0, pitch, width, height, depth, piece),), size, slices, piece * slices)
    unit = (128 if rules is Rules.GFX12 else 256) // size
    step = 256 // size
    found: list[Level] = []
    if rules.shape_in_image:
        pitch, row = _up(width, unit), 0
        piece = sum(_shifted_up(height, n) for n in range(levels)) * pitch * size
        for n, (w, h, d) in enumerate(_sizes(width, height, depth, levels)):
            found.append(Level(row * pitch * size, pitch, w, h, d, piece))
            row += _shifted_up(height, n)
        return ImageLayout(tuple(found), size, slices, piece * slices)
    offset = 0
    sizes = _sizes(width, height, depth, levels)
    starts: list[tuple[int, int]] = []
    for n in reversed(range(levels)):
        row = _shifted_up(width, n)
        starts.append((offset, _up(row, unit)))
        # The largest level comes last. In a single slice its rows are aligned to its own pitch only, which differs on
        # GFX12.
        advance = unit if n == 0 and slices == 1 and depth == 1 else step
        offset += _up(row, advance) * _shifted_up(height, n) * size
    for (start, pitch), (w, h, d) in zip(reversed(starts), sizes, strict=True):
        found.append(Level(start, pitch, w, h, d, offset))
    return ImageLayout(tuple(found), size, slices, offset * slices)


def _sizes(width: int, height: int, depth: int, levels: int) -> list[tuple[int, int, int]]:
    return [(max(1, width >> n), max(1, height >> n), max(1, depth >> n)) for n in range(levels)]


def _early(
    size: int, sizes: tuple[int, int, int], slices: int, levels: int, pitch: int, padded: bool
) -> ImageLayout:
    """Up to GFX8."""
    found: list[Level] = []
    offset, three = 0, sizes[2] > 1
    if not pitch:
        padded = padded or levels > 1
        pitch = early_pitch(power(sizes[0]), power(sizes[1]), size) if padded else _up(sizes[0], 256 // size)
    for n, (w, h, d) in enumerate(_sizes(*sizes, levels)):
        rows, count = (h, d if three else slices)
        row = pitch
        if n:
            row = early_pitch(power(max(1, pitch >> n)), power(h), size)
        if n or padded:
            rows, count = power(rows), power(count)
        piece = row * rows * size
        found.append(Level(offset, row, w, h, d, piece))
        offset += _up(piece * count, 256)
    return ImageLayout(tuple(found), size, slices, offset)


def tiled(
    tile: Equation, size: int, width: int, height: int, depth: int, slices: int, levels: int = 1,
    pitch: int = 0,
) -> ImageLayout:  # fmt: skip
    """The layout of a tiled image; the parameters are those of `linear`. Several levels are laid out as GFX10 and later
    do.
    """
    if levels > 1:
        return _tiled_levels(tile, size, (width, height, depth), slices, levels)
    row = _up(pitch or width, 1 << tile.width)
    rows = _up(height, 1 << tile.height) >> tile.height
    while not pitch and (row >> tile.width) * rows * tile.size % 256:  # small blocks: slices begin at multiples of 256
        row += 1 << tile.width
    piece = (row >> tile.width) * rows * tile.size
    layers = _up(slices, 1 << tile.depth) >> tile.depth
    return ImageLayout((Level(0, row, width, height, depth, piece),), size, slices, piece * layers, tile)


class Tail(Struct, frozen=True):
    """The levels of a tiled image that share one block, from GFX10 on: the last levels, at most ``most``, that are not
    larger than ``width`` by ``height``. Each begins at a multiple of ``step`` texels. ``most`` is 0 if no levels share
    a block.
    """

    width: int
    height: int
    most: int
    step: tuple[int, int]


_STEP = ((16, 16), (16, 8), (8, 8), (8, 4), (4, 4))
_THICK_STEP = ((8, 4), (4, 4), (4, 4), (4, 2), (2, 2))
"""Width and height, in texels, of 256 bytes of texels, by the logarithm of the texel size."""


def tail_of(tile: Equation, size: int) -> Tail:
    """The tail of images with texels of ``1 << size`` bytes."""
    block, thick = len(tile.bits), tile.depth > 0
    width, height = 1 << tile.width, 1 << tile.height
    if block <= 8:
        return Tail(width, height, 0, (1, 1))
    effective = block - ((block - 8) // 3 if thick else 0)
    most = 1 + (1 << effective - 9) if effective <= 11 else effective - 4
    halved = block % 3 if thick else 1
    step = (_THICK_STEP if thick else _STEP)[size]
    return Tail(width >> (halved == 1), height >> (halved == 0), most, step)


def tail_corner(tail: Tail, place: int) -> tuple[int, int]:
    """The first texel of the level with number ``place`` in a tail: the larger ones come last."""
    number = tail.most - 1 - place
    offset = 16 << number if number > 6 else number << 8
    x = sum((offset >> 9 + 2 * n & 1) << n for n in range(6))
    y = sum((offset >> 8 + 2 * n & 1) << n for n in range(6))
    return x * tail.step[0], y * tail.step[1]


def _tiled_levels(
    tile: Equation, size: int, sizes: tuple[int, int, int], slices: int, levels: int
) -> ImageLayout:
    tail = tail_of(tile, size.bit_length() - 1)
    padded = [(_shifted_up(sizes[0], n), _shifted_up(sizes[1], n)) for n in range(levels)]
    small = [w <= tail.width and h <= tail.height and levels - n <= tail.most for n, (w, h) in enumerate(padded)]
    first = small.index(True) if True in small else levels
    rows = [
        (_up(w, 1 << tile.width), (_up(w, 1 << tile.width) >> tile.width) * (_up(h, 1 << tile.height) >> tile.height))
        for w, h in padded
    ]
    shared = tile.size if first < levels else 0
    piece = shared + sum(blocks for _, blocks in rows[:first]) * tile.size
    found = []
    for n, (w, h, d) in enumerate(_sizes(*sizes, levels)):
        if n >= first:
            found.append(Level(0, 1 << tile.width, w, h, d, piece, tail_corner(tail, n - first)))
        else:
            offset = shared + sum(blocks for _, blocks in rows[n + 1 : first]) * tile.size
            found.append(Level(offset, rows[n][0], w, h, d, piece))
    layers = _up(slices, 1 << tile.depth) >> tile.depth
    return ImageLayout(tuple(found), size, slices, piece * layers, tile)


__all__ = ["ImageLayout", "Level", "Tail", "early_pitch", "linear", "power", "tail_corner", "tail_of", "tiled"]
