"""Files that annotate writes: their contents, the parts that stay unchanged, and the reports of other tools on them."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

import rocdbg
from rocdbg import dwarf
from rocdbg.cli.main import main
from rocdbg.codeobject import open_file
from rocdbg.codeobject.elf import Elf
from rocdbg.debugger.annotate.annotated_file import annotated
from rocdbg.dwarf.info.constants import At
from rocdbg.launch.debug_sections import DebugSections

DEMOS = Path(__file__).parents[2] / "demo_kernels"
PRODUCERS = Path(__file__).parents[1] / "producers"
SOURCE = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
struct Pair { int a; long b; };
static __device__ __attribute__((noinline)) long sum(const int *in, Pair p)
{
    long total = p.b;
    for (int k = 0; k < p.a; ++k)
        if (in[k] & 1)
            total += in[k] * p.a;
    return total;
}
extern "C" __global__ void kernel(const int *in, long *out)
{
    __attribute__((shared)) static int tile[64];
    int i = __builtin_amdgcn_workitem_id_x();
    tile[i] = in[i];
    Pair p = {i & 7, in[i]};
    out[i] = sum(in, p) + tile[63 - i];
}
"""


def compiled(folder: Path, arch: str, *options: str) -> Path:
    (folder / "kernel.hip").write_text(SOURCE)
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", f"--offload-arch={arch}",
         "--no-gpu-bundle-output", *options, "kernel.hip", "-o", "kernel.co"], check=True, cwd=folder,
    )
    return folder / "kernel.co"


def verified(path: Path) -> list[str]:
    """The errors that llvm-dwarfdump finds, without their positions."""
    run = subprocess.run(["llvm-dwarfdump-22", "--verify", str(path)], capture_output=True, text=True, check=False)
    return sorted(line for line in (run.stdout + run.stderr).splitlines() if line.startswith("error:"))


@pytest.mark.llvm
@pytest.mark.parametrize(("arch", "options"), [
    ("gfx90a", ("-g", "-O2")),
    ("gfx1201", ("-g", "-O0", "-fdebug-types-section", "-gpubnames", "-gdwarf-aranges")),
    ("gfx942", ("-gdwarf-4", "-O1", "-gz=zstd", "-fdebug-types-section")),
    ("gfx1100", ("-gdwarf-3", "-O2")),
    ("gfx1030", ("-g", "-gdwarf64", "-O0")),
], ids=lambda value: "".join(value))
def test_what_other_tools_see(arch: str, options: tuple[str, ...], tmp_path: Path) -> None:
    path = compiled(tmp_path, arch, *options)
    output = tmp_path / "out.co"
    done = rocdbg.annotate(path, output)
    assert (done.functions, done.unwound, done.with_lanes) == (2, 2, 2)
    assert verified(output) == verified(path)
    before, after = open_file(path), open_file(output)
    assert Elf(after.source).segments == Elf(before.source).segments
    for name, section in before.sections.items():
        if not name.startswith((".debug_", ".shstrtab")):
            assert after.sections[name].data == section.data, name
    assert {name: s.address for name, s in after.sections.items() if s.address} == {
        name: s.address for name, s in before.sections.items() if s.address
    }
    dump = subprocess.run(
        ["llvm-dwarfdump-22", "--debug-info", "--debug-loc", "--debug-loclists", str(output)], check=True,
        capture_output=True, text=True,
    )
    assert "decoding error" not in dump.stdout
    assert not dump.stderr
    assert "DW_OP_xderef" not in dump.stdout
    assert "DW_OP_LLVM_select_bit_piece" in dump.stdout


@pytest.mark.llvm
def test_what_is_written(tmp_path: Path) -> None:
    path = compiled(tmp_path, "gfx90a", "-g", "-O2")
    code_object = open_file(path)
    data, _ = annotated(code_object, path)
    (tmp_path / "out.co").write_bytes(data)
    sections = DebugSections(open_file(tmp_path / "out.co"))
    info = rocdbg.dwarf.info.DebugInfo(sections)
    (unit,) = (unit for unit in info.units if not unit.is_type_unit)
    assert (unit.augmentation, unit.dialect) == ("[amdgpu:v0.0]", "amd")
    kernel, helper = (next(f for f in info.functions_named(n) if f.low_pc is not None) for n in ("kernel", "sum"))
    for function in (kernel, helper):
        assert function.die.number(At.LLVM_LANES) == 64
        assert function.attribute(At.LLVM_LANE_PC) is not None
    frames = dwarf.parse_frames(sections[".debug_frame"])
    first = frames.row(kernel.low_pc)
    assert first is not None
    assert isinstance(first.rule(16), dwarf.cfi_rule_types.UndefinedRule)
    row = frames.row(helper.low_pc)
    assert row is not None
    assert row.cfa == dwarf.cfi_rule_types.CfaRegister(64, 0, 6)  # s32 in the memory of the wave
    tile = next(v for v in kernel.variables if v.name == "tile")
    assert dwarf.format_expression(tile.location.data) == (  # type: ignore[union-attr]
        "DW_OP_constu 0x0, DW_OP_lit3, DW_OP_LLVM_user DW_OP_LLVM_form_aspace_address"
    )


@pytest.mark.llvm
def test_call_frames_are_those_of_the_text(tmp_path: Path) -> None:
    """As "AMDGPU usage" requires, factors are 4, and the CFA of kernels is address 0 of private_lane."""
    rocdbg.annotate(DEMOS / "calls/calls.O0.gfx90a.co", tmp_path / "out.co")
    command = ["llvm-dwarfdump-22", "--debug-frame", str(tmp_path / "out.co")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    cie, _, entries = text.partition("FDE")
    assert "Code alignment factor: 4" in cie and "Data alignment factor: 4" in cie
    cfa = r"DW_CFA_def_cfa_expression: DW_OP_lit0, DW_OP_lit(\d+), .*\n  DW_CFA_undefined: PC_REG"
    kernels = re.findall(cfa, entries)
    assert kernels and set(kernels) == {"5"}
    assert "DW_CFA_set_loc" in entries  # rules change within calls


def test_annotating_again_changes_nothing(tmp_path: Path) -> None:
    once, twice = tmp_path / "once.co", tmp_path / "twice.co"
    rocdbg.annotate(DEMOS / "calls/calls.O2.gfx90a.co", once)
    again = rocdbg.annotate(once, twice)
    assert (again.unwound, again.with_lanes) == (0, 0)
    assert twice.read_bytes() == once.read_bytes()


def test_call_frames_that_are_there_stay(tmp_path: Path) -> None:
    path = DEMOS / "extensions/unwinding/unwinding.gfx90a.co"
    done = rocdbg.annotate(path, tmp_path / "out.co")
    assert done.unwound == 0
    before, after = (DebugSections(open_file(p)) for p in (path, tmp_path / "out.co"))
    assert after[".debug_frame"] == before[".debug_frame"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = DEMOS / "saxpy/saxpy.O2.gfx1100.co", tmp_path / "out.co"
    assert main(["annotate", str(path), "-o", str(output)]) == 0
    assert capsys.readouterr().out == f"{output}: 1 function, unwind rules for 1, lane positions for 1\n"
    assert main(["annotate", str(tmp_path / "no.co"), "-o", str(output)]) == 1
    assert "no.co" in capsys.readouterr().err
    assert main(["annotate", str(path), "-o", str(tmp_path / "no" / "out.co")]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["out.co"]


def test_a_file_may_replace_itself(tmp_path: Path) -> None:
    path = tmp_path / "saxpy.co"
    path.write_bytes((DEMOS / "saxpy/saxpy.O2.gfx1100.co").read_bytes())
    path.chmod(0o640)
    rocdbg.annotate(path, path)
    assert path.stat().st_mode & 0o777 == 0o640
    assert ".debug_loclists" in open_file(path).sections


def test_without_debug_information_there_are_unwind_rules(tmp_path: Path) -> None:
    done = rocdbg.annotate(PRODUCERS / "add.nodebug.clang14.v2.co", tmp_path / "out.co")
    assert (done.functions, done.unwound, done.with_lanes) == (2, 2, 0)


@pytest.mark.llvm
def test_unlinked_objects_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text("s_endpgm\n")
    subprocess.run(
        ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "a.s", "-o", "a.o"],
        check=True, cwd=tmp_path,
    )
    with pytest.raises(rocdbg.Error, match="link it first"):
        rocdbg.annotate(tmp_path / "a.o", tmp_path / "out.co")


def test_damaged_files_end_in_a_result_or_an_error(tmp_path: Path) -> None:
    original = (DEMOS / "saxpy/saxpy.O2.gfx90a.co").read_bytes()
    sections = open_file(DEMOS / "saxpy/saxpy.O2.gfx90a.co").sections
    places = [(s.offset, s.size) for name, s in sections.items() if name.startswith(".debug_") and s.size]
    headers = int.from_bytes(original[0x28:0x30], "little")
    places += [(headers, len(original) - headers), (0, 64)]
    choice = random.Random(7)
    path, errors = tmp_path / "bad.co", 0
    for _ in range(60):
        data = bytearray(original)
        for _ in range(choice.randrange(1, 4)):
            offset, size = choice.choice(places)
            data[offset + choice.randrange(size)] = choice.choice((0, 1, 0x7F, 0x80, 0xFF, choice.randrange(256)))
        path.write_bytes(data)
        try:
            rocdbg.annotate(path, tmp_path / "out.co")
        except rocdbg.Error:
            errors += 1
    assert 5 < errors < 60
