"""Watched memory: every instruction that changes it ends the run immediately after itself, with the writer's lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.core.watched_words import WatchedBytes

pytestmark = pytest.mark.llvm

LDS = """
v_lshlrev_b32 v1, 2, v0
v_mov_b32 v2, 7
s_mov_b32 m0, -1
ds_write_b32 v1, v2
ds_write_b32 v1, v2
ds_add_u32 v1, v0 offset:4
ds_write2_b32 v1, v0, v0 offset0:0 offset1:2
ds_write_b8 v1, v2 offset:1
v_mov_b32 v3, 0
ds_add_rtn_u32 v4, v3, v2 offset:40
s_waitcnt lgkmcnt(0)
"""


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_changes_of_lds(assembled: Callable[..., Any], target: str) -> None:
    """Lane 10's dword: stores of the same value are not reported, and other workgroups have other LDS."""
    run = assembled(target, LDS, groups=2)
    wave = run.wave
    watched = WatchedBytes(int(wave.lds.ctypes.data) + 40, 4, (wave.number, wave.number))
    found = []
    while (stop := run.dispatch.run(RunOptions(watches=[watched]))).kind is StopKind.WATCH:
        assert stop.wave.number == 1
        assert stop.wave.pc > stop.instruction_pc
        value = int.from_bytes(stop.wave.lds[40:44].tobytes(), "little")
        found.append((value, stop.lanes))
    assert stop.kind is StopKind.DONE
    lanes = wave.wave_size
    # stored; 9 added by the lane below; 10 and then 8 by the two lanes of one instruction; a byte; 7 by every lane
    assert found == [
        (7, (10,)), (16, (9,)), (8, (8,)), (8 + 7 * 256, (10,)), (1800 + 7 * lanes, tuple(range(lanes))),
    ]


GLOBAL = """
v_lshlrev_b32 v1, 2, v0
v_mov_b32 v2, 5
s_mov_b32 s6, 0
again:
global_store_dword v1, v2, s[8:9]
global_atomic_add v1, v0, s[8:9]
s_add_u32 s6, s6, 1
s_cmp_lt_u32 s6, 3
s_cbranch_scc1 again
"""


@pytest.mark.parametrize("step", [False, True])
def test_changes_of_global_memory_by_all_waves(assembled: Callable[..., Any], step: bool) -> None:
    run = assembled("gfx90a", GLOBAL, groups=2)
    memory = run.machine.memory
    buffer = memory.allocate(4096)
    for wave in run.dispatch.waves:
        wave.set_sgpr64(8, buffer.address)
    watched = [WatchedBytes(int(memory.view(buffer.address + 12, 4).ctypes.data), 4)]
    changes = []
    while (stop := _go(run, watched, step)).kind in (StopKind.WATCH, StopKind.STEP):
        if stop.kind is StopKind.WATCH:
            assert stop.lanes == (3,)
            changes.append((stop.wave.number, int.from_bytes(memory.read(buffer.address + 12, 4), "little")))
    if not step:  # waves take turns that are longer than the loop
        assert changes == [(wave, value) for wave in (1, 2) for _ in range(3) for value in (5, 8)]
    else:
        assert changes == [(1, 5), (1, 8)] * 3


def _go(run: Any, watched: list[WatchedBytes], step: bool) -> Any:
    if step and any(wave.number == 1 for wave in run.dispatch.waves):
        return run.dispatch.run(RunOptions(watches=watched, wave=1, step=True))
    return run.dispatch.run(RunOptions(watches=watched if not step else []))


def test_words_are_watched_byte_by_byte(assembled: Callable[..., Any]) -> None:
    """Other bytes in the same eight are not watched; many bytes are."""
    run = assembled("gfx90a", LDS)
    lds = int(run.wave.lds.ctypes.data)
    assert run.dispatch.run(RunOptions(watches=[WatchedBytes(lds + 1, 1), WatchedBytes(lds + 3, 1)])).lanes == (0,)
    assert run.dispatch.run(RunOptions(watches=[WatchedBytes(lds + 3, 1)])).kind is StopKind.DONE
    run = assembled("gfx90a", LDS)
    lds = int(run.wave.lds.ctypes.data)
    stop = run.dispatch.run(RunOptions(watches=[WatchedBytes(lds, 256)]))
    assert stop.lanes == tuple(range(64))


EVERY_ACCESS = """
v_lshlrev_b32 v1, 5, v0
s_mov_b32 m0, -1
v_add_u32 v4, 0x11, v0
v_add_u32 v5, 0x2200, v0
v_add_u32 v6, 0x330000, v0
v_add_u32 v7, 0x44000000, v0
ds_write_b8 v1, v4
ds_write_b16 v1, v5 offset:2
ds_write_b32 v1, v6 offset:4
ds_write2_b32 v1, v4, v7 offset0:2 offset1:3
ds_write2_b64 v1, v[4:5], v[6:7] offset0:2 offset1:3
ds_write2st64_b32 v0, v5, v6 offset0:8 offset1:9
ds_write_b8_d16_hi v1, v6 offset:1
s_waitcnt lgkmcnt(0)
ds_read_u8 v8, v1
ds_read_i16 v9, v1 offset:2
ds_read_b64 v[10:11], v1 offset:8
ds_read2_b32 v[12:13], v1 offset0:3 offset1:5
ds_read2_b64 v[14:17], v1 offset0:1 offset1:3
ds_read2st64_b32 v[18:19], v0 offset0:9 offset1:8
ds_add_rtn_u32 v20, v1, v5 offset:4
ds_wrxchg2_rtn_b32 v[22:23], v1, v6, v7 offset0:6 offset1:0
s_waitcnt lgkmcnt(0)
.globl finish
finish:
"""


def test_instructions_do_the_same_where_memory_is_watched(assembled: Callable[..., Any]) -> None:
    """Watched accesses to LDS use other code than unwatched ones."""
    def state(watched: list[WatchedBytes]) -> tuple[bytes, list[bytes]]:
        run = assembled("gfx90a", EVERY_ACCESS)
        options = RunOptions(stop_pcs={run.at("finish")}, watches=[replace(each, host=each.host + int(
            run.wave.lds.ctypes.data)) for each in watched])
        stops = 0
        while (stop := run.dispatch.run(options)).kind is StopKind.WATCH:
            stops += 1
        assert stop.kind is StopKind.BREAKPOINT
        assert bool(stops) == bool(watched)
        return run.wave.lds.tobytes(), [run.wave.vgpr(n).tobytes() for n in range(4, 24)]

    plain = state([])
    assert [n for n, data in enumerate(plain[1], 4) if not any(data)] == [21]  # nothing is loaded there
    assert state([WatchedBytes(40, 4)]) == plain
    assert state([WatchedBytes(40, 4, accesses=True), WatchedBytes(2304, 64)]) == plain


READS = """
v_lshlrev_b32 v1, 2, v0
s_mov_b32 m0, -1
ds_write_b32 v1, v0
ds_read_b32 v2, v1
ds_read2_b32 v[2:3], v1 offset0:4 offset1:6
ds_read_b32 v1, v1 offset:4
s_waitcnt lgkmcnt(0)
global_load_dword v4, v2, s[8:9]
s_load_dwordx2 s[10:11], s[8:9], 8
s_waitcnt lgkmcnt(0)
"""


def test_accesses_are_told_too(assembled: Callable[..., Any]) -> None:
    run = assembled("gfx90a", READS)
    buffer = run.machine.memory.allocate(4096)
    run.wave.set_sgpr64(8, buffer.address)
    lds = WatchedBytes(int(run.wave.lds.ctypes.data) + 40, 4, accesses=True)
    memory = WatchedBytes(int(run.machine.memory.view(buffer.address + 12, 4).ctypes.data), 4, accesses=True)
    found = []
    while (stop := run.dispatch.run(RunOptions(watches=[lds, memory]))).kind is StopKind.WATCH:
        found.append((stop.instruction.split()[0], stop.lanes, set(stop.touched)))
    assert [row for row in found if row[0] != "ds_read2_b32"] == [
        ("ds_write_b32", (10,), {0}), ("ds_read_b32", (10,), {0}), ("ds_read_b32", (9,), {0}),
        ("global_load_dword", tuple(range(5, 12)), {1}),  # lane L reads the four bytes from L + 4 on
        ("s_load_dwordx2", (0,), {1}),
    ]
    assert [row[0] for row in found].count("ds_read2_b32") == 1
