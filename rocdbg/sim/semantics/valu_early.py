"""Instructions of the vector unit that exist only on GFX6 and GFX7.

Legacy and clamped functions follow the documents of the R600 family, which define all their special values.
"""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import F32, F64, I32, I64, Type, Value
from rocdbg.sim.semantics import floats, transcendental
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import SemanticFunction, semantic

_ULP = "correctly rounded where the documents promise 1 ulp; the hardware's tables are not public"
_NANS = "special values are those of the R600 family's documents; the hardware's are not public"
_LARGEST = {F32: 0x7F7FFFFF, F64: 0x7FEFFFFF_FFFFFFFF}


# -- shifts whose first source is the value --------------------------------------------------------------


def _shift(operation: Callable[[Value, Value], Value], type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        count = i.src(1) & type.bits - 1
        i.dst(0, operation(i.src(0, type), count.zext(I64) if type is I64 else count))

    return run


for _stem, _letter, _operation in (
    ("lshl", "b", lambda value, count: value.shl(count)),
    ("lshr", "b", lambda value, count: value.lshr(count)),
    ("ashr", "i", lambda value, count: value.ashr(count)),
):
    for _type in (I32, I64):
        semantic(f"v_{_stem}_{_letter}{_type.bits}")(_shift(_operation, _type))


# -- minimum and maximum: of an unordered pair the second; subnormals are kept, as in v_min_f32 --------


@semantic("v_min_legacy_f32", approximate=_NANS, any_rounding=True)
def _(i: Access) -> None:
    a, b = i.src(0, F32, flush=False), i.src(1, F32, flush=False)
    i.dst(0, a.flt(b).select(a.bits(), b.bits()).bitcast(F32), flush=False)


@semantic("v_max_legacy_f32", approximate=_NANS, any_rounding=True)
def _(i: Access) -> None:
    a, b = i.src(0, F32, flush=False), i.src(1, F32, flush=False)
    i.dst(0, a.fge(b).select(a.bits(), b.bits()).bitcast(F32), flush=False)


# -- functions that replace infinities --------------------------------------------------------------


def _clamped(value: Value) -> Value:
    """Replace infinities with the largest finite number of their sign."""
    sign = 1 << value.type.bits - 1
    bits = value.bits()
    return floats.is_infinite(value).select(bits & sign | _LARGEST[value.type], bits).bitcast(value.type)


def _legacy(value: Value) -> Value:
    """Replace infinities with the zero of their sign."""
    bits = value.bits()
    return floats.is_infinite(value).select(bits & 1 << value.type.bits - 1, bits).bitcast(value.type)


def _log_clamped(value: Value) -> Value:
    """Replace minus infinity only."""
    bits = value.bits()
    return bits.eq(0xFF800000).select(0xFF7FFFFF, bits).bitcast(F32)


def _then(
    operation: Callable[[Value], Value], finish: Callable[[Value], Value], type: Type
) -> SemanticFunction:
    flush = True if type is F32 else None

    def run(i: Access) -> None:
        i.dst(0, finish(operation(i.src(0, type, flush=flush))), flush=flush)

    return run


semantic("v_log_clamp_f32", approximate=_ULP)(_then(transcendental.log2, _log_clamped, F32))
for _stem, _function in (("rcp", transcendental.reciprocal), ("rsq", transcendental.reciprocal_square_root)):
    for _type in (F32, F64):
        semantic(f"v_{_stem}_clamp_{_type.name}", approximate=_ULP)(_then(_function, _clamped, _type))
    semantic(f"v_{_stem}_legacy_f32", approximate=_ULP)(_then(_function, _legacy, F32))

