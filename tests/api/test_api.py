"""The Python API from the point of view of its users."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rocdbg
from rocdbg.api import Program, launch_file
from rocdbg.launch.errors import LaunchError

pytestmark = pytest.mark.llvm

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("api") / "kernels.gfx90a.co"
    command = [
        "clang-22",
        "-x",
        "cl",
        "-cl-std=CL2.0",
        "-target",
        "amdgcn-amd-amdhsa",
        "-mcpu=gfx90a",
        "-nogpulib",
    ]
    subprocess.run([*command, "-g", "-O1", str(HERE / "kernels.cl"), "-o", str(output)], check=True)
    return output


@pytest.fixture
def program(path: Path) -> Program:
    return rocdbg.load(path)


def test_import_is_light() -> None:
    code = "import sys, rocdbg; print(sorted({'numpy', 'llvmlite', 'elftools'} & sys.modules.keys()), rocdbg.load)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HERE.parents[1]
    )
    assert result.stdout.startswith("[] <function load at")


def test_python_numbers_take_the_parameters_types(program: Program) -> None:
    out = np.arange(64, dtype=np.float32)
    kernel = program.kernels["scale"]
    assert kernel.parameter_types == [None, "f32", "u8"]
    dispatch = kernel.launch(64, 32, [out, 2, 3.0])
    dispatch.run()
    assert (out == np.arange(64) * 2 + 3).all()
    assert dispatch.finished and dispatch.instructions > 0


def test_arrays_of_any_shape_and_order(program: Program) -> None:
    base = np.zeros((64, 4), np.float32)
    column = base[:, 1]
    program.kernels["scale"].launch(64, 32, [column, np.float32(1), np.uint8(5)]).run()
    assert base[:, 1].tolist() == [5.0] * 64 and base[:, 0].tolist() == [0.0] * 64


def test_read_only_arrays_are_not_written_back(program: Program) -> None:
    source = np.arange(32, dtype=np.int32)
    source.flags.writeable = False
    to = np.zeros(32, np.int32)
    program.kernels["copy"].launch(32, 32, [to, source]).run()
    assert (to == source + 1).all()


def test_the_same_array_twice_is_one_buffer(program: Program) -> None:
    both = np.arange(32, dtype=np.int32)
    dispatch = program.kernels["copy"].launch(32, 32, [both, both])
    assert len(dispatch.launch.buffers) == 1
    dispatch.run()
    assert both.tolist() == list(range(1, 33))


def test_local_pointers_get_lds_of_their_own(program: Program) -> None:
    out = np.zeros(32, np.int32)
    program.kernels["twice"].launch(32, 32, [rocdbg.Local(128), out, rocdbg.Local(128)]).run()
    assert out.tolist() == [(31 - i) * 11 for i in range(32)]
    with pytest.raises(rocdbg.GpuFault, match="of the workgroup's 192 bytes of LDS"):
        program.kernels["twice"].launch(32, 32, [rocdbg.Local(128), out, rocdbg.Local(64)]).run()
    with pytest.raises(rocdbg.GpuFault, match="of the workgroup's 200 bytes of LDS"):  # the second begins at 136
        program.kernels["twice"].launch(32, 32, [rocdbg.Local(134), out, rocdbg.Local(64)]).run()


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("scale", [], r"kernel scale: it takes 3 arguments \(out, factor, add\), 0 are given"),
        (
            "scale",
            [1.5, 1, 1],
            r"arg 0 \(out\): 1.5 is not a whole number, but the parameter is an integer of 8 bytes",
        ),
        (
            "scale",
            [None, np.zeros(3), 1],
            r"arg 1 \(factor\): buffer 'factor' is given, but the parameter takes 4 bytes by",
        ),
        ("scale", [None, 1, 256], r"arg 2 \(add\): 256 does not fit into 1 bytes"),
        (
            "scale",
            [None, None, 1],
            r"arg 1 \(factor\): a null pointer is given, but the parameter takes 4 bytes by value",
        ),
        (
            "twice",
            [128, None, 128],
            r"arg 0 \(first\): for a local pointer, give the size in LDS: `local\[BYTES\]`",
        ),
        (
            "copy",
            [rocdbg.Local(4), None],
            r"arg 0 \(to\): LDS is given, but the parameter is not a local pointer",
        ),
        ("copy", ["x", None], r"arg 0 \(to\): a str cannot be passed; use a number, NumPy value or bytes"),
        ("copy", [np.array([None]), None], "arg 0: an array of Python objects cannot be a buffer"),
        ("copy", [np.zeros(4, ">i4"), None], "arg 0: the byte order of an array of >i4 is not native"),
    ],
)
def test_arguments_that_do_not_fit(program: Program, name: str, args: list[Any], message: str) -> None:
    with pytest.raises(rocdbg.Error, match=message):
        program.kernels[name].launch(32, 32, args)


def test_a_fault_names_kernel_wave_and_place(program: Program) -> None:
    to = np.full(32, 7, np.int32)
    with pytest.raises(rocdbg.GpuFault) as caught:
        program.kernels["copy"].launch(32, 32, [to, np.zeros(30, np.int32)]).run()
    text = str(caught.value)
    assert text.startswith("kernel copy in wave 1 (0, 0, 0)/0: memory violation by `global_load_dword v")
    assert (
        "lanes [30-31]: read of 4 bytes at 0x7f0000500078, just past the end of buffer 'from' (120 bytes at"
        in text
    )
    assert caught.value.lanes == (30, 31)
    assert to.tolist() == [7] * 32
    # The device continues with the next launch.
    program.kernels["copy"].launch(32, 32, [to, np.zeros(32, np.int32)]).run()
    assert to.tolist() == [1] * 32


def test_repeated_launches_use_the_same_addresses(program: Program) -> None:
    seen = set()
    for _ in range(3):
        dispatch = program.kernels["copy"].launch(32, 32, [np.zeros(32, np.int32), np.zeros(32, np.int32)])
        seen.add(tuple(bound.allocation.address for bound in dispatch.launch.buffers))
        dispatch.run()
    assert len(seen) == 1


def test_a_launch_file_from_start_to_check(path: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "want.npy", np.arange(32, dtype=np.int32) + 1)
    text = f"""
        [launch]
        file = "{path.parent}/kernels.{{arch}}.co"
        arch = "gfx90a"
        kernel = "copy"
        grid = 32
        [[arg]]
        name = "out"
        buffer = "i32[32]"
        expect = "file:want.npy"
        [[arg]]
        buffer = "i32[32]"
        init = "arange"
    """
    (tmp_path / "copy.toml").write_text(text)
    dispatch = launch_file(tmp_path / "copy.toml")
    dispatch.run()
    assert dispatch.check() == []
    (tmp_path / "copy.toml").write_text(text.replace('"arange"', '"zeros"'))
    dispatch = launch_file(tmp_path / "copy.toml")
    dispatch.run()
    assert [m.text for m in dispatch.check()] == [
        "buffer 'out': element 1 is 1, expected 2 (31 of 32 elements differ)"
    ]


def test_a_launch_file_without_a_kernel_name_needs_a_single_kernel(path: Path, tmp_path: Path) -> None:
    (tmp_path / "any.toml").write_text(f'[launch]\nfile = "{path}"\ngrid = 32\n')
    with pytest.raises(rocdbg.Error, match=r"say which kernel to launch; .* has 3: scale, twice, copy"):
        launch_file(tmp_path / "any.toml")


NESTED = """
#define KERNEL __attribute__((global)) void
KERNEL use_int(int *to) {}
namespace lib { namespace other {
KERNEL stop(unsigned *to) { *to = 3; }
KERNEL start(unsigned *to) { *to = 4; }
KERNEL start(long *to) { *to = 5; }
} }
"""


@pytest.fixture(scope="session")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("nested")
    source, output = folder / "nested.hip", folder / "nested.co"
    source.write_text(NESTED)
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx1100"]
    subprocess.run([*command, "--no-gpu-bundle-output", str(source), "-o", str(output)], check=True)
    return rocdbg.load(output)


def test_kernels_are_listed_by_the_shortest_unique_name(nested: Program) -> None:
    assert sorted(nested.kernels) == [
        "lib::other::start(long*)", "lib::other::start(unsigned int*)", "lib::other::stop", "use_int",
    ]


@pytest.mark.parametrize(("name", "want"), [
    ("stop", 3), ("lib::other::stop", 3), ("lib::other::start(unsigned int*)", 4), ("_ZN3lib5other4stopEPj", 3),
])
def test_kernels_by_name_without_namespaces(nested: Program, name: str, want: int) -> None:
    out = np.zeros(1, np.uint32)
    nested.kernels[name].launch(1, 1, [out]).run()
    assert out[0] == want


def test_an_ambiguous_name_lists_what_it_stands_for(nested: Program) -> None:
    with pytest.raises(LaunchError, match=r"2 kernels: lib::other::start\(unsigned int\*\), lib::other::start\(long"):
        nested.kernels["lib::other::start"]
