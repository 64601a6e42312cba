"""Every address in assembly has a name, and labels are places and values, with GDB 13's messages where it has them.

The expected texts are those of GDB 13 for an x86 program with the same labels, with the GPU's instructions and
addresses.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rocdbg import Debugger
from rocdbg.codeobject import open_file
from tests.assembly.kernels import CALLS, LOOP, build, session

pytestmark = pytest.mark.llvm

CALLS_SESSION = r"""
break scale if $s[s_cnt] == 2 && $v[v_tid][$_lane] > 3 | Breakpoint 1 at .*
run | (.*\n)*Thread 1 "kern" hit Breakpoint 1, with lanes \[4-63\], scale \(\) at k.s:12\n12\t.*
bt | #0  scale \(\) at k.s:12\n#1  0x\w+ in kern \(\) at k.s:35
print $s8 | \$1 = 2
finish | Run till exit from #0 .*\nkern \(\) at k.s:36\n36\t.*
delete |
break deep | Breakpoint 2 at .*
continue | (.*\n)*Thread 1 "kern" hit Breakpoint 2, with lanes \[0-4\], deep \(\) at k.s:20\n20\t.*
tbreak scale | Temporary breakpoint 3 at .*
continue | (.*\n)*Thread 1 "kern" hit Temporary breakpoint 3, with lanes \[0-4\], scale \(\) at k.s:12\n12\t.*
bt | #0  scale \(\) at k.s:12\n#1  0x\w+ in deep \(\) at k.s:24\n#2  0x\w+ in kern \(\) at k.s:46
up 2 | #2  0x\w+ in kern \(\) at k.s:46\n46\t.*
info registers pc | pc .*<L_join>
frame 0 | #0  scale .*\n12\t.*
finish | Run till exit from #0 .*\ndeep \(\) at k.s:25\n25\t.*
lane 20 | .*Switching to thread 1, lane 20 .*\n#1  L_done \(\) at k.s:50\n50\t.*
until kern:L_done | L_done \(\) at k.s:50\n50\t.*
info line .Lloop | Line 35 of "k.s" starts at address 0x\w+ <kern\+28> and ends at 0x\w+ <kern\+32>.
print .Lloop | \$2 = {<text variable, no debug info>} 0x\w+ <kern\+28>
x/i .Lloop+12 | 0x\w+ <kern\+40>:\ts_cbranch_scc1 .Lloop <kern\+28>
x/i scale+12 | 0x\w+ <scale\+12>:\ts_cbranch_scc0 1f <scale\+24>
complete break .L | break .Lloop
"""

LOOP_SESSION = r"""
info line k | Line 6 of "k.s" starts at address .* <k> and ends at .* <k\+8>.
list k | 1\t.*\n.*\n.*\n.*\n5\tk:\n6\t\ts_load.*\n(.*\n)*10\tL_loop:
break L_done | Breakpoint 1 at 0x\w+: file k.s, line 16.
break k | Breakpoint 2 at 0x\w+: file k.s, line 6.
run | (.*\n)*Thread 1 "k" hit Breakpoint 2, with lanes \[0-63\], k \(\) at k.s:6\n6\t.*
nexti 2 | 8\t\ts_mov_b32 s4, 3
bt | #0  k \(\) at k.s:8
x/i $pc | => 0x\w+ <k\+12>:\ts_mov_b32 s4, 3
nexti 2 | L_loop \(\) at k.s:11\n11\t.*
info symbol L_loop | L_loop in section .text
info symbol $pc+4 | L_loop \+ 4 in section .text
x/4i $pc | => 0x\w+ <L_loop>:.*\n(.*\n){2}   0x\w+ <L_loop\+12>:\ts_cbranch_scc1 L_loop <k\+20>
disassemble | Dump of assembler code for function L_loop:\n=> \w+ <\+0>:.*\n(.*\n){2}.*s_cbranch.*\nEnd of .* dump.
disassemble k | Dump of assembler code for function k:\n   \w+ <\+0>:.*\n(.*\n){2}.*<\+16>:.*\nEnd of assembler dump.
print L_done | \$1 = {<text variable, no debug info>} 0x\w+ <L_done>
print &L_done | \$2 = \(<text variable, no debug info> \*\) 0x\w+ <L_done>
print *L_done | \$3 = {<text variable, no debug info>} 0x\w+ <L_done>
print k | \$4 = {<text variable, no debug info>} 0x\w+ <k>
print L_done+4 | \$5 = \(<text variable, no debug info> \*\) 0x\w+ <L_done\+4>
print L_done - k | \$6 = 36
print sizeof(L_done) | \$7 = 1
whatis L_done | type = <text variable, no debug info>
ptype L_done | type = <unknown return type> \(\)
info line L_loop | Line 11 of "k.s" starts at address 0x\w+ <L_loop> and ends at 0x\w+ <L_loop\+4>.
list L_loop | 6\t(.*\n)*10\tL_loop:\n(.*\n)*15\tL_done:
info address L_loop | Symbol "L_loop" is at 0x\w+ in a file compiled without debugging.
info scope L_loop | Scope for L_loop:\nSymbol k is a label at .*, length 8.\n(.*\n)*Symbol L_done is a label at .*
break *L_loop+4 | Breakpoint 3 at 0x\w+: file k.s, line 12.
until L_done | (.*\n)*Thread 1 "k" hit Breakpoint 3, .*, L_loop \(\) at k.s:12\n12\t.*
delete 3 |
advance L_done | (.*\n)*.*L_done \(\) at k.s:16\n16\t.*
stepi | 17\t\ts_endpgm
complete break L_ | break L_done\nbreak L_loop
"""


def test_a_kernel_without_type_and_size(tmp_path: Path) -> None:
    debugger = Debugger(build(tmp_path, LOOP, "k"))
    for row in LOOP_SESSION.strip().replace("\n\n", "\n").split("\n"):
        command, _, expected = row.partition(" | ")
        said = debugger.execute(command.removesuffix(" |"), to_string=True)
        assert re.fullmatch(expected.strip(), said.strip()), (command, said)


def test_labels_in_a_function_with_a_size(tmp_path: Path) -> None:
    """As in GDB, the function names all of its addresses; labels precede blocks and name branch targets."""
    text = LOOP.replace("k:\n", ".type k,@function\nk:\n") + ".Lend:\n\t.size k, .Lend-k\n"
    said = session(build(tmp_path, text, "k"), """
        break L_done
        run
        bt
        print L_done
        info symbol L_loop
        disassemble L_loop
        disassemble /s L_loop
    """.replace("        ", ""))
    assert "k () at k.s:17" in said["bt"]
    assert re.search(r"0x\w+ <k\+36>", said["print L_done"])
    assert said["info symbol L_loop"].startswith("k + 20 in section .text")
    shape = [line.rpartition(">:")[0][-3:] or line for line in said["disassemble L_loop"].splitlines()[1:-1]]
    assert shape == ["<+0", "<+8", "+12", "+16", "L_loop:", "+20", "+24", "+28", "+32", "L_done:", "+36", "+44"]
    assert "s_cbranch_scc1 L_loop <k+20>" in said["disassemble L_loop"]
    assert "11\tL_loop:\n12\t\tv_add_u32 v0, 1, v0\n   0x" in said["disassemble /s L_loop"]


def test_names_of_registers_are_numbers(tmp_path: Path) -> None:
    said = session(build(tmp_path, CALLS, "kern"), """
        break L_done
        run
        print v_acc
        print big
        print neg - N_ITER
        whatis big
        info address v_acc
        print $v[v_tid][7]
        print $v[v_acc+1][2]
        x/2wx $s[s_ptr:s_ptr+1]
        display/f $v[v_acc+1]
        complete print v_
    """.replace("        ", ""))
    assert said["print v_acc"] == "$1 = 4\n"
    assert said["print big"] == "$2 = 78187493530\n"
    assert said["print neg - N_ITER"] == "$3 = -8\n"
    assert said["whatis big"] == "type = long\n"
    assert said["info address v_acc"] == 'Symbol "v_acc" is constant.\n'
    assert said["print $v[v_tid][7]"] == "$4 = 7\n"
    assert re.match(r"0x\w+:\t0x\w+\t0x\w+\n", said["x/2wx $s[s_ptr:s_ptr+1]"])
    assert "= {1 <repeats 64 times>}" in said["display/f $v[v_acc+1]"]
    assert said["complete print v_"] == "print v_acc\nprint v_tid\n"


def test_functions_that_return_through_other_registers(tmp_path: Path) -> None:
    """Kernels and functions are the code to which descriptors and calls lead; frames follow the registers that they
    use.
    """
    debugger = Debugger(build(tmp_path, CALLS, "kern"))
    for row in CALLS_SESSION.strip().split("\n"):
        command, _, expected = row.partition(" | ")
        said = debugger.execute(command.removesuffix(" |"), to_string=True)
        assert re.fullmatch(expected.strip(), said.strip()), (command, said)


def test_objects_without_symbols(tmp_path: Path) -> None:
    """Only the descriptor has a symbol, which names the kernel's code."""
    launch = build(tmp_path, LOOP, "k", "gfx90a", debug=False)
    command = ["llvm-objcopy-22", "-N", "k", "-N", "L_loop", "-N", "L_done", "k.co"]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert {symbol.name for symbol in open_file(tmp_path / "k.co").symbols} == {"", "k.kd", "_DYNAMIC"}
    debugger = Debugger(launch)
    debugger.execute("starti")
    debugger.execute("stepi 3")
    assert re.fullmatch(r"#0  0x\w+ in k \(\)\n", debugger.execute("bt", to_string=True))
    assert "<k+16>" in debugger.execute("x/i $pc", to_string=True)
    assert debugger.execute("disassemble", to_string=True).count("\n") == 12
