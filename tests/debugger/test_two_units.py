"""A fat binary of two translation units: breakpoints belong to the code objects of both."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import rocdbg

SOURCES = Path(__file__).parent / "sources" / "two_units"
HOST = r"""
typedef struct dim3 { unsigned x, y, z; } dim3;
typedef struct stream *hipStream_t;
typedef int hipError_t;
extern "C" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, hipStream_t);
extern "C" hipError_t __hipPopCallConfiguration(dim3 *, dim3 *, unsigned long *, hipStream_t *);
"""

pytestmark = pytest.mark.llvm
Run = Callable[[str], str]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host library with a device part per unit, as clang makes it."""
    folder = tmp_path_factory.mktemp("two_units")
    (folder / "host.h").write_text(HOST)
    objects = []
    for name in ("one", "two"):
        objects.append(f"{folder}/{name}.o")
        command = ["clang-22", "-x", "hip", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-fPIC", "-g", "-c",
                   "-include", str(folder / "host.h"), str(SOURCES / f"{name}.hip"), "-o", objects[-1]]
        subprocess.run(command, check=True, timeout=120)
    result = folder / "host.so"
    subprocess.run(["ld.lld-22", "-shared", *objects, "-o", str(result)], check=True, timeout=60)
    return result


@pytest.fixture
def run(library: Path) -> Run:
    """Runs commands on a session about it."""
    debugger = rocdbg.Debugger()
    debugger.execute(f"file {library}")
    debugger.execute("kernel one\nset grid 2\nset workgroup 2\nset arg 0 i32[2]:arange")

    def execute(text: str) -> str:
        result: str = debugger.execute(text, to_string=True)
        return result

    return execute


def test_a_function_in_both_units_is_two_places(run: Run) -> None:
    run("break scaled")
    table = run("info breakpoints").splitlines()
    assert [line.split()[0] for line in table[1:]] == ["1", "1.1", "1.2"]
    assert all("in scaled(int) at " in line and "common.h:8" in line for line in table[2:])


@pytest.mark.parametrize(("kernel", "place"), [("one", "1.1"), ("two", "1.2")])
def test_it_stops_in_the_unit_that_runs(run: Run, kernel: str, place: str) -> None:
    run(f"kernel {kernel}\nbreak scaled")
    assert f"hit Breakpoint {place}, with lanes [0-1], scaled (x=0)" in run("run")
    backtrace = run("bt").splitlines()
    assert f"in {kernel} (data=" in backtrace[1] and f"at {SOURCES}/{kernel}.hip" not in backtrace[0]
    assert run("print x") == "$1 = 0\n"


def test_a_breakpoint_in_the_other_unit_stays_and_is_not_hit(run: Run) -> None:
    run("kernel one\nbreak two")
    assert "two.hip:6" in run("info breakpoints")
    assert "exited normally" in run("run")
    run("kernel two")
    assert "hit Breakpoint 1, with lanes [0-1], two (" in run("run")


@pytest.mark.parametrize(("location", "kernel"), [("one.hip:7", "one"), ("two.hip:7", "two")])
def test_lines_of_both_files(run: Run, location: str, kernel: str) -> None:
    run(f"break {location}\nkernel {kernel}")
    assert f"hit Breakpoint 1, with lanes [0-1], {kernel} (" in run("run")


@pytest.mark.parametrize("name", ["one", "two"])
def test_lines_are_of_the_object_that_has_them(run: Run, name: str) -> None:
    assert f'/{name}.hip" starts at address' in run(f"info line {name}")
    assert f'/{name}.hip" starts at address' in run(f"info line {name}.hip:7")


def test_both_code_objects_are_loaded(run: Run) -> None:
    run("kernel one\nbreak one\nrun")
    rows = [line for line in run("info sharedlibrary").splitlines() if "Yes" in line]
    assert len(rows) == 2
    assert len({line.split()[0] for line in rows}) == 2


def test_kernels_of_one_name_are_told_apart_by_their_files(run: Run) -> None:
    assert run("kernel") == "* one\n  one.hip:filled\n  two.hip:filled\n  two\n"
    names = [line.split("(")[0] for line in run("info kernels").splitlines()[1:]]
    assert [name.split()[0] for name in names] == ["one", "one.hip:filled", "two", "two.hip:filled"]
    with pytest.raises(rocdbg.Error, match=r"kernel of this name; use one of one\.hip:filled, two\.hip:filled"):
        run("kernel filled")
    assert run("kernel").splitlines()[0] == "* one"
    run("break filled")
    for file in ("one.hip", "two.hip"):
        run(f"kernel {file}:filled")
        assert f"/{file}:14\n" in run("run")
        assert "exited normally" in run("continue")
