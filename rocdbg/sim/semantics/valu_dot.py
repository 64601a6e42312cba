"""Dot products of packed 16-, 8- and 4-bit numbers with a 32-bit (or 16-bit) accumulator."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.builder import F16, F32, F64, I16, I32, I64, Value
from rocdbg.sim.semantics import floats, integers
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.constants import source32
from rocdbg.sim.semantics.registry import SemanticFunction, semantic
from rocdbg.sim.semantics.valu_convert import from_bfloat16, to_bfloat16

_ORDER = (
    "products added one after the other, each step rounded; the hardware's internal precision is not public"
)


def _integer(
    bits: int, signs: Callable[[Access], tuple[bool, bool]], *, accumulate: bool
) -> SemanticFunction:
    """Sum of the products of all ``bits``-wide elements and the accumulator (source 2, or the old
    destination)."""

    def run(i: Access) -> None:
        a, b = i.src(0), i.src(1)
        total = i.old(0) if accumulate else source32(i, 2)
        signed_a, signed_b = signs(i)
        signed = signed_a or signed_b
        wide = I64 if i.clamp else I32
        exact = integers.extend(total, wide, signed=signed or _signed_accumulator(i))
        for n in range(32 // bits):
            x = integers.field(a, n * bits, bits, signed=signed_a)
            y = integers.field(b, n * bits, bits, signed=signed_b)
            exact = exact + integers.extend(x, wide, signed=signed_a) * integers.extend(
                y, wide, signed=signed_b
            )
        if i.clamp:
            exact = integers.saturate(exact, I32, signed=signed or _signed_accumulator(i))
        i.dst(0, exact)

    return run


def _signed_accumulator(i: Access) -> bool:
    """The ``_iu`` forms add up signed, whatever their sources are."""
    return "_iu" in i.name


def _both(signed: bool) -> Callable[[Access], tuple[bool, bool]]:
    return lambda i: (signed, signed)


def _by_neg(i: Access) -> tuple[bool, bool]:
    """neg_lo says which sources are signed."""
    neg = i.modifier("neg_lo")
    return bool(neg & 1), bool(neg & 2)


for _bits, _count in ((16, 2), (8, 4), (4, 8)):
    semantic(f"v_dot{_count}_i32_i{_bits}")(_integer(_bits, _both(True), accumulate=False))
    semantic(f"v_dot{_count}_u32_u{_bits}")(_integer(_bits, _both(False), accumulate=False))
    semantic(f"v_dot{_count}c_i32_i{_bits}")(_integer(_bits, _both(True), accumulate=True))
    if _bits < 16:
        semantic(f"v_dot{_count}_i32_iu{_bits}")(_integer(_bits, _by_neg, accumulate=False))


def _pairs_f16(i: Access) -> list[tuple[Value, Value]]:
    return [tuple(floats.convert(_half(i, k, half), F32) for k in range(2)) for half in range(2)]  # type: ignore[misc]


def _half(i: Access, k: int, half: int) -> Value:
    if i.insn.encoding == "VOP3P":
        return i.src_half(k, half, F16)
    word = i.src(k)
    value = (word.lshr(16) if half else word).trunc(I16).bitcast(F16)
    return i.flush(value) if i.mode.flush_inputs16_64 else value


def _bfloat_half(i: Access, k: int, half: int) -> Value:
    if i.insn.encoding == "VOP3P":
        bits = i.src_half(k, half, I16)
        negated = bits ^ 0x8000 if i.modifier("neg_hi" if half else "neg_lo") >> k & 1 else bits
        return from_bfloat16(negated)
    word = i.src(k)
    return from_bfloat16((word.lshr(16) if half else word).trunc(I16))


def _pairs_bf16(i: Access) -> list[tuple[Value, Value]]:
    return [(_bfloat_half(i, 0, half), _bfloat_half(i, 1, half)) for half in range(2)]


def _float(pairs: Callable[[Access], list[tuple[Value, Value]]], *, accumulate: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        total = i.old(0, F32) if accumulate else _accumulator(i)
        for a, b in pairs(i):
            total = floats.fma(a, b, total)
        i.dst(0, total)

    return run


def _accumulator(i: Access) -> Value:
    """Source 2 as f32; VOP3P has its sign in neg_lo and its absolute value in neg_hi."""
    operand = i.sources[2]
    value = source32(i, 2).bitcast(F32)
    value = i.flush(value) if i.mode.flush_inputs32 else value
    if operand.abs or i.modifier("neg_hi") >> 2 & 1:
        value = value.fabs()
    return -value if operand.neg or i.modifier("neg_lo") >> 2 & 1 else value


semantic("v_dot2_f32_f16", approximate=_ORDER)(_float(_pairs_f16, accumulate=False))
semantic("v_dot2_f32_bf16", approximate=_ORDER)(_float(_pairs_bf16, accumulate=False))
semantic("v_dot2c_f32_f16", "v_dot2acc_f32_f16", approximate=_ORDER)(_float(_pairs_f16, accumulate=True))
semantic("v_dot2c_f32_bf16", "v_dot2acc_f32_bf16", approximate=_ORDER)(_float(_pairs_bf16, accumulate=True))


@semantic("v_dot2_f16_f16", approximate=_ORDER)
def _(i: Access) -> None:
    total = i.src(2, F16)
    words = [i.src(k) for k in range(2)]
    for half in range(2):
        a, b = ((w.lshr(16) if half else w).trunc(I16).bitcast(F16) for w in words)
        total = floats.fma(a, b, total)
    i.dst(0, total)


@semantic("v_dot2_bf16_bf16", approximate=_ORDER)
def _(i: Access) -> None:
    total = floats.convert(from_bfloat16(i.src(2, I16)), F64)
    words = [i.src(k) for k in range(2)]
    for half in range(2):
        a, b = (floats.convert(from_bfloat16((w.lshr(16) if half else w).trunc(I16)), F64) for w in words)
        total = floats.fma(a, b, total)
    i.dst(0, to_bfloat16(floats.convert(total, F32)))
