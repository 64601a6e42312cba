"""Code for the analysis tests: clang's output, with the functions in it."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.prologue import PrologueRows
from rocdbg.arch.targets import target_by_name

SOURCES = Path(__file__).parent / "sources"


@dataclass(frozen=True)
class Object:
    """A compiled object; ``functions`` maps names, demangled far enough to be readable, to functions."""

    path: Path
    arch: str
    wave_size: int
    address: int
    text: bytes
    functions: dict[str, FunctionCode]

    def read(self, address: int, size: int) -> bytes:
        return self.text[address - self.address:address - self.address + size]

    def find(self, pc: int) -> FunctionCode | None:
        return next((function for function in self.functions.values() if function.start <= pc < function.end), None)

    def rows(self) -> PrologueRows:
        return PrologueRows(target_by_name(self.arch), self.wave_size, self.find, self.read)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Object]:
    """``compiled(arch, level, wave_size)``: calls.hip, compiled once a session."""
    folder = tmp_path_factory.mktemp("calls")

    @functools.cache
    def make(arch: str, level: str, wave_size: int) -> Object:
        path = folder / f"calls.{arch}.{level}.{wave_size}.co"
        options = ["-mwavefrontsize64"] if wave_size == 64 and arch.startswith("gfx1") else []
        subprocess.run(
            ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", f"--offload-arch={arch}",
             "--no-gpu-bundle-output", "-g", f"-{level}", *options, "calls.hip", "-o", str(path)],
            check=True, cwd=SOURCES,
        )
        with path.open("rb") as file:
            elf = ELFFile(file)
            text = elf.get_section_by_name(".text")
            functions = {}
            for symbol in elf.get_section_by_name(".symtab").iter_symbols():
                if symbol["st_info"]["type"] == "STT_FUNC":
                    start = symbol["st_value"]
                    name = symbol.name.removeprefix("_Z").lstrip("0123456789")
                    functions[name] = FunctionCode(start, start + symbol["st_size"], name.startswith("kernel"))
            return Object(path, arch, wave_size, text["sh_addr"], text.data(), functions)

    return make
