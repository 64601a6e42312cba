"""Arithmetic compiled by clang and run on each target, against NumPy."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest

import rocdbg
from tests.breadth import some_of

SOURCE = Path(__file__).parent / "arithmetic.hip"
TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100")


def _u(value: np.ndarray) -> np.ndarray:
    return value.view(f"u{value.dtype.itemsize}")


def _truncated_divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.array(
        [
            int(abs(int(p)) // abs(int(q))) * (1 if (p < 0) == (q < 0) else -1)
            for p, q in zip(x, y, strict=True)
        ]
    )


def _per_bit(function, values: np.ndarray, width: int) -> np.ndarray:
    return np.array([function(int(v) & (1 << width) - 1) for v in values])


def i32(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    u, v = _u(x), _u(y)
    wide, count = x.astype("i8") * y, v & 31
    unsigned = u.astype("u8") * v
    quotient = _truncated_divide(x, y)
    return [
        x + y, x - y, x * y, quotient, x - quotient * y, u // v, u % v, u << count, x >> count.astype("i4"), u >> count,
        wide >> 32, unsigned >> np.uint64(32),
        _per_bit(int.bit_count, x, 32), _per_bit(lambda n: 32 - (n | 1).bit_length(), x, 32),
        _per_bit(lambda n: ((n | 1 << 31) & -(n | 1 << 31)).bit_length() - 1, x, 32),
        _per_bit(lambda n: int(f"{n:032b}"[::-1], 2), x, 32), u.byteswap(),
        (u.astype("u8") << (v & 31) | u.astype("u8") >> (32 - (v & 31))).astype("u4"), (x << 8) >> 20,
        np.minimum(x, y), np.maximum(u, v), np.abs(x), (x & y) | (~x & 0x55AA55AA),
        np.clip(x.astype("i8") + y, -(1 << 31), (1 << 31) - 1), np.where(u > v, u - v, 0),
        (x & 0xFFFFFF).astype("i8") * (y & 0xFFFFFF) + 5, x.astype("i2").astype("i4") * y.astype("i2"),
        x.astype("i1").astype("i4") + y.astype("u1"),
    ]


def i64(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    u, v = _u(x), _u(y)
    count = v & np.uint64(63)
    divisor = y >> 20 | 1
    return [
        x + y, x - y, x * y, u << count, x >> count.astype("i8"), u >> count, np.minimum(x, y), np.maximum(u, v),
        _truncated_divide(x, divisor), u % (v >> np.uint64(20) | np.uint64(1)), _per_bit(int.bit_count, x, 64),
        _per_bit(lambda n: 64 - (n | 1).bit_length(), x, 64), np.where(x == y, 1, np.abs(x)),
        (x >> 12).astype("f8").astype("i8"),
    ]


def f32(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    f, lane = np.float32, np.arange(64)
    return [
        x + y, x - y, x * y, x / y, np.sqrt(np.abs(x)), np.floor(x), np.ceil(x), np.trunc(x), np.rint(x),
        np.copysign(x, y), x.astype("i4").astype(f), np.abs(y).astype("u4").astype(f), x.astype("f2").astype(f),
        (x.astype("f8") * y).astype(f), np.where(x < y, x, y), np.ldexp(x, lane - 32),
        (x.astype("i8") * 1000003).astype(f), (x.astype("f8") * y + 1).astype(f), np.where(x > y, f(1), f(3)),
    ]


def f64(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    return [
        x + y, x - y, x * y, x / y, np.sqrt(np.abs(x)), np.floor(x), np.rint(x), x.astype("i4").astype("f8"),
        x.astype("f4").astype("f8"), np.where(x < y, x, y), np.ldexp(x, np.arange(64) - 32),
        (x * 1e6).astype("i8").astype("f8"),
    ]


def f16(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    product = (x.astype("f4") * y.astype("f4") + np.float32(1)).astype("f2")
    return [
        x + y,
        x - y,
        x * y,
        x / y,
        np.floor(x),
        np.rint(x),
        x.astype("i2").astype("f2"),
        np.where(x < y, x, y),
        product,
    ]


def _inputs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    if dtype.startswith("f"):
        x, y = ((rng.standard_normal(64) * 50).astype(dtype) for _ in range(2))
        return x, y
    info = np.iinfo(dtype)
    x, y = (rng.integers(info.min, info.max, 64, dtype=dtype) for _ in range(2))
    y[:8] = [1, -1, 3, -7, 31, 33, info.max, 2]
    return x, y | 1


LEVELS = ("-O0", "-O2")


@pytest.mark.llvm
@pytest.mark.truth
@pytest.mark.parametrize(
    ("target", "level"),
    some_of(
        list(itertools.product(TARGETS, LEVELS)), [(target, LEVELS[turn % 2]) for turn, target in enumerate(TARGETS)]
    ),
)
def test_compiled_arithmetic(tmp_path, target, level):
    path = tmp_path / "arithmetic.co"
    command = [
        "clang-22",
        "-x",
        "hip",
        "--offload-device-only",
        "-nogpuinc",
        "-nogpulib",
        f"--offload-arch={target}",
    ]
    command += [level, "-ffp-contract=off", "--no-gpu-bundle-output", str(SOURCE), "-o", str(path)]
    subprocess.run(command, check=True)
    program = rocdbg.load(path)
    for dtype, function in (("i4", i32), ("i8", i64), ("f4", f32), ("f8", f64), ("f2", f16)):
        x, y = _inputs(dtype)
        with np.errstate(all="ignore"):
            want = [np.asarray(w).astype(dtype) for w in function(x, y)]
        out = np.zeros((len(want), 64), dtype)
        program.kernels[f"k_{function.__name__}"].launch(grid=64, workgroup=64, args=[out, x, y]).run()
        wrong = {
            slot: (x[lane], y[lane], out[slot, lane], row[lane])
            for slot, row in enumerate(want)
            for lane in np.nonzero(out[slot] != row)[0][:1]
        }
        assert not wrong, f"{function.__name__}: slot: (x, y, got, want) {wrong}"
