"""Functions that gfx1250 has as instructions: bfloat16, tanh, moves between memory and LDS."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import rocdbg

SOURCE = Path(__file__).parent / "sources" / "functions_gfx1250.hip"
COUNT = 4096


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> rocdbg.Program:
    path = tmp_path_factory.mktemp("gfx1250") / "functions.co"
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--no-gpu-bundle-output"]
    subprocess.run([*command, "--offload-arch=gfx1250", "-O2", "-w", str(SOURCE), "-o", str(path)], check=True)
    return rocdbg.load(path)


def to_bfloat(x: np.ndarray) -> np.ndarray:
    """f32 as bfloat16 bits, ties to even; no NaNs."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bfloat(x: np.ndarray) -> np.ndarray:
    return (x.astype(np.uint32) << 16).view(np.float32)


def numbers(positive: bool) -> np.ndarray:
    generator = np.random.default_rng(11)
    x = generator.standard_normal(COUNT) * 2.0 ** generator.integers(-20, 5, COUNT)
    x[:4] = [0.0, 0.5, 1.0, 40.0]
    return np.abs(x) if positive else x


FUNCTIONS = {
    "tanh": (np.tanh, False),
    "exp2": (np.exp2, False),
    "log2": (np.log2, True),
    "rcp": (np.reciprocal, False),
    "rsq": (lambda x: 1 / np.sqrt(x), True),
    "sqrt": (np.sqrt, True),
}


def steps(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    """The number of floats between two floats given as bits."""

    def ordered(x: np.ndarray) -> np.ndarray:
        x = x.astype(np.int64)
        return np.where(x >> bits - 1, (1 << bits - 1) - x, x)

    return np.abs(ordered(a) - ordered(b))


@pytest.mark.llvm
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bfloat_functions(program: rocdbg.Program, name: str) -> None:
    function, positive = FUNCTIONS[name]
    x, out = to_bfloat(numbers(positive)), np.zeros(COUNT, np.uint16)
    program.kernels[f"{name}_bf16"].launch(grid=COUNT, workgroup=64, args=[out, x]).run()
    with np.errstate(all="ignore"):
        expected = to_bfloat(function(from_bfloat(x).astype(np.float64)))
    assert steps(out, expected, 16).max() <= 1


@pytest.mark.llvm
@pytest.mark.parametrize("kind", [np.float32, np.float16], ids=lambda kind: kind.__name__)
def test_tanh(program: rocdbg.Program, kind: type) -> None:
    bits = 8 * np.dtype(kind).itemsize
    integer = np.dtype(f"u{bits // 8}")
    x, out = numbers(False).astype(kind), np.zeros(COUNT, kind)
    program.kernels[f"tanh_f{bits}"].launch(grid=COUNT, workgroup=64, args=[out, x]).run()
    expected = np.tanh(x.astype(np.float64)).astype(kind)
    assert steps(out.view(integer), expected.view(integer), bits).max() <= 1


@pytest.mark.llvm
def test_fma_rounds_once(program: rocdbg.Program) -> None:
    generator = np.random.default_rng(12)
    a = to_bfloat(generator.integers(-8, 9, COUNT).astype(np.float64))
    b = np.resize(np.float32([0.9, 1 / 3, 1.7, 0.7]), COUNT)  # five times 0.9 is just below a tie, in f32 a tie
    c = np.where(np.arange(COUNT) % 3, 0, generator.standard_normal(COUNT) * 2.0**-12).astype(np.float32)
    out = np.zeros(COUNT, np.uint16)
    program.kernels["fma_bf16"].launch(grid=COUNT, workgroup=64, args=[out, a, b, c]).run()
    exact = from_bfloat(a).astype(np.longdouble) * b + c
    low = from_bfloat(out).astype(np.longdouble)
    spacing = 2.0 ** (np.frexp(np.where(low == 0, 1, low).astype(np.float64))[1] - 8)
    assert (np.abs(low - exact) <= spacing / 2).all()


@pytest.mark.llvm
def test_memory_to_lds_and_back(program: rocdbg.Program) -> None:
    data, out = np.arange(1000, 1064, dtype=np.uint32), np.zeros(64, np.uint32)
    program.kernels["copy"].launch(grid=64, workgroup=64, args=[out, data]).run()
    np.testing.assert_array_equal(out, data[np.arange(64) ^ 5])
