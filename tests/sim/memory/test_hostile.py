"""Resources and addresses made to do harm: each access works, is dropped, or faults; nothing else is touched."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from engine_bench import Bench

from rocdbg.sim.core import layout
from rocdbg.sim.core.guarded import ALIGN
from rocdbg.sim.core.layout import FaultKind, Status

pytestmark = pytest.mark.llvm
SMALL = (
    0,
    1,
    3,
    4,
    7,
    8,
    15,
    60,
    64,
    100,
    255,
    1000,
    4095,
    4096,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFC,
    0xFFFFFFFF,
)


def program(target: str) -> list[str]:
    """Loads, stores, formats and atomics in all addressing modes."""
    new = target.startswith(("gfx11", "gfx12"))
    none = "null" if target.startswith("gfx12") else "0"
    wide, narrow, d16 = ("b128", "u8", "d16_format") if new else ("dwordx4", "ubyte", "format_d16")
    add = "add_u64" if new else "add_x2"
    lines = []
    for mode in ("", "offset:4", "offen offset:2000", "idxen", "idxen offen"):
        vaddr = {"": "off", "offset:4": "off", "idxen offen": "v[0:1]"}.get(mode, "v0")
        for soffset in (none, "s20"):
            where = f"{vaddr}, s[4:7], {soffset} {mode}"
            lines += [
                f"buffer_load_{wide} v[8:11], {where}", f"buffer_store_{wide} v[8:11], {where}",
                f"buffer_load_{narrow} v8, {where}", f"buffer_atomic_{add} v[8:9], {where}",
                f"buffer_load_format_xyzw v[8:11], {where}", f"buffer_store_format_xyz v[8:10], {where}",
                f"buffer_store_{d16}_xyzw v[8:9], {where}",
            ]
    lines += [
        f"scratch_store_{wide} v0, v[8:11], off",
        f"flat_store_{wide} v[2:3], v[8:11]",
        f"flat_load_{narrow} v8, v[2:3]",
    ]
    lines += [
        f"global_atomic_{add} v[2:3], v[8:9], off",
        f"s_buffer_load_{'b512' if new else 'dwordx16'} s[36:51], s[4:7], s20",
    ]
    return lines


@pytest.mark.parametrize("target", ["gfx900", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_nothing_outside_of_allocations_is_touched(target: str) -> None:
    rng, noise = random.Random(target), np.random.default_rng(5)
    wave = 64 if target.startswith("gfx9") else 32
    bench = Bench("\n".join(program(target)), target, wave, lds=64)
    guarded = np.zeros(64 + 64 + 64, np.uint8)  # LDS between two fields of zeros
    lds = int(guarded.ctypes.data) + 64 & ~63
    bench.set("lds_pointer", lds)
    buffers = [bench.memory.allocate(size, name=f"b{size}") for size in (4096, 100, 1)]
    scratch = bench.memory.allocate(64 * wave, name="scratch")
    for name, value in (
        ("scratch_base", scratch.address),
        ("scratch_size", 64 * wave),
        ("flat_scratch", scratch.address),
    ):
        bench.set(name, value)
    edges = [b.address + d for b in [*buffers, scratch] for d in (-4, 0, 1, b.size - 8, b.size - 1, b.size)]
    edges += [0, layout.SHARED_APERTURE + 60, layout.PRIVATE_APERTURE + 62, (1 << 64) - 4, 1 << 63]
    seen = set()
    for _ in range(60):
        for register in range(12):
            small = [rng.choice(SMALL) for _ in range(wave)]
            bench.vgpr(register)[:] = noise.integers(0, 1 << 32, wave) if rng.random() < 0.2 else small
        bench.set_vgpr64(2, np.array([rng.choice(edges) for _ in range(wave)], np.uint64))
        base = rng.choice(edges)
        bench.sgprs[4:8] = [
            base & 0xFFFFFFFF, base >> 32 & 0xFFFF | rng.choice((0, 1, 16, 0x3FFF)) << 16 | rng.randrange(4) << 30,
            rng.choice(SMALL), rng.getrandbits(32),
        ]
        bench.sgprs[20] = rng.choice(SMALL)
        bench.exec = rng.choice(((1 << wave) - 1, rng.getrandbits(wave), 1 << rng.randrange(wave)))
        bench.set("pc", bench.text.address)
        while bench.pc < len(bench.code):
            at = bench.pc
            status = bench.step()
            seen.add(status)
            assert status in (Status.BUDGET, Status.FAULT)
            if status is Status.FAULT:
                assert bench.pc == at and bench.engine.fault().addresses
                bench.set("pc", bench.text.address + at + 8 + 4 * target.startswith("gfx12"))
    assert seen == {Status.BUDGET, Status.FAULT}
    for allocation in [*buffers, scratch]:
        slack = -allocation.size % ALIGN  # then comes a guard page
        assert not any(ctypes.string_at(allocation.host_address + allocation.size, slack))
    inside = lds - int(guarded.ctypes.data)
    assert not guarded[:inside].any() and not guarded[inside + 64 :].any()


def test_second_dword_of_a_swizzled_atomic_is_checked() -> None:
    """Here its two dwords are 32 bytes apart, with the second one beyond the end."""
    bench = Bench("buffer_atomic_add_x2 v[2:3], v0, s[4:7], 0 idxen\ns_endpgm", "gfx900")
    buffer = bench.memory.allocate(60, name="b")
    bench.set64(4, buffer.address | 8 << 48 | 1 << 63)
    bench.set64(6, 100 | 0x27FAC << 32)
    bench.exec = 1
    bench.vgpr(0)[:] = 4
    bench.vgpr(2)[:], bench.vgpr(3)[:] = 5, 6
    assert bench.run() is Status.END  # dwords 4 and 12
    assert np.flatnonzero(buffer.data).tolist() == [16, 48]
    bench.vgpr(0)[:] = 7
    bench.set("pc", bench.text.address)
    assert bench.run() is Status.FAULT  # dwords 7 and 15
    assert bench.engine.fault().kind is FaultKind.UNMAPPED
    assert np.flatnonzero(buffer.data).tolist() == [16, 48]


@pytest.mark.parametrize("records", [0xFFFFFFFF, 0x80000000])
@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1100"])
def test_far_ends_of_a_resource(target: str, records: int) -> None:
    """Offsets and indices that reach 4 GiB and beyond; 32-bit sums of offsets wrap, addresses do not."""
    word = "dword" if target in ("gfx900", "gfx1030") else "b32"
    text = (
        f"buffer_load_{word} v2, v0, s[4:7], s8 offen offset:16\nbuffer_load_{word} v3, v1, s[4:7], 0 idxen"
    )
    bench = Bench(text + "\ns_endpgm", target, 64)
    buffer = bench.memory.allocate(5 << 30, name="huge")
    for at in (12, 16, (1 << 32) + 12, 5 * 0x10000000 * 3):
        buffer.data[at : at + 4].view(np.uint32)[0] = at >> 2 & 0xFFFFFFFF
    bench.set64(4, buffer.address | 15 << 48)
    unchecked = 2 << 28 if target != "gfx900" else 0
    bench.set64(6, records | (20 << 12 | unchecked if unchecked else 0x27FAC) << 32)
    bench.sgprs[8] = 0xFFFFFFFC if unchecked else 0
    bench.exec = 1
    bench.vgpr(0)[:], bench.vgpr(1)[:] = 0, 0x10000000
    if not unchecked:
        bench.vgpr(0)[:] = 0xFFFFFFFC  # + 16 is 12
    assert bench.run() is Status.END
    assert bench.vgpr(2)[0] == ((1 << 32) + 12 >> 2 if unchecked else 3)
    assert bench.vgpr(3)[0] == 5 * 0x10000000 * 3 >> 2
