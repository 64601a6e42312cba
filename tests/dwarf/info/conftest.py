"""Code objects compiled from the sources beside these tests, opened as debug information."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from rocdbg.dwarf.info import DebugInfo

SOURCES = Path(__file__).parent / "sources"

Sections = dict[str, bytes]
Build = Callable[..., Path]


def command(source: str, arch: str, options: tuple[str, ...]) -> list[str]:
    common = ["-g", "-fdebug-compilation-dir=/src", *options]
    if source.endswith(".hip"):
        return ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib",
                f"--offload-arch={arch}", "--no-gpu-bundle-output", *common, source]
    return ["clang-22", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-nogpulib",
            "-w", *common, source]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """``build(source, *options, arch=...)``: path of the code object, compiled once a session."""
    folder = tmp_path_factory.mktemp("objects")

    @cache
    def compiled(source: str, *options: str, arch: str = "gfx90a") -> Path:
        name = "-".join((source, arch, *options)).replace("/", "_").replace("=", "_")
        path = folder / f"{name}.co"
        subprocess.run([*command(source, arch, options), "-o", str(path)], check=True, cwd=SOURCES)
        return path

    return compiled


def debug_sections(path: Path) -> Sections:
    with path.open("rb") as file:
        return {
            section.name: section.data() for section in ELFFile(file).iter_sections()
            if section.name.startswith(".debug")
        }


@pytest.fixture(scope="session")
def sections(build: Build) -> Callable[..., Sections]:
    """As ``build``: the debug sections, by name."""
    return lambda *arguments, **keywords: debug_sections(build(*arguments, **keywords))


@pytest.fixture(scope="session")
def opened(build: Build) -> Callable[..., DebugInfo]:
    """As ``build``: the debug information, opened once a session."""

    @cache
    def info(source: str, *options: str, arch: str = "gfx90a") -> DebugInfo:
        return DebugInfo(debug_sections(build(source, *options, arch=arch)))

    return info
