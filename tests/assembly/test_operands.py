"""`info operands`: what the next instruction reads and writes, and what the previous one has changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocdbg import Debugger, isa
from rocdbg.cli.screen.screen import Screen
from rocdbg.debugger.reports.operand_values import operands_of
from tests.assembly.kernels import CALLS, build

# Instructions of gfx90a by their bytes, and their registers: r read, w written.
OPERANDS = [
    ("s_add_u32 s4, s5, 3", "s4 w, s5 r, scc w"),
    ("s_addc_u32 s4, s4, 0", "s4 rw, scc rw"),
    ("s_cmp_eq_u32 s4, 1", "s4 r, scc w"),
    ("s_cbranch_scc1 0", "scc r"),
    ("s_cbranch_vccz 0", "vcc r"),
    ("s_load_dwordx4 s[8:11], s[0:1], 0x10", "s[8:11] w, s[0:1] r"),
    ("s_and_saveexec_b64 s[4:5], vcc", "s[4:5] w, vcc r, exec rw, scc w"),
    ("s_waitcnt vmcnt(0)", ""),
    ("s_mov_b32 m0, s4", "m0 w, s4 r"),
    ("v_add_f32 v0, v1, v2", "v0 w, v1 r, v2 r, exec r"),
    ("v_fmac_f32 v0, v1, v2", "v0 rw, v1 r, v2 r, exec r"),
    ("v_cmp_lt_f32 vcc, v0, v1", "vcc w, v0 r, v1 r, exec r"),
    ("v_readlane_b32 s4, v0, s5", "s4 w, v0 r, s5 r"),
    ("global_load_dword v0, v1, s[2:3]", "v0 w, v1 r, s[2:3] r, exec r"),
    ("global_store_dwordx2 v1, v[2:3], s[2:3]", "v1 r, v[2:3] r, s[2:3] r, exec r"),
    ("buffer_load_dword v0, v1, s[4:7], 0 offen", "v0 w, v1 r, s[4:7] r, exec r"),
    ("ds_write_b32 v0, v1", "v0 r, v1 r, exec r"),
    ("ds_read_b64 v[2:3], v0", "v[2:3] w, v0 r, exec r"),
    ("v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]", "a[0:3] rw, v0 r, v1 r"),
]


@pytest.mark.parametrize(("text", "expected"), OPERANDS, ids=[row[0] for row in OPERANDS])
def test_registers_of_instructions(text: str, expected: str) -> None:
    instruction = isa.decode(isa.assemble(text, "gfx90a"), "gfx90a")
    found = [
        f"{row.name} {'r' if row.reads else ''}{'w' if row.writes else ''}"
        for row in operands_of(instruction, 64, "gfx90a")
    ]
    assert ", ".join(found) == expected


@pytest.mark.llvm
def test_session(tmp_path: Path) -> None:
    debugger = Debugger(build(tmp_path, CALLS, "kern"))

    def says(line: str) -> list[str]:
        return debugger.execute(line, to_string=True).splitlines()

    says("break .Lloop")
    says("run")
    says("lane 5")
    assert says("info operands") == ["next         s_call_b64 s[10:11], scale", "writes       s[10:11]   0x0"]
    says("set operands on")
    at_scale = says("stepi")
    assert at_scale[2].startswith("changed      s[10:11]   0x0 -> 0x")
    assert at_scale[3:] == [
        "next         v_mul_lo_u32 v4, v4, 2", "reads+writes v4         0x5 (5)",
        "reads        exec       0xffffffffffffffff",
    ]
    assert says("stepi")[1:] == [
        "changed      v4         0x5 (5) -> 0xa (10)", "next         s_cmp_eq_u32 s8, 2",
        "reads        s8         0x3 (3)", "writes       scc        0x0 (0)",
    ]
    kernarg = says("output/x $s[0:1]")[0]
    assert says("info kernel-registers")[0].split() == ["kernarg", "segment", "ptr", "s[0:1]", kernarg]
    says("kill")
    with pytest.raises(Exception, match="has no registers now"):
        debugger.execute("info operands")


@pytest.mark.llvm
def test_all_lanes(tmp_path: Path) -> None:
    debugger = Debugger(build(tmp_path, CALLS, "kern"))
    debugger.execute("break scale")
    debugger.execute("run")
    said = debugger.execute("info operands -all", to_string=True)
    assert "[56] 0x38 0x39" in said and "reads+writes" in said


# A kernel that requests more than its arguments.
GIVEN = """
	.text
	.globl k
k:
	s_mov_b32 s20, 7
	v_mov_b32 v3, 1.0
	s_mov_b64 exec, 1
	v_mov_b32 v3, 2.0
	s_endpgm
	.rodata
	.p2align 6
	.amdhsa_kernel k
	.amdhsa_user_sgpr_dispatch_ptr 1
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.amdhsa_system_sgpr_workgroup_id_y 1
	.amdhsa_system_vgpr_workitem_id 1
	.amdhsa_next_free_vgpr 16
	.amdhsa_next_free_sgpr 40
	{more}
	.end_amdhsa_kernel
"""
GIVEN_BY_TARGET = [
    ("gfx803", ["dispatch ptr s[0:1]", "kernarg segment ptr s[2:3]"], ["workgroup id x s4", "workgroup id y s5"],
     ["work-item id x v0", "work-item id y v1"]),
    ("gfx90a", ["dispatch ptr s[0:1]", "kernarg segment ptr s[2:3]"], ["workgroup id x s4", "workgroup id y s5"],
     ["work-item ids v0"]),
    ("gfx1201", ["dispatch ptr s[0:1]", "kernarg segment ptr s[2:3]"],
     ["workgroup id x ttmp9", "workgroup ids y and z ttmp7"], ["work-item ids v0"]),
]


def _raw(folder: Path, target: str) -> Debugger:
    more = ".amdhsa_accum_offset 16" if target == "gfx90a" else ""
    (folder / "g.s").write_text(GIVEN.format(more=more))
    command = ["clang-22", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-g", "g.s", "-o", "g.co"]
    subprocess.run(command, check=True, cwd=folder)
    (folder / "g.toml").write_text('[launch]\nfile = "g.co"\nkernel = "k"\ngrid = 64\nworkgroup = 64\n')
    debugger = Debugger(folder / "g.toml")
    debugger.execute("break k")
    debugger.execute("run")
    return debugger


@pytest.mark.llvm
@pytest.mark.parametrize(("target", "user", "system", "items"), GIVEN_BY_TARGET)
def test_registers_by_meaning(
    target: str, user: list[str], system: list[str], items: list[str], tmp_path: Path
) -> None:
    debugger = _raw(tmp_path, target)

    def says(line: str) -> list[str]:
        return debugger.execute(line, to_string=True).splitlines()

    for group, expected in (("user-sgprs", user), ("system-sgprs", system), ("work-item-ids", items)):
        found = [line for line in says(f"info registers {group}") if line[:1] != " "]
        assert all(text in " ".join(line.split()) for line, text in zip(found, expected, strict=True)), found
    assert says("info registers") == says("info registers all")
    grouped = says("info registers -grouped")
    assert [line for line in grouped if line.endswith(":")] == [
        "User SGPRs:", "Workgroup registers:", "Work-item registers:", "Scalar registers:", "Vector registers:",
        "System registers:",
    ]
    dispatch = says("output/x $s[0:1]")[0]
    assert " ".join(grouped[1].split()).startswith(f"dispatch ptr s[0:1] {dispatch}")
    assert not any(line.startswith(("s0 ", "s3 ", "v0 ")) for line in grouped)
    scalar = [line.split()[0] for line in grouped if line[0] == "s" and line[1].isdecimal()]
    assert scalar[-1] == {"gfx803": "s47", "gfx90a": "s47"}.get(target, "s105")  # all that instructions can name


@pytest.mark.llvm
def test_changes_between_stops(tmp_path: Path) -> None:
    debugger = _raw(tmp_path, "gfx1030")

    def says(line: str) -> list[str]:
        return debugger.execute(line, to_string=True).splitlines()

    with pytest.raises(Exception, match="Changes of registers are not recorded"):
        debugger.execute("info registers changed")
    plain = says("info registers s20")
    says("set register-changes on")
    assert says("info registers s20") == plain
    says("stepi")
    assert says("info registers changed") == ["s20 *          0x7                 7"]
    assert says("info registers s[20:21]")[0].startswith("s[20:21] *     0x7 ")
    says("set print asm-operands on")
    says("lane 2")
    assert says("x/2i $pc")[0].endswith("v_mov_b32_e32 v3, 1.0\t; exec=0xffffffff -> v3=0x0")
    says("stepi 2")
    assert [line.split()[:2] for line in says("info registers changed")] == [["exec", "*"], ["v3", "*"]]
    says("stepi")
    assert says("info registers changed")[0].startswith("v3 ~")
    says("lane 0")
    assert says("info registers changed")[0].startswith("v3 *")
    assert says("disassemble")[5].startswith("=> ") and "\t; " not in says("disassemble")[4]


@pytest.mark.llvm
def test_operands_in_the_disassembly_window(tmp_path: Path) -> None:
    debugger = _raw(tmp_path, "gfx1030")
    debugger.execute("set print asm-operands on")
    debugger.execute("stepi")
    screen = Screen(debugger.shell)
    lines = ["".join(text for _, text in line) for line in screen.panes["asm"].lines(screen.view, 100, 8)]
    [here] = [line for line in lines if line[2:3] == ">"]
    assert here.rstrip().endswith("v_mov_b32_e32 v3, 1.0  ; exec=0xffffffff -> v3=0x0")
    assert sum("; " in line for line in lines) == 1
