"""Programs that use simulated GPUs: the runtime library, the client's kernels, and how programs are run."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.host.find_runtime_library import RuntimeLibrary, runtime_library

BUILT = Path(__file__).parent / "sources" / "kernels.gfx90a.co"


@pytest.fixture(scope="session")
def library(translation_cache: None) -> RuntimeLibrary:
    """The runtime library, built once for all tests."""
    return runtime_library()


@pytest.fixture(scope="session")
def kernels() -> Path:
    """The client's kernels for gfx90a, which are built so that the client needs no compiler. A test compares them with
    their source, and ``python tests/host/conftest.py`` builds them again.
    """
    return BUILT


def build_kernels(output: Path) -> None:
    """Compile the client's kernels."""
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
               "-O1", "--no-gpu-bundle-output", "-fuse-cuid=none", "-Xoffload-linker",
               "--unresolved-symbols=ignore-all"]  # fmt: skip
    subprocess.run([*command, "kernels.hip", "-o", str(output)], check=True, cwd=BUILT.parent)


@pytest.fixture
def clang_host(tmp_path: Path) -> Callable[..., Path]:
    """A host executable with device code for each of the given GPUs."""

    def build(*targets: str) -> Path:
        source, path = tmp_path / "host.hip", tmp_path / f"host-{len(targets)}"
        source.write_text('__attribute__((device)) int v = 1;\n')
        offload = [f"--offload-arch={target}" for target in targets]
        command = ["clang-22", "-x", "hip", "-nogpuinc", "-nogpulib", *offload, "-c", str(source), "-o", str(path)]
        subprocess.run(command, check=True)
        path.chmod(0o755)
        return path

    return build


if __name__ == "__main__":
    build_kernels(BUILT)
