"""Kernels compiled with clang-22, once per test run, and sessions on them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session

SOURCES = Path(__file__).parent / "sources"
Compile = Callable[..., Path]
Start = Callable[..., Session]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """``compiled("lanes.hip", "gfx90a", "-O0", *options)``: the path of a code object."""
    folder = tmp_path_factory.mktemp("kernels")

    def compile_(source: str, target: str = "gfx90a", level: str = "-O0", *options: str) -> Path:
        output = folder / f"{'.'.join((source, target, level, *options))}.co"
        if not output.exists():
            command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib",
                       f"--offload-arch={target}", "-g", level, *options, "--no-gpu-bundle-output",
                       source, "-o", str(output)]
            subprocess.run(command, cwd=SOURCES, check=True, timeout=120)
        return output

    return compile_


@pytest.fixture
def lanes(compiled: Compile) -> Start:
    """A session about ``kern`` of lanes.hip: two workgroups of 64, n = 100, c = GREEN; nothing has run."""

    def start(target: str = "gfx90a", level: str = "-O0") -> Session:
        session = Session()
        session.load(compiled("lanes.hip", target, level))
        session.sources.program_directory = SOURCES
        session.launch.set_kernel("kern")
        session.launch.set_grid("128")
        session.launch.set_workgroup("64")
        for index, text in enumerate(("f32[128]:arange", "f32[128]:zeros", "100", "5")):
            session.launch.set_argument(index, text)
        return session

    return start


@pytest.fixture(params=("gfx90a", "gfx1100"))
def watched(request: pytest.FixtureRequest, compiled: Compile) -> Session:
    """A session about watched.hip, at the kernel's first line; two workgroups of 64 work-items."""
    session = Session()
    session.load(compiled("watched.hip", request.param))
    session.launch.set_grid("128")
    session.launch.set_workgroup("64")
    for index, text in enumerate(("i32[128]:zeros", "3")):
        session.launch.set_argument(index, text)
    session.start()
    session.running.next()
    return session
