"""Compares, classes and conversions of the vector unit."""

from __future__ import annotations

import numpy as np
import pytest

FLOATS = {
    "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "lg": lambda a, b: (a < b) | (a > b), "ge": lambda a, b: a >= b, "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b), "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)), "ngt": lambda a, b: ~(a > b), "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b), "nlt": lambda a, b: ~(a < b),
    "f": lambda a, b: np.zeros(len(a), bool), "tru": lambda a, b: np.ones(len(a), bool),
}
INTEGERS = {
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ne": np.not_equal,
    "ge": np.greater_equal,
}


@pytest.mark.parametrize("dtype, name", [("f2", "f16"), ("f4", "f32"), ("f8", "f64")])
@pytest.mark.parametrize("relation", FLOATS)
def test_float_compare(run, dtype, name, relation):
    values = np.array([0, -0.0, 1, -1, 2, np.inf, -np.inf, np.nan], dtype)
    a, b = (m.ravel() for m in np.meshgrid(values, values))
    got = run(f"v_cmp_{relation}_{name}", a, b, vdst=False, mask_result=True).masks[22]
    assert np.array_equal(got, FLOATS[relation](a, b))


@pytest.mark.parametrize("dtype, name", [
    ("i2", "i16"), ("u2", "u16"), ("i4", "i32"), ("u4", "u32"), ("i8", "i64"), ("u8", "u64"),
])
@pytest.mark.parametrize("relation", INTEGERS)
def test_integer_compare(run, dtype, name, relation):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.min + 1, 0, 1, 5, info.max], dtype)
    a, b = (np.ascontiguousarray(m.ravel()) for m in np.meshgrid(values, values))
    got = run(f"v_cmp_{relation}_{name}", a, b, vdst=False, mask_result=True).masks[22]
    assert np.array_equal(got, INTEGERS[relation](a, b))


@pytest.mark.parametrize("target, vcc_too", [("gfx90a", True), ("gfx1030", False)])
def test_cmpx_writes_exec(run, target, vcc_too):
    """Inactive lanes stay inactive; GFX9 writes the mask operand as well."""
    a, b = np.arange(64, dtype=np.uint32), np.full(64, 32, np.uint32)
    active = np.arange(64) % 2 == 0
    outcome = run("v_cmpx_lt_u32", a, b, vdst=False, mask_result=vcc_too, target=target, exec=active)
    want = active & (a < b)
    assert np.array_equal(outcome.masks[126], want)
    if vcc_too:
        assert np.array_equal(outcome.masks[22], want)


def test_class(run):
    numbers = [
        0x7F800001,
        0x7FC00000,
        0xFF800000,
        0xBF800000,
        0x80000001,
        0x80000000,
        0,
        1,
        0x3F800000,
        0x7F800000,
    ]
    x = np.array(numbers, np.uint32)
    for bit in range(10):
        classes = np.full(10, 1 << bit, np.uint32)
        for mode in (0x3F0, 0x300):  # subnormals are a class regardless of MODE
            got = run("v_cmp_class_f32", x, classes, vdst=False, mask_result=True, mode=mode).masks[22]
            assert np.nonzero(got)[0].tolist() == [bit]


@pytest.mark.parametrize("name, source, result, want", [
    ("v_cvt_i32_f32", "f4", "i4", [(1.9, 1), (-1.9, -1), (3e9, 2147483647), (-3e9, -2147483648), (np.nan, 0)]),
    ("v_cvt_u32_f32", "f4", "u4", [(1.9, 1), (-1, 0), (5e9, 4294967295), (np.inf, 4294967295), (np.nan, 0)]),
    ("v_cvt_i32_f64", "f8", "i4", [(2147483647.9, 2147483647), (-1e300, -2147483648)]),
    ("v_cvt_u32_f64", "f8", "u4", [(4294967295.9, 4294967295), (-0.9, 0)]),
    ("v_cvt_i16_f16", "f2", "i2", [(-2.5, -2), (65504, 32767), (np.nan, 0)]),
    ("v_cvt_u16_f16", "f2", "u2", [(2.5, 2), (-3, 0), (np.inf, 65535)]),
    ("v_cvt_f32_i32", "i4", "f4", [(-1, -1.0), (16777217, 16777216.0)]),
    ("v_cvt_f32_u32", "u4", "f4", [(4294967295, 4294967296.0)]),
    ("v_cvt_f64_u32", "u4", "f8", [(4294967295, 4294967295.0)]),
    ("v_cvt_f16_u16", "u2", "f2", [(65535, np.inf), (2049, 2048.0)]),
    ("v_cvt_f16_i16", "i2", "f2", [(-32768, -32768.0)]),
    ("v_cvt_f32_ubyte2", "u4", "f4", [(0x12345678, 0x34)]),
    ("v_cvt_off_f32_i4", "u4", "f4", [(0b1000, -0.5), (0b0111, 0.4375), (0b1111, -0.0625), (0x10, 0.0)]),
    ("v_cvt_rpi_i32_f32", "f4", "i4", [(2.5, 3), (-2.5, -2), (0.49999997, 0)]),
    ("v_cvt_flr_i32_f32", "f4", "i4", [(2.5, 2), (-2.5, -3)]),
    ("v_cvt_norm_i16_f16", "f2", "i2", [(1, 32767), (-1, -32767), (-2, -32767), (0.5, 16384), (np.nan, 0)]),
    ("v_cvt_norm_u16_f16", "f2", "u2", [(1, 65535), (-1, 0), (0.5, 32768)]),
])
def test_conversion(run, name, source, result, want):
    got = run(name, np.array([a for a, _ in want], source), result=result).value
    assert got.tolist() == [b for _, b in want]


@pytest.mark.parametrize("name, source, want", [
    ("v_cvt_f16_f32", 0x477FF000, 0x7C00),  # 65520 is a tie: to infinity
    ("v_cvt_f16_f32", 0x477FEFFF, 0x7BFF),
    ("v_cvt_f16_f32", 0x33000000, 0x0000),  # 2^-25: tie to even zero
    ("v_cvt_f16_f32", 0x33000001, 0x0001),
    ("v_cvt_f16_f32", 0xFF802000, 0xFE01),  # a signaling NaN keeps sign and top of the payload
])
def test_narrowing_to_f16(run, name, source, want):
    assert run(name, np.array([source], np.uint32), result="u2").value[0] == want


@pytest.mark.parametrize("name, low, high, want", [
    ("v_cvt_pkrtz_f16_f32", 0x477FF000, 0xC0490FDB, 0xC2487BFF),  # toward zero: 65504, -3.140625
    ("v_cvt_pkrtz_f16_f32", 0x7F800000, 0x33FFFFFF, 0x00017C00),
    ("v_cvt_pknorm_i16_f32", 0x3F800000, 0xBF000000, 0xC0007FFF),
    ("v_cvt_pknorm_u16_f32", 0x3F800000, 0x3F000000, 0x8000FFFF),
    ("v_cvt_pk_u16_u32", 0x12345, 7, 0x0007FFFF),
    ("v_cvt_pk_i16_i32", 0x80000000, 40000, 0x7FFF8000),
])
def test_packing(run, name, low, high, want):
    got = run(name, np.array([low], np.uint32), np.array([high], np.uint32)).value[0]
    assert f"{got:#010x}" == f"{want:#010x}"


def test_pk_u8_inserts_a_byte(run):
    x = np.array([2.5, 3.5, 300, -1], np.float32)
    position, word = np.arange(4, dtype=np.uint32), np.full(4, 0x11223344, np.uint32)
    got = run("v_cvt_pk_u8_f32", x, position, word).value
    assert [hex(v) for v in got] == ["0x11223302", "0x11220444", "0x11ff3344", "0x223344"]


def _decode(byte: int, fraction_bits: int, bias: int, kind: str) -> float:
    sign = -1 if byte & 0x80 else 1
    exponent, fraction = (byte & 0x7F) >> fraction_bits, byte & (1 << fraction_bits) - 1
    if (kind == "fnuz" and byte == 0x80) or (kind == "e4m3" and byte & 0x7F == 0x7F):
        return np.nan
    if kind == "e5m2" and exponent == 31:
        return np.nan if fraction else sign * np.inf
    if not exponent:
        return float(sign) * fraction * 2.0 ** (1 - bias - fraction_bits)
    return sign * (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias)


@pytest.mark.parametrize("target, name, fraction_bits, bias, kind", [
    ("gfx942", "fp8", 3, 8, "fnuz"), ("gfx942", "bf8", 2, 16, "fnuz"),
    ("gfx950", "fp8", 3, 7, "e4m3"), ("gfx950", "bf8", 2, 15, "e5m2"), ("gfx1200", "fp8", 3, 7, "e4m3"),
])
def test_fp8(run, target, name, fraction_bits, bias, kind):
    """Every byte widens to its value, and narrows back to itself; values in between round to the nearest, ties to even.
    """
    codes = np.arange(256, dtype=np.uint32)
    values = np.array([_decode(b, fraction_bits, bias, kind) for b in range(256)], np.float32)
    got = run(f"v_cvt_f32_{name}", codes, result="f4", target=target).value
    assert np.array_equal(got, values, equal_nan=True)
    good = np.isfinite(values)
    old = np.zeros(256, np.uint32)
    back = run(f"v_cvt_pk_{name}_f32", values, values, result="u2", target=target, old=old).value
    assert np.array_equal(back[good], (codes * 0x101)[good])
    positive = [b for b in range(127) if good[b] and good[b + 1]]
    middle = ((values[positive].astype("f8") + values[[b + 1 for b in positive]]) / 2).astype(np.float32)
    zeros = np.zeros(len(middle), np.float32)
    rounded = run(f"v_cvt_pk_{name}_f32", middle, zeros, result="u2", target=target, old=old).value
    assert rounded.tolist() == [b + (b & 1) for b in positive]
