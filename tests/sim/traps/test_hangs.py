"""Waves that cannot continue: barriers that no wave completes, waves that halted themselves."""

from __future__ import annotations

import pytest

from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

pytestmark = pytest.mark.llvm


@pytest.mark.parametrize("options", [{}, {"wave": 2}, {"wave": 2, "only": True}, {"wave": 2, "step": True}])
def test_barrier_never_signalled(assembled, options):
    """Both waves of the group wait, and neither has signalled: the run ends with a hang, and again when repeated."""
    code = "s_mov_b32 s4, 3\n.globl behind\ns_barrier_wait -1\nbehind: s_mov_b32 s4, 5"
    kernel = assembled("gfx1200", code, items=64)
    dispatch = kernel.dispatch
    request = RunOptions(**options)
    while (stop := dispatch.run(request)).kind is StopKind.STEP:
        pass
    behind = kernel.at("behind")
    for _ in range(2):
        assert stop.kind is StopKind.HANG and stop.is_exception
        assert stop.message == f"hang at {behind:#x}: every wave waits at a barrier that none completes"
        assert [(w.pc, w.sgpr(4), w.waiting) for w in dispatch.waves] == [(behind, 3, True)] * 2
        stop = dispatch.run()


def test_the_others_of_a_hanging_group_end(assembled):
    """The wave that does not wait ends, and is no longer a member of the barrier, whose completion no wave signals."""
    code = """
    v_readfirstlane_b32 s4, v0
    s_bitcmp1_b32 s4, 5
    s_cbranch_scc1 on
    s_barrier_wait -1
    on:
    """
    kernel = assembled("gfx1200", code, items=64)
    stop = kernel.dispatch.run()
    assert stop.kind is StopKind.HANG and [w.number for w in kernel.dispatch.waves] == [1]


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("instruction", ["s_sethalt 1", "s_sendmsghalt sendmsg(MSG_INTERRUPT)"])
def test_halt(assembled, target, instruction):
    """PC is after the instruction, where the wave continues when it is resumed."""
    kernel = assembled(target, f".globl behind\ns_sethalt 0\n{instruction}\nbehind: s_mov_b32 s4, 5", items=1)
    stop = kernel.dispatch.run()
    assert stop.message == f"hang at {kernel.at('behind'):#x}: the wave halted itself"
    assert stop.wave is kernel.wave and kernel.wave.instructions == 2
    assert kernel.dispatch.run().kind is StopKind.DONE


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100", "gfx1201"])
def test_kill(assembled, target):
    kernel = assembled(target, "s_setkill 0\ns_mov_b32 s4, 1\ns_setkill 1\ns_mov_b32 s4, 2", items=1)
    wave = kernel.wave
    assert kernel.dispatch.run().kind is StopKind.DONE
    assert wave.sgpr(4) == 1
