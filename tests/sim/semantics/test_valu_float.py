"""Float arithmetic of the vector unit: hand-checked edge cases, then whole families against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}
FORMATS = ("f2", "f4", "f8")
NAMES = {"f2": "f16", "f4": "f32", "f8": "f64"}


def bits(values: np.ndarray) -> np.ndarray:
    return values.view(BITS[values.dtype.itemsize])


def f32(*patterns: int) -> np.ndarray:
    return np.array(patterns, np.uint32).view(np.float32)


def special(dtype: str) -> np.ndarray:
    """Zeros, subnormals, the ends of the range, halves, infinities, NaN."""
    info = np.finfo(dtype)
    numbers = [0, 0.5, 1, 1.5, 2.5, 3, 255, 1e4, np.inf, np.nan]
    numbers += [info.max, info.tiny, info.tiny / 2, info.smallest_subnormal, 1 - info.epsneg, 1 + info.eps]
    values = np.array(numbers, dtype)
    return np.concatenate([values, -values])


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of special numbers, and random bit patterns."""
    one = special(dtype)
    a, b = (m.ravel() for m in np.meshgrid(one, one))
    rng = np.random.default_rng(7)
    size = np.dtype(dtype).itemsize
    noise = [np.frombuffer(rng.bytes(300 * size), dtype) for _ in range(2)]
    near = [(rng.standard_normal(200) * 10).astype(dtype) for _ in range(2)]
    return np.concatenate([a, noise[0], near[0]]), np.concatenate([b, noise[1], near[1]])


def assert_same(got: np.ndarray, want: np.ndarray, *inputs: np.ndarray) -> None:
    """Check that bits are equal; all NaNs count as equal."""
    want = want.astype(got.dtype)
    good = (bits(got) == bits(want)) | (np.isnan(got) & np.isnan(want))
    bad = np.nonzero(~good)[0]
    assert not len(bad), [(tuple(x[k] for x in inputs), got[k], want[k]) for k in bad[:4]]


@pytest.fixture(autouse=True)
def quiet_numpy():
    with np.errstate(all="ignore"):
        yield


# -- against NumPy ---------------------------------------------------------------------------------


OPERATIONS = {"add": np.add, "mul": np.multiply, "sub": np.subtract, "subrev": lambda a, b: b - a}


@pytest.mark.parametrize("dtype, name", [
    *((dtype, name) for dtype in ("f2", "f4") for name in OPERATIONS), ("f8", "add"), ("f8", "mul"),
])
def test_two_operands(run, dtype, name):
    a, b = pairs(dtype)
    function = OPERATIONS[name]
    assert_same(run(f"v_{name}_{NAMES[dtype]}", a, b, result=dtype).value, function(a, b), a, b)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("name, function", [
    ("trunc", np.trunc), ("ceil", np.ceil), ("floor", np.floor), ("rndne", np.rint),
    ("frexp_mant", lambda a: np.frexp(a)[0]),
])
def test_one_operand(run, dtype, name, function):
    a, _ = pairs(dtype)
    assert_same(run(f"v_{name}_{NAMES[dtype]}", a, result=dtype).value, function(a), a)


@pytest.mark.parametrize("dtype", FORMATS)
def test_fract_stays_below_one(run, dtype):
    a, _ = pairs(dtype)
    below = np.nextafter(np.ones(1, dtype), np.zeros(1, dtype))[0]
    difference = a - np.floor(a)
    want = np.where(difference > below, below, difference)
    assert_same(run(f"v_fract_{NAMES[dtype]}", a, result=dtype).value, want, a)


@pytest.mark.parametrize("dtype, name, result", [
    ("f2", "v_frexp_exp_i16_f16", "i2"), ("f4", "v_frexp_exp_i32_f32", "i4"), ("f8", "v_frexp_exp_i32_f64", "i4"),
])
def test_frexp_exponent(run, dtype, name, result):
    a, _ = pairs(dtype)
    want = np.where(np.isfinite(a), np.frexp(a)[1], 0)
    assert np.array_equal(run(name, a, result=result).value, want)


@pytest.mark.parametrize("dtype, exponents", [("f2", 40), ("f4", 320), ("f8", 2200)])
def test_ldexp_rounds_once(run, dtype, exponents):
    a, _ = pairs(dtype)
    power = np.random.default_rng(3).integers(-exponents, exponents, len(a))
    wide = "f8" if dtype == "f2" else dtype  # NumPy's own f16 ldexp overflows on the way
    want = np.ldexp(a.astype(wide), power).astype(dtype)
    source = power.astype(np.int16 if dtype == "f2" else np.int32)
    assert_same(run(f"v_ldexp_{NAMES[dtype]}", a, source, result=dtype).value, want, a, power)


def test_fma_f16_and_f32_round_once(run):
    a, b = pairs("f2")
    c = np.roll(b, 7)
    want = a.astype("f8") * b.astype("f8") + c.astype("f8")  # exact except for overflow
    assert_same(run("v_fma_f16", a, b, c, result="f2").value, want.astype("f2"), a, b, c)
    # (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: adding -1 - 2^-11 leaves what an unfused product has lost.
    one = f32(0x3F800800)
    minus = -(one * one)
    assert run("v_fma_f32", one, one, minus, result="f4").value[0] == 2.0**-24
    assert run("v_mad_f32", one, one, minus, result="f4").value[0] == 0.0


# -- NaNs, signs of zero, subnormals ---------------------------------------------------------------

QUIET, SIGNALING, INFINITE = 0x7FC01234, 0x7F800001, 0x7F800000


@pytest.mark.parametrize("name, operands, want", [
    ("v_add_f32", (SIGNALING, 0x3F800000), 0x7FC00001),  # made quiet
    ("v_add_f32", (0x3F800000, 0xFFC01234), 0xFFC01234),  # sign and payload stay
    ("v_add_f32", (0x7FC00001, 0x7FC00002), 0x7FC00001),  # the first one
    ("v_add_f32", (INFINITE, 0xFF800000), 0xFFC00000),  # invalid: the default NaN
    ("v_mul_f32", (0, INFINITE), 0xFFC00000),
    ("v_mul_legacy_f32", (0, INFINITE), 0),  # 0 * anything = 0
    ("v_mul_legacy_f32", (QUIET, 0x80000000), 0),
    ("v_fma_f32", (0x3F800000, 0x3F800000, SIGNALING), 0x7FC00001),
    ("v_min_f32", (QUIET, 0x3F800000), 0x3F800000),
    ("v_min_f32", (0x3F800000, QUIET), 0x3F800000),
    ("v_max_f32", (SIGNALING, 0x3F800000), 0x7FC00001),  # MODE.IEEE is set
    ("v_min_f32", (0, 0x80000000), 0x80000000),  # -0 < +0
    ("v_max_f32", (0x80000000, 0), 0),
    ("v_med3_f32", (0x3F800000, 0x40400000, 0x40000000), 0x40000000),
    ("v_med3_f32", (0x3F800000, QUIET, 0x40000000), 0x3F800000),  # with a NaN: the minimum
    ("v_min3_f32", (0x40400000, 0x40000000, 0x3F800000), 0x3F800000),
    ("v_max3_f32", (0x40400000, 0x40000000, 0x3F800000), 0x40400000),
    ("v_cubeid_f32", (0x3F800000, 0x40000000, 0xC0400000), 0x40A00000),  # -z major: face 5
    ("v_cubema_f32", (0x3F800000, 0x40000000, 0xC0400000), 0xC0C00000),  # 2 * z
    ("v_cubesc_f32", (0x3F800000, 0x40000000, 0xC0400000), 0xBF800000),  # -x
    ("v_cubetc_f32", (0x3F800000, 0x40000000, 0xC0400000), 0xC0000000),  # -y
])
def test_special_operands(run, name, operands, want):
    got = run(name, *(np.full(1, o, np.uint32) for o in operands)).value[0]
    assert f"{got:#010x}" == f"{want:#010x}"


def test_signaling_nan_without_ieee_mode_loses_to_the_number(run):
    a, b = f32(SIGNALING), f32(0x3F800000)
    assert run("v_max_f32", a, b, result="f4", mode=0x1F0).value[0] == 1.0


@pytest.mark.parametrize("name, operands, kept, flushed", [
    ("v_add_f32", (0x00000001, 0), 0x00000001, 0),  # input
    ("v_mul_f32", (0x00800000, 0x3F000000), 0x00400000, 0),  # output
    ("v_min_f32", (0x80000001, 0), 0x80000001, 0x80000000),
    ("v_floor_f32", (0x80000001,), 0xBF800000, 0x80000000),
])
def test_flushing(run, name, operands, kept, flushed):
    sources = [np.full(1, o, np.uint32) for o in operands]
    assert run(name, *sources).value[0] == kept
    assert run(name, *sources, mode=0x300).value[0] == flushed


def test_mad_f32_never_has_subnormals(run):
    tiny, one, zero = f32(1), f32(0x3F800000), f32(0)
    assert bits(run("v_mad_f32", tiny, one, zero, result="f4").value)[0] == 0


# -- modifiers and destinations --------------------------------------------------------------------


@pytest.mark.parametrize("name, modifiers, neg, abs, want", [
    ("v_add_f32", {}, 1, 0, 1.0),  # -2 + 3
    ("v_add_f32", {"omod": 1}, 0, 0, 5.0),  # without effect in IEEE mode
    ("v_add_f32", {"clamp": 1}, 0, 0, 1.0),
    ("v_sub_f32", {"clamp": 1}, 0, 0, 0.0),
    ("v_sub_f32", {}, 2, 2, 5.0),  # 2 - -|3|
])
def test_modifiers(run, name, modifiers, neg, abs, want):
    a, b = np.full(1, 2, np.float32), np.full(1, 3, np.float32)
    assert run(name, a, b, result="f4", modifiers=modifiers, neg=neg, abs=abs).value[0] == want


@pytest.mark.parametrize("mode, want", [
    (0x1C0, {1: 10.0, 2: 20.0, 3: 2.5}),
    (0x1F0, {1: 5.0, 2: 5.0, 3: 5.0}),  # subnormals may come out
    (0x3C0, {1: 5.0, 2: 5.0, 3: 5.0}),  # IEEE
])
def test_output_modifiers(run, mode, want):
    a, b = np.full(1, 2, np.float32), np.full(1, 3, np.float32)
    for omod, result in want.items():
        assert run("v_add_f32", a, b, result="f4", modifiers={"omod": omod}, mode=mode).value[0] == result


def test_output_modifiers_lose_the_sign_of_zero(run):
    a = f32(0x80000000)
    assert bits(run("v_mul_f32", a, f32(0x3F800000), result="f4", modifiers={"omod": 1}, mode=0x1C0).value)[0] == 0


def test_clamp_of_nan(run):
    nan, one = f32(QUIET), f32(0x3F800000)
    clamp = {"clamp": 1}
    assert run("v_add_f32", nan, one, result="f4", modifiers=clamp).value[0] == 0.0  # DX10_CLAMP
    assert np.isnan(run("v_add_f32", nan, one, result="f4", modifiers=clamp, mode=0x2F0).value[0])


@pytest.mark.parametrize("target, name, want", [
    ("gfx90a", "v_add_f16", 0x00004200),  # older 16-bit instructions clear the upper half on GFX9,
    ("gfx90a", "v_fma_f16", 0xABCD4400),  # VOP3 ones with op_sel keep it,
    ("gfx90a", "v_fma_legacy_f16", 0x00004400),
    ("gfx1030", "v_add_f16", 0xABCD4200),  # and all do from GFX10 on.
    ("gfx1100", "v_fma_f16", 0xABCD4400),
])
def test_upper_half_of_16_bit_results(run, target, name, want):
    one, two = np.full(1, 1, np.float16), np.full(1, 2, np.float16)
    sources = (one, two) if "add" in name else (one, two, two)
    old = np.full(1, 0xABCD1234, np.uint32)
    assert f"{run(name, *sources, old=old, target=target).value[0]:#010x}" == f"{want:#010x}"


def test_accumulating_forms_read_the_destination(run):
    a, b, old = (np.full(1, v, np.float32) for v in (2, 3, 10))
    for name in ("v_fmac_f32", "v_mac_f32"):
        assert run(name, a, b, old=old, result="f4", encoding="VOP2").value[0] == 16.0


def test_inactive_lanes_keep_their_values(run):
    a = np.arange(64, dtype=np.float32)
    old = np.full(64, 7, np.float32)
    active = np.arange(64) % 3 == 0
    got = run("v_add_f32", a, a, old=old, result="f4", exec=active).value
    assert np.array_equal(got, np.where(active, 2 * a, old))
