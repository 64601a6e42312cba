"""The last write to a register that M0, an index mode, DPP's masks or a lane number selects, compared with a full log.

The log is that of `test_past_writes`: before each single step, the value of the place is changed. The value that
`origin` follows through such moves stays the same.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.session import Session
from rocdbg.debugger.target.reversible_target import RecordedTarget
from rocdbg.isa import decode
from rocdbg.isa.operands import special_code
from rocdbg.sim.core.layout import EXEC_LO, HEADER, VCC_LO
from rocdbg.sim.core.wave import Wave
from tests.breadth import some_of
from tests.debugger.test_past_writes import Place, log_of_writes

pytestmark = pytest.mark.llvm

CODE = {
    "gfx90a": """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_u32_e32 v2, 7, v0
  v_mov_b32_e32 v3, 0x12345
  s_waitcnt lgkmcnt(0)
  v_mov_b32_dpp v4, v2 row_shr:3 row_mask:0x5 bank_mask:0xe
  v_mov_b32_dpp v5, v2 quad_perm:[3,2,1,0] row_mask:0xa bank_mask:0xf bound_ctrl:0
  s_mov_b32 exec_lo, 0xf73c3cb1
  s_mov_b32 exec_hi, 0x0f0f3c3c
  v_mov_b32_dpp v6, v2 row_ror:5 row_mask:0xf bank_mask:0xf
  v_add_u32_dpp v7, v2, v3 row_mirror row_mask:0xf bank_mask:0x7
  v_mov_b32_dpp v4, v3 row_bcast:15 row_mask:0xa bank_mask:0xf
  s_mov_b64 exec, -1
  v_add_u32_sdwa v6, v2, v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:WORD_1
  v_mov_b32_sdwa v7, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0
  v_mad_f16 v6, v1, v2, v3 op_sel:[0,0,0,1]
  v_pk_mul_f32 v[4:5], v[2:3], v[0:1]
  s_mov_b32 s4, 3
  s_mov_b32 s5, 90
  v_writelane_b32 v5, 9, s5
  v_writelane_b32 v5, s4, 2
  s_set_gpr_idx_on s4, gpr_idx(DST)
  v_mov_b32_e32 v4, v2
  v_add_u32_e32 v3, v2, v1
  v_mov_b32_dpp v2, v1 row_shl:1 row_mask:0xd bank_mask:0xf
  s_set_gpr_idx_mode gpr_idx(SRC0)
  v_mov_b32_e32 v6, v1
  s_set_gpr_idx_off
  v_accvgpr_write_b32 a0, v2
  s_cmp_lg_u32 s4, s5
  s_cmov_b32 s10, s4
  s_cmp_eq_u32 s4, s5
  s_cmov_b32 s10, s5
  s_cmpk_eq_i32 s10, 0x5
  s_mov_b32 m0, 2
  s_movreld_b32 s2, s5
  s_movreld_b64 s[4:5], s[8:9]
  ds_write_b32 v1, v2
  ds_add_u32 v1, v2 offset:4
  ds_add_rtn_u32 v3, v1, v2
  global_atomic_add v1, v2, s[8:9]
  global_atomic_add v7, v1, v2, s[8:9] glc
  v_mov_b32_e32 v3, s9
  v_add_co_u32_e32 v2, vcc, s8, v1
  v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
  flat_atomic_add v[2:3], v0
  flat_atomic_swap v6, v[2:3], v0 glc
  s_mov_b64 s[12:13], s[8:9]
  s_mov_b32 s14, 0x100
  s_mov_b32 s15, 0x27000
  s_mov_b32 m0, 8
  buffer_load_dword v1, s[12:15], 0 offen lds
  buffer_store_dword v0, v1, s[12:15], 0 offen
  buffer_load_dwordx2 v[4:5], v1, s[12:15], 0 offen
  s_waitcnt vmcnt(0)
  v_and_b32_e32 v1, 0x7c, v1
  global_load_dword v1, s[8:9] lds
  s_mov_b32 m0, 44
  global_load_dword v1, s[8:9] offset:4 lds
  s_waitcnt vmcnt(0)
""",
    "gfx906": """
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_u32_e32 v2, 7, v0
  s_movk_i32 s4, 0x8001
  s_mov_b32 m0, s4
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1
  v_mov_b32_e32 v5, v0
  v_add_u32_e32 v4, v2, v1
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 0
  v_mov_b32_e32 v5, v0
  s_setreg_b32 hwreg(HW_REG_MODE, 24, 5), s4
  s_movk_i32 s4, 0x8
  s_setreg_b32 hwreg(HW_REG_MODE, 24, 4), s4
  v_mov_b32_e32 v3, v1
  s_mov_b32 m0, 0x1003
  v_mov_b32_e32 v3, v1
""",
    "gfx942": """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_and_b32_e32 v1, 0x7c, v1
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, 0
  global_load_lds_dword v1, s[8:9]
  s_mov_b32 m0, 44
  global_load_lds_ubyte v1, s[8:9] offset:4
  s_mov_b32 exec_lo, 0xf73c3cb1
  global_load_lds_sshort v1, s[8:9] offset:2
  s_mov_b32 exec_lo, -1
  v_mov_b32_e32 v3, s9
  v_add_co_u32_e32 v2, vcc, s8, v1
  v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
  s_mov_b32 m0, 120
  global_load_lds_dword v[2:3], off offset:8
  s_mov_b64 s[12:13], s[8:9]
  s_mov_b32 s14, 0x100
  s_mov_b32 s15, 0x27000
  s_mov_b32 m0, 8
  buffer_load_ushort v1, s[12:15], 0 offen lds
  s_waitcnt vmcnt(0)
  v_swap_b32 v4, v5
  v_pk_fma_f32 v[4:5], v[2:3], v[0:1], v[4:5]
  v_cmpx_gt_u32_e32 vcc, 20, v0
  v_readlane_b32 s4, v1, 7
  v_readfirstlane_b32 s5, v1
  v_writelane_b32 v6, s4, 5
  s_add_u32 s6, s4, s5
  s_addc_u32 s7, s4, s5
""",
    "gfx950": """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_mov_b64 s[12:13], s[8:9]
  s_mov_b32 s14, 0x100
  s_mov_b32 s15, 0x27000
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 0xffff
  v_and_b32_e32 v2, 0x30, v1
  global_load_lds_dwordx4 v2, s[8:9]
  s_mov_b32 m0, 12
  global_load_lds_dwordx3 v2, s[8:9] offset:12
  s_mov_b64 s[12:13], s[8:9]
  buffer_load_dwordx4 v2, s[12:15], 0 offen lds
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, -1
  v_add_u32_e32 v4, 7, v0
  v_permlane16_swap_b32 v4, v5
  v_permlane32_swap_b32 v6, v7
""",
    "gfx1030": """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_nc_u32_e32 v2, 7, v0
  v_mov_b32_e32 v3, 0x12345
  s_waitcnt lgkmcnt(0)
  s_waitcnt_vscnt null, 0x0
  s_mov_b32 m0, 3
  v_movreld_b32_e32 v1, v0
  v_movrels_b32_e32 v5, v1
  v_movrelsd_b32_e32 v2, v0
  s_mov_b32 m0, 0x20001
  v_movrelsd_2_b32_e32 v1, v0
  v_swaprel_b32_e32 v4, v2
  s_mov_b32 exec_lo, 0xf73c3cb1
  v_mov_b32_dpp v6, v0 dpp8:[7,6,5,4,3,2,1,0]
  v_mov_b32_dpp v7, v0 row_share:2 row_mask:0x1 bank_mask:0xf
  v_mov_b32_dpp v4, v0 row_xmask:5 row_mask:0xf bank_mask:0xb fi:1
  v_mov_b32_dpp v5, v0 row_xmask:7 row_mask:0xf bank_mask:0xf
  s_mov_b32 exec_lo, -1
  v_mad_u16 v4, v1, v2, v3 op_sel:[0,0,0,1]
  v_pk_add_u16 v5, v1, v2
  v_mov_b32_sdwa v7, v2 dst_sel:BYTE_3 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0
  s_mov_b32 s2, 17
  s_mov_b32 s3, 4
  v_permlane16_b32 v6, v1, s2, s3
  v_writelane_b32 v5, s3, s2
  s_mov_b32 m0, 2
  s_movreld_b32 s2, s8
  s_movreld_b64 s[4:5], s[8:9]
  s_mov_b32 m0, 0x50001
  s_movrelsd_2_b32 s2, s1
  s_mov_b64 s[12:13], s[8:9]
  s_mov_b32 s14, 0x100
  s_mov_b32 s15, 0x10014000
  s_mov_b32 m0, 8
  v_lshlrev_b32_e32 v1, 2, v0
  buffer_load_dword v1, s[12:15], 0 offen lds
  buffer_load_ubyte v1, s[12:15], 0 offen offset:3 lds
  global_load_dword v1, s[8:9] lds
  s_waitcnt vmcnt(0)
  s_mov_b32 m0, 48
  v_mov_b32_e32 v4, src_lds_direct
  v_add_nc_u32_e32 v5, src_lds_direct, v1
  v_cmpx_gt_u32_e32 20, v0
  v_add_co_ci_u32_e32 v6, vcc_lo, v1, v2, vcc_lo
""",
    "gfx1100": """
  s_load_b64 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_nc_u32_e32 v2, 7, v0
  v_mov_b32_e32 v3, 0x12345
  s_waitcnt lgkmcnt(0)
  v_dual_mov_b32 v4, v0 :: v_dual_add_nc_u32 v5, v1, v2
  s_mov_b32 m0, 2
  v_movreld_b32_e32 v5, v1
  s_mov_b32 exec_lo, 0xf73c3cb1
  v_mov_b32_dpp v6, v0 row_shl:4 row_mask:0x1 bank_mask:0xf
  v_mov_b32_dpp v4, v0 row_half_mirror row_mask:0xf bank_mask:0x6
  v_add_nc_u32_e64_dpp v5, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf
  s_mov_b32 exec_lo, -1
  v_fma_f16 v6, v1, v2, v3 op_sel:[0,0,0,1]
  v_swap_b32 v6, v7
  global_atomic_add_u32 v7, v1, v2, s[8:9] glc
  global_atomic_add_u32 v1, v2, s[8:9]
  s_waitcnt vmcnt(0)
""",
}
SOURCE = """
.text
.globl k
.p2align 8
.type k,@function
k:
{code}
  s_endpgm
  s_nop 0
  s_nop 0
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 24
  .amdhsa_next_free_sgpr 24
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_kernarg_size 8
  {more}
.end_amdhsa_kernel
"""
LAUNCH = """
[launch]
file = "k.co"
kernel = "k"
grid = [64, 1, 1]
workgroup = [64, 1, 1]
kernarg = ""
[[arg]]
name = "out"
buffer = "u32[64]"
init = "arange"
offset = 0
"""
LANES = (2, 12, 17, 26, 31)
WIDE = ("gfx906", "gfx90a", "gfx942", "gfx950")
"""The targets with waves of 64 lanes."""


def started(path: Path) -> tuple[Session, RecordedTarget, Wave]:
    session = Session()
    session.load(path)
    session.launch.schedule = "one-at-a-time"
    session.start_at_entry()
    target = session.inferior.target
    assert isinstance(target, RecordedTarget)
    return session, target, target.dispatch.waves[0]


def places(target: RecordedTarget, wave: Wave) -> list[Place]:
    found = [
        Place(f"$v{number}", lane, [wave.vgpr(number)[lane : lane + 1].view(np.uint8)])
        for number in range(2, 8) for lane in LANES
    ]
    found += [Place(f"$s{n}", 0, [wave.sgprs[n : n + 1].view(np.uint8)]) for n in range(2, 12)]
    special = {"vcc_lo": VCC_LO, "vcc_hi": VCC_LO + 1, "exec_lo": EXEC_LO, "m0": special_code("m0", wave.target)}
    found += [
        Place(f"${name}", 0, [wave.sgprs[code : code + 1].view(np.uint8)]) for name, code in special.items()
        if code is not None and not (name == "vcc_hi" and wave.wave_size == 32)
    ]
    scc = HEADER["scc"]
    found.append(Place("$scc", 0, [wave.state[scc.offset : scc.offset + scc.size]]))
    if wave.target.has_agprs:
        found.append(Place("$a0", 5, [wave.agpr(0)[5:6].view(np.uint8)]))
    (buffer,) = (bound.allocation for bound in target.bound.buffers)
    for at in (8, 48, 124):
        found.append(Place(f"*(int *) {buffer.address + at:#x}", 0, [buffer.data[at : at + 4]]))
        found.append(Place(f"*(int *) local#{at:#x}", 0, [wave.lds[at : at + 4]]))
    return found


@pytest.mark.truth
@pytest.mark.parametrize("arch", CODE)
def test_writes_of_chosen_registers_and_lanes(arch: str, tmp_path: Path) -> None:
    more = ".amdhsa_wavefront_size32 1"
    if arch in WIDE:
        more = ".amdhsa_accum_offset 16" if arch != "gfx906" else ""
    source = SOURCE.format(code=CODE[arch], more=more)
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=obj", "-o", "k.o"]
    if arch not in WIDE:
        command.append("-mattr=+wavefrontsize32")
    subprocess.run(command, input=source, text=True, check=True, cwd=tmp_path)
    subprocess.run(["ld.lld-22", "-shared", "k.o", "-o", "k.co"], check=True, cwd=tmp_path)
    path = tmp_path / "k.toml"
    path.write_text(LAUNCH)
    steps = sum(bool(line.strip()) for line in CODE[arch].splitlines())
    session, target, wave = started(path)
    target.stop_recording()
    watched = places(target, wave)
    log = log_of_writes(target, wave, watched, steps)
    code = target.machine.memory.view(wave.pc, 4)
    assert decode(code.tobytes(), target.architecture, wave.pc).name == "s_endpgm"
    session, target, wave = started(path)
    session.running.stepi(steps)
    seen = moved = 0
    for present in some_of((steps, steps * 2 // 3, steps // 3), (steps, steps // 3)):
        session.time.go_to(present)
        for place, positions in zip(watched, log, strict=True):
            session.focus.move(Focus(wave.number, place.lane))
            value = session.data.evaluate(place.text)
            found = [session.time.find_write(value, first) for first in (True, False)]
            known = [position for position in positions if position < present]
            got = [write.position for write in found if write is not None]
            assert got == known[:1] + known[-1:], (place.text, place.lane, present)
            seen += len(known)
            if known and present == steps and place.text[1] in "sv" and place.text[2:].isdecimal():
                origin = session.time.find_origin(value)
                assert len({step.value.contents() for step in origin.steps}) == 1, (place.text, place.lane)
                moved += len(origin.steps) > 1
    assert seen > 30 and moved >= {"gfx942": 2, "gfx950": 0}.get(arch, 3)


@pytest.mark.parametrize("arch, lane", (("gfx1030", 37), ("gfx90a", 5)))
def test_lanes_of_a_permutation(arch: str, lane: int, tmp_path: Path) -> None:
    """On GFX10 and GFX11, a wave of 64 lanes exchanges values within each half."""
    product = "v_mul_lo_u32 v2, v0, 7\n  v_mov_b32_e32 v1, 20\n  v_mov_b32_e32 v2, v2"
    code = f"{product}\n  ds_bpermute_b32 v3, v1, v2\n  s_waitcnt lgkmcnt(0)"
    more = ".amdhsa_accum_offset 16" if arch == "gfx90a" else ".amdhsa_wavefront_size32 0"
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=obj", "-o", "k.o"]
    if arch != "gfx90a":
        command.append("-mattr=+wavefrontsize64")
    subprocess.run(command, input=SOURCE.format(code=code, more=more), text=True, check=True, cwd=tmp_path)
    subprocess.run(["ld.lld-22", "-shared", "k.o", "-o", "k.co"], check=True, cwd=tmp_path)
    (tmp_path / "k.toml").write_text(LAUNCH)
    session, _, wave = started(tmp_path / "k.toml")
    session.running.stepi(5)
    session.focus.move(Focus(wave.number, 40))
    origin = session.time.find_origin(session.data.evaluate("$v3"))
    assert [step.value.as_int() for step in origin.steps] == [7 * lane] * 3
    assert [step.lane for step in origin.steps] == [40, lane, lane]
    assert origin.steps[-1].write.instruction.startswith("v_mul_lo_u32")
