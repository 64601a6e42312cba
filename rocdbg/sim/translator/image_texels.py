"""Texels in memory: computes their addresses, reads them with conversion, and writes them.

Every address goes through the page table (`Runtime._page`), regardless of the descriptor. Coordinates outside the image
read 0 and write nothing; the level of detail must be in memory.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.sim.core import image_request as request
from rocdbg.sim.core.builder import F16, F32, I8, I16, I32, I64, Value
from rocdbg.sim.data.buffer_formats import NumberFormat
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.image_descriptor import ImageType
from rocdbg.sim.translator import image_tiles
from rocdbg.sim.translator.format_conversion import RunTimeFormat, from_memory, is_integer
from rocdbg.sim.translator.image_view import Slot, View, bit, room

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine
    from rocdbg.sim.translator.runtime import Runtime

PARAMETERS = (
    "ptr %env, ptr %view, i64 %a, i64 %need, i64 %x, i64 %y, i64 %layer, i64 %level, ptr %out"
)
"""Parameters of ``image_texel``."""


def srgb_table() -> str:
    """The meaning of the 256 values of an sRGB channel, as an LLVM constant of f32 bits."""
    def linear(value: int) -> int:
        x = value / 255
        x = x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4
        return int(struct.unpack("<I", struct.pack("<f", x))[0])

    return f"@srgb = private constant [256 x i32] [{', '.join(f'i32 {linear(n)}' for n in range(256))}]"


def format_of(r: Routine, view: View, a: Value) -> RunTimeFormat:
    """The view's format in the form that the buffer conversions use."""
    row = view[Slot.ROW]
    return RunTimeFormat(row, row.lshr(48), row.lshr(40) & 15, view[Slot.SELECT], bit(a, request.D16))


# -- addresses --------------------


def extent(view: View, slot: Slot, level: Value) -> Value:
    """Width, height or depth of a level, at least 1."""
    return view[slot].lshr(level & 31).umax(1)


def place(r: Routine, view: View, x: Value, y: Value, layer: Value, level: Value) -> tuple[Value, Value]:
    """Whether a texel exists, I1, and its simulated address. All I64; ``layer`` is the plane of a 3D image."""
    three = view[Slot.TYPE].eq(int(ImageType.THREE))
    deep = three.select(extent(view, Slot.DEPTH, level), view[Slot.LAYERS])
    inside = x.ult(extent(view, Slot.WIDTH, level)) & y.ult(extent(view, Slot.HEIGHT, level)) & layer.ult(deep)
    inside = inside & level.ule(view[Slot.MOST_LEVEL]) & view[Slot.TYPE].ne(0)
    result, tile, early = r.local(), view[Slot.TILE], view[Slot.RULES].eq(int(Rules.GFX6))
    r.store(result, r.const(0, I64))
    linear = tile.eq(image_tiles.LINEAR)

    def tiled() -> None:
        own = view[Slot.PITCH]
        row = own.ne(0).select(own, view[Slot.WIDTH])
        at = (x, y, view[Slot.FIRST_LAYER] + layer)
        size, levels = (row, view[Slot.HEIGHT]), view[Slot.MOST_LEVEL] + 1
        r.store(result, image_tiles.address(r, tile, view[Slot.BASE], size, at, level, levels))

    def late() -> None:
        r.store(result, _late_place(r, view, x, y, layer, level))

    def before_gfx9() -> None:
        r.store(result, _early_place(r, view, x, y, layer, level))

    r.when(inside & ~linear, tiled)
    r.when(inside & linear & early, before_gfx9)
    r.when(inside & linear & ~early, late)
    return inside, inside.select(r.load(result, I64), 0)


def _early_place(r: Routine, view: View, x: Value, y: Value, layer: Value, level: Value) -> Value:
    """The address of a texel of a linear image of GFX6 to GFX8: see `rocdbg.sim.images.texel_layout`."""
    size, pitch0 = view[Slot.ROW].lshr(48).umax(1), view[Slot.PITCH]
    three, padded = view[Slot.TYPE].eq(int(ImageType.THREE)), view[Slot.PADDED].ne(0)

    def power(value: Value) -> Value:
        return r.const(1, I64).shl(r.const(64, I64) - (value - 1).ctlz() & 63)

    def rows_of(n: Value) -> tuple[Value, Value]:
        """Texels per row and bytes per slice of a level."""
        height = extent(view, Slot.HEIGHT, n)
        rows = (padded | n.ne(0)).select(power(height), height)
        pitch = power(pitch0.lshr(n & 31).umax(1)).umax(8).umax(r.const(64, I64).udiv(size))
        pitch = pitch.umax(r.const(256, I64).udiv(size).umax(64).udiv(rows))
        pitch = n.eq(0).select(pitch0, pitch)
        return pitch, pitch * rows * size

    offset = r.local()
    r.store(offset, r.const(0, I64))

    def add(n: Value) -> None:
        _, piece = rows_of(n)
        count = three.select(extent(view, Slot.DEPTH, n), view[Slot.STORED].umax(1))
        count = (padded | n.ne(0)).select(power(count), count)
        r.store(offset, r.load(offset, I64) + (piece * count + 255 & ~255))

    r.for_range(level, add)
    pitch, piece = rows_of(level)
    texel = (y * pitch + x) * size
    return view[Slot.BASE] + r.load(offset, I64) + (view[Slot.FIRST_LAYER] + layer) * piece + texel


def _late_place(r: Routine, view: View, x: Value, y: Value, layer: Value, level: Value) -> Value:
    """The address of a texel of a linear image from GFX9 on."""
    rules = view[Slot.RULES]
    gfx9 = rules.eq(int(Rules.GFX9))
    size = view[Slot.ROW].lshr(48).umax(1)
    unit = rules.eq(int(Rules.GFX12)).select(r.const(128, I64), 256).udiv(size).umax(1)
    step = r.const(256, I64).udiv(size).umax(1)

    def up(value: Value, unit: Value) -> Value:
        return (value + unit - 1).udiv(unit) * unit

    own = view[Slot.PITCH]
    offset, total = r.local(), r.local()  # the offset of the level in its slice, and the size of a slice, in texels
    r.store(offset, r.const(0, I64))
    r.store(total, r.const(0, I64))
    width, height = view[Slot.WIDTH], view[Slot.HEIGHT]
    level0 = own.ne(0).select(own, up(width, unit))

    def add(n: Value) -> None:
        rounds = r.const(1, I64).shl(n & 31) - 1
        rows = (height + rounds).lshr(n & 31)
        padded = (width + rounds).lshr(n & 31)
        texels = gfx9.select(level0, own.ne(0).select(own, up(padded, step))) * rows
        before = gfx9.select(n.ult(level), level.ult(n))
        r.store(total, r.load(total, I64) + texels)
        r.store(offset, r.load(offset, I64) + before.select(texels, 0))

    r.for_range(view[Slot.MOST_LEVEL] + 1, add)
    rounds = r.const(1, I64).shl(level & 31) - 1
    pitch = gfx9.select(level0, own.ne(0).select(own, up((width + rounds).lshr(level & 31), unit)))
    texel = (view[Slot.FIRST_LAYER] + layer) * r.load(total, I64) + r.load(offset, I64) + y * pitch + x
    return view[Slot.BASE] + texel * size


class Addresses:
    """The components of one lane's address, in the transfer buffer."""

    def __init__(self, r: Routine, lane: Value, a16: Value) -> None:
        self.r, self.lane, self.a16 = r, lane, a16

    def whole(self, n: Value) -> Value:
        """Dword ``n``, I32."""
        return self.r.load(self.r.data(n + request.ADDRESSES, self.lane), I32)

    def part(self, n: Value) -> Value:
        """Component ``n`` if all components before it have the same width: a dword, or with a16 half of one, I32."""
        word = self.whole(self.a16.select(n.lshr(1), n))
        half = (n & 1).ne(0).select(word.lshr(16), word & 0xFFFF)
        return self.a16.select(half, word)


def coordinates(r: Routine, view: View, lane: Value, a: Value) -> tuple[Value, Value, Value, Value]:
    """x, y, layer (or plane) and level of one lane of a load, store or atomic, I64."""
    parts = Addresses(r, lane, bit(a, request.A16))
    zero, one = r.const(0, I64), r.const(1, I64)
    flat = view.is_one_of(Slot.DIM, ImageType.ONE, ImageType.ONE_ARRAY)
    deep = view.is_one_of(
        Slot.DIM, ImageType.THREE, ImageType.CUBE, ImageType.ONE_ARRAY, ImageType.TWO_ARRAY, ImageType.TWO_MSAA_ARRAY
    )
    samples = view.is_one_of(Slot.DIM, ImageType.TWO_MSAA, ImageType.TWO_MSAA_ARRAY).zext(I64)
    second = flat.select(zero, 1)
    third = second + deep.select(one, 0)
    # The sample index, which is ignored, precedes the level.
    last = third + samples + 1
    x = parts.part(zero).zext(I64)
    y = flat.select(0, parts.part(second).zext(I64))
    z = deep.select(parts.part(third).zext(I64), 0)
    level = bit(a, request.LEVEL).select(parts.part(last).zext(I64), 0)
    # Use layer 0 if the instruction addresses an array but the image is not one; GFX9's da does so if the image has no
    # layers.
    array = view.is_one_of(
        Slot.TYPE, ImageType.THREE, ImageType.CUBE, ImageType.ONE_ARRAY, ImageType.TWO_ARRAY, ImageType.TWO_MSAA_ARRAY
    )
    z = (deep & array).select(z, 0)
    wanted = level + view[Slot.FIRST_LEVEL]
    beyond = level.ugt(31) | wanted.ugt(view[Slot.LAST_LEVEL].umax(view[Slot.FIRST_LEVEL]))
    return x, y, z, beyond.select(r.const(63, I64), wanted)


# -- reading --------------------


def texel(runtime: Runtime, r: Routine) -> None:
    """Body of ``image_texel``: writes the four channels of a texel to %out as registers hold them (with d16: in low
    halves), before DST_SEL. Returns a `FaultKind`; if it is a fault, ``Slot.ADDRESS`` is the texel's address."""
    view, a = View(r, "%view"), r.value("%a")
    for n in range(4):
        r.store(r.gep("%out", n * 8), r.const(0, I64))
    inside, address = place(r, view, *(r.value(f"%{name}") for name in ("x", "y", "layer", "level")))
    r.when(~inside, lambda: r.leave(0))
    f = format_of(r, view, a)
    host, kind = runtime._page(r, address, f.size)

    def lost() -> None:
        view[Slot.ADDRESS] = address
        r.lines.append(f"ret i32 {kind.trunc(I32).ref}")
        r.mark(r.fresh("lost")[1:])

    r.when(kind.ne(0), lost)
    words = room(r, 4)
    for n in range(4):
        r.store(r.gep(words, n * 4), r.const(0, I32))
    r.when(f.size.eq(1), lambda: r.store(words, r.load(r.pointer(host), I8)))
    r.when(f.size.eq(2), lambda: r.store(words, r.load(r.pointer(host), I16)))

    def dword(n: Value) -> None:
        r.store(r.gep(words, n.shl(2)), r.load(r.pointer(host + n.shl(2)), I32))

    r.for_range(f.size.lshr(2), dword)
    raw = [r.load(r.gep(words, n * 4), I32) for n in range(4)]

    def unconverted() -> None:
        first = raw[0]
        wide = f.size.eq(1).select(first.trunc(I8).sext(I32), f.size.eq(2).select(first.trunc(I16).sext(I32), first))
        first = bit(a, request.SIGNED).select(wide, first)
        for n, word in enumerate([first, *raw[1:]]):
            r.store(r.gep("%out", n * 8), word.zext(I64))

    def converted() -> None:
        curved = f.number.eq(int(NumberFormat.SRGB))
        known = replace(f, number=curved.select(int(NumberFormat.UNORM), f.number))  # alpha is linear, not sRGB
        for n in range(4):
            value = from_memory(r, known, raw, n)
            if n < 3:
                value = _special(r, f, raw[0], n, value)
            else:
                value = f.number.eq(int(NumberFormat.SHARED)).select(0, value)  # this channel stores the exponent
            r.store(r.gep("%out", n * 8), value.zext(I64))

    plain = bit(a, request.RAW)
    r.when(plain, unconverted)
    r.when(~plain, converted)
    r.lines.append("ret i32 0")


def _special(r: Routine, f: RunTimeFormat, word: Value, channel: int, value: Value) -> Value:
    """Channels that buffers do not have: sRGB, and mantissas with a shared exponent."""
    code = word.lshr(8 * channel) & 0xFF
    curved = r.load(r.gep("@srgb", code.zext(I64).shl(2)), I32)
    mantissa = (word.lshr(9 * channel) & 0x1FF).uitofp(F32)
    scale = (word.lshr(27) + (127 - 24)).shl(23).bitcast(F32)
    shared = (mantissa * scale).bits()

    def sized(bits: Value) -> Value:
        return f.d16.select(bits.bitcast(F32).fptrunc(F16).bits().zext(I32), bits)

    value = f.number.eq(int(NumberFormat.SHARED)).select(sized(shared), value)
    present = f.width(channel).ne(0)
    return (f.number.eq(int(NumberFormat.SRGB)) & present).select(sized(curved), value)


def one(r: Routine, f: RunTimeFormat) -> Value:
    """The number 1 as registers hold it, I32."""
    return is_integer(f.number).select(r.const(1, I32), f.d16.select(r.const(0x3C00, I32), 0x3F800000))


def select(r: Routine, f: RunTimeFormat, channels: list[Value], component: int) -> Value:
    """One component, selected by DST_SEL from channels as registers hold them, I32."""
    chosen = f.selectors.lshr(3 * component) & 7
    value = chosen.eq(1).select(one(r, f), 0)
    for n in range(4):
        value = chosen.eq(4 + n).select(channels[n], value)
    return value


__all__ = [
    "PARAMETERS", "Addresses", "coordinates", "extent", "format_of", "one", "place", "select", "srgb_table", "texel",
]
