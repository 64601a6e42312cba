"""Kernels for the lane tests: compiled with clang, and launch files for them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

SOURCES = Path(__file__).parent / "sources"
KERNEL = re.compile(r'extern "C" __global__ void (\w+)\(')

LAUNCH = """[launch]
file = "{file}"
kernel = "{kernel}"
grid = [64, 1, 1]
workgroup = [64, 1, 1]

[[arg]]
buffer = "i32[64]"
init = {values}

[[arg]]
buffer = "i32[64]"
init = "zeros"
"""


def values(count: int = 64) -> list[int]:
    """Numbers that send lanes along all paths."""
    return [(7 * number * number + 13 * number + 5) % 61 for number in range(count)]


def build(source: Path, arch: str, level: str, folder: Path, *options: str) -> dict[str, Path]:
    """Compile a source; return the launch files of its kernels by name."""
    name = f"{source.stem}.{arch}.{level}{''.join(option.strip('-') for option in options)}"
    path = folder / f"{name}.co"
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", f"--offload-arch={arch}",
         "--no-gpu-bundle-output", "-g", f"-{level}", *options, source.name, "-o", str(path)],
        check=True, cwd=source.parent,
    )
    launches = {}
    for kernel in KERNEL.findall(source.read_text()):
        launches[kernel] = folder / f"{name}.{kernel}.toml"
        launches[kernel].write_text(LAUNCH.format(file=path.name, kernel=kernel, values=values()))
    return launches
