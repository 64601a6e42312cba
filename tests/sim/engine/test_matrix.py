"""MFMA and SMFMAC against NumPy: layouts with small integers (exact in every type), sums with chosen numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from engine_bench import Bench
from engine_matrices import accumulator, choose, encode, index_words, inputs, outputs, spread

from rocdbg.sim.core import layout
from rocdbg.sim.core.layout import Status
from rocdbg.sim.data.matrix_shapes import BITS, GFX950, SHAPES, Model, Shape

pytestmark = pytest.mark.llvm
RNG = np.random.default_rng(7)
CDNA3 = "gfx942"
A, B, C, D = 8, 16, 64, 128  # first registers


def pack(elements: np.ndarray, registers: np.ndarray) -> None:
    """elements[lane, n] into consecutive registers[n, lane] (uint32)."""
    words = np.ascontiguousarray(elements).view(np.uint32).reshape(elements.shape[0], -1)
    registers[: words.shape[1]] = words.T


def small(*shape: int) -> np.ndarray:
    return RNG.integers(-3, 4, shape).astype("f8")


def run(bench: Bench, registers: dict[int, np.ndarray]) -> None:
    for number, data in registers.items():
        block = np.zeros((32, 64), np.uint32)
        pack(data, block)
        if number in (C, D):
            number += accumulators(bench.target.name)
        for n in range(data.shape[1] * data.itemsize // 4 or 1):
            bench.vgpr(number + n)[:] = block[n]
    bench.exec = 1  # must not matter
    assert bench.run() is Status.END


def accumulators(target: str) -> int:
    """The number of the first register of the file that contains C and D: AGPRs on gfx908."""
    return layout.VGPR_COUNT if target == "gfx908" else 0


def result(bench: Bench, shape: Shape) -> np.ndarray:
    kind = {"f64": "f8", "f32": "f4", "i32": "i4"}[shape.d]
    count = shape.results_per_lane * (2 if shape.d == "f64" else 1)
    first = D + accumulators(bench.target.name)
    words = np.stack([bench.vgpr(first + n) for n in range(count)], axis=1)
    return outputs(np.ascontiguousarray(words).view(kind).reshape(64, -1), shape)


def span(first: int, bits: int, file: str = "v") -> str:
    dwords = max(1, bits // 32)
    return f"{file}{first}" if dwords == 1 else f"{file}[{first}:{first + dwords - 1}]"


def instruction(shape: Shape, modifiers: str = "", target: str = "") -> str:
    file = "a" if accumulators(target) else "v"
    a = span(A, shape.a_per_lane * BITS[shape.a])
    b = span(B, shape.b_per_lane * BITS[shape.b])
    wide = shape.results_per_lane * (64 if shape.d == "f64" else 32)
    c = span(C, 32 if shape.sparse else wide, file)
    return f"{shape.name} {span(D, wide, file)}, {a}, {b}, {c} {modifiers}\ns_endpgm"


def target_of(shape: Shape) -> str:
    """Old names denote CDNA2's instructions."""
    if shape.name in GFX950:
        return "gfx950"
    return CDNA3 if "_" in shape.name.split("_", 3)[3] and not shape.name.endswith("1k") else "gfx90a"


def targets(sparse: bool) -> list[tuple[Shape, str]]:
    """Every instruction on the target that introduced it, and on the targets that execute it differently."""
    found = []
    for shape in SHAPES.values():
        if shape.sparse != sparse:
            continue
        found.append((shape, target_of(shape)))
        if shape.model is Model.TRUNCATED_HALVES and shape.name not in GFX950:
            found.append((shape, "gfx950"))
        elif shape.model is Model.FLUSHING and not shape.name.endswith("_1k"):
            found.append((shape, "gfx908"))
    return found


def name_of(value: object) -> str:
    return value.name if isinstance(value, Shape) else str(value)


@pytest.mark.parametrize("shape, target", targets(sparse=False), ids=name_of)
def test_dense(shape, target):
    a, b = small(shape.blocks, shape.m, shape.k), small(shape.blocks, shape.m, shape.k)
    c = small(shape.blocks, shape.m, shape.m)
    bench = Bench(instruction(shape, target=target), target=target)
    ocp = target == "gfx950"
    coded = {A: encode(inputs(a), shape.a, ocp=ocp), B: encode(inputs(b), shape.b, ocp=ocp)}
    run(bench, {**coded, C: accumulator(shape, c)})
    np.testing.assert_array_equal(result(bench, shape), a @ b.transpose(0, 2, 1) + c)


def test_layout_of_32x32x8():
    """Derived by hand: A[5][6] is element 2 of lane 37; with B[6][9] in lane 41, D[5][9] is register 1 of lane 41."""
    shape = SHAPES["v_mfma_f32_32x32x8f16"]
    a, b = np.zeros((64, 4)), np.zeros((64, 4))
    a[37, 2], b[41, 2] = 3, 5
    bench = Bench(instruction(shape))
    run(bench, {A: encode(a, "f16"), B: encode(b, "f16"), C: np.zeros((64, 16), "f4")})
    found = {(n, int(lane)) for n in range(16) for lane in np.nonzero(bench.vgpr(D + n).view("f4") == 15)[0]}
    assert found == {(1, 41)}


@pytest.mark.parametrize("shape, target", targets(sparse=True), ids=name_of)
def test_sparse(shape, target):
    """Two of each four elements of A are given, and an index selects them."""
    kept, b = small(shape.m, shape.k // 2), small(1, shape.m, shape.k)
    chosen = choose(RNG, shape.m, shape.k)
    full = spread(shape, kept, chosen)
    set_number = 1 if shape.a_per_lane < 16 else 0
    words = index_words(inputs(chosen[None]), set_number)
    c = small(1, shape.m, shape.m)
    ocp = target == "gfx950"
    bench = Bench(instruction(shape, f"abid:{set_number}" if set_number else ""), target=target)
    data = {A: encode(inputs(kept[None]), shape.a, ocp=ocp), B: encode(inputs(b), shape.b, ocp=ocp)}
    run(bench, {**data, C: words.reshape(64, 1), D: accumulator(shape, c)})
    np.testing.assert_array_equal(result(bench, shape)[0], full @ b[0].T + c[0])


DOUBLED = [
    # A's group and pair; B's group and first element, as single ones on a gfx950 show
    ("v_smfmac_f32_16x16x64_f16", [(0, 0, 0, 0), (0, 1, 0, 4), (0, 2, 1, 0), (1, 0, 2, 0), (1, 3, 3, 4), (2, 0, 0, 8)]),
    ("v_smfmac_f32_32x32x32_bf16", [(0, 0, 0, 0), (0, 1, 0, 4), (0, 2, 1, 0), (1, 0, 0, 8), (1, 3, 1, 12)]),
    ("v_smfmac_i32_16x16x128_i8", [(0, 3, 0, 12), (0, 4, 1, 0), (1, 0, 2, 0), (2, 0, 0, 16), (3, 7, 3, 28)]),
    ("v_smfmac_i32_32x32x64_i8", [(0, 3, 0, 12), (0, 4, 1, 0), (1, 0, 0, 16), (1, 7, 1, 28)]),
]


@pytest.mark.parametrize("name, places", DOUBLED, ids=[name for name, _ in DOUBLED])
def test_doubled_depth_pairs_elements_of_other_lanes(name, places):
    for group, pair, group_b, four in places:
        assert SHAPES[name].four_of(group, pair) == (group_b, four)


def test_broadcasts():
    """cbsz and abid share a block of A, blgp moves lanes of B; the accumulator is an inline constant."""
    shape = SHAPES["v_mfma_f32_16x16x4f16"]
    a, b = small(4, 16, 4), small(4, 16, 4)
    text = instruction(shape, "cbsz:1 abid:1 blgp:1").replace(f"v[{C}:{C + 15}]", "2.0")
    bench = Bench(text)
    run(bench, {A: encode(inputs(a), "f16"), B: encode(inputs(b), "f16")})
    want = a[[1, 1, 3, 3]] @ b[[0, 1, 0, 1]].transpose(0, 2, 1) + 2
    np.testing.assert_array_equal(result(bench, shape), want)


def test_f64_negation():
    shape = SHAPES["v_mfma_f64_4x4x4f64"]
    a, b, c = small(4, 4, 4), small(4, 4, 4), small(4, 4, 4)
    bench = Bench(instruction(shape, "blgp:5"))
    run(bench, {A: encode(inputs(a), "f64"), B: encode(inputs(b), "f64"), C: accumulator(shape, c)})
    np.testing.assert_array_equal(result(bench, shape), -(a @ b.transpose(0, 2, 1)) - c)


# -- sums --------------------------------------------------------------------------------------------------------------


def element(shape: Shape, a: list[float], b: list[float], c: float, target: str = "") -> float:
    """D[0][0] of a product of rows given as numbers of the element types."""
    rows = []
    for values in (a, b):
        matrix = np.zeros((shape.blocks, shape.m, shape.k))
        matrix[0, 0, : len(values)] = values
        rows.append(encode(inputs(matrix), shape.a))
    start = np.zeros((shape.blocks, shape.m, shape.m))
    start[0, 0, 0] = c
    bench = Bench(instruction(shape, target=target), target=target or target_of(shape))
    run(bench, {A: rows[0], B: rows[1], C: accumulator(shape, start)})
    return float(result(bench, shape)[0, 0, 0])


SUMS = [
    # CDNA1 adds four products and the accumulator exactly
    ("v_mfma_f32_32x32x8f16", [4096, 1, 1, 0], [4096, 1, 1, 0], 0, 2.0**24 + 2, "gfx908"),
    ("v_mfma_f32_32x32x8f16", [2.0**-15], [1.0], 1.0, 1.0 + 2.0**-15, "gfx908"),
    ("v_mfma_f32_32x32x8f16", [4096, -4096, 2.0**-24], [4096, 4096, 2.0**-24], 2.0**-149, 2.0**-48, "gfx908"),
    ("v_mfma_f32_32x32x8f16", [4096, 1], [4096, 1], 2.0**-100, 2.0**24 + 2, "gfx908"),
    ("v_mfma_f32_32x32x8f16", [0], [0], -(2.0**-149), -(2.0**-149), "gfx908"),
    ("v_mfma_f32_32x32x4bf16", [2.0**100, 2.0**-70], [2.0**-100, 2.0**-70], -1.0, 2.0**-140, "gfx908"),
    ("v_mfma_f32_32x32x4bf16", [2.0**70], [2.0**70], 0, np.inf, "gfx908"),
    # CDNA2 adds pairs in f32: 2^24 + 1 is not a number, 2^24 + 2 is
    ("v_mfma_f32_32x32x8f16", [4096, 1, 1, 0], [4096, 1, 1, 0], 0, 2.0**24, ""),
    ("v_mfma_f32_32x32x8f16", [4096, 0, 1, 1], [4096, 0, 1, 1], 0, 2.0**24 + 2, ""),
    # and flushes subnormal f16 factors
    ("v_mfma_f32_32x32x8f16", [2.0**-15], [1.0], 1.0, 1.0, ""),
    ("v_mfma_f32_32x32x8_f16", [2.0**-15], [1.0], 1.0, 1.0 + 2.0**-15, ""),
    # CDNA3 keeps 24 bits below the largest product, regardless of the order
    ("v_mfma_f32_32x32x8_f16", [4096, 1, 1, 0], [4096, 1, 1, 0], 0, 2.0**24 + 2, ""),
    ("v_mfma_f32_32x32x8_f16", [4096, -4096, 1], [4096, 4096, 1], 0, 1.0, ""),
    ("v_mfma_f32_32x32x8_f16", [4096, -4096, 0.5], [4096, 4096, 1], 0, 0.0, ""),
    ("v_mfma_f32_32x32x8_f16", [2.0**-24], [2.0**-24], 2.0**-149, 2.0**-48, ""),
]


@pytest.mark.parametrize("name, a, b, c, want, target", SUMS, ids=range(len(SUMS)))
def test_sums(name, a, b, c, want, target):
    assert element(SHAPES[name], a, b, c, target) == want


def exact_truncated(a: list[float], b: list[float], c: float) -> float:
    """The published model of MI300X for f16, with fractions."""

    def split(value: float, least: int) -> tuple[Fraction, int]:
        exponent = max(int(np.frexp(value)[1]) - 1, least) if value else least
        return Fraction(value) / Fraction(2) ** exponent, exponent

    terms = [(split(x, -14), split(y, -14)) for x, y in zip(a, b, strict=True)]
    products = [(p[0] * q[0], p[1] + q[1] if p[0] * q[0] else -999) for p, q in terms]
    top = max(e for _, e in products)
    unit = Fraction(2) ** (top - 24)
    total = sum(int(s * Fraction(2) ** e / unit) for s, e in products) * unit
    _, ec = split(c, -126)
    common = max(top, ec)
    fine, coarse = Fraction(2) ** (common - 32), Fraction(2) ** (common - 24)
    both = (total // fine) * fine + (Fraction(c) // coarse) * coarse
    last = Fraction(2) ** (split(float(both), -126)[1] - 31)
    return float(np.float32(float((both // last) * last)))


def test_truncated_sums_of_random_numbers():
    shape = SHAPES["v_mfma_f32_16x16x16_f16"]
    scale = 2.0 ** RNG.integers(-12, 8, (2, 16, 16))
    a, b = (RNG.standard_normal((2, 16, 16)) * scale).astype("f2").astype("f8")
    c = (RNG.standard_normal((16, 16)) * 10).astype("f4").astype("f8")
    bench = Bench(instruction(shape), target=CDNA3)
    run(
        bench,
        {
            A: encode(inputs(a[None]), "f16"),
            B: encode(inputs(b[None]), "f16"),
            C: accumulator(shape, c[None]),
        },
    )
    want = np.empty((16, 16))
    for i in range(16):
        for j in range(16):
            first = exact_truncated(a[i, :8].tolist(), b[j, :8].tolist(), c[i, j])
            want[i, j] = exact_truncated(a[i, 8:].tolist(), b[j, 8:].tolist(), first)
    np.testing.assert_array_equal(result(bench, shape)[0], want)


def test_infinities_and_nans():
    shape = SHAPES["v_mfma_f32_32x32x8_f16"]
    assert element(shape, [np.inf, 1], [2.0, 1], 0) == np.inf
    assert element(shape, [1.0], [1.0], -np.inf) == -np.inf
    assert np.isnan(element(shape, [np.inf, -np.inf], [1.0, 1.0], 0))
