"""Every demo kernel, on every target for which it is built: its final buffers equal NumPy's."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import rocdbg
from rocdbg.api import launch_file
from tests.breadth import EVERYTHING

DEMOS = Path(__file__).resolve().parent.parent.parent / "demo_kernels"
SOME = ("divergence", "matmul", "ramp")
"""Demos that `./test` builds: one each of HIP, OpenCL and assembly."""
FAULTY = ("wildaccess", "trap")  # their point is not to end well


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"demo_{name}", DEMOS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


reference = _module("reference")
build = _module("build")


def runs() -> list[tuple[Path, str]]:
    """Every (launch file, target) for which there is a code object."""
    found = []
    for launch in sorted(DEMOS.glob("*/*.toml")):
        name = next(line for line in launch.read_text().splitlines() if line.startswith("file")).split('"')[1]
        found += [(launch, arch) for arch in build.TARGETS if (launch.parent / name.format(arch=arch)).exists()]
    return found


RUNS = runs()


def test_there_are_ten_programs_and_four_targets() -> None:
    assert len({launch.parent.name for launch, _ in RUNS}) >= 10
    assert {arch for _, arch in RUNS} == set(build.TARGETS)


@pytest.mark.parametrize(
    ("launch", "arch"),
    [pytest.param(*run, id=f"{run[0].stem}-{run[1]}") for run in RUNS if run[0].parent.name not in FAULTY],
)
def test_buffers_equal_numpy(launch: Path, arch: str) -> None:
    arrays = getattr(reference, launch.parent.name)()
    dispatch = launch_file(launch, arch=arch)
    dispatch.run()
    checked = 0
    for bound in dispatch.launch.buffers:
        name = bound.buffer.name
        file = EXPECTED.get((launch.parent.name, name or ""))
        if file is None:
            continue
        want, got = arrays[file], bound.contents
        np.testing.assert_array_equal(got.view(want.dtype).reshape(want.shape), want, err_msg=name)
        checked += 1
    assert checked == sum(key[0] == launch.parent.name for key in EXPECTED)


# (demo, buffer) -> the array of reference.py that it must equal; written down here again, so that a
# launch file that forgot its `expect` would be noticed
EXPECTED = {
    ("saxpy", "y"): "expected.npy",
    ("divergence", "output"): "expected.npy",
    ("calls", "output"): "expected.npy",
    ("spaces", "output"): "expected.npy",
    ("reduce", "sums"): "expected.npy",
    ("matmul", "c"): "expected.npy",
    ("histogram", "bins"): "bins.npy",
    ("histogram", "largest"): "largest.npy",
    ("spill", "output"): "expected.npy",
    ("scan", "output"): "sums.npy",
    ("scan", "ballots"): "ballots.npy",
    ("mandelbrot", "iterations"): "expected.npy",
    ("vectors", "output"): "output.npy",
    ("vectors", "halves"): "halves.npy",
    ("vectors", "vertices"): "vertices.npy",
    ("ramp", "output"): "expected.npy",
}


@pytest.mark.parametrize(("launch", "arch"), [run for run in RUNS if run[0].parent.name == "wildaccess"])
def test_wild_access_names_lane_and_buffer(launch: Path, arch: str) -> None:
    with pytest.raises(rocdbg.GpuFault, match=r"just past the end of buffer 'table' \(1024 bytes at"):
        launch_file(launch, arch=arch).run()


@pytest.mark.parametrize(("launch", "arch"), [run for run in RUNS if run[0].parent.name == "trap"])
def test_trap_stops_the_kernel(launch: Path, arch: str) -> None:
    with pytest.raises(rocdbg.GpuFault):
        launch_file(launch, arch=arch).run()


def test_checked_in_arrays_are_those_of_the_reference() -> None:
    for name, function in reference.REFERENCES.items():
        for file, array in function().items():
            np.testing.assert_array_equal(np.load(DEMOS / name / file), array, err_msg=f"{name}/{file}")


@pytest.mark.truth
@pytest.mark.llvm
def test_build_script_reproduces_the_code_objects() -> None:
    """Byte for byte, if the compiler is the one with which they were built."""
    clang = subprocess.run(["clang-22", "--version"], capture_output=True, text=True, check=True).stdout
    dump = subprocess.run(
        [shutil.which("llvm-dwarfdump-22") or "", "--debug-info", str(DEMOS / "saxpy/saxpy.O0.gfx90a.co")],
        capture_output=True, text=True, check=True,
    ).stdout
    producer = next(line for line in dump.splitlines() if "DW_AT_producer" in line).split('"')[1]
    if clang.splitlines()[0] != producer:
        # another build of LLVM 22 names itself differently in the debug information: compare that it builds
        subprocess.run([sys.executable, str(DEMOS / "build.py"), "--check", "ramp"], check=True)
        return
    command = [sys.executable, str(DEMOS / "build.py"), "--check", *([] if EVERYTHING else SOME)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
