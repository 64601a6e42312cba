"""The programs of the comparison, built for both sides from one source.

A program is `programs/NAME.c` or `programs/NAME.cpp`. For rocdbg, clang-22 compiles it for gfx90a: C as it is, C++
as HIP. For GDB, the same compiler builds it for the host, with `host_main.c` to call the kernel. There, the kernel's
CFI says that it has no caller, as a kernel has none.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
KERNEL = "kern"
ELEMENTS = 64
"""Ints in the kernel's buffer: 0, 1, 2..."""
SECOND_ARGUMENT = 7


def source(program: str) -> str:
    """The source's file name. Raises StopIteration for an unknown program."""
    return next(name for name in (f"{program}.c", f"{program}.cpp") if (PROGRAMS / name).exists())


def build_device(program: str, folder: Path) -> Path:
    """The program's code object for gfx90a, in ``folder``."""
    name, output = source(program), folder / f"{program}.co"
    if name.endswith(".c"):
        target = ["-x", "c", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a"]
    else:
        target = ["-x", "hip", "--offload-device-only", "--offload-arch=gfx90a", "-nogpuinc", "--no-gpu-bundle-output"]
    _compile(["clang-22", *target, "-nogpulib", "-g", "-O0", name, "-o", str(output)])
    return output


def build_native(program: str, folder: Path) -> Path:
    """The program for the host, in ``folder``."""
    name, output, assembly = source(program), folder / program, folder / f"{program}.s"
    _compile(["clang-22", "-g", "-O0", "-fno-exceptions", "-fPIE", "-fno-addrsig", "-S", name, "-o", str(assembly)])
    text, count = re.subn(
        rf"(?ms)(^{KERNEL}:.*?\.cfi_startproc\n)",
        r"\1\t.cfi_undefined rip\n",
        assembly.read_text(encoding="utf-8"),
        count=1,
    )
    assert count == 1, f"{name} has no function {KERNEL}"
    assembly.write_text(text, encoding="utf-8")
    main = folder / "host_main.o"
    sizes = [f"-DELEMENTS={ELEMENTS}", f"-DSECOND_ARGUMENT={SECOND_ARGUMENT}"]
    _compile(["gcc", "-c", "-O1", *sizes, "host_main.c", "-o", str(main)])
    _compile(["gcc", "-pie", str(assembly), str(main), "-o", str(output), "-lstdc++"])
    return output


def _compile(command: list[str]) -> None:
    subprocess.run(command, cwd=PROGRAMS, check=True, timeout=120)
