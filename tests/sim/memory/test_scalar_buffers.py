"""Scalar loads, stores and atomics through a buffer resource: how many dwords are in range, whatever its last byte."""

from __future__ import annotations

import numpy as np
import pytest
from engine_bench import Bench

from rocdbg.sim.core.layout import Status

pytestmark = pytest.mark.llvm
TARGETS = ("gfx803", "gfx90a", "gfx1030", "gfx1100", "gfx1201")
STRIDES = (0, 4, 6)
RECORDS = (0, 1, 2, 3, 4, 5, 8, 10, 15, 16, 17, 23, 24, 25, 40)


def in_range(stride: int, records: int, offset: int) -> int:
    """Whole dwords of four: a resource has so many records of ``stride`` bytes, or so many bytes."""
    return min(4, max(0, records * (stride or 1) - offset) // 4)


@pytest.mark.parametrize("target", TARGETS)
def test_loads(target: str) -> None:
    new = target in ("gfx1100", "gfx1201")
    name = "s_buffer_load_b128" if new else "s_buffer_load_dwordx4"
    bench = Bench(f"{name} s[16:19], s[0:3], 0x8\ns_endpgm", target, 64 if target in ("gfx803", "gfx90a") else 32)
    buffer = bench.buffer(np.arange(1, 65, dtype=np.uint32))
    for stride in STRIDES:
        for records in RECORDS:
            bench.sgprs[:4] = buffer.address & 0xFFFFFFFF, buffer.address >> 32 | stride << 16 | 0x80000000, records, 0
            bench.sgprs[16:20] = 9
            bench.set("pc", bench.text.address)
            assert bench.run() is Status.END
            count = in_range(stride, records, 8)
            assert bench.sgprs[16:20].tolist() == [3, 4, 5, 6][:count] + [0] * (4 - count), (stride, records)


def test_stores_and_atomics() -> None:
    text = "s_buffer_store_dwordx4 s[8:11], s[0:3], 0x8\ns_buffer_atomic_add_x2 s[14:15], s[0:3], 0x8 glc\ns_endpgm"
    bench = Bench(text, "gfx1010", 32)
    buffer = bench.buffer(np.zeros(8, np.uint32))
    for records in RECORDS:
        buffer.data.view(np.uint32)[:] = range(1, 9)
        bench.set64(0, buffer.address)
        bench.set64(2, records)
        bench.sgprs[8:16] = [100, 101, 102, 103, 0, 0, 1000, 0]
        bench.set("pc", bench.text.address)
        assert bench.run() is Status.END
        count = in_range(0, records, 8)
        after = [1, 2, *[100, 101, 102, 103][:count], *range(3 + count, 9)]
        after[2] += 1000 if count >= 2 else 0
        assert buffer.data.view(np.uint32).tolist() == after, records
        assert bench.sgprs[14:16].tolist() == ([100, 101] if count >= 2 else [0, 0]), records
