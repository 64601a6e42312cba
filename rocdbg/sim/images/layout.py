"""Where the texels of a linear image lie.

Rows are aligned to 256 bytes (GFX12: 128). GFX9 keeps all levels of detail in one pitch, one below the other; from
GFX10 on each level has a pitch of its own and the smaller levels come first. Each slice (layer of an array, or plane
of a 3D image) holds all its levels. The facts are those of AMD's published address library.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.sim.images.fields import Rules


class Level(Struct, frozen=True):
    """One level of detail within a slice: its first byte, its pitch in texels, and its size."""

    offset: int
    pitch: int
    width: int
    height: int
    depth: int


class LinearLayout(Struct, frozen=True):
    """All levels; ``slice`` bytes from one slice to the next, ``slices`` of them."""

    levels: tuple[Level, ...]
    slice: int
    slices: int

    @property
    def size(self) -> int:
        """Bytes of the image."""
        return self.slice * self.slices

    @property
    def field_pitch(self) -> int:
        """What GFX9's descriptor holds as pitch: with several levels it is the height of all of them."""
        if len(self.levels) == 1:
            return self.levels[0].pitch
        return sum(_shifted_up(self.levels[0].height, n) for n in range(len(self.levels)))


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _shifted_up(value: int, count: int) -> int:
    return -(-value >> count)


def linear(
    rules: Rules, size: int, width: int, height: int, depth: int, slices: int, levels: int = 1, pitch: int = 0
) -> LinearLayout:
    """The layout of an image of ``width`` by ``height`` texels of ``size`` bytes. ``depth``: planes of a 3D image, else
    1; ``slices``: layers, or the planes of a 3D image; ``pitch``: texels per row where a descriptor says so itself."""
    if pitch and levels == 1:
        return LinearLayout((Level(0, pitch, width, height, depth),), pitch * height * size, slices)
    unit = (128 if rules is Rules.GFX12 else 256) // size
    step = 256 // size
    dimensions = [(max(1, width >> n), max(1, height >> n), max(1, depth >> n)) for n in range(levels)]
    found: list[Level] = []
    if rules.shape_in_image:
        pitch, row = _up(width, unit), 0
        for n, (w, h, d) in enumerate(dimensions):
            found.append(Level(row * pitch * size, pitch, w, h, d))
            row += _shifted_up(height, n)
        return LinearLayout(tuple(found), row * pitch * size, slices)
    offset = 0
    for n in reversed(range(levels)):
        w, h, d = dimensions[n]
        padded = _shifted_up(width, n)
        found.append(Level(offset, _up(padded, unit), w, h, d))
        # A lone slice of GFX12 ends with its last row's pitch; its largest level is the last.
        advance = unit if n == 0 and slices == 1 and depth == 1 else step
        offset += _up(padded, advance) * _shifted_up(height, n) * size
    return LinearLayout(tuple(reversed(found)), offset, slices)


__all__ = ["Level", "LinearLayout", "linear"]
