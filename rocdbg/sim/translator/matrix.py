"""The native routines of matrix instructions. This module has the routines of CDNA, which are loops over results that
call `matrix_sums`; `wmma` and `matrix_scaled` have the other routines.

``i32 matrix_NAME(state, env, a, b, c, d, constant, control)``: a to d are offsets of registers in the state; c is -1 if
the accumulator is given by the bits of ``constant``. ``control``: cbsz in bits 2:0, abid in 7:4, blgp in 10:8. EXEC is
ignored. Results are first collected in the transfer buffer, because they may overlap the sources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.sim.core.builder import F32, F64, I32, I64, Value
from rocdbg.sim.data import wmma_shapes
from rocdbg.sim.data.matrix_shapes import BITS, BY_HELPER, SCALED, Model, Shape
from rocdbg.sim.semantics import floats
from rocdbg.sim.translator.matrix_registers import accumulator, element, finish, result, word
from rocdbg.sim.translator.matrix_scaled import scaled
from rocdbg.sim.translator.matrix_sums import exact, flushing, number, truncated
from rocdbg.sim.translator.wmma import wmma

if TYPE_CHECKING:
    from rocdbg.sim.translator.runtime import Routine

PARAMETERS = "ptr %state, ptr %env, i64 %a, i64 %b, i64 %c, i64 %d, i64 %constant, i64 %control"


def body(helper: str) -> Callable[[Routine], None]:
    """The body of the routine ``helper``."""
    if helper in wmma_shapes.BY_HELPER:
        return lambda r: wmma(r, wmma_shapes.BY_HELPER[helper])
    if helper in SCALED:
        return lambda r: scaled(r, SCALED[helper])
    return lambda r: _cdna(r, BY_HELPER[helper])


def _cdna(r: Routine, shape: Shape) -> None:
    per_block = max(1, shape.m * shape.m // 64)  # results of a block in a lane
    strip, m = shape.strip, shape.m
    in_register = -(-64 * strip // (m * m))  # blocks side by side in a register

    def one(lane: Value, at: Value) -> None:
        column = lane & m - 1
        group = lane.lshr(m.bit_length() - 1)
        block = at.udiv(per_block) * in_register if shape.blocks > 1 else r.const(0, I64)
        if in_register > 1:
            block = at.udiv(strip) * in_register + (group & in_register - 1)
            group = group.lshr(in_register.bit_length() - 1)
        within = at.urem(max(per_block, strip))
        groups = 64 // (m * in_register)  # strips side by side in a register
        row = within.udiv(strip) * (strip * groups) + group * strip + within.urem(strip)
        c = accumulator(r, at, lane, 64 if shape.d == "f64" else 32)
        result(r, at, lane, _dot(r, shape, row, column, block, lane, at, c))

    results = shape.results_per_lane
    r.for_range(r.const(64, I64), lambda lane: r.for_range(r.const(results, I64), lambda at: one(lane, at)))
    finish(r, results * (2 if shape.d == "f64" else 1))


def _dot(
    r: Routine, shape: Shape, row: Value, column: Value, block: Value, lane: Value, at: Value, c: Value
) -> Value:
    """One element of D."""
    control = r.value("%control")
    m, size_a, size_b = shape.m, BITS[shape.a], BITS[shape.b]
    stride = m * shape.blocks
    if shape.sparse:
        a, b = _sparse_elements(r, shape, row, column)
    else:
        receivers = r.const(1, I64).shl(control & 7)
        source = block & ~(receivers - 1) | control.lshr(4) & 15  # One block of A for several (cbsz, abid)
        # abid may name a block that the instruction does not have; it is not documented what hardware reads then.
        source = receivers.eq(1).select(block, source) & shape.blocks - 1
        if shape.a == "f64":

            def permuted(lane: Value) -> Value:
                return lane
        else:

            def permuted(lane: Value) -> Value:
                return _lane_group(lane, control.lshr(8) & 7)

        a, b = [], []
        for k in range(shape.k):
            part, n = divmod(k, shape.a_per_lane)
            a.append(element(r, r.value("%a"), n, source * m + part * stride + row, size_a))
            from_lane = permuted(block * m + part * stride + column)
            b.append(element(r, r.value("%b"), n, from_lane, size_b))
    return _add(shape, a, b, c, control)


def _lane_group(lane: Value, pattern: Value) -> Value:
    """blgp: 1 and 2 broadcast a half of the lanes, 3 rotates by 16, 4 to 7 broadcast a quarter."""
    half = pattern.eq(1).select(lane & 31, pattern.eq(2).select(lane & 31 | 32, (lane + 16) & 63))
    quarter = lane & 15 | (pattern & 3).shl(4)
    return pattern.eq(0).select(lane, pattern.ult(4).select(half, quarter))


def _sparse_elements(r: Routine, shape: Shape, row: Value, column: Value) -> tuple[list[Value], list[Value]]:
    """A's elements, and the elements of B with which the index (register c) pairs them: two of every four.

    Each lane has two bits of index per element of A. If cbsz is 0, abid names the set of bits in the index register.
    """
    control = r.value("%control")
    per_a, size = shape.a_per_lane, BITS[shape.a]
    sets = 32 // (2 * per_a)
    first = (control & 7).eq(0).select((control.lshr(4) & sets - 1) * (2 * per_a), 0)
    a, b = [], []
    for n in range(shape.k // 2):
        part, at = divmod(n, per_a)
        lane = row + part * shape.m
        a.append(element(r, r.value("%a"), at, lane, size))
        index = word(r, r.value("%constant"), 0, lane).zext(I64)
        chosen = index.lshr(first + 2 * at) & 3
        part, four = shape.four_of(part, at // 2)
        b.append(element(r, r.value("%b"), chosen + four, column + part * shape.m, BITS[shape.b]))
    return a, b


def _add(shape: Shape, a: list[Value], b: list[Value], c: Value, control: Value) -> Value:
    match shape.model:
        case Model.INTEGER:
            for x, y in zip(a, b, strict=True):
                c = c + x.sext(I32) * y.sext(I32)
            return c
        case Model.CHAIN:
            real = F64 if shape.d == "f64" else F32
            total = c.bitcast(real)
            if shape.a == "f64":  # blgp negates A, B, C
                total = _negated(total, control, 10)
            for x, y in zip(a, b, strict=True):
                fx, fy = number(x, shape.a), number(y, shape.b)
                if shape.a == "f64":
                    fx, fy = _negated(fx, control, 8), _negated(fy, control, 9)
                total = floats.fma(fx, fy, total)
            return total
        case Model.FLUSHING:
            at_once = 4 if shape.a == "f16" or shape.name.endswith("_1k") else 2
            return flushing(a, b, c.bitcast(F32), shape.a, at_once)
        case Model.EXACT:
            return exact(a, b, c.bitcast(F32), shape.a, 4 if shape.a == "f16" else 2)
    total = c.bitcast(F32)
    step = min(shape.group, len(a))
    for start in range(0, len(a), step):
        part = slice(start, start + step)
        total = truncated(a[part], b[part], total, shape.kinds, shape.model is Model.TRUNCATED_HALVES)
    return total


def _negated(value: Value, control: Value, bit: int) -> Value:
    return (control & 1 << bit).ne(0).select(-value, value)
