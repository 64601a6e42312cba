"""Messages of stops and commands about a kernel, as in ROCgdb: names of waves, trap messages, lanes and positions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocdbg.cli.frame_lines import wave_name
from rocdbg.debugger.program.trap_messages import message_in
from rocdbg.debugger.target.host_frames import HostFrame, runtime_frames
from tests.cli.conftest import make_shell

SOURCE = """
extern "C" __attribute__((amdgpu_kernel)) void k(int *p, int n) {
  if (n < 3) __builtin_verbose_trap("checks", "n is too small");
  p[0] = n;
}
"""
LAUNCH = """
[launch]
file = "k.co"
grid = [64]
workgroup = [64]
[[arg]]
buffer = "i32[4]"
[[arg]]
value = 1
"""


@pytest.mark.llvm
@pytest.mark.parametrize(("target", "level"), [("gfx90a", "-O0"), ("gfx1100", "-O2"), ("gfx803", "-O1")])
def test_a_trap_says_why(target: str, level: str, tmp_path: Path) -> None:
    (tmp_path / "k.cpp").write_text(SOURCE)
    (tmp_path / "k.toml").write_text(LAUNCH)
    subprocess.run(
        ["clang-22", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-g", level, "-nogpulib",
         "k.cpp", "-o", "k.co"],
        cwd=tmp_path, check=True,
    )
    shell, text = make_shell()
    shell.session.load(str(tmp_path / "k.toml"))
    shell.execute("run")
    assert "executed `s_trap 2`.\nchecks: n is too small\n" in text.getvalue()
    assert text.getvalue().endswith('3\t  if (n < 3) __builtin_verbose_trap("checks", "n is too small");\n')


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("__clang_trap_msg$Bounds$index 7", "Bounds: index 7"),
        ("__clang_trap_msg$$no category", "no category"),
        ("__clang_trap_msg$a$costs 3$", "a: costs 3$"),
        ("__clang_trap_msg$only", "only"),
        ("__clang_trap_msg$a$\x1b[2J", "a: \\x1b[2J"),
        ("__clang_trap_msgs$a$b", ""),
        ("main", ""),
        (None, ""),
    ],
)
def test_messages_are_in_names(name: str | None, message: str) -> None:
    assert message_in(name) == message


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("saxpy", "saxpy"),
        ("a_rather_long_kernel_name<int, 3>", "a_rather_long_k"),
        ("scale<float>", "scale"),
        ("k(int*)", "k"),
        ("operator<<(A)", "operator"),
        ("", ""),
    ],
)
def test_waves_have_short_names(kernel: str, name: str) -> None:
    assert wave_name(kernel) == name


def frame(function: str, module: str, file: str | None = None) -> HostFrame:
    return HostFrame(1, function, False, file, 1 if file else None, module)


HIP = frame("hip::launch", "/opt/rocm/lib/libamdhip64.so.6.1")
HEADER = frame("hipLaunchKernelGGL", "/home/me/app", "/usr/include/hip/hip_runtime_api.h")
STUB = frame("__device_stub__saxpy(float)", "/home/me/app", "saxpy.hip")
MAIN = frame("main", "/home/me/app", "saxpy.hip")
UNKNOWN = frame("at::launch", "/usr/lib/python3/torch/lib/libtorch_hip.so")
LIBC = frame("__libc_start_main", "/lib/x86_64-linux-gnu/libc.so.6")


@pytest.mark.parametrize(
    ("frames", "inside"),
    [
        ([HIP, HIP, MAIN, LIBC], 2),
        ([HIP, HEADER, STUB, MAIN], 3),
        ([MAIN, LIBC], 0),
        ([HIP, UNKNOWN, MAIN], 1),
        ([HIP, LIBC], 0),
        ([], 0),
        ([frame("mine", "/home/me/libcode.so"), MAIN], 0),
        ([frame("mine", "/home/me/libm2.so"), MAIN], 0),
    ],
)
def test_where_the_authors_code_begins(frames: list[HostFrame], inside: int) -> None:
    assert runtime_frames(frames) == inside


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("lane (1,2)", 'A lane is selected by its number. Use "workitem 1,2" to select a work-item by its position.\n'),
        ("lane [0,3]", 'A lane is selected by its number. Use "workitem 0,3" to select a work-item by its position.\n'),
        ("show amdgpu precise-memory", "AMDGPU precise memory access reporting is off (currently enabled).\n"),
        ("set amdgpu precise-alu-exceptions on", ""),
        ("show amdgpu precise-alu-exceptions", "AMDGPU precise ALU exceptions reporting is on (currently enabled).\n"),
        ("catch hiperr", "Catchpoint 2 (hiperr)\n"),
        ("set language hip", ""),
        ("show language", 'The current source language is "hip".\n'),
        ("lane find nosuch == 1", 'No symbol "nosuch" in current context.\n'),
    ],
)
def test_commands(line: str, answer: str | None, stopped: object) -> None:
    shell, text = stopped  # type: ignore[misc]
    before = len(text.getvalue())
    shell.guard(lambda: shell.execute(line), line)
    if answer is not None:
        assert text.getvalue()[before:] == answer


@pytest.fixture(name="stopped", scope="module")
def stopped_fixture() -> object:
    shell, text = make_shell("divergence/divergence.toml")
    shell.execute("break 12")
    shell.execute("run")
    return shell, text
