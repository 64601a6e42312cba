"""WMMA and SWMMAC of GFX11 and GFX12 in both wave sizes: layouts against NumPy, sums against results of hardware."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from engine_bench import Bench
from engine_matrices import choose, index_words, lanes_of, place, result_places, spread_wave

from rocdbg.sim.core.layout import Status
from rocdbg.sim.data.wmma_shapes import GFX11, GFX12, WaveShape

pytestmark = pytest.mark.llvm
RNG = np.random.default_rng(11)
A, B, C, D = 8, 16, 64, 128  # first registers
TARGET = {False: "gfx1100", True: "gfx1201"}
CASES = [(s, w) for s in (*GFX11.values(), *GFX12.values()) for w in (32, 64)]
DENSE = [(s, w) for s, w in CASES if not s.sparse]
SPARSE = [(s, w) for s, w in CASES if s.sparse]


def name_of(value: object) -> str:
    return f"{TARGET[value.gfx12]}-{value.name}" if isinstance(value, WaveShape) else f"w{value}"


def encode(values: np.ndarray, kind: str) -> np.ndarray:
    """Small integers as bits of a type."""
    match kind:
        case "f16":
            return values.astype("f2").view("u2").astype(np.uint32)
        case "bf16":
            return values.astype("f4").view("u4") >> 16
        case "iu8":
            return values.astype(int).astype(np.uint32) & 0xFF
        case "iu4":
            return values.astype(int).astype(np.uint32) & 0xF
        case "i32":
            return values.astype(int).astype("i4").view("u4")
        case "f32":
            return values.astype("f4").view("u4")
    fraction, bias = {"fp8": (3, 7), "bf8": (2, 15)}[kind]
    bits = values.astype("f4").view("u4")
    code = (bits >> 23 & 0xFF) - np.uint32(127 - bias) << fraction | bits >> (23 - fraction) & (
        1 << fraction
    ) - 1
    return np.where(values == 0, 0, code | bits >> 24 & 0x80).astype(np.uint32)


def decode(bits: np.ndarray, kind: str) -> np.ndarray:
    match kind:
        case "f16":
            return bits.astype("u2").view("f2").astype("f8")
        case "bf16":
            return (bits << 16).astype("u4").view("f4").astype("f8")
    return bits.astype("u4").view({"i32": "i4", "f32": "f4"}[kind]).astype("f8")


def put(bench: Bench, first: int, lane: int, at: int, bits: int, value: int) -> None:
    """Element ``at`` of ``bits`` bits of a lane's registers."""
    per = 32 // bits
    bench.vgpr(first + at // per)[lane] |= np.uint32(int(value) << at % per * bits)


def get(bench: Bench, first: int, lane: int, at: int, bits: int) -> int:
    per = 32 // bits
    return int(bench.vgpr(first + at // per)[lane]) >> at % per * bits & (1 << bits) - 1


def load_results(bench: Bench, shape: WaveShape, wave: int, first: int, matrix: np.ndarray) -> None:
    bits = 16 if shape.packed else 32
    coded = encode(matrix, shape.d)
    for row, column, lane, at in result_places(shape, wave):
        put(bench, first, lane, at, bits, coded[row, column])


def results(bench: Bench, shape: WaveShape, wave: int) -> np.ndarray:
    bits = 16 if shape.packed else 32
    found = np.empty((16, 16), np.uint32)
    for row, column, lane, at in result_places(shape, wave):
        found[row, column] = get(bench, D, lane, at, bits)
    return found


def span(first: int, dwords: int) -> str:
    return f"v{first}" if dwords == 1 else f"v[{first}:{first + dwords - 1}]"


def dwords(shape: WaveShape, wave: int) -> tuple[int, int, int]:
    """Registers of A, B and D."""
    a_depth = shape.k // 2 if shape.sparse else shape.k
    if not shape.gfx12:
        a = b = 16 * shape.bits // 32
    else:
        a, b = (max(1, 16 * depth * shape.bits // wave // 32) for depth in (a_depth, shape.k))
    d = 256 // wave
    return a, b, d // 2 if shape.packed and shape.gfx12 else d


def instruction(shape: WaveShape, wave: int, modifiers: str = "", c: str = "") -> str:
    a, b, d = dwords(shape, wave)
    third = span(C, 1) if shape.sparse else c or span(C, d)
    return f"{shape.name} {span(D, d)}, {span(A, a)}, {span(B, b)}, {third} {modifiers}\ns_endpgm"


def load_factors(bench: Bench, shape: WaveShape, wave: int, first: int, rows: np.ndarray, kind: str) -> None:
    """rows[i, k]: A, or B's columns."""
    for lane, elements in enumerate(lanes_of(encode(rows, kind), shape, wave)):
        for at, bits in enumerate(elements):
            put(bench, first, lane, at, shape.bits, bits)


def small(shape: WaveShape, *size: int) -> np.ndarray:
    """On GFX11, no negative numbers: sums of both signs are not exact there."""
    return RNG.integers(-3 if shape.gfx12 or shape.integer else 0, 4, size).astype("f8")


def signs(shape: WaveShape) -> str:
    return "neg_lo:[1,1,0]" if shape.integer else ""


@pytest.mark.parametrize("shape, wave", DENSE, ids=name_of)
def test_dense(shape, wave):
    a, b, c = small(shape, 16, shape.k), small(shape, 16, shape.k), small(shape, 16, 16)
    bench = Bench(instruction(shape, wave, signs(shape)), target=TARGET[shape.gfx12], wave_size=wave)
    load_factors(bench, shape, wave, A, a, shape.a)
    load_factors(bench, shape, wave, B, b, shape.b)
    load_results(bench, shape, wave, C, c)
    bench.exec = 1  # must not matter
    assert bench.run() is Status.END
    np.testing.assert_array_equal(decode(results(bench, shape, wave), shape.d), a @ b.T + c)


@pytest.mark.parametrize("shape, wave", SPARSE, ids=name_of)
def test_sparse(shape, wave):
    """Two of each four elements of A's row are given, and an index selects them."""
    kept, b, c = small(shape, 16, shape.k // 2), small(shape, 16, shape.k), small(shape, 16, 16)
    chosen = choose(RNG, 16, shape.k)
    entries = shape.index_entries(wave)
    key = 16 // entries - 1  # the last set of the index register
    text = instruction(shape, wave, f"{f'index_key:{key}' if key else ''} {signs(shape)}")
    bench = Bench(text, target="gfx1201", wave_size=wave)
    load_factors(bench, shape, wave, A, kept, shape.a)
    full = spread_wave(shape, wave, kept, chosen)
    bench.vgpr(C)[:] = index_words(lanes_of(chosen, shape, wave), key)
    load_factors(bench, shape, wave, B, b, shape.b)
    load_results(bench, shape, wave, D, c)
    assert bench.run() is Status.END
    np.testing.assert_array_equal(decode(results(bench, shape, wave), shape.d), full @ b.T + c)


# -- modifiers ---------------------------------------------------------------------------------------------------------


def product(
    shape: WaveShape, wave: int, a: list[int], b: list[int], c: int, modifiers: str = "", constant: str = ""
) -> int:
    """Bits of D[0][0], for rows given as bits."""
    bench = Bench(instruction(shape, wave, modifiers, constant), target=TARGET[shape.gfx12], wave_size=wave)
    for first, values in ((A, a), (B, b)):
        for k, bits in enumerate(values):
            group, at = place(k, shape.k, shape.bits, wave) if shape.gfx12 else (0, k)
            put(bench, first, group * 16, at, shape.bits, bits)
    put(bench, C, 0, 0, 16 if shape.packed else 32, c)
    assert bench.run() is Status.END
    return get(bench, D, 0, 0, 16 if shape.packed else 32)


ONE = {"f16": 0x3C00, "bf16": 0x3F80, "fp8": 0x38, "bf8": 0x3C}
SIGNS = [
    # modifiers, the result of -1 * 1 + 1 * 1 (even, odd) with C = -4
    ("", 0xC0800000),
    ("neg_lo:[1,0,0]", 0xC0000000),
    ("neg_hi:[0,1,0]", 0xC0C00000),
    ("neg_lo:[0,0,1]", 0x40800000),
    ("neg_hi:[0,0,1]", 0x40800000),
    ("neg_lo:[0,0,1] neg_hi:[0,0,1]", 0xC0800000),
]


@pytest.mark.parametrize("modifiers, want", SIGNS, ids=[m or "none" for m, _ in SIGNS])
@pytest.mark.parametrize("wave", [32, 64])
def test_signs_of_gfx12(modifiers, want, wave):
    shape = GFX12["v_wmma_f32_16x16x16_f16"]
    assert product(shape, wave, [0xBC00, 0x3C00], [0x3C00, 0x3C00], 0xC0800000, modifiers) == want


def test_an_accumulator_that_is_a_constant():
    for shapes in (GFX11, GFX12):
        assert product(shapes["v_wmma_f16_16x16x16_f16"], 32, [0x3C00], [0x3C00], 0, constant="1.0") == 0x4000
        for kind, one in (("f16", 0x3C00), ("bf16", 0x3F80)):
            shape = shapes[f"v_wmma_f32_16x16x16_{kind}"]
            assert product(shape, 32, [one], [one], 0, constant="1.0") == 0x40000000
        assert (
            product(shapes["v_wmma_bf16_16x16x16_bf16"], 64, [0x3F80], [0x3F80], 0, constant="-4.0") == 0xC040
        )
        assert product(shapes["v_wmma_i32_16x16x16_iu8"], 64, [3], [5], 0, constant="-7") == 8


def test_high_halves_of_gfx11():
    """op_sel[2]: accumulators and results are in high halves; the low halves of D stay unchanged."""
    shape = GFX11["v_wmma_f16_16x16x16_f16"]
    bench = Bench(instruction(shape, 32, "op_sel:[0,0,1]"), target="gfx1100", wave_size=32)
    for first in (A, B):
        bench.vgpr(first)[:] = ONE["f16"]
    bench.vgpr(C)[:] = 0x40005555
    bench.vgpr(D)[:] = 0x77771234
    assert bench.run() is Status.END
    assert set(bench.vgpr(D).tolist()) == {0x42001234}


CLAMPS = [
    # target, C, products of k < 8 and of k >= 8, the result
    ("gfx1100", 0x7FFFFFFF, 1, -3, 0x7FFFFFFD),
    ("gfx1201", 0x7FFFFFFF, 1, -3, 0x7FFFFFFC),
    ("gfx1201", 0x80000000, -1, 3, 0x80000003),
    ("gfx1100", 0x7FFFFFFF, 1, 1, 0x7FFFFFFF),
]


@pytest.mark.parametrize("target, c, low, high, want", CLAMPS)
@pytest.mark.parametrize("wave", [32, 64])
def test_saturation(target, c, low, high, want, wave):
    """GFX11 clamps the sum; GFX12 also clamps after half of the products."""
    shape = (GFX12 if target == "gfx1201" else GFX11)["v_wmma_i32_16x16x16_iu8"]
    a = [low & 0xFF, *[0] * 7, high & 0xFF]
    b = [1, *[0] * 7, 1]
    assert product(shape, wave, a, b, c, "neg_lo:[1,1,0] clamp") == want
    wrapped = product(shape, wave, a, b, c, "neg_lo:[1,1,0]")
    assert wrapped == c + low + high & 0xFFFFFFFF


def test_unsigned_factors():
    shape = GFX12["v_wmma_i32_16x16x32_iu4"]
    assert product(shape, 32, [0xF] * 32, [0xF] * 32, 0) == 32 * 225
    assert product(shape, 32, [0xF] * 32, [0xF] * 32, 0, "neg_lo:[1,0,0]") == -32 * 15 & 0xFFFFFFFF
    assert product(shape, 64, [0xF] * 32, [0xF] * 32, 0, "neg_lo:[0,1,0]") == -32 * 15 & 0xFFFFFFFF


# -- results of a gfx1201, captured by AMD (github.com/ROCm/rocm-systems) ----------------------------------------------

CAPTURED = """
f16
bd53 36b8 2ae6 b1d2 c7a4 52af d233 4594 2905 47cd b74f 56cc 35d2 3da7 ac54 ab6a
c142 4be3 d466 4f40 af92 c2ba 5479 414f 3144 a72e c63b 337d 4661 26c6 5512 b324
3f4725a9 c56665fb c56665fb

f16
c6e1 b1ea d31d 2d4f 4a45 d1f1 3362 c244 4a75 443e 5623 4ec3 57c7 b82e cf34 3660
d36c c886 2f3d 30a3 d070 b2cb 4759 cf27 4ed4 3c97 ae37 b63f 35f0 3a25 b0d8 405a
bf6ba3b9 43dfc44b 43dfc44a

f16
9844 3f7a 606f c18c be5b 891f bbfb 93b8 c3c6 32f2 f44e 15cf 5eeb 2b55 8bef a075
8e88 ec18 d3c2 f6ae 0cdb 87c5 4587 5825 6e7d 8ab5 8773 4108 91c2 3987 62ab fbad
48e26837 48e6175e 48e6175f

bf16
bfaa 3ed7 3d5c be3a c0f4 4255 c246 40b2 3d20 40f9 bee9 42d9 3eba 3fb4 bd8a bd6d
c028 417c c28c 41e8 bdf2 c057 428f 4029 3e28 bce5 c0c7 3e6f 40cc 3cd8 42a2 be64
3f4725a9 c565bd89 c565bd8a

bf16
c0dc be3d c263 3da9 4148 c23e 3e6c c048 414e 4087 42c4 41d8 42f8 bf05 c1e6 3ecc
c26d c110 3de7 3e14 c20e be59 40eb c1e4 41da 3f92 bdc6 bec7 3ebe 3f44 be1b 400b
bf6ba3b9 43dea4e6 43dea4e7

bf16
9844 3f7a 606f c18c be5b 891f bbfb 93b8 c3c6 32f2 f44e 15cf 5eeb 2b55 8bef a075
8e88 ec18 d3c2 f6ae 0cdb 87c5 4587 5825 6e7d 8ab5 8773 4108 91c2 3987 62ab fbad
48e26837 78bd8ea7 78bd8ea7
"""
"""The type, a row of A, a column of B; C and the results in wave32 and wave64."""


def captured() -> list[tuple[str, int, list[int], list[int], int, int]]:
    found = []
    for case in CAPTURED.strip().split("\n\n"):
        kind, *lines = case.splitlines()
        a, b, (c, *wanted) = ([int(word, 16) for word in line.split()] for line in lines)
        found += [(kind, wave, a, b, c, want) for wave, want in zip((32, 64), wanted, strict=True)]
    return found


@pytest.mark.parametrize(
    "kind, wave, a, b, c, want", captured(), ids=lambda v: str(v) if isinstance(v, str) else ""
)
def test_sums_of_gfx1201(kind, wave, a, b, c, want):
    assert product(GFX12[f"v_wmma_f32_16x16x16_{kind}"], wave, a, b, c) == want


def captured_rows() -> list[dict[str, list[list[int]]]]:
    """Blocks of `captured_wmma.txt`: the first word of each line, and the other words of such lines."""
    found: list[dict[str, list[list[int]]]] = []
    for block in Path(__file__).with_name("captured_wmma.txt").read_text().split("\n\n")[1:]:
        lines: dict[str, list[list[int]]] = {}
        for name, *words in map(str.split, block.splitlines()):
            lines.setdefault(name, []).append([int(word, 16) for word in words])
        found.append(lines)
    return found


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize("rows", captured_rows(), ids=["ordinary", "small"])
def test_rows_of_16_bit_results(rows, target):
    """Results are narrowed after each step: two products on GFX11, four on GFX12."""
    shape = (GFX12 if target == "gfx1201" else GFX11)["v_wmma_f16_16x16x16_f16"]
    bench = Bench(instruction(shape, 32), target=target, wave_size=32)
    a, b = np.zeros((16, 16), np.uint32), np.array(rows["b"], np.uint32).T
    a[0] = rows["a"][0]
    for first, matrix in ((A, a), (B, b)):
        for lane, elements in enumerate(lanes_of(matrix, shape, 32)):
            for at, bits in enumerate(elements):
                put(bench, first, lane, at, 16, bits)
    bench.vgpr(C)[:16] = rows["c"][0]
    assert bench.run() is Status.END
    assert [get(bench, D, column, 0, 16) for column in range(16)] == rows[target][0]


def test_a_nan_among_the_factors():
    for shape in (GFX11["v_wmma_f32_16x16x16_f16"], GFX12["v_wmma_f32_16x16x16_f16"]):
        assert product(shape, 32, [0x7E01], [0x3C00], 0) == 0xFFC00A3D
        assert product(shape, 32, [0x7C00], [0], 0x7FC12345) == 0xFFC00000


def test_sums_of_gfx1100_are_those_of_dot2():
    """Magnitudes whose sign differs from the accumulator's count as one unit too many."""
    shape = GFX11["v_wmma_f32_16x16x16_f16"]
    assert product(shape, 32, [0x4200, 0x4800], [0x4800, 0x4400], 0xBF800000) == 0x425C0001
    assert product(shape, 64, [0, 0, 0xBC00, 0x3C00], [0, 0, 0x3C00, 0x3C00], 0x3F800000) == 0x3F7FFFFF


OPERANDS = """
cc424018 1a021100 56780000 00000000  C is 0
cc424018 1a061100 56780001 00010001  1
cc426018 1a061100 00011234 -         1, op_sel:[0,0,1]
cc424018 1b061100 5678ffff ffffffff  -1
cc424018 1bc21100 56783800 38003800  0.5
cc426018 1bca1100 3c001234 -         1.0, op_sel:[0,0,1]
cc424018 1be21100 56783118 31183118  1 / (2 pi)
cc424018 1c421100 56785530 55305530
cc426018 1c421100 55301234 -         op_sel:[0,0,1]
cc424018 3c421100 56785060 50605060  neg_lo:[1,0,0]
cc424018 5c421100 56785060 50605060  neg_lo:[0,1,0]
cc424018 7c421100 56785530 55305530  neg_lo:[1,1,0]
cc424018 9c421100 567855d0 55d055d0  neg_lo:[0,0,1]
cc424118 1c421100 5678d1a0 d1a0d1a0  neg_hi:[1,0,0]
cc424118 3c421100 5678d5d0 d5d0d5d0  neg_lo and neg_hi:[1,0,0]
cc424318 9c421100 567855d0 55d055d0  neg_lo:[0,0,1], neg_hi:[1,1,0]
cc424418 1c421100 567855d0 55d055d0  neg_hi:[0,0,1]
cc424418 9c421100 56785530 55305530  neg_lo and neg_hi:[0,0,1]
cc424718 fc421100 56785530 55305530  all
"""
"""v_wmma_f16_16x16x16_f16 with all elements (1, 2), all (3, 4), and -5 (or a constant, with zeros): the first register
of D on a gfx1100 and on a gfx1201.
"""


CASES = [
    pytest.param(target, line.split()[:2], want, id=f"{target}-{line}")
    for line in OPERANDS.strip().splitlines()
    for target, want in zip(("gfx1100", "gfx1201"), line.split()[2:4], strict=True)
    if want != "-"
]


@pytest.mark.parametrize(("target", "words", "want"), CASES)
@pytest.mark.parametrize("wave", [32, 64])
def test_operands_as_hardware_takes_them(target, words, want, wave):
    first, second = (int(word, 16) for word in words)
    bench = Bench(f".long {first}, {second}\ns_endpgm", target=target, wave_size=wave)
    zero = (second >> 18 & 0x1FF) < 256  # no register
    for n in range(8):
        bench.vgpr(n)[:] = 0 if zero else 0x40003C00
        bench.vgpr(8 + n)[:] = 0 if zero else 0x44004200
        bench.vgpr(16 + n)[:] = 0xC500C500
        bench.vgpr(24 + n)[:] = 0x56781234
    assert bench.run() is Status.END
    assert f"{bench.vgpr(24)[0]:08x}" == want


# -- digests of results that were captured on a gfx1201 -------------------------------------------------------------

DIGESTS = {
    # index_key:0 and :1, then both with low halves of A negated, then with its high halves
    "f32_16x16x32_f16": (
        0x74EC4AAD31D980D5, 0x237DD767EE7E3CAA, 0x6C2FD60914252778, 0x24BA1FF32D6AF66D, 0x62A14DC1B54F8C2D,
        0x8F8879096FF5BDE0,
    ),
    "f32_16x16x32_bf16": (
        0x74EC4AAD31D980D5, 0x237DD767EE7E3CAA, 0x6C2FD60914252778, 0x24BA1FF32D6AF66D, 0x62A14DC1B54F8C2D,
        0x8F8879096FF5BDE0,
    ),
    "f16_16x16x32_f16": (
        0x61ABFE5A9CC44745, 0x1379B30D2AB30D4F, 0x9EE90DB29CC263F8, 0xBD24D03E33D7CED1, 0xF2BE843305EFAAAD,
        0x24946C88587138CA,
    ),
    "bf16_16x16x32_bf16": (
        0x9644BE509DFD8425, 0xA242F78F2A2EE32B, 0xD2DCE19F9553F64B, 0xE7770F7C2D8E8FB8, 0x39B359FED5DB8255,
        0xA0AC1043B662E62A,
    ),
}
DIGESTS8 = ((0x2F442F766C6F0B8A, 0xEB024BD6D2A5E5AB), (0x4178EF9D7B855B05, 0x05BE30A943D8ADEA))
"""The same digest for the four products of 8-bit floats: two sets of inputs, index_key:0 and :1."""


class Shifts:
    """Marsaglia's 32-bit generator, which produces the inputs."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def __call__(self, choices: int) -> int:
        x = self.state
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        self.state = x ^ x << 5 & 0xFFFFFFFF
        return self.state % choices


def digest(bench: Bench, registers: int) -> int:
    """FNV-1a of D: register by register, lane by lane."""
    found = 0xCBF29CE484222325
    for n in range(registers):
        for byte in bench.vgpr(D + n).tobytes():
            found = (found ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return found


def fill_index(bench: Bench, draw: Shifts) -> None:
    for lane in range(32):
        bench.vgpr(C)[lane] = sum((4, 8, 12, 9, 13, 14)[draw(6)] << 4 * n for n in range(8))


@pytest.mark.parametrize("variant", range(6))
@pytest.mark.parametrize("kind", DIGESTS)
def test_swmmac_digests(kind, variant):
    shape = GFX12[f"v_swmmac_{kind}"]
    negation = ("", "neg_lo:[1,0,0]", "neg_hi:[1,0,0]")[variant // 2]
    bench = Bench(
        instruction(shape, 32, f"index_key:{variant % 2} {negation}"), target="gfx1201", wave_size=32
    )
    draw, one = Shifts(0x76895231), ONE[shape.a]
    values = (0xC000, one | 0x8000, 0, one, 0x4000)
    pairs = (
        [A + n for n in range(4)]
        + [B + n for n in range(8)]
        + [D + n for n in range(4 if shape.packed else 0)]
    )
    for register in pairs:
        for lane in range(32):
            low = values[draw(5)]
            bench.vgpr(register)[lane] = low | values[draw(5)] << 16
    for n in range(0 if shape.packed else 8):
        for lane in range(32):
            bench.vgpr(D + n).view("f4")[lane] = draw(5) - 2
    fill_index(bench, draw)
    assert bench.run() is Status.END
    assert digest(bench, 4 if shape.packed else 8) == DIGESTS[kind][variant]


@pytest.mark.parametrize("sample", range(2))
@pytest.mark.parametrize("key", range(2))
@pytest.mark.parametrize("kind", ["fp8_fp8", "fp8_bf8", "bf8_fp8", "bf8_bf8"])
def test_swmmac_digests_of_bytes(kind, key, sample):
    shape = GFX12[f"v_swmmac_f32_16x16x32_{kind}"]
    bench = Bench(instruction(shape, 32, f"index_key:{key}"), target="gfx1201", wave_size=32)
    draw = Shifts(0x7381A593 + sample)
    values = {"fp8": (0xC0, 0xB8, 0, 0x38, 0x40), "bf8": (0xC0, 0xBC, 0, 0x3C, 0x40)}
    for register, element in [(A, shape.a), (A + 1, shape.a), *((B + n, shape.b) for n in range(4))]:
        for lane in range(32):
            bench.vgpr(register)[lane] = sum(values[element][draw(5)] << 8 * n for n in range(4))
    for n in range(8):
        for lane in range(32):
            bench.vgpr(D + n).view("f4")[lane] = draw(5) - 2
    fill_index(bench, draw)
    assert bench.run() is Status.END
    assert digest(bench, 8) == DIGESTS8[sample][key]


INTEGER_DIGESTS = {
    # by neg_lo of A (1) and B (2), clamp (4) and, SWMMAC, index_key (8); accumulators are near the limits
    "v_wmma_i32_16x16x16_iu8": """c22a903592e90cc5 6fb332320d26c020 d89e94a0e6280875 145c879ce436f580 001149aa27ccb9a1
        43941e67c622bb9b b855b9b808208ebc 2aa9c2bda1bb03d4""",
    "v_wmma_i32_16x16x16_iu4": """45e3e9eeda0777fc 54320413938478af 4d161eab3be9d220 f6686cde820fc091 3b383539e67d9df6
        ea725df600085d1e 1e5c4923ce624b85 5320671d7182f34b""",
    "v_wmma_i32_16x16x32_iu4": """e0b4bc60f0d3a29a b99159dbb427c4ac 43e60c5ab9f28f84 fea76d739d5d48ea 526069de1b76cc35
        c37d91857e4647d0 a709643471aa8082 4106be77a9c3ac78""",
    "v_swmmac_i32_16x16x32_iu8": """ba03d2325d398f4b 49458bfe4bc3ad6a a02f0754bd7ae8b1 f9ffb0473012b5f5 485b7914d4807e55
        dd5a7519d39dec9a ae0c6d0eca7e804a 52dbd5f4503196d6 ee067c3e01216443 93308d1a4b5b47af d0262576ede749fc
        a1447e0f754c9853 d2de90f066e44848 813160eff1adcaa4 f602a8438baa1271 3cbf3ef3497a8e14""",
    "v_swmmac_i32_16x16x32_iu4": """13a79eb4193eff63 db33f187071d3b2c 83e34bda0088d84a 3dce41bcacb922fa da10e6629fd6a365
        475736b5f3b5e492 e17d3ea40700ad9e 5cf15adff5bd760e 0767fbd43af3830d a749a82b0f73686b 9c75421a234b7e76
        9043cee4ee58e5ef c17fef5e00ecd305 386838ee000e345b 8410cb698582455c 92f292f04ac82c0a""",
}


@pytest.mark.parametrize("name", INTEGER_DIGESTS)
def test_digests_of_integers(name):
    shape, wanted = GFX12[name], INTEGER_DIGESTS[name].split()
    text = ""
    for variant in range(len(wanted)):
        signed = f"neg_lo:[{variant & 1},{variant >> 1 & 1},0]"
        key = f"index_key:{variant >> 3}" if shape.sparse else ""
        text += instruction(shape, 32, f"{key} {signed} {'clamp' if variant & 4 else ''}") + "\n"
    a, b, _ = dwords(shape, 32)
    for variant, want in enumerate(wanted):
        bench = Bench(text, target="gfx1201", wave_size=32)
        bench.set("pc", bench.text.address + 12 * variant)
        draw, everything = Shifts(0xA3987412), 1 << 32
        for n in range(6):  # two registers for A and four for B, of which all may be used
            for lane in range(32):
                word = draw(everything)
                if n < a:
                    bench.vgpr(A + n)[lane] = word
                elif 2 <= n < 2 + b:
                    bench.vgpr(B + n - 2)[lane] = word
        limits = (0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFF80, 0x80000080)
        for n in range(8):
            for lane in range(32):
                bench.vgpr((D if shape.sparse else C) + n)[lane] = limits[draw(6)]
        if shape.sparse:
            fill_index(bench, draw)
        assert bench.run() is Status.END
        assert f"{digest(bench, 8):016x}" == want, variant
