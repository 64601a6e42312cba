"""gfx125x's hyperbolic tangent, and its transcendental functions of bfloat16.

As in `transcendental`, results are computed in f64 and rounded once (for bfloat16, first to f32), because the
hardware's tables are not public.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from rocdbg.sim.core.builder import F16, F32, F64, I16, I32, Type, Value
from rocdbg.sim.semantics import floats, transcendental
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import SemanticFunction, semantic
from rocdbg.sim.semantics.valu_convert import from_bfloat16, to_bfloat16

_ULP = "within 1 ulp of hardware, whose tables are not public"
_EXP = [math.log(2) ** k / math.factorial(k) for k in range(13, -1, -1)]
_SMALL = 2.0**-6


def tanh(x: Value) -> Value:
    """The hyperbolic tangent; zeros keep their sign."""
    wide = x.fpext(F64)
    size = wide.fabs()
    scaled = size.fgt(40.0).select(40.0, size) * (2 / math.log(2))
    whole = scaled.rint()
    fraction, power = scaled - whole, x.builder.const(_EXP[0], F64)
    for coefficient in _EXP[1:]:
        power = power.fma(fraction, coefficient)
    power = power * floats.power_of_two(whole.fptosi(I32), F64)
    large = (power - 1.0) / (power + 1.0)
    # The difference above loses bits for small arguments; the series is short there.
    square = size * size
    small = size * (((square * (-17 / 315) + 2 / 15) * square - 1 / 3) * square + 1.0)
    result = floats.with_sign_of(size.flt(_SMALL).select(small, large), wide).fptrunc(x.type)
    return floats.arithmetic(result, x)


def _of(operation: Callable[[Value], Value], type: Type) -> SemanticFunction:
    flush = True if type is F32 else None
    return lambda i: i.dst(0, operation(i.src(0, type, flush=flush)), flush=flush)


def _of_bfloat(operation: Callable[[Value], Value]) -> SemanticFunction:
    def run(i: Access) -> None:
        value = operation(from_bfloat16(i.src(0, I16)))
        i.dst(0, to_bfloat16(i.clamp_float(value) if i.clamp else value))

    return run


for _type in (F16, F32):
    semantic(f"v_tanh_{_type.name}", approximate=_ULP)(_of(tanh, _type))
for _stem, _operation in (
    ("tanh", tanh),
    ("exp", transcendental.exp2),
    ("log", transcendental.log2),
    ("rcp", transcendental.reciprocal),
    ("rsq", transcendental.reciprocal_square_root),
    ("sqrt", transcendental.square_root),
    ("sin", transcendental.sine),
    ("cos", transcendental.cosine),
):
    semantic(f"v_{_stem}_bf16", approximate=_ULP)(_of_bfloat(_operation))
