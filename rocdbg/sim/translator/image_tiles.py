"""The order of texels in the blocks of tiled images, as translated code reads it: `rocdbg.sim.images.tiles` as tables.

One table says for each chip, tiling, size of texels and kind of image (3D or not) which order it is. The other holds
the orders: the logarithms of a block's width, height, depth and bytes, then for each bit of an address the masks of
x, y and z.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from rocdbg.sim.builder import I8, I16, I64, Value
from rocdbg.sim.images.chips import CHIPS
from rocdbg.sim.images.descriptor import ImageType
from rocdbg.sim.images.tiles import Equation, equation, tiling_of

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine

LINEAR: Final = 0
NONE: Final = 0xFFFE
"""No tiling, or none that is simulated."""
UNKNOWN: Final = 0xFFFF
"""It is not known how the chip mixes its memory channels."""
_MODES, _SIZES, _BITS = 32, 5, 18
_HEADER = 4
_ROW = 6
_EQUATION = _HEADER + _BITS * _ROW


def constants() -> set[str]:
    """The tables, as LLVM constants."""
    return {_bytes("image_tilings", _tables()[0]), _bytes("image_orders", _tables()[1])}


def _bytes(name: str, data: bytes) -> str:
    text = "".join(f"\\{byte:02x}" for byte in data)
    return f'@{name} = private constant [{len(data)} x i8] c"{text}", align 8'


@cache
def _tables() -> tuple[bytes, bytes]:
    numbers: dict[Equation, int] = {}
    places = bytearray()
    for chip in CHIPS:
        for three in (False, True):
            for mode in range(_MODES):
                known = tiling_of(chip.rules, mode)
                for size in range(_SIZES):
                    order = equation(chip, mode, size, three)
                    number = UNKNOWN if known is not None and known.mixed and chip.pipes is None else NONE
                    if order is not None:
                        number = numbers.setdefault(order, len(numbers) + 1)
                    places += number.to_bytes(2, "little")
    return bytes(places), b"".join(map(_packed, numbers))


def _packed(order: Equation) -> bytes:
    masks = b"".join(mask.to_bytes(2, "little") for bits in order.bits for mask in bits)
    return bytes([order.width, order.height, order.depth, len(order.bits)]) + masks.ljust(_BITS * _ROW, b"\0")


def found(r: Routine, chip: Value, mode: Value, size: Value, kind: Value, early: Value) -> Value:
    """The number of the order of an image of type ``kind`` with texels of ``size`` bytes in tiling ``mode``, I64."""
    three = kind.eq(int(ImageType.THREE))
    flat = kind.eq(int(ImageType.ONE)) | kind.eq(int(ImageType.ONE_ARRAY))
    possible = kind.ult(int(ImageType.TWO_MSAA)) & (early | ~flat) & size.ult(1 << _SIZES) & size.ne(0)
    place = (((chip.shl(1) | three.zext(I64)) * _MODES) + mode) * _SIZES + possible.select(size.cttz(), 0)
    number = r.load(r.gep("@image_tilings", place.shl(1)), I16).zext(I64)
    return possible.select(number, NONE)


def address(
    r: Routine, number: Value, base: Value, sizes: tuple[Value, Value], place: tuple[Value, Value, Value]
) -> Value:
    """The address of the texel at ``place`` (x, y, z) in an image of ``sizes``: texels per row, rows. All I64."""
    order = r.gep("@image_orders", (number - 1) * _EQUATION)
    width, height, depth, bits = (r.load(r.gep(order, n), I8).zext(I64) for n in range(_HEADER))
    row, rows = (up(size, log) for size, log in zip(sizes, (width, height), strict=True))
    x, y, z = place
    block = ((z.lshr(depth)) * rows + y.lshr(height)) * row + x.lshr(width)
    within = r.local()
    r.store(within, r.const(0, I64))

    def bit(n: Value) -> None:
        masks = r.gep(order, n * _ROW + _HEADER)
        chosen = [axis & r.load(r.gep(masks, 2 * k), I16).zext(I64) for k, axis in enumerate(place)]
        odd = (chosen[0].ctpop() + chosen[1].ctpop() + chosen[2].ctpop()) & 1
        r.store(within, r.load(within, I64) | odd.shl(n))

    r.for_range(bits, bit)
    # The low bits of the base are no offset: they mix the channels once more.
    mask = r.const(1, I64).shl(bits) - 1
    return (base & ~mask) + block.shl(bits) + (r.load(within, I64) ^ base & mask)


def up(value: Value, log: Value) -> Value:
    """How many blocks of ``1 << log`` hold ``value`` texels."""
    one = value.builder.const(1, I64)
    return (value + one.shl(log) - 1).lshr(log)


__all__ = ["LINEAR", "NONE", "UNKNOWN", "address", "constants", "found"]
