"""Nested subprograms, as flang describes procedures that are contained in others: found by name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rocdbg.dwarf.info import DebugInfo
from tests.dwarf.info.conftest import debug_sections

pytestmark = pytest.mark.llvm

SOURCE = """
extern "C" __attribute__((device, noinline)) int inner(int v) { return v; }
extern "C" __attribute__((device, noinline)) int outer(int v) { return inner(v); }
"""


def built(folder: Path, names: str, language: str) -> DebugInfo:
    """clang's code with one function nested in the other; ``names`` selects the index that LLVM makes."""
    (folder / "a.hip").write_text(SOURCE)
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-g",
         "-O0", "-fgpu-rdc", "-fvisibility=default", "-S", "-emit-llvm", "a.hip", "-o", "a.ll"], cwd=folder, check=True,
    )
    text = (folder / "a.ll").read_text().replace("nameTableKind: None", f"nameTableKind: {names}")
    text = re.sub(r"language: DW_LANG_\w+", f"language: {language}", text)
    (around,) = re.findall(r'(!\d+) = distinct !DISubprogram\(name: "outer"', text)
    text = re.sub(r'(!DISubprogram\(name: "inner", scope: )!\d+', rf"\1{around}", text)
    (folder / "a.ll").write_text(text)
    subprocess.run(
        ["llc-22", "-O0", "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "a.ll", "-o", "a.o"],
        cwd=folder, check=True,
    )
    subprocess.run(["ld.lld-22", "-shared", "a.o", "-o", "a.co"], cwd=folder, check=True)
    sections = debug_sections(folder / "a.co")
    assert (".debug_names" in sections) == (names == "Default")
    return DebugInfo(sections)


@pytest.mark.parametrize("names", ["None", "Default"])
def test_by_name(names: str, tmp_path: Path) -> None:
    info = built(tmp_path, names, "DW_LANG_C11")
    (inner,), (outer,) = info.functions_named("inner"), info.functions_named("outer")
    assert inner.die.parent == outer.die
    assert inner.qualified_name == "inner"
    assert info.functions_named("outer::inner") == []
    assert info.function_at(inner.low_pc or 0) == inner


@pytest.mark.parametrize("names", ["None", "Default"])
def test_in_fortran_they_belong_to_what_is_around_them(names: str, tmp_path: Path) -> None:
    """As in GDB, `break inner` and `break outer::inner` both work, and frames show `outer::inner`."""
    info = built(tmp_path, names, "DW_LANG_Fortran18")
    (inner,) = info.functions_named("inner")
    assert info.functions_named("outer::inner") == [inner]
    assert inner.qualified_name == "outer::inner"
