"""The order of texels in the blocks of tiled images, as tables for translated code, made from
`rocdbg.sim.images.tiles`.

One table gives the number of the order for each chip, tiling, size of texels and kind of image (3D or not). The other
holds the orders: a header, then for each bit of an address the masks of x, y and z, then the positions of the levels
of detail that share a block.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from rocdbg.sim.core.builder import I8, I16, I64, Value
from rocdbg.sim.images.chips import CHIPS
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.image_descriptor import ImageType
from rocdbg.sim.images.texel_layout import tail_corner, tail_of
from rocdbg.sim.images.tiles import Equation, equation, tiling_of

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine

LINEAR: Final = 0
NONE: Final = 0xFFFE
"""No tiling, or one that is not simulated."""
UNKNOWN: Final = 0xFFFF
"""The chip's mapping of addresses to memory channels is not known."""
_MODES, _SIZES, _BITS = 32, 5, 18
_HEADER = 12
"""Logarithms of a block's width, height, depth and bytes, those of the size of levels that share a block, and their
number."""
_ROW = 6
_MOST_IN_TAIL = 14
_CORNERS = _HEADER + _BITS * _ROW
_EQUATION = _CORNERS + _MOST_IN_TAIL * 4


def constants() -> set[str]:
    """The tables, as LLVM constants."""
    return {_bytes("image_tilings", _tables()[0]), _bytes("image_orders", _tables()[1])}


def _bytes(name: str, data: bytes) -> str:
    text = "\\" + data.hex("\\")
    return f'@{name} = private constant [{len(data)} x i8] c"{text}", align 8'


@cache
def _tables() -> tuple[bytes, bytes]:
    numbers: dict[tuple[Equation, int], int] = {}
    places = bytearray()
    for chip in CHIPS:
        for three in (False, True):
            for mode in range(_MODES):
                known = tiling_of(chip.rules, mode)
                if known is None:
                    places += NONE.to_bytes(2, "little") * _SIZES
                    continue
                for size in range(_SIZES):
                    order = equation(chip, mode, size, three)
                    number = UNKNOWN if known.mixed and chip.pipes is None else NONE
                    if order is not None:
                        number = numbers.setdefault((order, size), len(numbers) + 1)
                    places += number.to_bytes(2, "little")
    return bytes(places), b"".join(_packed(*each) for each in numbers)


def _packed(order: Equation, size: int) -> bytes:
    tail = tail_of(order, size)
    logs = [order.width, order.height, order.depth, len(order.bits)]
    header = bytes([*logs, tail.width.bit_length() - 1, tail.height.bit_length() - 1, tail.most]).ljust(_HEADER, b"\0")
    masks = b"".join(mask.to_bytes(2, "little") for bits in order.bits for mask in bits)
    corners = [tail_corner(tail, n) for n in range(tail.most)]
    places = b"".join(part.to_bytes(2, "little") for corner in corners for part in corner)
    return header + masks.ljust(_BITS * _ROW, b"\0") + places.ljust(_MOST_IN_TAIL * 4, b"\0")


def found(r: Routine, chip: Value, mode: Value, size: Value, kind: Value, early: Value) -> Value:
    """The number of the order of an image of type ``kind`` with texels of ``size`` bytes in tiling ``mode``, I64."""
    three = kind.eq(int(ImageType.THREE))
    flat = kind.eq(int(ImageType.ONE)) | kind.eq(int(ImageType.ONE_ARRAY))
    possible = kind.ult(int(ImageType.TWO_MSAA)) & (early | ~flat) & size.ult(1 << _SIZES) & size.ne(0)
    place = (((chip.shl(1) | three.zext(I64)) * _MODES) + mode) * _SIZES + possible.select(size.cttz(), 0)
    number = r.load(r.gep("@image_tilings", place.shl(1)), I16).zext(I64)
    return possible.select(number, NONE)


def address(
    r: Routine, number: Value, base: Value, sizes: tuple[Value, Value], place: tuple[Value, Value, Value],
    level: Value, levels: Value,
) -> Value:  # fmt: skip
    """The address of the texel at ``place`` (x, y, z). ``sizes``: texels per row, and rows, of the first of the image's
    ``levels``. All I64. See `rocdbg.sim.images.texel_layout`."""
    order = r.gep("@image_orders", (number - 1) * _EQUATION)
    width, height, depth, bits, wide, high, most = (r.load(r.gep(order, n), I8).zext(I64) for n in range(7))
    one = r.const(1, I64)

    def blocks(n: Value) -> tuple[Value, Value]:
        """The blocks in a row of a level, and in a whole layer of it."""
        row = up(up(sizes[0], n), width)
        return row, row * up(up(sizes[1], n), height)

    def is_small(n: Value) -> Value:
        few = (levels - n).ule(most) & levels.ne(1)
        return few & up(sizes[0], n).ule(one.shl(wide)) & up(sizes[1], n).ule(one.shl(high))

    before, layer, small = r.local(), r.local(), r.local()
    for local in (before, layer, small):
        r.store(local, r.const(0, I64))

    def add(n: Value) -> None:
        shares = is_small(n)
        _, count = blocks(n)
        count = shares.select(0, count)
        r.store(layer, r.load(layer, I64) + count)
        r.store(before, r.load(before, I64) + level.ult(n).select(count, 0))
        r.store(small, r.load(small, I64) + shares.zext(I64))

    r.for_range(levels, add)
    tail = r.load(small, I64)
    shared = tail.ne(0).zext(I64)
    inside = is_small(level)
    row, _ = blocks(level)
    corner = r.gep(order, inside.select(level - (levels - tail), 0) * 4 + _CORNERS)
    moved = [inside.select(r.load(r.gep(corner, 2 * n), I16).zext(I64), 0) for n in range(2)]
    x, y, z = place
    block = (r.load(layer, I64) + shared) * z.lshr(depth) + y.lshr(height) * row + x.lshr(width)
    block = block + inside.select(0, r.load(before, I64) + shared)
    place = (x + moved[0], y + moved[1], z)
    within = r.local()
    r.store(within, r.const(0, I64))

    def bit(n: Value) -> None:
        masks = r.gep(order, n * _ROW + _HEADER)
        chosen = [axis & r.load(r.gep(masks, 2 * k), I16).zext(I64) for k, axis in enumerate(place)]
        odd = (chosen[0].ctpop() + chosen[1].ctpop() + chosen[2].ctpop()) & 1
        r.store(within, r.load(within, I64) | odd.shl(n))

    r.for_range(bits, bit)
    # The low bits of the base are not an offset: they are also mixed into the channel bits.
    mask = r.const(1, I64).shl(bits) - 1
    return (base & ~mask) + block.shl(bits) + (r.load(within, I64) ^ base & mask)


def has_levels(r: Routine, number: Value, rules: Value) -> Value:
    """Whether levels of detail of images with this order are simulated, I1."""
    known = number.ne(LINEAR) & number.ult(NONE)
    order = r.gep("@image_orders", known.select(number - 1, 0) * _EQUATION)
    flat = r.load(r.gep(order, 2), I8).eq(0)
    return rules.uge(int(Rules.GFX10)) & (rules.ne(int(Rules.GFX12)) | flat)


def up(value: Value, log: Value) -> Value:
    """The number of blocks of ``1 << log`` texels that hold ``value`` texels."""
    one = value.builder.const(1, I64)
    return (value + one.shl(log) - 1).lshr(log)


__all__ = ["LINEAR", "NONE", "UNKNOWN", "address", "constants", "found", "has_levels"]
