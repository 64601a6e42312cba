"""s_trap, illegal instructions, memory violations and enabled arithmetic exceptions: the state and text of each stop.
"""

from __future__ import annotations

import pytest

from rocdbg.arch.targets import TARGETS
from rocdbg.sim.core.arithmetic_exceptions import Cause, could_notice
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

pytestmark = pytest.mark.llvm

ADD = """
.globl add, behind
v_mov_b32 v1, 0x7f7fffff
v_mov_b32 v2, 1.0
v_cmp_lt_u32 vcc{lo}, 4, v0
v_cndmask_b32 v1, v2, v1, vcc{lo}
add: v_mul_f32 v3, v1, v1
behind: v_mov_b32 v4, 1
"""


@pytest.mark.parametrize(
    "target, directives",
    [
        ("gfx900", (".amdhsa_exception_fp_ieee_overflow 1",)),
        ("gfx1030", (".amdhsa_exception_fp_ieee_overflow 1", ".amdhsa_exception_fp_ieee_inexact 1")),
        ("gfx1201", (".amdhsa_exception_fp_ieee_overflow 1",)),
    ],
)
@pytest.mark.parametrize("way", ["run", "step", "range"])
def test_enabled_by_the_kernel(assembled, target, directives, way):
    """The instruction is executed, and PC is after it; the lanes are those that overflow. Then the wave can continue.
    """
    code = ADD.format(lo="" if target == "gfx900" else "_lo")
    kernel = assembled(target, code, items=8, directives=directives)
    wave = kernel.wave
    if way == "run":
        stop = kernel.dispatch.run()
    elif way == "step":
        while (stop := kernel.dispatch.run(RunOptions(wave=1, step=True))).kind is StopKind.STEP:
            pass
    else:
        stop = kernel.dispatch.run(RunOptions(wave=1, range=(wave.pc, wave.pc + 4096)))
    assert stop.kind is StopKind.EXCEPTION and stop.is_exception
    assert stop.pc == wave.pc == kernel.at("behind") and stop.instruction_pc == kernel.at("add")
    assert stop.lanes == (5, 6, 7)
    inexact = "inexact" in directives[-1]
    assert stop.causes == ((Cause.OVERFLOW, Cause.INEXACT) if inexact else (Cause.OVERFLOW,))
    text = "overflow, inexact result" if inexact else "overflow"
    assert stop.message == (
        f"arithmetic exception by `v_mul_f32_e32 v3, v1, v1` at {kernel.at('add'):#x}: lanes [5-7]: {text}"
    )
    assert wave.trapsts == 1 << Cause.OVERFLOW | 1 << Cause.INEXACT
    assert [hex(int(wave.vgpr(3)[lane])) for lane in (4, 5)] == ["0x3f800000", "0x7f800000"]
    assert wave.instructions == 5
    assert kernel.dispatch.run().kind is StopKind.DONE


@pytest.mark.parametrize("target", ["gfx90a", "gfx1201"])
def test_enabled_later(assembled, target):
    """The debugger enables them after the code was translated without checks for exceptions; s_setreg does too."""
    loop = """
    .globl behind
    s_mov_b32 s4, 4
    v_mov_b32 v1, 1.0
    v_mov_b32 v2, 0
    loop: v_div_fixup_f32 v3, v1, v2, v1
    behind: s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop
    """
    kernel = assembled(target, loop, items=1)
    kernel.dispatch.run(RunOptions(budget=8))
    wave = kernel.wave
    assert wave.trapsts == 0  # nobody could have looked
    if target == "gfx1201":
        wave.trap_ctrl = 1 << Cause.DIVIDE_BY_ZERO
    else:
        wave.mode |= 1 << 12 + Cause.DIVIDE_BY_ZERO
    stop = kernel.dispatch.run()
    assert (stop.kind, stop.pc, stop.causes) == (
        StopKind.EXCEPTION,
        kernel.at("behind"),
        (Cause.DIVIDE_BY_ZERO,),
    )
    assert wave.trapsts == 1 << Cause.DIVIDE_BY_ZERO
    stop = kernel.dispatch.run()
    assert (stop.kind, stop.pc) == (StopKind.EXCEPTION, kernel.at("behind"))


def test_enabled_by_the_code(assembled):
    code = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 0x4\nv_rcp_f32 v1, 0"
    assert assembled("gfx90a", code).dispatch.run().causes == (Cause.DIVIDE_BY_ZERO,)
    # On GFX12 only trap handlers may enable them.
    code = "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_TRAP_CTRL, 0, 7), 0x4\nv_rcp_f32 v1, 0"
    assert assembled("gfx1201", code).dispatch.run().kind is StopKind.DONE


def test_scalar_floats(assembled):
    kernel = assembled(
        "gfx1201", "s_mov_b32 s0, 0x7f7fffff\ns_mul_f32 s1, s0, s0",
        directives=(".amdhsa_exception_fp_ieee_overflow 1",),
    )
    stop = kernel.dispatch.run()
    assert (stop.causes, stop.lanes) == ((Cause.OVERFLOW,), ())


@pytest.mark.parametrize(
    "code, wanted",
    [
        ("s_getreg_b32 s0, hwreg(HW_REG_TRAPSTS)", True),
        ("s_getreg_b32 s0, hwreg(HW_REG_TRAPSTS, 8, 4)", False),
        ("s_getreg_b32 s0, hwreg(HW_REG_MODE)", False),
        ("s_setreg_b32 hwreg(HW_REG_MODE), s0", True),
        ("s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s0", False),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 13), 0", True),
        ("s_add_u32 s0, s1, s2\nv_mov_b32 v0, v1", False),
    ],
)
@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1100"])
def test_code_that_could_notice(assembled, target, code, wanted):
    kernel = assembled(target, code)
    words = kernel.machine.memory.read(kernel.wave.pc, 16)
    assert could_notice(words, TARGETS[target]) == wanted


@pytest.mark.parametrize(
    "number, after", [(0, True), (1, True), (2, False), (3, True), (7, True), (0xFE, True)]
)
@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_s_trap(assembled, target, number, after):
    """The abort trap is final; after any other trap, the wave can continue."""
    kernel = assembled(target, f".globl trap\ns_mov_b32 s4, 1\ntrap: s_trap {number}\ns_mov_b32 s4, 2")
    stop = kernel.dispatch.run()
    assert (stop.kind, stop.trap) == (StopKind.TRAP, number)
    assert stop.instruction in (f"s_trap {number}", f"s_trap {number:#x}")
    assert stop.pc == kernel.at("trap") + (4 if after else 0)
    again = kernel.dispatch.run()
    assert again.kind is (StopKind.DONE if after else StopKind.TRAP)


@pytest.mark.parametrize("code", [".long 0xbf9effff", "s_rfe_b64 s[0:1]"])
def test_illegal(assembled, code):
    kernel = assembled("gfx90a", f".globl bad\nv_mov_b32 v1, 1\nbad: {code}")
    stop = kernel.dispatch.run()
    assert (stop.kind, stop.pc, stop.reason) == (StopKind.ILLEGAL, kernel.at("bad"), None)
    assert kernel.wave.trapsts == 1 << 11
    assert kernel.wave.excp_flag_priv == 1 << 6


def test_violations_are_sticky(assembled):
    kernel = assembled(
        "gfx90a", "v_mov_b32 v0, 0\nv_mov_b32 v1, 0\nglobal_load_dword v2, v[0:1], off", items=1
    )
    stop = kernel.dispatch.run()
    assert stop.kind is StopKind.FAULT and not stop.is_aperture_violation
    assert (kernel.wave.trapsts, kernel.wave.excp_flag_priv) == (1 << 8, 1 << 4)
    stop = assembled("gfx90a", "v_mov_b32 v0, -1\nds_read_b32 v1, v0").dispatch.run()
    assert stop.kind is StopKind.FAULT and stop.is_aperture_violation
