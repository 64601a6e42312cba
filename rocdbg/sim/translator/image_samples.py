"""The native routine of image instructions with a sampler. It computes the level of detail, samples one or two levels,
and converts the result to its format.

`rocdbg.sim.core.image_request` describes the arguments of ``sample_texture``. If the address has neither a level nor
derivatives, the level of detail is computed from the differences between four neighbouring lanes, whether they are
active or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.sim.core import image_request as request
from rocdbg.sim.core.builder import F16, F32, F64, I16, I32, I64, Value
from rocdbg.sim.core.layout import Access
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.image_descriptor import ImageType
from rocdbg.sim.images.sampler_descriptor import MIP_LINEAR
from rocdbg.sim.translator import cube_seams, image_filters, image_texels
from rocdbg.sim.translator.format_conversion import is_integer
from rocdbg.sim.translator.image_access import ImageRoutines
from rocdbg.sim.translator.image_filters import CORNER, LINEAR, LINEAR_Z, finite
from rocdbg.sim.translator.image_view import Slot, View, bit, room

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine
    from rocdbg.sim.translator.runtime import Runtime

_FRACTION = 10
"""How many fraction bits of the logarithm are computed; half of the logarithm is used, with 8 fraction bits."""
_HIGHEST = 1 << 14
"""A level of detail that is practically infinite, in units of 1/256."""


def define(runtime: Runtime) -> None:
    """Add the routines of the part ``texture``."""
    images = ImageRoutines(runtime)
    images.define_view()
    images.define_texel()
    runtime.declarations |= cube_seams.constants()
    runtime.define("image_wrap", image_filters.WRAP_PARAMETERS, image_filters.wrap, "internal")
    runtime.define("image_level", image_filters.PARAMETERS, image_filters.level, "internal")
    args = "ptr %state, ptr %env, i64 %mask, i64 %size, i64 %a, i64 %b"
    runtime.define("sample_texture", args, lambda r: _Sample(images, r).emit())


class _Parts:
    """The positions of the parts of an address, in dwords, I64; they are the same in all lanes."""

    def __init__(self, r: Routine, view: View, a: Value) -> None:
        self.a16 = bit(a, request.A16)
        gfx9 = view[Slot.RULES].ule(int(Rules.GFX9))
        self.g16 = bit(a, request.G16) | self.a16 & gfx9
        one, zero = r.const(1, I64), r.const(0, I64)

        def given(flag: int) -> Value:
            return bit(a, flag).select(one, zero)

        self.flat = view.is_one_of(Slot.DIM, ImageType.ONE, ImageType.ONE_ARRAY)
        self.three = view[Slot.DIM].eq(int(ImageType.THREE))
        self.layered = view.is_one_of(Slot.DIM, ImageType.CUBE, ImageType.ONE_ARRAY, ImageType.TWO_ARRAY)
        self.axes = self.flat.select(one, self.three.select(r.const(3, I64), 2))
        self.bias = given(request.OFFSET)
        self.reference = self.bias + given(request.BIAS)
        self.derivatives = self.reference + given(request.COMPARE)
        # Two 16-bit derivatives share a dword, but each direction begins with a new dword.
        self.direction = self.g16.select((self.axes + 1).lshr(1), self.axes)
        self.coordinates = self.derivatives + bit(a, request.DERIVATIVES).select(self.direction * 2, 0)
        self.level = self.axes + self.layered.select(one, zero)


class _Lane:
    """One lane's address."""

    def __init__(self, r: Routine, parts: _Parts, lane: Value) -> None:
        self.r, self.parts = r, parts
        self.words = image_texels.Addresses(r, lane, parts.a16)

    def _number(self, word: Value, half: Value, narrow: Value) -> Value:
        bits = half.ne(0).select(word.lshr(16), word).trunc(I16)
        return narrow.select(bits.bitcast(F16).fpext(F64), word.bitcast(F32).fpext(F64))

    def whole(self, at: Value) -> Value:
        """One dword, as F64."""
        return self.words.whole(at).bitcast(F32).fpext(F64)

    def bias(self) -> Value:
        """The bias, F64; with a16 it is a half in a dword of its own."""
        return self._number(self.words.whole(self.parts.bias), self.r.const(0, I64), self.parts.a16)

    def coordinate(self, n: Value) -> Value:
        """Coordinate ``n``, or a value that follows the coordinates, as F64."""
        start = self.parts.coordinates
        word = self.words.whole(start + self.parts.a16.select(n.lshr(1), n))
        return self._number(word, n & 1, self.parts.a16)

    def derivative(self, direction: int, n: int) -> Value:
        """The derivative of coordinate ``n`` along x (0) or y (1), F64."""
        p = self.parts
        start = p.derivatives + (p.direction if direction else 0)
        word = self.words.whole(start + p.g16.select(self.r.const(n >> 1, I64), n))
        return self._number(word, self.r.const(n & 1, I64), p.g16)

    def place(self) -> tuple[Value, Value, Value]:
        """The coordinates along the existing axes, F64."""
        r, p = self.r, self.parts
        zero = r.const(0.0, F64)
        x = self.coordinate(r.const(0, I64))
        y = p.flat.select(zero, self.coordinate(r.const(1, I64)))
        z = p.three.select(self.coordinate(r.const(2, I64)), zero)
        return x, y, z


class _Sample:
    """Emits ``sample_texture``."""

    def __init__(self, images: ImageRoutines, r: Routine) -> None:
        self.images, self.r = images, r
        self.view = images.begin(r, Access.LOAD)
        self.a = r.value("%a")
        self.parts = _Parts(r, self.view, self.a)
        self.f = image_texels.format_of(r, self.view, self.a)
        self.number = (self.view[Slot.ROW].lshr(40)) & 15
        self.integer = is_integer(self.number)
        self.out = [room(r, 4), room(r, 4)]

    def emit(self) -> None:
        self.r.for_lanes(self.r.value("%mask"), self._lane)
        self.images.finish(self.r)

    def _lane(self, lane: Value) -> None:
        r, view, parts = self.r, self.view, self.parts
        address = _Lane(r, parts, lane)
        given = address.words.whole(r.const(0, I64)).zext(I64)
        view[Slot.OFFSETS] = bit(self.a, request.OFFSET).select(given, 0)
        view[Slot.REFERENCE] = address.whole(parts.reference).bits()
        lod, raw = self._level_of_detail(address, lane)
        asks = bit(self.a, request.QUERY)
        r.when(asks, lambda: self._answer(lane, lod, raw))
        r.when(~asks, lambda: self._sample(lane, address, lod))

    # -- level of detail, in 1/256 --------------------

    def _level_of_detail(self, address: _Lane, lane: Value) -> tuple[Value, Value]:
        """The level of detail, limited as the sampler and the image specify, and the unlimited one; I64."""
        r, view, a = self.r, self.view, self.a
        after = address.coordinate(self.parts.level)
        implicit = ~(bit(a, request.LOD) | bit(a, request.ZERO))
        found = r.local()
        r.store(found, r.const(0, I64))
        r.when(implicit, lambda: r.store(found, self._from_derivatives(address, lane)))
        r.when(bit(a, request.LOD), lambda: r.store(found, _fixed(after)))
        bias = bit(a, request.BIAS).select(_fixed(address.bias()), 0)
        bias = bias + view[Slot.LOD_BIAS]
        raw = r.load(found, I64) + bit(a, request.ZERO).select(0, bias)
        least = bit(a, request.CLAMP).select(_fixed(after), r.const(0, I64))
        least = least.smax(view[Slot.SAMPLER_MIN]).smax(view[Slot.MIN_LOD])
        return raw.smax(least).smin(view[Slot.SAMPLER_MAX]), raw

    def _from_derivatives(self, address: _Lane, lane: Value) -> Value:
        """The logarithm of the distance in texels to the neighbouring lane, along x or y, whichever is greater."""
        r, view = self.r, self.view
        explicit = bit(self.a, request.DERIVATIVES)
        first = lane & ~3
        here = _Lane(r, self.parts, first).place()
        squares = []
        for direction in range(2):
            there = _Lane(r, self.parts, first + (1 << direction)).place()
            total = r.const(0.0, F64)
            for n, size in enumerate((Slot.WIDTH, Slot.HEIGHT, Slot.DEPTH)):
                exists = self.parts.axes.ugt(n)
                step = explicit.select(address.derivative(direction, n), there[n] - here[n])
                scale = view[Slot.UNNORMALIZED].ne(0).select(r.const(1.0, F64), view[size].uitofp(F64))
                step = exists.select(step * scale, 0.0)
                total = total + step * step
            squares.append(total)
        square = squares[0].flt(squares[1]).select(squares[1], squares[0])
        return self._half_logarithm(square)

    def _half_logarithm(self, square: Value) -> Value:
        """log2(square) / 2 in units of 1/256, computed from the exponent and by repeated squaring of the mantissa. It
        is exact except for the last place.
        """
        r = self.r
        bits = square.bits()
        tiny = square.flt(2.0**-60) | square.is_nan()
        huge = square.fgt(2.0**60)
        mantissa, digits = r.local(), r.local()
        r.store(mantissa, bits & (1 << 52) - 1 | 1023 << 52)
        r.store(digits, r.const(0, I64))

        def digit(n: Value) -> None:
            m = r.load(mantissa, I64).bitcast(F64)
            m = m * m
            over = m.fge(2.0)
            r.store(mantissa, over.select(m * 0.5, m).bits())
            r.store(digits, r.load(digits, I64).shl(1) | over.zext(I64))

        r.for_range(r.const(_FRACTION, I64), digit)
        total = ((bits.lshr(52) & 0x7FF) - 1023).shl(_FRACTION) + r.load(digits, I64)
        found = (total + 4).ashr(3)
        return tiny.select(-_HIGHEST, huge.select(_HIGHEST, found))

    def _answer(self, lane: Value, lod: Value, raw: Value) -> None:
        """Write the result of image_get_lod: the level that would be used, and the level before limits."""
        r, view = self.r, self.view
        most = (view[Slot.LAST_LEVEL] - view[Slot.FIRST_LEVEL]).shl(8)
        limited = lod.smin(most).smax(0)
        for n, value in enumerate((limited, raw)):
            number = (value.sitofp(F64) * (1 / 256)).fptrunc(F32)
            word = self.f.d16.select(number.fptrunc(F16).bits().zext(I32), number.bits())
            r.store(r.data(n, lane), word)
        for n in (2, 3):
            r.store(r.data(n, lane), r.const(0, I32))

    # -- texels --------------------

    def _sample(self, lane: Value, address: _Lane, lod: Value) -> None:
        r, view, a = self.r, self.view, self.a
        x, y, z = address.place()
        cube = view[Slot.DIM].eq(int(ImageType.CUBE))
        x, y = cube.select(x - 1.0, x), cube.select(y - 1.0, y)
        layer = self._layer(address, cube)
        chosen = lod.sle(0).select(view[Slot.MAG], view[Slot.MIN])
        linear = (chosen & 1).ne(0) & ~self.integer
        z_filter = view[Slot.ZFILTER]
        linear_z = z_filter.eq(0).select(linear, z_filter.eq(2) & ~self.integer)
        gathers = bit(a, request.GATHER)
        how = linear.select(r.const(LINEAR, I64), 0) | linear_z.select(r.const(LINEAR_Z, I64), 0)
        most = view[Slot.LAST_LEVEL].usub_sat(view[Slot.FIRST_LEVEL])
        mip = view[Slot.MIP]
        between = mip.eq(MIP_LINEAR) & ~self.integer & ~gathers
        nearest = (lod + 128).ashr(8)
        low = mip.eq(0).select(r.const(0, I64), between.select(lod.ashr(8), nearest)).smax(0).smin(most)
        share = (between & lod.sgt(0) & low.ult(most)).select(lod & 255, 0)
        at = [value.bits() for value in (x, y, z)]
        lost = r.local()
        r.store(lost, r.const(0, I64))

        def level(number: Value, how: Value, out: str) -> None:
            values = ", ".join(
                f"i64 {value.ref}" for value in (*at, layer, view[Slot.FIRST_LEVEL] + number, how)
            )
            status = r.new(I32, True, f"call i32 @image_level(ptr %env, ptr {view.name}, i64 %a, {values}, ptr {out})")
            before = r.load(lost, I64)
            r.store(lost, before.eq(0).select(status.zext(I64), before))

        def one() -> None:
            level(low, how, self.out[0])
            r.when(share.ne(0), lambda: level(low + 1, how, self.out[1]))
            self._write(lane, share)

        def four() -> None:
            mask = a.lshr(request.DMASK) & 15
            component = mask.umax(1).cttz()
            for corner in range(4):
                level(low, r.const(CORNER | corner << 8, I64), self.out[0])
                channels = [self._bits(r.load(r.gep(self.out[0], n * 8), I64).bitcast(F64)) for n in range(4)]
                value = image_texels.select(r, self.f, channels, 0)
                for n in range(1, 4):
                    value = component.eq(n).select(image_texels.select(r, self.f, channels, n), value)
                r.store(r.data(corner, lane), view[Slot.TYPE].ne(0).select(value, 0))

        r.when(~gathers, one)
        r.when(gathers, four)
        kind = r.load(lost, I64)
        r.when(kind.ne(0), lambda: self.images.runtime.fault_at(r, lane, kind, view[Slot.ADDRESS]))

    def _layer(self, address: _Lane, cube: Value) -> Value:
        """The layer, rounded to nearest and limited to the image; a cube counts as eight faces."""
        view = self.view
        given = finite(address.coordinate(self.parts.axes)).rint()
        far = float(1 << 20)
        given = given.fgt(0.0).select(given.fgt(far).select(far, given), 0.0).fptosi(I64)
        face = given.lshr(3) * 6 + (given & 7).umin(5)
        layer = cube.select(face, given).umin(view[Slot.LAYERS].usub_sat(1))
        array = view.is_one_of(Slot.TYPE, ImageType.CUBE, ImageType.ONE_ARRAY, ImageType.TWO_ARRAY)
        return (self.parts.layered & array).select(layer, 0)

    def _bits(self, value: Value) -> Value:
        """A channel as registers hold it, I32."""
        signed = value.fptosi(I64).trunc(I32)
        single = value.fptrunc(F32)
        real = self.f.d16.select(single.fptrunc(F16).bits().zext(I32), single.bits())
        return self.integer.select(self.f.d16.select(signed & 0xFFFF, signed), real)

    def _write(self, lane: Value, share: Value) -> None:
        """Blend two levels and write the components."""
        r = self.r
        weight = share.uitofp(F64) * (1 / 256)
        channels = []
        for n in range(4):
            first, second = (r.load(r.gep(out, n * 8), I64).bitcast(F64) for out in self.out)
            mixed = first * (r.const(1.0, F64) - weight) + second * weight
            channels.append(self._bits(share.eq(0).select(first, mixed)))
        bound = self.view[Slot.TYPE].ne(0)
        for n in range(4):
            r.store(r.data(n, lane), bound.select(image_texels.select(r, self.f, channels, n), 0))


def _fixed(value: Value) -> Value:
    """Convert a level of detail to units of 1/256, I64."""
    limit = float(_HIGHEST)
    scaled = (value * 256.0).rint()
    scaled = scaled.fgt(limit).select(limit, scaled)
    return scaled.flt(-limit).select(-limit, scaled).fptosi(I64)


__all__ = ["define"]
