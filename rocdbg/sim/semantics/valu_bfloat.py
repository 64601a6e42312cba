"""bfloat16 arithmetic (gfx125x): plain, packed, and mixed with f32.

Sums and products are exact until they are rounded to bfloat16, ties to even. It is not published how MODE's denormal
bits act on bfloat16, so subnormal numbers are kept.
"""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.isa.instruction import OperandKind
from rocdbg.sim.core.builder import F32, F64, I16, I32, Value
from rocdbg.sim.semantics import division, floats
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.float_constants import expand, source32
from rocdbg.sim.semantics.registry import SemanticFunction, semantic
from rocdbg.sim.semantics.valu_convert import from_bfloat16, to_bfloat16

Operation = Callable[..., Value]
_SUBNORMALS = "whether subnormal bfloat16 numbers are flushed is not published; they are kept"


def _narrow(exact: Value) -> Value:
    """bfloat16 bits (I16) of an f64 that was rounded to odd; ties to even."""
    near = exact.fptrunc(F32)
    back, bits = near.fpext(F64), near.bits()
    cut = back.fabs().fgt(exact.fabs()).select(bits - 1, bits)
    odd = (back.eq(exact) | exact.is_nan()).select(bits, cut | 1)
    return to_bfloat16(odd.bitcast(F32))


def fma(a: Value, b: Value, c: Value) -> Value:
    """a * b + c of f32 numbers, as bfloat16 bits with one rounding."""
    with a.builder.nearest():
        exact = division.fma_to_odd(a, b, c)
        narrow = _narrow(exact)
    nan = to_bfloat16(floats.fma_nan(a, b, c))
    return exact.is_nan().select(nan, narrow)


def _add(a: Value, b: Value) -> Value:
    return fma(a, a.builder.const(1.0, F32), b)


def _multiply(a: Value, b: Value) -> Value:
    negative = floats.sign_bit(a) ^ floats.sign_bit(b)
    return fma(a, b, negative.select(a.builder.const(-0.0, F32), 0.0))


def _chosen(choose: Operation) -> Operation:
    """Minimum and maximum, which do not round."""
    return lambda *numbers: to_bfloat16(choose(*numbers))


_OPERATIONS: dict[str, tuple[int, Operation]] = {
    "add": (2, _add),
    "mul": (2, _multiply),
    "fma": (3, fma),
    "min_num": (2, _chosen(floats.minimum_num)),
    "max_num": (2, _chosen(floats.maximum_num)),
}


def _packed(count: int, operation: Operation) -> SemanticFunction:
    def run(i: Access) -> None:
        results = []
        for half in range(2):
            sources = [_packed_source(i, k, half) for k in range(count)]
            results.append(operation(*sources))
        i.dst_packed(*(_clamped(i, result) for result in results))

    return run


def _packed_source(i: Access, k: int, half: int) -> Value:
    value = from_bfloat16(i.src_half(k, half, I16))
    return -value if i.modifier("neg_hi" if half else "neg_lo") >> k & 1 else value


def _clamped(i: Access, bits: Value) -> Value:
    return to_bfloat16(i.clamp_float(from_bfloat16(bits))) if i.clamp else bits


for _name, (_count, _operation) in _OPERATIONS.items():
    semantic(f"v_pk_{_name}_bf16", any_rounding=True, approximate=_SUBNORMALS)(_packed(_count, _operation))


# -- mixed with f32 ------------------------------------------------------------------------------------------


def _mix_source(i: Access, k: int) -> Value:
    """Source ``k`` as f32: an f32 if op_sel_hi is clear, otherwise the bfloat16 half that op_sel names; neg_hi means
    abs.

    Inline constants are always f32 numbers: compilers use their high halves.
    """
    operand = i.sources[k]
    if i.modifier("op_sel_hi") >> k & 1:
        constant = operand.kind is OperandKind.CONSTANT
        word = i.const(expand(operand.index)) if constant else i.raw_operand(operand)
        value = from_bfloat16((word.lshr(16) if i.modifier("op_sel") >> k & 1 else word).trunc(I16))
    else:
        value = i.taken(source32(i, k).bitcast(F32))
    if operand.abs or i.modifier("neg_hi") >> k & 1:
        value = value.fabs()
    return -value if operand.neg or i.modifier("neg_lo") >> k & 1 else value


@semantic("v_fma_mix_f32_bf16")
def _(i: Access) -> None:
    i.dst(0, floats.fma(*(_mix_source(i, k) for k in range(3))))


def _mix_half(half: int) -> SemanticFunction:
    def run(i: Access) -> None:
        bits = _clamped(i, fma(*(_mix_source(i, k) for k in range(3)))).zext(I32)
        old = i.old(0)
        i.dst(0, old & 0xFFFF | bits.shl(16) if half else old & 0xFFFF0000 | bits)

    return run


semantic("v_fma_mixlo_bf16", any_rounding=True, approximate=_SUBNORMALS)(_mix_half(0))
semantic("v_fma_mixhi_bf16", any_rounding=True, approximate=_SUBNORMALS)(_mix_half(1))
