"""A plain script, which test_scripts.py runs under rocdbg: script.py TARGET."""

import sys

import numpy as np
import triton
import triton.language as tl

import rocdbg.triton


@triton.jit
def add(x, y, out, n, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    tl.store(out + i, a + scale * b, mask=i < n)  # the result


rocdbg.triton.activate(sys.argv[1])
both = np.arange(1000, dtype=np.float32)
for scale in (1.0, 2.0, 0.5):
    out = np.zeros(500, np.float32)
    add[(4,)](both, both[500:], out, 500, scale, BLOCK=128)
    wrong = np.flatnonzero(out != both[:500] + np.float32(scale) * both[500:])
    print(f"scale {scale}: {wrong.size} wrong {wrong[:2].tolist()}")
