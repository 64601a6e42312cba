"""Kernels assembled without `-g`: GDB 13's output for the same code on the host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rocdbg
from rocdbg import Debugger
from tests.assembly.kernels import build

CODE = """\
	.text
	.p2align 8
helper:
	s_nop 0
	s_add_u32 s6, s6, 1
	s_setpc_b64 s[10:11]
	.globl k
	.p2align 8
k:
	s_mov_b32 s4, 2
again:
	s_call_b64 s[10:11], helper
	s_sub_u32 s4, s4, 1
	s_cmp_lg_u32 s4, 0
	s_cbranch_scc1 again
fin:
	s_endpgm
"""

# The answers of GDB to the same commands on the same functions, labels and jumps in x86 code; addresses left out.
SESSION = [
    ("info line helper", "No line number information available for address ADDR <helper>"),
    ("info line *helper+4", "No line number information available for address ADDR <helper+4>"),
    ("info line 3", 'No symbol table is loaded.  Use the "file" command.'),
    ("list 3", 'No symbol table is loaded.  Use the "file" command.'),
    ("break helper", "Breakpoint 1 at ADDR"),
    ("run", "Breakpoint 1, with lanes [0-63], ADDR in helper ()"),
    ("info line", "No line number information available."),
    ("backtrace", "#0  ADDR in helper ()\n#1  ADDR in again ()"),
    ("step", "Single stepping until exit from function helper,\nwhich has no line number information.\n"
             "ADDR in again ()"),
    ("next", "Single stepping until exit from function again,\nwhich has no line number information.\n\n"
             "Breakpoint 1, with lanes [0-63], ADDR in helper ()"),
    ("delete", ""),
    ("step", "Single stepping until exit from function helper,\nwhich has no line number information.\n"
             "ADDR in again ()"),
    ("next", "Single stepping until exit from function again,\nwhich has no line number information.\n"
             "ADDR in fin ()"),
    ("print again < fin", "$1 = 1"),
    ("info symbol helper+8", "helper + 8 in section .text"),
]


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx90a", "gfx1030"])
def test_session(target: str, tmp_path: Path) -> None:
    debugger = Debugger(build(tmp_path, CODE, "k", target, debug=False))
    for command, expected in SESSION:
        try:
            said = debugger.execute(command, to_string=True)
        except rocdbg.Error as error:
            said = str(error)
        said = re.sub(r"Starting kernel.*\n|\[Switching to.*\n", "", said).replace('Thread 1 "k" hit ', "")
        said = re.sub(r"0x[0-9a-f]+", "ADDR", said).replace("[0-31]", "[0-63]")
        assert said.strip() == expected, command
