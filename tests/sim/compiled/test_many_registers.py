"""Kernels that need more than 256 vector registers: gfx1250's s_set_vgpr_msb."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import rocdbg
from rocdbg.isa import disassemble

SOURCE = Path(__file__).parent / "sources" / "many_registers.hip"
COUNT, LANES = 300, 32


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> rocdbg.Program:
    path = tmp_path_factory.mktemp("gfx1250") / "many_registers.co"
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--no-gpu-bundle-output"]
    options = ["--offload-arch=gfx1250", "-O2", "-ffp-contract=off", "-w"]
    subprocess.run([*command, *options, str(SOURCE), "-o", str(path)], check=True)
    return rocdbg.load(path)


def rows(kind: type) -> np.ndarray:
    """Input, [COUNT, LANES]; the low five bits of the integers are a permutation of the lanes in each row."""
    generator = np.random.default_rng(3)
    if kind is np.uint32:
        lanes = generator.permuted(np.tile(np.arange(LANES, dtype=np.uint32), (COUNT, 1)), axis=1)
        return generator.integers(0, 1 << 27, (COUNT, LANES), dtype=np.uint32) << 5 | lanes
    return generator.standard_normal((COUNT, LANES)).astype(kind)


def products(x: np.ndarray) -> np.ndarray:
    return _fma(x, x[::-1], np.roll(x, -100, axis=0))


def wide(x: np.ndarray) -> np.ndarray:
    return np.array(x.astype(np.longdouble) * 3 + x[::-1], np.float64)


def constants(x: np.ndarray) -> np.ndarray:
    last = np.roll(x, -7, axis=0)
    return _fma(x, np.float32(1234.5), x[::-1]) + _fma(x, last, np.float32(77.25))


def shared(x: np.ndarray) -> np.ndarray:
    memory = np.zeros_like(x)
    np.put_along_axis(memory, (x & 31).astype(np.int64), x[::-1], axis=1)
    y = memory ^ x
    return y + np.where(np.roll(y, -1, axis=0) > y, np.uint32(5), np.uint32(9))


def _fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """fma of f32: products are exact in f64, and the sum in long double determines the one rounding."""
    exact = a.astype(np.float64) * np.asarray(b, np.float64) + np.asarray(c, np.longdouble)
    return exact.astype(np.float32)


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("reference", "kind"),
    [(products, np.float32), (wide, np.float64), (constants, np.float32), (shared, np.uint32)],
    ids=lambda x: x.__name__,
)
def test_results(program: rocdbg.Program, reference, kind) -> None:
    x = rows(kind)
    out = np.zeros_like(x)
    kernel = program.kernels[reference.__name__]
    kernel.launch(grid=LANES, workgroup=LANES, args=[out, x]).run()
    np.testing.assert_array_equal(out, reference(x))


@pytest.mark.llvm
def test_the_kernels_need_the_instruction(program: rocdbg.Program) -> None:
    text = program.code_object.sections[".text"].data
    used = {i.operands[0].value & 0xFF for i in disassemble(text, "gfx1250") if i.name == "s_set_vgpr_msb"}
    assert {place for n in used for place in range(4) if n >> 2 * place & 3} == {0, 1, 2, 3}
