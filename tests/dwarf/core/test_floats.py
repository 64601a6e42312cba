"""Wide floating-point arithmetic against the host's long double, where that is x87 extended."""

from __future__ import annotations

import operator
import random

import numpy as np
import pytest

from rocdbg.dwarf.typed_values import BaseType, Value, typed_binary, typed_compare
from rocdbg.dwarf.wide_floats import WideFloat, wide_from_bits, wide_from_number

X87 = BaseType("long double", "DW_ATE_float", 80)
QUAD = BaseType("__float128", "DW_ATE_float", 128)
SPECIAL = [0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1.7e308, 3.0, 1 / 3]
OPERATIONS = {"plus": operator.add, "minus": operator.sub, "mul": operator.mul, "div": operator.truediv}
FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
has_x87 = pytest.mark.skipif(np.finfo(np.longdouble).nmant != 63, reason="long double is not x87 extended here")


def bits_of(number: np.longdouble) -> int:
    return int.from_bytes(number.tobytes()[:10], "little")


def long_double(bits: int) -> np.longdouble:
    size = np.dtype(np.longdouble).itemsize
    return np.frombuffer(bits.to_bytes(10, "little").ljust(size, b"\0"), np.longdouble)[0]


def numbers() -> list[np.longdouble]:
    rng = random.Random(7)
    random_bits = [
        rng.getrandbits(1) << 79 | rng.choice((0, 1, 16383, 16384, 16300, 0x7FFE)) << 64 | 1 << 63 | rng.getrandbits(63)
        for _ in range(30)
    ]
    # An exponent of 0 has no leading bit.
    random_bits = [bits & ~(1 << 63) if bits >> 64 & 0x7FFF == 0 else bits for bits in random_bits]
    return [np.longdouble(x) for x in SPECIAL] + [long_double(bits) for bits in random_bits]


@has_x87
@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic_is_that_of_the_host(name: str) -> None:
    function = OPERATIONS[name]
    with np.errstate(all="ignore"):
        for a in numbers():
            for b in numbers():
                expected = function(a, b)
                result = typed_binary(
                    name, *(Value(X87, wide_from_bits(bits_of(x), 80)) for x in (a, b))
                ).value
                assert isinstance(result, WideFloat)
                if np.isnan(expected):
                    assert result != result
                else:
                    assert result.bits == bits_of(expected), (a, b)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("size", FLOATS)
def test_zeros_infinities_and_nans_are_those_of_the_host(size: int, name: str) -> None:
    float_, type_ = FLOATS[size], BaseType("float", "DW_ATE_float", size)
    with np.errstate(all="ignore"):
        for a in map(float_, SPECIAL):
            for b in map(float_, SPECIAL):
                got, expected = (
                    typed_binary(name, Value(type_, float(a)), Value(type_, float(b))).value, OPERATIONS[name](a, b)
                )
                assert repr(got) == repr(float(expected)), (a, b)


@has_x87
@pytest.mark.parametrize("name", OPERATIONS)
def test_zeros_infinities_and_nans_of_80_bits(name: str) -> None:
    with np.errstate(all="ignore"):
        for a in map(np.longdouble, SPECIAL):
            for b in map(np.longdouble, SPECIAL):
                got = typed_binary(name, *(Value(X87, wide_from_bits(bits_of(x), 80)) for x in (a, b))).value
                assert isinstance(got, WideFloat)
                assert repr(float(got)) == repr(float(OPERATIONS[name](a, b))), (a, b)


@has_x87
def test_comparison_is_exact() -> None:
    one = Value(X87, wide_from_bits(16383 << 64 | 1 << 63, 80))
    next_one = Value(X87, wide_from_bits(16383 << 64 | 1 << 63 | 1, 80))
    assert float(one.value) == float(next_one.value)  # type: ignore[arg-type]
    assert typed_compare("lt", one, next_one)
    assert not typed_compare("eq", one, next_one)


@pytest.mark.parametrize(("number", "bits"), [
    (1.0, 0x3FFF << 112), (-2.0, 1 << 127 | 0x4000 << 112), (0.5, 0x3FFE << 112), (0.0, 0), (-0.0, 1 << 127),
    (float("inf"), 0x7FFF << 112), (1.5, 0x3FFF << 112 | 1 << 111), (float("nan"), 0x7FFF << 112 | 1 << 111),
])
def test_quadruple(number: float, bits: int) -> None:
    assert wide_from_number(number, 128).bits == bits
    back = float(wide_from_bits(bits, 128))
    assert back == number or number != number


def test_one_third_has_113_bits() -> None:
    one, three = (Value(QUAD, wide_from_number(x, 128)) for x in (1.0, 3.0))
    third = typed_binary("div", one, three).value
    assert isinstance(third, WideFloat)
    assert third.bits == 0x3FFD_5555_5555_5555_5555_5555_5555_5555
