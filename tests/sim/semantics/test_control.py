"""Control flow and hardware registers that compilers seldom use, on assembled kernels."""

from __future__ import annotations

import numpy as np
import pytest

from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

pytestmark = pytest.mark.llvm


def finish(kernel):
    """Run all waves to the label ``done``, and return the first."""
    waves = list(kernel.dispatch.waves)
    options = RunOptions(stop_pcs=frozenset((kernel.at("done"),)))
    for _ in waves:
        stop = kernel.dispatch.run(options)
        assert stop.kind is StopKind.BREAKPOINT, stop
    return waves[0]


def run(assembled, target, code, **options):
    return finish(assembled(target, f".globl done\n{code}\ndone:", **options))


# -- branches --------------------------------------------------------------------------------------

FORK = """
v_mov_b32 v1, 0
s_mov_b64 s[40:41], 0
s_mov_b32 s44, 0
{fork}
  ; lanes of the mask come to Lthen, the others go on here
  v_mov_b32 v1, 1
  s_lshl_b32 s44, s44, 4
  s_or_b32 s44, s44, 1
  s_branch Ljoin
Lthen:
  v_mov_b32 v1, 2
  s_lshl_b32 s44, s44, 4
  s_or_b32 s44, s44, 2
Ljoin:
s_getreg_b32 s46, hwreg(HW_REG_MODE, 29, 3)
s_cbranch_join s45
"""


@pytest.mark.parametrize(("target", "kind"), [("gfx900", "i"), ("gfx900", "g"), ("gfx600", "i"), ("gfx803", "g")])
@pytest.mark.parametrize(
    "mask, order",
    [
        # The smaller part first, if they are equal the branch; where everybody goes one way, only that is run.
        (0x00000000000000FF, 0x21),
        (0xFFFFFFFFFFFFFF00, 0x12),
        (0x00000000FFFFFFFF, 0x21),
        (0, 0x1),
        (0xFFFFFFFFFFFFFFFF, 0x2),
    ],
)
def test_fork_and_join(assembled, target, kind, mask, order):
    fork = "s_cbranch_i_fork s[42:43], Lthen"
    if kind == "g":
        fork = """s_getpc_b64 s[48:49]
        s_add_u32 s48, s48, Lthen-Lhere
        s_addc_u32 s49, s49, 0
        Lhere2: s_cbranch_g_fork s[42:43], s[48:49]"""
        fork = fork.replace("s_getpc_b64 s[48:49]", "s_getpc_b64 s[48:49]\nLhere:").replace("Lhere2: ", "")
    code = f"s_mov_b32 s42, {mask & 0xFFFFFFFF:#x}\ns_mov_b32 s43, {mask >> 32:#x}\ns_mov_b32 s45, 0\n"
    wave = run(assembled, target, code + FORK.format(fork=fork))
    # Which way was gone first is the upper digit.
    assert hex(wave.sgpr(44)) == hex(order)
    # Behind the join EXEC is that of the part that was run last.
    assert wave.exec == (mask if order & 0xF == 2 else ~mask & (1 << 64) - 1) and wave.mode >> 29 == 0
    assert [int(v) for v in wave.vgpr(1)] == [2 if mask >> lane & 1 else 1 for lane in range(64)]


@pytest.mark.parametrize(
    "mask, passes",
    [(0xFFFFFFFF_FFFFFFFF, [0xFFFFFFFF, 0xFFFFFFFF << 32]), (0xF, [0xF]), (0xF << 40, [0xF << 40]), (0, [])],
)
@pytest.mark.parametrize("target", ["gfx1030", "gfx1100"])
def test_subvector_loop(assembled, target, mask, passes):
    """One pass over the code per half of EXEC that has lanes; EXEC is whole again after it."""
    code = f"""
    s_mov_b32 s4, 0
    v_mov_b32 v1, 0
    s_mov_b32 exec_lo, {mask & 0xFFFFFFFF:#x}
    s_mov_b32 exec_hi, {mask >> 32:#x}
    s_subvector_loop_begin s0, Lend
    Lbody:
      s_mov_b64 s[12:13], s[10:11]
      s_mov_b64 s[10:11], exec
      s_add_u32 s4, s4, 1
      v_add_nc_u32 v1, v1, 1
    s_subvector_loop_end s0, Lbody
    Lend:
    """
    wave = run(assembled, target, code, wave_size=64)
    assert (wave.sgpr(4), wave.exec) == (len(passes), mask)
    seen = [wave.sgpr64(12), wave.sgpr64(10)][2 - len(passes) :] if passes else []
    assert seen == passes
    assert [int(v) for v in wave.vgpr(1)] == [mask >> lane & 1 for lane in range(64)]


@pytest.mark.parametrize(
    "name, taken",
    [("cdbguser", 0b1100), ("cdbgsys", 0b1010), ("cdbgsys_or_user", 0b1110), ("cdbgsys_and_user", 0b1000)],
)
def test_debug_conditions(assembled, name, taken):
    """STATUS.COND_DBG_SYS and COND_DBG_USER are 0 unless a debugger sets them."""
    for bits in range(4):
        kernel = assembled("gfx900", f".globl done\ns_cbranch_{name} Lyes\ns_mov_b32 s4, 1\nLyes:\ndone:")
        user, system = bits >> 1, bits & 1
        kernel.wave.status |= user << 20 | system << 21
        assert finish(kernel).sgpr(4) == 1 - (taken >> bits & 1)


@pytest.mark.parametrize(
    ("target", "add"), [("gfx900", "u32 v1"), ("gfx803", "u32 v1, vcc"), ("gfx700", "i32 v1, vcc")]
)
def test_vskip(assembled, target, add):
    """Vector instructions of all kinds are skipped; scalar ones are not."""
    code = f"""
    s_mov_b64 vcc, 0
    s_mov_b32 s0, 0x10
    v_mov_b32 v1, 1
    s_setvskip s0, 4
    v_mov_b32 v1, 2
    v_readfirstlane_b32 s4, v1
    v_cmp_eq_u32 vcc, v1, v1
    ds_write_b32 v1, v1
    flat_load_dword v1, v[2:3]
    s_mov_b32 s5, 7
    s_setvskip s0, 3
    v_add_{add}, 4, v1
    """
    kernel = assembled(target, f".globl done\n{code}\ndone:")
    kernel.wave.set_sgpr(4, 99)
    wave = finish(kernel)
    assert (wave.sgpr(4), wave.sgpr(5), wave.vcc) == (99, 7, 0)
    assert set(map(int, wave.vgpr(1))) == {5} and not wave.lds.any()


# -- barriers of GFX12 -----------------------------------------------------------------------------


@pytest.mark.parametrize("items, waves", [(128, 4), (32, 1)])
def test_split_barrier(assembled, items, waves):
    """SCC is set for the first wave that signals; the state counts signals; waiting waves see all writes before the
    signals.
    """
    code = """
    v_mov_b32 v3, 1
    v_mov_b32 v4, 0
    v_readfirstlane_b32 s20, v0
    s_bfe_u32 s20, s20, 0x50005
    v_mov_b32 v5, s20
    s_get_barrier_state s4, -1
    ds_add_u32 v4, v3
    s_wait_dscnt 0
    s_barrier_signal_isfirst -1
    s_cselect_b32 s5, 1, 0
    s_barrier_signal 0
    s_barrier_signal m0
    s_barrier_wait -1
    ds_load_b32 v6, v4
    s_wait_dscnt 0
    s_barrier_signal -1
    s_barrier_wait -1
    """
    kernel = assembled("gfx1200", f".globl done\n{code}\ndone:", items=items)
    all_waves = list(kernel.dispatch.waves)
    finish(kernel)
    assert [int(w.vgpr(6)[0]) for w in all_waves] == [items] * waves
    assert [w.sgpr(5) for w in all_waves] == [1] + [0] * (waves - 1)
    # signals << 16 | members << 4 | valid: each wave runs until it waits
    assert [hex(w.sgpr(4)) for w in all_waves] == [hex(n << 16 | waves << 4 | 1) for n in range(waves)]


def test_instructions_without_effect(assembled):
    """Named barriers and dynamic registers do not exist; SCC reports that if the instruction sets it."""
    code = """
    s_cmp_eq_u32 s0, s0
    s_barrier_leave
    s_cselect_b32 s4, 1, 2
    s_cmp_eq_u32 s0, s0
    s_alloc_vgpr 64
    s_cselect_b32 s5, 1, 2
    s_barrier_init m0
    s_barrier_join m0
    s_sleep_var 3
    s_prefetch_data s[2:3], 0x10, s4, 5
    s_prefetch_inst_pc_rel 0x10, s4, 5
    global_wbinv
    s_wait_loadcnt_dscnt 0x101
    """
    wave = run(assembled, "gfx1200", code)
    assert (wave.sgpr(4), wave.sgpr(5)) == (2, 2)


# -- hardware registers ----------------------------------------------------------------------------


def registers(assembled, target, *names, **options):
    """The contents of the registers, by name or number, that s_getreg_b32 reads."""
    code = "\n".join(f"s_getreg_b32 s{10 + n}, hwreg({name})" for n, name in enumerate(names))
    wave = run(assembled, target, f"s_cmp_eq_u32 s0, s0\ns_mov_b64 vcc, 0\n{code}", **options)
    return [hex(wave.sgpr(10 + n)) for n in range(len(names))]


@pytest.mark.parametrize(
    "target, options, names, wanted",
    [
        # SCC, TRAP_EN, VCCZ, VALID; in a group of two waves IN_TG.
        ("gfx900", {}, ["HW_REG_STATUS", "HW_REG_TRAPSTS"], ["0x10441", "0x0"]),
        ("gfx900", {"items": 128}, ["HW_REG_STATUS"], ["0x10c41"]),
        # GFX12 has SCC elsewhere; wave64 is bit 29.
        ("gfx1200", {"wave_size": 64}, ["HW_REG_WAVE_STATUS", "HW_REG_WAVE_STATE_PRIV"], ["0x20010440", "0x200"]),
        ("gfx1200", {}, ["HW_REG_WAVE_EXCP_FLAG_USER", "HW_REG_WAVE_EXCP_FLAG_PRIV", "HW_REG_WAVE_TRAP_CTRL"],
         ["0x0", "0x0", "0x0"]),
        # Sizes of allocations less one: VGPRs in fours, 2 * 16 SGPRs less one after; LDS in units of 512 bytes.
        ("gfx900", {"vgprs": 32}, ["HW_REG_GPR_ALLOC", "HW_REG_LDS_ALLOC"], ["0x6000700", "0x8000"]),
        ("gfx90a", {"vgprs": 32}, ["HW_REG_GPR_ALLOC"], ["0x60070c0"]),
        ("gfx1030", {"vgprs": 32}, ["HW_REG_GPR_ALLOC"], ["0x7000300"]),
        ("gfx1100", {"vgprs": 32, "wave_size": 64}, ["HW_REG_GPR_ALLOC"], ["0x7000"]),
        # Everything happens on unit 0 of everything; the wave's place in its group, and the compute engine.
        ("gfx900", {}, ["HW_REG_HW_ID"], ["0x40000000"]),
        ("gfx1030", {}, ["HW_REG_HW_ID1", "HW_REG_HW_ID2"], ["0x0", "0x100"]),
        # Bits 63:48 of the private and the shared aperture.
        ("gfx900", {}, ["HW_REG_SH_MEM_BASES"], ["0x10002"]),
        # What the simulator has nothing to say of.
        ("gfx900", {}, ["HW_REG_IB_STS", "HW_REG_TBA_LO", "HW_REG_TMA_HI", "63"], ["0x0"] * 4),
        ("gfx942", {}, ["HW_REG_XCC_ID", "HW_REG_SQ_PERF_SNAPSHOT_DATA"], ["0x0"] * 2),
        ("gfx1010", {}, ["HW_REG_XNACK_MASK", "HW_REG_POPS_PACKER", "29"], ["0x0"] * 3),
        ("gfx1200", {}, ["HW_REG_WAVE_DVGPR_ALLOC_LO", "HW_REG_WAVE_SCHED_MODE", "3"], ["0x0"] * 3),
    ],
)
def test_hardware_registers(assembled, target, options, names, wanted):
    assert registers(assembled, target, *names, **options) == wanted


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1100", "gfx1200"])
def test_fields(assembled, target):
    """A field is read and written separately; only the registers that a user may write change."""
    prefix = "HW_REG_WAVE_" if target == "gfx1200" else "HW_REG_"
    code = f"""
    s_mov_b32 s4, 0xabc
    s_setreg_b32 hwreg({prefix}MODE, 4, 4), s4
    s_getreg_b32 s5, hwreg({prefix}MODE, 4, 4)
    s_getreg_b32 s6, hwreg({prefix}MODE)
    s_getreg_b32 s7, hwreg({prefix}STATUS, 16, 16)
    s_setreg_imm32_b32 hwreg({prefix}STATUS), 0
    s_getreg_b32 s8, hwreg({prefix}STATUS, 16, 16)
    s_setreg_imm32_b32 hwreg({prefix}GPR_ALLOC), 0
    s_getreg_b32 s9, hwreg({prefix}GPR_ALLOC)
    s_setreg_imm32_b32 hwreg({prefix}MODE, 24, 32), -1
    """
    wave = run(assembled, target, code)
    before = 0xF0 if target == "gfx1200" else 0x3F0
    assert (wave.sgpr(5), wave.sgpr(6) & 0xFFF) == (0xC, before & ~0xF0 | 0xC0)
    assert wave.sgpr(7) == wave.sgpr(8) and wave.sgpr(9) != 0
    # A field that goes past the register ends with it.
    assert wave.mode >> 24 == 0xFF


def test_sticky_bits_can_be_written(assembled):
    wave = run(assembled, "gfx900", "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0x155")
    assert wave.trapsts == 0x155
    code = "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_EXCP_FLAG_USER, 0, 7), 0x55\n"
    code += "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_TRAP_CTRL, 0, 7), 0x7f"
    wave = run(assembled, "gfx1200", code)
    assert (wave.excp_flag_user, wave.trap_ctrl) == (0x55, 0)


@pytest.mark.parametrize(
    "target, read",
    [
        ("gfx900", "s_memtime s[{0}:{1}]\ns_waitcnt lgkmcnt(0)"),
        ("gfx900", "s_memrealtime s[{0}:{1}]\ns_waitcnt lgkmcnt(0)"),
        ("gfx1030", "s_getreg_b32 s{0}, hwreg(HW_REG_SHADER_CYCLES, 0, 20)\ns_nop 0"),
        ("gfx1100", "s_sendmsg_rtn_b64 s[{0}:{1}], sendmsg(MSG_RTN_GET_REALTIME)\ns_nop 0"),
        ("gfx1200", "s_getreg_b32 s{0}, hwreg(HW_REG_SHADER_CYCLES_LO)\ns_getreg_b32 s{1}, hwreg(30)"),
    ],
)
def test_clocks_count_instructions(assembled, target, read):
    """Clocks advance by one per instruction, so that every run reads the same."""
    wave = run(assembled, target, f"{read.format(4, 5)}\n{read.format(6, 7)}")
    assert (wave.sgpr(6) - wave.sgpr(4), wave.sgpr(7)) == (2, 0)


@pytest.mark.parametrize(
    "message", ["MSG_RTN_GET_DOORBELL", "MSG_RTN_GET_DDID", "MSG_RTN_GET_TMA", "MSG_RTN_GET_TBA"]
)
def test_messages_that_ask_for_what_is_not_there(assembled, message):
    wave = run(assembled, "gfx1100", f"s_mov_b32 s4, 5\ns_sendmsg_rtn_b32 s4, sendmsg({message})")
    assert wave.sgpr(4) == 0


def test_wave_in_workgroup(assembled):
    kernel = assembled("gfx1010", ".globl done\ns_get_waveid_in_workgroup s4\ndone:", items=96)
    waves = list(kernel.dispatch.waves)
    finish(kernel)
    assert [w.sgpr(4) for w in waves] == [0, 1, 2]


def test_bits_are_doubled(assembled):
    wave = run(assembled, "gfx900", "s_mov_b32 s0, 0x80000005\ns_bitreplicate_b64_b32 s[4:5], s0")
    assert hex(wave.sgpr64(4)) == "0xc000000000000033"


def test_truth_table(assembled):
    """Bit k of the table is the result where the sources have the bits of k."""
    code = "v_mov_b32 v1, 0xf0\nv_mov_b32 v2, 0xcc\nv_mov_b32 v3, 0xaa\nv_mov_b32 v5, 0x11111111\n"
    code += (
        "v_bitop3_b32 v4, v1, v2, v3 bitop3:0xd8\nv_bitop3_b16 v5, v1, v2, v3 bitop3:0x5b op_sel:[0,0,0,1]"
    )
    wave = run(assembled, "gfx950", code)
    assert hex(wave.vgpr(4)[0]) == "0xd8"
    assert hex(wave.vgpr(5)[0]) == hex(
        0xFF5B1111
    )  # above the eight rows all sources are 0: bit 0 of the table
    assert np.all(wave.vgpr(4) == wave.vgpr(4)[0])
