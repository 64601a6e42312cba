"""Packed math (VOP3P): two 16-bit or two 32-bit operations per lane, and the mixed-precision multiply-adds.

op_sel (for the low result) and op_sel_hi (for the high one) choose each source half; neg_lo and neg_hi negate it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rocdbg.sim.core.builder import F16, F32, I16, I32, I64, Op, Type, Value
from rocdbg.sim.semantics import division, floats, integers
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.float_constants import source16, source32
from rocdbg.sim.semantics.registry import SemanticFunction, semantic
from rocdbg.sim.semantics.valu_float import fma, maximum, minimum, multiply

Operation = Callable[..., Value]


def _halves(
    count: int, type: Type, choose: Callable[[Access], Operation], *, accumulate: bool = False
) -> SemanticFunction:
    """Apply the operation to ``count`` sources (and the old destination last, with ``accumulate``), for both halves."""

    def run(i: Access) -> None:
        operation = choose(i)
        results = []
        for half in range(2):
            arguments = [i.src_half(k, half, type) for k in range(count)]
            if accumulate:
                word = i.old(0)
                arguments.append((word.lshr(16) if half else word).trunc(I16).bitcast(type))
            results.append(i.limited(operation(*arguments)))
        i.dst_packed(*results)

    return run


def _fixed(operation: Operation) -> Callable[[Access], Operation]:
    return lambda i: operation


def _three(
    inner: Callable[[Access], Operation], outer: Callable[[Access], Operation]
) -> Callable[[Access], Operation]:
    return lambda i: lambda a, b, c: outer(i)(inner(i)(a, b), c)


for _type in (F16, F32):
    semantic(f"v_pk_add_{_type.name}")(_halves(2, _type, _fixed(floats.add)))
    semantic(f"v_pk_mul_{_type.name}")(_halves(2, _type, lambda i: partial(multiply, i)))
    semantic(f"v_pk_fma_{_type.name}")(_halves(3, _type, lambda i: partial(fma, i)))
for _name, _choose in (
    ("min", minimum),
    ("max", maximum),
    ("min_num", _fixed(floats.minimum_num)),
    ("max_num", _fixed(floats.maximum_num)),
    ("minimum", _fixed(floats.minimum)),
    ("maximum", _fixed(floats.maximum)),
):
    semantic(f"v_pk_{_name}_f16", any_rounding=True)(_halves(2, F16, _choose))
    if _name in ("minimum", "maximum"):
        semantic(f"v_pk_{_name}3_f16", any_rounding=True)(_halves(3, F16, _three(_choose, _choose)))
    elif _name.endswith("_num"):  # gfx125x
        _three_name = _name.replace("_num", "3_num")
        semantic(f"v_pk_{_three_name}_f16", any_rounding=True)(_halves(3, F16, _three(_choose, _choose)))


@semantic("v_pk_fmac_f16")
def _(i: Access) -> None:
    # A VOP2 instruction: no selection, plain halves.
    results = []
    for half in range(2):
        words = [i.src(0), i.src(1), i.old(0)]
        a, b, c = (i.taken((w.lshr(16) if half else w).trunc(I16).bitcast(F16)) for w in words)
        results.append(i.limited(fma(i, a, b, c)))
    i.dst_packed(*results)


@semantic("v_pk_mov_b32")
def _(i: Access) -> None:
    """The low result from source 0, the high one from source 1; op_sel picks the dword of each."""
    select = i.modifier("op_sel")
    pairs = [i.src(k, I64) for k in range(2)]
    low, high = ((p.lshr(32) if select >> k & 1 else p).trunc(I32) for k, p in enumerate(pairs))
    i.dst(0, low.zext(I64) | high.zext(I64).shl(32))


# -- integers --------------------------------------------------------------------------------------


def _saturating(plain: Operation, clamped: Operation) -> Callable[[Access], Operation]:
    return lambda i: clamped if i.clamp else plain


def _multiply_add(*, signed: bool) -> Callable[[Access], Operation]:
    def clamped(a: Value, b: Value, c: Value) -> Value:
        x, y, z = (integers.extend(v, I64, signed=signed) for v in (a, b, c))
        return integers.saturate(x * y + z, I16, signed=signed)

    return _saturating(lambda a, b, c: a * b + c, clamped)


semantic("v_pk_add_u16")(_halves(2, I16, _saturating(lambda a, b: a + b, lambda a, b: a.uadd_sat(b))))
semantic("v_pk_sub_u16")(_halves(2, I16, _saturating(lambda a, b: a - b, lambda a, b: a.usub_sat(b))))
semantic("v_pk_add_i16")(_halves(2, I16, _saturating(lambda a, b: a + b, lambda a, b: a.sadd_sat(b))))
semantic("v_pk_sub_i16")(_halves(2, I16, _saturating(lambda a, b: a - b, lambda a, b: a.ssub_sat(b))))
semantic("v_pk_mad_u16")(_halves(3, I16, _multiply_add(signed=False)))
semantic("v_pk_mad_i16")(_halves(3, I16, _multiply_add(signed=True)))
semantic("v_pk_mul_lo_u16")(_halves(2, I16, _fixed(lambda a, b: a * b)))
semantic("v_pk_min_u16")(_halves(2, I16, _fixed(lambda a, b: a.umin(b))))
semantic("v_pk_max_u16")(_halves(2, I16, _fixed(lambda a, b: a.umax(b))))
semantic("v_pk_min_i16")(_halves(2, I16, _fixed(lambda a, b: a.smin(b))))
semantic("v_pk_max_i16")(_halves(2, I16, _fixed(lambda a, b: a.smax(b))))
for _kind, _least, _most, _plus in (
    ("u16", Value.umin, Value.umax, Value.uadd_sat), ("i16", Value.smin, Value.smax, Value.sadd_sat),
):  # gfx125x
    _sum = _saturating(lambda a, b: a + b, _plus)
    for _name, _choice in (("min", _least), ("max", _most)):
        semantic(f"v_pk_{_name}3_{_kind}")(_halves(3, I16, _three(_fixed(_choice), _fixed(_choice))))
        semantic(f"v_pk_add_{_name}_{_kind}")(_halves(3, I16, _three(_sum, _fixed(_choice))))
semantic("v_pk_lshlrev_b16")(_halves(2, I16, _fixed(lambda count, v: v.shl(count & 15))))
semantic("v_pk_lshrrev_b16")(_halves(2, I16, _fixed(lambda count, v: v.lshr(count & 15))))
semantic("v_pk_ashrrev_i16")(_halves(2, I16, _fixed(lambda count, v: v.ashr(count & 15))))


# -- mixed precision -------------------------------------------------------------------------------


def _mix_source(i: Access, k: int) -> Value:
    """Source ``k`` as f32: an f32 if op_sel_hi is clear, otherwise the f16 half that op_sel names.

    neg_hi means abs here.
    """
    operand = i.sources[k]
    if i.modifier("op_sel_hi") >> k & 1:
        word = source16(i, k)
        half = (word.lshr(16) if i.modifier("op_sel") >> k & 1 else word).trunc(I16).bitcast(F16)
        value = floats.convert(i.taken(half), F32)
    else:
        value = i.taken(source32(i, k).bitcast(F32))
    if operand.abs or i.modifier("neg_hi") >> k & 1:
        value = value.fabs()
    return -value if operand.neg or i.modifier("neg_lo") >> k & 1 else value


def _fma_to_half(i: Access, a: Value, b: Value, c: Value) -> Value:
    """a * b + c, f32 numbers, as f16 with one rounding."""
    with i.b.nearest():
        exact = division.fma_to_odd(a, b, c)
    if i.mode.round16_64 == 2:
        signs = floats.sign_bit(a) ^ floats.sign_bit(b) ^ floats.sign_bit(c)
        exact = (exact.eq(0.0) & signs).select(-0.0, exact)
    half = floats.rounded(Op.FPTRUNC, F16, exact)
    if i.drops_tiny(F16):
        half = i.without_tiny(half, floats.rounds_below_normal(exact, F16))
    return exact.is_nan().select(floats.convert(floats.fma_nan(a, b, c), F16), half)


def _mad_to_half(i: Access, a: Value, b: Value, c: Value) -> Value:
    """Three roundings: the product and the sum to f32, then to f16."""
    result = floats.multiply_add(a, b, c)
    return floats.convert(i.flush(result) if i.mode.flush_outputs32 else result, F16)


def _mix(combine: Operation, halve: Operation, part: int | None) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b, c = (_mix_source(i, k) for k in range(3))
        if part is None:
            i.dst(0, combine(a, b, c))
            return
        half = i.limited(halve(i, a, b, c))
        half = i.flush(half) if i.mode.flush_outputs16_64 else half
        half = i.clamp_float(half) if i.clamp else half
        word, bits = i.old(0), half.bits().zext(I32)
        i.dst(0, (word & 0xFFFF) | bits.shl(16) if part else (word & 0xFFFF0000) | bits)

    return run


for _stem, _combine, _halve in (
    ("fma", floats.fma, _fma_to_half),
    ("mad", floats.multiply_add, _mad_to_half),
):
    semantic(f"v_{_stem}_mix_f32")(_mix(_combine, _halve, None))
    semantic(f"v_{_stem}_mixlo_f16")(_mix(_combine, _halve, 0))
    semantic(f"v_{_stem}_mixhi_f16")(_mix(_combine, _halve, 1))
