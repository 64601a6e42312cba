"""The programs of the comparison, built for both sides from one source.

A program is `programs/NAME.c`, `programs/NAME.cpp` or `programs/NAME.cl`; one in C may have a second unit of the same
name in `programs/other`. For rocdbg, clang-22 compiles it for gfx90a: C and OpenCL unchanged, C++ as HIP. For GDB, the
same compiler builds it for the host, with `host_main.c` to call the kernel. In the host's program, `main` is another
symbol for the kernel, so that the kernel has no visible caller and `start` stops in it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
KERNEL = "kern"
ELEMENTS = 64
"""The number of ints in the kernel's buffer: 0, 1, 2..."""
SECOND_ARGUMENT = 7
C = ["-x", "c"]
OPENCL = ["-x", "cl", "-cl-std=CL2.0"]
NEEDED_LIBRARIES = ["-Wl,--as-needed", "-lstdc++"]
"""Only if the program uses the library: otherwise, its functions would be found by the names of the program's."""
BOTH_SETTINGS = [
    "debuginfod enabled off",
    "debug-file-directory /nonexistent",  # the C library's types and functions are no part of the program
]
"""Settings with which both debuggers begin."""


def source(program: str) -> str:
    """The source's file name. Raises StopIteration for an unknown program."""
    return next(name for name in (f"{program}{end}" for end in (".c", ".cpp", ".cl")) if (PROGRAMS / name).exists())


def units(program: str) -> list[str]:
    """The files of its translation units."""
    name = source(program)
    return [name, *([f"other/{name}"] if (PROGRAMS / "other" / name).exists() else [])]


def build_device(program: str, folder: Path) -> Path:
    """The program's code object for gfx90a, in ``folder``."""
    name, output = source(program), folder / f"{program}.co"
    if not name.endswith(".cpp"):
        target = [*(OPENCL if name.endswith(".cl") else C), "--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a"]
    else:
        target = ["-x", "hip", "--offload-device-only", "--offload-arch=gfx90a", "-nogpuinc", "--no-gpu-bundle-output"]
    _compile(["clang-22", *target, "-nogpulib", "-g", "-O0", "-w", *units(program), "-o", str(output)])
    return output


def build_native(program: str, folder: Path) -> Path:
    """The program for the host, in ``folder``."""
    name, output = source(program), folder / program
    sizes = [f"-DELEMENTS={ELEMENTS}", f"-DSECOND_ARGUMENT={SECOND_ARGUMENT}"]
    language = OPENCL if name.endswith(".cl") else []
    ours = [*language, "-g", "-O0", "-w", "-fno-exceptions"]
    objects = []
    for part, options in (*((unit, ours) for unit in units(program)), ("host_main.c", ["-O1", *sizes])):
        objects.append(str(folder / f"{part.replace('/', '-')}.o"))
        _compile(["clang-22", *options, "-fPIE", "-c", part, "-o", objects[-1]])
    main = f"-Wl,--defsym=main={KERNEL}"
    _compile(["clang-22", "-pie", "-nostartfiles", main, *objects, "-o", str(output), *NEEDED_LIBRARIES])
    return output


def _compile(command: list[str]) -> None:
    subprocess.run(command, cwd=PROGRAMS, check=True, timeout=120)
