"""The native routines of WMMA and SWMMAC. `matrix` describes their parameters, `wmma_shapes` the layouts,
`semantics.dots` the sums of floats.

``control``: neg_lo in bits 2:0, neg_hi in 6:4, op_sel in 10:8, clamp in 12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.sim.core.builder import I16, I32, I64, Value
from rocdbg.sim.data.wmma_shapes import Place, WaveShape
from rocdbg.sim.semantics.dots import gfx11_dot2, gfx12_dot, widened
from rocdbg.sim.translator.matrix_registers import (
    accumulator,
    finish,
    integer_type,
    register,
    result,
    result16,
    word,
)

if TYPE_CHECKING:
    from rocdbg.sim.translator.runtime import Routine


def wmma(r: Routine, shape: WaveShape) -> None:
    """The body of the routine of ``shape``."""
    rows = r.wave_size // 16
    results = 256 // r.wave_size

    def one(lane: Value, at: Value) -> None:
        group = lane.lshr(4)
        if not shape.gfx12:
            row = at * rows + group
        else:
            row = at + (group & 1).shl(3) + (group.lshr(1).shl(2) if rows == 4 else 0)
        factors = _Factors(r, shape, row, lane & 15)
        if shape.integer:
            result(r, at, lane, _integers(factors, accumulator(r, at, lane, 32)))
        elif not shape.packed:
            result(r, at, lane, _floats(factors, _signed(r, accumulator(r, at, lane, 32))))
        elif shape.gfx12:
            result16(r, at, lane, _floats(factors, _signed(r, accumulator(r, at, lane, 16))))
        else:
            _half_of_register(factors, at, lane)

    r.for_range(
        r.const(r.wave_size, I64),
        lambda lane: r.for_range(r.const(results, I64), lambda at: one(lane, at)),
    )
    finish(r, results // 2 if shape.packed and shape.gfx12 else results)


def _half_of_register(factors: _Factors, at: Value, lane: Value) -> None:
    """Handle op_sel[2], with which 16-bit results and accumulators of GFX11 are in high halves. The other half of D is
    kept.
    """
    r = factors.r
    high = (r.value("%control") & 4 << 8).ne(0)
    c = accumulator(r, at, lane, 32)
    half = _floats(factors, _signed(r, high.select(c.lshr(16), c).trunc(I16))).zext(I32)
    old = r.load(register(r, r.value("%d"), at, lane), I32)
    result(r, at, lane, high.select(old & 0xFFFF | half.shl(16), old & 0xFFFF0000 | half))


def _signed(r: Routine, c: Value) -> Value:
    """The accumulator's bits after applying neg_hi[2] (absolute value) and neg_lo[2] (negation)."""
    control = r.value("%control")
    sign = 1 << c.type.bits - 1
    c = (control & 4 << 4).ne(0).select(c & sign - 1, c)
    return (control & 4).ne(0).select(c ^ sign, c)


class _Factors:
    """Elements of A's row and B's column."""

    def __init__(self, r: Routine, shape: WaveShape, row: Value, column: Value) -> None:
        self.r, self.shape, self.row, self.column = r, shape, row, column
        self.control = r.value("%control")

    def words(self, base: str, dword: int, lane: Value) -> Value:
        """Apply negation: neg_lo to the low halves of registers, neg_hi to the high ones."""
        value = word(self.r, self.r.value(base), dword, lane)
        if self.shape.bits != 16:
            return value
        bit = 1 if base == "%a" else 2
        value = (self.control & bit).ne(0).select(value ^ 0x8000, value)
        return (self.control & bit << 4).ne(0).select(value ^ 0x80000000, value)

    def pair(self, place: Place) -> tuple[Value, Value]:
        """The two factors of a product, each in the low bits of a dword; the upper bits are undefined."""
        bits = self.shape.bits
        per = 32 // bits
        a_lane = self.row + 16 * place.a_group
        a = self.words("%a", place.a // per, a_lane).lshr(place.a % per * bits)
        b_lane = self.column + 16 * place.b_group
        if not self.shape.sparse:
            return a, self.words("%b", place.b // per, b_lane).lshr(place.b % per * bits)
        chosen = self._index(place, a_lane)
        b = self.words("%b", place.b // per, b_lane)
        if bits == 16:
            b = chosen.ult(2).select(b, self.words("%b", place.b // per + 1, b_lane))
            return a, b.lshr((chosen & 1).shl(4))
        return a, b.lshr(chosen * bits + place.b % per * bits)

    def _index(self, place: Place, lane: Value) -> Value:
        """Which of four elements of B is used; op_sel names the set of bits in the index register."""
        entries = self.shape.index_entries(self.r.wave_size)
        index = word(self.r, self.r.value("%constant"), 0, lane)
        sets = 16 // entries
        first = (self.control.lshr(8) & sets - 1).trunc(I32) * (2 * entries)
        return index.lshr(first + 2 * place.a) & 3


def _floats(factors: _Factors, c: Value) -> Value:
    """c + the products; ``c`` and the result are I32 or I16 bits. Each step rounds."""
    r, shape = factors.r, factors.shape
    part = integer_type(shape.bits)
    overflow = (r.state("mode") & 1 << 23).ne(0)
    for step in shape.steps(r.wave_size):
        pairs = [factors.pair(place) for place in step]
        a, b = ([pair[n].trunc(part) for pair in pairs] for n in range(2))
        wide = widened(c, shape.d) if shape.packed else c
        if shape.gfx12:
            c = gfx12_dot(a, b, wide, (shape.a, shape.b), packed=shape.packed, overflow=overflow)
        else:
            c = gfx11_dot2(a, b, wide, shape.a, packed=shape.packed, overflow=overflow)
    return c


def _integers(factors: _Factors, c: Value) -> Value:
    """c + the integer products. neg_lo says which sources are signed; clamp saturates after each step."""
    control, bits = factors.control, factors.shape.bits
    clamp = (control & 1 << 12).ne(0)

    def extended(value: Value, source: int) -> Value:
        top = value.shl(32 - bits)
        return (control & source).ne(0).select(top.ashr(32 - bits), top.lshr(32 - bits))

    total = c.sext(I64)
    for step in factors.shape.steps(factors.r.wave_size):
        for a, b in map(factors.pair, step):
            total = total + (extended(a, 1) * extended(b, 2)).sext(I64)
        total = clamp.select(total.smax(-(1 << 31)).smin((1 << 31) - 1), total)
    return total.trunc(I32)


__all__ = ["wmma"]
