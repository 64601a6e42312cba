"""C's operators on values of any lane: the counterpart of `rocdbg.debugger.expr.operators` that works on expressions
instead of numbers.

Every function gives what the evaluator would give for each lane, bit for bit. Where the evaluator would raise an error
for some values (a division by zero, unmapped memory), the expression is undecided. If the types alone would cause the
error, or the operation is not supported here, the function raises `Untranslatable`.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.address_spaces import AddressSpace, address_space
from rocdbg.debugger.frames.compiled_places import InMemory, Place, Untranslatable
from rocdbg.debugger.values import c_types
from rocdbg.dwarf.info.types import ArrayType, MemberPointerType, PointerType, Type, VoidType
from rocdbg.sim.core.builder import F16, F32, F64, I64, I128, INTEGER, Op
from rocdbg.sim.core.builder import Type as Width
from rocdbg.sim.core.lane_expressions import (
    Choose,
    Constant,
    LaneExpressionError,
    Node,
    Require,
    apply,
    both,
    constant,
    negated,
    number_of,
    signed,
    unsigned,
)

_FLOATS = {2: F16, 4: F32, 8: F64}
_COMPARE = {"==": Op.EQ, "!=": Op.NE, "<": Op.SLT, "<=": Op.SLE, ">": Op.SLT, ">=": Op.SLE}
_UNSIGNED = {Op.SLT: Op.ULT, Op.SLE: Op.ULE}
_FLOATING = {Op.EQ: Op.FEQ, Op.NE: Op.FNE, Op.SLT: Op.FLT, Op.SLE: Op.FLE}
_PLAIN = {"+": Op.ADD, "-": Op.SUB, "*": Op.MUL, "&": Op.AND, "|": Op.OR, "^": Op.XOR}
_FLOAT_PLAIN = {"+": Op.FADD, "-": Op.FSUB, "*": Op.FMUL, "/": Op.FDIV}
COMPARISONS = frozenset(_COMPARE)


class Term(Struct, frozen=True):
    """A typed value of each lane, either at a ``place`` or computed.

    ``node`` is the value of a scalar: an integer of the type's width, or a float of the type's format (F32 for
    bfloat16). ``first`` is the term's offset in bits from ``place``; ``bits`` is its width if it is a bit-field.
    """

    type: Type
    place: Place | None = None
    node: Node | None = None
    first: int = 0
    bits: int | None = None

    @property
    def bare(self) -> Type:
        """The type without typedefs and qualifiers."""
        return self.type.bare

    @property
    def in_memory(self) -> InMemory | None:
        """The term's address, if the term is in memory."""
        if self.bits is not None or self.place is None or self.first % 8:
            return None
        place = self.place.moved(self.first)
        return place if isinstance(place, InMemory) else None

    def part(self, type: Type, first: int, bits: int | None = None) -> Term:
        """Return a part that begins ``first`` bits after the beginning."""
        if self.place is None:
            raise Untranslatable("a part of a value that is nowhere")
        return Term(type, self.place, None, self.first + first, bits)

    def value(self) -> Node:
        """Return the value of a scalar."""
        if self.node is not None:
            return self.node
        if self.place is None or not c_types.is_scalar(self.type) or isinstance(self.bare, MemberPointerType):
            raise Untranslatable(f"a value of type {self.type}")
        size = size_of(self.type)
        if self.bits is not None:
            return self._bit_field(size)
        return _of_bits(self.type, self._read(8 * size), size)

    def _bit_field(self, size: int) -> Node:
        bits = self.bits
        assert bits is not None
        if not 0 < bits <= min(64, 8 * size) or not c_types.is_integral(self.type):
            raise Untranslatable("a bit-field of no bits")
        value = self._read(bits)
        if c_types.is_signed(self.type) and bits < 64:
            up = constant(64 - bits)
            value = apply(Op.ASHR, apply(Op.SHL, value, up), up)
        return unsigned(value, INTEGER[8 * size])

    def _read(self, bits: int) -> Node:
        place = self.place
        assert place is not None
        if not isinstance(place, InMemory):
            return place.read(self.first, bits)
        byte = place.moved(self.first - self.first % 8)
        assert isinstance(byte, InMemory)
        space = byte.space if byte.space != AddressSpace.GLOBAL else AddressSpace.GENERIC
        return InMemory(space, _within(byte.space, byte.address)).read(self.first % 8, bits)


def _within(space: int, address: Node) -> Node:
    """Truncate an address to the size of its space's addresses."""
    size = address_space(space).address_size
    return address if size == 8 else apply(Op.AND, address, constant((1 << 8 * size) - 1))


def size_of(type_: Type) -> int:
    """Return the size of a scalar in bytes."""
    size = type_.size
    if size not in (1, 2, 4, 8):
        raise Untranslatable(f"a value of type {type_}")
    bare = type_.bare
    if type_.integer is None and not isinstance(bare, PointerType) and not c_types.is_float(type_):
        raise Untranslatable(f"a value of type {type_}")
    return size


def _of_bits(type_: Type, bits: Node, size: int) -> Node:
    value = unsigned(bits, INTEGER[8 * size])
    if not c_types.is_float(type_):
        return value
    if size not in _FLOATS:
        raise Untranslatable(f"a value of type {type_}")
    if c_types.is_bfloat(type_):
        wide = apply(Op.SHL, unsigned(value, INTEGER[32]), constant(16, INTEGER[32]))
        return apply(Op.BITCAST, wide, type=F32)
    return apply(Op.BITCAST, value, type=_FLOATS[size])


def constant_term(type_: Type, data: bytes) -> Term:
    """Return a scalar with a known value."""
    size = size_of(type_)
    return Term(type_, node=_of_bits(type_, constant(int.from_bytes(data[:size], "little")), size))


# -- numbers


def is_signed(type_: Type) -> bool:
    """Whether the number of an integral or pointer value may be negative."""
    plain = type_.integer
    return plain.signed if plain is not None else False


def integer(term: Term, width: Width) -> Node:
    """Return the number of an integral or pointer value in another width; it wraps if that is narrower."""
    if c_types.is_float(term.type):
        raise Untranslatable("a float that is taken for an integer")
    return (signed if is_signed(term.type) else unsigned)(term.value(), width)


def wide(term: Term) -> Node:
    """Return the number as F64, like Python's float."""
    value = term.value()
    if c_types.is_float(term.type):
        return value if value.type is F64 else apply(Op.FPEXT, value, type=F64)
    number = number_of(value)
    if number is not None:
        if is_signed(term.type):
            number -= (number >> value.type.bits - 1) << value.type.bits
        return Constant(F64, float(number))
    return apply(Op.SITOFP if is_signed(term.type) else Op.UITOFP, value, type=F64)


def _narrow(type_: Type, value: Node) -> Term:
    """Round an F64 to a floating type."""
    if c_types.is_bfloat(type_) or type_.size not in _FLOATS:
        raise Untranslatable(f"rounding to {type_}")
    format_ = _FLOATS[type_.size]
    return Term(type_, node=value if format_ is F64 else apply(Op.FPTRUNC, value, type=format_))


def truth(term: Term) -> Node:
    """Return whether a scalar is not zero; for a pointer, whether it is not the null pointer of its space (I1)."""
    if isinstance(term.bare, ArrayType) or not c_types.is_scalar(term.type):
        raise Untranslatable(f"the truth of a value of type {term.type}")
    value = term.value()
    if c_types.is_float(term.type):
        return apply(Op.FNE, wide(term), Constant(F64, 0.0))
    return apply(Op.NE, value, constant(c_types.null_number(term.type), value.type))


def of_truth(type_: Type, condition: Node) -> Term:
    """Return 0 or 1 of an integral type."""
    return Term(type_, node=unsigned(condition, INTEGER[8 * size_of(type_)]))


# -- conversions


def convert(term: Term, type_: Type) -> Term:
    """Convert a value to another scalar type."""
    if not c_types.is_scalar(type_) or c_types.is_reference(type_) or not c_types.is_scalar(term.type):
        raise Untranslatable(f"a conversion to {type_}")
    if c_types.is_bool(type_):
        return of_truth(type_, truth(term))
    if c_types.is_float(type_):
        return _narrow(type_, wide(term))
    width = INTEGER[8 * size_of(type_)]
    if not c_types.is_float(term.type):
        return Term(type_, node=integer(term, width))
    value = wide(term)
    limit = Constant(F64, 2.0**63)
    fits = both(apply(Op.FLT, value, limit), apply(Op.FLT, Constant(F64, -(2.0**63)), value))
    return Term(type_, node=Require(fits, unsigned(apply(Op.FPTOSI, value, type=I64), width)))


# -- operators


def unary(operator: str, operand: Term, bool_type: Type) -> Term:
    """``- + ~ !``."""
    if operator == "!":
        return of_truth(bool_type, negated(truth(operand)))
    if not c_types.is_scalar(operand.type) or c_types.is_reference(operand.type):
        raise Untranslatable(f"{operator} of a value of type {operand.type}")
    pointer = isinstance(operand.bare, PointerType)
    if pointer and operator != "~":
        if operator == "-":
            raise Untranslatable("a negated pointer")
        return operand
    if c_types.is_float(operand.type):
        if operator == "~":
            raise Untranslatable("the complement of a float")
        number = wide(operand)
        return _narrow(c_types.promote(operand.type), apply(Op.FNEG, number) if operator == "-" else number)
    type_ = c_types.UNSIGNED_LONG if pointer else c_types.promote(operand.type)
    value = convert(operand, type_).value()
    if operator == "-":
        value = apply(Op.SUB, constant(0, value.type), value)
    elif operator == "~":
        value = apply(Op.XOR, value, constant(-1, value.type))
    return Term(type_, node=value)


def binary(operator: str, left: Term, right: Term, bool_type: Type) -> Term:
    """Return ``left operator right`` for arithmetic, comparisons, shifts and pointers; arrays must have decayed."""
    for side in (left, right):
        if not c_types.is_scalar(side.type) or c_types.is_reference(side.type):
            raise Untranslatable(f"{operator} of a value of type {side.type}")
    pointers = isinstance(left.bare, PointerType), isinstance(right.bare, PointerType)
    if any(pointers):
        return _pointers(operator, left, right, pointers, bool_type)
    if operator in ("<<", ">>"):
        return _shift(operator, left, right)
    type_ = c_types.arithmetic_type(left.type, right.type)
    is_float = c_types.is_float(type_)
    if operator in _COMPARE:
        if is_float:
            return of_truth(bool_type, _ordered(operator, wide(left), wide(right), _FLOATING))
        a, b = convert(left, type_).value(), convert(right, type_).value()
        return of_truth(bool_type, _ordered(operator, a, b, {} if is_signed(type_) else _UNSIGNED))
    if is_float:
        if operator not in _FLOAT_PLAIN:
            raise Untranslatable(f"{operator} of floats")
        return _narrow(type_, apply(_FLOAT_PLAIN[operator], wide(left), wide(right)))
    a, b = convert(left, type_).value(), convert(right, type_).value()
    if operator in ("/", "%"):
        return Term(type_, node=_divided(operator, a, b, is_signed(type_)))
    if operator not in _PLAIN:
        raise Untranslatable(f"the operator {operator}")
    return Term(type_, node=apply(_PLAIN[operator], a, b))


def _ordered(operator: str, left: Node, right: Node, kinds: dict[Op, Op]) -> Node:
    op = _COMPARE[operator]
    op = kinds.get(op, op)
    return apply(op, right, left) if operator.startswith(">") else apply(op, left, right)


def _divided(operator: str, a: Node, b: Node, is_signed: bool) -> Node:
    """Divide towards zero; a remainder has the dividend's sign, and the least number divided by -1 wraps."""
    zero = constant(0, a.type)
    legal = apply(Op.NE, b, zero)
    if not is_signed:
        return Require(legal, apply(Op.UDIV if operator == "/" else Op.UREM, a, b))
    below = [apply(Op.SLT, side, zero) for side in (a, b)]
    sizes = [
        apply(Op.SELECT, less, apply(Op.SUB, zero, side), side, type=a.type)
        for less, side in zip(below, (a, b), strict=True)
    ]
    quotient = apply(Op.UDIV, *sizes)
    differ = apply(Op.XOR, *below)
    quotient = apply(Op.SELECT, differ, apply(Op.SUB, zero, quotient), quotient, type=a.type)
    if operator == "/":
        return Require(legal, quotient)
    return Require(legal, apply(Op.SUB, a, apply(Op.MUL, b, quotient)))


def _shift(operator: str, left: Term, right: Term) -> Term:
    if c_types.is_float(left.type) or c_types.is_float(right.type):
        raise Untranslatable(f"{operator} of floats")
    type_ = c_types.promote(left.type)
    number, count = convert(left, type_).value(), integer(right, I64)
    width = number.type
    inside = apply(Op.ULT, count, constant(width.bits))
    zero = constant(0, width)
    beyond: Node = zero
    if operator == ">>" and is_signed(type_):
        positive = apply(Op.SLT, constant(0), count) if is_signed(right.type) else apply(Op.NE, count, constant(0))
        negative = both(apply(Op.SLT, number, zero), positive)
        beyond = apply(Op.SELECT, negative, constant(-1, width), zero, type=width)
    op = Op.SHL if operator == "<<" else Op.ASHR if is_signed(type_) else Op.LSHR
    shifted = apply(op, number, unsigned(count, width))
    if number_of(inside) is not None:
        return Term(type_, node=shifted if number_of(inside) else beyond)
    return Term(type_, node=Choose(inside, shifted, beyond))


# -- pointers


def target_size(pointer: Type) -> int:
    """Return the number of bytes by which adding 1 moves a pointer."""
    bare = pointer.bare
    assert isinstance(bare, PointerType)
    target = bare.target.strip_typedefs()
    return 1 if isinstance(target, VoidType) else max(1, c_types.size_of(target))


def advance(pointer: Term, count: Node, back: bool = False) -> Term:
    """Return a pointer moved by a number of elements (I64)."""
    moved = apply(Op.MUL, count, constant(target_size(pointer.type)))
    value = integer(pointer, I64)
    total = apply(Op.SUB if back else Op.ADD, value, moved)
    return Term(pointer.type, node=unsigned(total, INTEGER[8 * size_of(pointer.type)]))


def _pointers(operator: str, left: Term, right: Term, pointers: tuple[bool, bool], bool_type: Type) -> Term:
    if operator in _COMPARE:
        if c_types.is_float(left.type) or c_types.is_float(right.type):
            raise Untranslatable("a pointer compared with a float")
        sides = _compared(left, right), _compared(right, left)
        return of_truth(bool_type, _ordered(operator, *sides, {}))
    if operator in ("+", "-") and pointers == (True, False):
        return advance(left, integer(right, I64), operator == "-")
    if operator == "+" and pointers == (False, True):
        return advance(right, integer(left, I64))
    if operator == "-" and all(pointers):
        size = target_size(left.type)
        if size != target_size(right.type):
            raise Untranslatable("the distance of pointers to objects of two sizes")
        a, b = integer(left, I64), integer(right, I64)
        distance = apply(Op.SUB, a, b)
        exact = apply(Op.EQ, apply(Op.ULT, a, b), apply(Op.SLT, distance, constant(0)))
        whole = apply(Op.EQ, _divided("%", distance, constant(size), True), constant(0))
        count = _divided("/", distance, constant(size), True)
        return Term(c_types.LONG, node=Require(both(exact, whole), count))
    raise Untranslatable(f"{operator} of pointers")


def _compared(term: Term, other: Term) -> Node:
    """Return the number of a pointer, or of a term that is compared with a pointer; in such a comparison, an integer 0
    is a null pointer.
    """
    number = integer(term, I128)
    null = c_types.null_number(other.type)
    if isinstance(term.bare, PointerType) or not null:
        return number
    is_zero = apply(Op.EQ, number, constant(0, I128))
    return apply(Op.SELECT, is_zero, constant(null, I128), number, type=I128)


def decay(term: Term) -> Term:
    """Convert an array in memory to a pointer to its first element; other terms are returned unchanged."""
    bare = term.bare
    if not isinstance(bare, ArrayType):
        return term
    return address_of(term, bare.element)


def address_of(term: Term, target: Type) -> Term:
    """Return a pointer to a term in memory, converted to another target type."""
    place = term.in_memory
    if place is None:
        raise Untranslatable("the address of a value that is in no memory")
    type_ = c_types.pointer_to(target, place.space)
    return Term(type_, node=unsigned(_within(place.space, place.address), INTEGER[8 * size_of(type_)]))


__all__ = [
    "COMPARISONS", "LaneExpressionError", "Term", "address_of", "advance", "binary", "constant_term", "convert",
    "decay", "integer", "of_truth", "size_of", "truth", "unary", "wide",
]
