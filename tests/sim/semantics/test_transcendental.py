"""Transcendental instructions: the documents' examples bit for bit, and accuracy compared with double precision."""

from __future__ import annotations

import numpy as np
import pytest

from rocdbg.sim.semantics import transcendental_roots

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


# Captured on a gfx1100 and a gfx1201: not always the nearest number.
CAPTURED = {
    "v_exp_f32": """
        337fffff:3f800000 33800000:3f800000 33800001:3f800000 b37fffff:3f800000 b3800000:3f7fffff b3800001:3f7fffff
        42ffffff:7f7fffa7 43000000:7f800000 c2fc0000:00800000 c2fc0001:00000000 3f0567ec:3fb7b03d c114ed44:3acecc1e
        35500000:3f800004 3e000090:3f8b95d0 3e80001e:3f9837f6 3ec0001a:3fa5fedc 3f000013:3fb504fc 3f20002a:3fc56740
        3f40006f:3fd7453e 3f600022:3feac0dc
        """,
    "v_log_f32": """
        3f174424:bf425164 3f000000:bf800000 3f7bffff:bcba1fa3 3f7c0000:bcba1f74 3f7c0001:bcba1f46 3f7dffec:bc396b23
        3f7dffff:bc39643a 3f7e0000:bc3963dd 3f7e0001:bc396380 3f7ff5cb:b96ba0e4 3f7ffffd:b48a7fae 3f7ffffe:b438aa3c
        3f7fffff:b3b8aa3c 3f800001:3438aa3b 3f800005:3566d4c6 3f800006:358a7faa 3f800043:37415204 3f800c30:3a0ca2fa
        3f80ffff:3c37f1ce 3f810000:3c37f286 3f810001:3c37f33d 3f81ffff:3cb73c5a 3f820000:3cb73cb4 3f820001:3cb73d0f
        3f835d48:3d19508b 3f83ffff:3d35d66f 3f840000:3d35d69c 3f85ffff:3d8759af 3f860000:3d8759c5 3f860001:3d8759db
        3fffffff:3f7fffff
        """,
    "v_rcp_f32": """
        3f800000:3f800000 3f800001:3f7ffffe 3f81ffff:3f7c0fc3 3f820000:3f7c0fc1 3f83ffff:3f783e12 3f840000:3f783e10
        3fc00000:3f2aaaaa 3fffffff:3f000001 00800000:7e800000 7f000000:00000000 00000001:7f800000 bfc00000:bf2aaaaa
        3f802922:3f7fadd6
        """,
    "v_rsq_f32": """
        3f800000:3f800000 3f800001:3f7fffff 3f83ffff:3f7c1765 3f840000:3f7c1764 3fbfffff:3f5105ec 3fc00000:3f5105ec
        3fffffff:3f3504f3 40000000:3f3504f3 40000001:3f3504f2 4003ffff:3f32416a 40040000:3f32416a 403fffff:3f13cd3b
        40400000:3f13cd3a 407fffff:3f000000 80000001:ff800000 bf800000:ffc00000 ff800000:ffc00000 7f800000:00000000
        3f8040c4:3f7fbf55 3f80cab3:3f7f363d
        """,
    "v_sqrt_f32": """
        3f800001:3f800000 3f800005:3f800002 3f80005f:3f800030 3f8015ee:3f800af7 00800001:20000000 00ffffff:203504f3
        01000001:203504f4 3fffffff:3fb504f3 407fffff:3fffffff 7e800001:5f000000 7f7fffff:5f7fffff 80000001:80000000
        bf800000:ffc00000 ff800000:ffc00000 7f800000:7f800000 4005a8f7:3fb8fa71 3f823902:3f811b48
        """,
}
# Likewise: source, sine, cosine.
CAPTURED_CIRCULAR = """
    00000000:00000000:3f800000 80000000:80000000:3f800000 00000001:00000006:3f800000 80000001:80000006:3f800000
    007fffff:01c90fd3:3f800000 00800000:01c90fd5:3f800000 39bfffff:3b16cbdf:3f7fffd3 39c00000:3b16cbdf:3f7fffd3
    39ffffff:3b490fbe:3f7fffb1 3a000000:3b490fcb:3f7fffb1 3e000000:3f3504f4:3f3504f3 3e7fffff:3f800000:33c90fd9
    3e800000:3f800000:00000000 3f000000:00000000:bf800000 3f800000:00000000:3f800000 7f7fffff:00000000:3f800000
    ff7fffff:00000000:3f800000 7f800000:ffc00000:ffc00000 ff800000:ffc00000:ffc00000
    3aab9885:3c06c500:3f7ffdc8 3b8419b1:3ccf7b0d:3f7feaf9 3bcf188b:3d229c2d:3f7fcc55 3c98be2d:3def6125:3f7e3ec8
    3d2001fb:3e78d2d0:3f7853c7 3d6002f3:3eac7f01:3f7108a3 3dc084ad:3f0e9072:3f54a13b 3df0010d:3f2bebe5:3f3dae6b
    3e7f2800:3f7fff1f:3ba9a533 3e7ff600:3f7fffff:397b53d7 3e7fff08:3f800000:37c2c761 3e7ffff1:3f800000:35bc7ee2
    3e7ffa50:3f800000:390ef149 3efffd28:390ef149:bf800000 3f3ffe94:bf800000:b90ef149 3f7ffe94:b90ef149:3f800000
    """


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize("name", CAPTURED)
def test_captured(run, name, target):
    pairs = [pair.split(":") for pair in CAPTURED[name].split()]
    got = run(name, np.array([int(source, 16) for source, _ in pairs], np.uint32), target=target).value
    assert [f"{value:08x}" for value in got] == [want for _, want in pairs]


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize("column, name", [(1, "v_sin_f32"), (2, "v_cos_f32")])
def test_captured_circular(run, column, name, target):
    rows = [row.split(":") for row in CAPTURED_CIRCULAR.split()]
    got = run(name, np.array([int(row[0], 16) for row in rows], np.uint32), target=target).value
    assert [f"{value:08x}" for value in got] == [row[column] for row in rows]


# FNV-1a over the results (one step per half) of every f16, captured on a gfx1201, by which subnormals MODE keeps:
# bit 0 of sources, bit 1 of results. Cosines do not depend on it, and neither depends on rounding or FP16_OVFL.
HALF_SINE_DIGESTS = [0xBDA621182E966565, 0xB708BF576F3D8AAD, 0xBDA621182E966565, 0xB6245E65A23F99F9]
HALF_COSINE_DIGEST = 0xC6C3112C531E4391


@pytest.mark.parametrize("denormals", range(4))
@pytest.mark.parametrize("name", ["v_sin_f16", "v_cos_f16"])
def test_circular_of_all_halves(run, name, denormals):
    sources = np.arange(1 << 16, dtype=np.uint16)
    want = HALF_SINE_DIGESTS[denormals] if name == "v_sin_f16" else HALF_COSINE_DIGEST
    for other in (0x000000, 0x80000C):  # rounding toward zero, FP16_OVFL
        got = run(name, sources, result="u2", target="gfx1201", mode=denormals << 6 | other).value
        digest = 0xCBF29CE484222325
        for half in got.tolist():
            digest = (digest ^ half) * 0x100000001B3 & (1 << 64) - 1
        assert f"{digest:#x}" == f"{want:#x}"


@pytest.mark.parametrize("name, function", [("v_sin_f32", np.sin), ("v_cos_f32", np.cos)])
def test_circular_of_many(run, name, function):
    """With all signs, quadrants, intervals and seams, results are within 2**-23 of the exact value."""
    rng = np.random.default_rng(7)
    seams = (np.arange(-256, 257)[:, None] / 128 + np.array([-1, 0, 1]) * 2.0**-23).ravel()
    x = np.concatenate([seams, rng.standard_normal(4000) * 2.0 ** rng.integers(-20, 12, 4000)]).astype(np.float32)
    got = run(name, x, result="f4", target="gfx1100").value.astype("f8")
    turn = x.astype("f8")
    assert np.abs(got - function(2 * np.pi * (turn - np.rint(turn)))).max() < 2**-23


@pytest.mark.parametrize("name, table, function, count", [
    ("v_rcp_f32", "RECIPROCAL", lambda x: 1 / x, 2761),
    ("v_rsq_f32", "RECIPROCAL_ROOT", lambda x: 1 / np.sqrt(x), 2484),
    ("v_sqrt_f32", "ROOT", np.sqrt, 373),
])
def test_residuals(run, monkeypatch, name, table, function, count):
    """For any exponent, the result is one less or more than the cubic's, and within 1 ulp of the exact one."""
    keys = getattr(transcendental_roots, table)
    assert len(keys) == count and list(keys) == sorted(set(keys))
    near_one = np.array(keys, np.uint32) + np.uint32(0x3F800000)
    sources = np.concatenate([near_one, near_one + np.uint32(0x1000000), near_one - np.uint32(0x3000000)])
    got = run(name, sources, target="gfx1100").value
    exact = function(sources.view("f4").astype("f8"))
    off = np.abs(got.view("f4").astype("f8") - exact) / np.spacing(exact.astype("f4")).astype("f8")
    assert off.max() < 1
    monkeypatch.setattr(transcendental_roots, table, (1 << 24,))
    alone = type(run)()(name, sources, target="gfx1100").value
    assert set(np.abs(got.astype(np.int64) - alone)) == {1}


@pytest.mark.parametrize("name, function", [
    ("v_exp_f32", np.exp2), ("v_log_f32", np.log2), ("v_rcp_f32", lambda x: 1 / x),
    ("v_rsq_f32", lambda x: 1 / np.sqrt(x)), ("v_sqrt_f32", np.sqrt),
])
def test_within_one_ulp(run, name, function):
    """This holds everywhere, including the seams between intervals and the neighbourhood of 1."""
    x = (np.arange(30000, dtype=np.uint64) * 0x9E3779B9).astype(np.uint32)
    seams = np.array([1 + n / 64 for n in range(128)] + [1 - n / 256 for n in range(1, 9)], np.float32).view(np.uint32)
    near = np.uint32(0x3F800000) + (1 << np.arange(19))
    sources = np.concatenate([x, seams, seams - 1, near, 0x3F800000 - (1 << np.arange(20))]).astype(np.uint32)
    got = run(name, sources, target="gfx1100").value
    with np.errstate(all="ignore"):
        exact = function(sources.view("f4").astype("f8"))
        want = exact.astype("f4")
    plain = np.isfinite(want) & (np.abs(want) >= 2.0**-126) & (np.abs(sources.view("f4")) >= 2.0**-126)
    far = np.abs(got[plain].astype(np.int64) - want[plain].view(np.uint32).astype(np.int64))
    assert plain.sum() > 5000 and far.max() == 1


@pytest.mark.parametrize("name, source, want", [
    ("v_rcp_f16", 0xC000, 0xB800), ("v_rcp_f16", 0x0000, 0x7C00), ("v_sqrt_f16", 0xFC00, 0xFE00),
    ("v_rsq_f16", 0x4400, 0x3800), ("v_exp_f16", 0xCC00, 0x0100), ("v_log_f16", 0x0001, 0xCE00),
])
def test_f16_example(run, name, source, want):
    """f16 has subnormals: 2^-16 is one of them; log2 of the smallest is -24."""
    assert run(name, np.array([source], np.uint16), result="u2").value[0] == want


@pytest.mark.parametrize("target, name, want", [
    ("gfx90a", "v_sin_f32", 0.0), ("gfx90a", "v_cos_f32", 1.0),  # outside [-256, 256]
    ("gfx1030", "v_sin_f32", 1.0), ("gfx1030", "v_cos_f32", 0.0),  # full range
])
def test_range_of_sine_and_cosine(run, target, name, want):
    assert run(name, np.array([1000.25], np.float32), result="f4", target=target).value[0] == want


def _reference(name, x):
    with np.errstate(all="ignore"):
        return {
            "exp": lambda: np.exp2(x), "log": lambda: np.log2(x), "rcp": lambda: 1 / x, "rsq": lambda: 1 / np.sqrt(x),
            "sqrt": lambda: np.sqrt(x),
        }[name]()


@pytest.mark.parametrize("name", ["exp", "log", "rcp", "rsq", "sqrt"])
@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_correctly_rounded(run, name, dtype):
    """Random inputs give the rounded double-precision result, which NumPy's own error cannot change here."""
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


# The published first 256 bits of 2 / pi, after the point.
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


# FNV-1a over the results (dwords) of exp, log, rcp, rsq and sqrt of every f16, captured on a gfx1201.
F16_DIGESTS = [
    (0x0000F0, 0, 0, {}, 0x17C9EF1078F9B1A5),
    (0x000000, 0, 0, {}, 0x0527382759F0B7A6),
    (0x8000F0, 0, 0, {}, 0x97D6D7CC080DE2E1),  # FP16_OVFL
    (0x8000F0, 0, 0, {"omod": 3}, 0x9ECEFD3A65B12162),
    (0x000070, 0, 0, {"omod": 2}, 0x1BCB83EB3A4A5BE1),
    (0x0000F0, 0, 0, {"omod": 1, "clamp": 1}, 0xD857FF04D20B5141),
    (0x0000B0, 1, 1, {}, 0xA07F6EF2768FF661),
    (0x00000F, 1, 0, {}, 0x7B270CCF1AF75986),
]


@pytest.mark.parametrize("mode, neg, absolute, modifiers, want", F16_DIGESTS)
def test_all_halves(run, mode, neg, absolute, modifiers, want):
    sources = np.arange(1 << 16, dtype=np.uint16)
    digest = 0xCBF29CE484222325
    for name in ("exp", "log", "rcp", "rsq", "sqrt"):
        got = run(
            f"v_{name}_f16", sources, result="u2", target="gfx1201",
            mode=mode, neg=neg, abs=absolute, modifiers=modifiers,
        ).value
        for byte in got.astype("<u4").tobytes():
            digest = (digest ^ byte) * 0x100000001B3 & (1 << 64) - 1
    assert f"{digest:#x}" == f"{want:#x}"
