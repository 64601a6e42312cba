"""Compiled C++ on each target, compared with the same source compiled for the host.

In ``./test``, each kernel runs in one optimised and one unoptimised build; in `make truth`, in all builds.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import rocdbg
from tests.breadth import EVERYTHING

SOURCE = Path(__file__).parent / "sources" / "language.hip"
NAMES = re.findall(r"^KERNEL\((\w+)\)", SOURCE.read_text(), re.MULTILINE)
COMMON = ("-std=c++20", "-fno-rtti", "-ffp-contract=off", "-w")
ITEMS, ROW = 128, 16

# clang 22 miscompiles __builtin_bswap64 for gfx1100 at -O0 (a 16-bit move where 32 bits are needed): not in the source.
BUILDS = [
    ("gfx90a", "-O0"), ("gfx90a", "-O1"), ("gfx942", "-O2"), ("gfx1030", "-O0"), ("gfx1030", "-O2"), ("gfx1100", "-O0"),
    ("gfx1100", "-O3"), ("gfx1100", "-O1", "-mwavefrontsize64"), ("gfx1030", "-Os", "-mwavefrontsize64"),
    ("gfx900", "-O2"), ("gfx906", "-O1"), ("gfx908", "-O0"), ("gfx950", "-O3"), ("gfx1010", "-O2"), ("gfx1151", "-O2"),
    ("gfx1201", "-O0"), ("gfx1201", "-O2"), ("gfx1200", "-O1", "-mwavefrontsize64"), ("gfx1250", "-O0"),
    ("gfx1250", "-O2"),
]


def _kernels(build: tuple[str, ...]) -> list[str]:
    """The kernels that run in a build; builds of one kind take turns."""
    kind = [other for other in BUILDS if (other[1] == "-O0") == (build[1] == "-O0")]
    return NAMES if EVERYTHING else NAMES[kind.index(build) :: len(kind)]


def _inputs() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 1 << 32, 512, dtype=np.uint32)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """Results of each kernel, uint32[ITEMS, ROW], from the host's compiler."""
    library = tmp_path_factory.mktemp("host") / "language.so"
    exact = [f"-f{t}-excess-precision=none" for t in ("float16", "bfloat16")]
    command = ["clang-22", "-x", "c++", "-O1", *COMMON, "-shared", "-fPIC", *(f"-Xclang={e}" for e in exact)]
    subprocess.run([*command, str(SOURCE), "-o", str(library)], check=True)
    host, data = ctypes.CDLL(str(library)), _inputs()
    results = {}
    for name in NAMES:
        out = results[name] = np.zeros((ITEMS, ROW), np.uint32)
        getattr(host, name)(ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(data.ctypes.data), ITEMS)
    return results


@pytest.mark.llvm
@pytest.mark.truth
@pytest.mark.parametrize("build", BUILDS, ids="".join)
def test_kernels_equal_the_host(build, expected, tmp_path):
    target, *options = build
    path = tmp_path / "language.co"
    command = [
        "clang-22",
        "-x",
        "hip",
        "--offload-device-only",
        "-nogpuinc",
        "-nogpulib",
        "--no-gpu-bundle-output",
    ]
    command += [f"--offload-arch={target}", *options, *COMMON, str(SOURCE), "-o", str(path)]
    subprocess.run(command, check=True)
    program = rocdbg.load(path)
    wrong = {}
    for name in _kernels(build):
        out = np.zeros((ITEMS, ROW), np.uint32)
        program.kernels[name].launch(grid=ITEMS, workgroup=64, args=[out, _inputs()]).run()
        if not np.array_equal(out, expected[name]):
            item, slot = np.argwhere(out != expected[name])[0]
            wrong[name] = (item, slot, hex(out[item, slot]), hex(expected[name][item, slot]))
    assert not wrong, f"kernel: (item, slot, got, want) {wrong}"
