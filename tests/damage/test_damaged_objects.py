"""Debug information with one damaged item at a time: the kernel can still be debugged.

A sample of `python -m tests.damage.explore`, which damages everything in twenty objects.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import rocdbg
from rocdbg.addresses import FileAddress
from rocdbg.codeobject import CodeObject
from rocdbg.dwarf.info import DebugInfo
from tests.damage.damages import damages
from tests.damage.explore import DEMOS, OBJECTS, _object, faults, sample


@pytest.mark.parametrize("name", OBJECTS[:6])
def test_sample(name: str, tmp_path: Path) -> None:
    assert [found for damage in sample(name, 5, seed=1) for found in faults(name, damage, tmp_path)] == []


@pytest.mark.parametrize(("name", "what"), [
    # a name is lost, which is no reason to stop in the stub of a kernel
    ("vectors/vectors.toml", "attribute 0x3 of the entry at 0x78: ones"),
    # lines moved: what is marked as a prologue's end is the next function's, after branches
    ("calls/calls.toml", ".debug_line+0x134: ones"),
    # an entry is below none
    ("vectors/vectors.toml", ".debug_abbrev+0x1c: ones"),
])
def test_found_by_exploring(name: str, what: str, tmp_path: Path) -> None:
    [damage] = [each for each in damages(_object(name)[2]) if each.what == what]
    assert faults(name, damage, tmp_path) == []


def test_a_line_inside_of_an_instruction(capsys: pytest.CaptureFixture[str]) -> None:
    """A wave would never reach a breakpoint there, so the breakpoint is set at the function's start, with one message.
    """
    debugger = rocdbg.Debugger(DEMOS / "divergence/divergence.toml")
    program = debugger.session.inferior.need_program()
    [function] = program.info.functions_named("divergence")
    assert function.entry_pc is not None
    sound = program.info.breakpoint_address(function)
    assert sound is not None and program.info.is_code(function.entry_pc, sound)
    debugger.execute("show version", to_string=True)
    assert not capsys.readouterr().err
    for _ in range(2):
        assert not program.info.is_code(function.entry_pc, FileAddress(sound + 2))
    debugger.execute("show version", to_string=True)
    assert capsys.readouterr().err.count("which is inside an instruction") == 1


@pytest.mark.llvm
def test_a_kernel_whose_inlined_body_is_lost(tmp_path: Path) -> None:
    """OpenCL kernels have a function of their name with an inlined body; the rest of that function never runs."""
    source = tmp_path / "k.cl"
    source.write_text(
        "__kernel void k(__global int *o, int n) {\n  int i = __builtin_amdgcn_workitem_id_x();\n"
        "  for (int j = 0; j < n; j++)\n    o[i] += j * i;\n}\n"
    )
    made = tmp_path / "sound.co"
    subprocess.run(
        ["clang-22", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-nogpulib", "-g",
         "-O2", str(source), "-o", str(made)],
        check=True, timeout=60,
    )
    file = made.read_bytes()
    (tmp_path / "k.toml").write_text(
        '[launch]\nfile = "k.co"\nkernel = "k"\ngrid = [32, 1, 1]\nworkgroup = [32, 1, 1]\n'
        '[[arg]]\nbuffer = "i32[32]"\n[[arg]]\nvalue = 3\n'
    )
    places = [each for each in damages(file) if each.what.startswith(".debug_abbrev") and "ones" in each.what]
    for damage in places[len(places) // 2 : len(places) * 2 // 3]:
        (tmp_path / "k.co").write_bytes(damage.applied(file))
        debugger = rocdbg.Debugger(tmp_path / "k.toml")
        debugger.execute("break k", to_string=True)
        assert "hit Breakpoint" in debugger.execute("run", to_string=True), damage.what
        debugger.execute("kill", to_string=True)


@pytest.mark.parametrize(("entries", "words"), [
    (b"\1\2\1\0\0\0", "an entry of a unit is inside another unit"),
    (b"\1\2\2\0", "2 lists of children do not end within the unit"),
    (b"\1\2\0\0", ""), (b"\1\2\0", ""),
])
def test_structure_of_entries(entries: bytes, words: str) -> None:
    """Damaged abbreviations turn sound entries into units inside units, and into lists without an end."""
    abbreviations = bytes((1, 0x11, 1, 0, 0, 2, 0x2E, 1, 0, 0, 0))
    body = (5).to_bytes(2, "little") + b"\1\x08\0\0\0\0" + entries
    reported: list[str] = []
    info = DebugInfo(
        {".debug_info": len(body).to_bytes(4, "little") + body, ".debug_abbrev": abbreviations},
        report=lambda error: reported.append(str(error)),
    )
    assert not list(info.types_named("x"))
    assert len(reported) == bool(words) and all(words in each for each in reported)


@pytest.mark.llvm
def test_compressed_sections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A section that cannot be unpacked is named and not used; the others and the symbols remain."""
    source = tmp_path / "k.cl"
    source.write_text("__kernel void k(__global int *o) {\n  int i = 4;\n  o[i] = i;\n}\n")
    made = tmp_path / "sound.co"
    subprocess.run(
        ["clang-22", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-g",
         "-O0", "-gz", str(source), "-o", str(made)],
        check=True, timeout=60,
    )
    file = made.read_bytes()
    (tmp_path / "k.toml").write_text(
        '[launch]\nfile = "k.co"\nkernel = "k"\ngrid = [64, 1, 1]\nworkgroup = [64, 1, 1]\n[[arg]]\nbuffer = "i32[9]"\n'
    )
    for name in (".debug_info", ".debug_abbrev"):
        section = CodeObject(file, name="sound.co").sections[name]
        middle = section.offset + 24 + (len(section.data) - 24) // 2  # after the header of the compressed data
        (tmp_path / "k.co").write_bytes(file[:middle] + b"\xff" * 8 + file[middle + 8 :])
        debugger = rocdbg.Debugger(tmp_path / "k.toml")
        debugger.execute("break k", to_string=True)
        assert "hit Breakpoint" in debugger.execute("run", to_string=True), name
        for command in ("bt", "info frame", "print $exec", "stepi"):
            debugger.execute(command, to_string=True)
        debugger.execute("kill", to_string=True)
        assert f"section {name} at offset" in capsys.readouterr().err, name
