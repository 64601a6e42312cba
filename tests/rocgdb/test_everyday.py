"""The expectations of ROCgdb's tests of lanes, addresses and call stacks, command by command.

Each row is a command and a regular expression for its output, as in those tests; an empty one means no output.
"""

from __future__ import annotations

import io
import re

import pytest

from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from tests.rocgdb.conftest import Everyday

pytestmark = pytest.mark.llvm
HEX = "0x[0-9a-f]+"

LANES = [
    ("set lane-pc-synthesis off", ""),  # as the real one, which asks debug information only
    ("break bar", r"Breakpoint 1 at 0x"),
    ("run", r"hit Breakpoint 1, with lanes \[1 3 5 7 .* 63\], bar \(\) at everyday.hip:11"),
    ("info lanes -1", r"^Unrecognized option at: -1"),
    ("info lanes 64", r"^No lanes match '64'\."),
    ("lane -1", r"^Lane -1 does not exist on this thread\."),
    ("lane 64", r"^Lane 64 does not exist on this thread\."),
    ("lane apply -1 print 1", r"^negative value"),
    ("lane apply 64 print 1", r"^warning: Lane 64 does not exist on this thread\.$"),
    ("thread apply all -ascending print $_lane_count", r"^\nThread 1 .*\n\$1 = 64\n\nThread 2 .*\n\$2 = 5$"),
    ("thread apply all print $_lane_count", r"^\nThread 2 .*\n\$3 = 5\n\nThread 1 .*\n\$4 = 64$"),
    ("info lanes 0-2", r"0 +I +AMDGPU Lane 1:1:1:1/0 .*\[0,0,0\] \(inactive\)\n\* 1 +A .* bar \(\) at .*\n +2 +I "),
    ("lane 0", r"Switching to thread 1, lane 0 .*\]\nwarning: Current lane is inactive\.\n#0  bar"),
    ("lane apply 1 -inactive print 1", ""),
    ("lane apply 0 -active print 1", ""),
    ("lane apply 1 -active print $_lane", r"^\nLane 1 \(.*\):\n\$5 = 1$"),
    ("lane apply 2 0 print $_lane", r"^\nLane 2 \(.*\):\n\$6 = 2\n\nLane 0 \(.*\):\n\$7 = 0$"),
    ("delete", ""),
    ("break bar thread 2", r"Breakpoint 2 at"),
    ("continue", r"\[Switching to thread 2, lane 1 .*\n\nThread 2 .* with lanes \[1 3\], bar"),
    ("info lanes", r"(?s)0 +I +AMDGPU Lane 1:1:1:2/0 \(0,0,0\)\[64,0,0\] +\(inactive\)\n"),
    ("info lanes", r"4 +I +AMDGPU Lane 1:1:1:2/4 \(0,0,0\)\[68,0,0\] +\(inactive\)$"),
    ("info lanes -active", r"(?s)^  Id .*\n\* 1 +A .*\n  3 +A [^\n]*$"),
    ("info lanes -all", r"(?s)  63 +U +AMDGPU Lane 1:1:1:2/63 .* \(unused\)$"),
    ("info lanes 5", r"^No lanes match '5'\."),
    ("lane apply 4-5 -all -q print $_lane", r"^\$8 = 4\n\$9 = 5$"),
    ("lane 5", r"Switching to thread 2, lane 5 .*\nwarning: Current lane is unused"),
    ("thread find Lane.*\\[68,0,0\\]", r"^Thread 2, lane 4 has target id 'AMDGPU Lane 1:1:1:2/4 \(0,0,0\)\[68,0,0\]'$"),
    ("info waves", r"^1 waves \(0 running, 0 single-stepping, 1 stopped\)$"),
    ("info waves count 1", r"^1$"),
    ("info waves 99", r"^No inferior number 99\."),
    ("info dispatches 1", r"(?s)Target Id +Grid +Workgroup Fence +Kernel Function\n\* 1 +AMDGPU Dispatch 1:1:1"),
]

ADDRESSES = [
    ("break everyday.hip:28", ""),
    ("run", r"with lanes \[0-63\], kern"),
    ("lane 11", "Switching to .* lane 11 "),
    ("print private_lane#0x0", r"^\$1 = \(void \*\) private_lane#0x0$"),
    ("print/d private_lane#0x0", r" = private_lane#0$"),
    ("print/o private_lane#0x8", r" = private_lane#010$"),
    ("print private_lane#0xffffffff", r" = \(void \*\) private_lane#0xffffffff$"),
    ("set var $addr = 0xffffffff", ""),
    ("print private_lane#$addr", r" = \(void \*\) private_lane#0xffffffff$"),
    ("print gibberish#0x123", r"^Address space gibberish not recognised by the architecture$"),
    ("set var $temp = $s32", ""),
    ("set var $s32 = 0x42", ""),
    ("print/x private_lane#$s32", r" = private_lane#0x42$"),
    ("set var $s32 = $temp", ""),
    # An address that is written stays that address, as in ROCgdb, which knows no null addresses: only pointers of the
    # program are null ones, and become those of other spaces.
    ("print (unsigned int *) private_lane#$addr", r" = \(unsigned int \*\) private_lane#0xffffffff$"),
    ("print *(unsigned int *) private_lane#0x0 = 3", " = 3$"),
    ("print *(unsigned int *) (private_lane#$addr + 1)", " = 3$"),
    ("set var $long_long = (unsigned long long) private_lane#0x0", ""),
    ("set var $generic_ptr = (unsigned int *) $long_long", ""),
    ("set var *$generic_ptr = 2", ""),
    ("print *(unsigned int *) private_lane#0x0", " = 2$"),
    ("x/1wx private_lane#0x0", r"^private_lane#0x0:[ \t]+0x00000002$"),
    ("print &local", rf" = \(volatile int \*\) private_lane#{HEX}$"),
    ("print gen_local_addr", rf" = \(volatile int \*\) generic#{HEX}$"),
    ("x/wd gen_local_addr", rf"^generic#{HEX}:\t11$"),
    ("set {int} gen_local_addr = 1337", ""),
    ("print local", " = 1337$"),
    ("print/x arr", r" = \{0x11, 0x22, 0x33, 0x44, 0x55\}$"),
    ("print/x {uint32_t}(arr + 1)", " = 0x55443322$"),
    ("set {uint32_t} gen_arr1_addr = 0x87654321", ""),
    ("print/x {uint32_t}(arr + 1)", " = 0x87654321$"),
    ("print global_ptr", rf" = \(size_t \*\) generic#{HEX}$"),
    ("print *global_ptr", " = 11$"),
    ("print global_ptr2 = &local_var", rf" = \(size_t \*\) generic#{HEX}$"),
    ("print global_ptr == global_ptr2", " = true$"),
    ("print $conv_var = &local_var", rf" = \(size_t \*\) private_lane#{HEX}$"),
    ("lane 12", "lane 12"),
    ("print *global_ptr2", " = 12$"),
    ("print *$conv_var", " = 12$"),
    ("delete", ""),
    ("break base_case", ""),
    ("continue", "hit Breakpoint 2"),
    ("backtrace", r"#0  base_case .*\n#1  0x.* in deep<0u> .*\n#2  0x.* in deep<1u> .*\n#3 .*\n#4  .* deep<3u>"),
]


@pytest.mark.parametrize("rows", [LANES, ADDRESSES], ids=["lanes", "addresses"])
def test_commands(everyday: Everyday, rows: list[tuple[str, str]]) -> None:
    text = io.StringIO()
    shell = Shell(everyday(), Writer(text), Writer(text))
    for command, expected in rows:
        text.seek(0)
        text.truncate()
        run_statement(shell, command, lambda prompt: "end")
        shown = text.getvalue().rstrip("\n")
        if expected:
            assert re.search(expected, shown), (command, shown)
        elif not command.startswith("break"):
            assert shown == "", (command, shown)
