"""Positions of matrix elements in registers, for the tests: NumPy arrays of [lane, element]."""

from __future__ import annotations

import numpy as np

from rocdbg.sim.data.matrix_shapes import BITS, Shape
from rocdbg.sim.data.wmma_shapes import WaveShape


def encode(values: np.ndarray, kind: str, *, ocp: bool = False) -> np.ndarray:
    """Small integers as elements of a type, uint8, uint16, uint32 or uint64. ``ocp``: which formats fp8 and bf8 are."""
    match kind:
        case "f64" | "f32" | "f16":
            return values.astype(f"f{BITS[kind] // 8}").view(f"u{BITS[kind] // 8}")
        case "xf32":
            return values.astype("f4").view("u4")
        case "bf16":
            return (values.astype("f4").view("u4") >> 16).astype("u2")
        case "i8":
            return values.astype("i1").view("u1")
    fraction, bias = {"fp8": (3, 8), "bf8": (2, 16)}[kind]
    bias -= ocp
    bits = values.astype("f4").view("u4")
    exponent = (bits >> 23 & 0xFF).astype(int) - 127 + bias
    code = (bits >> 24 & 0x80) | exponent << fraction | bits >> (23 - fraction) & (1 << fraction) - 1
    return np.where(values == 0, 0, code).astype("u1")


# -- CDNA -----------------------------------------------------------------------------------------------------------


def inputs(matrix: np.ndarray, lanes: int = 64) -> np.ndarray:
    """matrix[block, row, k] as [lane, element]: lanes advance over rows, then blocks, then parts of K."""
    blocks, rows, depth = matrix.shape
    parts = lanes // (blocks * rows)
    return (
        matrix.reshape(blocks, rows, parts, depth // parts)
        .transpose(2, 0, 1, 3)
        .reshape(lanes, depth // parts)
    )


def outputs(lanes: np.ndarray, shape: Shape) -> np.ndarray:
    """[lane, element] of D as [block, row, column]: strips of four rows (f64: one)."""
    m, strip = shape.m, 1 if shape.d == "f64" else 4
    side = max(1, 64 * strip // (m * m))  # blocks in a register
    groups = 64 // (m * side)
    stacks = lanes.shape[1] // strip
    cube = lanes.reshape(groups, side, m, stacks, strip)  # group, block, column, stack, row of the strip
    if side > 1:  # every stack holds other blocks
        return cube.transpose(3, 1, 0, 4, 2).reshape(shape.blocks, m, m)
    return cube.transpose(1, 3, 0, 4, 2).reshape(shape.blocks, m, m)


def result_type(shape: Shape) -> str:
    return {"f64": "f8", "f32": "f4", "i32": "i4"}[shape.d]


def accumulator(shape: Shape, value: np.ndarray) -> np.ndarray:
    """[block, row, column] as [lane, element]."""
    index = np.arange(64 * shape.results_per_lane).reshape(64, -1)
    order = outputs(index, shape).reshape(-1)
    flat = np.empty(value.size, result_type(shape))
    flat[order] = value.reshape(-1)
    return flat.reshape(64, -1)


# -- GFX11, GFX12 ---------------------------------------------------------------------------------------------------


def place(k: int, depth: int, bits: int, wave: int) -> tuple[int, int]:
    """GFX12: the group of 16 lanes that holds element k of a row of ``depth`` elements, and the element's index in it.

    Each group in turn holds eight successive elements (four in wave64, for numbers with more than four bits).
    """
    if wave == 32:
        return k // 8 % 2, k // 16 * 8 + k % 8
    if bits > 4:
        return k // 4 % 4, k // 16 * 4 + k % 4
    if depth == 16:
        return k // 8, k % 8
    return {0: 0, 1: 2, 2: 1, 3: 3}[k // 8 % 4], k // 32 * 8 + k % 8


def result_places(shape: WaveShape, wave: int) -> list[tuple[int, int, int, int]]:
    """(row, column, lane, element) of C and D; 16-bit elements of GFX11 take a register each."""
    rows = []
    for lane in range(wave):
        for n in range(256 // wave):
            if not shape.gfx12:
                row = n * (wave // 16) + lane // 16
            elif wave == 32:
                row = n + 8 * (lane // 16)
            else:
                row = n + 8 * (lane // 16 % 2) + 4 * (lane // 32)
            at = 2 * n if shape.packed and not shape.gfx12 else n
            rows.append((row, lane % 16, lane, at))
    return rows


def lanes_of(rows: np.ndarray, shape: WaveShape, wave: int) -> np.ndarray:
    """rows[i, k] as [lane, element]: A, or B's columns."""
    count, depth = rows.shape
    if not shape.gfx12:  # the same in every 16 lanes
        return np.tile(rows, (wave // 16, 1))
    places = [place(k, depth, shape.bits, wave) for k in range(depth)]
    found = np.zeros((wave, max(at for _, at in places) + 1), rows.dtype)
    for k, (group, at) in enumerate(places):
        found[group * 16 : group * 16 + count, at] = rows[:, k]
    return found


# -- one of four elements ------------------------------------------------------------------------------------------


def choose(rng: np.random.Generator, rows: int, depth: int) -> np.ndarray:
    """Choose two different elements, in order, out of each four of ``depth`` elements."""
    pairs = np.array([(p, q) for p in range(4) for q in range(p + 1, 4)])
    return pairs[rng.integers(0, 6, (rows, depth // 4))].reshape(rows, depth // 2)


def spread(shape: Shape, kept: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """SMFMAC: the full rows of A, which contains two of each four elements; in the form in which `inputs` takes B's
    columns.
    """
    per_group = shape.a_per_lane // 2
    fours = np.array([shape.four_of(*divmod(n, per_group)) for n in range(shape.k // 4)])
    first = (fours[:, 0] * shape.b_per_lane + fours[:, 1]).repeat(2)
    full = np.zeros((shape.m, shape.k))
    np.put_along_axis(full, chosen + first, kept, 1)
    return full


def spread_wave(shape: WaveShape, wave: int, kept: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The same for SWMMAC and `lanes_of`: four elements of B belong to the pair of A in the same place."""
    fours = {place(k, shape.k, shape.bits, wave): k for k in range(0, shape.k, 4)}
    full = np.zeros((16, shape.k))
    for n in range(shape.k // 2):
        group, at = place(n, shape.k // 2, shape.bits, wave)
        four = at // 2 * 4
        if wave == 64 and shape.bits == 4 and shape.k == 32:  # A in the first 32 lanes only
            group, four = group + (0 if at < 4 else 2), four % 8
        full[np.arange(16), fours[group, four] + chosen[:, n]] = kept[:, n]
    return full


def index_words(index: np.ndarray, number: int = 0) -> np.ndarray:
    """index[lane, element of A] as words: the set ``number`` of the index register."""
    shifts = 2 * (np.arange(index.shape[1]) + index.shape[1] * number)
    return (index.astype(np.uint32) << shifts.astype(np.uint32)).sum(1, dtype=np.uint32)
