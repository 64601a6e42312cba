"""Cube images: finds the texels beyond the edges of a face, which linear filters take from the adjoining face.

Faces are numbered +x, -x, +y, -y, +z, -z, as in D3D and Vulkan; a face's s axis points right and its t axis down.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from rocdbg.sim.core.builder import I64, Value

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine

Vector = tuple[int, int, int]
_FACES: Final[tuple[tuple[Vector, Vector, Vector], ...]] = (
    ((1, 0, 0), (0, 0, -1), (0, -1, 0)), ((-1, 0, 0), (0, 0, 1), (0, -1, 0)),
    ((0, 1, 0), (1, 0, 0), (0, 0, 1)), ((0, -1, 0), (1, 0, 0), (0, 0, -1)),
    ((0, 0, 1), (1, 0, 0), (0, -1, 0)), ((0, 0, -1), (-1, 0, 0), (0, -1, 0)),
)  # fmt: skip
"""For each face, its position and the directions of its s and t axes."""
FACES: Final = 6
_ALONG, _REVERSED, _FIRST, _LAST = range(4)
"""How a coordinate on the new face is computed: as the coordinate along the edge, unchanged (ALONG) or counted from the
other end (REVERSED), or as the first or last texel at the new edge.
"""


def _times(vector: Vector, other: Vector) -> int:
    return sum(a * b for a, b in zip(vector, other, strict=True))


@cache
def seams() -> tuple[tuple[int, int, int], ...]:
    """For each face, its edges left, right, top and bottom: the adjoining face, and how x and y are computed there."""
    found = []
    for middle, right, down in _FACES:
        for edge in range(4):
            outward = tuple(n * (1 if edge & 1 else -1) for n in (right if edge < 2 else down))
            along = down if edge < 2 else right
            face = next(n for n, (other, _, _) in enumerate(_FACES) if other == outward)
            parts = []
            for axis in _FACES[face][1:]:
                same = _times(axis, along)
                back = _times(axis, middle)  # the direction of the old face, from the new one
                parts.append((_ALONG if same > 0 else _REVERSED) if same else _LAST if back > 0 else _FIRST)
            found.append((face, parts[0], parts[1]))
    return tuple(found)


def constants() -> set[str]:
    """The table, as an LLVM constant."""
    words = ", ".join(f"i64 {face | x << 8 | y << 16}" for face, x, y in seams())
    return {f"@cube_seams = private constant [{len(seams())} x i64] [{words}]"}


def across(r: Routine, layer: Value, x: Value, y: Value, count: Value) -> tuple[Value, Value, Value]:
    """Layer, x and y of the texel for a position that is outside its face along one axis. Faces are ``count`` texels
    wide. All I64."""
    face = layer.urem(FACES)
    sideways = x.slt(0) | x.sge(count)
    edge = sideways.select(x.sge(count).zext(I64), y.sge(count).zext(I64) + 2)
    entry = r.load(r.gep("@cube_seams", (face.shl(2) + edge).shl(3)), I64)
    along, last = sideways.select(y, x), count - 1

    def coordinate(code: Value) -> Value:
        value = code.eq(_ALONG).select(along, last - along)
        return code.eq(_FIRST).select(0, code.eq(_LAST).select(last, value))

    return layer - face + (entry & 0xFF), coordinate(entry.lshr(8) & 0xFF), coordinate(entry.lshr(16))


__all__ = ["FACES", "across", "constants", "seams"]
