"""Integer arithmetic, logic, shifts and bit operations of the scalar unit, with their SCC results."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import I8, I16, I32, I64, Type, Value
from rocdbg.sim.semantics import integers
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.integers import LOGIC, Two
from rocdbg.sim.semantics.registry import SemanticFunction, semantic

One = Callable[[Value], Value]
WIDTHS: dict[str, Type] = {"32": I32, "64": I64}


def _result(i: Access, value: Value, *, scc: bool) -> None:
    """Write a result; with ``scc``, set SCC if it is not zero."""
    i.dst(0, value)
    if scc:
        i.set_scc(value.ne(0))


def _one(operation: One, type: Type, *, scc: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        _result(i, operation(i.src(0, type)), scc=scc)

    return run


def _two(operation: Two, type: Type, *, scc: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        _result(i, operation(i.src(0, type), i.src(1, type)), scc=scc)

    return run


# -- moves -----------------------------------------------------------------------------------------

for _width, _type in WIDTHS.items():
    semantic(f"s_mov_b{_width}")(_one(lambda a: a, _type, scc=False))


def _conditional_move(type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, i.scc.select(i.src(0, type), i.old(0, type)))

    return run


def _conditional_select(type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, i.scc.select(i.src(0, type), i.src(1, type)))

    return run


for _width, _type in WIDTHS.items():
    semantic(f"s_cmov_b{_width}")(_conditional_move(_type))
    semantic(f"s_cselect_b{_width}")(_conditional_select(_type))


@semantic("s_movk_i32")
def _(i: Access) -> None:
    i.dst(0, i.const(i.simm16))


@semantic("s_cmovk_i32")
def _(i: Access) -> None:
    i.dst(0, i.scc.select(i.const(i.simm16), i.old(0)))


# -- add, subtract ---------------------------------------------------------------------------------


def _carry_in(i: Access) -> Value:
    return i.scc


@semantic("s_add_u32", "s_add_co_u32")
def _(i: Access) -> None:
    total, carry = integers.add_carry(i.src(0), i.src(1))
    i.dst(0, total)
    i.set_scc(carry)


@semantic("s_sub_u32", "s_sub_co_u32")
def _(i: Access) -> None:
    total, borrow = integers.subtract_borrow(i.src(0), i.src(1))
    i.dst(0, total)
    i.set_scc(borrow)


@semantic("s_addc_u32", "s_add_co_ci_u32")
def _(i: Access) -> None:
    total, carry = integers.add_carry(i.src(0), i.src(1), _carry_in(i))
    i.dst(0, total)
    i.set_scc(carry)


@semantic("s_subb_u32", "s_sub_co_ci_u32")
def _(i: Access) -> None:
    total, borrow = integers.subtract_borrow(i.src(0), i.src(1), _carry_in(i))
    i.dst(0, total)
    i.set_scc(borrow)


def _signed_sum(i: Access, a: Value, b: Value) -> None:
    """Write a + b, and set SCC on signed overflow."""
    total = a + b
    i.dst(0, total)
    i.set_scc(((a ^ total) & (b ^ total)).slt(0))


@semantic("s_add_i32", "s_add_co_i32")
def _(i: Access) -> None:
    _signed_sum(i, i.src(0), i.src(1))


@semantic("s_addk_i32", "s_addk_co_i32")
def _(i: Access) -> None:
    _signed_sum(i, i.old(0), i.const(i.simm16))


@semantic("s_sub_i32", "s_sub_co_i32")
def _(i: Access) -> None:
    a, b = i.src(0), i.src(1)
    total = a - b
    i.dst(0, total)
    i.set_scc(((a ^ b) & (a ^ total)).slt(0))


@semantic("s_add_nc_u64", "s_add_u64")
def _(i: Access) -> None:
    i.dst(0, i.src(0, I64) + i.src(1, I64))


@semantic("s_sub_nc_u64", "s_sub_u64")
def _(i: Access) -> None:
    i.dst(0, i.src(0, I64) - i.src(1, I64))


def _shifted_add(count: int) -> SemanticFunction:
    def run(i: Access) -> None:
        total = i.src(0).zext(I64).shl(count) + i.src(1).zext(I64)
        i.dst(0, total.trunc(I32))
        i.set_scc(total.lshr(32).ne(0))

    return run


for _places in range(1, 5):
    semantic(f"s_lshl{_places}_add_u32")(_shifted_add(_places))


@semantic("s_absdiff_i32")
def _(i: Access) -> None:
    # The difference wraps before the absolute value is taken.
    total = i.src(0) - i.src(1)
    _result(i, total.slt(0).select(-total, total), scc=True)


@semantic("s_abs_i32")
def _(i: Access) -> None:
    value = i.src(0)
    _result(i, value.slt(0).select(-value, value), scc=True)


# -- multiply --------------------------------------------------------------------------------------


@semantic("s_mul_i32")
def _(i: Access) -> None:
    i.dst(0, i.src(0) * i.src(1))


@semantic("s_mulk_i32")
def _(i: Access) -> None:
    i.dst(0, i.old(0) * i.const(i.simm16))


@semantic("s_mul_hi_u32")
def _(i: Access) -> None:
    i.dst(0, integers.multiply_high(i.src(0), i.src(1), signed=False))


@semantic("s_mul_hi_i32")
def _(i: Access) -> None:
    i.dst(0, integers.multiply_high(i.src(0), i.src(1), signed=True))


@semantic("s_mul_u64")
def _(i: Access) -> None:
    i.dst(0, i.src(0, I64) * i.src(1, I64))


# -- minimum, maximum: SCC says whether source 0 was taken --------------------------------------------


def _choose(first: Two) -> SemanticFunction:
    def run(i: Access) -> None:
        a, b = i.src(0), i.src(1)
        take = first(a, b)
        i.dst(0, take.select(a, b))
        i.set_scc(take)

    return run


semantic("s_min_i32")(_choose(lambda a, b: a.slt(b)))
semantic("s_min_u32")(_choose(lambda a, b: a.ult(b)))
# AMD's pseudocode has >= here, but hardware clears SCC when the operands are equal.
semantic("s_max_i32")(_choose(lambda a, b: a.sgt(b)))
semantic("s_max_u32")(_choose(lambda a, b: a.ugt(b)))


# -- logic and shifts: SCC is result != 0 ----------------------------------------------------------

_ONLY_WITH_EXEC = ("andn1", "orn1", "and_not0", "or_not0")

for _width, _type in WIDTHS.items():
    for _name, _operation in LOGIC.items():
        if _name not in _ONLY_WITH_EXEC:
            semantic(f"s_{_name}_b{_width}")(_two(_operation, _type, scc=True))
    semantic(f"s_not_b{_width}")(_one(lambda a: ~a, _type, scc=True))
    semantic(f"s_brev_b{_width}")(_one(lambda a: a.bitreverse(), _type, scc=False))


def _shift(operation: Two, type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        count = i.src(1) & (type.bits - 1)
        _result(i, operation(i.src(0, type), count.zext(type)), scc=True)

    return run


for _width, _type in WIDTHS.items():
    semantic(f"s_lshl_b{_width}")(_shift(lambda a, n: a.shl(n), _type))
    semantic(f"s_lshr_b{_width}")(_shift(lambda a, n: a.lshr(n), _type))
    semantic(f"s_ashr_i{_width}")(_shift(lambda a, n: a.ashr(n), _type))


# -- bit fields ------------------------------------------------------------------------------------


def _bit_field_mask(type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        width = (i.src(0) & (type.bits - 1)).zext(type)
        offset = (i.src(1) & (type.bits - 1)).zext(type)
        i.dst(0, (i.const(1, type).shl(width) - 1).shl(offset))

    return run


def _bit_field_extract(type: Type, *, signed: bool) -> SemanticFunction:
    """Source 1 has the offset in its low 5 or 6 bits and the width in bits 22:16. Width 0 gives 0; a width of at least
    the type's own width gives all bits.
    """

    def run(i: Access) -> None:
        value, control = i.src(0, type), i.src(1)
        offset = (control & (type.bits - 1)).zext(type)
        width = (control.lshr(16) & 0x7F).zext(type)
        whole = width.uge(type.bits)
        part = integers.bit_field(value, offset, width & (type.bits - 1), signed=signed)
        rest = value.ashr(offset) if signed else value.lshr(offset)
        _result(i, whole.select(rest, part), scc=True)

    return run


for _width, _type in WIDTHS.items():
    semantic(f"s_bfm_b{_width}")(_bit_field_mask(_type))
    semantic(f"s_bfe_u{_width}")(_bit_field_extract(_type, signed=False))
    semantic(f"s_bfe_i{_width}")(_bit_field_extract(_type, signed=True))


def _set_bit(type: Type, *, value: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        bit = i.const(1, type).shl((i.src(0) & (type.bits - 1)).zext(type))
        old = i.old(0, type)
        i.dst(0, old | bit if value else old & ~bit)

    return run


for _width, _type in WIDTHS.items():
    semantic(f"s_bitset0_b{_width}")(_set_bit(_type, value=False))
    semantic(f"s_bitset1_b{_width}")(_set_bit(_type, value=True))


# -- counting --------------------------------------------------------------------------------------


def _count(operation: One, type: Type, *, scc: bool) -> SemanticFunction:
    """A count of bits of a 32- or 64-bit source, as I32."""

    def run(i: Access) -> None:
        count = operation(i.src(0, type))
        _result(i, count if count.type is I32 else count.trunc(I32), scc=scc)

    return run


for _width, _type in WIDTHS.items():
    semantic(f"s_bcnt0_i32_b{_width}")(_count(lambda a: (~a).ctpop(), _type, scc=True))
    semantic(f"s_bcnt1_i32_b{_width}")(_count(lambda a: a.ctpop(), _type, scc=True))
    semantic(f"s_ff0_i32_b{_width}")(
        _count(lambda a: integers.find_first((~a).cttz(), a.type.bits), _type, scc=False)
    )
    semantic(f"s_ff1_i32_b{_width}", f"s_ctz_i32_b{_width}")(
        _count(lambda a: integers.find_first(a.cttz(), a.type.bits), _type, scc=False)
    )
    semantic(f"s_flbit_i32_b{_width}", f"s_clz_i32_u{_width}")(
        _count(lambda a: integers.find_first(a.ctlz(), a.type.bits), _type, scc=False)
    )
semantic("s_flbit_i32", "s_cls_i32")(_count(integers.leading_sign_bits, I32, scc=False))
semantic("s_flbit_i32_i64", "s_cls_i32_i64")(_count(integers.leading_sign_bits, I64, scc=False))


# -- extending, packing, replicating ---------------------------------------------------------------


@semantic("s_sext_i32_i8")
def _(i: Access) -> None:
    i.dst(0, i.src(0).trunc(I8).sext(I32))


@semantic("s_sext_i32_i16")
def _(i: Access) -> None:
    i.dst(0, i.src(0).trunc(I16).sext(I32))


def _pack(low: int, high: int) -> SemanticFunction:
    """The half ``low`` (0 or 1) of source 0 below the half ``high`` of source 1."""

    def run(i: Access) -> None:
        a, b = i.src(0), i.src(1)
        bottom = a.lshr(16) if low else a & 0xFFFF
        top = b & 0xFFFF0000 if high else b.shl(16)
        i.dst(0, bottom | top)

    return run


for _name, _low, _high in (("ll", 0, 0), ("lh", 0, 1), ("hh", 1, 1), ("hl", 1, 0)):
    semantic(f"s_pack_{_name}_b32_b16")(_pack(_low, _high))


@semantic("s_bitreplicate_b64_b32")
def _(i: Access) -> None:
    """Double every bit: spread the bits to even places in five steps, then copy each."""
    value = i.src(0).zext(I64)
    for step, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        value = (value | value.shl(step)) & mask
    i.dst(0, value | value.shl(1))


def _quad_mask(type: Type) -> SemanticFunction:
    """Bit n of the result says whether any of bits 4n .. 4n+3 is set."""

    def run(i: Access) -> None:
        value = i.src(0, type)
        found = value
        for step in range(1, 4):
            found = found | value.lshr(step)
        result = i.const(0, type)
        for n in range(type.bits // 4):
            bit = (found.lshr(4 * n) if n else found) & 1
            result = result | (bit.shl(n) if n else bit)
        _result(i, result, scc=True)

    return run


for _width, _type in WIDTHS.items():
    semantic(f"s_wqm_b{_width}")(_one(lambda a: integers.any_in_groups(a, 4), _type, scc=True))
    semantic(f"s_quadmask_b{_width}")(_quad_mask(_type))


@semantic("s_getpc_b64", "s_get_pc_i64")
def _(i: Access) -> None:
    """Address of the next instruction."""
    i.dst(0, i.next_pc)
