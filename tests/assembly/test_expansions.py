"""Lines in macros and repeated blocks: the line table assigns their code to the lines that expand them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg import Debugger
from tests.assembly.kernels import build

# Numbers of lines count from the target directive in front, which is line 1.
MACROS = """\
	.macro inner r
	v_add_u32 \\r, 1, \\r
	.endm
	.macro outer r, n
	v_mov_b32 \\r, \\n
	inner \\r
	.rept 2
	v_add_u32 \\r, 2, \\r
	.endr
	.endm
	.macro unused
	s_nop 1
	.endm
	.text
	.p2align 8
	.globl k
k:
	s_mov_b32 s4, 3
	.irp x, 1, 2, 3
	v_mov_b32 v\\x, 0
	inner v\\x
	.endr
	outer v4, 5
	s_nop 0
L_one: outer v5, 6
	inner v6
	.rept 2
	.rept 2
	s_nop 2
	.endr
	.endr
	s_endpgm
"""
PLACES = [
    ("3", [20, 24, 26, 27]),  # through the repeated block, a macro, and by itself
    ("6", [24, 26]),
    ("9", [24, 26]),
    ("13", [19]),  # nothing invokes it: the next line with code, as GDB
    ("19", [19]),
    ("21", [20]),
    ("22", [20]),
    ("30", [28]),
    ("25", [25]),
]


@pytest.mark.llvm
def test_lines_inside(tmp_path: Path) -> None:
    debugger = Debugger(build(tmp_path, MACROS, "k"))
    for line, expected in PLACES:
        debugger.execute(f"tbreak k.s:{line}")
        table = debugger.execute("info breakpoints", to_string=True)
        found = [int(row.rpartition("k.s:")[2]) for row in table.splitlines() if " y " in row and "MULTIPLE" not in row]
        assert found == expected, line
        debugger.execute("delete")
    assert debugger.execute("info line k.s:30", to_string=True).startswith('Line 28 of "k.s" starts at address')
    debugger.execute("break 9")
    debugger.execute("run")
    for line, value in ((24, 0), (26, 10)):
        shown = debugger.execute("frame", to_string=True).splitlines()
        assert shown[1].split()[:1] == [str(line)]
        assert debugger.execute("output $v4[3]", to_string=True) == str(value)
        debugger.execute("continue")


@pytest.mark.llvm
def test_macros_of_another_name(tmp_path: Path) -> None:
    """A macro that invokes itself under a condition, and a block that the file does not end."""
    text = MACROS.replace("s_nop 1", ".if 0\n\tunused\n\t.endif")
    debugger = Debugger(build(tmp_path, text, "k"))
    debugger.execute("tbreak k.s:14")
    assert "k.s:21" in debugger.execute("info breakpoints", to_string=True)


LABELS = """\
	.macro wait n
.Lwait\\@:
	s_sub_u32 \\n, \\n, 1
	s_cmp_lg_u32 \\n, 0
	s_cbranch_scc1 .Lwait\\@
tail\\@:
	s_nop 0
	.endm
	.text
	.globl k
	.p2align 8
k:
	s_mov_b32 s8, 2
	wait s8
	s_mov_b32 s8, 3
	wait s8
.Lback:
	s_sub_u32 s8, s8, 1
1:	s_cmp_gt_i32 s8, -4
	s_cbranch_scc1 .Lback
	s_cbranch_vccnz 1b
	s_endpgm
"""


@pytest.mark.llvm
def test_labels_beside_those_of_macros(tmp_path: Path) -> None:
    """The debug information places the labels of macros at the lines that invoke the macros."""
    debugger = Debugger(build(tmp_path, LABELS, "k"))
    debugger.execute("break .Lback")
    debugger.execute("break tail1")
    table = debugger.execute("info breakpoints", to_string=True)
    assert [row.rpartition("k.s:")[2] for row in table.splitlines()[1:]] == ["19", "17"]
    code = debugger.execute("x/14i k", to_string=True)
    assert "s_cbranch_scc1 .Lback <" in code and "s_cbranch_vccnz 1b <" in code
