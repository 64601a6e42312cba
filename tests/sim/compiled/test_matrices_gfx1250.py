"""gfx1250's WMMA on small integers, whose sums are the same in every order of additions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import rocdbg

SOURCE = Path(__file__).parent / "sources" / "matrices_gfx1250.hip"

FP8 = {0: 0, 1: 0x38, 2: 0x40, 3: 0x44, 4: 0x48, 5: 0x4A, 6: 0x4C, 7: 0x4E}
"""Codes of small E4M3 numbers."""


def _fp8(x: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda v: FP8[abs(v)] | 0x80 * (v < 0), otypes=[np.uint8])(x)


def _bf16(x: np.ndarray) -> np.ndarray:
    return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


CASES = [
    # kernel, depth, factors from, to, their encoding, sums
    ("f32_f16", 32, -7, 8, np.float16, np.float32),
    ("f16_f16", 32, -3, 4, np.float16, np.float16),
    ("f32_bf16", 32, -7, 8, _bf16, np.float32),
    ("i32_i8", 64, -128, 128, np.int8, np.int32),
    ("i32_u8", 64, 0, 256, np.uint8, np.int32),
    ("f32_fp8_64", 64, -7, 8, _fp8, np.float32),
    ("f32_fp8_128", 128, -7, 8, _fp8, np.float32),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> rocdbg.Program:
    path = tmp_path_factory.mktemp("gfx1250") / "matrices.co"
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--no-gpu-bundle-output"]
    subprocess.run([*command, "--offload-arch=gfx1250", "-O3", "-w", str(SOURCE), "-o", str(path)], check=True)
    return rocdbg.load(path)


@pytest.mark.llvm
@pytest.mark.parametrize(("name", "depth", "low", "high", "encode", "sums"), CASES, ids=[c[0] for c in CASES])
def test_products(program: rocdbg.Program, name, depth, low, high, encode, sums) -> None:
    generator = np.random.default_rng(7)
    a, b = (generator.integers(low, high, (16, depth)) for _ in range(2))  # b: row n is the product's column n
    c = generator.integers(-50, 50, (16, 16))
    make = encode if isinstance(encode, type(_fp8)) else lambda x: x.astype(encode)
    d = np.zeros((16, 16), sums)
    program.kernels[name].launch(grid=32, workgroup=32, args=[d, make(a), make(b), c.astype(sums)]).run()
    np.testing.assert_array_equal(d, (a @ b.T + c).astype(sums))
