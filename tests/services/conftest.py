"""Kernels that request host services, compiled with clang: HIP's with the device libraries, if these are installed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import rocdbg

HERE = Path(__file__).parent
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
NEEDED = ("hip", "opencl", "ockl", "ocml", "oclc_abi_version_500", "oclc_correctly_rounded_sqrt_on", "oclc_daz_opt_off",
          "oclc_finite_only_off", "oclc_unsafe_math_off")
# The packaged libraries are older than gfx1100: those of another target of 32 lanes serve.
VARIANTS = {"gfx90a": ("90a", "on"), "gfx1030": ("1030", "off"), "gfx1100": ("1030", "off")}

Build = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def hip(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """``hip("gfx90a", "O0")``: services.hip; further options follow the level: ``"O2 -mprintf-kind=buffered"``."""
    if not (LIBRARIES / "ockl.bc").exists():
        pytest.skip("needs ROCm's device libraries (Debian: rocm-device-libs)")
    folder = tmp_path_factory.mktemp("hip")

    @cache
    def build(arch: str, options: str) -> Path:
        output = folder / f"services.{arch}.{options.replace(' ', '')}.co"
        version, wave64 = VARIANTS[arch]
        names = (*NEEDED, f"oclc_isa_version_{version}", f"oclc_wavefrontsize64_{wave64}")
        subprocess.run(
            ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", f"--offload-arch={arch}", "-w", "-g",
             *f"-{options}".split(), "--no-gpu-bundle-output", f"--rocm-device-lib-path={LIBRARIES}",
             *(f"--hip-device-lib={name}.bc" for name in names), "services.hip", "-o", str(output)],
            check=True, cwd=HERE,
        )
        return output

    return build


@pytest.fixture(scope="session")
def opencl(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """``opencl("gfx90a", "O0")``: printing.cl, which needs no libraries."""
    folder = tmp_path_factory.mktemp("opencl")

    @cache
    def build(arch: str, level: str) -> Path:
        output = folder / f"printing.{arch}.{level}.co"
        subprocess.run(
            ["clang-22", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-nogpulib",
             "-g", f"-{level}", "printing.cl", "-o", str(output)],
            check=True, cwd=HERE,
        )
        return output

    return build


@pytest.fixture
def debugger(tmp_path: Path) -> Callable[..., rocdbg.Debugger]:
    """A session about a kernel: ``debugger(file, "formats", 4, ["buffer = \"i32[4]\""])``."""

    def make(file: Path, kernel: str, lanes: int, arguments: list[str]) -> rocdbg.Debugger:
        launch = tmp_path / "launch.toml"
        text = f'[launch]\nfile = "{file}"\nkernel = "{kernel}"\ngrid = [{lanes}, 1, 1]\nworkgroup = [{lanes}, 1, 1]\n'
        launch.write_text(text + "".join(f"[[arg]]\n{argument}\n" for argument in arguments))
        return rocdbg.Debugger(launch)

    return make
