"""Common blocks of a kernel's function (A.4.2), in flang's description for Fortran, and `info common`."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rocdbg import Debugger
from rocdbg.errors import Error

pytestmark = pytest.mark.llvm

SOURCE = """
#define D __attribute__((device))
D int a[2] = {7, 8};
D float b = 2.5f;
D int c = 9;
extern "C" D __attribute__((noinline)) int called(int v) { return v + 1; }
extern "C" __attribute__((global)) void kern(int *out) { *out = called(a[1] + (int)b + c); }
"""
LAUNCH = '[launch]\nfile = "a.co"\ngrid = [64]\n[[arg]]\nbuffer = "i32[1]"\ninit = "zeros"\n'


@pytest.fixture
def debugger(tmp_path: Path) -> Debugger:
    """Stopped in `called`: a and b are in a block of `kern`, c is in the blank one."""
    (tmp_path / "a.hip").write_text(SOURCE)

    def run(*command: str) -> None:
        subprocess.run(command, cwd=tmp_path, check=True, timeout=120)

    run("clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-g",
        "-O0", "-S", "-emit-llvm", "a.hip", "-o", "a.ll")
    text = (tmp_path / "a.ll").read_text()
    (kernel,) = re.findall(r'(!\d+) = distinct !DISubprogram\(name: "kern"', text)
    for names, block in (("ab", "!900"), ("c", "!901")):
        text = re.sub(rf'(!DIGlobalVariable\(name: "[{names}]", .*?scope: )!\d+', rf"\1{block}", text)
    text += f"""
!900 = distinct !DICommonBlock(scope: {kernel}, declaration: null, name: "blk")
!901 = distinct !DICommonBlock(scope: {kernel}, declaration: null, name: "")
"""
    (tmp_path / "a.ll").write_text(text)
    run("llc-22", "-O0", "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "a.ll", "-o", "a.o")
    run("ld.lld-22", "-shared", "a.o", "-o", "a.co")
    (tmp_path / "a.toml").write_text(LAUNCH)
    debugger = Debugger(tmp_path / "a.toml")
    debugger.execute("break called")
    return debugger


def test_contents(debugger: Debugger) -> None:
    def shown(command: str) -> list[str]:
        return debugger.execute(command, to_string=True).splitlines()

    with pytest.raises(Error, match="No frame selected"):
        shown("info common")
    shown("run")
    assert shown("info common") == ["No common blocks."]
    shown("up")
    named = ["Contents of F77 COMMON block 'blk':", "a = {7, 8}", "b = 2.5"]
    assert shown("info common") == [*named, "", "Contents of F77 COMMON block '_BLNK_':", "c = 9"]
    assert shown("info common blk") == named
    assert shown("info common none") == ["No common block 'none'."]
    assert shown("print a[1] + c") == ["$1 = 17"]
