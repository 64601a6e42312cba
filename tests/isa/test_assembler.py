"""The assembler: printed text is assembled to the same bytes, and LLVM's assembler agrees on typed text."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocdbg import isa
from rocdbg.errors import Error
from tests.isa.differences import (
    TARGETS,
    UNKNOWN,
    Difference,
    differences,
    generated,
    in_all_notations,
    mistyped,
    read,
    row,
)

ROWS = read()


def llvm_assembler(target: str, lines: list[str]) -> list[bytes | None]:
    """llvm-mc's result for each line; None for a line that it rejects."""
    source = "".join(f"L{number}_:\n{line}\n" for number, line in enumerate(lines))
    output = subprocess.run(
        ["llvm-mc-22", "-triple=amdgcn", f"-mcpu={target}", "--show-encoding"], input=source, text=True,
        capture_output=True, check=False,
    ).stdout
    found: list[bytes | None] = [None] * len(lines)
    current = 0
    for line in output.splitlines():
        if match := re.match(r"L(\d+)_:", line):
            current = int(match[1])
        elif match := re.search(r"encoding: \[([0-9a-fx,]+)\]", line):
            found[current] = bytes(int(byte, 16) for byte in match[1].split(","))
    return found


@pytest.mark.llvm
@pytest.mark.parametrize("target", TARGETS)
def test_generated_encodings(target: str) -> None:
    """Every text is assembled to its bytes, or to LLVM's bytes if several encodings have the same text; or LLVM rejects
    it too; or a row has both answers.
    """
    different, same = generated(target)
    assert same > 100
    assert different
    assert not_in_rows(target, different) == []


@pytest.mark.llvm
@pytest.mark.parametrize("target", TARGETS)
def test_mistyped(target: str) -> None:
    """Printed instructions with other registers, numbers and modifiers: the assembler rejects what LLVM rejects, and
    otherwise gives the same bytes. ``python -m tests.isa.soak.typed_soak`` is the long form.
    """
    assert not_in_rows(target, mistyped(target)) == []


@pytest.mark.llvm
@pytest.mark.parametrize("target", TARGETS)
def test_operands_in_all_notations(target: str) -> None:
    """As `test_mistyped`, for operands as numbers of any notation and size, expressions, floating-point numbers at
    their limits, registers by list and expression. ``typed_soak --operands`` is the long form.
    """
    assert not_in_rows(target, in_all_notations(target)) == []


def not_in_rows(target: str, lines: list[str]) -> list[Difference]:
    """The texts that are assembled differently, except those with exactly these answers in the rows."""
    return [one for one in differences(target, lines) if row(target, one) not in ROWS]


@pytest.mark.llvm
@pytest.mark.parametrize("target", TARGETS)
def test_rows_are_what_both_say(target: str) -> None:
    rows = [one for one in ROWS if one[0] == target]
    assert [row(target, one) for one in differences(target, [text for _, text, _, _ in rows])] == rows


def test_rows_have_reasons() -> None:
    assert UNKNOWN not in ROWS.values()
    assert {one[0] for one in ROWS} <= set(TARGETS)
    assert len({one[:2] for one in ROWS}) == len(ROWS), "a text has two rows"


ACCEPTED = {
    "gfx90a": r"""
        v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf bound_ctrl:0
        v_add_f32 v0, s2, v1
        v_add_f32 v0, v1, s2
        v_add_f32 v0, |v1|, v2
        v_add_f32 v0, v1, v2 clamp
        v_add_f32_sdwa v0, v1, v2
        v_add_f32 v0, v1, v2 row_shl:1
        v_pk_add_f16 v0, v1, v2 op_sel_hi:[0,0]
        v_pk_add_f16 v0, v1, v2 op_sel_hi:[1,1]
        v_lshlrev_b64 v[2*2:4+1], 1, [v6,v7]
        v_accvgpr_write_b32 acc[3], 1
        s_mov_b64 exec, [s4,s5]
        s_mov_b64 [vcc_lo,vcc_hi], [exec]
        s_mov_b32 s0, private_base
        v_mov_b32 v0, 0x3f800000
        v_mov_b32 v0, 1.5
        v_mov_b32 v0, 0.15915494
        v_add_f16 v0, 65500.0, v1
        v_add_f16 v0, 0x3c00, v1
        v_add_f16 v0, 0.1592, v1
        v_add_u16 v0, 0xffffffffffffff00, v0
        s_bfe_i64 s[0:1], 0xffefffff, s3
        v_ceil_f64 v[0:1], 0xffefffff
        v_ceil_f64 v[0:1], 1.7976931348623157e308
        v_mov_b32 v0, (1<<4)+0b11-0x2*010
        s_waitcnt vmcnt(3) & expcnt(2)
        s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 2)
        s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 1)
        ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,3,2,1,0)
        ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM, "01pip")
        ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,8,5)
        s_branch -5
        s_endpgm
        image_store_mip_pck v[2:4], v[82:83], s[4:11] dmask:0x7 glc
        image_load v[2:3], v[82:84], s[4:11] dmask:0x3
        v_mfma_i32_4x4x4i8 a[0:3], v2, v3, 1
        global_load_dword v1, v[2:3], off offset:-4096 glc slc
        buffer_load_dword v1, v[2:3], s[8:11], 0 idxen offen offset:4095
        scratch_load_dword v1, off, s3
    """,
    "gfx1100": r"""
        v_mov_b32 v0, v1 dpp8:[7,6,5,4,3,2,1,0]
        v_dual_mov_b32 v0, 0x12345678 :: v_dual_add_f32 v1, 0x12345678, v2
        image_sample v[0:3], [v[4],v9,v1], s[0:7], s[8:11] dmask:0b1111 dim:SQ_RSRC_IMG_3D
        image_bvh64_intersect_ray v[39:42], [v[50:51], v46, v[20:22], v[40:42], v[47:49]], s[12:15]
        v_add_f16 v0.l, v1.h, v2.l
        v_mov_b32 v0, lit(5)
        s_waitcnt lgkmcnt(63), vmcnt_sat(1000)
        s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
        s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)
        v_interp_p10_f16_f32 v60, -v44.l, v1, v36.l wait_exp:0
        v_cmp_ne_u16_e64 s60, s33, s56 op_sel:[0,1]
        v_cmp_ne_u16_e64 s60, s33, s56 op_sel:[1,0,0,1]
        v_add_co_ci_u32_dpp v107, v5, v64 quad_perm:[0,1,2,3]
        v_add_nc_u16 v64.l, v1.l, 0.5
    """,
    "gfx1150": r"""
        v_cndmask_b16_e64_dpp v40.l, v92.l, 0.5, s16 quad_perm:[0,0,0,0]
        v_fmac_f32_e64_dpp v48, v24, 0.5 dpp8:[0,0,0,0,0,0,0,0]
        v_mqsad_u32_u8 v[116:119], v[4:5], null, v[26:29]
    """,
    "gfx1030": r"""
        image_sample v[0:3], [v4, v9], s[0:7], s[8:11] dmask:0xf dim:2D
        image_bvh_intersect_ray v[4:7], v[9:16], s[4:7] a16
        image_bvh64_intersect_ray v[39:42], [v50, v46, v23, v17, v16, v15, v21, v20, v19, v37, v40, v42], s[12:15]
        s_waitcnt_depctr depctr_vm_vsrc(0)
    """,
    "gfx1250": r"""
        s_mov_b64 s[0:1], lit64(0x123456789)
        s_mov_b64 s[0:1], 0x123456789abcdef0
        v_fmaak_f64 v[4:5], 0x405ec000, v[2:3], 0x405ec000
        v_fmamk_f64 v[4:5], lit64(0x123456789a), lit64(0x123456789a), v[2:3]
        v_cvt_pk_fp8_f16 v1, 1.5
        v_cvt_scalef32_sr_pk8_fp8_f16 v[80:81], v[110:113], null, v24
    """,
    "gfx942": r"""
        global_load_dword v1, v2, s[4:5] nt sc1 sc0
        v_smfmac_f32_32x32x16_bf16 v[2:17], v[44:45], v[62:65], v6
    """,
    "gfx900": r"""
        image_load v[0:1], v[4:7], s[0:7] dmask:0x3
        image_sample v0, v[4:5], s[0:7], s[8:11] dmask:0x1
        image_sample_c_l v0, v[4:11], s[0:7], s[8:11] dmask:0x1
        image_sample_c_d_cl_o v0, v[4:15], s[0:7], s[8:11] dmask:0x1
        image_atomic_add v0, v[4:6], s[0:7] dmask:0x1
    """,
    "gfx1200": r"""
        buffer_load_b32 v1, v2, s[8:11], s3 offen
        global_load_b32 v1, v2, s[4:5] offset:-8388608 scope:SCOPE_DEV th:TH_LOAD_NT
        s_prefetch_data s[2:3], s0, 28
    """,
}
REJECTED = {
    "gfx90a": r"""
        v_add_f32 v0, v1
        v_add_f32 v0, v1, v2, v3
        v_add_f32 v0, v1, v256
        v_lshlrev_b64 v[1:2], 1, v[6:7]
        s_mov_b64 s[1:2], 0
        s_mov_b32 s102, 0
        v_add_u16 v0, 0x1ff00, v0
        v_add_u16 v0, 0xffffffffffff00ff, v0
        v_add_f16 v1, 65600.0, v2
        s_mov_b32 s0, 0x123456789
        s_mov_b64 s[0:1], 1.5
        v_add3_u32 v0, 0x12345678, v1, v2
        v_add_f32_dpp v0, v1, v2
        ds_read_b32 v0, v1 offset:65536
        global_load_dword v1, v[2:3], off offset:4096
        s_waitcnt vmcnt(64)
        s_waitcnt foocnt(0)
        s_getreg_b32 s0, hwreg(HW_REG_FOO)
        v_add_f32 v0, v1, v2 foo
        v_add_f32_e32 v0, v1, v2 clamp
        s_mov_b32 s0, v1
    """,
    "gfx900": r"""
        v_accvgpr_write_b32 a0, 1
        v_mac_f32_sdwa v2, v100, v52 dst_sel:BYTE_0
        v_addc_co_u32 v107, v5, v64
        image_load v[0:1], v[4:8], s[0:7] dmask:0x3
        image_sample_c_d_cl_o v0, v[4:16], s[0:7], s[8:11] dmask:0x1
        image_sample_b v0, v4, s[0:7], s[8:11] dmask:0x1
        v_swap_b32 v1, scc
        v_div_fmas_f32 v40, v98, v22, |vcc_lo|
        s_cbranch_join src_private_limit
    """,
    "gfx908": r"""
        v_mfma_i32_4x4x4i8 a[0:3], v2, v3, 1
        v_accvgpr_read_b32 v26, src_shared_base
    """,
    "gfx1030": r"""
        s_mov_b32 s0, flat_scratch_lo
        image_sample v[0:3], [v4, v9, v1], s[0:7], s[8:11] dmask:0xf dim:2D
        v_writelane_b32 v72, s0, 0xdeadbeef
        v_div_fmas_f32 v0, vcc_lo, s1, v2
    """,
    "gfx1150": r"""
        v_fmac_f32_e64_dpp v48, v24, 0x80 dpp8:[0,0,0,0,0,0,0,0]
        v_interp_p10_f32 v60, v44, s1, v36 wait_exp:0
        v_wmma_i32_16x16x16_iu4 v[0:7], null, v[78:79], v[76:83]
    """,
    "gfx1250": r"""
        v_cvt_pk_bf16_f32_e64_dpp v68, v56, 0x501fce9 dpp8:[0,0,0,0,0,0,0,0]
        s_nor_b64 s[16:17].h, 5, s[50:51]
        v_fmaak_f64 v[4:5], 1.25, v[2:3], 1.5
    """,
    "gfx1100": r"""
        v_dual_mul_f32 v62, s1, v24 :: v_dual_cndmask_b32 v93, vcc_lo, v18
        v_add_f32_sdwa v0, v1, v2
        v_dual_mov_b32 v0, 0x12345678 :: v_dual_mov_b32 v1, 0x12345679
    """,
}


@pytest.mark.llvm
@pytest.mark.parametrize("target", sorted(ACCEPTED | REJECTED))
def test_typed(target: str) -> None:
    """The assembler gives the same bytes as llvm-mc, and rejects what llvm-mc rejects."""
    good, bad = (
        [line.strip() for line in table.get(target, "").splitlines() if line.strip()] for table in (ACCEPTED, REJECTED)
    )
    answers = llvm_assembler(target, good + bad)
    assert {line: isa.assemble(line, target) for line in good} == dict(zip(good, answers, strict=False))
    assert answers[len(good) :] == [None] * len(bad)
    for line in bad:
        with pytest.raises(isa.AssemblyError):
            isa.assemble(line, target)


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        ("v_add_f32 v0, v1", 17, "there are too few operands: vsrc1 is missing"),
        ("v_add_f32 v0, v1, v2, v3", 23, "`v3' is one operand too many"),
        ("v_add_f32 v0, v1, v256", 19, "`v256': gfx90a has registers v0 to v255"),
        ("v_lshlrev_b64 v[1:2], 1, v[6:7]", 15, "`v[1:2]': the range must start at a multiple of 2"),
        ("s_mov_b32 s0, v1", 15, "ssrc0 cannot be `v1': it takes scalar registers, inline constants or literals"),
        ("v_add_u16 v0, 0x1ff00, v0", 15, "0x1ff00 does not fit into 16 bits"),
        ("v_add_f16 v1, 65600.0, v2", 15, "65600.0 does not fit into a 16-bit floating-point number"),
        ("v_add_f16 v1, 1e-30, v2", 15, "1e-30 is too small for a 16-bit floating-point number"),
        ("s_mov_b64 s[0:1], 1.5", 19, "1.5 cannot be converted to a 64-bit integer: write its bits as an integer"),
        ("s_mov_b32 s0, nowhere", 15, "`nowhere' is neither a number nor a known symbol"),
        ("s_mov_b32 s0, here * 2", 15, "`here * 2': addresses can be added and subtracted, but not combined with `*'"),
        ("s_mov_b64 s[0:1], here", 19, "ssrc0 cannot be an address: only 32-bit integers and branch targets can"),
        ("s_branch here + 2", 10, "the distance to the branch target 0x1102 is not a multiple of 4 bytes"),
        ("s_branch here + 0x40000", 10, "the branch target 0x41100 is too far away from 0x1000"),
        ("s_waitcnt vmcnt(64)", 11, "the counter `vmcnt' must be 0 to 63"),
        ("s_mov_b32 s0, 1 << 70 / 0", 15, "`1 << 70 / 0' divides by zero"),
        ("v_add_f32 v0, v1, v2 foo:1", 22, "`foo:1' is not a modifier of this instruction"),
        ("v_add_f32 v0, v1, v2 foo", 22, "`foo' is not a modifier of this instruction"),
        ("ds_read_b32 v0, v1 gsd", 20, "`gsd' is not a modifier of this instruction"),
        ("v_add_f32 v0 v1, v2", 14, "a comma is missing in front of `v1'"),
        ("s_mov_b32 s0, 1 2", 17, "a comma is missing in front of `2'"),
        ("s_sleep 0.5", 9, "`0.5' is not an integer"),
        ("v_foo v0", 1, "gfx90a has no instruction `v_foo'"),
    ],
)
def test_errors(line: str, column: int, reason: str) -> None:
    with pytest.raises(isa.AssemblyError) as caught:
        isa.assemble(line, "gfx90a", 0x1000, symbols={"here": 0x1100}.get)
    assert (caught.value.column, caught.value.reason) == (column, reason)
    assert caught.value.text == line


@pytest.mark.parametrize(
    ("target", "line", "reason"),
    [
        ("gfx900", "v_fma_f32 v0, s0, s1, v2", "more than one scalar register"),
        ("gfx900", "v_cndmask_b32_e32 v0, s0, v1, vcc", "more than one scalar register"),
        ("gfx900", "v_div_fmas_f32 v0, s0, v1, v2", "more than one scalar register"),
        ("gfx900", "v_writelane_b32 v0, s0, s1", "more than one scalar register"),
        ("gfx1030", "v_fma_f32 v0, s0, s1, s2", "reads 3 scalar registers"),
        ("gfx1030", "v_fma_f32 v0, s0, s1, 0x1234", "reads 3 scalar registers"),
        ("gfx1030", "v_lshlrev_b64 v[0:1], s0, s[2:3]", "more than one scalar register"),
        ("gfx1100", "v_dual_cndmask_b32 v0, s0, v1 :: v_dual_mov_b32 v1, s1", "reads 3 scalar registers"),
        ("gfx1100", "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v5", "v1 and v5 are in the same bank"),
        ("gfx1100", "v_dual_add_f32 v0, v1, v2 :: v_dual_add_f32 v1, v4, v6", "v2 and v6 are in the same bank"),
        ("gfx1250", "v_dual_fma_f32 v0, v1, v2, v3 :: v_dual_fma_f32 v0, v2, v3, v4", "both halves write v0"),
        ("gfx90a", "v_mfma_f32_32x32x1f32 v[0:31], v0, v1, v[2:33]", "v[2:33] must be the same registers as v"),
        ("gfx1030", "image_gather4 v[0:3], v[0:1], s[0:7], s[0:3] dmask:0x3 dim:2D", "a gather returns one component"),
        ("gfx908", "global_load_dword a0, v[0:1], off", "it takes vector registers"),
        ("gfx900", "flat_load_dword v0, v[0:1] offset:-1", "offset must be 0 to 0xfff, not -1"),
        ("gfx1030", "flat_load_dword v0, v[0:1] offset:2048", "offset must be 0 to 0x7ff, not 2048"),
        ("gfx900", "v_add3_u32 v0, 0x1234, v1, v2", "not an inline constant"),
        ("gfx1100", "v_add_f32_e64_dpp v0, v1, s2 row_shl:1", "src1 cannot be `s2'"),
        ("gfx1200", "s_barrier_init s0", "it takes m0 or inline constants"),
        ("gfx1250", "v_readlane_b32 s20, src_private_limit, s4", "it takes vector registers"),
        ("gfx1250", "s_set_pc_i64 src_shared_base", "it takes registers"),
        ("gfx803", "image_sample v0, v1, ttmp[8:15], s[0:3]", "goes beyond the last register"),
        (
            "gfx1010", "image_get_lod v48, [v110, v30, v90], s[56:63], s[48:51] dmask:0x6 dim:SQ_RSRC_IMG_1D",
            "vdata must have 2 registers",
        ),
    ],
)
def test_what_cannot_go_together(target: str, line: str, reason: str) -> None:
    with pytest.raises(isa.AssemblyError) as caught:
        isa.assemble(line, target)
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("target", "line", "code"),
    [
        ("gfx900", "v_fma_f32 v0, s0, s0, s0", "0000cbd100000000"),  # one register, three times
        ("gfx900", "v_writelane_b32 v0, s0, m0", "00008ad200f80000"),
        ("gfx1030", "v_fma_f32 v0, s0, s1, v2", "00004bd500020804"),
        ("gfx1030", "v_fma_f32 v0, 0x1234, s0, 0x1234", "00004bd5ff00fc0334120000"),  # one literal, twice
        ("gfx1100", "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v2", "010110ca02010000"),
        ("gfx1200", "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v5", "010110ca05010000"),  # moves have no banks there
        ("gfx1100", "s_load_dword s0, s[2:3], 0x10", "010000f4100000f8"),  # gfx10's name of s_load_b32
        ("gfx900", "v_cndmask_b32 v0, v1, v2", "01050000"),  # vcc need not be typed
        ("gfx900", "s_load_dword s0, s[2:3]", "010002c000000000"),
        ("gfx1010", "image_sample_c_d_o_g16 v[0:1], v[0:7], s[0:7], s[0:3] dim:2D a16 tfe d16", "0900e9f0000000c0"),
        ("gfx900", "s_atc_probe 127, s[48:49], s100", "d81f98c064000000"),
        ("gfx700", "s_load_dwordx4_e32 s[8:11], s[48:49], 0x65", "653184c0"),
        ("gfx600", "v_writelane_b32 v0, 1.5, -8", "ff9001040000c03f"),
        ("gfx942", "v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]", "0080ccd300050204"),  # gfx908's name
        ("gfx700", "v_add_co_u32 v0, vcc, v1, v2", "006a4ad201050200"),  # gfx9's, which is for the long form only
        ("gfx1100", "s_sendmsg_rtn_b32 s0, 1", "014c80be"),  # the message, no inline constant
        ("gfx1100", "s_sendmsg_rtn_b64 s[0:1], sendmsg(131)", "834d80be"),
        ("gfx1201", "s_load_b32 s0, s[0:1], null offset:0x10", "000000f4100000f8"),
        ("gfx1250", "v_cmp_class_f64_e64 s68, 0x7000000000000000, s4", "44007fd4ff08000000000070"),
        ("gfx900", "v_mov_b32 v0, 1.5 /* half */", "ff02007e0000c03f"),
        ("gfx900", "v_mov_b32 v0, - 2.0", "f502007e"),
        ("gfx900", "v_mov_b32 v0, 5 ! 3 + 2", "c102007e"),  # or not; binds more tightly than sums
        ("gfx900", "v_mov_b32 v0, 0x1p-149", "8102007e"),  # below the least normal number, and exact
    ],
)
def test_what_can(target: str, line: str, code: str) -> None:
    assert isa.assemble(line, target).hex() == code


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("v_mov_b32 v0, 0ffh", "ff02007eff000000"),  # the document's, which llvm-mc does not read
        ("s_branch .", "ffff82bf"),  # the distance counts dwords from the next instruction
        ("s_branch here", "3f0082bf"),
        ("s_branch here - 0x100", "ffff82bf"),
        ("s_mov_b32 s0, here - .", "ff0080be00010000"),  # absolute: the difference of two addresses
        ("v_add_u32_e32 v0, ., v1", "ff020068fcffffff"),  # relative to the literal
        ("s_add_u32 s0, s0, here@rel32@lo+4", "00ff0080" + "00010000"),
    ],
)
def test_relocatable_expressions(line: str, code: str) -> None:
    assert isa.assemble(line, "gfx90a", 0x1000, symbols={"here": 0x1100}.get).hex() == code


@settings(max_examples=150)
@given(
    line=st.one_of(
        st.text("vs0123456789[]:,.()-+|*<lit exn_f63 ", max_size=40).map(lambda rest: f"v_add_f32 {rest}"),
        st.text("sendmsg(MVC_0,1)hwrevctn&| ", max_size=40).map(lambda rest: f"s_waitcnt {rest}"),
        st.text(max_size=30),
    ),
    target=st.sampled_from(("gfx90a", "gfx1100", "gfx1250")),
)
def test_any_text(line: str, target: str) -> None:
    """Any text gives either an instruction or one of rocdbg's own errors."""
    try:
        code = isa.assemble(line, target)
    except Error:
        return
    assert isa.decode(code, target).size == len(code)


def test_deep_brackets_end() -> None:
    with pytest.raises(isa.AssemblyError):
        isa.assemble("s_mov_b32 s0, " + "(" * 100000 + "1", "gfx90a")
