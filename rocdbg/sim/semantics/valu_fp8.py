"""Conversions between f32 and the 8-bit float formats."""

from __future__ import annotations

from rocdbg.sim.core.builder import F16, F32, F64, I8, I16, I32, Value
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.float8 import Float8, formats, narrow, round_scaled, widen
from rocdbg.sim.semantics.floats import convert
from rocdbg.sim.semantics.registry import SemanticFunction, semantic


def _byte(word: Value, number: int) -> Value:
    return (word.lshr(8 * number) if number else word).trunc(I8)


def _to_f32(kind: str) -> SemanticFunction:
    """Convert one byte: the one that SDWA selects on GFX9, or op_sel's two low bits, in reverse order, on GFX12."""

    def run(i: Access) -> None:
        if "src0_sel" in i.insn.modifiers:
            byte = i.src(0, I8)
        else:
            select = i.modifier("op_sel") & 3
            byte = _byte(i.raw_operand(i.sources[0]), select >> 1 | (select & 1) << 1)
        i.dst(0, widen(byte, formats(i.target)[kind]))

    return run


def _pair_to_f32(kind: str) -> SemanticFunction:
    """Convert two bytes of a half into a pair of registers."""

    def run(i: Access) -> None:
        half = i.src(0, I16)
        form = formats(i.target)[kind]
        i.dst_packed(widen(half.trunc(I8), form), widen(half.lshr(8).trunc(I8), form))

    return run


def _to_f16(kind: str, *, packed: bool) -> SemanticFunction:
    """gfx125x: convert one byte, or two bytes of a half; every number is representable."""

    def run(i: Access) -> None:
        form, half = formats(i.target)[kind], i.src(0, I16) if packed else None
        if half is not None:
            low, high = (convert(widen(byte, form), F16) for byte in (half.trunc(I8), half.lshr(8).trunc(I8)))
            i.dst_packed(low, high)
        else:
            select = i.modifier("op_sel") & 3
            byte = _byte(i.raw_operand(i.sources[0]), select >> 1 | (select & 1) << 1)
            i.dst(0, convert(widen(byte, form), F16))

    return run


def _from_f32(kind: str) -> SemanticFunction:
    """Convert two numbers into the half of the destination that op_sel names; the other half is kept."""

    def run(i: Access) -> None:
        form = formats(i.target)[kind]
        low, high = (narrow(i.src(k, F32), form, saturate=i.mode.fp16_overflow) for k in range(2))
        i.dst(0, low.zext(I16) | high.zext(I16).shl(8), preserve=True)

    return run


for _kind in ("fp8", "bf8"):
    semantic(f"v_cvt_f32_{_kind}", any_rounding=True)(_to_f32(_kind))
    semantic(f"v_cvt_pk_f32_{_kind}", any_rounding=True)(_pair_to_f32(_kind))
    semantic(f"v_cvt_pk_{_kind}_f32", any_rounding=True)(_from_f32(_kind))
    semantic(f"v_cvt_f16_{_kind}", any_rounding=True)(_to_f16(_kind, packed=False))
    semantic(f"v_cvt_pk_f16_{_kind}", any_rounding=True)(_to_f16(_kind, packed=True))


def _add_noise_gfx9(value: Value, noise: Value, form: Float8, *, saturate: bool) -> Value:
    """Add the top bits of ``noise`` (20, or 21 for bf8) to the fraction, which wraps, and round the sum."""
    bits, added = value.bits(), noise.lshr(9 + form.fraction_bits)
    moved = bits & 0xFF800000 | (bits + added) & 0x7FFFFF
    special = (bits & 0x7F800000).eq(0x7F800000)
    return narrow(special.select(bits, moved).bitcast(F32), form, saturate=saturate)


def _add_noise(value: Value, noise: Value, form: Float8, *, saturate: bool) -> Value:
    """Add the top bits of ``noise`` below the last bit kept, also for a subnormal result, and truncate the sum
    (measured on gfx1201)."""
    negative = value.bits().slt(0)
    code = round_scaled(value.fpext(F64), negative, form, saturate=saturate, noise=(noise, 23))
    overflow = form.nan if form.infinity is None else form.infinity
    infinite = (value.bits() & 0x7FFFFFFF).eq(0x7F800000)
    code = infinite.select(overflow & 0x7F | (code & 0x80), code)
    return value.is_nan().select(form.nan, code).trunc(I8)


def _stochastic(kind: str) -> SemanticFunction:
    """Stochastic rounding: source 1 is the noise. The result goes to the byte of the destination that op_sel[3:2]
    names."""

    def run(i: Access) -> None:
        add = _add_noise if i.generation >= 12 else _add_noise_gfx9
        byte = add(i.src(0, F32), i.src(1), formats(i.target)[kind], saturate=i.mode.fp16_overflow)
        shift = 8 * (i.modifier("op_sel") >> 2 & 3)
        i.dst(0, i.old(0) & ~(0xFF << shift) & 0xFFFFFFFF | byte.zext(I32).shl(shift))

    return run


for _kind in ("fp8", "bf8"):
    semantic(f"v_cvt_sr_{_kind}_f32", any_rounding=True)(_stochastic(_kind))
