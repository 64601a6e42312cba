"""Float arithmetic of the vector unit: add, multiply, fused and unfused multiply-add, minimum, maximum, median,
rounding, fraction, exponent and mantissa, in f16, f32 and f64."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.arch.targets import Generation
from rocdbg.sim.core.builder import F16, F32, F64, I16, I32, Op, Type, Value
from rocdbg.sim.semantics import floats
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import SemanticFunction, semantic

TYPES: dict[str, Type] = {"f16": F16, "f32": F32, "f64": F64}

Binary = Callable[[Value, Value], Value]


def multiply(i: Access, a: Value, b: Value) -> Value:
    """a * b; zero if the result is subnormal and MODE flushes it."""
    product = floats.multiply(a, b)
    if not i.drops_tiny(a.type):
        return product
    return i.without_tiny(product, floats.is_tiny(Op.FMUL, a, b))


def fma(i: Access, a: Value, b: Value, c: Value, *, flush: bool | None = None) -> Value:
    """a * b + c; zero if the result is subnormal and MODE, or ``flush``, says to flush it."""
    total = floats.fma(a, b, c)
    if not i.drops_tiny(a.type, flush):
        return total
    return i.without_tiny(total, floats.is_tiny(Op.FMA, a, b, c))


def _multiply(type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, multiply(i, i.src(0, type), i.src(1, type)))

    return run


def _binary(operation: Binary, type: Type, *, swap: bool = False) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b = i.src(0, type), i.src(1, type)
        i.dst(0, operation(b, a) if swap else operation(a, b))

    return run


for _name, _type in TYPES.items():
    semantic(f"v_add_{_name}")(_binary(floats.add, _type))
    semantic(f"v_mul_{_name}")(_multiply(_type))
    if _type is not F64:
        semantic(f"v_sub_{_name}")(_binary(floats.subtract, _type))
        semantic(f"v_subrev_{_name}")(_binary(floats.subtract, _type, swap=True))


# -- multiply-add ----------------------------------------------------------------------------------


def preserves_half(i: Access) -> bool | None:
    """Whether a 16-bit instruction keeps the other half of the destination: GFX9's VOP3 instructions with op_sel keep
    it; GFX9's older instructions clear it.
    """
    return True if i.generation is Generation.GFX9 else None


def _fma(type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        keep = preserves_half(i) if type is F16 else None
        i.dst(0, fma(i, i.src(0, type), i.src(1, type), i.src(2, type)), preserve=keep)

    return run


def _fmac(type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, fma(i, i.src(0, type), i.src(1, type), i.old(0, type)))

    return run


def _literal_form(type: Type) -> SemanticFunction:
    """fmaak (a, b, K) and fmamk (a, K, b): the three sources in text order are factor, factor, addend."""

    def run(i: Access) -> None:
        i.dst(0, fma(i, i.src(0, type), i.src(1, type), i.src(2, type)))

    return run


for _name, _type in TYPES.items():
    semantic(f"v_fma_{_name}")(_fma(_type))
    semantic(f"v_fmac_{_name}")(_fmac(_type))
    semantic(f"v_fmaak_{_name}", f"v_fmamk_{_name}")(_literal_form(_type))


@semantic("v_fma_legacy_f16")
def _(i: Access) -> None:
    i.dst(0, floats.fma(i.src(0, F16), i.src(1, F16), i.src(2, F16)))


def _mad32(i: Access, a: Value, b: Value, c: Value) -> None:
    """The unfused f32 multiply-add, which always flushes subnormals, regardless of MODE."""
    product = i.flush(floats.multiply(a, b))
    i.dst(0, floats.add(product, c), flush=True)


@semantic("v_mad_f32", "v_madak_f32", "v_madmk_f32")
def _(i: Access) -> None:
    _mad32(i, i.src(0, F32, flush=True), i.src(1, F32, flush=True), i.src(2, F32, flush=True))


@semantic("v_mac_f32")
def _(i: Access) -> None:
    _mad32(i, i.src(0, F32, flush=True), i.src(1, F32, flush=True), i.old(0, F32, flush=True))


@semantic("v_mad_f16")
def _(i: Access) -> None:
    i.dst(0, floats.multiply_add(i.src(0, F16), i.src(1, F16), i.src(2, F16)), preserve=preserves_half(i))


@semantic("v_mad_legacy_f16", "v_madak_f16", "v_madmk_f16")
def _(i: Access) -> None:
    i.dst(0, floats.multiply_add(i.src(0, F16), i.src(1, F16), i.src(2, F16)))


@semantic("v_mac_f16")
def _(i: Access) -> None:
    i.dst(0, floats.multiply_add(i.src(0, F16), i.src(1, F16), i.old(0, F16)))


# -- DX9 multiplication: 0 * anything = 0 ----------------------------------------------------------


@semantic("v_mul_legacy_f32", "v_mul_dx9_zero_f32")
def _(i: Access) -> None:
    a, b = i.src(0, F32), i.src(1, F32)
    zero = floats.is_zero(a) | floats.is_zero(b)
    product = multiply(i, zero.select(0.0, a), zero.select(0.0, b))  # nothing invalid
    i.dst(0, product)


def _legacy_fma(i: Access, c: Value) -> None:
    """The legacy fma, which always flushes subnormals, regardless of MODE; a product with a zero factor is +0."""
    a, b = i.src(0, F32, flush=True), i.src(1, F32, flush=True)
    zero = floats.is_zero(a) | floats.is_zero(b)
    i.dst(0, fma(i, zero.select(0.0, a), zero.select(0.0, b), c, flush=True), flush=True)


@semantic("v_fma_legacy_f32", "v_fma_dx9_zero_f32")
def _(i: Access) -> None:
    _legacy_fma(i, i.src(2, F32, flush=True))


@semantic("v_fmac_legacy_f32", "v_fmac_dx9_zero_f32")
def _(i: Access) -> None:
    _legacy_fma(i, i.old(0, F32, flush=True))


@semantic("v_mad_legacy_f32")
def _(i: Access) -> None:
    a, b, c = (i.src(k, F32, flush=True) for k in range(3))
    product = floats.legacy_zero(a, b, i.flush(floats.multiply(a, b)), i.const(0.0, F32))
    i.dst(0, floats.add(product, c), flush=True)


@semantic("v_mac_legacy_f32")
def _(i: Access) -> None:
    a, b, c = i.src(0, F32, flush=True), i.src(1, F32, flush=True), i.old(0, F32, flush=True)
    product = floats.legacy_zero(a, b, i.flush(floats.multiply(a, b)), i.const(0.0, F32))
    i.dst(0, floats.add(product, c), flush=True)


@semantic("v_mullit_f32")
def _(i: Access) -> None:
    a, b, c = (i.src(k, F32) for k in range(3))
    lowest = floats.from_bits(a, 0xFF7FFFFF)
    unlit = b.fle(lowest) | b.is_nan() | c.fle(0.0) | c.is_nan()
    zero = floats.is_zero(a) | floats.is_zero(b)
    product = multiply(i, zero.select(0.0, a), zero.select(0.0, b))
    i.dst(0, unlit.select(lowest, product))


# -- minimum, maximum, median ----------------------------------------------------------------------


def minimum(i: Access) -> Binary:
    """v_min as this target and MODE define it."""
    return lambda a, b: floats.minimum_number(
        a, b, ieee=i.mode.ieee, second_first=i.generation >= Generation.GFX11
    )


def maximum(i: Access) -> Binary:
    """v_max as this target and MODE define it."""
    return lambda a, b: floats.maximum_number(
        a, b, ieee=i.mode.ieee, second_first=i.generation >= Generation.GFX11
    )


def _named(fixed: Binary) -> Callable[[Access], Binary]:
    return lambda i: fixed


Chooser = Callable[[Access], Binary]


def _two(choose: Chooser, type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b = (i.src(k, type, flush=_keeps_sources(i)) for k in range(2))
        i.dst(0, choose(i)(a, b), flush=_keeps_results(i))

    return run


def _keeps_sources(i: Access) -> bool | None:
    """Whether sources keep subnormals: before GFX9, those of minimum, maximum and median do, regardless of MODE."""
    return False if i.generation < Generation.GFX9 else None


def _keeps_results(i: Access) -> bool | None:
    """Whether results keep subnormals: from GFX12 on minimum and maximum flush sources only; before GFX9 nothing."""
    return False if i.generation >= Generation.GFX12 else _keeps_sources(i)


def _three(inner: Chooser, outer: Chooser, type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        keep = preserves_half(i) if type is F16 else None
        a, b, c = (i.src(k, type, flush=_keeps_sources(i)) for k in range(3))
        result = outer(i)(inner(i)(a, b), c)
        i.dst(0, result, flush=_keeps_results(i), preserve=keep)

    return run


def _median(low: Chooser, high: Chooser, type: Type, *, numbers: bool = False) -> SemanticFunction:
    """The median. ``numbers``: gfx12's variant, which takes -0 to be smaller than +0."""

    def same(a: Value, b: Value) -> Value:
        return a.bits().eq(b.bits()) if numbers else a.eq(b)

    def run(i: Access) -> None:
        a, b, c = (i.src(k, type, flush=_keeps_sources(i)) for k in range(3))
        least, most = low(i), high(i)
        top = most(most(a, b), c)
        # Drop the first operand that equals the maximum; the result is the larger of the others.
        middle = same(top, a).select(most(b, c), same(top, b).select(most(a, c), most(a, b)))
        unordered = a.is_nan() | b.is_nan() | c.is_nan()
        keep = preserves_half(i) if type is F16 else None
        i.dst(0, unordered.select(least(least(a, b), c), middle), flush=_keeps_results(i), preserve=keep)

    return run


_MIN_NUM, _MAX_NUM = _named(floats.minimum_num), _named(floats.maximum_num)
_MINIMUM, _MAXIMUM = _named(floats.minimum), _named(floats.maximum)

for _name, _type in TYPES.items():
    for _stem, _choose in (("min", minimum), ("max", maximum), ("min_num", _MIN_NUM), ("max_num", _MAX_NUM)):
        semantic(f"v_{_stem}_{_name}", any_rounding=True)(_two(_choose, _type))
    for _stem, _choose in (("minimum", _MINIMUM), ("maximum", _MAXIMUM)):
        semantic(f"v_{_stem}_{_name}", any_rounding=True)(_two(_choose, _type))
    if _type is F64:
        continue
    for _stem, _inner, _outer in (
        ("min3", minimum, minimum),
        ("max3", maximum, maximum),
        ("minmax", minimum, maximum),
        ("maxmin", maximum, minimum),
        ("min3_num", _MIN_NUM, _MIN_NUM),
        ("max3_num", _MAX_NUM, _MAX_NUM),
        ("minmax_num", _MIN_NUM, _MAX_NUM),
        ("maxmin_num", _MAX_NUM, _MIN_NUM),
        ("minimum3", _MINIMUM, _MINIMUM),
        ("maximum3", _MAXIMUM, _MAXIMUM),
        ("minimummaximum", _MINIMUM, _MAXIMUM),
        ("maximumminimum", _MAXIMUM, _MINIMUM),
    ):
        semantic(f"v_{_stem}_{_name}", any_rounding=True)(_three(_inner, _outer, _type))
    semantic(f"v_med3_{_name}", any_rounding=True)(_median(minimum, maximum, _type))
    semantic(f"v_med3_num_{_name}", any_rounding=True)(_median(_MIN_NUM, _MAX_NUM, _type, numbers=True))


# -- one operand -----------------------------------------------------------------------------------


def _unary(operation: Callable[[Value], Value], type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, operation(i.src(0, type)))

    return run


for _name, _type in TYPES.items():
    semantic(f"v_trunc_{_name}", any_rounding=True)(_unary(floats.truncate, _type))
    semantic(f"v_ceil_{_name}", any_rounding=True)(_unary(floats.ceiling, _type))
    semantic(f"v_floor_{_name}", any_rounding=True)(_unary(floats.floor, _type))
    semantic(f"v_rndne_{_name}", any_rounding=True)(_unary(floats.round_even, _type))
    semantic(f"v_fract_{_name}")(_unary(floats.fract, _type))
    semantic(f"v_frexp_mant_{_name}", any_rounding=True)(_unary(floats.frexp_mantissa, _type))


@semantic("v_frexp_exp_i16_f16", any_rounding=True)
def _(i: Access) -> None:
    i.dst(0, floats.frexp_exponent(i.src(0, F16)))


@semantic("v_frexp_exp_i32_f32", any_rounding=True)
def _(i: Access) -> None:
    i.dst(0, floats.frexp_exponent(i.src(0, F32)))


@semantic("v_frexp_exp_i32_f64", any_rounding=True)
def _(i: Access) -> None:
    i.dst(0, floats.frexp_exponent(i.src(0, F64)).trunc(I32))


@semantic("v_ldexp_f16")
def _(i: Access) -> None:
    i.dst(0, floats.scale(i.src(0, F16), i.src(1, I16).sext(I32)))


@semantic("v_ldexp_f32")
def _(i: Access) -> None:
    i.dst(0, floats.scale(i.src(0, F32), i.src(1, I32)))


@semantic("v_ldexp_f64")
def _(i: Access) -> None:
    i.dst(0, floats.scale(i.src(0, F64), i.src(1, I32)))
