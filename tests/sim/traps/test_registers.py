"""Instructions that name registers that the wave does not have are illegal, and the message says so."""

from __future__ import annotations

import pytest

from rocdbg import isa
from rocdbg.arch.targets import TARGETS
from rocdbg.sim.core.register_bounds import bounds, excess
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

CODE = """
v_mov_b32 v0, 1
v_mov_b32 v1, 2
v_mov_b32 v{last}, 3
.globl bad
bad: v_mov_b32 v{past}, 4
v_mov_b32 v1, 5
"""


@pytest.mark.llvm
@pytest.mark.parametrize(
    "target, asked, has",
    # What is allocated: multiples of 4 on GFX9, 8 or 16 on GFX10 (wave32), 24 or 16 on GFX11 and later.
    [("gfx900", 30, 32), ("gfx90a", 30, 32), ("gfx1010", 30, 32), ("gfx1030", 30, 32), ("gfx1100", 30, 48),
     ("gfx1102", 30, 32), ("gfx1201", 30, 48)],
)
@pytest.mark.parametrize("way", ["run", "step", "budget"])
def test_vgprs(assembled, target, asked, has, way):
    kernel = assembled(target, CODE.format(last=has - 1, past=has), vgprs=asked, groups=3)
    wave = kernel.wave
    if way == "run":
        stop = kernel.dispatch.run()
    else:
        options = RunOptions(wave=1, step=True) if way == "step" else RunOptions(budget=1)
        while (stop := kernel.dispatch.run(options)).kind in (StopKind.STEP, StopKind.BUDGET):
            pass
    assert stop.kind is StopKind.ILLEGAL and stop.wave.number == 1
    assert stop.pc == kernel.at("bad") and wave.instructions == 3
    assert stop.reason == f"v{has} is past the wave's {has} VGPRs"
    assert stop.message.endswith(f"at {stop.pc:#x}: v{has} is past the wave's {has} VGPRs")
    assert wave.trapsts == 1 << 11
    assert [int(wave.vgpr(n)[0]) for n in (0, 1, has - 1)] == [1, 2, 3]


@pytest.mark.llvm
def test_tuples_agprs_and_sgprs(assembled):
    code = "v_accvgpr_write_b32 a3, 1\n.globl bad\nbad: v_accvgpr_write_b32 a8, 1"
    stop = assembled("gfx90a", code, vgprs=40, directives=(".amdhsa_accum_offset 32",)).dispatch.run()
    assert stop.reason == "a8 is past the wave's 8 AGPRs"
    stop = assembled("gfx900", "ds_read_b128 v[30:33], v0", vgprs=32).dispatch.run()
    assert stop.reason == "v33 is past the wave's 32 VGPRs"
    few = (".amdhsa_next_free_sgpr 20", ".amdhsa_reserve_vcc 0", ".amdhsa_reserve_flat_scratch 0")
    stop = assembled("gfx900", "s_mov_b32 s31, 0\ns_mov_b64 s[32:33], 0", directives=few).dispatch.run()
    assert stop.reason == "s33 is past the wave's 32 SGPRs"


def test_no_bounds_are_no_bounds():

    instruction = isa.decode(bytes.fromhex("ff03fe7f"), "gfx900")
    assert excess(instruction, 0) is None
    assert bounds(TARGETS["gfx1100"], 64, 13, 0, 0) == 0x7FFF - 24 | 0x7FFF << 16
