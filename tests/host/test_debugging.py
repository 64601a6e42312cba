"""Whole programs under the debugger: a Python program that uses the runtime library, from the command line."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.llvm, pytest.mark.usefixtures("library")]
SOURCES = Path(__file__).parent / "sources"


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kernels with debug information."""
    path = tmp_path_factory.mktemp("debugged") / "code.co"
    source = path.parent / "process_a.hip"
    shutil.copy(Path(__file__).parent.parent / "debugger" / "sources" / source.name, source)
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a"]
    command += ["-g", "-O0", "--no-gpu-bundle-output", source.name, "-o", str(path)]
    subprocess.run(command, check=True, cwd=source.parent)
    return path


def rocdbg(*commands: str) -> list[str]:
    commands = ("set confirm off", "set breakpoint pending on", *commands)
    options = [word for each in commands for word in ("-ex", each)]
    return [sys.executable, "-m", "rocdbg", "-q", "-nx", "-batch", "--gpu", "gfx90a", *options]


def command(code: Path, task: str, *commands: str) -> list[str]:
    return [*rocdbg(*commands), "--args", sys.executable, str(SOURCES / "debugged.py"), str(code), task]


def debug(code: Path, task: str, *commands: str) -> list[str]:
    """The lines of a session, without process ids, addresses and places of files."""
    return session(command(code, task, *commands))


def session(words: list[str]) -> list[str]:
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    text = re.sub(r"process \d+ *", lambda found: f"process N{' ' if found[0].endswith(' ') else ''}", done.stdout)
    text = re.sub(r"0x[0-9a-f]+", "ADDRESS", text)
    return [line for line in re.sub(r"/\S*/", "", text).splitlines() if line]


@pytest.mark.parametrize("condition", ["gridDim.x == 2", "$_dispatch == 2"])
def test_a_condition_about_its_dispatch(code: Path, condition: str) -> None:
    """Facts about the first dispatch must not be used for all dispatches."""
    lines = debug(code, "grids", f"break process_a.hip:7 if {condition}", "run", "print $_dispatch", "info breakpoints")
    assert "$1 = 2" in lines
    assert f"\tstop only if {condition} (target evals)" in lines


def test_the_third_launch_in_a_loop(code: Path) -> None:
    lines = debug(
        code, "loop", "break process_a.hip:7 if factor == 4 && i == 5", "run", "bt", "print old", "set var old = 1000",
        "info inferiors", "continue", "print $_exitcode",
    )
    assert lines == [
        'No symbol table is loaded.  Use the "file" command.',
        "Breakpoint 1 (process_a.hip:7) pending.",
        "launch 2", "launch 3", "launch 4",
        "[Switching to thread 5, lane 5 (AMDGPU Lane 1:1:3:5/5 (0,0,0)[5,0,0])]",
        'Thread 5 "scale" hit Breakpoint 1, with lane 5, scale (data=generic#ADDRESS, factor=4) at process_a.hip:7',
        "7\t  data[i] = old * factor;",
        "#0  scale (data=generic#ADDRESS, factor=4) at process_a.hip:7",
        "$1 = 30",
        "  Num  Description       Connection           Executable        ",
        f"* 1    process N 1 (simulated)        {sys.executable.rpartition('/')[2]} ",
        "4000",
        "[Inferior 1 (process N) exited with code 240]",
        "$2 = 160",
    ]


def test_a_fault_stops_first_and_then_is_the_programs(code: Path) -> None:
    text = "\n".join(debug(code, "wild", "run", "info threads", "continue", "info threads"))
    assert 'Thread 1 "wild" received signal SIGSEGV, Segmentation fault.' in text
    assert "past the end of buffer 'device' (512 bytes at ADDRESS)" in text
    assert "Program terminated with signal SIGABRT, Aborted.\nThe program no longer exists.\nNo threads." in text


def test_an_interrupt_stops_the_gpu_and_memory_lets_it_go_on(code: Path) -> None:
    session = subprocess.Popen(
        command(code, "forever", "run", "bt", "set var *data@entry = 1", "continue", "run", "kill"),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert session.stdout is not None
    text = ""
    for launches in (1, 2):
        while text.count("launching") < launches:
            line = session.stdout.readline()
            assert line, text
            text += line
        time.sleep(0.5)
        os.kill(session.pid, signal.SIGINT)
    rest, _ = session.communicate(timeout=60)
    text += rest
    assert text.count('"forever" received signal SIGINT, Interrupt.') == 2, text
    assert re.search(r"#0  (0x\w+ in )?forever \(data(@entry)?=generic#0x", text), text
    assert re.search(r"(?m)^done\n\[Inferior 1 \(process \d+\) exited normally\]", text), text
    killed = re.search(r"\[Inferior 1 \(process (\d+)\) killed\]", text)
    assert killed is not None and not Path(f"/proc/{killed[1]}").exists()


@pytest.mark.parametrize("watched", ["data[5]", "i"])
def test_watched_memory_may_be_freed(code: Path, watched: str) -> None:
    """The debugger no longer examines freed memory of the program, nor memory of the waves of an ended dispatch."""
    freeing = SOURCES / "freeing.py"
    lines = session([
        *rocdbg("break process_a.hip:7", "run", f"watch -l {watched}", "delete 1", "continue"),
        "--args", sys.executable, str(freeing), str(code),
    ])  # fmt: skip
    assert lines[-2:] == ["over", "[Inferior 1 (process N) exited normally]"]


def test_a_program_by_its_name_events_and_detaching(code: Path) -> None:
    """After it is detached, the program continues past its catchpoint, and rocdbg stays until the program has ended."""
    debugged = SOURCES / "debugged.py"
    lines = session(rocdbg(
        f"file {sys.executable}", f"set args {debugged} {code} loop", "catch load", "catch dispatch begin scale", "run",
        "continue", "info dispatches", "continue", "detach", "info inferiors",
    ))  # fmt: skip
    python = sys.executable.rpartition("/")[2]
    stop = '"scale" hit Catchpoint 2 (dispatch begin), scale (data@entry=generic#ADDRESS, factor@entry='
    own = ["launch 2", "launch 3", "launch 4", "120"]  # the program's, at any time
    alone = [line for line in lines if line in own]
    assert alone == own
    others = [line for line in lines if line not in alone and "waiting" not in line]
    assert [re.sub(r"memory:\d+", "memory:N", line) for line in others] == [
        f"Reading symbols from {python}...", f"(No debugging symbols found in {python})",
        "Catchpoint 1 (load)", "Catchpoint 2 (dispatch begin)",
        "Program hit Catchpoint 1",
        f"  Inferior loaded memory:N#offset=ADDRESS&size={code.stat().st_size}",
        "[Switching to thread 1, lane 0 (AMDGPU Lane 1:1:1:1/0 (0,0,0)[0,0,0])]",
        f"Thread 1 {stop}2) at process_a.hip:4",
        "4\tKERNEL scale(int *data, int factor) {",
        "  Id   Target Id                      Grid      Workgroup Fence   Kernel Function",
        "* 1    AMDGPU Dispatch 1:1:1 (PKID 0) [128,1,1] [64,1,1]  B|As|Rs scale",
        "[Switching to thread 3, lane 0 (AMDGPU Lane 1:1:2:3/0 (0,0,0)[0,0,0])]",
        f"Thread 3 {stop}3) at process_a.hip:4",
        "4\tKERNEL scale(int *data, int factor) {",
        f"Detaching from program: {python}, process N",
        "[Inferior 1 (process N) detached]",
        "  Num  Description       Connection           Executable        ",
        f"* 1    <null>                                 {python} ",
    ]
