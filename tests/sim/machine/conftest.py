"""kernels.hip, compiled once per target and optimisation level."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100")


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``build("gfx90a", 2)`` gives the path of kernels.hip compiled with -O2; further options may follow."""
    folder = tmp_path_factory.mktemp("kernels")

    def run(target: str, level: int, *options: str) -> Path:
        output = folder / f"{target}.O{level}{''.join(options).replace('/', '')}.co"
        if not output.exists():
            command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-g"]
            command += [f"--offload-arch={target}", f"-O{level}", "--no-gpu-bundle-output", *options]
            subprocess.run([*command, str(HERE / "kernels.hip"), "-o", str(output)], check=True)
        return output

    return run


@pytest.fixture(params=[(t, level) for t in TARGETS for level in (0, 2)], ids=lambda p: f"{p[0]}-O{p[1]}")
def built(request: pytest.FixtureRequest, build: Callable[..., Path]) -> Path:
    """Each target at -O0 and -O2 in turn."""
    return build(*request.param)
