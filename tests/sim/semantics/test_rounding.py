"""MODE's rounding modes: compiled results against exact fractions, for every instruction that rounds."""

from __future__ import annotations

import numpy as np
import pytest

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import F16, F32, F64, Op
from rocdbg.sim.core.reference_builder import compute

DTYPES = {F16: "f2", F32: "f4", F64: "f8"}
BINARY = [(F16, "f16"), (F32, "f32"), (F64, "f64")]
ARITHMETIC = [
    (f"v_{stem}_{name}", op, type, count)
    for type, name in BINARY
    for stem, op, count in (("add", Op.FADD, 2), ("mul", Op.FMUL, 2), ("fma", Op.FMA, 3))
]


def _mode(rounding: int) -> int:
    return 0x3F0 | rounding | rounding << 2


def _numbers(type, count: int, seed: int) -> np.ndarray:
    """Numbers with close and with distant exponents, extremes, zeros."""
    rng, dtype = np.random.default_rng(seed), np.dtype(DTYPES[type])
    span = {2: 8, 4: 60, 8: 500}[dtype.itemsize]
    with np.errstate(over="ignore"):
        values = (rng.standard_normal(count) * 2.0 ** rng.integers(-span, span, count)).astype(dtype)
    info = np.finfo(dtype)
    special = np.array([0.0, -0.0, info.max, -info.max, info.tiny, info.smallest_subnormal, 1.0, -1.0], dtype)
    return np.where(rng.integers(0, 4, count) == 0, rng.choice(special, count), values)


def _bits(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.dtype.itemsize}")


@pytest.mark.parametrize("rounding", [1, 2, 3])
@pytest.mark.parametrize("name, op, type, count", ARITHMETIC, ids=lambda v: v if isinstance(v, str) else "")
def test_arithmetic(run, name, op, type, count, rounding):
    sources = [_numbers(type, 192, seed) for seed in range(count)]
    if op is Op.FADD:
        sources[1][:40] = -sources[0][:40]  # exact zeros
    unsigned = f"u{np.dtype(DTYPES[type]).itemsize}"
    got = run(name, *sources, result=unsigned, mode=_mode(rounding), target="gfx1030").value
    rows = zip(*(_bits(s) for s in sources), strict=True)
    want = np.array([compute(op, type, [(type, int(b)) for b in row], rounding) for row in rows], unsigned)
    number = ~np.isnan(want.view(DTYPES[type]))
    np.testing.assert_array_equal(got[number], want[number])


CONVERSIONS = [
    ("v_cvt_f32_f64", Op.FPTRUNC, F64, F32), ("v_cvt_f16_f32", Op.FPTRUNC, F32, F16),
]


@pytest.mark.parametrize("rounding", [1, 2, 3])
@pytest.mark.parametrize("name, op, source, target", CONVERSIONS, ids=[c[0] for c in CONVERSIONS])
def test_conversions(run, name, op, source, target, rounding):
    values = _numbers(source, 192, 5)
    unsigned = f"u{np.dtype(DTYPES[target]).itemsize}"
    got = run(name, values, result=unsigned, mode=_mode(rounding), target="gfx1030").value
    want = [compute(op, target, [(source, int(b))], rounding) for b in _bits(values)]
    np.testing.assert_array_equal(got, np.array(want, unsigned))


@pytest.mark.parametrize("rounding, want", [(0, 1 << 24), (1, (1 << 24) + 2), (2, 1 << 24), (3, 1 << 24)])
def test_integer_to_float(run, rounding, want):
    value = np.full(64, (1 << 24) + 1, np.int32)
    assert run("v_cvt_f32_i32", value, result="f4", mode=_mode(rounding)).value[0] == want
    negative = run("v_cvt_f32_i32", -value, result="f4", mode=_mode(rounding)).value[0]
    assert negative == {0: -(1 << 24), 1: -(1 << 24), 2: -(1 << 24) - 2, 3: -(1 << 24)}[rounding]


def test_modes_of_f32_and_f64_are_apart(run):
    one, tiny = np.ones(64, "f4"), np.full(64, 2.0**-30, "f4")
    up64 = 0x3F0 | 1 << 2
    assert run("v_add_f32", one, tiny, result="f4", mode=up64).value[0] == 1
    assert run("v_add_f64", one.astype("f8"), tiny.astype("f8") ** 2, result="f8", mode=up64).value[0] > 1


def test_exact_instructions_run_in_every_mode(run):
    x = np.full(64, 1.25, "f4")
    assert run("v_max_f32", x, x, result="f4", mode=_mode(1)).value[0] == 1.25
    assert run("v_rcp_f32", x, result="f4", mode=_mode(3)).value[0] == np.float32(0.8)


@pytest.mark.parametrize("overflow, want", [(0, np.inf), (1, 65504.0)])
def test_fp16_ovfl(run, overflow, want):
    """Results that overflow are the largest number; infinities stay infinite."""
    big, infinite = np.full(64, 60000, "f2"), np.full(64, np.inf, "f2")
    mode = 0x3F0 | overflow << 23
    assert run("v_add_f16", big, big, result="f2", mode=mode, target="gfx1030").value[0] == want
    assert run("v_mul_f16", big, -big, result="f2", mode=mode, target="gfx1030").value[0] == -want
    assert run("v_add_f16", big, infinite, result="f2", mode=mode, target="gfx1030").value[0] == np.inf
    wide = np.full(64, 1e6, "f4")
    assert run("v_cvt_f16_f32", wide, result="f2", mode=mode, target="gfx1030").value[0] == want
    assert layout.Mode(layout.mode_key(mode)).fp16_overflow == bool(overflow)
    # An infinite addend makes an infinite result.
    accumulated = run("v_fmac_f16", big, big, old=infinite, result="f2", mode=mode, target="gfx1030")
    assert accumulated.value[0] == np.inf


@pytest.mark.parametrize("overflow, want", [(0, "0x7c007c00"), (1, "0x7c007bff")])
def test_fp16_ovfl_of_halves(run, overflow, want):
    """Each half separately: the upper ones have an infinite source, the lower ones overflow."""
    mode = 0x3F0 | overflow << 23
    words = np.full(64, 0x7C007B00, np.uint32)
    one = np.full(64, 0x3C007B00, np.uint32)
    packed = {"encoding": "VOP3P", "modifiers": {"op_sel_hi": 7}, "target": "gfx1030", "mode": mode}
    assert hex(run("v_pk_mul_f16", words, one, **packed).value[0]) == want
    assert hex(run("v_pk_fma_f16", words, one, one, **packed).value[0]) == want
    assert hex(run("v_pk_fmac_f16", words, one, old=one, target="gfx1030", mode=mode).value[0]) == want
    wide = np.full(64, 1e6, "f4")
    mixed = {"encoding": "VOP3P", "target": "gfx1030", "mode": mode, "old": np.full(64, 0x12345678, np.uint32)}
    limit = 0x7BFF if overflow else 0x7C00
    assert hex(run("v_fma_mixlo_f16", wide, wide, wide, **mixed).value[0]) == hex(0x12340000 | limit)
    assert hex(run("v_fma_mixhi_f16", wide, wide, wide, **mixed).value[0]) == hex(0x5678 | limit << 16)


def test_stochastic_rounding(run):
    """1 + 9/16 is between 0x44 (1.5) and 0x45 (1.625) of fp8: noise decides, and op_sel selects the byte."""
    x = np.full(64, 1.5625, "f4")
    noise = np.array([0, 0xFFFFFFFF] * 32, np.uint32)
    old = np.full(64, 0xAABBCCDD, np.uint32)
    got = run("v_cvt_sr_fp8_f32", x, noise, old=old, target="gfx942", modifiers={"op_sel": 4}).value
    assert [hex(v) for v in got[:2]] == ["0xaabb44dd", "0xaabb45dd"]
