"""Kernels of Triton's tutorials, rewritten."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    first = tl.load(x + at, mask=inside)
    second = tl.load(y + at, mask=inside)
    tl.store(out + at, first + second, mask=inside)


@triton.jit
def softmax(out, x, stride, columns, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32) * scale
    raised = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, raised / tl.sum(raised, axis=0), mask=at < columns)


@triton.jit
def matmul(a, b, c, M, N, K, stride_a, stride_b, stride_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + m[:, None] * stride_a + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * stride_b + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * stride_c + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def attention(q, k, v, out, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + m[:, None] * D + d[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        n = start + tl.arange(0, BN)
        key = tl.load(k + n[None, :] * D + d[:, None])
        scores = tl.dot(query, key) * scale
        if CAUSAL:
            scores = tl.where(m[:, None] >= n[None, :], scores, -float("inf"))
        highest = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - highest[:, None])
        correction = tl.exp(largest - highest)
        total = total * correction + tl.sum(weights, 1)
        value = tl.load(v + n[:, None] * D + d[None, :])
        result = tl.dot(weights.to(tl.float16), value, result * correction[:, None])
        largest = highest
    tl.store(out + m[:, None] * D + d[None, :], result / total[:, None])


@triton.jit
def printing(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.device_print("value", tl.load(x + at))


@triton.jit
def sum_of(parts, scale, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, (tl.load(parts[0] + at) + tl.load(parts[1] + at)) * scale)
