"""gfx950's v_mfma_*_f8f6f4: five formats, scales of 32 elements each, against NumPy."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from engine_bench import Bench, assemble

import rocdbg
from rocdbg.sim.core.layout import Status

pytestmark = pytest.mark.llvm
RNG = np.random.default_rng(950)
A, B, C, D, SCALE_A, SCALE_B = 8, 16, 32, 64, 96, 97  # first registers
FORMATS = {
    # number in the instruction, bits, fraction, bias
    "fp8": (0, 8, 3, 7),
    "bf8": (1, 8, 2, 15),
    "fp6": (2, 6, 3, 1),
    "bf6": (3, 6, 2, 3),
    "fp4": (4, 4, 1, 1),
}
NUMBERS = np.array([-3, -2, -1.5, -1, 0, 0.5, 1, 1.5, 2, 3, 4])
"""Numbers that every format can represent."""


def encode(value: float, kind: str) -> int:
    _, bits, fraction, bias = FORMATS[kind]
    if value == 0:
        return 0
    mantissa, exponent = np.frexp(abs(value))
    field = int(exponent) - 1 + bias
    if field < 1:
        code = int(mantissa * 2.0 ** (int(exponent) - 1 + bias + fraction))
    else:
        code = field << fraction | int((mantissa * 2 - 1) * (1 << fraction))
    return int(value < 0) << bits - 1 | code


def place(k: int, depth: int, kind: str) -> tuple[int, int]:
    """The group of lanes that holds element k of a row, and the element's index among the group's 32."""
    if FORMATS[kind][1] == 8:  # 16 successive ones in each group, then again
        return k % (depth // 2) // 16, k // (depth // 2) * 16 + k % 16
    return divmod(k, 32)


def packed(rows: np.ndarray, kind: str) -> np.ndarray:
    """rows[i, k] as dwords[lane, register]."""
    bits = FORMATS[kind][1]
    count, depth = rows.shape
    lanes = [0] * 64
    for i in range(count):
        for k in range(depth):
            group, at = place(k, depth, kind)
            lanes[group * count + i] |= encode(rows[i, k], kind) << at * bits
    return np.array([[lane >> 32 * n & 0xFFFFFFFF for n in range(8)] for lane in lanes], np.uint32)


def load(bench: Bench, first: int, rows: np.ndarray, kind: str) -> None:
    for n, register in enumerate(packed(rows, kind).T[: FORMATS[kind][1]]):
        bench.vgpr(first + n)[:] = register


def results(bench: Bench, rows: int) -> np.ndarray:
    found = np.empty((rows, rows))
    for lane in range(64):
        for n in range(rows * rows // 64):
            row = n // 4 * (256 // rows) + lane // rows * 4 + n % 4
            found[row, lane % rows] = bench.vgpr(D + n).view("f4")[lane]
    return found


def load_results(bench: Bench, matrix: np.ndarray) -> None:
    rows = len(matrix)
    for lane in range(64):
        for n in range(rows * rows // 64):
            row = n // 4 * (256 // rows) + lane // rows * 4 + n % 4
            bench.vgpr(C + n).view("f4")[lane] = matrix[row, lane % rows]


def span(first: int, count: int) -> str:
    return f"v[{first}:{first + count - 1}]"


def instruction(rows: int, a: str, b: str, scales: str = "", modifiers: str = "") -> str:
    count = rows * rows // 64
    name = f"v_mfma_{'scale_' if scales else ''}f32_{rows}x{rows}x{2048 // rows}_f8f6f4"
    operands = [span(D, count), span(A, FORMATS[a][1]), span(B, FORMATS[b][1]), span(C, count)]
    text = f"{name} {', '.join(operands)}{scales} {modifiers}"
    return f"{text} cbsz:{FORMATS[a][0]} blgp:{FORMATS[b][0]}\ns_endpgm"


PAIRS = [
    ("fp8", "fp8"),
    ("fp8", "bf8"),
    ("bf8", "fp6"),
    ("fp6", "bf6"),
    ("bf6", "fp4"),
    ("fp4", "fp8"),
    ("fp4", "fp4"),
]


@pytest.mark.parametrize("a, b", PAIRS)
@pytest.mark.parametrize("rows", [16, 32])
def test_formats(rows, a, b):
    depth = 2048 // rows
    left, right = RNG.choice(NUMBERS, (2, rows, depth))
    c = RNG.integers(-4, 5, (rows, rows)).astype("f8")
    bench = Bench(instruction(rows, a, b), target="gfx950")
    load(bench, A, left, a)
    load(bench, B, right, b)
    load_results(bench, c)
    assert bench.run() is Status.END
    np.testing.assert_array_equal(results(bench, rows), left @ right.T + c)


@pytest.mark.parametrize("a, b", [("fp8", "fp8"), ("bf6", "fp4")])
@pytest.mark.parametrize("rows", [16, 32])
@pytest.mark.parametrize(
    "byte_a, byte_b, modifiers",
    [(0, 0, ""), (1, 2, "op_sel:[1,0,0] op_sel_hi:[0,1,0]"), (3, 0, "op_sel:[1,0,0] op_sel_hi:[1,0,0]")],
)
def test_scales(rows, a, b, byte_a, byte_b, modifiers):
    """Lane ``rows`` * n + i holds the exponent of the factor for the elements of row i from 32 n on."""
    depth = 2048 // rows
    left, right = RNG.choice(NUMBERS, (2, rows, depth))
    exponents = RNG.integers(-3, 4, (2, rows, depth // 32))
    if not modifiers:
        modifiers = "op_sel_hi:[0,0,0]"
    bench = Bench(instruction(rows, a, b, f", v{SCALE_A}, v{SCALE_B}", modifiers), target="gfx950")
    load(bench, A, left, a)
    load(bench, B, right, b)
    for register, byte, one in ((SCALE_A, byte_a, exponents[0]), (SCALE_B, byte_b, exponents[1])):
        words = np.full(64, 0xFFFFFFFF, np.uint32) & np.uint32(~(0xFF << 8 * byte) & 0xFFFFFFFF)
        codes = (one.T.reshape(-1) + 127).astype(np.uint32)
        bench.vgpr(register)[:] = words | codes << np.uint32(8 * byte)
    assert bench.run() is Status.END
    factors = [np.exp2(one).repeat(32, 1) for one in exponents]
    np.testing.assert_array_equal(results(bench, rows), (left * factors[0]) @ (right * factors[1]).T)


def test_a_scale_in_a_scalar_register_and_a_constant():
    # The assembler takes vector registers only: put s4 and 2.0 (operand code 244) into the fields.
    text = instruction(16, "fp4", "fp4", f", v{SCALE_A}, v{SCALE_B}", "op_sel_hi:[0,0,0]")
    words = np.frombuffer(assemble(text, "gfx950", 64), np.uint32).copy()
    words[1] = words[1] & ~np.uint32(0x3FFFF) | np.uint32(4 | 244 << 9)
    bench = Bench(".long " + ", ".join(map(str, words)), target="gfx950")
    one = np.ones((16, 128))
    load(bench, A, one, "fp4")
    load(bench, B, one, "fp4")
    bench.sgprs[4] = 126
    assert bench.run() is Status.END
    np.testing.assert_array_equal(results(bench, 16), np.full((16, 16), 128.0))


def test_the_scale_that_is_not_a_number():
    bench = Bench(
        instruction(16, "fp8", "fp8", f", v{SCALE_A}, v{SCALE_B}", "op_sel_hi:[0,0,0]"), target="gfx950"
    )
    bench.vgpr(SCALE_A)[:], bench.vgpr(SCALE_B)[:] = 127, 127
    bench.vgpr(SCALE_A)[3 + 16] = 0xFF
    assert bench.run() is Status.END
    assert np.argwhere(np.isnan(results(bench, 16)).all(1)).tolist() == [[3]]


# -- builtins ----------------------------------------------------------------------------------------------------------

SOURCE = """
typedef int i8 __attribute__((ext_vector_type(8)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16 __attribute__((ext_vector_type(16)));
#define KERNEL(NAME, C, SIZE, A, B)                                                                                \\
  extern "C" __attribute__((global)) void NAME(const i8 *a, const i8 *b, C *c, const int *scale) {                 \\
    int t = __builtin_amdgcn_workitem_id_x();                                                                      \\
    c[t] = __builtin_amdgcn_mfma_scale_f32_##SIZE##_f8f6f4(a[t], b[t], c[t], A, B, 1, scale[t], 2, scale[t]);      \\
  }
"""


@pytest.mark.parametrize("rows", [16, 32])
def test_builtins_with_all_pairs_of_formats(rows, tmp_path):
    depth = 2048 // rows
    pairs = [(a, b) for a in FORMATS for b in FORMATS]
    kernels = [
        f"KERNEL({a}_{b}, f{rows * rows // 64}, {rows}x{rows}x{depth}, {FORMATS[a][0]}, {FORMATS[b][0]})"
        for a, b in pairs
    ]
    path, output = tmp_path / "kernels.hip", tmp_path / "kernels.co"
    path.write_text(SOURCE + "\n".join(kernels) + "\n")
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O1", "-w"]
    command += ["--no-gpu-bundle-output", "--offload-arch=gfx950", str(path), "-o", str(output)]
    subprocess.run(command, check=True)
    program = rocdbg.load(output)
    left, right = RNG.choice(NUMBERS, (2, rows, depth))
    exponents = RNG.integers(-3, 4, (2, rows, depth // 32))
    codes = (exponents.transpose(0, 2, 1).reshape(2, 64) + 127).astype(np.uint32)
    scale = codes[0] << np.uint32(8) | codes[1] << np.uint32(16)  # of A in byte 1, of B in byte 2
    factors = [np.exp2(one).repeat(32, 1) for one in exponents]
    want = (left * factors[0]) @ (right * factors[1]).T
    for a, b in pairs:
        out = np.zeros((64, rows * rows // 64), np.float32)
        args = [packed(left, a), packed(right, b), out, scale]
        program.kernels[f"{a}_{b}"].launch(grid=64, workgroup=64, args=args).run()
        found = np.empty((rows, rows))
        for lane, values in enumerate(out):
            for n, value in enumerate(values):
                found[n // 4 * (256 // rows) + lane // rows * 4 + n % 4, lane % rows] = value
        np.testing.assert_array_equal(found, want, err_msg=f"{a} {b}")
