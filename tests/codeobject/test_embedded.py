"""Code objects embedded in a program's data: those of OpenMP."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rocdbg.codeobject import CodeObjectError, list_entries, open_file, open_modules
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.startable_program import find_program, is_program
from rocdbg.codeobject.verbatim_objects import find_embedded

LIBRARIES = Path("/usr/lib/llvm-22/lib")
X86 = 62


def host(*code: bytes) -> bytes:
    """The beginning of a host's ELF file that contains some items at multiples of 8 bytes."""
    head = b"\x7fELF\2\1\1" + bytes(9) + (2).to_bytes(2, "little") + X86.to_bytes(2, "little")
    data = head.ljust(64, b"\0")
    for each in code:
        data += bytes(-len(data) % 8 + 16) + each
    return data + bytes(32)


def test_each_is_found(elf_builder: Any) -> None:
    code = [elf_builder(flags=flags).build() for flags in (0x53F, 0x41)]
    data = host(code[0], b"\x7fELF\2\1\1\x40", code[1])
    found = list(find_embedded(Source("host", data)))
    assert [str(each.target_id) for each in found] == ["gfx90a", "gfx1100"]
    assert [data[each.offset : each.offset + each.size] for each in found] == code


def test_what_is_cut_short_or_unknown_is_not(elf_builder: Any) -> None:
    code = elf_builder(flags=0x53F).build()
    whole = host(code)
    for size in range(0, len(whole) - 32, 7):
        assert not list(find_embedded(Source("host", whole[:size])))
    assert not list(find_embedded(Source("host", host(elf_builder(flags=0xFF).build()))))


def test_damage_is_harmless(elf_builder: Any) -> None:
    chance = random.Random(5)
    whole = host(elf_builder(flags=0x53F).build())
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(4):
            data[chance.randrange(80, 160)] = chance.choice((0, 1, 0x7F, 0xFF))
        for each in find_embedded(Source("host", bytes(data))):
            assert 0 < each.offset < each.offset + each.size <= len(data)


def test_a_host_without_code_says_so(tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.write_bytes(Path("/bin/true").read_bytes())
    with pytest.raises(CodeObjectError, match=r"contains no AMDGPU code: the ELF file is for machine \d+ and has"):
        open_file(path)


@pytest.mark.llvm
@pytest.mark.skipif(not any(LIBRARIES.glob("libomptarget.so.22*")), reason="needs liboffload-22")
def test_openmp_of_llvm(tmp_path: Path) -> None:
    """The library with OpenMP's device functions is not packaged, so the functions stay undefined."""
    for name in ("libomptarget.so", "libLLVMOffload.so"):
        (tmp_path / name).symlink_to(LIBRARIES / f"{name}.22.1")
    source, path = tmp_path / "omp.c", tmp_path / "omp"
    source.write_text("int main() {\n  int a = 0;\n#pragma omp target map(from : a)\n  a = 5;\n  return a - 5;\n}\n")
    options = ["-g", "-O1", "-fopenmp", "--offload-arch=gfx90a", "-nogpulib", "-Xoffload-linker",
               "--unresolved-symbols=ignore-all", f"-L{tmp_path}", f"-L{LIBRARIES}"]  # fmt: skip
    subprocess.run(["clang-22", *options, str(source), "-o", str(path)], check=True)
    (entry,) = list_entries(path)
    assert (entry.id, entry.is_code_object) == ("gfx90a", True)
    (code,) = open_modules(path, "gfx90a")
    (name,) = code.kernels
    assert name.startswith("__omp_offloading_") and name.endswith("_main_l3")
    assert open_file(str(entry.uri)).source.data == code.source.data
    assert is_program(str(path))


def test_programs_are_told_from_code(tmp_path: Path, elf_builder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program, code, text = tmp_path / "program", tmp_path / "code", tmp_path / "text"
    shutil.copy("/bin/true", program)
    code.write_bytes(elf_builder(flags=0x53F).build())
    text.write_text("#!/bin/sh\n")
    for path in (code, text):
        path.chmod(0o755)
    assert [is_program(str(path)) for path in (program, code, text, tmp_path, tmp_path / "none")] == [
        True, False, False, False, False,
    ]  # fmt: skip
    data = program.read_bytes()
    for size in (0, 10, 63, 64, 100):
        program.write_bytes(data[:size])
        assert not is_program(str(program))
    program.write_bytes(data)
    program.chmod(0o644)
    assert not is_program(str(program))
    monkeypatch.chdir(tmp_path)
    assert find_program("text") == str(text)
    assert find_program("program") is None, "it cannot be executed"
    assert find_program("true") in ("/bin/true", "/usr/bin/true")
    assert find_program("no-such-program") is None
