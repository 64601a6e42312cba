"""The runtime library, driven by a client that needs only Python (`client`)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rocdbg.host
from rocdbg.host.compiling import exported_names
from rocdbg.host.find_runtime_library import RuntimeLibrary
from rocdbg.host.program_api import Program

HERE = Path(__file__).parent
CLIENT = HERE / "client"
BUILD = """
import sys
sys.path.insert(0, sys.argv[1])
from conftest import Path, build_kernels
build_kernels(Path(sys.argv[2]))
"""
CHECKS = [
    name for file in sorted(CLIENT.glob("*.py"))
    for name in re.findall(r"^def check_(\w+)", file.read_text(), re.MULTILINE)
]  # fmt: skip


@pytest.fixture(scope="module")
def answers(library: RuntimeLibrary, kernels: Path) -> dict[str, str]:
    """The results of one run of the client for each check."""
    command = [sys.executable, str(CLIENT), str(kernels)]
    pipe = subprocess.PIPE
    with Program(command, gpu="gfx90a,gfx1100", stdout=pipe, stderr=pipe, report=lambda text: None) as program:
        out, err = program.communicate(timeout=300)
    assert program.returncode == 0, err.decode()
    return dict(line.split(": ", 1) for line in out.decode().splitlines())


@pytest.mark.llvm
def test_the_kernels_are_those_of_their_source(kernels: Path, tmp_path: Path) -> None:
    output = tmp_path / "kernels.co"
    subprocess.run([sys.executable, "-c", BUILD, str(HERE), str(output)], check=True)
    assert output.read_bytes() == kernels.read_bytes(), "run: python tests/host/conftest.py"


@pytest.mark.parametrize("check", CHECKS)
def test_client(check: str, answers: dict[str, str]) -> None:
    assert answers.get(check) == "ok"


MODULES = ("hipModuleLoad", "hipModuleLoadData", "hipModuleLoadDataEx", "hipModuleUnload")
BEFORE_HIP = dict.fromkeys(("__hipRegisterFatBinary", *MODULES), "hip_4.2")
"""The work of the library before HIP's functions with these names and this version."""


def symbols(library: RuntimeLibrary) -> dict[str, str]:
    """Exported functions and the version of each."""
    command = ["llvm-readelf-22", "--dyn-syms", "--wide", str(library.runtime)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {}
    for line in lines:
        fields = line.split()
        if len(fields) >= 8 and fields[3] == "FUNC" and fields[6] != "UND":
            name, _, version = fields[7].partition("@@")
            found[name] = version
    return found


@pytest.mark.llvm
def test_every_function_is_there_in_its_version(library: RuntimeLibrary) -> None:
    found = symbols(library)
    assert {name: found.get(name) for name in exported_names()} == dict.fromkeys(exported_names(), "ROCR_1")
    assert {name: version for name, version in found.items() if version != "ROCR_1"} == BEFORE_HIP


@pytest.mark.llvm
def test_nothing_is_exported_that_nobody_asks_for(library: RuntimeLibrary) -> None:
    assert set(symbols(library)) <= {*exported_names(), *BEFORE_HIP}


RUNTIME = Path(rocdbg.host.__file__).parent / "runtime"
SOURCES = "".join(file.read_text() for file in sorted(RUNTIME.glob("*.c")))
NOT_ASKED = {"hsa_init", "hsa_shut_down", "hsa_executable_load_program_code_object"}  # the last is not supported
WITH_STATUS = sorted(set(re.findall(r"^EXPORT hsa_status_t (hsa_\w+)\(", SOURCES, re.MULTILINE)) - NOT_ASKED)
ZEROS = """
import ctypes, sys
lib = ctypes.CDLL("libhsa-runtime64.so.1")
if sys.argv[1] == "open":
    assert lib.hsa_init() == 0
for name in sys.argv[2:]:
    print(name, hex(getattr(lib, name)(*[ctypes.c_uint64(0)] * 8)), flush=True)
"""


def statuses_of_zeros(state: str) -> dict[str, str]:
    """What each function returns if all its arguments are 0, in a program that has called hsa_init or not."""
    assert len(WITH_STATUS) > 140
    command = [sys.executable, "-c", ZEROS, state, *WITH_STATUS]
    with Program(command, stdout=subprocess.PIPE, report=lambda text: None) as program:
        out, _ = program.communicate(timeout=60)
    return dict(line.split() for line in out.decode().splitlines())


def test_nothing_is_done_before_hsa_init(library: RuntimeLibrary) -> None:
    assert statuses_of_zeros("closed") == dict.fromkeys(WITH_STATUS, "0x100b")


def test_null_is_refused(library: RuntimeLibrary) -> None:
    """Only releasing and registering nothing, and two settings, succeed."""
    found = statuses_of_zeros("open")
    assert list(found) == WITH_STATUS
    assert [name for name, status in found.items() if status == "0x0"] == [
        "hsa_amd_enable_logging", "hsa_amd_memory_pool_free", "hsa_amd_profiling_async_copy_enable",
        "hsa_memory_deregister", "hsa_memory_free", "hsa_memory_register",
    ]


SILENT = """
import ctypes
lib = ctypes.CDLL("libhsa-runtime64.so.1")
print([lib.hsa_amd_spm_acquire() for _ in range(3)], lib.hsa_init())
"""


def test_what_is_not_supported_says_so_once(library: RuntimeLibrary) -> None:
    with Program([sys.executable, "-c", SILENT], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        out, err = program.communicate(timeout=60)
    assert out.decode() == "[4096, 4096, 4096] 0\n"
    assert err.decode() == "rocdbg: hsa_amd_spm_acquire is not supported by the simulated GPU\n"


def test_without_rocdbg_there_is_no_gpu(library: RuntimeLibrary) -> None:
    environment = {"LD_LIBRARY_PATH": str(library.folder)}
    command = [sys.executable, "-c", SILENT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[4096, 4096, 4096] 4104\n"
    assert done.stderr.splitlines()[1:] == [
        "rocdbg: no GPU: run the program with `rocdbg run PROGRAM` or `rocdbg --args PROGRAM`"
    ]
