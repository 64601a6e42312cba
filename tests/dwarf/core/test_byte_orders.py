"""Base types with the opposite byte order: their literals, and the types with which they can be combined."""

from __future__ import annotations

import struct

import pytest

from rocdbg.dwarf.typed_values import BaseType, Value, from_bits, to_bits, typed_binary


@pytest.mark.parametrize(
    ("encoding", "bits", "data", "literal"),
    [
        ("DW_ATE_unsigned", 32, struct.pack(">I", 0x12345678), 0x12345678),
        ("DW_ATE_signed", 16, struct.pack(">h", -2), -2),
        ("DW_ATE_float", 64, struct.pack(">d", 1.5), 1.5),
        ("DW_ATE_complex_float", 64, struct.pack(">ff", 1.5, -2.0), 1.5 - 2j),
    ],
    ids=["unsigned", "signed", "float", "complex"],
)
def test_literals_of_big_types(encoding: str, bits: int, data: bytes, literal: complex) -> None:
    big = BaseType("t", encoding, bits, byte_order="big")
    number = int.from_bytes(data, "little")
    assert from_bits(number, big) == literal
    assert to_bits(literal, big) == number
    little = BaseType("t", encoding, bits)
    assert from_bits(number, little) != literal
    assert not big.same_as(little)
    assert big.same_as(BaseType("other name", encoding, bits, byte_order="big"))


def test_numbers_of_one_byte_order_are_added() -> None:
    big = BaseType("t", "DW_ATE_unsigned", 32, byte_order="big")
    assert typed_binary("plus", Value(big, 3), Value(big, 4)) == Value(big, 7)
