"""Integer operations that several instruction families share. The functions know builder values, not instructions."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import I16, I32, I64, Type, Value

Two = Callable[[Value, Value], Value]
LOGIC: dict[str, Two] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
    "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "andn1": lambda a, b: ~a & b,
    "orn1": lambda a, b: ~a | b,
    "and_not1": lambda a, b: a & ~b,
    "or_not1": lambda a, b: a | ~b,
    "and_not0": lambda a, b: ~a & b,
    "or_not0": lambda a, b: ~a | b,
}
"""The scalar unit's logic, by the operation's name: "n2" and "not1" negate the second operand, "n1" and "not0" the
first. The operations on EXEC have EXEC as the second operand.
"""
_WIDER: dict[int, Type] = {8: I16, 16: I32, 32: I64}


def bit_field(value: Value, offset: Value, width: Value, *, signed: bool) -> Value:
    """``width`` bits from bit ``offset`` on, extended. All arguments have one type; offset and width are below the
    type's width. Width 0 gives 0."""
    bits = value.type.bits
    field = (value.ashr(offset) if signed else value.lshr(offset)) & _mask(value, width)
    if not signed:
        return field
    # The sign bit is the field's own top bit, even if the field extends past the top of the value.
    shift = (bits - width) & (bits - 1)
    return width.eq(0).select(0, field.shl(shift).ashr(shift))


def _mask(like: Value, width: Value) -> Value:
    return like.builder.const(1, like.type).shl(width) - 1


def find_first(count: Value, width: int) -> Value:
    """A count of leading or trailing zeros as the ISA defines it: -1 where nothing was found (the count equals the
    width)."""
    return count.eq(width).select(-1, count)


def leading_sign_bits(value: Value) -> Value:
    """Number of leading bits that equal the sign bit, including itself; -1 if all bits are equal."""
    differing = value ^ value.ashr(value.type.bits - 1)
    return find_first(differing.ctlz(), value.type.bits)


def extend(value: Value, type: Type, *, signed: bool) -> Value:
    """Widen to ``type``, unless the value already has that width."""
    return value.sext(type) if signed else value.zext(type)


def saturate(wide: Value, type: Type, *, signed: bool) -> Value:
    """Clamp a signed value of a wide type to the range of ``type``, and narrow it."""
    if signed:
        low, high = -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1
    else:
        low, high = 0, (1 << type.bits) - 1
    return wide.smax(low).smin(high).trunc(type)


def wider(type: Type) -> Type:
    """The integer type of twice the width."""
    return _WIDER[type.bits]


def multiply_high(a: Value, b: Value, *, signed: bool) -> Value:
    """High half of the double-width product."""
    double = wider(a.type)
    product = extend(a, double, signed=signed) * extend(b, double, signed=signed)
    return product.lshr(a.type.bits).trunc(a.type)


def field(value: Value, offset: int, bits: int, *, signed: bool = False) -> Value:
    """Bits ``offset`` .. ``offset + bits - 1`` extended to the value's own type."""
    top = value.type.bits
    if signed:
        return value.shl(top - offset - bits).ashr(top - bits)
    shifted = value.lshr(offset) if offset else value
    return shifted if offset + bits == top else shifted & ((1 << bits) - 1)


def difference(a: Value, b: Value) -> Value:
    """|a - b|, unsigned."""
    return a.umax(b) - a.umin(b)


def sad_u8(a: Value, b: Value, total: Value, *, masked: bool = False) -> Value:
    """total + sum of the absolute differences of the four bytes of a and b (I32).

    ``masked``: bytes that are 0 in b are skipped.
    """
    for n in range(4):
        left, right = field(a, 8 * n, 8), field(b, 8 * n, 8)
        step = difference(left, right)
        total = total + (right.eq(0).select(0, step) if masked else step)
    return total


def add_carry(a: Value, b: Value, carry: Value | None = None) -> tuple[Value, Value]:
    """a + b (+ carry, I1) and the carry out (I1)."""
    total = a + b
    out = total.ult(a)
    if carry is not None:
        more = total + carry.zext(a.type)
        out = out | more.ult(total)
        total = more
    return total, out


def subtract_borrow(a: Value, b: Value, borrow: Value | None = None) -> tuple[Value, Value]:
    """a - b (- borrow, I1) and the borrow out (I1)."""
    total = a - b
    out = a.ult(b)
    if borrow is not None:
        out = out | (a.eq(b) & borrow)
        total = total - borrow.zext(a.type)
    return total, out


def any_in_groups(value: Value, group: int) -> Value:
    """Set every bit whose group of ``group`` adjacent bits has a set bit (s_wqm with 4)."""
    lowest = sum(1 << n for n in range(0, value.type.bits, group))
    found = value
    for step in range(1, group):
        found = found | value.lshr(step)
    found = found & lowest
    return found * ((1 << group) - 1)
