"""gfx950's conversions between f32, f16, bf16 and the small float formats, with a scale: v_cvt_scalef32_*.

The scale is the exponent field of an f32: the small numbers are in units of 2**(field - 127); 255 produces NaNs. A
conversion rounds once, after applying the scale, regardless of the MODE bits for rounding and subnormals. NaNs,
infinities and random bits are treated as in the host code of AMD's HIP headers.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rocdbg.isa.instruction import Operand
from rocdbg.sim.core.builder import F16, F32, F64, FLOAT, I16, I32, I64, Value
from rocdbg.sim.semantics.access import Access, vector_number
from rocdbg.sim.semantics.float8 import Float8, formats, round_scaled, widen
from rocdbg.sim.semantics.floats import power_of_two
from rocdbg.sim.semantics.registry import SemanticFunction, semantic

FRACTION_BITS = {"f32": 23, "f16": 10, "bf16": 7}
"""Fraction bits of the wide formats."""
_SIZE = {"f32": 32, "f16": 16, "bf16": 16}
_NAN = {"f32": 0x7FC00000, "f16": 0x7E00, "bf16": 0x7FC0}


def _scale(i: Access, k: int) -> tuple[Value, Value]:
    """The exponent of the scale in source ``k`` (I32, signed), and whether the scale is NaN."""
    field = i.src(k, F32, flush=False).bits().lshr(23) & 0xFF
    return field - 127, field.eq(0xFF)


class _Wide(Struct, frozen=True):
    """A number: its value (f64) and its sign (I1), which the f64 may have lost if it is a NaN."""

    value: Value
    negative: Value


def _wide(kind: str, bits: Value) -> _Wide:
    """The number that the bits (I32; f16 and bf16 in the low half) of a wide format represent."""
    if kind == "f16":
        return _Wide(bits.trunc(I16).bitcast(F16).fpext(F64), (bits & 0x8000).ne(0))
    word = bits.shl(16) if kind == "bf16" else bits
    return _Wide(word.bitcast(F32).fpext(F64), word.slt(0))


def _wide_bits(kind: str, number: _Wide) -> Value:
    """A number rounded to a wide format, as its bits (I32)."""
    wide, top = number.value, 1 << _SIZE[kind] - 1
    if kind == "bf16":
        # Round to f32 first, making inexact results odd, so that rounding again equals rounding once.
        near = wide.fptrunc(F32)
        bits = near.bits()
        inexact = near.fpext(F64).ne(wide)
        past = near.fpext(F64).fabs().fgt(wide.fabs())
        bits = inexact.select(past.select(bits - 1, bits) | 1, bits)
        value = (bits + 0x7FFF + (bits.lshr(16) & 1)).lshr(16) & 0x7FFF
    else:
        value = wide.fptrunc(FLOAT[_SIZE[kind]]).bits().zext(I32) & top - 1
    sign = number.negative.select(wide.builder.const(top, I32), 0)
    return wide.is_nan().select(_NAN[kind], value) | sign


def _widened(form: Float8, code: Value, scale: tuple[Value, Value], kind: str) -> Value:
    """A small number times the scale, as the bits of a wide format."""
    negative = (code & form.sign).ne(0)
    scaled = widen(code, form).fpext(F64) * power_of_two(scale[0], F64)
    nan = code.builder.const(float("nan"), F64)
    return _wide_bits(kind, _Wide(scale[1].select(nan, scaled), negative))


def _narrowed(
    i: Access, form: Float8, number: _Wide, scale: tuple[Value, Value], noise: tuple[Value, int] | None = None
) -> Value:
    """A number divided by the scale, as the bits of a small format (I32)."""
    scaled = number.value * power_of_two(-scale[0], F64)
    nan = i.const(float("nan"), F64)
    saturate = form.bits < 8 or i.mode.fp16_overflow
    return round_scaled(scale[1].select(nan, scaled), number.negative, form, saturate=saturate, noise=noise)


def prng(word: Value) -> Value:
    """One step of v_prng_b32."""
    return word.shl(1) ^ word.slt(0).select(word.builder.const(197, I32), 0)


def _noise(i: Access, kind: str) -> Iterator[tuple[Value, int]]:
    """The random bits for each number in turn."""
    word = i.src(1)
    while True:
        yield word, FRACTION_BITS[kind]
        word = prng(word)


# -- one or two numbers ----------------------------------------------------------------------------


def _place(i: Access, code: Value, bits: int) -> None:
    """Write ``bits`` bits into the byte or half of the destination that op_sel[3:2] names; the others are kept."""
    select, field = i.modifier("op_sel"), (1 << bits) - 1
    shift = 16 * (select >> 3 & 1) if bits == 16 else 8 * (select >> 2 & 3)
    i.dst(0, i.old(0) & ~(field << shift) & 0xFFFFFFFF | (code & field).shl(shift))


def _piece(i: Access, bits: int) -> Value:
    """The byte or half of source 0 that op_sel[1:0] names, in the low bits."""
    select, word = i.modifier("op_sel"), i.raw_operand(i.sources[0])
    shift = 16 * (select & 1) if bits == 16 else 8 * (select & 3)
    return word.lshr(shift) if shift else word


def _numbers(i: Access, kind: str, operands: int) -> tuple[list[_Wide], int]:
    """The two numbers to be narrowed, and the index of the next source: two f32 sources (or a pair, if ``operands`` is
    1), or the halves of one source."""
    if kind != "f32":
        word = i.raw_operand(i.sources[0])
        return [_wide(kind, word), _wide(kind, word.lshr(16))], 1
    if operands == 2:
        return [_wide(kind, i.src(k, F32, flush=False).bits()) for k in range(2)], 2
    return [_wide(kind, i.dword(i.sources[0], k)) for k in range(2)], 1


def _narrow_pair(small: str, kind: str) -> SemanticFunction:
    def run(i: Access) -> None:
        form = formats(i.target)[small]
        numbers, next_source = _numbers(i, kind, 2)
        scale = _scale(i, next_source)
        low, high = (_narrowed(i, form, number, scale) for number in numbers)
        width = 8 if form.bits == 4 else 16
        _place(i, low | high.shl(width // 2), width)

    return run


def _narrow_pair_stochastic(small: str, kind: str) -> SemanticFunction:
    def run(i: Access) -> None:
        form = formats(i.target)[small]
        numbers, _ = _numbers(i, kind, 1)
        noise, scale = _noise(i, kind), _scale(i, 2)
        low, high = (_narrowed(i, form, number, scale, next(noise)) for number in numbers)
        _place(i, low | high.shl(4), 8)

    return run


def _narrow_one_stochastic(small: str, kind: str) -> SemanticFunction:
    def run(i: Access) -> None:
        form = formats(i.target)[small]
        if kind == "bf16":
            number = _wide(kind, i.src(0, I16).zext(I32))
        else:
            number = _wide(kind, i.src(0, FLOAT[_SIZE[kind]], flush=False).bits().zext(I32))
        _place(i, _narrowed(i, form, number, _scale(i, 2), next(_noise(i, kind))), 8)

    return run


def _widen_one(small: str, kind: str) -> SemanticFunction:
    def run(i: Access) -> None:
        bits = _widened(formats(i.target)[small], _piece(i, 8), _scale(i, 1), kind)
        i.dst(0, bits if kind == "f32" else bits.trunc(I16), preserve=True)

    return run


def _widen_pair(small: str, kind: str) -> SemanticFunction:
    def run(i: Access) -> None:
        form = formats(i.target)[small]
        piece, scale = _piece(i, 2 * form.bits), _scale(i, 1)
        low, high = (_widened(form, piece.lshr(n * form.bits), scale, kind) for n in range(2))
        if kind == "f32":
            i.dst(0, low.zext(I64) | high.zext(I64).shl(32))
        else:
            i.dst(0, low | high.shl(16))

    return run


for _small in ("fp8", "bf8"):
    for _kind in ("f32", "f16", "bf16"):
        semantic(f"v_cvt_scalef32_pk_{_small}_{_kind}", any_rounding=True)(_narrow_pair(_small, _kind))
        semantic(f"v_cvt_scalef32_sr_{_small}_{_kind}", any_rounding=True)(
            _narrow_one_stochastic(_small, _kind)
        )
        semantic(f"v_cvt_scalef32_pk_{_kind}_{_small}", any_rounding=True)(_widen_pair(_small, _kind))
        if _kind != "bf16":
            semantic(f"v_cvt_scalef32_{_kind}_{_small}", any_rounding=True)(_widen_one(_small, _kind))
for _kind in ("f32", "f16", "bf16"):
    semantic(f"v_cvt_scalef32_pk_fp4_{_kind}", any_rounding=True)(_narrow_pair("fp4", _kind))
    semantic(f"v_cvt_scalef32_sr_pk_fp4_{_kind}", any_rounding=True)(_narrow_pair_stochastic("fp4", _kind))
    semantic(f"v_cvt_scalef32_pk_{_kind}_fp4", any_rounding=True)(_widen_pair("fp4", _kind))


# -- thirty-two numbers of 6 bits ------------------------------------------------------------------


def _write_row(i: Access, codes: list[Value], bits: int) -> None:
    """Numbers of ``bits`` bits side by side into the destination's registers."""
    destination = i.destinations[0]
    words: list[Value | None] = [None] * (len(codes) * bits // 32)

    def put(word: int, part: Value) -> None:
        known = words[word]
        words[word] = part if known is None else known | part

    for n, code in enumerate(codes):
        word, shift = divmod(n * bits, 32)
        put(word, code.shl(shift))
        if shift + bits > 32:
            put(word + 1, code.lshr(32 - shift))
    for n, value in enumerate(words):
        assert value is not None
        i.b.write_vgpr(vector_number(destination, len(words)) + n, value)


def _wide_row(i: Access, operand: Operand, kind: str, numbers: int) -> list[_Wide]:
    """The numbers of a wide source."""
    if kind == "f32":
        return [_wide(kind, i.dword(operand, n)) for n in range(numbers)]
    words = [i.dword(operand, n) for n in range(numbers // 2)]
    return [_wide(kind, words[n // 2].lshr(16) if n & 1 else words[n // 2]) for n in range(numbers)]


def _narrow_row(small: str, kind: str, *, stochastic: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        form = formats(i.target)[small]
        if kind == "f32" and not stochastic:  # two sources of 16, interleaved
            first, second = (_wide_row(i, operand, kind, 16) for operand in i.sources[:2])
            numbers = [number for pair in zip(first, second, strict=True) for number in pair]
        else:
            numbers = _wide_row(i, i.sources[0], kind, 32)
        scale = _scale(i, len(i.sources) - 1)
        if stochastic:
            noise = _noise(i, kind)
            codes = [_narrowed(i, form, number, scale, next(noise)) for number in numbers]
        else:
            codes = [_narrowed(i, form, number, scale) for number in numbers]
        _write_row(i, codes, 6)

    return run


def _widen_row(small: str, kind: str) -> SemanticFunction:
    def run(i: Access) -> None:
        form, scale = formats(i.target)[small], _scale(i, 1)
        words = [i.dword(i.sources[0], n) for n in range(6)]
        rows = []
        for n in range(32):
            word, shift = divmod(6 * n, 32)
            code = words[word].lshr(shift)
            if shift > 26:
                code = code | words[word + 1].shl(32 - shift)
            rows.append(_widened(form, code, scale, kind))
        _write_row(i, rows, _SIZE[kind])

    return run


for _small in ("fp6", "bf6"):
    for _kind in ("f32", "f16", "bf16"):
        _name = f"2xpk16_{_small}_f32" if _kind == "f32" else f"pk32_{_small}_{_kind}"
        semantic(f"v_cvt_scalef32_{_name}", any_rounding=True)(_narrow_row(_small, _kind, stochastic=False))
        semantic(f"v_cvt_scalef32_sr_pk32_{_small}_{_kind}", any_rounding=True)(
            _narrow_row(_small, _kind, stochastic=True)
        )
        semantic(f"v_cvt_scalef32_pk32_{_kind}_{_small}", any_rounding=True)(_widen_row(_small, _kind))


# -- without a scale -------------------------------------------------------------------------------

_SEED = "which random bits count is not public: taken to be the topmost, as in the conversions to 8 bits"


_F16 = Float8(10, 15, 0x7BFF, 0x7E00, 0x7C00, True, 16)
_BF16 = Float8(7, 127, 0x7F7F, 0x7FC0, 0x7F80, True, 16)


def _stochastic_half(form: Float8) -> SemanticFunction:
    """f32 to f16 or bf16: add the random bits below the last bit kept, and truncate the sum."""

    def run(i: Access) -> None:
        number = _wide("f32", i.src(0, F32, flush=False).bits())
        noise = i.src(1), FRACTION_BITS["f32"]
        code = round_scaled(number.value, number.negative, form, saturate=False, noise=noise)
        i.dst(0, code.trunc(I16), preserve=True)

    return run


semantic("v_cvt_sr_f16_f32", any_rounding=True, approximate=_SEED)(_stochastic_half(_F16))
semantic("v_cvt_sr_bf16_f32", any_rounding=True, approximate=_SEED)(_stochastic_half(_BF16))
