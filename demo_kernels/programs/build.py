"""Builds the programs of this folder with Debian 12's packages: HIP 5.2 with clang-22, OpenMP with GCC 12.

    python build.py FOLDER builds all programs that can be built here into a folder, and reports what is missing
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADERS = Path("/usr/include/hip/hip_runtime.h")
BITCODE = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
HIP_PACKAGES = "clang-22 libamdhip64-dev libamdhip64-5 rocm-device-libs"
OPENMP_PACKAGES = "gcc-12-offload-amdgcn libgomp-plugin-amdgcn1"


def has_hip() -> bool:
    """Whether HIP programs can be built and run here."""
    return HEADERS.is_file() and BITCODE.is_dir() and shutil.which("clang++-22") is not None


def has_openmp() -> bool:
    """Whether GCC can build programs with OpenMP for AMD GPUs, and its runtime is there to run them."""
    gcc = shutil.which("gcc-12")
    folder = Path("/usr/lib/gcc/x86_64-linux-gnu/12/accel/amdgcn-amdhsa")
    return gcc is not None and folder.is_dir() and any(Path("/usr/lib/x86_64-linux-gnu").glob("libgomp-plugin-gcn.so*"))


def hip_command(source: Path, output: Path, target: str = "gfx90a", *options: str) -> list[str]:
    """The command that builds a HIP program for one GPU of GFX9.

    HIP 5.2 accepts code object version 4; its headers need the wave size; the device libraries are older than the
    compiler, which searches for them elsewhere.
    """
    libraries = ["hip", "ockl", "ocml", "oclc_abi_version_400", f"oclc_isa_version_{target.removeprefix('gfx')}",
                 "oclc_wavefrontsize64_on", "oclc_daz_opt_off", "oclc_unsafe_math_off", "oclc_finite_only_off",
                 "oclc_correctly_rounded_sqrt_on"]  # fmt: skip
    return [
        "clang++-22", "-x", "hip", f"--offload-arch={target}", "-mcode-object-version=4", "-O1", "-g",
        "-D__AMDGCN_WAVEFRONT_SIZE=64", f"--rocm-device-lib-path={BITCODE}",
        *(f"--hip-device-lib={name}.bc" for name in libraries), *options, str(source), "-o", str(output), "-lamdhip64",
    ]  # fmt: skip


def openmp_command(source: Path, output: Path, target: str = "gfx906") -> list[str]:
    """How GCC builds a program whose ``omp target`` regions run on a GPU (gfx900 or gfx906)."""
    offload = ["-foffload=amdgcn-amdhsa", f"-foffload-options=-march={target}"]
    return ["gcc-12", "-O1", "-fopenmp", *offload, str(source), "-o", str(output)]


def main() -> int:
    """Build all programs that can be built."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for there, name, packages, command in (
        (has_hip(), "saxpy.hip", HIP_PACKAGES, hip_command),
        (has_openmp(), "sum.c", OPENMP_PACKAGES, openmp_command),
    ):
        source = HERE / name
        if there:
            subprocess.run(command(source, folder / source.stem), check=True)
        else:
            print(f"{name} needs {packages}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
