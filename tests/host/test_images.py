"""Images of programs: through the runtime's interface on each generation, and HIP's textures."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rocdbg.host.find_runtime_library import RuntimeLibrary
from rocdbg.host.program_api import Program

HERE = Path(__file__).parent
PROGRAM = HERE / "sources" / "imaged.py"
COMPILING = HERE.parent / "sim" / "images" / "compiling.py"
TARGETS = ("gfx900", "gfx1030", "gfx1100", "gfx1201")
CHECKS = re.findall(r"^def check_(\w+)", PROGRAM.read_text(), re.MULTILINE)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hip = _module(HERE.parents[1] / "demo_kernels" / "programs" / "build.py")


@pytest.fixture(scope="module")
def answers(library: RuntimeLibrary, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], str]:
    """The program's results for each check on each GPU, and its errors."""
    folder = tmp_path_factory.mktemp("pictures")
    build = _module(COMPILING).builder(folder)
    for target in TARGETS:
        build("pictures.cl", target).rename(folder / f"{target}.co")
    pipe = subprocess.PIPE
    command = [sys.executable, str(PROGRAM), str(folder)]
    with Program(command, gpu=",".join(TARGETS), stdout=pipe, stderr=pipe, report=print) as program:
        out, err = program.communicate(timeout=200)
    return out.decode().splitlines(), err.decode()


@pytest.mark.llvm
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("check", CHECKS)
def test_extension(check: str, target: str, answers: tuple[list[str], str]) -> None:
    lines, errors = answers
    assert f"{target} {check}" in lines, errors


@pytest.mark.skipif(not hip.has_hip(), reason=f"needs {hip.HIP_PACKAGES}")
@pytest.mark.parametrize("options", [(), ("-Xarch_host", "-fsanitize=address")], ids=["plain", "address-sanitizer"])
def test_textures_of_hip(
    options: tuple[str, ...], library: RuntimeLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HIP pins the data that it uploads and lets kernels read it: pages with AddressSanitizer's guards between objects.
    """
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")  # HIP's own
    path = tmp_path / "textures"
    source = HERE / "sources" / "textures.hip"
    subprocess.run(hip.hip_command(source, path, "gfx90a", *options), check=True)
    with Program([path], stdout=subprocess.PIPE, report=print) as program:
        out, _ = program.communicate(timeout=200)
    wanted = re.findall(r"^    RUN\((\w+)\)", source.read_text(), re.MULTILINE)
    assert out.decode().splitlines() == [f"{name}: ok" for name in wanted] and len(wanted) == 9
