"""Kernels without metadata: the launch file gives the kernarg segment."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rocdbg import Debugger
from rocdbg.errors import Error
from rocdbg.launch.launch_file import parse_launch
from rocdbg.launch.raw_kernarg import RawKernarg
from rocdbg.launch.spec import ArgumentSpec

TEXT = """
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_dwordx4 s[0:3], s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_u32_e32 v0, s2, v0
  v_mul_lo_u32 v0, v0, s3
  global_store_dword v1, v0, s[0:1]
  s_endpgm
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 4
  .amdhsa_kernarg_size 24
  {more}
.end_amdhsa_kernel
"""
LAUNCH = """
[launch]
file = "k.co"
kernel = "k"
grid = [64, 1, 1]
kernarg = "{kernarg}"
[[arg]]
name = "out"
buffer = "u32[64]"
offset = 8
expect = {expect}
{argument}
"""
EXPECT = [(lane + 5) * 3 for lane in range(64)]


@pytest.mark.llvm
@pytest.mark.parametrize("processor", ["gfx90a", "gfx900"])
@pytest.mark.parametrize(
    ("kernarg", "argument"),
    [
        ("00" * 16 + "05000000 03000000", ""),
        ("", '[[arg]]\\nvalue = 5\\ntype = "u32"\\noffset = 16\\n[[arg]]\\nvalue = 3\\ntype = "u32"\\noffset = 20'),
        ("ff" * 24, '[[arg]]\\nvalue = [5, 3]\\ntype = "u32[2]"\\noffset = 16'),
    ],
)
def test_run(processor: str, kernarg: str, argument: str, tmp_path: Path) -> None:
    more = ".amdhsa_accum_offset 4" if processor == "gfx90a" else ""
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={processor}", "-filetype=obj", "-o", "k.co"]
    subprocess.run(command, input=TEXT.format(more=more), text=True, check=True, cwd=tmp_path)
    launch = tmp_path / "k.toml"
    launch.write_text(LAUNCH.format(kernarg=kernarg, argument=argument.replace("\\n", "\n"), expect=EXPECT))
    debugger = Debugger(launch)
    assert "exited normally" in debugger.execute("run", to_string=True)
    debugger.execute("start")
    debugger.execute("stepi 3")
    debugger.execute(f"record save {tmp_path}/run")
    restored = Debugger()
    restored.execute(f"record restore {tmp_path}/run")
    restored.execute("stepi 3")
    assert restored.execute("output $s2 * 10 + $s3", to_string=True) == "53"
    assert "metadata" in debugger.execute("info metadata", to_string=True)


@pytest.mark.parametrize(
    ("launch", "argument", "reason"),
    [
        ('kernarg = "0g"', "", "is not a string of hexadecimal bytes"),
        ("kernarg = 5", "", "5 is not a string of hexadecimal bytes"),
        ("", "[[arg]]\nvalue = 1\noffset = -1", "expected a number of bytes, found -1"),
        ("", '[[arg]]\nvalue = 1\noffset = "x"', "expected a number of bytes"),
    ],
)
def test_bad_files(launch: str, argument: str, reason: str) -> None:
    text = f'[launch]\nfile = "k.co"\ngrid = 1\n{launch}\n{argument}\n'
    with pytest.raises(Error, match=reason):
        parse_launch(text, Path("k.toml"))


@pytest.mark.parametrize(
    ("data", "argument", "reason"),
    [
        (b"", ArgumentSpec("arg 0", value=1, type="u32"), "arg 0: give an `offset`, because `kernarg` is given"),
        (None, ArgumentSpec("arg 0", value=1, offset=8), "arg 0: `offset` can be given only with `kernarg`"),
        (b"", ArgumentSpec("arg 0", value=1, offset=8), "arg 0: the size of the value is not known; add a `type`"),
    ],
)
def test_arguments_that_do_not_fit(data: bytes | None, argument: ArgumentSpec, reason: str) -> None:
    with pytest.raises(Error, match=re.escape(reason)):
        RawKernarg.of(data, [argument])


def test_segments() -> None:
    assert RawKernarg(b"abcd", (1, 6)).segment([b"xy", b"z"]) == b"axyd\0\0z"
    with pytest.raises(Error, match="the kernarg segment would have 1099511627777 bytes; the limit"):
        RawKernarg(b"", (1 << 40,)).segment([b"z"])
