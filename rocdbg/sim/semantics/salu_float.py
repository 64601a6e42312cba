"""Float instructions of the scalar unit (gfx11.5 and gfx12)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rocdbg.sim.core.builder import F16, F32, I16, I32, Type, Value
from rocdbg.sim.semantics import floats
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import SemanticFunction, semantic
from rocdbg.sim.semantics.valu_float import fma, maximum, minimum, multiply

Two = Callable[[Value, Value], Value]


def _two(choose: Callable[[Access], Two], type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, choose(i)(i.src(0, type), i.src(1, type)))

    return run


def _fixed(operation: Two) -> Callable[[Access], Two]:
    return lambda i: operation


def _one(operation: Callable[[Value], Value], source: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, operation(i.src(0, source)))

    return run


def _fma(type: Type, *, accumulate: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        addend = i.old(0, type) if accumulate else i.src(2, type)
        i.dst(0, fma(i, i.src(0, type), i.src(1, type), addend))

    return run


for _type in (F16, F32):
    _name = _type.name
    semantic(f"s_add_{_name}")(_two(_fixed(floats.add), _type))
    semantic(f"s_sub_{_name}")(_two(_fixed(floats.subtract), _type))
    semantic(f"s_mul_{_name}")(_two(lambda i: partial(multiply, i), _type))
    semantic(f"s_fmac_{_name}")(_fma(_type, accumulate=True))
    semantic(f"s_min_{_name}", any_rounding=True)(_two(minimum, _type))
    semantic(f"s_max_{_name}", any_rounding=True)(_two(maximum, _type))
    semantic(f"s_min_num_{_name}", any_rounding=True)(_two(_fixed(floats.minimum_num), _type))
    semantic(f"s_max_num_{_name}", any_rounding=True)(_two(_fixed(floats.maximum_num), _type))
    semantic(f"s_minimum_{_name}", any_rounding=True)(_two(_fixed(floats.minimum), _type))
    semantic(f"s_maximum_{_name}", any_rounding=True)(_two(_fixed(floats.maximum), _type))
    semantic(f"s_trunc_{_name}", any_rounding=True)(_one(floats.truncate, _type))
    semantic(f"s_ceil_{_name}", any_rounding=True)(_one(floats.ceiling, _type))
    semantic(f"s_floor_{_name}", any_rounding=True)(_one(floats.floor, _type))
    semantic(f"s_rndne_{_name}", any_rounding=True)(_one(floats.round_even, _type))
semantic("s_fmaak_f32", "s_fmamk_f32")(_fma(F32, accumulate=False))

semantic("s_cvt_f32_i32")(_one(lambda a: floats.from_integer(a, F32, signed=True), I32))
semantic("s_cvt_f32_u32")(_one(lambda a: floats.from_integer(a, F32, signed=False), I32))
semantic("s_cvt_i32_f32", any_rounding=True)(_one(lambda a: a.fptosi(I32), F32))
semantic("s_cvt_u32_f32", any_rounding=True)(_one(lambda a: a.fptoui(I32), F32))
semantic("s_cvt_f16_f32")(_one(lambda a: floats.convert(a, F16), F32))
semantic("s_cvt_f32_f16", any_rounding=True)(_one(lambda a: floats.convert(a, F32), F16))


@semantic("s_cvt_hi_f32_f16", any_rounding=True)
def _(i: Access) -> None:
    half = i.src(0).lshr(16).trunc(I16).bitcast(F16)
    i.dst(0, floats.convert(i.flush(half) if i.mode.flush_inputs16_64 else half, F32))


@semantic("s_cvt_pk_rtz_f16_f32", any_rounding=True)
def _(i: Access) -> None:
    low, high = (floats.narrow_toward_zero(i.src(k, F32), F16) for k in range(2))
    i.dst_packed(low, high)
