"""Conversions of the vector unit between integers and floats of all widths, normalised and packed forms."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import F16, F32, F64, I8, I16, I32, Type, Value
from rocdbg.sim.semantics import floats, integers
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import SemanticFunction, semantic

# -- float to integer: toward zero, saturating, NaN to 0 -------------------------------------------


def _to_integer(source: Type, target: Type, *, signed: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        value = i.src(0, source)
        i.dst(0, value.fptosi(target) if signed else value.fptoui(target))

    return run


for _source in (F32, F64):
    semantic(f"v_cvt_i32_{_source.name}", any_rounding=True)(_to_integer(_source, I32, signed=True))
    semantic(f"v_cvt_u32_{_source.name}", any_rounding=True)(_to_integer(_source, I32, signed=False))
semantic("v_cvt_i16_f16", any_rounding=True)(_to_integer(F16, I16, signed=True))
semantic("v_cvt_u16_f16", any_rounding=True)(_to_integer(F16, I16, signed=False))


@semantic("v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32", any_rounding=True)
def _(i: Access) -> None:
    """floor(x + 1/2); the sum is exact in f64."""
    value = i.src(0, F32)
    i.dst(0, _nan_by_sign(value, (value.fpext(F64) + 0.5).floor().fptosi(I32)))


def _nan_by_sign(value: Value, number: Value) -> Value:
    """A conversion in which a NaN gives the largest integer of the NaN's sign (measured on gfx1201), not 0."""
    return value.is_nan().select(
        value.bits().slt(0).select(value.builder.const(1 << 31, I32), 0x7FFFFFFF), number
    )


@semantic("v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32", any_rounding=True)
def _(i: Access) -> None:
    value = i.src(0, F32)
    i.dst(0, _nan_by_sign(value, value.floor().fptosi(I32)))


# -- integer to float ------------------------------------------------------------------------------


def _from_integer(source: Type, target: Type, *, signed: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        value = i.src(0, source)
        i.dst(0, floats.from_integer(value, target, signed=signed))

    return run


for _target in (F32, F64):
    # Every 32-bit integer is exact in f64.
    semantic(f"v_cvt_{_target.name}_i32", any_rounding=_target is F64)(
        _from_integer(I32, _target, signed=True)
    )
    semantic(f"v_cvt_{_target.name}_u32", any_rounding=_target is F64)(
        _from_integer(I32, _target, signed=False)
    )
semantic("v_cvt_f16_i16")(_from_integer(I16, F16, signed=True))
semantic("v_cvt_f16_u16")(_from_integer(I16, F16, signed=False))


def _from_byte(number: int) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, integers.field(i.src(0), 8 * number, 8).uitofp(F32))

    return run


for _number in range(4):
    semantic(f"v_cvt_f32_ubyte{_number}", any_rounding=True)(_from_byte(_number))


@semantic("v_cvt_off_f32_i4", any_rounding=True)
def _(i: Access) -> None:
    """The signed low nibble, in units of one sixteenth."""
    i.dst(0, integers.field(i.src(0), 0, 4, signed=True).sitofp(F32) * 0.0625)


# -- float to float --------------------------------------------------------------------------------


def _resize(source: Type, target: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        value = i.src(0, source)
        result = floats.convert(value, target)
        if target.bits < source.bits and i.drops_tiny(target):
            result = i.without_tiny(result, floats.rounds_below_normal(value, target))
        i.dst(0, result)

    return run


semantic("v_cvt_f32_f16", any_rounding=True)(_resize(F16, F32))
semantic("v_cvt_f64_f32", any_rounding=True)(_resize(F32, F64))
semantic("v_cvt_f16_f32")(_resize(F32, F16))
semantic("v_cvt_f32_f64")(_resize(F64, F32))


@semantic("v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32", any_rounding=True)
def _(i: Access) -> None:
    i.dst_packed(*(floats.narrow_toward_zero(i.src(k, F32), F16) for k in range(2)))


@semantic("v_cvt_pk_f16_f32", any_rounding=True)
def _(i: Access) -> None:
    i.dst_packed(*(floats.convert(i.src(k, F32), F16) for k in range(2)))


def to_bfloat16(value: Value) -> Value:
    """f32 to the bits of bfloat16 (I16): ties to even, NaNs quiet."""
    bits = value.bits()
    rounded = (bits + 0x7FFF + (bits.lshr(16) & 1)).lshr(16)
    return value.is_nan().select(bits.lshr(16) | 0x40, rounded).trunc(I16)


def from_bfloat16(bits: Value) -> Value:
    """The bits of a bfloat16 (I16) as f32."""
    return bits.zext(I32).shl(16).bitcast(F32)


@semantic("v_cvt_f32_bf16", any_rounding=True)
def _(i: Access) -> None:
    i.dst(0, from_bfloat16(i.src(0, I16)))


@semantic("v_cvt_pk_bf16_f32", any_rounding=True)
def _(i: Access) -> None:
    i.dst_packed(*(to_bfloat16(i.src(k, F32)) for k in range(2)))


# -- normalised ------------------------------------------------------------------------------------


def _normalise(value: Value, *, signed: bool) -> Value:
    """Map [-1, 1] to [-32767, 32767], or [0, 1] to [0, 65535], as I16, with one rounding and saturation; NaN gives 0.
    """
    full = 32767.0 if signed else 65535.0
    scaled = (floats.convert(value, F64) * full).rint()  # the product is exact in f64
    return integers.saturate(scaled.fptosi(I32).smax(-32767), I16, signed=signed)


def _normalised(type: Type, *, signed: bool, packed: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        if packed:
            i.dst_packed(*(_normalise(i.src(k, type), signed=signed) for k in range(2)))
        else:
            i.dst(0, _normalise(i.src(0, type), signed=signed))

    return run


for _letter, _signed in (("i", True), ("u", False)):
    for _type in (F16, F32):
        _function = _normalised(_type, signed=_signed, packed=True)
        for _stem in ("pknorm", "pk_norm"):
            semantic(f"v_cvt_{_stem}_{_letter}16_{_type.name}", any_rounding=True)(_function)
    semantic(f"v_cvt_norm_{_letter}16_f16", any_rounding=True)(_normalised(F16, signed=_signed, packed=False))


# -- packing ---------------------------------------------------------------------------------------


def _pack16(convert: Callable[[Access, int], Value]) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst_packed(convert(i, 0), convert(i, 1))

    return run


semantic("v_cvt_pk_u16_u32")(_pack16(lambda i, k: i.src(k).umin(0xFFFF).trunc(I16)))
semantic("v_cvt_pk_i16_i32")(_pack16(lambda i, k: integers.saturate(i.src(k), I16, signed=True)))
semantic("v_cvt_pk_i16_f32", any_rounding=True)(_pack16(lambda i, k: i.src(k, F32).fptosi(I16)))
semantic("v_cvt_pk_u16_f32", any_rounding=True)(_pack16(lambda i, k: i.src(k, F32).fptoui(I16)))


def _insert_byte(i: Access, word: Value) -> None:
    """Insert source 0 as an unsigned byte (rounded as MODE says, saturating) as byte ``source 1 & 3`` of ``word``."""
    number = i.src(0, F32)
    whole = (Value.rint, Value.ceil, Value.floor, Value.ftrunc)[i.mode.round32](number)
    byte = whole.fptoui(I8).zext(I32)
    shift = (i.src(1) & 3).shl(3)
    i.dst(0, (word & ~i.const(0xFF).shl(shift)) | byte.shl(shift))


@semantic("v_cvt_pk_u8_f32", any_rounding=True)
def _(i: Access) -> None:
    _insert_byte(i, i.src(2))


@semantic("v_cvt_pkaccum_u8_f32", any_rounding=True)
def _(i: Access) -> None:
    _insert_byte(i, i.old(0))
