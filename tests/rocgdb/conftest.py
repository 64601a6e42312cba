"""A program with the compiler's own debug information, for ROCgdb's tests of everyday commands."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session

SOURCES = Path(__file__).parent / "sources"
Everyday = Callable[[], Session]


@pytest.fixture(scope="session")
def everyday_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``everyday.hip`` for gfx90a at -O0."""
    done = tmp_path_factory.mktemp("everyday") / "everyday.co"
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
         "-g", "-O0", "--no-gpu-bundle-output", "everyday.hip", "-o", str(done)],
        cwd=SOURCES, check=True, timeout=120,
    )
    return done


@pytest.fixture
def everyday(everyday_program: Path) -> Everyday:
    """``everyday()``: a session with 69 work-items in one group; nothing has run."""

    def start() -> Session:
        session = Session()
        session.load(everyday_program)
        session.sources.program_directory = SOURCES
        session.launch.set_kernel("kern")
        session.launch.set_grid("69")
        session.launch.set_workgroup("69")
        session.launch.set_argument(0, "i32[128]:zeros")
        return session

    return start
