"""How texels of a tiled image lie within a block: each bit of an address is the exclusive or of bits of coordinates.

A tiling has a block size and an order of texels in a block. Up to 256 bytes (1 KB in the thick blocks of 3D images)
each order has a table; beyond that, the axes alternate. In the tilings with X in their names, the bits that select the
memory channel are mixed with higher bits, some of them outside the block, so that neighbouring blocks begin with
different channels. How they are mixed follows from a rule, or, for R_X from GFX10 on, from a table for each arrangement
of channels. All of this follows AMD's address library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from rocdbg.sim.images.chips import Chip
from rocdbg.sim.images.fields import Rules

Bits = tuple[int, int, int]
"""Masks of the bits of x, y and z whose exclusive or gives one bit of an address."""
_AXES = "xyz"
_CHANNELS = 8
"""The lowest bit of an address that selects a memory channel: the channel changes every 256 bytes."""
_SIZES = 5
"""Texels have 1, 2, 4, 8 or 16 bytes."""


class Equation(Struct, frozen=True):
    """The order of texels in a block of ``1 << width`` by ``1 << height`` by ``1 << depth``."""

    width: int
    height: int
    depth: int
    bits: tuple[Bits, ...]
    """From the lowest bit of the address within the block up."""

    @property
    def size(self) -> int:
        """Bytes of a block."""
        return 1 << len(self.bits)


class Tiling(Struct, frozen=True):
    """A tiling by its name and number. ``order`` is a row of the tables below, ``block`` the logarithm of its bytes."""

    name: str
    mode: int
    block: int
    order: str
    mixed: bool = False
    """Whether the tiling is one of those called X, whose channels are mixed."""


def _names(first: int, block: int, size: str, orders: str, mixed: bool = False) -> list[Tiling]:
    tail = "_X" if mixed else ""
    return [
        Tiling(f"{size}_{order}{tail}", first + "ZSDR".index(order), block, order, mixed) for order in orders
    ]


_GFX9 = [
    *_names(0, 8, "256B", "SDR"), *_names(4, 12, "4KB", "ZSDR"), *_names(8, 16, "64KB", "ZSDR"),
    *_names(20, 12, "4KB", "ZSDR", True), *_names(24, 16, "64KB", "ZSDR", True),
]
_GFX10 = [
    *_names(0, 8, "256B", "SD"), *_names(4, 12, "4KB", "SD"), *_names(8, 16, "64KB", "SD"),
    *_names(20, 12, "4KB", "SD", True), *_names(24, 16, "64KB", "SDR", True),
]
_GFX11 = [
    *_names(0, 8, "256B", "D"), *_names(4, 12, "4KB", "SD"), *_names(8, 16, "64KB", "SD"),
    *_names(20, 12, "4KB", "SD", True), *_names(24, 16, "64KB", "SDR", True), *_names(28, 18, "256KB", "SDR", True),
]
_GFX12 = [
    Tiling("256B_2D", 1, 8, "D"), Tiling("4KB_2D", 2, 12, "D"), Tiling("64KB_2D", 3, 16, "D"),
    Tiling("256KB_2D", 4, 18, "D"), Tiling("4KB_3D", 5, 12, "S"), Tiling("64KB_3D", 6, 16, "S"),
    Tiling("256KB_3D", 7, 18, "S"),
]
TILINGS: Mapping[Rules, Sequence[Tiling]] = {
    Rules.GFX6: [Tiling("1D_DISPLAY", 9, 0, "display"), Tiling("1D_THIN", 13, 0, "micro")],
    Rules.GFX9: _GFX9, Rules.GFX10: _GFX10, Rules.GFX10_3: _GFX10,
    Rules.GFX11: _GFX11, Rules.GFX12: _GFX12,
}
"""The tilings that are simulated. From GFX10 on, Z is for depth buffers. On GFX6, numbers refer to tables that drivers
fill; rows 9 and 13 are the same in all tables of Linux drivers. Rows 5 (for depth buffers) and 27 (rotated) are the
same from GFX7 on only.
"""

_ORDERS: Mapping[tuple[str, str], Sequence[str]] = {
    # Thin blocks, by bytes per texel.
    ("early", "S"): ("x0 x1 x2 x3 y0 y1 y2 y3", "x0 x1 x2 y0 y1 y2 x3", "x0 x1 y0 y1 y2 x2", "x0 y0 y1 x1 x2",
                     "y0 y1 x0 x1"),
    ("gfx9", "D"): ("x0 x1 x2 y1 y0 y2 x3 y3", "x0 x1 x2 y0 y1 y2 x3", "x0 x1 y0 x2 y1 y2", "x0 y0 x1 x2 y1",
                    "x0 y0 x1 y1"),
    ("gfx10", "D"): ("x0 x1 x2 y1 y0 y2 x3 y3", "x0 x1 x2 y0 y1 y2 x3", "x0 x1 y0 y1 y2 x2", "x0 y0 x1 x2 y1",
                     "x0 y0 x1 y1"),
    ("gfx10.3", "D"): ("x0 x1 x2 y1 y0 y2 x3 y3", "x0 x1 x2 y0 y1 y2 x3", "x0 x1 y0 y1 x2 y2", "x0 y0 x1 x2 y1",
                       "x0 y0 x1 y1"),
    ("late", "D"): ("x0 x1 y0 x2 y1 y2 x3 y3", "x0 y0 x1 y1 x2 y2 x3", "x0 y0 x1 y1 x2 y2", "x0 y0 x1 x2 y1",
                    "x0 y0 x1 y1"),
    ("gfx10", "R"): ("x0 x1 x2 y1 y0 y2 x3 y4", "x0 x1 x2 y0 y1 y2 x3", "x0 x1 y0 y1 y2 x2", "x0 y0 x1 x2 y1",
                     "x0 y0 x1 y1"),
    ("gfx10.3", "R"): ("x0 x1 x2 x3 y0 y1 y2 y3", "x0 x1 x2 y0 y1 y2 x3", "x0 x1 y0 y1 x2 y2", "x0 y0 x1 x2 y1",
                       "x0 y0 x1 y1"),
    ("late", "R"): ("x0 x1 y0 x2 y1 y2 x3 y3", "x0 y0 x1 y1 x2 y2 x3", "x0 y0 x1 y1 x2 y2", "x0 y0 x1 x2 y1",
                    "x0 y0 x1 y1"),
    ("gfx9", "R"): ("y0 y1 y2 x1 x0 x2 x3 y3", "y0 y1 y2 x0 x1 x2 x3", "y0 y1 x0 y2 x1 x2", "y0 x0 y1 x1 x2", ""),
    ("gfx9", "Z"): ("x0 y0 x1 y1 x2 y2 y3 x3", "x0 y0 x1 y1 x2 y2 x3", "x0 y0 x1 y1 y2 x2", "x0 y0 x1 y1 x2", ""),
    ("early", "micro"): ("x0 y0 x1 y1 x2 y2",) * _SIZES,
    ("early", "display"): ("x0 x1 x2 y1 y0 y2", "x0 x1 x2 y0 y1 y2", "x0 x1 y0 x2 y1 y2", "x0 y0 x1 x2 y1 y2",
                           "y0 x0 x1 x2 y1 y2"),
    # Blocks of 3D images.
    ("gfx9", "D3"): ("x0 x1 x2 x3 y0 y1 y2 y3", "x0 x1 x2 y0 y1 y2 x3", "x0 x1 y0 y1 y2 x2", "x0 y0 y1 x1 x2",
                     "y0 y1 x0 x1"),
    # Thick blocks.
    ("gfx9", "Z3"): ("x0 y0 x1 y1 z0 z1 x2 z2 y2 x3", "x0 y0 x1 y1 z0 z1 z2 y2 x2", "x0 y0 x1 z0 y1 z1 y2 x2",
                     "x0 y0 z0 x1 z1 y1 x2", ""),
    ("gfx9", "S3"): ("x0 x1 x2 x3 y0 y1 z0 z1 z2 y2", "x0 x1 x2 y0 y1 z0 z1 z2 y2", "x0 x1 y0 y1 z0 z1 y2 x2",
                     "x0 y0 y1 z0 z1 x1 x2", "y0 y1 z0 z1 x0 x1"),
    ("gfx10", "S3"): ("x0 x1 z0 y0 z1 y1 x2 z2 y2 x3", "x0 z0 y0 z1 y1 x1 z2 y2 x2", "x0 y0 z0 y1 x1 z1 y2 x2",
                      "x0 z0 y0 x1 z1 y1 x2", "z0 y0 x0 z1 y1 x1"),
    ("late", "S3"): ("x0 x1 z0 y0 y1 z1 x2 z2 y2 x3", "x0 z0 y0 x1 z1 y1 z2 y2 x2", "x0 y0 x1 z0 y1 z1 y2 x2",
                     "x0 y0 z0 x1 z1 y1 x2", "x0 z0 y0 z1 y1 x1"),
}
"""The bits of an address above those within a texel, by family and order."""
_THICK = ("S3", "Z3")
_FAMILIES: Mapping[Rules, Sequence[str]] = {
    Rules.GFX6: ("early",), Rules.GFX9: ("gfx9", "early"), Rules.GFX10: ("gfx10", "early"),
    Rules.GFX10_3: ("gfx10.3", "gfx10", "early"), Rules.GFX11: ("late",), Rules.GFX12: ("late",),
}
_R_X: Mapping[tuple[Chip, int], Sequence[str]] = {
    (Chip(Rules.GFX10, 4), 16): (
        "x3^y3^z3 x4^y4^z2 x6^y5^z1 x5^y6^z0 y6 x6 y7 x7",
        "x3^y3^z3 x4^y4^z2 x6^y5^z1 x5^y6^z0 y4 x6 y6 x7",
        "x3^y3^z3 x4^y4^z2 x6^y5^z1 x5^y6^z0 y3 x4 y6 x6",
        "x3^y3^z3 x4^y4^z2 x6^y5^z1 x5^y6^z0 y2 x3 y4 x6",
        "x3^y3^z3 x4^y4^z2 x6^y5^z1 x5^y6^z0 y2 x2 y3 x4",
    ),
    (Chip(Rules.GFX10, 3), 16): (
        "x3^y3^z2 x4^y4^z1 x5^y5^z0 x5 y6 x6 y7 x7",
        "x3^y3^z2 x4^y4^z1 x5^y5^z0 x4 y5 x6 y6 x7",
        "x3^y3^z2 x4^y4^z1 x5^y5^z0 x3 y4 x5 y6 x6",
        "x3^y3^z2 x4^y4^z1 x5^y5^z0 x3 y2 x4 y5 x6",
        "x3^y3^z2 x4^y4^z1 x5^y5^z0 x2 y2 x3 y4 x5",
    ),
    (Chip(Rules.GFX10_3, 4, packers=4), 16): (
        "x8^y4^y8 x4^y4^z3 x7^y5^z2 x5^y7^z1 x6 x7 x8^y7 x6^y6^z0",
        "x8^y4^y8 x4^y4^z3 x7^y5^z2 x5^y7^z1 y3 x6 x7^y7 x6^y6^z0",
        "x8^y4^y8 x4^y4^z3 x7^y5^z2 x5^y7^z1 x3 y3 x6^y7 x6^y6^z0",
        "x8^y4^y8 x4^y4^z3 x7^y5^z2 x5^y7^z1 y2 x3 x7^y3 x6^y6^z0",
        "x8^y4^y8 x4^y4^z2 x7^y5^z1 x5^y7^z0 x2 x3 x6^y3 x6^y2^y6",
    ),
    (Chip(Rules.GFX10_3, 2, packers=1), 16): (
        "x5^y4^y5 x4^y4^z0 x5 y5 x6^y9 x9^y6 x7^y8 x8^y7",
        "x5^y4^y5 x4^y4^z0 y3 x5 x6^y8 x9^y5 x7^y7 x8^y6",
        "x5^y4^y5 x4^y4^z0 x3 y3 x5^y8 x8^y5 x6^y7 x7^y6",
        "x5^y4^y5 x4^y4^z0 y2 x3 x8^y3 x5^y7 x6^y6 x7^y5",
        "x5^y4^y5 x4^y4^z0 x2 y2 x7^y3 x3^y7 x5^y6 x6^y5",
    ),
    (Chip(Rules.GFX10_3, 2, packers=2), 16): (
        "x6^y4^y6 x4^y4^z1 x5 x6 x9^y6 x7^y8 x8^y7 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 y3 x5 x6^y8 x8^y6 x7^y7 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 x3 y3 x5^y8 x6^y7 x7^y6 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 y2 x3 x7^y3 x5^y7 x6^y6 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 x2 y2 x3^y7 x6^y3 x5^y6 x5^y5^z0",
    ),
    (Chip(Rules.GFX10_3, 2), 16): (
        "x5^y4^y5 x4^y4^z0 x5 y5 x6^y9 x9^y6 x7^y8 x8^y7",
        "x5^y4^y5 x4^y4^z0 y3 x5 x6^y8 x9^y5 x7^y7 x8^y6",
        "x5^y4^y5 x4^y4^z0 x3 y3 x5^y8 x8^y5 x6^y7 x7^y6",
        "x5^y4^y5 x4^y4^z0 y2 x3 x8^y3 x5^y7 x6^y6 x7^y5",
        "x5^y4^y5 x4^y4^z0 x2 y2 x7^y3 x3^y7 x5^y6 x6^y5",
    ),
    (Chip(Rules.GFX11, 5, packers=5), 16): (
        "x9^y4^y9 x4^y4^z1 x8^y5^z0 x5^y8 x7^y6 x7 y7 x6^y7",
        "x9^y4^y9 x4^y4^z1 x8^y5^z0 x5^y8 x7^y6 y3 x7 x6^y7",
        "x9^y4^y9 x4^y4^z1 x8^y5^z0 x5^y8 x7^y6 x3 y3 x6^y7",
        "x9^y4^y9 x4^y4^z3 x8^y5^z2 x5^y8^z1 x7^y2^y6 x3 y3 x6^y7^z0",
        "x9^y4^y9 x4^y4^z2 x8^y5^z1 x5^y8^z0 x7^y2^y6 x3 y3 x2^x6^y7",
    ),
    (Chip(Rules.GFX11, 5, packers=5), 18): (
        "x9^y4^y9 x4^y4^z1 x8^y5^z0 x5^y8 x7^y6 x7 y7 x8^y9 x9^y8 x6^y7",
        "x9^y4^y9 x4^y4^z1 x8^y5^z0 x5^y8 x7^y6 y3 x7 x8^y8 x9^y7 x6^y7",
        "x9^y4^y9 x4^y4^z1 x8^y5^z0 x5^y8 x7^y6 x3 y3 x7^y8 x8^y7 x6^y7",
        "x9^y4^y9 x4^y4^z4 x8^y5^z3 x5^y8^z2 x7^y6^z1 y2 x3 x8^y3 x7^y7 x6^y7^z0",
        "x9^y4^y9 x4^y4^z4 x8^y5^z3 x5^y8^z2 x7^y6^z1 x2 y2 x7^y3 x3^y7 x6^y7^z0",
    ),
    (Chip(Rules.GFX11, 3, packers=3), 16): (
        "x7^y4^y7 x4^y4^z1 x6^y5^z0 x6 y6 x7^y8 x8^y7 x5^y6",
        "x7^y4^y7 x4^y4^z1 x6^y5^z0 y3 x6 x7^y7 x8^y6 x5^y6",
        "x7^y4^y7 x4^y4^z1 x6^y5^z0 x3 y3 x6^y7 x7^y6 x5^y6",
        "x7^y4^y7 x4^y4^z2 x6^y5^z1 y2 x3 x7^y3 x6^y6 x5^y6^z0",
        "x7^y4^y7 x4^y4^z2 x6^y5^z1 x2 y2 x6^y3 x3^y6 x5^y6^z0",
    ),
    (Chip(Rules.GFX11, 3, packers=3), 18): (
        "x7^y4^y7 x4^y4^z1 x6^y5^z0 x6 y6 x7^y10 x10^y7 x8^y9 x9^y8 x5^y6",
        "x7^y4^y7 x4^y4^z1 x6^y5^z0 y3 x6 x7^y9 x10^y6 x8^y8 x9^y7 x5^y6",
        "x7^y4^y7 x4^y4^z1 x6^y5^z0 x3 y3 x6^y9 x9^y6 x7^y8 x8^y7 x5^y6",
        "x7^y4^y7 x4^y4^z2 x6^y5^z1 y2 x3 x9^y3 x6^y8 x7^y7 x8^y6 x5^y6^z0",
        "x7^y4^y7 x4^y4^z2 x6^y5^z1 x2 y2 x8^y3 x3^y8 x6^y7 x7^y6 x5^y6^z0",
    ),
    (Chip(Rules.GFX11, 2, packers=2), 16): (
        "x6^y4^y6 x4^y4^z1 x5 x6 x9^y6 x7^y8 x8^y7 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 y3 x5 x6^y8 x8^y6 x7^y7 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 x3 y3 x5^y8 x6^y7 x7^y6 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 y2 x3 x7^y3 x5^y7 x6^y6 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 x2 y2 x3^y7 x6^y3 x5^y6 x5^y5^z0",
    ),
    (Chip(Rules.GFX11, 2, packers=2), 18): (
        "x6^y4^y6 x4^y4^z1 x5 x6 x10^y6 x7^y9 x9^y7 x8^y8 y8 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 y3 x5 x6^y9 x9^y6 x7^y8 x8^y7 x8 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 x3 y3 x5^y9 x6^y8 x8^y6 x7^y7 y7 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 y2 x3 x8^y3 x5^y8 x6^y7 x7^y6 x7 x5^y5^z0",
        "x6^y4^y6 x4^y4^z1 x2 y2 x3^y8 x7^y3 x5^y7 x6^y6 y6 x5^y5^z0",
    ),
}  # fmt: skip
"""R_X from GFX10 on, by block: the bits from the first channel bit on."""


def tiling_of(rules: Rules, mode: int) -> Tiling | None:
    """The tiling with a number, None if it is not simulated."""
    return next((tiling for tiling in TILINGS[rules] if tiling.mode == mode), None)


def tiling_named(rules: Rules, name: str) -> Tiling | None:
    """The tiling with a name, in any case of letters."""
    return next((tiling for tiling in TILINGS[rules] if tiling.name.lower() == name.lower()), None)


@lru_cache(maxsize=4096)
def equation(chip: Chip, mode: int, size: int, three: bool) -> Equation | None:
    """The order of texels of ``1 << size`` bytes; ``three``: for a 3D image. None if there is no such tiling, or if it
    is not known how the chip mixes its channels."""
    tiling = tiling_of(chip.rules, mode)
    if tiling is None or (chip.rules is Rules.GFX12 and three != (tiling.order == "S")):
        return None
    order = tiling.order + "3" if three and tiling.block else tiling.order
    table = next((_ORDERS[family, order] for family in _FAMILIES[chip.rules] if (family, order) in _ORDERS), None)
    if table is None or not table[size] or (three and tiling.block == _CHANNELS):
        return None
    thick = order in _THICK
    single = ("0",) * size + tuple(table[size].split())
    block = tiling.block or len(single)
    endless = _continued(single, 2 * block, thick)
    rows = [_bits(word) for word in endless[:block]]
    counts = [sum(word[0] == axis for word in endless[:block]) for axis in _AXES]
    if tiling.mixed:
        if chip.pipes is None:
            return None
        if tiling.order == "R" and chip.rules >= Rules.GFX10:
            known = _R_X.get((chip, tiling.block))
            if known is None:
                return None
            rows[_CHANNELS:] = [_bits(word) for word in known[size].split()]
        else:
            _mix(rows, endless, chip, thick)
    return Equation(counts[0], counts[1], counts[2], tuple(rows))


@lru_cache(maxsize=256)
def _continued(words: tuple[str, ...], count: int, thick: bool) -> Sequence[str]:
    """Continue after the end of a table with alternating axes: y and x, in thick blocks z, y and x."""
    found = list(words)
    following = {axis: sum(word[0] == axis for word in words) for axis in _AXES}
    turns = "zyx" if thick else "yx"
    for n in range(count):
        axis = turns[n % len(turns)]
        found.append(f"{axis}{following[axis]}")
        following[axis] += 1
    return found


def _mix(rows: list[Bits], endless: Sequence[str], chip: Chip, thick: bool) -> None:
    """Mix the channel bits, and on GFX9 the bank bits that come next, with the bits that follow, the farthest first; in
    thin blocks also with those of the slice."""
    assert chip.pipes is not None
    first, slices, room = _CHANNELS, 0, len(rows) - _CHANNELS
    most = max(1, chip.packers) if chip.rules >= Rules.GFX10_3 else room
    for wanted in (chip.pipes, chip.banks):
        count = min(wanted, room)
        room -= count
        others = 2 if thick else 1
        following = list(endless[first + count : first + count + others * count])
        for n in range(count):
            taken = [following.pop() for _ in range(others)]
            slice = slices + count - 1 - n
            if not thick and slice < most:
                taken.append(f"z{slice}")
            rows[first + n] = _both(rows[first + n], *map(_bits, taken))
        first += count
        slices += count


@lru_cache(maxsize=1024)
def _bits(word: str) -> Bits:
    """Parse ``x8^y4^y8``."""
    masks = dict.fromkeys(_AXES, 0)
    for axis, number in re.findall(r"([xyz])(\d+)", word):
        masks[axis] ^= 1 << int(number)
    return masks["x"], masks["y"], masks["z"]


def _both(*all_bits: Bits) -> Bits:
    x = y = z = 0
    for bits in all_bits:
        x, y, z = x ^ bits[0], y ^ bits[1], z ^ bits[2]
    return x, y, z


__all__ = ["TILINGS", "Bits", "Equation", "Tiling", "equation", "tiling_named", "tiling_of"]
