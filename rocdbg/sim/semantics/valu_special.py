"""Transcendental functions, the steps of division, and cube-map coordinates of the vector unit."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.arch.targets import Generation
from rocdbg.sim.core.builder import F16, F32, F64, I32, Type, Value
from rocdbg.sim.semantics import (
    division,
    floats,
    transcendental,
    transcendental_circular,
    transcendental_roots,
    transcendental_unit,
)
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import Kind, SemanticFunction, semantic
from rocdbg.sim.semantics.valu_float import preserves_half

_ULP = "correctly rounded where the documents promise 1 ulp; the hardware's tables are not public"
_MEASURED_ON = {F16: (Generation.GFX12,), F32: (Generation.GFX11, Generation.GFX12)}
"""The measured hardware: every f16 number on a gfx1201; f32 on a gfx1100 and a gfx1201."""
_MEASURED: dict[Callable[[Value], Value], Callable[[Value], Value]] = {
    transcendental.exp2: transcendental_unit.exp2,
    transcendental.log2: transcendental_unit.log2,
    transcendental.reciprocal: transcendental_roots.reciprocal,
    transcendental.reciprocal_square_root: transcendental_roots.reciprocal_square_root,
    transcendental.square_root: transcendental_roots.square_root,
}
"""The f32 functions of GFX11 and GFX12."""
_WIDE = "correctly rounded where the documents promise 2**29 ulp"


def _transcendental(operation: Callable[[Value], Value], type: Type) -> SemanticFunction:
    # The f32 forms flush subnormals; the others follow MODE.
    flush = True if type is F32 else None
    measured = _MEASURED.get(operation) if type is F32 else None

    def run(i: Access) -> None:
        chosen = measured if measured is not None and i.generation >= Generation.GFX11 else operation
        i.dst(0, chosen(i.src(0, type, flush=flush)), flush=flush)

    return run


for _stem, _operation in (
    ("exp", transcendental.exp2),
    ("log", transcendental.log2),
    ("rcp", transcendental.reciprocal),
    ("rsq", transcendental.reciprocal_square_root),
    ("sqrt", transcendental.square_root),
):
    for _type in (F16, F32):
        _exact_on = _MEASURED_ON[_type]
        semantic(f"v_{_stem}_{_type.name}", approximate=_ULP, exact_on=_exact_on)(
            _transcendental(_operation, _type)
        )
        # gfx12's forms with scalar operands: the upper half of an f16 result is 0.
        semantic(f"v_s_{_stem}_{_type.name}", kind=Kind.SCALAR, approximate=_ULP, exact_on=_exact_on)(
            _transcendental(_operation, _type)
        )
    if _stem in ("rcp", "rsq", "sqrt"):
        semantic(f"v_{_stem}_f64", approximate=_WIDE)(_transcendental(_operation, F64))

semantic("v_exp_legacy_f32", approximate=_ULP)(_transcendental(transcendental.exp2, F32))
semantic("v_log_legacy_f32", approximate=_ULP)(_transcendental(transcendental.log2, F32))
semantic("v_rcp_iflag_f32", approximate=_ULP, exact_on=_MEASURED_ON[F32])(
    _transcendental(transcendental.reciprocal, F32)
)


def _trigonometric(
    operation: Callable[..., Value], measured: Callable[[Value], Value], type: Type
) -> SemanticFunction:
    def run(i: Access) -> None:
        if i.generation >= Generation.GFX11:
            i.dst(0, measured(i.src(0, type)))
            return
        # GFX9 and earlier give sin = 0 and cos = 1 outside [-256, 256] revolutions.
        limit = 256.0 if i.generation <= Generation.GFX9 else None
        i.dst(0, operation(i.src(0, type), limit=limit))

    return run


for _type in (F16, F32):
    semantic(f"v_sin_{_type.name}", approximate=_ULP, exact_on=_MEASURED_ON[_type])(
        _trigonometric(transcendental.sine, transcendental_circular.sine, _type)
    )
    semantic(f"v_cos_{_type.name}", approximate=_ULP, exact_on=_MEASURED_ON[_type])(
        _trigonometric(transcendental.cosine, transcendental_circular.cosine, _type)
    )


@semantic("v_trig_preop_f64", any_rounding=True)
def _(i: Access) -> None:
    i.dst(0, transcendental.trig_preop(i.src(0, F64), i.src(1, I32)))


# -- division --------------------------------------------------------------------------------------


def _div_scale(type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        value, post = division.div_scale(i.src(0, type), i.src(1, type), i.src(2, type))
        i.dst(0, value)
        i.dst_mask(1, post)

    return run


def _div_fmas(type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b, c = (i.src(k, type) for k in range(3))
        i.dst(0, division.div_fmas(a, b, c, i.src_mask(), drop_tiny=i.drops_tiny(type)))

    return run


def _div_fixup(type: Type, *, legacy: bool = False) -> SemanticFunction:
    def run(i: Access) -> None:
        keep = preserves_half(i) if type is F16 and not legacy else None
        quotient, denominator, numerator = (i.src(k, type) for k in range(3))
        result = division.div_fixup(quotient, denominator, numerator, saturate=i.mode.fp16_overflow)
        i.dst(0, result, preserve=keep)

    return run


for _type in (F32, F64):
    semantic(f"v_div_scale_{_type.name}")(_div_scale(_type))
    semantic(f"v_div_fmas_{_type.name}")(_div_fmas(_type))
    semantic(f"v_div_fixup_{_type.name}", any_rounding=True)(_div_fixup(_type))
semantic("v_div_fixup_f16")(_div_fixup(F16))
semantic("v_div_fixup_legacy_f16")(_div_fixup(F16, legacy=True))


# -- cube maps -------------------------------------------------------------------------------------


def _cube_axes(i: Access) -> tuple[Value, Value, Value, Value, Value]:
    """The coordinates x, y and z; whether z is the major axis; and if it is not, whether y is."""
    x, y, z = (i.src(k, F32, flush=False) for k in range(3))
    # Flushed magnitudes are compared.
    ax, ay, az = (i.flush(v).fabs() for v in (x, y, z))
    return x, y, z, az.fge(ax) & az.fge(ay), ay.fge(ax)


def _negative(v: Value) -> Value:
    """Whether the number is below zero; zeros, subnormals and NaNs are not."""
    return v.flt(0.0) & ~floats.is_subnormal_or_zero(v)


@semantic("v_cubeid_f32", any_rounding=True)
def _(i: Access) -> None:
    x, y, z, z_major, y_major = _cube_axes(i)

    def face(v: Value, number: float) -> Value:
        return _negative(v).select(i.const(number + 1.0, F32), number)

    i.dst(0, z_major.select(face(z, 4.0), y_major.select(face(y, 2.0), face(x, 0.0))))


@semantic("v_cubesc_f32", any_rounding=True)
def _(i: Access) -> None:
    x, _, z, z_major, y_major = _cube_axes(i)
    by_z = _negative(z).select(-x, x)
    by_x = _negative(x).select(z, -z)
    chosen = z_major.select(by_z, y_major.select(x, by_x))
    i.dst(0, floats.arithmetic(chosen, chosen))


@semantic("v_cubetc_f32", any_rounding=True)
def _(i: Access) -> None:
    _, y, z, z_major, y_major = _cube_axes(i)
    by_y = _negative(y).select(-z, z)
    chosen = z_major.select(-y, y_major.select(by_y, -y))
    i.dst(0, floats.arithmetic(chosen, chosen))


@semantic("v_cubema_f32")
def _(i: Access) -> None:
    x, y, z, z_major, y_major = _cube_axes(i)
    major = i.flush(z_major.select(z, y_major.select(y, x)))
    doubled = floats.add(major, major)
    negative_zero = i.mode.round32 == 2  # kept only when rounding down
    i.dst(0, doubled if negative_zero else doubled.eq(0.0).select(0.0, doubled))
