"""Builds the kernels of this folder with clang and ROCm's device libraries."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
NEEDED = ("opencl", "ockl", "ocml", "oclc_abi_version_500", "oclc_correctly_rounded_sqrt_on", "oclc_daz_opt_off",
          "oclc_finite_only_off", "oclc_unsafe_math_off")
# The packaged libraries are older than gfx11: those of another target of 32 lanes serve.
VARIANTS = {"gfx803": ("803", "on"),
            "gfx900": ("900", "on"), "gfx1030": ("1030", "off"), "gfx1100": ("1030", "off"), "gfx1201": ("1030", "off")}
Build = Callable[..., Path]


def builder(folder: Path) -> Build:
    """``build("pictures.cl", "gfx1030", "O0")``: the path of the code object. Skips the test if the libraries are
    missing.
    """
    if not (LIBRARIES / "ockl.bc").exists():
        pytest.skip("needs ROCm's device libraries (Debian: rocm-device-libs)")

    @cache
    def build(source: str, target: str, level: str = "O1") -> Path:
        output = folder / f"{source}.{target}.{level}.co"
        version, wave64 = VARIANTS[target]
        names = (*NEEDED, f"oclc_isa_version_{version}", f"oclc_wavefrontsize64_{wave64}")
        libraries = []
        for name in names:
            libraries += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(LIBRARIES / f"{name}.bc")]
        if source.endswith(".hip"):
            command = ["-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", f"--offload-arch={target}",
                       "--no-gpu-bundle-output"]
        else:
            command = ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib",
                       "-Xclang", "-finclude-default-header"]
        subprocess.run(
            ["clang-22", *command, "-w", "-g", f"-{level}", *libraries, source, "-o", str(output)], check=True, cwd=HERE
        )
        return output

    return build
