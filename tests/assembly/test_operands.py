"""`info operands`: what the next instruction reads and writes, and what the one before has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg import Debugger, isa
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
