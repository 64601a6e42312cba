"""Annotated files compared with their originals: sessions without synthesis are the same as sessions with it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import rocdbg

DEMOS = Path(__file__).parents[2] / "demo_kernels"
KERNEL_FRAME = re.compile(r"(frame at|frame's sp is) private_lane#0x0 of lane \d+")
SYNTHESIS = re.compile(
    r"^(Positions of inactive lanes are synthesised.*| lane position synthesised.*| unwound by .*)\n", re.MULTILINE
)
"""Matches text that only names the source of information."""

DIVERGENCE = (
    "break divergence.hip:12", "break divergence.hip:20 if i % 3 == 1", "run", "info lanes", "info locals",
    "lane 1", "info frame", "print $__lane_pc_array", "next", "next", "info lanes 0-20", "print value", "step",
    "info address i", "continue", "info breakpoints", "info lanes", "lane apply 3-9 -q bt",
)
CALLS = (
    "break calls.hip:27", "run", "bt", "info lanes", "info frame", "up", "info locals", "print n", "print $v40",
    "print $s33", "info frame", "lane 3", "bt", "finish", "bt", "next", "tbreak leaf", "continue", "bt", "up",
    "info locals", "info registers s30 s31 exec",
)
DEMO_BUILDS = [
    ("divergence", "O0", "gfx90a", DIVERGENCE), ("divergence", "O2", "gfx1100", DIVERGENCE),
    ("calls", "O0", "gfx942", CALLS), ("calls", "O2", "gfx1030", CALLS),
]

def transcript(launch: Path, arch: str | None, commands: tuple[str, ...], *, synthesis: bool) -> str:
    """A session as printed, without the names of folders and the texts about synthesis."""
    debugger = rocdbg.Debugger(str(launch), arch=arch) if arch else rocdbg.Debugger(str(launch))
    debugger.execute(f"set lane-pc-synthesis {'on' if synthesis else 'off'}", to_string=True)
    text = []
    for command in commands:
        try:
            text.append(f"(rocdbg) {command}\n{debugger.execute(command, to_string=True)}")
        except rocdbg.Error as error:
            text.append(f"(rocdbg) {command}\n{error}\n")
    # for a kernel's frame, `annotate` writes the same place in the specification's address space
    said = KERNEL_FRAME.sub(r"\1 private_wave#0x0", SYNTHESIS.sub("", "".join(text)))
    said = said.replace("<not known per lane>", "<optimized out>")  # a list without an entry gives no reason
    return said.replace(str(launch.parent), "<folder>")


def annotated_copy(launch: Path, folder: Path, *objects: str) -> Path:
    """A launch file next to annotated code objects."""
    for name in objects:
        rocdbg.annotate(launch.parent / name, folder / name)
    for file in launch.parent.iterdir():
        if file.suffix in (".npy", ".toml", ".hip", ".cl"):
            shutil.copy(file, folder)
    return folder / launch.name


@pytest.mark.parametrize(
    ("demo", "level", "arch", "commands"), DEMO_BUILDS, ids=["-".join(row[:3]) for row in DEMO_BUILDS]
)
def test_demo_kernels(demo: str, level: str, arch: str, commands: tuple[str, ...], tmp_path: Path) -> None:
    launch = DEMOS / demo / (f"{demo}.toml" if level == "O0" else f"{demo}.{level}.toml")
    expected = transcript(launch, arch, commands, synthesis=True)
    (tmp_path / demo).mkdir()
    shutil.copy(DEMOS / "device.h", tmp_path)  # what is recovered of variables is read from the sources
    copy = annotated_copy(launch, tmp_path / demo, f"{demo}.{level}.{arch}.co")
    assert transcript(copy, arch, commands, synthesis=False) == expected
    assert "hit Breakpoint" in expected
    assert " I  " in expected


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("level", "options"), [("O2", ("-mwavefrontsize64",)), ("O2", ("-gdwarf-4", "-gz"))]
)
def test_compiled_kernels(level: str, options: tuple[str, ...], tmp_path: Path) -> None:
    shutil.copytree(DEMOS / "calls", tmp_path / "in", ignore=shutil.ignore_patterns("*.co"))
    shutil.copy(DEMOS / "device.h", tmp_path)
    (tmp_path / "out").mkdir()
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx1201",
         "--no-gpu-bundle-output", "-g", f"-{level}", *options, "calls.hip", "-o", f"calls.{level}.gfx1201.co"],
        check=True, cwd=tmp_path / "in",
    )
    launch = tmp_path / "in" / ("calls.toml" if level == "O0" else "calls.O2.toml")
    expected = transcript(launch, "gfx1201", CALLS, synthesis=True)
    copy = annotated_copy(launch, tmp_path / "out", f"calls.{level}.gfx1201.co")
    assert transcript(copy, "gfx1201", CALLS, synthesis=False) == expected
    assert " I  " in expected
    # without what annotate writes, nothing is known of these lanes
    assert transcript(launch, "gfx1201", CALLS, synthesis=False) != expected
