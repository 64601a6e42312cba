"""A scalar base and an offset in a register: signed and perhaps scaled on gfx125x, unsigned on all others."""

from __future__ import annotations

import numpy as np
import pytest
from engine_bench import Bench

from rocdbg.sim.core.layout import Status

pytestmark = pytest.mark.llvm
WRAP = 1 << 32

# the instruction; the scalar base, from the buffer's beginning; the register; the byte that is loaded first
SIGNED = [
    ("global_load_b32 v4, v2, s[0:1]", 64, 16, 80),
    ("global_load_b32 v4, v2, s[0:1] offset:8", 64, -16, 56),
    ("global_load_b32 v4, v2, s[0:1] offset:-8", 64, -16, 40),
    ("global_load_b32 v4, v2, s[0:1] scale_offset", 64, 3, 76),
    ("global_load_b32 v4, v2, s[0:1] scale_offset", 64, -3, 52),
    ("global_load_b64 v[4:5], v2, s[0:1] offset:4 scale_offset", 64, -3, 44),
    ("global_load_b128 v[4:7], v2, s[0:1] scale_offset", 64, -1, 48),
    ("global_load_u16 v4, v2, s[0:1] scale_offset", 64, -4, 56),
    ("global_load_u8 v4, v2, s[0:1] scale_offset", 64, -4, 60),
    ("flat_load_b32 v4, v2, s[0:1] offset:8", 64, -16, 56),
    ("flat_load_b64 v[4:5], v2, s[0:1] scale_offset", 64, -3, 40),
]
UNSIGNED = [
    ("global_load_{} v4, v2, s[0:1] offset:8", 64, 16, 88),
    ("global_load_{} v4, v2, s[0:1] offset:8", 64 - WRAP, -16, 56),
    ("global_load_{} v4, v2, s[0:1] offset:-8", 64 - WRAP, -16, 40),
]
NAMES = {"gfx90a": "dword", "gfx1030": "dword", "gfx1100": "b32", "gfx1201": "b32"}
CASES = [
    *(("gfx1250", *row) for row in SIGNED),
    *((target, text.format(name), *row) for target, name in NAMES.items() for text, *row in UNSIGNED),
]


@pytest.mark.parametrize(("target", "text", "base", "offset", "first"), CASES)
def test_loads(target: str, text: str, base: int, offset: int, first: int) -> None:
    bench = Bench(text + "\ns_endpgm", target, 64 if target == "gfx90a" else 32)
    data = np.arange(256, dtype=np.uint8)
    bench.set64(0, bench.buffer(data).address + base)
    bench.vgpr(2)[:] = offset % WRAP
    assert bench.run() is Status.END
    size = {"b64": 8, "b128": 16, "u16": 2, "u8": 1}.get(text.split()[0].rpartition("_")[2], 4)
    loaded = b"".join(int(bench.vgpr(4 + n)[5]).to_bytes(4, "little") for n in range(-(-size // 4)))
    assert loaded[:size] == data[first : first + size].tobytes()
