"""Real programs on their real runtimes, where those are installed: HIP, and GCC's OpenMP."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import rocdbg

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "demo_kernels" / "programs"
SOURCES = Path(__file__).parent / "sources"
SOURCE = Path(__file__).parent / "sources" / "features.hip"
FEATURES = re.findall(r"FEATURE\((\w+)\)", SOURCE.read_text().split("#define FEATURE")[1])[1:]


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("programs_build", PROGRAMS / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = _load()
hip = pytest.mark.skipif(not build.has_hip(), reason=f"needs {build.HIP_PACKAGES}")
openmp = pytest.mark.skipif(not build.has_openmp(), reason=f"needs {build.OPENMP_PACKAGES}")
pytestmark = pytest.mark.usefixtures("library")


def run(*command: str | Path, gpu: str | None = None) -> tuple[int | None, str, str, list[str]]:
    """Exit status, both outputs, and rocdbg's own messages."""
    pipe = subprocess.PIPE
    with rocdbg.Program(command, gpu, stdout=pipe, stderr=pipe, report=lambda text: None) as program:
        out, err = program.communicate(timeout=200)
    return program.returncode, out.decode(), err.decode(), program.messages


@pytest.fixture(scope="module")
def features(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("programs") / "features"
    subprocess.run(build.hip_command(SOURCE, path), check=True)
    return path


@pytest.fixture(scope="module")
def answers(features: Path) -> dict[str, str]:
    """The results of one run for each feature."""
    status, out, err, messages = run(features)
    assert (status, err, messages) == (0, "", []), out
    return dict(line.split(": ", 1) for line in out.splitlines())


@hip
@pytest.mark.parametrize("feature", [name for name in FEATURES if name != "out_of_bounds"])
def test_hip(feature: str, answers: dict[str, str]) -> None:
    assert answers.get(feature) == "ok"


@hip
def test_hip_without_optimisation(tmp_path: Path) -> None:
    """An old HIP mistakes the hidden arguments of these kernels for those of device-side enqueue."""
    path = tmp_path / "saxpy"
    subprocess.run(build.hip_command(PROGRAMS / "saxpy.hip", path, "gfx90a", "-O0"), check=True)
    status, _, err, messages = run(path)
    assert (status, messages) == (0, [])
    assert err.count("hidden arguments for device-side enqueue") == 1


@hip
def test_one_element_too_far(features: Path) -> None:
    status, out, err, messages = run(features, "out_of_bounds")
    assert (status, out) == (-6, "")
    (message,) = messages
    assert re.fullmatch(
        r"kernel beyond\(int\*, int\) in wave \(0, 0, 0\)/0: memory violation by `global_store_dword .*` at "
        r"0x[0-9a-f]+: lane 0: write of 4 bytes at 0x4[0-9a-f]+, just past the end of buffer 'device' "
        r"\(4000 bytes at 0x4[0-9a-f]+\)",
        message,
    )
    assert re.fullmatch(
        r"Memory access fault by GPU node-1 \(Agent handle: 0x[0-9a-f]+\) on address 0x4[0-9a-f]+000\. "
        r"Reason: Page not present or supervisor privilege\.\n",
        err,
    )


@openmp
def test_openmp_of_gcc(tmp_path: Path) -> None:
    path = tmp_path / "sum"
    subprocess.run(build.openmp_command(PROGRAMS / "sum.c", path), check=True, capture_output=True)
    assert run(path) == (0, "total 23994000, 0 wrong, on the GPU\n", "", [])


@openmp
def test_a_session_on_code_of_gcc(tmp_path: Path) -> None:
    """Arguments, locals, recursion, callers, steps over calls and returned values: GCC has its own conventions."""
    path = tmp_path / "region"
    command = build.openmp_command(SOURCES / "region.c", path)
    options = ["-g", "-O0", "-foffload-options=-g -O0"]
    subprocess.run([*command, *options], check=True, capture_output=True)
    commands = [
        "break scaled", "break fib if n == 3", "run", "info args", "print *p", "up", "info locals", "down", "finish",
        "next", "continue", "backtrace", "up 2", "print own", "delete", "continue",
    ]
    words = [word for each in commands for word in ("-ex", each)]
    done = subprocess.run(
        [sys.executable, "-m", "rocdbg", "-q", "-nx", "-batch", "--gpu", "gfx906", *words, str(path)],
        capture_output=True, text=True, timeout=200, check=False,
    )
    text = re.sub(r"0x[0-9a-f]{8,}", "ADDRESS", done.stdout).replace(f"{SOURCES}/", "")
    expected = """\
p = ADDRESS
by = 4
$1 = {first = 1, second = 2.5}
#1  ADDRESS in main._omp_fn.0 () at region.c:17
17	    out[1] = (int)scaled(&both, 4);
both = {first = 1, second = 2.5}
out = {0, 0, 0, 0}
"""
    assert expected in text, done.stdout + done.stderr
    assert "\nValue returned is $2 = 10\n18\t    out[0] = both.first + fib(5);\n" in text, text
    assert """\
#0  fib (n=3) at region.c:4
#1  ADDRESS in fib (n=4) at region.c:4
#2  ADDRESS in fib (n=5) at region.c:4
#3  ADDRESS in main._omp_fn.0 () at region.c:18
""" in text, text
    assert "\n$3 = 5\n" in text and text.endswith("exited normally]\n"), text


@hip
def test_saxpy_on_the_gpu_that_its_code_is_for(tmp_path: Path) -> None:
    path = tmp_path / "saxpy"
    subprocess.run(build.hip_command(PROGRAMS / "saxpy.hip", path, "gfx906"), check=True)
    assert run(path, "300", "3") == (0, "gfx906:sramecc+:xnack-: 0 of 300 wrong\n", "", [])


@hip
def test_where_a_dispatch_was_launched(tmp_path: Path) -> None:
    """The host's frames down to the line of the launch; the process stops with the GPU."""
    path = tmp_path / "saxpy"
    source = PROGRAMS / "saxpy.hip"
    subprocess.run(build.hip_command(source, path), check=True)
    line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "<<<" in text)
    commands = ["break saxpy", "set host stop", "run", "info host-backtrace", "shell ps -C saxpy -o stat=",
                "set host run", "shell ps -C saxpy -o stat=", "delete", "continue"]  # fmt: skip
    options = [word for each in commands for word in ("-ex", each)]
    words = [sys.executable, "-m", "rocdbg", "-q", "-nx", "-batch", *options, str(path), "-ex", "info host-backtrace"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=200, check=False)
    text = done.stdout
    assert re.search(r"\nDispatch 1, kernel saxpy, was launched by thread \d+:\n#0  ", text), text
    assert re.search(rf"\n#\d+ +0x\w+ in main \(\.\.\.\) at .*saxpy\.hip:{line}\n", text), text
    assert " in hipLaunchKernel () from " in text
    stopped, running = re.findall(r"^([A-Z])[a-zA-Z<+]*$", text, re.MULTILINE)[:2]
    assert stopped == "T" and running != "T", text
    assert "0 of 1000 wrong" in text
    assert done.stderr.endswith("The program is not being run.\n"), done.stderr
