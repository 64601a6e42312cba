"""Samples one level of detail: computes texels and weights from coordinates, and the weighted sum.

Coordinates are rounded to positions in units of 1/256 of a texel; weights have the same units. Sums of texels are
computed in f64 and rounded once. How hardware rounds intermediate results is not public.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.sim.core import image_request as request
from rocdbg.sim.core.builder import F32, F64, I32, I64, Value
from rocdbg.sim.data.buffer_formats import NumberFormat
from rocdbg.sim.images.image_descriptor import ImageType
from rocdbg.sim.images.sampler_descriptor import Border, Clamp
from rocdbg.sim.translator import cube_seams
from rocdbg.sim.translator.format_conversion import is_integer
from rocdbg.sim.translator.image_access import call_texel
from rocdbg.sim.translator.image_texels import extent
from rocdbg.sim.translator.image_view import Slot, View, bit, room

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine

WRAP_PARAMETERS = "i64 %mode, i64 %at, i64 %count"
PARAMETERS = (
    "ptr %env, ptr %view, i64 %a, i64 %x, i64 %y, i64 %z, i64 %layer, i64 %level, i64 %how, ptr %out"
)
"""Parameters of ``image_level``; coordinates are the bits of F64, not yet scaled to the level."""
LINEAR = 1
LINEAR_Z = 2
CORNER = 4
"""Selects one of the four texels that a linear filter would use, by bits 9:8."""
_FAR = float(1 << 20)
"""All coordinates beyond this number of texels count as equally far outside."""
_ALPHA = (3, 1, 0, 0, 3, 2, 3, 3)
"""The index in memory of the alpha channel, by the swizzle of the border's colour: XYZW, XWYZ, WZYX, WXYZ, ZYXW, YXWZ.
"""


def wrap(r: Routine) -> None:
    """Body of ``image_wrap``: the texel, of %count, that position %at refers to; -1 is the border."""
    mode, at, count = r.value("%mode"), r.value("%at"), r.value("%count").umax(1)
    zero = r.const(0, I64)

    def modulo(value: Value, by: Value) -> Value:
        rest = value.smax(-(1 << 40)) + by * (1 << 24)  # not negative: positions are within 2^20
        return rest.urem(by)

    mirrored = modulo(at, count + count)
    mirrored = mirrored.ult(count).select(mirrored, count + count - 1 - mirrored)
    once = at.slt(0).select(-at - 1, at)
    border = mode.eq(int(Clamp.BORDER)).select(at, once)
    outside = border.slt(0) | border.sge(count)
    edge = mode.eq(int(Clamp.EDGE)).select(at, once).smax(zero).smin(count - 1)
    found = outside.select(r.const(-1, I64), border)
    found = (mode.eq(int(Clamp.EDGE)) | mode.eq(int(Clamp.MIRROR_ONCE_EDGE))).select(edge, found)
    found = mode.eq(int(Clamp.MIRROR)).select(mirrored, found)
    found = mode.eq(int(Clamp.WRAP)).select(modulo(at, count), found)
    r.lines.append(f"ret i32 {found.trunc(I32).ref}")


def finite(value: Value) -> Value:
    """An F64; 0 if it is infinite or not a number."""
    zero = value.builder.const(0.0, F64)
    return value.fabs().flt(float("inf")).select(value, zero)


class _Axis:
    """One axis of a sample: the position of its first texel, the weight of the second, and the wrap mode."""

    def __init__(self, r: Routine, view: View, name: str, clamp: Slot, size: Value, linear: Value, edge: Value) -> None:
        mode = edge.select(r.const(int(Clamp.EDGE), I64), view[clamp])
        self.r, self.size = r, size
        normalized = view[Slot.UNNORMALIZED].eq(0)
        at = finite(r.value(name).bitcast(F64))
        wrapped = mode.eq(int(Clamp.WRAP)).select(at - at.floor(), at)
        wrapped = mode.eq(int(Clamp.MIRROR)).select(at - (at * 0.5).floor() * 2.0, wrapped)
        count = size.uitofp(F64)
        texels = normalized.select(wrapped * count, at)
        texels = texels.flt(-_FAR).select(-_FAR, texels.fgt(_FAR).select(_FAR, texels))
        # With a half border, positions are limited to the image's edge, where a linear filter uses half of the border.
        half = mode.eq(int(Clamp.HALF_BORDER)) | mode.eq(int(Clamp.MIRROR_ONCE_HALF_BORDER))
        mirrors = mode.eq(int(Clamp.MIRROR_ONCE_HALF_BORDER))
        limited = mirrors.select(texels.fabs(), texels)
        limited = limited.flt(0.0).select(0.0, limited.fgt(count).select(count, limited))
        texels = half.select(limited, texels)
        # Beyond the edge, a linear filter uses the mode for borders and a nearest filter the mode for edges.
        self.mode = half.select(linear.select(mode + (Clamp.BORDER - Clamp.HALF_BORDER), mode - 2), mode)
        cut = view[Slot.TRUNCATE].ne(0) & ~linear
        fixed = cut.select(texels.floor() * 256.0, (texels * 256.0).rint()).fptosi(I64)
        fixed = fixed - linear.select(r.const(128, I64), 0)
        self.first = fixed.ashr(8)
        self.weight = linear.select(fixed & 255, 0)

    def texel(self, position: Value) -> Value:
        """The index of a position, -1 for the border."""
        r = self.r
        call = f"call i32 @image_wrap(i64 {self.mode.ref}, i64 {position.ref}, i64 {self.size.ref})"
        return r.new(I32, True, call).sext(I64)


def level(r: Routine) -> None:
    """Body of ``image_level``: the four channels of a filtered sample, F64 in %out. Returns a `FaultKind`."""
    view, a, how, at = View(r, "%view"), r.value("%a"), r.value("%how"), r.value("%level")
    three = view[Slot.TYPE].eq(int(ImageType.THREE))
    cube = view[Slot.DIM].eq(int(ImageType.CUBE))
    flat = view.is_one_of(Slot.TYPE, ImageType.ONE, ImageType.ONE_ARRAY)
    gathers = bit(how, CORNER)
    both = bit(how, LINEAR) | gathers
    seams = cube & view.is_one_of(Slot.TYPE, ImageType.CUBE) & both & view[Slot.NO_SEAMS].eq(0)
    offsets = view[Slot.OFFSETS]

    def axis(name: str, clamp: Slot, size: Slot, linear: Value, edge: Value, shift: int) -> _Axis:
        made = _Axis(r, view, name, clamp, extent(view, size, at), linear, edge)
        made.first = made.first + offsets.lshr(shift).shl(58).ashr(58)
        return made

    never = r.const(0, I64).ne(0)
    x = axis("%x", Slot.CLAMP_X, Slot.WIDTH, both, cube, 0)
    y = axis("%y", Slot.CLAMP_Y, Slot.HEIGHT, both & ~flat, cube | flat, 8)
    z = axis("%z", Slot.CLAMP_Z, Slot.DEPTH, bit(how, LINEAR_Z) & three, never, 16)
    # The order of a gather's four texels is (0, 1), (1, 1), (1, 0), (0, 0).
    corner = how.lshr(8) & 3
    right = (corner.eq(1) | corner.eq(2)).zext(I64)
    below = (corner.ult(2) & ~flat).zext(I64)
    f = view[Slot.ROW]
    number = f.lshr(40) & 15
    number_is_integer = is_integer(number)
    texel = room(r, 4)
    taken = r.local()
    lost = r.local()
    r.store(taken, r.const(0, I64))
    r.store(lost, r.const(0, I64))
    for n in range(4):
        r.store(r.gep("%out", n * 8), r.const(0, I64))
    plain = a & ~(request.D16 | request.RAW | request.SIGNED)  # the sum needs texels at full width

    def tap(n: Value) -> None:
        sides = [n & 1, n.lshr(1) & 1, n.lshr(2)]
        weight = r.const(1, I64)
        for side, one_axis in zip(sides, (x, y, z), strict=True):
            weight = weight * side.ne(0).select(one_axis.weight, r.const(256, I64) - one_axis.weight)
        weight = gathers.select(n.eq(0).select(r.const(1 << 24, I64), 0), weight)

        moved = [gathers.select(extra, side) for extra, side in zip((right, below), sides, strict=False)]
        at_x, at_y = x.first + moved[0], y.first + moved[1]
        # Only three texels meet at a cube's corner. The missing diagonal one is their mean; a gather uses the lane's
        # own texel instead.
        corner = seams & _beyond(at_x, x.size) & _beyond(at_y, y.size)
        parts = (corner & ~gathers).select(r.const(3, I64), 1)
        whole = weight.eq(1 << 24) & parts.eq(1)
        share = weight.uitofp(F64) * (1.0 / (1 << 24)) / parts.uitofp(F64)

        def take(part: Value) -> None:
            own_x, own_y = corner & (gathers | part.ne(0)), corner & (gathers | part.ne(1))
            there_x = own_x.select(at_x.smax(0).smin(x.size - 1), at_x)
            there_y = own_y.select(at_y.smax(0).smin(y.size - 1), at_y)
            crosses = seams & (_beyond(there_x, x.size) | _beyond(there_y, y.size))
            next_face = cube_seams.across(r, r.value("%layer"), there_x, there_y, x.size)
            ix, iy = (
                crosses.select(other, one_axis.texel(there))
                for other, one_axis, there in zip(next_face[1:], (x, y), (there_x, there_y), strict=True)
            )
            iz = three.select(z.texel(z.first + sides[2]), crosses.select(next_face[0], r.value("%layer")))
            outside = ix.slt(0) | iy.slt(0) | iz.slt(0)
            inside = [outside.select(0, value) for value in (ix, iy, iz)]
            status = call_texel(r, view, plain, inside[0], inside[1], inside[2], at, texel).zext(I64)
            before = r.load(lost, I64)
            r.store(lost, before.eq(0).select(status, before))
            channels = _values(r, view, texel, number, number_is_integer, outside)
            channels = _compared(r, view, a, channels, number)
            _add(r, view, channels, share, whole, taken)

        r.when(weight.ne(0), lambda: r.for_range(parts, take))

    r.for_range(r.const(8, I64), tap)
    r.lines.append(f"ret i32 {r.load(lost, I64).trunc(I32).ref}")


def _values(
    r: Routine, view: View, texel: str, number: Value, number_is_integer: Value, outside: Value
) -> list[Value]:
    """The channels of a texel, or of the border colour, as F64."""
    alpha = r.const(_ALPHA[0], I64)
    for code, place in enumerate(_ALPHA):
        alpha = view[Slot.BORDER_SWIZZLE].eq(code).select(place, alpha)
    border = view[Slot.BORDER]
    found = []
    for n in range(4):
        bits = r.load(r.gep(texel, n * 8), I64).trunc(I32)
        whole = number.eq(int(NumberFormat.SINT)).select(bits.sitofp(F64), bits.uitofp(F64))
        value = number_is_integer.select(whole, bits.bitcast(F32).fpext(F64))
        lit = border.eq(int(Border.OPAQUE_WHITE)) | border.eq(int(Border.OPAQUE_BLACK)) & alpha.eq(n)
        found.append(outside.select(lit.select(r.const(1.0, F64), 0.0), value))
    return found


def _compared(r: Routine, view: View, a: Value, channels: list[Value], number: Value) -> list[Value]:
    """If there is a reference value, the result of the sampler's comparison (1 or 0) in the first channel; otherwise
    the channels unchanged.
    """
    compares = bit(a, request.COMPARE)
    reference, texel = view.real(Slot.REFERENCE), channels[0]
    limited = reference.fgt(0.0).select(reference, 0.0)
    limited = limited.fgt(1.0).select(1.0, limited)
    reference = number.eq(int(NumberFormat.UNORM)).select(limited, reference)
    function = view[Slot.FUNCTION]
    less, equal, more = reference.flt(texel), reference.eq(texel), reference.fgt(texel)
    no = r.const(0, I64).ne(0)
    holds = bit(function, 1) & less | bit(function, 2) & equal | bit(function, 4) & more
    # Never, always and not-equal give their usual results for NaN, too.
    holds = function.eq(7).select(~no, function.eq(5).select(~equal, holds))
    zero = r.const(0.0, F64)
    first = holds.select(r.const(1.0, F64), zero)
    return [compares.select(first if n == 0 else zero, value) for n, value in enumerate(channels)]


def _beyond(position: Value, count: Value) -> Value:
    return position.slt(0) | position.sge(count)


def _add(r: Routine, view: View, channels: list[Value], share: Value, whole: Value, taken: str) -> None:
    """Add a weighted texel to the sum, or, with a reduction, take the minimum or maximum. ``whole`` says that the
    texel's weight is 1.
    """
    before = r.load(taken, I64)
    reduction = view[Slot.REDUCTION]
    for n, value in enumerate(channels):
        place = r.gep("%out", n * 8)
        old = r.load(place, I64).bitcast(F64)
        least = reduction.eq(1).select(value.flt(old), old.flt(value)).select(value, old)
        least = before.eq(0).select(value, least)
        total = whole.select(value, old + value * share)
        r.store(place, reduction.ne(0).select(least, total).bits())
    r.store(taken, before + 1)


__all__ = [
    "CORNER", "LINEAR", "LINEAR_Z", "PARAMETERS", "WRAP_PARAMETERS", "finite", "level", "wrap",
]
