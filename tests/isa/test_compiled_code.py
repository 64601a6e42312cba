"""The text of compiled code equals llvm-objdump's."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from rocdbg import isa
from rocdbg.isa.generate.llvm_assembler import Assembler

SOURCES = Path(__file__).parent / "sources"
TARGETS = (
    "gfx803", "gfx810",
    "gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90a", "gfx90c", "gfx942", "gfx950",
    "gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035",
    "gfx1036", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200",
    "gfx1201", "gfx1250",
)
SOURCES_AND_OPTIONS = (
    ("vector.cl", "-O2"),
    ("memory.cl", "-O2"),
    ("cross_lane.hip", "-O1"),
    ("memory.cl", "-O0"),
)
# Every target sees one source; those whose code differs most see more.
CASES = [
    (source, target, (level,))
    for i, target in enumerate(TARGETS)
    for source, level in (SOURCES_AND_OPTIONS[(i + 2) % 4],)
] + [
    ("matrix.cl", "gfx90a", ("-O2",)),
    ("matrix.cl", "gfx942", ("-O2",)),
    ("vector.cl", "gfx1100", ("-O0",)),
    ("vector.cl", "gfx1250", ("-O2",)),
    ("vector.cl", "gfx1030", ("-O2", "-mwavefrontsize64")),
    ("memory.cl", "gfx1100", ("-O2", "-mwavefrontsize64")),
    ("cross_lane.hip", "gfx1100", ("-O1", "-mwavefrontsize64")),
    ("vector.cl", "gfx1201", ("-O2", "-mwavefrontsize64")),
]
OPENCL = ("-target", "amdgcn-amd-amdhsa", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header")
HIP = ("-x", "hip", "--cuda-device-only", "-nogpuinc", "--no-gpu-bundle-output")


def compile_source(source: str, target: str, options: tuple[str, ...], output: Path) -> None:
    """Compile one of the sources to an object."""
    if source.endswith(".cl"):
        command = ["clang-22", *OPENCL, f"-mcpu={target}"]
    else:
        command = ["clang-22", *HIP, f"--offload-arch={target}"]
    subprocess.run(
        [*command, "-nogpulib", "-w", "-c", *options, str(SOURCES / source), "-o", str(output)], check=True
    )


def objdump(path: Path, wave_size: int | None) -> dict[int, str]:
    """Folded text by address, without comments."""
    attributes = ["--mattr=+wavefrontsize64"] if wave_size == 64 else []
    listing = subprocess.run(
        ["llvm-objdump-22", "-d", "--section=.text", *attributes, str(path)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    lines = {}
    for line in listing.splitlines():
        if match := re.match(r"^\s+(\S.*?)\s*// ([0-9A-F]{12}):", line):
            lines[int(match[2], 16)] = " ".join(match[1].split())
    return lines


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("source", "target", "options"), CASES, ids=lambda v: v if isinstance(v, str) else "".join(v)
)
def test_text_equals_objdump(source: str, target: str, options: tuple[str, ...], tmp_path: Path) -> None:
    output = tmp_path / "code.co"
    compile_source(source, target, options, output)
    wave_size = 64 if "-mwavefrontsize64" in options else None
    expected = objdump(output, wave_size)
    with output.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".text")
        code, address = section.data(), section["sh_addr"]
    listing = {i.address: i for i in isa.disassemble(code, target, address, wave_size=wave_size)}
    assert len(expected) > 100
    wrong = [
        (hex(at), text, listing[at].text if at in listing else None)
        for at, text in expected.items()
        if at not in listing or listing[at].text != text
    ]
    assert not wrong, wrong[:10]
    assert listing.keys() == expected.keys()
    # Text gives the bytes again. Branches look alike wherever they are.
    some = {i.text: i for i in list(listing.values())[:: 7 if len(listing) > 700 else 1]}
    for text, i in some.items():
        start = i.address - address
        assert isa.assemble(text, target, wave_size=wave_size) == code[start : start + i.size], text


def listed(source: str, target: str, options: tuple[str, ...]) -> list[str]:
    """The instructions of the compiler's own listing, in order."""
    text = subprocess.run(
        ["clang-22", *OPENCL, f"-mcpu={target}", "-nogpulib", "-w", "-S", *options, str(SOURCES / source), "-o", "-"],
        check=True, capture_output=True, text=True,
    ).stdout
    return [" ".join(line.split(";")[0].split()) for line in text.splitlines() if re.match(r"^\t[a-z]", line)]


_SYMBOLIC = re.compile(r"BB\d|@|\bs_(?:c?branch)|\$")


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("source", "target", "level"),
    [("vector.cl", "gfx600", "-O2"), ("memory.cl", "gfx700", "-O0"), ("vector.cl", "gfx700", "-O2")],
)
def test_text_equals_the_compilers(source: str, target: str, level: str, tmp_path: Path) -> None:
    """For targets that LLVM cannot disassemble: the text equals clang's listing, and is assembled to the same bytes."""
    output = tmp_path / "code.co"
    compile_source(source, target, (level,), output)
    with output.open("rb") as file:
        code = ELFFile(file).get_section_by_name(".text").data()
    listing = list(isa.disassemble(code, target))
    assert not [i.text for i in listing if i.illegal]
    compilers = listed(source, target, (level,))
    # What is between functions is not in the compiler's listing.
    ours = iter(i.text for i in listing)
    wrong = []
    for text in compilers:
        mine = next(ours, "")
        while mine != text and mine in ("s_nop 0", "s_code_end"):
            mine = next(ours, "")
        if mine != text and not (_SYMBOLIC.search(text) and mine.split()[0] == text.split()[0]):
            wrong.append((text, mine))
    assert len(compilers) > 1000
    assert not wrong, wrong[:10]
    assembled = Assembler(target).ask([i.text for i in listing])
    assert b"".join(a[0].to_bytes(a[1], "little") for a in assembled if a) == code
