"""Typed values: base types, literal values, arithmetic, comparison and conversion (A.2.5.2, A.2.5.4.3).

A value of the generic type has `type` None and an unsigned `value` of the generic type's size. Where DWARF 5 section
2.5.1.4 leaves room for interpretation:

* operands of the generic type are unsigned, except in `abs`, `div`, `neg`, `shra` and the
  comparisons, which the standard calls signed;
* typed operands follow their own encoding in `div`, `mod` and the comparisons; `shr` fills with zeros and
  `shra` with the sign bit, regardless of the encoding;
* two types are the same if encoding, size, byte order and vector size are, regardless of their names;
* arithmetic on vector types works on each element;
* converting the generic type to a wider one zero-extends.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.dwarf.errors import EvaluationError, IllFormed
from rocdbg.dwarf.wide_floats import WIDE_SIZES, wide_binary, wide_from_bits, wide_from_number

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["BaseType", "ConstValue", "ImplicitPointerValue", "Literal", "Value", "from_bits", "to_bits"]

Number = int | float | complex
Literal = Number | tuple[Number, ...]
"""A literal: an int, float or complex number according to the encoding, or a tuple of them for vector types.

Floating-point numbers of 80, 96 and 128 bits are `floats.WideFloat`, a float that keeps its exact bits.
"""

_SIGNED = frozenset({"DW_ATE_signed", "DW_ATE_signed_char"})
_INTEGRAL = _SIGNED | {"DW_ATE_unsigned", "DW_ATE_unsigned_char", "DW_ATE_boolean"}
_FLOAT = frozenset({"DW_ATE_float", "DW_ATE_imaginary_float"})
_COMPLEX = "DW_ATE_complex_float"
_ARITHMETIC = _INTEGRAL | _FLOAT | {_COMPLEX} | {"DW_ATE_address", "DW_ATE_signed_fixed", "DW_ATE_unsigned_fixed"}
_FLOAT_FORMATS = {16: "<e", 32: "<f", 64: "<d"}


class BaseType(Struct, frozen=True):
    """A base type, as a DW_TAG_base_type entry describes it (A.2.5.2, A.5.1).

    `encoding` is the DW_ATE_* name, `bit_size` the bits of one element, `vector_size` the number of
    elements of a vector type or None, `byte_order` "little" or "big".
    """

    name: str = ""
    encoding: str = "DW_ATE_unsigned"
    bit_size: int = 64
    vector_size: int | None = None
    byte_order: str = "little"

    @property
    def size(self) -> int:
        """Bits of a whole value, of all elements for a vector type (A.2.5.2, A.5.1)."""
        return self.bit_size if self.vector_size is None else self.bit_size * self.vector_size

    @property
    def byte_size(self) -> int:
        """Bytes of a whole value, rounded up: the required size operand of typed operations (A.2.5.4.3.1)."""
        return (self.size + 7) // 8

    @property
    def is_integral(self) -> bool:
        """Whether it is an integral type (A.2.5.2); vector types and DW_ATE_address are not."""
        return self.vector_size is None and self.encoding in _INTEGRAL

    @property
    def is_signed(self) -> bool:
        """Whether its literals are signed: DW_ATE_signed, _signed_char and _signed_fixed (A.2.5.2)."""
        return self.encoding in _SIGNED or self.encoding == "DW_ATE_signed_fixed"

    @property
    def is_float(self) -> bool:
        """Whether its literals are floating-point numbers: 16, 32, 64, 80, 96 or 128 bits (A.2.5.2)."""
        return self.encoding in _FLOAT and (self.bit_size in _FLOAT_FORMATS or self.is_wide)

    @property
    def is_wide(self) -> bool:
        """Whether its literals are `floats.WideFloat`: x87 extended and quadruple precision (A.2.5.2)."""
        return self.encoding in _FLOAT and self.bit_size in WIDE_SIZES

    @property
    def is_complex(self) -> bool:
        """Whether its literals are complex numbers (A.2.5.2): the real part lies in the low half of the bits."""
        return self.encoding == _COMPLEX and self.bit_size // 2 in _FLOAT_FORMATS and not self.bit_size & 1

    def same_as(self, other: BaseType) -> bool:
        """Whether operands of the two types can be combined (A.2.5.4.3.2)."""
        return self is other or (
            self.encoding == other.encoding
            and self.bit_size == other.bit_size
            and self.vector_size == other.vector_size
            and self.byte_order == other.byte_order
        )


class ConstValue(Struct, frozen=True):
    """The DW_AT_const_value of an entry: its bytes in target order (A.4.1)."""

    data: bytes


@dataclass(frozen=True)
class Value:
    """A value (A.2.5.2): `type` is None for the generic type; `value` is signed or unsigned as the type says.

    Generic values are unsigned. Vector values are tuples, element 0 first.
    """

    type: BaseType | None
    value: Literal


class ImplicitPointerValue(Value):
    """What `DW_OP_deref*` reads from an implicit pointer (A.2.5.4.4.5).

    It represents a pointer into `address_space` to the object of debugging information entry `die` plus `displacement`
    bytes; `size` is the pointer's size in bits. It has no numeric value: `.value` raises `EvaluationError`.
    """

    def __init__(
        self, type: BaseType | None, die: int, displacement: int, address_space: int, size: int
    ) -> None:
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "die", die)
        object.__setattr__(self, "displacement", displacement)
        object.__setattr__(self, "address_space", address_space)
        object.__setattr__(self, "size", size)

    die: int
    displacement: int
    address_space: int
    size: int

    def __getattribute__(self, name: str) -> object:
        if name == "value":
            raise EvaluationError("an implicit pointer has no value; it can only be dereferenced")
        return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImplicitPointerValue) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"ImplicitPointerValue(die={self.die:#x}, displacement={self.displacement}, "
            f"address_space={self.address_space})"
        )

    def _key(self) -> tuple[int, int, int, int]:
        return self.die, self.displacement, self.address_space, self.size


def signed(value: int, bits: int) -> int:
    """The low `bits` bits of `value` as a two's complement number."""
    if bits <= 0:
        return 0
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _swap(bits: int, size: int) -> int:
    count = (size + 7) // 8
    return int.from_bytes(bits.to_bytes(count, "little"), "big")


def _element_from_bits(bits: int, type: BaseType) -> Number:
    if type.byte_order == "big":
        bits = _swap(bits, type.bit_size)
    if type.is_complex:
        half = type.bit_size // 2
        low, high = bits & (1 << half) - 1, bits >> half
        if type.byte_order == "big":  # the real part comes first in memory
            low, high = high, low
        parts = (struct.unpack(_FLOAT_FORMATS[half], part.to_bytes(half // 8, "little"))[0] for part in (low, high))
        return complex(*parts)
    if type.is_wide:
        return wide_from_bits(bits, type.bit_size)
    if type.is_float:
        data = bits.to_bytes(type.bit_size // 8, "little")
        number: float = struct.unpack(_FLOAT_FORMATS[type.bit_size], data)[0]
        return number
    return signed(bits, type.bit_size) if type.is_signed else bits


def _float_bits(number: float, size: int) -> int:
    try:
        data = struct.pack(_FLOAT_FORMATS[size], number)
    except OverflowError:
        data = struct.pack(_FLOAT_FORMATS[size], math.copysign(math.inf, number))
    return int.from_bytes(data, "little")


def _element_to_bits(element: Number, type: BaseType) -> int:
    if type.is_complex:
        half = type.bit_size // 2
        number = complex(element)
        low, high = _float_bits(number.real, half), _float_bits(number.imag, half)
        if type.byte_order == "big":
            low, high = high, low
        bits = low | high << half
    elif isinstance(element, complex):
        raise AssertionError(f"complex literal of {type.encoding}")
    elif type.is_wide:
        bits = wide_from_number(element, type.bit_size).bits
    elif type.is_float:
        bits = _float_bits(element, type.bit_size)
    else:
        bits = int(element) & ((1 << type.bit_size) - 1)
    return _swap(bits, type.bit_size) if type.byte_order == "big" else bits


def from_bits(bits: int, type: BaseType) -> Literal:
    """The literal whose representation of `type.size` bits is `bits` (element 0 in the lowest bits)."""
    if type.vector_size is None:
        return _element_from_bits(bits, type)
    mask = (1 << type.bit_size) - 1
    return tuple(
        _element_from_bits(bits >> (i * type.bit_size) & mask, type) for i in range(type.vector_size)
    )


def to_bits(literal: Literal, type: BaseType) -> int:
    """The representation of `literal` in `type.size` bits; inverse of `from_bits`."""
    if not isinstance(literal, tuple):
        return _element_to_bits(literal, type)
    bits = 0
    for element in reversed(literal):
        bits = bits << type.bit_size | _element_to_bits(element, type)
    return bits


def _element_normal(element: Number, type: BaseType) -> Number:
    """`element` wrapped or rounded to what the type can represent."""
    if type.is_float or type.is_complex or isinstance(element, int):
        return _element_from_bits(_element_to_bits(element, type), type)
    raise AssertionError(f"float literal of {type.encoding}")


# Operations: each works on plain numbers; the callers wrap the result to the type.


def _float_quotient(a: float, b: float) -> float:
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def _divide(a: Number, b: Number) -> Number:
    if isinstance(a, complex) or isinstance(b, complex):
        if b == 0:
            raise EvaluationError("division by zero")
        return a / b
    if isinstance(a, float) or isinstance(b, float):
        return _float_quotient(a, b)
    if b == 0:
        raise EvaluationError("division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _modulo(a: int, b: int) -> int:
    if b == 0:
        raise EvaluationError("division by zero")
    remainder = abs(a) % abs(b)
    return -remainder if a < 0 else remainder


_NUMERIC: dict[str, Callable[[Number, Number], Number]] = {
    "plus": operator.add,
    "minus": operator.sub,
    "mul": operator.mul,
    "div": _divide,
}
# The same for fractions as well as floats.
_WIDE: dict[str, Callable[[float, float], float]] = {
    "plus": operator.add,
    "minus": operator.sub,
    "mul": operator.mul,
    "div": lambda a, b: a / b if b else float(_float_quotient(a, b)),
}
_BITWISE: dict[str, Callable[[int, int], int]] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "mod": _modulo,
}
_COMPARE: dict[str, Callable[[int | float | Fraction, int | float | Fraction], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _shift(name: str, value: int, count: int, bits: int) -> int:
    """`value` (unsigned, `bits` wide) shifted by `count`; any count is allowed."""
    if name == "shl":
        return value << count if count < bits else 0
    if name == "shr":
        return value >> count
    return signed(value, bits) >> min(count, bits)


def generic_binary(name: str, a: int, b: int, bits: int) -> int:
    """Apply the binary operation `name` to generic operands (unsigned, `bits` wide); the result is unsigned and wraps.
    """
    if name in ("shl", "shr", "shra"):
        result = _shift(name, a, b, bits)
    elif name == "div":
        quotient = _divide(signed(a, bits), signed(b, bits))
        assert isinstance(quotient, int)
        result = quotient
    elif name in _BITWISE:
        result = _BITWISE[name](a, b)
    else:
        number = _NUMERIC[name](a, b)
        assert isinstance(number, int)
        result = number
    return result & ((1 << bits) - 1)


def typed_binary(name: str, a: Value, b: Value) -> Value:
    """Apply the binary operation `name` to operands of the same base type; the result has that type and wraps."""
    type = a.type
    assert type is not None
    if name in _NUMERIC:
        _require_arithmetic(type)
        function = wide_binary(type.bit_size, _WIDE[name]) if type.is_wide else _NUMERIC[name]
        return Value(type, _map2(function, a.value, b.value, type))
    _require_integral(type, name)
    if not isinstance(a.value, int) or not isinstance(b.value, int):
        raise AssertionError("integral literal expected")
    if name in _BITWISE:
        result = _BITWISE[name](a.value, b.value)
    else:
        if b.value < 0:
            raise EvaluationError("the shift count is negative")
        result = _shift(name, a.value & ((1 << type.bit_size) - 1), b.value, type.bit_size)
    return Value(type, _element_normal(result, type))


def typed_compare(name: str, a: Value, b: Value) -> bool:
    """Whether the comparison `name` holds for operands of the same base type (vectors: eq and ne only)."""
    assert a.type is not None
    _require_arithmetic(a.type)
    if isinstance(a.value, tuple) or isinstance(b.value, tuple):
        if name not in ("eq", "ne"):
            raise IllFormed(f"vectors of type '{a.type.name}' can be compared only for equality")
        return (a.value == b.value) is (name == "eq")
    if isinstance(a.value, complex) or isinstance(b.value, complex):
        if name not in ("eq", "ne"):
            raise IllFormed(f"complex numbers of type '{a.type.name}' can be compared only for equality")
        return (a.value == b.value) is (name == "eq")
    exact_a, exact_b = getattr(a.value, "exact", None), getattr(b.value, "exact", None)
    if exact_a is not None and exact_b is not None:
        return _COMPARE[name](exact_a, exact_b)
    return _COMPARE[name](a.value, b.value)


def generic_compare(name: str, a: int, b: int, bits: int) -> bool:
    """Whether the comparison `name` holds for generic operands, which are compared as signed numbers."""
    return _COMPARE[name](signed(a, bits), signed(b, bits))


def typed_unary(name: str, a: Value) -> Value:
    """`abs`, `neg` or `not` of a typed value."""
    type = a.type
    assert type is not None
    if name == "not":
        _require_integral(type, name)
        return Value(type, _map1(_invert, a.value, type))
    _require_arithmetic(type)
    if type.is_complex and name == "abs":
        raise IllFormed(f"abs cannot be applied to a complex number of type '{type.name}'")
    return Value(type, _map1(operator.neg if name == "neg" else abs, a.value, type))


def _invert(number: Number) -> Number:
    assert isinstance(number, int)
    return ~number


def generic_unary(name: str, a: int, bits: int) -> int:
    """`abs`, `neg` or `not` of a generic value."""
    result = ~a if name == "not" else -a if name == "neg" else abs(signed(a, bits))
    return result & ((1 << bits) - 1)


def _map1(function: Callable[[Number], Number], a: Literal, type: BaseType) -> Literal:
    if isinstance(a, tuple):
        return tuple(_element_normal(function(x), type) for x in a)
    return _element_normal(function(a), type)


def _map2(
    function: Callable[..., Number], a: Literal, b: Literal, type: BaseType
) -> Literal:
    try:
        if isinstance(a, tuple) and isinstance(b, tuple):
            return tuple(_element_normal(function(x, y), type) for x, y in zip(a, b, strict=True))
        assert not isinstance(a, tuple)
        assert not isinstance(b, tuple)
        return _element_normal(function(a, b), type)
    except OverflowError:
        raise EvaluationError(f"overflow in type '{type.name}'") from None


def _require_integral(type: BaseType, name: str) -> None:
    if not type.is_integral:
        raise IllFormed(f"{name} needs integral operands, not '{type.name}' ({type.encoding})")


def _require_arithmetic(type: BaseType) -> None:
    if type.encoding not in _ARITHMETIC:
        raise IllFormed(f"arithmetic is not possible with values of '{type.name}' ({type.encoding})")
    if (type.encoding in _FLOAT and not type.is_float) or (type.encoding == _COMPLEX and not type.is_complex):
        raise EvaluationError(
            f"arithmetic with {type.bit_size}-bit floating-point numbers ('{type.name}') is not supported"
        )


def convert(literal: Literal, source: BaseType | None, target: BaseType | None, generic_bits: int) -> Literal:
    """`DW_OP_convert`: the same number in another type; None is the generic type (DWARF 5, 2.5.1.6).

    Integers wrap, floating-point numbers are truncated towards zero. Vector types convert element by
    element to a vector type of as many elements.
    """
    for type in (source, target):
        if type is not None:
            _require_arithmetic(type)
    lanes = source.vector_size if source else None
    if lanes != (target.vector_size if target else None):
        raise IllFormed("a vector type can be converted only to a vector type with the same number of elements")
    if isinstance(literal, tuple):
        assert target is not None
        return tuple(_convert_element(x, target, generic_bits) for x in literal)
    return _convert_element(literal, target, generic_bits)


def _convert_element(number: Number, target: BaseType | None, generic_bits: int) -> Number:
    if target is not None and target.is_complex:
        return _element_normal(complex(number), target)
    if isinstance(number, complex):
        number = number.real  # conversion from complex takes the real part, as in C
    if target is not None and target.is_wide:
        return wide_from_number(number, target.bit_size)
    if target is not None and target.is_float:
        try:
            exact = getattr(number, "exact", None)
            return _element_normal(float(number if exact is None else exact), target)
        except OverflowError:
            return math.copysign(math.inf, number)
    if isinstance(number, float):
        if not math.isfinite(number):
            raise EvaluationError(f"{number} cannot be converted to an integer")
        number = math.trunc(number)
    if target is None:
        return number & ((1 << generic_bits) - 1)
    return _element_normal(number, target)
