"""Builds the runtime library for programs, and rocdbg's own half of it, from the C sources beside this module.

This needs only a C compiler and the contents of rocdbg's package; packages may include the built libraries.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final

from rocdbg.errors import Error
from rocdbg.host import protocol

RUNTIME: Final = "libhsa-runtime64.so.1"
"""The library against which HIP, OpenCL and OpenMP are linked."""
UNVERSIONED: Final = "libhsa-runtime64.so"
"""The name under which LLVM's OpenMP opens the library."""
GPU_SIDE: Final = "librocdbg-gpu-side.so"
"""The library that rocdbg itself loads, see runtime/gpu_side.c."""

SOURCES: Final = Path(__file__).parent / "runtime"
OPTIONS: Final = ("-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-pthread", "-w")
COMPILERS: Final = ("cc", "gcc", "clang", "hipcc", "amdclang", "/opt/rocm/llvm/bin/clang")
_SECONDS: Final = 120


class RuntimeLibraryError(Error):
    """The runtime library is not available."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"cannot build the runtime library for programs: {reason}")


def compilers() -> list[list[str]]:
    """The compiler commands to try; if CC is set, only the one that it names."""
    if named := os.environ.get("CC", "").strip():
        try:
            return [shlex.split(named)]
        except ValueError:
            raise RuntimeLibraryError(f"the environment variable CC is not a valid command: {named}") from None
    return [[found] for name in COMPILERS if (found := shutil.which(name))]


def source_files() -> list[Path]:
    """The C sources of the programs' library, by name."""
    return sorted(path for path in SOURCES.glob("*.c") if path.name != "gpu_side.c")


def exported_names() -> list[str]:
    """Every function that a runtime may import; `stubs` creates those that no source defines."""
    return (SOURCES / "exports.txt").read_text().split()


def stubs() -> str:
    """C text with a weak fallback of each exported function, which prints its name and fails if no source defines the
    function.
    """
    lines = ['#include "runtime.h"']
    lines += [f"EXPORT __attribute__((weak)) hsa_status_t {name}(void) {{ return unsupported(__func__); }}"
              for name in exported_names()]  # fmt: skip
    return "\n".join(lines) + "\n"


def compile_into(compiler: list[str], folder: Path) -> None:
    """Build everything into a directory. Raises RuntimeLibraryError with the compiler's output, OSError."""
    (folder / "protocol.h").write_text(protocol.header())
    (folder / "stubs.c").write_text(stubs())
    include = ["-I", str(folder), "-I", str(SOURCES)]
    linking = [f"-Wl,-soname,{RUNTIME}", f"-Wl,--version-script={SOURCES / 'exports.map'}"]
    _compile([*compiler, *OPTIONS, *include, *linking, "-o", str(folder / RUNTIME),
              *map(str, source_files()), str(folder / "stubs.c")])  # fmt: skip
    _compile([*compiler, *OPTIONS, *include, "-o", str(folder / GPU_SIDE), str(SOURCES / "gpu_side.c")])
    (folder / UNVERSIONED).symlink_to(RUNTIME)


def _compile(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise RuntimeLibraryError(f"{command[0]}: {error}") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()
        telling = next((line for line in said if "error" in line), said[0])
        raise RuntimeLibraryError(f"{command[0]} failed: {telling}")


__all__ = [
    "COMPILERS", "GPU_SIDE", "OPTIONS", "RUNTIME", "SOURCES", "UNVERSIONED", "RuntimeLibraryError", "compile_into",
    "compilers", "exported_names", "source_files", "stubs",
]  # fmt: skip
