"""Transcendental instructions: the documents' examples bit for bit, accuracy against double precision."""

from __future__ import annotations

import numpy as np
import pytest

EXAMPLES = [
    ("v_exp_f32", 0xFF800000, 0x00000000),
    ("v_exp_f32", 0x80000000, 0x3F800000),
    ("v_exp_f32", 0x7F800000, 0x7F800000),
    ("v_exp_f32", 0x40400000, 0x41000000),  # 2^3
    ("v_exp_f32", 0xC3000000, 0x00000000),  # 2^-128 is flushed
    ("v_log_f32", 0xFF800000, 0xFFC00000),
    ("v_log_f32", 0xBF800000, 0xFFC00000),
    ("v_log_f32", 0x80000000, 0xFF800000),
    ("v_log_f32", 0x00000000, 0xFF800000),
    ("v_log_f32", 0x3F800000, 0x00000000),
    ("v_log_f32", 0x7F800000, 0x7F800000),
    ("v_log_f32", 0x00000001, 0xFF800000),  # a subnormal counts as 0
    ("v_rcp_f32", 0xFF800000, 0x80000000),
    ("v_rcp_f32", 0xC0000000, 0xBF000000),
    ("v_rcp_f32", 0x80000000, 0xFF800000),
    ("v_rcp_f32", 0x00000000, 0x7F800000),
    ("v_rcp_f32", 0x7F000001, 0x00000000),  # subnormal result
    ("v_rsq_f32", 0xFF800000, 0xFFC00000),
    ("v_rsq_f32", 0x80000000, 0xFF800000),
    ("v_rsq_f32", 0x40800000, 0x3F000000),
    ("v_sqrt_f32", 0xFF800000, 0xFFC00000),
    ("v_sqrt_f32", 0x80000000, 0x80000000),
    ("v_sqrt_f32", 0x40800000, 0x40000000),
    ("v_sqrt_f32", 0x00000001, 0x00000000),
    ("v_sin_f32", 0xFF800000, 0xFFC00000),
    ("v_sin_f32", 0x80000000, 0x80000000),
    ("v_sin_f32", 0x3E800000, 0x3F800000),  # a quarter turn
    ("v_cos_f32", 0x80000000, 0x3F800000),
    ("v_cos_f32", 0x3E800000, 0x00000000),
    ("v_cos_f32", 0x7F800000, 0xFFC00000),
    ("v_sin_f32", 0x3F000000, 0x00000000),  # half a turn
    ("v_cos_f32", 0x3F000000, 0xBF800000),
]


@pytest.mark.parametrize("name, source, want", EXAMPLES)
def test_example(run, name, source, want):
    got = run(name, np.array([source], np.uint32), target="gfx1100").value[0]
    assert f"{got:#010x}" == f"{want:#010x}"


@pytest.mark.parametrize("name, source, want", [
    ("v_rcp_f16", 0xC000, 0xB800), ("v_rcp_f16", 0x0000, 0x7C00), ("v_sqrt_f16", 0xFC00, 0xFE00),
    ("v_rsq_f16", 0x4400, 0x3800), ("v_exp_f16", 0xCC00, 0x0100), ("v_log_f16", 0x0001, 0xCE00),
])  # fmt: skip
def test_f16_example(run, name, source, want):
    """f16 has subnormals: 2^-16 is one, log2 of the smallest is -24."""
    assert run(name, np.array([source], np.uint16), result="u2").value[0] == want


@pytest.mark.parametrize("target, name, want", [
    ("gfx90a", "v_sin_f32", 0.0), ("gfx90a", "v_cos_f32", 1.0),  # outside [-256, 256]
    ("gfx1030", "v_sin_f32", 1.0), ("gfx1030", "v_cos_f32", 0.0),  # full range
])  # fmt: skip
def test_range_of_sine_and_cosine(run, target, name, want):
    assert run(name, np.array([1000.25], np.float32), result="f4", target=target).value[0] == want


def _reference(name, x):
    with np.errstate(all="ignore"):
        return {
            "exp": lambda: np.exp2(x), "log": lambda: np.log2(x), "rcp": lambda: 1 / x, "rsq": lambda: 1 / np.sqrt(x),
            "sqrt": lambda: np.sqrt(x),
        }[name]()  # fmt: skip


@pytest.mark.parametrize("name", ["exp", "log", "rcp", "rsq", "sqrt"])
@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_correctly_rounded(run, name, dtype):
    """Random inputs equal the rounded double-precision result (which NumPy's own error cannot move here)."""
    rng = np.random.default_rng(11)
    x = np.abs(rng.standard_normal(2000)) * 2.0 ** rng.integers(-8, 8, 2000)
    x = np.concatenate([x, 1 + rng.standard_normal(200) * 1e-3]).astype(dtype)
    if name == "exp":
        x = (x * rng.choice([-1, 1], len(x))).clip(-14, 14).astype(dtype)
    got = run(f"v_{name}_{'f16' if dtype == 'f2' else 'f32'}", x, result=dtype).value
    with np.errstate(over="ignore"):
        want = _reference(name, x.astype("f8")).astype(dtype)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("name, function", [("sin", np.sin), ("cos", np.cos)])
def test_sine_and_cosine_are_accurate(run, name, function):
    x = (np.random.default_rng(2).standard_normal(2000) * 20).astype(np.float32)
    got = run(f"v_{name}_f32", x, result="f4").value.astype("f8")
    turn = x.astype("f8")
    want = function(2 * np.pi * (turn - np.rint(turn)))
    assert np.abs(got - want).max() < 2**-24


# The published first 256 bits of 2 / pi, behind the point.
TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561


def test_trig_preop_gives_the_bits_of_two_over_pi(run):
    """Segment k holds bits 53k .. 53k + 52 of 2 / pi, at their own weight."""
    segments = np.arange(4, dtype=np.uint32)
    got = run("v_trig_preop_f64", np.full(4, 1.0), segments, result="f8").value
    want = [(TWO_OVER_PI >> (256 - 53 * (k + 1)) & (1 << 53) - 1) * 2.0 ** (-53 * (k + 1)) for k in range(4)]
    assert [v.hex() for v in got] == [v.hex() for v in want]
    # A large argument (2^60, exponent field 1083) moves the window by the exponent above 1077.
    assert run("v_trig_preop_f64", np.full(1, 2.0**60), segments[:1], result="f8").value[0] == (
        (TWO_OVER_PI >> (256 - 59) & (1 << 53) - 1) * 2.0**-59
    )
