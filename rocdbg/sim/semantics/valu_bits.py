"""Bit operations of the vector unit: logic, shifts, bit fields, byte permutes and counting; moves and selects; and the
three-operand combinations of these with additions."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import F16, I8, I16, I32, I64, Type, Value
from rocdbg.sim.semantics import integers
from rocdbg.sim.semantics.access import Access, vector_number
from rocdbg.sim.semantics.registry import SemanticFunction, semantic
from rocdbg.sim.semantics.valu_float import preserves_half

Two = Callable[[Value, Value], Value]
Three = Callable[[Value, Value, Value], Value]


def _one(operation: Callable[[Value], Value], type: Type = I32) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, operation(i.src(0, type)))

    return run


def _two(operation: Two, type: Type = I32) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, operation(i.src(0, type), i.src(1, type)))

    return run


def _three(operation: Three, type: Type = I32) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, operation(i.src(0, type), i.src(1, type), i.src(2, type)))

    return run


# -- moves and selects -----------------------------------------------------------------------------


def _copy(type: Type) -> SemanticFunction:
    return _one(lambda a: a, type)


semantic("v_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32")(_copy(I32))
semantic("v_mov_b64")(_copy(I64))
semantic("v_mov_b16")(_copy(I16))


@semantic("v_swap_b32")
def _(i: Access) -> None:
    source, old = i.src(0), i.old(0)
    i.dst(0, source)
    i.b.write_vgpr(vector_number(i.sources[0]), old)


@semantic("v_swap_b16")
def _(i: Access) -> None:
    source, old = i.src(0, I16), i.old(0, I16)
    i.dst(0, source)
    operand = i.sources[0]
    word = i.b.read_vgpr(vector_number(operand))  # after the first write, because both halves may be in one register
    merged = (word & 0xFFFF) | old.zext(I32).shl(16) if operand.half else (word & 0xFFFF0000) | old.zext(I32)
    i.b.write_vgpr(vector_number(operand), merged)


@semantic("v_cndmask_b32")
def _(i: Access) -> None:
    i.dst(0, i.src_mask(2).select(i.src(1), i.src(0)))


@semantic("v_cndmask_b16")
def _(i: Access) -> None:
    i.dst(0, i.src_mask(2).select(i.src(1, I16), i.src(0, I16)))


# -- logic -----------------------------------------------------------------------------------------

for _suffix, _type in (("b32", I32), ("b16", I16)):
    semantic(f"v_and_{_suffix}")(_two(lambda a, b: a & b, _type))
    semantic(f"v_or_{_suffix}")(_two(lambda a, b: a | b, _type))
    semantic(f"v_xor_{_suffix}")(_two(lambda a, b: a ^ b, _type))
    semantic(f"v_not_{_suffix}")(_one(lambda a: ~a, _type))
semantic("v_xnor_b32")(_two(lambda a, b: ~(a ^ b)))
semantic("v_bfi_b32")(_three(lambda a, b, c: (a & b) | (~a & c)))
semantic("v_or3_b32")(_three(lambda a, b, c: a | b | c))
semantic("v_xor3_b32")(_three(lambda a, b, c: a ^ b ^ c))
semantic("v_and_or_b32")(_three(lambda a, b, c: (a & b) | c))


# -- shifts: the count is source 0, taken modulo the width -----------------------------------------


def _shift(operation: Two, type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        value = i.src(1, type)
        if type is I64:
            count = (i.src(0) & 63).zext(I64)
        else:
            count = i.src(0, type) & (type.bits - 1)
        i.dst(0, operation(value, count))

    return run


def _left(value: Value, count: Value) -> Value:
    return value.shl(count)


def _right(value: Value, count: Value) -> Value:
    return value.lshr(count)


def _arithmetic_right(value: Value, count: Value) -> Value:
    return value.ashr(count)


for _type in (I16, I32, I64):
    semantic(f"v_lshlrev_b{_type.bits}")(_shift(_left, _type))
    semantic(f"v_lshrrev_b{_type.bits}")(_shift(_right, _type))
    semantic(f"v_ashrrev_i{_type.bits}")(_shift(_arithmetic_right, _type))


def _align(amount: Callable[[Value], Value]) -> SemanticFunction:
    def run(i: Access) -> None:
        # The low bits of source 2 are used; on GFX11 and later, those of the half that op_sel names.
        i.dst(0, i.src(0).fshr(i.src(1), amount(i.src(2, I16).zext(I32))))

    return run


semantic("v_alignbit_b32")(_align(lambda c: c & 31))
semantic("v_alignbyte_b32")(_align(lambda c: (c & 3).shl(3)))

# -- with additions --------------------------------------------------------------------------------

semantic("v_add3_u32")(_three(lambda a, b, c: a + b + c))
semantic("v_xad_u32")(_three(lambda a, b, c: (a ^ b) + c))
semantic("v_lshl_add_u32")(_three(lambda a, b, c: a.shl(b & 31) + c))
semantic("v_add_lshl_u32")(_three(lambda a, b, c: (a + b).shl(c & 31)))
semantic("v_lshl_or_b32")(_three(lambda a, b, c: a.shl(b & 31) | c))


@semantic("v_lshl_add_u64")
def _(i: Access) -> None:
    i.dst(0, i.src(0, I64).shl((i.src(1) & 7).zext(I64)) + i.src(2, I64))


# -- bit fields ------------------------------------------------------------------------------------

semantic("v_bfe_u32")(_three(lambda a, b, c: integers.bit_field(a, b & 31, c & 31, signed=False)))
semantic("v_bfe_i32")(_three(lambda a, b, c: integers.bit_field(a, b & 31, c & 31, signed=True)))
semantic("v_bfm_b32")(_two(lambda a, b: (a.builder.const(1, I32).shl(a & 31) - 1).shl(b & 31)))
semantic("v_bfrev_b32")(_one(lambda a: a.bitreverse()))
semantic("v_ffbh_u32", "v_clz_i32_u32")(_one(lambda a: integers.find_first(a.ctlz(), 32)))
semantic("v_ffbl_b32", "v_ctz_i32_b32")(_one(lambda a: integers.find_first(a.cttz(), 32)))
semantic("v_ffbh_i32", "v_cls_i32")(_one(integers.leading_sign_bits))
semantic("v_bcnt_u32_b32")(_two(lambda a, b: a.ctpop() + b))


@semantic("v_mbcnt_lo_u32_b32")
def _(i: Access) -> None:
    """Count the bits of source 0 below this lane's own bit (for lanes 32 and up, all bits)."""
    lane = i.lane
    below = lane.uge(32).select(-1, i.const(1).shl(lane & 31) - 1)
    i.dst(0, (i.src(0) & below).ctpop() + i.src(1))


@semantic("v_mbcnt_hi_u32_b32")
def _(i: Access) -> None:
    lane = i.lane
    below = lane.ult(32).select(0, i.const(1).shl(lane & 31) - 1)
    i.dst(0, (i.src(0) & below).ctpop() + i.src(1))


# -- bytes -----------------------------------------------------------------------------------------


@semantic("v_perm_b32")
def _(i: Access) -> None:
    """Each byte of source 2 picks a byte of {source 0, source 1}: 0-7 byte, 8-11 sign of bytes 1, 3, 5, 7, 12 zero,
    greater values 0xff.
    """
    data = i.src(0).zext(I64).shl(32) | i.src(1).zext(I64)
    selectors = i.src(2)
    result = i.const(0)
    for n in range(4):
        select = integers.field(selectors, 8 * n, 8)
        byte = data.lshr((select & 7).shl(3).zext(I64)).trunc(I32) & 0xFF
        # Selectors 8..11 read the top bit of byte 2 * (selector - 8) + 1.
        sign_at = ((select & 3).shl(1) + 1).shl(3) + 7
        sign = data.lshr(sign_at.zext(I64)).trunc(I32) & 1
        byte = select.uge(8).select(sign * 0xFF, byte)
        byte = select.eq(12).select(0, byte)
        byte = select.uge(13).select(0xFF, byte)
        result = result | (byte.shl(8 * n) if n else byte)
    i.dst(0, result)


@semantic("v_pack_b32_f16", any_rounding=True)
def _(i: Access) -> None:
    # Numbers are subject to float modifiers and MODE's flushing, but are not rounded.
    i.dst(0, i.src(0, F16).bits().zext(I32) | i.src(1, F16).bits().zext(I32).shl(16))


@semantic("v_sat_pk_u8_i16")
def _(i: Access) -> None:
    word = i.src(0)
    low = word.trunc(I16).smax(0).smin(255)
    high = word.lshr(16).trunc(I16).smax(0).smin(255)
    i.dst(0, low | high.shl(8))


def _shift_pack(low: int, high: int) -> SemanticFunction:
    def run(i: Access) -> None:
        count = i.src(2) & 31
        parts = [i.src(k).ashr(count).smax(low).smin(high).trunc(I8).zext(I16) for k in range(2)]
        i.dst(0, parts[0] | parts[1].shl(8), preserve=preserves_half(i))

    return run


semantic("v_ashr_pk_i8_i32")(_shift_pack(-128, 127))
semantic("v_ashr_pk_u8_i32")(_shift_pack(0, 255))


@semantic("v_prng_b32")
def _(i: Access) -> None:
    """One step of a linear feedback shift register."""
    a = i.src(0)
    i.dst(0, a.shl(1) ^ a.slt(0).select(i.const(197), 0))


@semantic("v_cvt_i32_i16")
def _(i: Access) -> None:
    i.dst(0, i.src(0, I16).sext(I32))


@semantic("v_cvt_u32_u16")
def _(i: Access) -> None:
    i.dst(0, i.src(0, I16).zext(I32))
