"""The ends of programs: nothing remains, whichever side ends first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import rocdbg
from rocdbg.errors import Error
from rocdbg.host.find_runtime_library import RuntimeLibrary
from rocdbg.host.program_code import default_gpu, program_targets

pytestmark = pytest.mark.usefixtures("library")
USES_GPU = """
import ctypes, os, sys, time
assert ctypes.CDLL("libhsa-runtime64.so.1").hsa_init() == 0
print(os.getpid(), flush=True)
time.sleep(60)
"""
PLAIN = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"


def left_behind(name: str) -> list[str]:
    """Sockets, and files of shared memory, that still exist and have a name in them."""
    sockets = [line for line in Path("/proc/net/unix").read_text().splitlines() if name in line]
    return sockets + [entry.name for entry in Path("/dev/shm").iterdir() if "rocdbg" in entry.name]


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rocdbg", "run", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)  # type: ignore[call-overload, no-any-return]


def gone(pid: int) -> bool:
    """Whether a process has ended; waits for a short time."""
    for _ in range(1000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("script", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -SEGV $$", 139), ("kill -TERM $$", 143)]
)
def test_status_is_the_programs(script: str, status: int) -> None:
    done = run("sh", "-c", f"echo out; echo err >&2; {script}")
    assert (done.returncode, done.stdout, done.stderr) == (status, "out\n", "err\n")


def test_a_program_reads_the_terminal_and_its_arguments() -> None:
    done = run("--gpu", "gfx1100", "sh", "-c", 'cat; echo "$1"', "sh", "--gpu=x", input="given\n")
    assert (done.returncode, done.stdout) == (0, "given\n--gpu=x\n")


def test_a_program_that_is_not_there() -> None:
    done = run("./not-there")
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr == "rocdbg: cannot run ./not-there: No such file or directory\n"


def test_a_gpu_that_is_not_there() -> None:
    done = run("--gpu", "gfx90a,gfx803", "true")
    assert (done.returncode, done.stderr) == (
        127, "rocdbg: cannot simulate the GPU gfx803: only GPUs from gfx900 on can be simulated\n",
    )  # fmt: skip


def start(script: str) -> tuple[subprocess.Popen[str], int]:
    """``rocdbg run`` of a script that prints its process id and then sleeps."""
    command = [sys.executable, "-m", "rocdbg", "run", sys.executable, "-c", script]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


@pytest.mark.parametrize("script", [USES_GPU, PLAIN], ids=["uses the GPU", "does not"])
def test_killed_rocdbg_leaves_nothing(script: str) -> None:
    process, pid = start(script)
    process.kill()
    process.communicate()
    assert gone(pid)
    assert left_behind(f"rocdbg-{process.pid}-") == []


def test_killed_program_leaves_nothing() -> None:
    process, pid = start(USES_GPU)
    os.kill(pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == 137
    assert left_behind(f"rocdbg-{process.pid}-") == []


def test_ending_is_passed_on() -> None:
    process, pid = start(USES_GPU)
    process.terminate()
    process.communicate()
    assert process.returncode == 143
    assert gone(pid)


SIGNAL_OF_A_THREAD = """
import os, signal, sys, threading, time
from rocdbg.host.command import main

def end():
    time.sleep(0.3)  # the main thread waits for the program by now
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

threading.Thread(target=end).start()
sys.exit(main(["sleep", "20"]))
"""


def test_a_signal_that_does_not_interrupt_the_wait_is_passed_on() -> None:
    done = subprocess.run([sys.executable, "-c", SIGNAL_OF_A_THREAD], timeout=60, check=False)
    assert done.returncode == 143


def test_with_ends_a_program() -> None:
    with rocdbg.Program([sys.executable, "-c", USES_GPU], stdout=subprocess.PIPE) as program:
        program.start()
        assert program.returncode is None
    assert program.returncode == -signal.SIGKILL
    assert gone(program.pid)
    assert left_behind(f"rocdbg-{os.getpid()}-") == []


def test_timeout() -> None:
    with rocdbg.Program(["sleep", "60"]) as program, pytest.raises(Error) as caught:
        program.run(timeout=0.05)
    assert str(caught.value) == "sleep has not ended within 0.05 s"


FORKS = """
import ctypes, os, sys
lib = ctypes.CDLL("libhsa-runtime64.so.1")
assert lib.hsa_init() == 0
handle = ctypes.c_uint64()
assert lib.hsa_signal_create(ctypes.c_int64(1), 0, None, ctypes.byref(handle)) == 0
child = os.fork()
if not child:
    # The connection is the parent's; the child has no GPU until it asks for one of its own.
    assert lib.hsa_signal_create(ctypes.c_int64(1), 0, None, ctypes.byref(handle)) == 0x100B
    assert lib.hsa_init() == 0
    assert lib.hsa_signal_create(ctypes.c_int64(5), 0, None, ctypes.byref(handle)) == 0
    os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
lib.hsa_signal_load_relaxed.restype = ctypes.c_int64
assert lib.hsa_signal_load_relaxed(handle) == 1
"""


def test_each_process_has_gpus_of_its_own() -> None:
    with rocdbg.Program([sys.executable, "-c", FORKS]) as program:
        assert program.run(timeout=60) == 0


@pytest.mark.llvm
def test_code_objects_among_a_programs_data(tmp_path: Path, kernels: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF\x02\x01\x01\x40 no header \0" * 3 + kernels.read_bytes())
    path.chmod(0o755)
    assert default_gpu(str(path)) == "gfx90a"
    path.write_bytes(b"\x7fELF\x02\x01\x01\x40")
    assert program_targets(str(path)) == []
    assert program_targets(str(tmp_path)) == []


@pytest.mark.llvm
def test_the_programs_code_says_which_gpu(tmp_path: Path, kernels: Path, clang_host: Callable[..., Path]) -> None:
    assert default_gpu("true") == "gfx90a"
    assert default_gpu(str(kernels)) == "gfx90a"
    assert default_gpu(str(clang_host("gfx1100", "gfx90a:xnack+"))) == "gfx1100"
    assert default_gpu(str(clang_host("gfx90a:xnack+"))) == "gfx90a:xnack+"


def test_the_library_is_preloaded_before_others(library: RuntimeLibrary) -> None:
    script = "import os; print(os.environ['LD_PRELOAD'], os.environ['LD_LIBRARY_PATH'])"
    settings = {"LD_LIBRARY_PATH": "/nowhere"}
    with rocdbg.Program([sys.executable, "-c", script], environment=settings, stdout=subprocess.PIPE) as program:
        out, _ = program.communicate(timeout=60)
    preload, path = out.decode().split()
    assert preload.split(":")[0] == str(library.runtime)
    assert path == f"{library.folder}:/nowhere"
