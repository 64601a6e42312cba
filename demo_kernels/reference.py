#!/usr/bin/env python3
"""Inputs of the demo kernels, and their expected results, computed by NumPy.

    demo_kernels/reference.py        write the .npy files that the launch files name

Each demo has one function that returns its arrays by file name. The arithmetic is the kernels' own, done
on whole arrays; nothing here knows the simulator.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
Arrays = dict[str, np.ndarray[Any, Any]]

NODE = np.dtype(
    {
        "names": [
            "key",
            "weight",
            "next",
            "red",
            "green",
            "blue",
            "shade",
            "bits",
            "marked",
            "scale",
            "follow",
        ],
        "formats": ["i4", ("f4", 3), "u8", "u1", "u1", "u1", "i4", "u4", "u1", "f8", "i4"],
        "offsets": [0, 4, 16, 24, 25, 26, 28, 32, 35, 40, 48],
        "itemsize": 56,
    }
)
VERTEX = np.dtype(
    {
        "names": ["position", "texture", "colour"],
        "formats": [("f4", 4), ("f2", 2), ("u1", 4)],
        "offsets": [0, 16, 20],
        "itemsize": 32,
    }
)


def saxpy() -> Arrays:
    x = np.arange(1000, dtype=np.float32)
    y = np.ones(1000, np.float32)
    return {"expected.npy": np.float32(2) * x + y}


def divergence() -> Arrays:
    rng = np.random.default_rng(7)
    values = rng.integers(-100, 100, 120, dtype=np.int32)

    def one(value: int) -> int:
        if value % 2 == 0:
            result = value - 40 if value > 40 else value + 1000
        else:
            result = -value
        steps = 0
        walker = value + 1
        while walker != 1:
            walker = 3 * walker + 1 if walker & 1 else int(walker / 2)  # C division truncates
            steps += 1
            if steps == 50:
                break
        return (result + steps, result - steps, result * 2, result ^ steps)[value & 3]

    return {"input.npy": values, "expected.npy": np.array([one(int(v)) for v in values], np.int32)}


def calls() -> Arrays:
    i = np.arange(64)
    squares = sum((i % 5 + k) ** 2 for k in range(4))
    fibonacci = np.array([0, 1, 1, 2, 3, 5, 8, 13])[i % 8]
    return {"expected.npy": (squares + fibonacci).astype(np.int32)}


def spaces() -> Arrays:
    n = 6
    nodes = np.zeros(n, NODE)
    for k in range(n):
        nodes[k] = (
            k * 11, (k + 0.5, k + 1.5, k - 2.25), 0, 10 * k, 20 * k + 1, 255 - k, k % 3,
            k % 8 | (k * 9 + 5) << 3 | (k * 37) << 10, k % 2, 0.25 * (k + 1), k + 2 if k + 2 < n else -1,
        )
    weights = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    expected = np.empty(64, np.float64)
    for lane in range(64):
        at = lane % n
        for _ in range(lane):
            if nodes[at]["follow"] < 0:
                break
            at = nodes[at]["follow"]
        node = nodes[at]
        other = 63 - lane
        from_lds = int(weights[other % 8]) * other
        from_private = lane + lane % 4 * 100
        total = float(node["scale"]) * (from_lds + from_private + int(weights[lane % 8]))
        # in C the float member promotes the two integers before the double sum sees them
        total += float(
            np.float32(node["weight"][lane % 3]) + int(node["green"]) + (int(node["bits"]) >> 3 & 127)
        )
        if node["marked"]:
            total = -total
        expected[lane] = total + int(node["key"]) + int(node["shade"])
    return {"nodes.npy": nodes.view(np.uint8).reshape(-1), "expected.npy": expected}


def reduce() -> Arrays:
    values = np.random.default_rng(11).integers(-1000, 1000, 1024, dtype=np.int32)
    return {"input.npy": values, "expected.npy": values.reshape(4, 256).sum(axis=1).astype(np.int32)}


def matmul() -> Arrays:
    rng = np.random.default_rng(13)
    a, b = (rng.integers(-8, 8, (32, 32)).astype(np.float32) for _ in range(2))  # sums stay exact
    return {"a.npy": a.reshape(-1), "b.npy": b.reshape(-1), "expected.npy": (a @ b).reshape(-1)}


def histogram() -> Arrays:
    data = np.random.default_rng(17).integers(0, 251, 2000).astype(np.uint8)
    bins = np.bincount(data >> 4, minlength=16).astype(np.uint32)
    return {"data.npy": data, "bins.npy": bins, "largest.npy": np.array([data.max()], np.uint32)}


def spill() -> Arrays:
    values = np.random.default_rng(19).random((64, 24), np.float32)
    v = [values[:, k].copy() for k in range(24)]
    for _ in range(3):
        for k in range(24):
            v[k] = v[k] * np.float32(0.5) + v[(k + 7) % 24]  # halving is exact: fma or not, the same
    return {"input.npy": values.reshape(-1), "expected.npy": np.stack(v, axis=1).reshape(-1)}


def scan() -> Arrays:
    values = np.random.default_rng(23).integers(0, 100, 128, dtype=np.int32)
    sums = np.cumsum(values.reshape(4, 32), axis=1)
    votes = [sum(1 << k for k in range(32) if row[k] % 3 == 0) for row in sums]
    return {
        "input.npy": values,
        "sums.npy": sums.reshape(-1).astype(np.int32),
        "ballots.npy": np.repeat(np.array(votes, np.uint32), 32),
    }


def mandelbrot() -> Arrays:
    width, height, limit = 64, 32, 100
    f = np.float32
    x, y = np.meshgrid(np.arange(width, dtype=f), np.arange(height, dtype=f))
    cr = f(-2) + f(3) * x / f(width)
    ci = f(-1) + f(2) * y / f(height)
    zr, zi = np.zeros_like(cr), np.zeros_like(ci)
    count = np.zeros(cr.shape, np.int32)
    running = np.ones(cr.shape, bool)
    for _ in range(limit):
        rr, ii = zr * zr, zi * zi
        running &= ~(rr + ii > f(4))
        zi = np.where(running, f(2) * zr * zi + ci, zi)
        zr = np.where(running, rr - ii + cr, zr)
        count += running
    return {"expected.npy": count.reshape(-1)}


def vectors() -> Arrays:
    v = (np.arange(256, dtype=np.float32) / 4).reshape(64, 4)
    whole = v.astype(np.int32)
    half = v[:, 0].astype(np.float16)
    vertices = np.zeros(64, VERTEX)
    vertices["position"] = v + v[:, ::-1]
    vertices["texture"] = np.stack([half, np.float16(2) * half], axis=1)
    vertices["colour"] = np.stack([whole[:, 0], whole[:, 1], whole[:, 2], whole[:, 0] + whole[:, 1]], axis=1)
    output = vertices["position"] * np.array([1, 0.5, 0.25, 2], np.float32)
    return {
        "input.npy": v.reshape(-1),
        "output.npy": output.reshape(-1),
        "halves.npy": half + np.float16(2) * half,
        "vertices.npy": vertices.view(np.uint8).reshape(-1),
    }


def trap() -> Arrays:
    values = np.arange(64, dtype=np.int32)
    values[37] = 1000  # the lane whose assertion fails
    return {"input.npy": values}


def ramp() -> Arrays:
    i = np.arange(256, dtype=np.int32)
    return {"expected.npy": i * i + 7}


def nested() -> Arrays:
    x = np.random.default_rng(29).integers(0, 64, 120, dtype=np.int32)
    r = np.where(x & 1, (3 * x + np.where(x & 2, 100, -1)) ^ 5, x + 7)
    return {"input.npy": x, "expected.npy": (2 * r).astype(np.int32)}


def wholewave() -> Arrays:
    x = np.random.default_rng(31).integers(0, 100, 100, dtype=np.int32)
    groups = np.pad(x, (0, 28)).reshape(-1, 32)
    totals = np.where(groups > 50, groups, 0).sum(axis=1, keepdims=True)
    result = np.where(groups > 50, totals - groups, groups).astype(np.int32)
    return {"input.npy": x, "expected.npy": result.reshape(-1)[:100]}


def unwinding() -> Arrays:
    x = np.random.default_rng(37).integers(0, 64, 100, dtype=np.int32)
    inner = np.where(x & 4, x * x + 1, x)
    outer = np.where(x & 2, inner, 0) + 7 * x + 1
    return {"input.npy": x, "expected.npy": np.where(x & 1, outer, -x).astype(np.int32)}


def pieces() -> Arrays:
    x = np.random.default_rng(41).integers(0, 1000, 100, dtype=np.int32)
    lost = x[0] + x + 3 * x + (x - 1)
    nibbles = (x[1] & 15) | (x << 4)
    return {"input.npy": x, "expected.npy": lost + 42 + 1000 + x[0] + nibbles}


def overlay() -> Arrays:
    x = np.random.default_rng(43).integers(-5, 5, (100, 16), dtype=np.int32)
    rows = x * x + np.arange(16, dtype=np.int32)
    powers = np.array([pow(5, 15 - k, 1 << 32) for k in range(16)], np.uint32)
    return {
        "input.npy": x.reshape(-1),
        "expected.npy": (rows.view(np.uint32) * powers).sum(axis=1, dtype=np.uint32).view(np.int32),
    }


def pointers() -> Arrays:
    x = np.random.default_rng(47).integers(0, 1000, 100, dtype=np.int32)
    second = 7 + 2 * x
    return {"input.npy": x, "expected.npy": (second - 1) ^ x}


def callsites() -> Arrays:
    x = np.random.default_rng(59).integers(0, 1000, 100, dtype=np.int32)
    i = np.arange(100, dtype=np.int32)
    return {"input.npy": x, "expected.npy": 3 * (x + 1) + i + 10 + i // 64}


def types() -> Arrays:
    x = np.random.default_rng(61).integers(-500, 500, (100, 4), dtype=np.int32)
    i = np.arange(100, dtype=np.int32)
    row = np.where(np.arange(4) < 1 + (i & 3)[:, None], x, 0).sum(axis=1, dtype=np.int32)
    member = np.where(i & 1, x[:, 3], x[:, 0])
    flags = 0x12345078 | (i & 15) << 8
    return {"input.npy": x.reshape(-1), "expected.npy": row + member + flags + 7}


def embedded() -> Arrays:
    x = np.random.default_rng(53).integers(1, 30, 100, dtype=np.int32)

    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(3 * n + 1 if n & 1 else n >> 1)

    return {"input.npy": x, "expected.npy": np.array([steps(int(n)) for n in x], np.int32)}


REFERENCES: dict[str, Callable[[], Arrays]] = {
    function.__name__: function
    for function in (
        saxpy, divergence, calls, spaces, reduce, matmul, histogram, spill, scan, mandelbrot, vectors, ramp,
        trap,
    )
}
EXTENSIONS: dict[str, Callable[[], Arrays]] = {
    function.__name__: function
    for function in (nested, wholewave, unwinding, callsites, pieces, overlay, pointers, types, embedded)
}
"""The demos below ``extensions/``."""


def main() -> None:
    for folder, references in ((HERE, REFERENCES), (HERE / "extensions", EXTENSIONS)):
        for name, reference in references.items():
            for file, array in reference().items():
                np.save(folder / name / file, array)


if __name__ == "__main__":
    main()
