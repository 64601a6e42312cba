"""Triton kernels whose lanes diverge: atomic operations, and accesses that no buffer instruction can mask."""

import triton
import triton.language as tl


@triton.jit
def histogram(values, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(values + at, mask=at < n, other=0)
    tl.atomic_add(counts + (value & 15), 1, mask=(at < n) & (value > 3))


@triton.jit
def swap_once(values, flags, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(values + at, mask=at < n, other=0)
    old = tl.atomic_xchg(flags + (value & 31), value, mask=value > 9)
    tl.store(out + at, old, mask=(at < n) & (old != value))


@triton.jit
def chase(links, out, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.int32)
    place = at
    for _ in range(STEPS):
        inside = (place < n) & (place >= 0)
        link = tl.load(links + place, mask=inside, other=-1)
        total += tl.where(inside, link, 1)
        place = link.to(tl.int64) * 3 - at
    tl.atomic_max(out + at, total, mask=at < n)
