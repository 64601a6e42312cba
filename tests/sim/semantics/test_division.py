"""The division steps: each by table, and the whole sequence from compilers against IEEE division."""

from __future__ import annotations

import numpy as np
import pytest

VCC = 106


def _refine(run, dtype, n, d):
    """LLVM's expansion of n / d, step by step."""
    name = {"f4": "f32", "f8": "f64"}[dtype]

    def op(stem, *sources, neg=0, **more):
        return run(f"v_{stem}_{name}", *sources, result=dtype, neg=neg, **more)

    def fma(a, b, c, neg=0):
        return op("fma", a, b, c, neg=neg).value

    one = np.ones(len(n), dtype)
    scaled_d = op("div_scale", d, d, n, mask_result=True).value
    first = op("div_scale", n, d, n, mask_result=True)
    scaled_n, post = first.value, first.masks[22]
    inverse = op("rcp", scaled_d).value
    for _ in range(1 if dtype == "f4" else 2):
        inverse = fma(fma(scaled_d, inverse, one, neg=1), inverse, inverse)
    quotient = op("mul", scaled_n, inverse).value
    if dtype == "f4":
        quotient = fma(fma(scaled_d, quotient, scaled_n, neg=1), inverse, quotient)
    rest = fma(scaled_d, quotient, scaled_n, neg=1)
    quotient = op("div_fmas", rest, inverse, quotient, masks={VCC: post}).value
    return op("div_fixup", quotient, d, n).value


@pytest.mark.parametrize("dtype, smallest, largest", [("f4", -149, 127), ("f8", -1074, 1023)])
def test_sequence_is_ieee_division(run, dtype, smallest, largest):
    rng = np.random.default_rng(5)
    size = np.dtype(dtype).itemsize
    ends = np.array(
        [0, 1, 3, np.inf, np.nan, np.finfo(dtype).max, np.finfo(dtype).tiny, 5e-324, 1e-45], dtype
    )
    ends = np.concatenate([ends, -ends])
    grid = [m.ravel() for m in np.meshgrid(ends, ends)]
    noise = [np.frombuffer(rng.bytes(1500 * size), dtype) for _ in range(2)]
    # Quotients in and around the subnormals, where rounding twice would show.
    small = (rng.standard_normal(1500) * 2.0 ** rng.integers(smallest, smallest + 100, 1500)).astype(dtype)
    divisor = (rng.standard_normal(1500) * 2.0 ** rng.integers(-30, 100, 1500)).astype(dtype)
    n, d = np.concatenate([grid[0], noise[0], small]), np.concatenate([grid[1], noise[1], divisor])
    with np.errstate(all="ignore"):
        want = n / d
    got = _refine(run, dtype, n, d)
    kind = np.uint32 if dtype == "f4" else np.uint64
    good = (got.view(kind) == want.view(kind)) | (np.isnan(got) & np.isnan(want))
    bad = np.nonzero(~good)[0]
    assert not len(bad), [(n[k], d[k], got[k], want[k]) for k in bad[:4]]


def _f32(pattern: int) -> np.ndarray:
    return np.array([pattern], np.uint32)


@pytest.mark.parametrize("value, denominator, numerator, want, post", [
    (0x40000000, 0x40000000, 0x3F800000, 0x40000000, False),  # 1 / 2: nothing to do
    (0x0F800000, 0x0F800000, 0x50000000, 0x2F800000, True),  # 2^33 / 2^-96: the denominator grows,
    (0x50000000, 0x0F800000, 0x50000000, 0x50000000, True),  # the numerator stays
    (0x50000000, 0x50000000, 0x0F800000, 0x50000000, True),  # 2^-96 / 2^33: the other way round
    (0x0F800000, 0x50000000, 0x0F800000, 0x2F800000, True),
    (0x00000001, 0x00000001, 0x00000001, 0x15000000, False),  # a subnormal denominator: both grow
    (0x7F000000, 0x7F000000, 0x7F000000, 0x5F000000, False),  # 2^127: both shrink
    (0x00000000, 0x00000000, 0x3F800000, 0xFFC00000, True),  # zeros: a NaN; div_fixup knows
])
def test_div_scale(run, value, denominator, numerator, want, post):
    outcome = run("v_div_scale_f32", _f32(value), _f32(denominator), _f32(numerator), mask_result=True)
    assert (f"{outcome.value[0]:#010x}", bool(outcome.masks[22][0])) == (f"{want:#010x}", post)


@pytest.mark.parametrize("quotient, denominator, numerator, want", [
    (0x3F000000, 0x40000000, 0x3F800000, 0x3F000000),
    (0x3F000000, 0xC0000000, 0x3F800000, 0xBF000000),  # the sign comes from the operands
    (0x7FC00000, 0x00000000, 0x3F800000, 0x7F800000),  # 1 / 0
    (0x7FC00000, 0x80000000, 0x3F800000, 0xFF800000),  # 1 / -0
    (0x3F800000, 0x00000000, 0x80000000, 0xFFC00000),  # 0 / 0
    (0x3F800000, 0x7F800000, 0xFF800000, 0xFFC00000),  # inf / inf
    (0x3F800000, 0x7F800000, 0xBF800000, 0x80000000),  # -1 / inf
    (0x3F800000, 0x7F800001, 0x7FC00002, 0x7FC00002),  # the numerator's NaN first
    (0x3F800000, 0x7F800001, 0x3F800000, 0x7FC00001),
])
def test_div_fixup(run, quotient, denominator, numerator, want):
    got = run("v_div_fixup_f32", _f32(quotient), _f32(denominator), _f32(numerator)).value[0]
    assert f"{got:#010x}" == f"{want:#010x}"
