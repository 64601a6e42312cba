"""The native routines of matrix instructions: loops over results, with `matrix_sums` in the middle.

``i32 matrix_NAME(state, env, a, b, c, d, constant, control)``: a to d are offsets of registers in the state; c is -1
where the accumulator is ``constant``'s bits. ``control``: cbsz in bits 2:0, abid in 7:4, blgp in 10:8 (CDNA); for WMMA
neg_lo in 2:0, neg_hi in 6:4, op_sel in 10:8, clamp in 12. EXEC is ignored. Results are collected in the transfer buffer
first: they may overlap the sources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.sim.builder import F16, F32, F64, I32, I64, Value
from rocdbg.sim.semantics import floats
from rocdbg.sim.translator.matrix_shapes import BITS, SHAPES, WMMA, Model, Shape
from rocdbg.sim.translator.matrix_sums import flushing, integer_type, number, truncated

if TYPE_CHECKING:
    from rocdbg.sim.translator.runtime import Routine

PARAMETERS = "ptr %state, ptr %env, i64 %a, i64 %b, i64 %c, i64 %d, i64 %constant, i64 %control"


def body(helper: str) -> Callable[[Routine], None]:
    """What the routine ``helper`` does."""
    name = "v_" + helper.removeprefix("matrix_")
    if name in WMMA:
        return lambda r: _wmma(r, name)
    return lambda r: _cdna(r, SHAPES[name])


# -- registers -----------------------------------------------------------------------------------------------------


def _register(r: Routine, base: Value, dword: Value | int, lane: Value) -> str:
    row = 4 * r.wave_size
    offset = base + (dword * row if isinstance(dword, int) else dword * r.const(row, I64)) + lane.shl(2)
    return r.gep("%state", offset)


def _element(r: Routine, base: Value, at: Value | int, lane: Value, bits: int) -> Value:
    """Element ``at`` of ``bits`` bits in a lane's consecutive registers, as an integer of that size."""
    if bits == 64:
        first = at * 2 if isinstance(at, int) else at.shl(1)
        low, high = (r.load(_register(r, base, first + n, lane), I32).zext(I64) for n in range(2))
        return low | high.shl(32)
    if bits == 32:
        return r.load(_register(r, base, at, lane), I32)
    per = 32 // bits
    if isinstance(at, int):
        word = r.load(_register(r, base, at // per, lane), I32)
        shift = at % per * bits
        return (word.lshr(shift) if shift else word).trunc(integer_type(bits))
    word = r.load(_register(r, base, at.lshr(per.bit_length() - 1), lane), I32)
    return word.lshr(((at & per - 1) * bits).trunc(I32)).trunc(integer_type(bits))


def _accumulator(r: Routine, at: Value, lane: Value, bits: int) -> Value:
    """Element ``at`` of C, or the inline constant."""
    constant = r.value("%c").eq(-1)
    base = constant.select(r.value("%d"), r.value("%c"))
    value = _element(r, base, at, lane, bits)
    given = r.value("%constant")
    return constant.select(given if bits == 64 else given.trunc(I32), value)


def _finish(r: Routine, registers: int) -> None:
    """Copy the results from the transfer buffer to D."""

    def lane(lane: Value) -> None:
        for n in range(registers):
            r.store(_register(r, r.value("%d"), n, lane), r.load(r.data(n, lane), I32))

    r.for_range(r.const(r.wave_size, I64), lane)
    r.lines.append("ret i32 0")


def _result(r: Routine, at: Value, lane: Value, value: Value) -> None:
    bits = value.bits()
    if bits.type is I64:
        r.store(r.data(at.shl(1), lane), bits.trunc(I32))
        r.store(r.data(at.shl(1) + 1, lane), bits.lshr(32).trunc(I32))
    else:
        r.store(r.data(at, lane), bits)


# -- CDNA ----------------------------------------------------------------------------------------------------------


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
        c = _accumulator(r, at, lane, 64 if shape.d == "f64" else 32)
        _result(r, at, lane, _dot(r, shape, row, column, block, lane, at, c))

    results = shape.results_per_lane
    r.for_range(r.const(64, I64), lambda lane: r.for_range(r.const(results, I64), lambda at: one(lane, at)))
    _finish(r, results * (2 if shape.d == "f64" else 1))


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
        source = block & ~(receivers - 1) | control.lshr(4) & 15  # A of one block for several (cbsz, abid)
        source = receivers.eq(1).select(block, source)
        if shape.a == "f64":

            def permuted(lane: Value) -> Value:
                return lane
        else:

            def permuted(lane: Value) -> Value:
                return _lane_group(lane, control.lshr(8) & 7)

        a, b = [], []
        for k in range(shape.k):
            part, element = divmod(k, shape.a_per_lane)
            a.append(_element(r, r.value("%a"), element, source * m + part * stride + row, size_a))
            from_lane = permuted(block * m + part * stride + column)
            b.append(_element(r, r.value("%b"), element, from_lane, size_b))
    return _add(shape, a, b, c, control)


def _lane_group(lane: Value, pattern: Value) -> Value:
    """blgp: 1, 2 broadcast a half of the lanes, 3 rotates by 16, 4 to 7 broadcast a quarter."""
    half = pattern.eq(1).select(lane & 31, pattern.eq(2).select(lane & 31 | 32, (lane + 16) & 63))
    quarter = lane & 15 | (pattern & 3).shl(4)
    return pattern.eq(0).select(lane, pattern.ult(4).select(half, quarter))


def _sparse_elements(r: Routine, shape: Shape, row: Value, column: Value) -> tuple[list[Value], list[Value]]:
    """A's elements and those of B that the index (register c) pairs them with: two of each four.

    Each lane has two bits per element of A, in the set of the index register that abid names if cbsz is 0.
    """
    control = r.value("%control")
    per_a, per_b, size = shape.a_per_lane, shape.b_per_lane, BITS[shape.a]
    sets = 32 // (2 * per_a)
    first = (control & 7).eq(0).select((control.lshr(4) & sets - 1) * (2 * per_a), 0)
    a, b = [], []
    for n in range(shape.k // 2):
        part, element = divmod(n, per_a)
        lane = row + part * shape.m
        a.append(_element(r, r.value("%a"), element, lane, size))
        index = r.load(_register(r, r.value("%constant"), 0, lane), I32).zext(I64)
        chosen = index.lshr(first + 2 * element) & 3
        part, element = divmod(n // 2 * 4, per_b)
        b.append(_element(r, r.value("%b"), chosen + element, column + part * shape.m, BITS[shape.b]))
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
    total = c.bitcast(F32)
    step = min(shape.group, len(a))
    for start in range(0, len(a), step):
        part = slice(start, start + step)
        total = truncated(a[part], b[part], total, (shape.a, shape.b), shape.model is Model.TRUNCATED_HALVES)
    return total


def _negated(value: Value, control: Value, bit: int) -> Value:
    return (control & 1 << bit).ne(0).select(-value, value)


# -- GFX11 ---------------------------------------------------------------------------------------------------------


def _wmma(r: Routine, name: str) -> None:
    """Row i of A and column i of B are in lane i (and again in every further 16 lanes); register n of D has, in lane L,
    row n * (wave size / 16) + L / 16, column L % 16."""
    control = r.value("%control")
    d, kind = name.split("_")[2], name.rsplit("_", 1)[1]
    results = 256 // r.wave_size
    high = (control & 4 << 8).ne(0)  # op_sel[2]: 16-bit results and accumulators are in high halves

    def one(lane: Value, at: Value) -> None:
        column = lane & 15
        row = at * (r.wave_size // 16) + lane.lshr(4)
        c = _accumulator(r, at, lane, 32)
        if kind in ("iu8", "iu4"):
            _result(r, at, lane, _integer_wmma(r, row, column, c, 8 if kind == "iu8" else 4))
            return
        total = c.bitcast(F32)
        if d in ("f16", "bf16"):
            total = number(high.select(c.lshr(16), c).trunc(integer_type(16)), d)
        total = (control & 4 << 4).ne(0).select(total.fabs(), total)
        total = _negated(total, control, 2)
        for k in range(16):
            x = number(_element(r, r.value("%a"), k, row, 16), kind)
            y = number(_element(r, r.value("%b"), k, column, 16), kind)
            bit = 4 if k & 1 else 0  # neg_hi is for odd elements
            total = floats.fma(_negated(x, control, bit), _negated(y, control, bit + 1), total)
        if d == "f32":
            _result(r, at, lane, total)
            return
        half = floats.convert(total, F16).bits() if d == "f16" else _to_bf16(total)
        old = _element(r, r.value("%d"), at, lane, 32)
        wide = half.zext(I32)
        _result(r, at, lane, high.select(old & 0xFFFF | wide.shl(16), old & 0xFFFF0000 | wide))

    r.for_range(
        r.const(r.wave_size, I64),
        lambda lane: r.for_range(r.const(results, I64), lambda at: one(lane, at)),
    )
    _finish(r, results)


def _to_bf16(value: Value) -> Value:
    """f32 to bf16, ties to even."""
    bits = value.bits()
    rounded = (bits + 0x7FFF + (bits.lshr(16) & 1)).lshr(16)
    return value.is_nan().select(bits.lshr(16) | 0x40, rounded).trunc(integer_type(16))


def _integer_wmma(r: Routine, row: Value, column: Value, c: Value, bits: int) -> Value:
    """neg_lo says which sources are signed; clamp saturates."""
    control = r.value("%control")

    def element(base: Value, k: int, lane: Value, signed: Value) -> Value:
        per = 32 // bits
        word = r.load(_register(r, base, k // per, lane), I32)
        top = word.shl(32 - bits - k % per * bits)
        return signed.select(top.ashr(32 - bits), top.lshr(32 - bits)).sext(I64)

    signed_a, signed_b = (control & 1).ne(0), (control & 2).ne(0)
    total = c.sext(I64)
    for k in range(16):
        x, y = element(r.value("%a"), k, row, signed_a), element(r.value("%b"), k, column, signed_b)
        total = total + x * y
    clamp = (control & 1 << 12).ne(0)
    limited = total.smax(-(1 << 31)).smin((1 << 31) - 1)
    return clamp.select(limited, total).trunc(I32)
