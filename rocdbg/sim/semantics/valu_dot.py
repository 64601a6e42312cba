"""Dot products of packed 16-, 8- and 4-bit numbers with a 32-bit (or 16-bit) accumulator."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import F16, F32, I8, I16, I32, I64, Value
from rocdbg.sim.semantics import floats, integers
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.dots import gfx11_dot2, gfx12_dot, widened
from rocdbg.sim.semantics.float_constants import source32
from rocdbg.sim.semantics.registry import SemanticFunction, semantic
from rocdbg.sim.semantics.valu_convert import from_bfloat16

_ORDER = (
    "on GFX9 and GFX10 products are added one after the other, each step rounded; "
    "the hardware's internal precision is not public"
)


def _integer(
    bits: int, signs: Callable[[Access], tuple[bool, bool]], *, accumulate: bool
) -> SemanticFunction:
    """Sum of the products of all ``bits``-wide elements and the accumulator (source 2, or the old destination)."""

    def run(i: Access) -> None:
        a, b = (_chosen_halves(i, k) if bits == 16 else i.src(k) for k in range(2))
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


def _chosen_halves(i: Access, k: int) -> Value:
    """Source ``k``; in VOP3P, with the halves that op_sel and op_sel_hi choose."""
    if i.insn.encoding != "VOP3P":
        return i.src(k)
    return i.src_half(k, 0, I16).zext(I32) | i.src_half(k, 1, I16).zext(I32).shl(16)


def _signed_accumulator(i: Access) -> bool:
    """Whether the accumulator is signed. In the ``_iu`` forms it always is, regardless of the sources."""
    return "_iu" in i.name


def _both(signed: bool) -> Callable[[Access], tuple[bool, bool]]:
    return lambda i: (signed, signed)


def _by_neg(i: Access) -> tuple[bool, bool]:
    """Whether a source is signed, given by neg_lo."""
    neg = i.modifier("neg_lo")
    return bool(neg & 1), bool(neg & 2)


for _bits, _count in ((16, 2), (8, 4), (4, 8)):
    semantic(f"v_dot{_count}_i32_i{_bits}")(_integer(_bits, _both(True), accumulate=False))
    semantic(f"v_dot{_count}_u32_u{_bits}")(_integer(_bits, _both(False), accumulate=False))
    semantic(f"v_dot{_count}c_i32_i{_bits}")(_integer(_bits, _both(True), accumulate=True))
    if _bits < 16:
        semantic(f"v_dot{_count}_i32_iu{_bits}")(_integer(_bits, _by_neg, accumulate=False))


def _halves(i: Access, k: int) -> list[Value]:
    """The two numbers of a source as I16, negated as VOP3P specifies."""
    if i.insn.encoding != "VOP3P":
        word = i.src(k)
        return [word.trunc(I16), word.lshr(16).trunc(I16)]
    halves = [i.src_half(k, half, I16) for half in range(2)]
    negated = [i.modifier("neg_hi" if half else "neg_lo") >> k & 1 for half in range(2)]
    return [bits ^ 0x8000 if negate else bits for bits, negate in zip(halves, negated, strict=True)]


def _wide(i: Access, raw: Value, kind: str) -> Value:
    """f16 or bf16 bits as f32."""
    if kind == "bf16":
        return from_bfloat16(raw)
    value = raw.bitcast(F16)
    return floats.convert(i.flush(value) if i.mode.flush_inputs16_64 else value, F32)


def _float(kind: str, *, accumulate: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b = _halves(i, 0), _halves(i, 1)
        if i.generation >= 11:
            c = i.old(0) if accumulate else _accumulator(i, flush=False).bits()
            total = gfx11_dot2(a, b, c, kind) if i.generation == 11 else gfx12_dot(a, b, c, (kind, kind))
            # CLAMP has no effect: public libraries set it although their sums exceed [0, 1], and have right results on
            # gfx11 and gfx12.
            i.dst(0, total)
            return
        result = i.old(0, F32) if accumulate else _accumulator(i, flush=i.mode.flush_inputs32)
        for x, y in zip(a, b, strict=True):
            result = floats.fma(_wide(i, x, kind), _wide(i, y, kind), result)
        i.dst(0, result)

    return run


def _accumulator(i: Access, *, flush: bool) -> Value:
    """Source 2 as f32; in VOP3P neg_lo negates it and neg_hi takes its absolute value."""
    operand = i.sources[2]
    value = source32(i, 2).bitcast(F32)
    value = i.flush(value) if flush else value
    if operand.abs or i.modifier("neg_hi") >> 2 & 1:
        value = value.fabs()
    return -value if operand.neg or i.modifier("neg_lo") >> 2 & 1 else value


for _kind in ("f16", "bf16"):
    semantic(f"v_dot2_f32_{_kind}", approximate=_ORDER)(_float(_kind, accumulate=False))
    semantic(f"v_dot2c_f32_{_kind}", f"v_dot2acc_f32_{_kind}", approximate=_ORDER)(
        _float(_kind, accumulate=True)
    )


def _packed(kind: str) -> SemanticFunction:
    """16-bit accumulator and result; GFX11 and GFX12 only."""

    def run(i: Access) -> None:
        a, b = ([w.trunc(I16), w.lshr(16).trunc(I16)] for w in (i.src(k) for k in range(2)))
        c = widened(i.src(2, F16, flush=False).bits() if kind == "f16" else i.src(2, I16), kind)
        overflow = int(i.mode.fp16_overflow)
        if i.generation == 11:
            total = gfx11_dot2(a, b, c, kind, packed=True, overflow=overflow)
        else:
            total = gfx12_dot(a, b, c, (kind, kind), packed=True, overflow=overflow)
        i.dst(0, total)

    return run


semantic("v_dot2_f16_f16", any_rounding=True)(_packed("f16"))
semantic("v_dot2_bf16_bf16", any_rounding=True)(_packed("bf16"))


def _bytes(first: str, second: str) -> SemanticFunction:
    """Four products of 8-bit floats; GFX12."""

    def run(i: Access) -> None:
        a, b = (
            [w.lshr(8 * n).trunc(I8) if n else w.trunc(I8) for n in range(4)] for w in (i.src(0), i.src(1))
        )
        total = gfx12_dot(a, b, _accumulator(i, flush=False).bits(), (first, second))
        i.dst(0, total.bitcast(F32) if i.clamp else total)

    return run


for _first in ("fp8", "bf8"):
    for _second in ("fp8", "bf8"):
        semantic(f"v_dot4_f32_{_first}_{_second}", any_rounding=True)(_bytes(_first, _second))
