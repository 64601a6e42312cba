"""Float atomics: subnormals, NaNs and signed zeros in LDS and in memory."""

from __future__ import annotations

import numpy as np
import pytest
from engine_bench import Bench

from rocdbg.sim.core.layout import Status

pytestmark = pytest.mark.llvm
TINY, TINIER, MINUS_TINY = 0x00400000, 0x00000001, 0x80400000
NORMAL = 0x00800000  # the least normal number
ONE, NAN = 0x3F800000, 0x7FC00000
DENORM_ON, DENORM_OFF, INPUT_OFF = 0xF0, 0xC0, 0xE0  # FP_DENORM in MODE: f32 both, none, results only


def run(target: str, text: str, mode: int, cell: int, data: list[int], lds: bool) -> int:
    """The cell after one lane's atomic: address v[2:3] (v2 in LDS), data from v4 on."""
    bench = Bench(text + "\ns_endpgm", target, 64 if target.startswith("gfx9") else 32, 64)
    buffer = bench.buffer(np.array([cell, 0], np.uint32))
    bench.lds.view(np.uint32)[0] = cell
    bench.set("mode", mode | 1 << 8 | 1 << 9)
    bench.exec = 1
    bench.set_vgpr64(2, np.full(bench.wave_size, 0 if lds else buffer.address, np.uint64))
    for n, value in enumerate(data):
        bench.vgpr(4 + n)[:] = value
    assert bench.run() is Status.END
    return int((bench.lds if lds else buffer.data).view(np.uint32)[0])


ADDS = [
    # target, instruction, MODE, old, data: new
    ("gfx900", "ds_add_f32 v2, v4", DENORM_ON, TINY, TINY, NORMAL),
    ("gfx900", "ds_add_f32 v2, v4", DENORM_OFF, TINY, TINY, 0),
    ("gfx900", "ds_add_f32 v2, v4", INPUT_OFF, NORMAL + 1, MINUS_TINY, NORMAL + 1),
    ("gfx900", "ds_add_f32 v2, v4", DENORM_OFF, NORMAL + 1, NORMAL ^ 1 << 31, 0),  # the result is subnormal
    ("gfx900", "ds_add_f32 v2, v4", DENORM_ON, NORMAL + 1, NORMAL ^ 1 << 31, 1),
    ("gfx1030", "ds_add_f32 v2, v4", DENORM_OFF, TINY, TINY, 0),
    ("gfx1100", "ds_add_f32 v2, v4", DENORM_ON, TINY, TINY, NORMAL),
    ("gfx1201", "ds_add_f32 v2, v4", DENORM_OFF, TINY, TINY, 0),
    ("gfx90a", "global_atomic_add_f32 v[2:3], v4, off", DENORM_ON, TINY, TINY, 0),  # regardless of MODE
    ("gfx90a", "global_atomic_add_f32 v[2:3], v4, off", DENORM_ON, ONE, ONE, 0x40000000),
    ("gfx1100", "global_atomic_add_f32 v[2:3], v4, off", DENORM_ON, TINY, TINY, 0),
    ("gfx942", "global_atomic_add_f32 v[2:3], v4, off", DENORM_OFF, TINY, TINY, NORMAL),
    ("gfx1201", "global_atomic_add_f32 v[2:3], v4, off", DENORM_OFF, TINY, TINY, NORMAL),
    ("gfx1201", "flat_atomic_add_f32 v[2:3], v4", DENORM_OFF, TINY, TINY, NORMAL),
    (
        "gfx942",
        "ds_pk_add_f16 v2, v4",
        0x30,
        0x00010200,
        0x00010200,
        0,
    ),  # f16 subnormals, FP_DENORM of f16 off
    ("gfx942", "ds_pk_add_f16 v2, v4", DENORM_ON, 0x00010200, 0x00010200, 0x00020400),
    ("gfx942", "global_atomic_pk_add_f16 v[2:3], v4, off", 0x30, 0x00010200, 0x00010200, 0x00020400),
]


@pytest.mark.parametrize(("target", "text", "mode", "old", "data", "new"), ADDS)
def test_additions(target: str, text: str, mode: int, old: int, data: int, new: int) -> None:
    assert run(target, text, mode, old, [data], text.startswith("ds")) == new


ORDERS = [
    # target, instruction, MODE, old, data: new
    ("gfx900", "ds_min_f32 v2, v4", DENORM_ON, TINY, TINIER, TINIER),
    ("gfx900", "ds_min_f32 v2, v4", DENORM_OFF, TINY, TINIER, TINY),  # both 0: the old one stays, unflushed
    ("gfx900", "ds_max_f32 v2, v4", DENORM_OFF, MINUS_TINY, TINIER, TINIER),  # -0 < +0
    ("gfx900", "ds_min_f32 v2, v4", DENORM_OFF, TINIER, MINUS_TINY, MINUS_TINY),
    ("gfx900", "ds_min_f32 v2, v4", DENORM_ON, 0, 0x80000000, 0x80000000),
    ("gfx900", "ds_max_f32 v2, v4", DENORM_ON, 0x80000000, 0, 0),
    ("gfx900", "ds_max_f32 v2, v4", DENORM_ON, NAN, ONE, ONE),
    ("gfx900", "ds_min_f32 v2, v4", DENORM_ON, ONE, NAN, ONE),
    ("gfx1100", "ds_min_f32 v2, v4", DENORM_OFF, TINY, ONE, TINY),
    ("gfx1201", "ds_min_num_f32 v2, v4", DENORM_OFF, TINY, ONE, 0),  # GFX12 flushes what it keeps
    ("gfx1030", "global_atomic_fmin v[2:3], v4, off", DENORM_OFF, TINY, TINIER, TINY),
    ("gfx1030", "global_atomic_fmin v[2:3], v4, off", DENORM_ON, TINY, TINIER, TINIER),
    ("gfx1100", "global_atomic_max_f32 v[2:3], v4, off", DENORM_OFF, TINIER, TINY, TINIER),
    ("gfx1201", "global_atomic_max_num_f32 v[2:3], v4, off", DENORM_OFF, TINIER, TINY, TINY),
]


@pytest.mark.parametrize(("target", "text", "mode", "old", "data", "new"), ORDERS)
def test_minimum_and_maximum(target: str, text: str, mode: int, old: int, data: int, new: int) -> None:
    assert run(target, text, mode, old, [data], text.startswith("ds")) == new


SWAPS = [
    # target, instruction, MODE, old, v4, v5: new. ds_cmpst compares with v4 and stores v5, the others store v4
    ("gfx900", "ds_cmpst_f32 v2, v4, v5", DENORM_ON, TINY, TINIER, ONE, TINY),
    ("gfx900", "ds_cmpst_f32 v2, v4, v5", DENORM_OFF, TINY, TINIER, ONE, ONE),
    ("gfx900", "ds_cmpst_f32 v2, v4, v5", DENORM_OFF, TINY, ONE, ONE, 0),  # what stays is flushed
    ("gfx900", "ds_cmpst_f32 v2, v4, v5", DENORM_ON, 0, 0x80000000, ONE, ONE),
    ("gfx900", "ds_cmpst_f32 v2, v4, v5", DENORM_ON, NAN, NAN, ONE, NAN),
    ("gfx1100", "ds_cmpstore_f32 v2, v4, v5", DENORM_OFF, TINY, ONE, TINIER, ONE),
    ("gfx1100", "global_atomic_cmpswap_f32 v[2:3], v[4:5], off", DENORM_ON, TINY, ONE, TINY, ONE),
    ("gfx1100", "global_atomic_cmpswap_f32 v[2:3], v[4:5], off", DENORM_OFF, TINY, ONE, TINIER, ONE),
]


@pytest.mark.parametrize(("target", "text", "mode", "old", "first", "second", "new"), SWAPS)
def test_compare_and_swap(
    target: str, text: str, mode: int, old: int, first: int, second: int, new: int
) -> None:
    assert run(target, text, mode, old, [first, second], text.startswith("ds")) == new
