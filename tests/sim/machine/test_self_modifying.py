"""Waves that rewrite the code they share: they execute the same code, however the run is divided."""

from __future__ import annotations

import struct

import pytest

from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

pytestmark = pytest.mark.llvm

# Each wave adds the literal, which all of them rewrite, to what is at `out` in the end. They take turns at s_sleep, and
# waves at different rounds store different literals, so that the order of turns shows.
CODE = """
s_getpc_b64 s[0:1]
here:
s_add_u32 s2, s0, out-here
s_addc_u32 s3, s1, 0
s_add_u32 s0, s0, word-here+4
s_addc_u32 s1, s1, 0
v_mov_b32 v0, s0
v_mov_b32 v1, s1
s_mov_b32 s9, {rounds}
s_mov_b32 s10, 0
round:
s_and_b32 s11, s9, 7
v_mov_b32 v2, s11
{store} v[0:1], v2, off
{maybe}
.globl word
word: s_add_u32 s10, s10, 0x11111111
s_sub_u32 s9, s9, 1
s_cmp_lg_u32 s9, 0
s_sleep 1
s_cbranch_scc1 round
v_mov_b32 v0, s2
v_mov_b32 v1, s3
v_mov_b32 v2, s10
s_mov_b64 exec, 1
{add} v[0:1], v2, off
s_endpgm
.globl out
out: .long 0
"""
WORDS = {
    "gfx90a": {"store": "global_store_dword", "add": "global_atomic_add"},
    "gfx1201": {"store": "global_store_b32", "add": "global_atomic_add_u32"},
}
ALWAYS = "s_icache_inv"
SOMETIMES = "s_and_b32 s12, s9, 3\ns_cmp_lg_u32 s12, 0\ns_cbranch_scc1 on\ns_icache_inv\non:"


@pytest.mark.parametrize(("maybe", "stale"), [(ALWAYS, False), (SOMETIMES, False), ("", True)])
@pytest.mark.parametrize("target", WORDS)
def test_every_way_of_running_ends_alike(assembled, target, maybe, stale):
    rounds, waves, ended = 88, 4, {}
    for name, budgets in {"whole": [None], "by 1": [1], "by 97": [97], "mixed": [3, 1_001, 1, 2_000]}.items():
        code = CODE.format(rounds=rounds, maybe=maybe, **WORDS[target])
        size = 64 if target == "gfx90a" else 32
        kernel = assembled(target, code.replace("b64 exec", "b32 exec_lo") if size == 32 else code,
                           groups=2, items=2 * size)
        dispatch, turn = kernel.dispatch, 0
        while not dispatch.finished:
            budget = budgets[turn % len(budgets)] if dispatch.instructions < 1_500 or name != "by 1" else None
            assert dispatch.run(RunOptions(budget=budget)).kind in (StopKind.BUDGET, StopKind.DONE)
            turn += 1
        total = struct.unpack("<I", kernel.machine.memory.read(kernel.at("out"), 4))[0]
        ended[name] = total, dispatch.instructions
    assert len(set(ended.values())) == 1, ended
    if stale:
        assert ended["whole"][0] == 0x11111111 * rounds * waves & 0xFFFFFFFF
    else:
        assert ended["whole"][0] < 8 * rounds * waves


def test_the_next_dispatch_executes_what_the_last_one_stored(assembled):
    kernel = assembled("gfx90a", CODE.format(rounds=3, maybe="", **WORDS["gfx90a"]))
    memory, out = kernel.machine.memory, kernel.at("out")
    assert kernel.dispatch.run().kind is StopKind.DONE
    assert struct.unpack("<I", memory.read(out, 4))[0] == 3 * 0x11111111
    memory.write(out, bytes(4))
    again = kernel.machine.dispatch(kernel.loaded.code_object.kernels["kernel"], (64, 1, 1), (64, 1, 1), b"")
    assert again.run().kind is StopKind.DONE
    assert struct.unpack("<I", memory.read(out, 4))[0] == 3 * 1
    again.release()
