"""Integer arithmetic of the vector unit: add, subtract, carry chains, multiply, multiply-add, minimum, maximum, median,
sums of absolute differences."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.arch.targets import Generation
from rocdbg.sim.core.builder import I16, I32, I64, I128, Type, Value
from rocdbg.sim.semantics import integers
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import SemanticFunction, semantic
from rocdbg.sim.semantics.valu_float import preserves_half

# -- add and subtract without carry ----------------------------------------------------------------
#
# The clamp bit saturates; the name says whether signed or unsigned. gfx9's v_add_u32 is gfx10's v_add_nc_u32.


def _add(type: Type, *, signed: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b = i.src(0, type), i.src(1, type)
        if i.clamp:
            i.dst(0, a.sadd_sat(b) if signed else a.uadd_sat(b), preserve=_keep(i, type, signed))
        else:
            i.dst(0, a + b, preserve=_keep(i, type, signed))

    return run


def _subtract(type: Type, *, signed: bool, swap: bool = False) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b = i.src(0, type), i.src(1, type)
        if swap:
            a, b = b, a
        if i.clamp:
            i.dst(0, a.ssub_sat(b) if signed else a.usub_sat(b), preserve=_keep(i, type, signed))
        else:
            i.dst(0, a - b, preserve=_keep(i, type, signed))

    return run


def _keep(i: Access, type: Type, signed: bool) -> bool | None:
    """v_add_i16 and v_sub_i16 came with GFX9 as VOP3 with op_sel; the _u16 instructions are older VOP2 ones."""
    return preserves_half(i) if type is I16 and signed else None


semantic("v_add_nc_u32")(_add(I32, signed=False))
semantic("v_sub_nc_u32")(_subtract(I32, signed=False))
semantic("v_subrev_nc_u32")(_subtract(I32, signed=False, swap=True))
semantic("v_add_nc_i32")(_add(I32, signed=True))
semantic("v_sub_nc_i32")(_subtract(I32, signed=True))
semantic("v_add_u16", "v_add_nc_u16")(_add(I16, signed=False))
semantic("v_sub_u16", "v_sub_nc_u16")(_subtract(I16, signed=False))
semantic("v_subrev_u16", "v_subrev_nc_u16")(_subtract(I16, signed=False, swap=True))
semantic("v_add_nc_u64")(_add(I64, signed=False))
semantic("v_sub_nc_u64")(_subtract(I64, signed=False))
semantic("v_add_i16", "v_add_nc_i16")(_add(I16, signed=True))
semantic("v_sub_i16", "v_sub_nc_i16")(_subtract(I16, signed=True))


# -- with carry ------------------------------------------------------------------------------------


def _carry_add(*, carry_in: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        total, carry = integers.add_carry(i.src(0), i.src(1), i.src_mask(2) if carry_in else None)
        i.dst(0, carry.select(-1, total) if i.clamp else total)
        i.dst_mask(1, carry)

    return run


def _carry_subtract(*, carry_in: bool, swap: bool = False) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b = i.src(0), i.src(1)
        if swap:
            a, b = b, a
        total, borrow = integers.subtract_borrow(a, b, i.src_mask(2) if carry_in else None)
        i.dst(0, borrow.select(0, total) if i.clamp else total)
        i.dst_mask(1, borrow)

    return run


def _older(before: Generation, carry: SemanticFunction, plain: SemanticFunction) -> SemanticFunction:
    """The semantic of a name that meant addition or subtraction with carry before some generation."""
    return lambda i: (carry if i.generation < before else plain)(i)


# GFX6 and GFX7 call them v_add_i32 and so on, GFX8 v_add_u32; on GFX9 these names mean operations without carry.
for _stem, _carries, _plain in (
    ("add", _carry_add(carry_in=False), _add),
    ("sub", _carry_subtract(carry_in=False), _subtract),
):
    for _letter, _since in (("u", Generation.GFX9), ("i", Generation.GFX8)):
        semantic(f"v_{_stem}_{_letter}32")(_older(_since, _carries, _plain(I32, signed=_letter == "i")))
_reversed = _carry_subtract(carry_in=False, swap=True)
semantic("v_subrev_u32")(_older(Generation.GFX9, _reversed, _subtract(I32, signed=False, swap=True)))
semantic("v_subrev_i32")(_reversed)
semantic("v_addc_u32")(_carry_add(carry_in=True))
semantic("v_subb_u32")(_carry_subtract(carry_in=True))
semantic("v_subbrev_u32")(_carry_subtract(carry_in=True, swap=True))
semantic("v_add_co_u32")(_carry_add(carry_in=False))
semantic("v_sub_co_u32")(_carry_subtract(carry_in=False))
semantic("v_subrev_co_u32")(_carry_subtract(carry_in=False, swap=True))
semantic("v_addc_co_u32", "v_add_co_ci_u32")(_carry_add(carry_in=True))
semantic("v_subb_co_u32", "v_sub_co_ci_u32")(_carry_subtract(carry_in=True))
semantic("v_subbrev_co_u32", "v_subrev_co_ci_u32")(_carry_subtract(carry_in=True, swap=True))


# -- multiply --------------------------------------------------------------------------------------


@semantic("v_mul_lo_u32", "v_mul_lo_i32")
def _(i: Access) -> None:
    i.dst(0, i.src(0) * i.src(1))


@semantic("v_mul_u64")
def _(i: Access) -> None:
    i.dst(0, i.src(0, I64) * i.src(1, I64))


@semantic("v_mul_hi_u32")
def _(i: Access) -> None:
    i.dst(0, integers.multiply_high(i.src(0), i.src(1), signed=False))


@semantic("v_mul_hi_i32")
def _(i: Access) -> None:
    i.dst(0, integers.multiply_high(i.src(0), i.src(1), signed=True))


@semantic("v_mul_lo_u16")
def _(i: Access) -> None:
    i.dst(0, i.src(0, I16) * i.src(1, I16))


def _low24(i: Access, k: int, *, signed: bool) -> Value:
    return integers.field(i.src(k), 0, 24, signed=signed)


def _product24(i: Access, *, signed: bool) -> Value:
    """The 48-bit product of two 24-bit sources, I64."""
    a, b = _low24(i, 0, signed=signed), _low24(i, 1, signed=signed)
    return integers.extend(a, I64, signed=signed) * integers.extend(b, I64, signed=signed)


def _multiply24(*, signed: bool, high: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        if high:
            i.dst(0, _product24(i, signed=signed).lshr(32).trunc(I32))
        else:
            i.dst(0, _low24(i, 0, signed=signed) * _low24(i, 1, signed=signed))

    return run


semantic("v_mul_u32_u24")(_multiply24(signed=False, high=False))
semantic("v_mul_i32_i24")(_multiply24(signed=True, high=False))
semantic("v_mul_hi_u32_u24")(_multiply24(signed=False, high=True))
semantic("v_mul_hi_i32_i24")(_multiply24(signed=True, high=True))


# -- multiply-add ----------------------------------------------------------------------------------


def _mad24(*, signed: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        if i.clamp:
            total = _product24(i, signed=signed) + integers.extend(i.src(2), I64, signed=signed)
            i.dst(0, integers.saturate(total, I32, signed=signed))
        else:
            i.dst(0, _low24(i, 0, signed=signed) * _low24(i, 1, signed=signed) + i.src(2))

    return run


semantic("v_mad_u32_u24")(_mad24(signed=False))
semantic("v_mad_i32_i24")(_mad24(signed=True))


def _mad16(*, signed: bool, legacy: bool = False) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b, c = (i.src(k, I16) for k in range(3))
        keep = None if legacy else preserves_half(i)
        if i.clamp:
            wide = [integers.extend(v, I64, signed=signed) for v in (a, b, c)]
            i.dst(0, integers.saturate(wide[0] * wide[1] + wide[2], I16, signed=signed), preserve=keep)
        else:
            i.dst(0, a * b + c, preserve=keep)

    return run


semantic("v_mad_u16")(_mad16(signed=False))
semantic("v_mad_i16")(_mad16(signed=True))
semantic("v_mad_legacy_u16")(_mad16(signed=False, legacy=True))
semantic("v_mad_legacy_i16")(_mad16(signed=True, legacy=True))


def _mad_wide16(*, signed: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b = (integers.extend(i.src(k, I16), I32, signed=signed) for k in range(2))
        c = i.src(2)
        if i.clamp:
            wide = [integers.extend(v, I64, signed=signed) for v in (a, b, c)]
            i.dst(0, integers.saturate(wide[0] * wide[1] + wide[2], I32, signed=signed))
        else:
            i.dst(0, a * b + c)

    return run


semantic("v_mad_u32_u16")(_mad_wide16(signed=False))
semantic("v_mad_i32_i16")(_mad_wide16(signed=True))


def _mad64(*, signed: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b = (integers.extend(i.src(k), I64, signed=signed) for k in range(2))
        c = i.src(2, I64)
        product = a * b
        total = product + c
        if signed:
            # The carry out is bit 64 of the 65-bit sum: the sign, corrected after an overflow.
            overflow = ((product ^ total) & (c ^ total)).slt(0)
            carry = total.slt(0) ^ overflow
            limit = carry.select(i.const(-(1 << 63), I64), (1 << 63) - 1)
            result = overflow.select(limit, total) if i.clamp else total
        else:
            carry = total.ult(product)
            result = carry.select(-1, total) if i.clamp else total
        i.dst(0, result)
        i.dst_mask(1, carry)

    return run


semantic("v_mad_u64_u32", "v_mad_co_u64_u32")(_mad64(signed=False))
semantic("v_mad_i64_i32", "v_mad_co_i64_i32")(_mad64(signed=True))


def _mad_plain(type: Type, *, signed: bool) -> SemanticFunction:
    """gfx125x's multiply-add of 32-bit factors without carry; ``type`` is the sum's."""

    def run(i: Access) -> None:
        a, b = (integers.extend(i.src(k), I64, signed=signed) for k in range(2))
        c = integers.extend(i.src(2, type), I128, signed=signed) if i.clamp else None
        if c is not None:
            product = integers.extend(a * b, I128, signed=signed)
            i.dst(0, integers.saturate(product + c, type, signed=signed))
        else:
            i.dst(0, a * b + i.src(2, I64) if type is I64 else i.src(0) * i.src(1) + i.src(2))

    return run


semantic("v_mad_u32")(_mad_plain(I32, signed=False))
semantic("v_mad_nc_u64_u32")(_mad_plain(I64, signed=False))
semantic("v_mad_nc_i64_i32")(_mad_plain(I64, signed=True))


# -- minimum, maximum, median ----------------------------------------------------------------------

Two = Callable[[Value, Value], Value]

_CHOICE: dict[tuple[str, str], Two] = {
    ("min", "u"): lambda a, b: a.umin(b),
    ("max", "u"): lambda a, b: a.umax(b),
    ("min", "i"): lambda a, b: a.smin(b),
    ("max", "i"): lambda a, b: a.smax(b),
}


def _select(inner: Two, outer: Two | None, type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        result = inner(i.src(0, type), i.src(1, type))
        if outer is None:
            i.dst(0, result)
        else:
            i.dst(0, outer(result, i.src(2, type)), preserve=preserves_half(i) if type is I16 else None)

    return run


def _median(low: Two, high: Two, type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b, c = (i.src(k, type) for k in range(3))
        middle = high(low(a, b), low(high(a, b), c))
        i.dst(0, middle, preserve=preserves_half(i) if type is I16 else None)

    return run


for _letter in "ui":
    _low, _high = _CHOICE["min", _letter], _CHOICE["max", _letter]
    for _type in (I16, I32):
        _end = f"{_letter}{_type.bits}"
        semantic(f"v_min_{_end}")(_select(_low, None, _type))
        semantic(f"v_max_{_end}")(_select(_high, None, _type))
        semantic(f"v_min3_{_end}")(_select(_low, _low, _type))
        semantic(f"v_max3_{_end}")(_select(_high, _high, _type))
        semantic(f"v_med3_{_end}")(_median(_low, _high, _type))
    semantic(f"v_min_{_letter}64")(_select(_low, None, I64))
    semantic(f"v_max_{_letter}64")(_select(_high, None, I64))
    semantic(f"v_minmax_{_letter}32")(_select(_low, _high, I32))
    semantic(f"v_maxmin_{_letter}32")(_select(_high, _low, I32))


# -- add, then minimum or maximum (gfx125x): the clamp bit saturates the sum --------------------------------------


def _add_select(outer: Two, type: Type, *, signed: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b = i.src(0, type), i.src(1, type)
        total = (a.sadd_sat(b) if signed else a.uadd_sat(b)) if i.clamp else a + b
        i.dst(0, outer(total, i.src(2, type)))

    return run


for _letter in "ui":
    for _which in ("min", "max"):
        semantic(f"v_add_{_which}_{_letter}32")(
            _add_select(_CHOICE[_which, _letter], I32, signed=_letter == "i")
        )


# -- sums of absolute differences ------------------------------------------------------------------


def _clamped_sum(i: Access, amount: Value, total: Value) -> None:
    i.dst(0, total.uadd_sat(amount) if i.clamp else total + amount)


@semantic("v_sad_u8")
def _(i: Access) -> None:
    _clamped_sum(i, integers.sad_u8(i.src(0), i.src(1), i.const(0)), i.src(2))


@semantic("v_sad_hi_u8")
def _(i: Access) -> None:
    _clamped_sum(i, integers.sad_u8(i.src(0), i.src(1), i.const(0)).shl(16), i.src(2))


@semantic("v_msad_u8")
def _(i: Access) -> None:
    _clamped_sum(i, integers.sad_u8(i.src(0), i.src(1), i.const(0), masked=True), i.src(2))


@semantic("v_sad_u16")
def _(i: Access) -> None:
    a, b = i.src(0), i.src(1)
    amount = integers.difference(a & 0xFFFF, b & 0xFFFF) + integers.difference(a.lshr(16), b.lshr(16))
    _clamped_sum(i, amount, i.src(2))


@semantic("v_sad_u32")
def _(i: Access) -> None:
    _clamped_sum(i, integers.difference(i.src(0), i.src(1)), i.src(2))


def _quad_sad16(*, masked: bool) -> SemanticFunction:
    """Four sums over byte windows that slide by one byte over the 64-bit source 0, each 16 bits wide."""

    def run(i: Access) -> None:
        window, reference, totals = i.src(0, I64), i.src(1), i.src(2, I64)
        result = i.const(0, I64)
        for n in range(4):
            part = window.lshr(8 * n).trunc(I32) if n else window.trunc(I32)
            total = totals.lshr(16 * n).trunc(I32) & 0xFFFF if n else totals.trunc(I32) & 0xFFFF
            sad = integers.sad_u8(part, reference, total, masked=masked)
            sad = sad.umin(0xFFFF) if i.clamp else sad & 0xFFFF
            result = result | (sad.zext(I64).shl(16 * n) if n else sad.zext(I64))
        i.dst(0, result)

    return run


semantic("v_qsad_pk_u16_u8")(_quad_sad16(masked=False))
semantic("v_mqsad_pk_u16_u8")(_quad_sad16(masked=True))


@semantic("v_mqsad_u32_u8")
def _(i: Access) -> None:
    window, reference = i.src(0, I64), i.src(1)
    totals = [i.dword(i.sources[2], n) for n in range(4)]
    sums = []
    for n in range(4):
        part = window.lshr(8 * n).trunc(I32) if n else window.trunc(I32)
        amount = integers.sad_u8(part, reference, i.const(0), masked=True)
        sums.append(totals[n].uadd_sat(amount) if i.clamp else totals[n] + amount)
    wide = i.const(0, I128)
    for n, total in enumerate(sums):
        wide = wide | (total.zext(I128).shl(32 * n) if n else total.zext(I128))
    i.dst(0, wide)


@semantic("v_lerp_u8")
def _(i: Access) -> None:
    """Mean of bytes; the lowest bit of each byte of source 2 decides whether a half rounds up."""
    a, b, c = i.src(0), i.src(1), i.src(2)
    result = i.const(0)
    for n in range(4):
        mean = (integers.field(a, 8 * n, 8) + integers.field(b, 8 * n, 8) + integers.field(c, 8 * n, 1)).lshr(
            1
        )
        result = result | (mean.shl(8 * n) if n else mean)
    i.dst(0, result)
