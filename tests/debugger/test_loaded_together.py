"""Other work of launchers besides the kernel: constructors, code objects for each other, stacks, the kernarg segment.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import rocdbg
from rocdbg.api import launch_file
from rocdbg.codeobject import UnresolvedSymbolError
from rocdbg.sim.device.machine import MachineOptions

GLOBALS = """int order[8]; int n;
struct S { int a; S(int x); };
volatile int seed = 13;
S::S(int x) : a(x) { order[n++] = x; }
S s(seed), t(seed + 1);
__attribute__((destructor)) static void bye() { order[n++] = -1; }
extern "C" [[clang::amdgpu_kernel]] void k(int *o) { o[0] = s.a; o[1] = t.a; order[n++] = 100; }
"""
RECURSION = """__attribute__((noinline)) int down(volatile int n) {
  volatile int a[64]; a[n & 63] = n;
  return n == 0 ? a[0] : down(n - 1) + a[n & 63];
}
extern "C" [[clang::amdgpu_kernel]] void k(int *o, int n) { *o = down(n); }
"""
USER = """extern int shared_table[4];
int twice(int);
extern "C" [[clang::amdgpu_kernel]] void k(int *o) {
  int i = __builtin_amdgcn_workitem_id_x();
  o[i] = twice(i) + shared_table[i];
}
"""
DEFINER = """int shared_table[4] = {100, 200, 300, 400};
int twice(int x) { return 2 * x; }
"""
HELLO = """.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
.text
.globl hello_world
.p2align 8
.type hello_world,@function
hello_world:
  s_load_dwordx2 s[0:1], s[0:1], 0x0
  v_mov_b32 v0, 3.14159
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s0
  v_mov_b32 v2, s1
  flat_store_dword v[1:2], v0
  s_endpgm
.Lfunc_end0:
  .size hello_world, .Lfunc_end0-hello_world
.rodata
.p2align 6
.amdhsa_kernel hello_world
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr .amdgcn.next_free_vgpr
  .amdhsa_next_free_sgpr .amdgcn.next_free_sgpr
.end_amdhsa_kernel
"""


def cxx(folder: Path, name: str, text: str, processor: str = "gfx90a", *options: str) -> Path:
    source, made = folder / f"{name}.cpp", folder / f"{name}.co"
    source.write_text(text)
    command = ["clang-22", "-x", "c++", "--target=amdgcn-amd-amdhsa", f"-mcpu={processor}", "-nogpulib", "-g"]
    subprocess.run([*command, *(options or ("-O1",)), str(source), "-o", str(made)], check=True)
    return made


def session(path: Path, *commands: str) -> tuple[rocdbg.Debugger, str]:
    debugger = rocdbg.Debugger(str(path))
    return debugger, "".join(debugger.execute(command, to_string=True) or "" for command in commands)


@pytest.mark.llvm
@pytest.mark.parametrize("processor", ["gfx90a", "gfx1100"])
def test_constructors_and_destructors(processor: str, tmp_path: Path) -> None:
    """Each function runs once and in order, before the kernel or at the program's end; also in a repeated run."""
    path, saved = cxx(tmp_path, "globals", GLOBALS, processor), tmp_path / "run.rec"
    setup = "info kernels", "set grid 1", "set arg 0 i32[2]", "break k", "run", "print s", "print t"
    debugger, text = session(path, *setup)
    assert "amdgcn.device.init (init)" in text and "amdgcn.device.fini (fini)" in text
    assert "$1 = {a = 13}\n$2 = {a = 14}\n" in text
    for _ in range(2):
        ended = "".join(debugger.execute(line, to_string=True) for line in ("continue", "print order"))
        assert "{13, 14, 100, -1, 0, 0, 0, 0}" in ended
        debugger.execute(f"record save {saved}", to_string=True)
        debugger.execute("run", to_string=True)
        assert "{13, 14, 0, 0, 0, 0, 0, 0}" in debugger.execute("print order", to_string=True)
    again, _ = session(path, f"record restore {saved}")
    assert "{13, 14, 0, 0, 0, 0, 0, 0}" in again.execute("print order", to_string=True)
    again.execute("record goto end", to_string=True)
    assert "{13, 14, 100, " in again.execute("print order", to_string=True)


@pytest.mark.llvm
def test_in_python(tmp_path: Path) -> None:
    out = np.zeros(2, np.int32)
    with rocdbg.load(cxx(tmp_path, "globals", GLOBALS)) as program:
        kernel = program.kernels.only()
        for count in (1, 2):
            kernel.launch(1, 1, [out]).run()
            order = np.frombuffer(program.read(program.symbol("order"), 32), np.int32)
            assert order.tolist() == [13, 14, *[100] * count, *[0] * (6 - count)]
        assert out.tolist() == [13, 14]
    assert program.machine.loaded == []


@pytest.mark.llvm
def test_uniform_work_groups(tmp_path: Path) -> None:
    source, path = tmp_path / "u.cl", tmp_path / "u.co"
    source.write_text("__kernel void u(__global int *o) { o[get_local_id(0)] = 1; }".replace(
        "get_local_id(0)", "__builtin_amdgcn_workitem_id_x()"))
    command = ["clang-22", "-x", "cl", "-cl-std=CL1.2", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx906", "-nogpulib"]
    subprocess.run([*command, str(source), "-o", str(path)], check=True)
    kernel = rocdbg.load(path).kernels["u"]
    with pytest.raises(rocdbg.Error, match=r"uniform work-groups; \[100, 1, 1\] is not a multiple of \[64, 1, 1\]"):
        kernel.launch(100, 64, [np.zeros(64, np.int32)])
    kernel.launch(128, 64, [np.zeros(64, np.int32)]).run()


@pytest.mark.llvm
def test_stack_size(tmp_path: Path) -> None:
    path, out = cxx(tmp_path, "recursion", RECURSION, "gfx90a", "-O0"), np.zeros(1, np.int32)
    setup = "set grid 1", "set arg 0 i32[1]", "set arg 1 200", "run"
    debugger, text = session(path, *setup)
    assert 'bytes of scratch ("set stack-size" gives it more), by ' in text
    debugger.execute("set stack-size 90000", to_string=True)
    assert debugger.execute("show stack-size", to_string=True).split()[3] == "90000"
    assert "exited normally" in debugger.execute("run", to_string=True)
    launch = tmp_path / "recursion.toml"
    launch.write_text(
        '[launch]\nfile = "recursion.co"\ngrid = 1\nstack_size = 90000\n[[arg]]\nbuffer = "i32[1]"\n'
        'expect = [20100]\n[[arg]]\nvalue = 200\n'
    )
    dispatch = launch_file(launch)
    dispatch.run()
    assert dispatch.check() == []
    deep = rocdbg.load(path, options=MachineOptions(dynamic_stack_size=90000)).kernels["k"]
    deep.launch(1, 1, [out, np.int32(200)]).run()
    assert out[0] == 20100


@pytest.mark.llvm
@pytest.mark.parametrize("linked", [True, False])
def test_code_objects_for_each_other(linked: bool, tmp_path: Path) -> None:
    how = ("-O1", "-fvisibility=default", *(("-Wl,-z,undefs",) if linked else ("-c",)))
    user = cxx(tmp_path, "user", USER, "gfx90a", *how)
    definer = cxx(tmp_path, "definer", DEFINER, "gfx90a", *how)
    with pytest.raises(UnresolvedSymbolError, match="load the code object that defines what is missing, too: `load F"):
        rocdbg.load(user).kernels["k"].launch(4, 4, [np.zeros(4, np.int32)])
    setup = "set grid 4", "set arg 0 i32[4]", f"load {definer}", "break twice", "run", "backtrace"
    _, text = session(user, *setup)
    assert "#1 " in text and " in k (" in text
    launch = tmp_path / "both.toml"
    launch.write_text(
        f'[launch]\nfile = "{user.name}"\nload = ["{definer.name}"]\ngrid = 4\n'
        '[[arg]]\nbuffer = "i32[4]"\nexpect = [100, 202, 304, 406]\n'
    )
    dispatch = launch_file(launch)
    dispatch.run()
    assert dispatch.check() == []
    assert "exited normally" in session(launch, "run")[1]
    archive = tmp_path / "both.a"
    subprocess.run(["llvm-ar-22", "rc", archive, user, definer], check=True)
    out = np.zeros(4, np.int32)
    rocdbg.load(archive).kernels["k"].launch(4, 4, [out]).run()
    assert out.tolist() == [100, 202, 304, 406]


@pytest.mark.llvm
def test_the_kernarg_segment_at_the_prompt(tmp_path: Path) -> None:
    """The argument of AMD's example without metadata is given by offset, in order, as bytes and from a file."""
    source, path = tmp_path / "v3.s", tmp_path / "v3.o"
    source.write_text(HELLO)
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx900", "-filetype=obj", str(source), "-o", str(path)]
    subprocess.run(command, check=True)
    _, text = session(path, "set grid 1", "set kernarg 0 f32[2]:ones", "starti", "continue", "print $kernarg0")
    assert "in hello_world ()" in text and "= {3.14159012, 1}" in text
    assert "exited normally" in session(path, "set grid 1", "set arg 0 f32[1]", "run")[1]
    (tmp_path / "segment.bin").write_bytes(bytes(6) + b"\x12\x34")
    for given in ("0000000000001234", f"file:{tmp_path / 'segment.bin'}"):
        _, text = session(path, "set grid 1", f"set kernarg {given}", "set kernarg 12 hex:0a", "show launch", "run")
        assert "write of 4 bytes at 0x3412000000000000" in text
        assert "Kernarg segment: 00000000 00001234" in text and "at byte 12: bytes[1] of 0a" in text
    refused = {
        "set kernarg zz": "kernarg: `zz` is not a string of hexadecimal bytes",
        "set kernarg 8 7": "kernarg 8: the size of `7` is not known; write, for example, u32:7 or f32:7",
        "set kernarg file:nosuch": "kernarg: nosuch: cannot be read: No such file or directory",
        "set kernarg 99999999 u8:1": "kernarg 99999999: the offset must be from 0 to 1048575",
    }
    debugger, _ = session(path)
    for command_, message in refused.items():
        with pytest.raises(rocdbg.Error) as caught:
            debugger.execute(command_)
        assert str(caught.value) == message
