"""The occupancy equals the one that the compiler writes after each kernel."""

from __future__ import annotations

import re
import subprocess

import pytest

from rocdbg.arch.occupancy import occupancy
from rocdbg.arch.targets import target_by_name

PROCESSORS = [
    "gfx700", "gfx803", "gfx900", "gfx908", "gfx90a", "gfx942", "gfx1010", "gfx1030", "gfx1100", "gfx1102", "gfx1151",
    "gfx11-generic", "gfx1200", "gfx12-generic", "gfx1250",
]
SHAPES = [(vgpr, sgpr, lds, size) for vgpr in (0, 23, 41, 63, 84, 127, 250) for sgpr, lds, size in (
    (0, 0, 64), (0, 0, 256), (0, 0, 1024), (50, 0, 192), (75, 20000, 256), (90, 3000, 64), (95, 40000, 512),
)]
"""For each kernel: the highest VGPR and SGPR that it touches, its LDS and its workgroup size."""
KERNEL = """
kernel __attribute__((reqd_work_group_size({size}, 1, 1))) void k{number}(global int *out) {{
    {lds}
    __asm volatile("" ::: "v{vgpr}", "s{sgpr}");
    out[3] = 1;
}}
"""
LDS = """local char shared[{lds}]; shared[__builtin_amdgcn_workitem_id_x()] = out[0];
    __builtin_amdgcn_s_barrier(); out[1] = shared[out[2]];"""


def compiled(processor: str, *options: str) -> list[dict[str, int]]:
    """The facts about each kernel in clang's assembly text."""
    source = "".join(
        KERNEL.format(size=size, number=number, vgpr=vgpr, sgpr=sgpr, lds=LDS.format(lds=lds) if lds else "")
        for number, (vgpr, sgpr, lds, size) in enumerate(SHAPES)
    )
    command = [
        "clang-22", "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", f"-mcpu={processor}", "-O1", *options,
        "-S", "-o", "-", "-",
    ]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    names = {"TotalNumSgprs": "sgprs", "NumVgprs": "vgprs", "TotalNumVgprs": "vgprs", "LDSByteSize": "lds",
             "Occupancy": "waves"}
    found = []
    for part in text.split("; Kernel info:")[1:]:
        part = part.split("; Function info:")[0]
        values = {names[n]: int(v) for n, v in re.findall(r"; (\w+): (\d+)", part) if n in names}
        found.append(values)
    return found


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("processor", "options"),
    [
        (processor, options) for options in ((), ("-mcumode",), ("-mwavefrontsize64",)) for processor in PROCESSORS
        if not options or target_by_name(processor).supports_wgp_mode
    ],
)
def test_as_the_compiler_says(processor: str, options: tuple[str, ...]) -> None:
    target = target_by_name(processor)
    wave_size = 64 if options == ("-mwavefrontsize64",) else target.default_wave_size
    reports = compiled(processor, *options)
    assert len(reports) == len(SHAPES)
    for report, shape in zip(reports, SHAPES, strict=True):
        found = occupancy(
            target, wave_size, vgprs=report["vgprs"], sgprs=report["sgprs"], lds=report["lds"], workgroup=shape[3],
            wgp_mode=options != ("-mcumode",),
        )
        assert found.waves == report["waves"], f"{shape} {report} {found}"


@pytest.mark.parametrize(
    ("vgprs", "sgprs", "lds", "workgroup", "waves", "by"),
    [
        (8, 16, 0, 256, 8, "waves"),
        (128, 16, 0, 256, 4, "VGPRs"),
        (8, 104, 0, 256, 7, "SGPRs"),
        (8, 16, 40000, 256, 1, "LDS"),
        (8, 16, 0, 65, 8, "waves"),
        (8, 16, 0, 640, 8, "waves"),
    ],
)
def test_what_limits(vgprs: int, sgprs: int, lds: int, workgroup: int, waves: int, by: str) -> None:
    found = occupancy(target_by_name("gfx90a"), 64, vgprs=vgprs, sgprs=sgprs, lds=lds, workgroup=workgroup)
    assert (found.waves, found.limited_by) == (waves, by)


@pytest.mark.parametrize(
    ("processor", "wave_size", "wgp", "vgprs", "lds", "workgroup", "waves", "by"),
    [
        ("gfx1100", 32, True, 8, 0, 64, 16, "waves"),  # 32 workgroups of two waves on four SIMDs
        ("gfx1100", 32, False, 8, 0, 64, 16, "waves"),  # 16 workgroups on two SIMDs
        ("gfx1100", 64, True, 8, 0, 128, 16, "waves"),
        ("gfx1100", 32, True, 8, 40000, 256, 6, "LDS"),  # of two compute units
        ("gfx1100", 32, False, 8, 40000, 256, 4, "LDS"),
        ("gfx1100", 32, True, 193, 0, 64, 7, "VGPRs"),  # units of 24 among 1536
        ("gfx1030", 64, True, 100, 0, 64, 4, "VGPRs"),  # units of 8 among 512
        ("gfx1010", 32, True, 8, 0, 64, 16, "workgroups"),  # would have room for 20 waves
        ("gfx803", 64, False, 8, 0, 64, 10, "waves"),
    ],
)
def test_what_limits_other_processors(
    processor: str, wave_size: int, wgp: bool, vgprs: int, lds: int, workgroup: int, waves: int, by: str
) -> None:
    found = occupancy(
        target_by_name(processor), wave_size, vgprs=vgprs, sgprs=16, lds=lds, workgroup=workgroup, wgp_mode=wgp
    )
    assert (found.waves, found.limited_by) == (waves, by)


def test_memory_that_is_left_limits_nothing() -> None:
    """16 workgroups of two waves on four SIMDs: there is memory for 65."""
    found = occupancy(target_by_name("gfx803"), 64, vgprs=8, sgprs=16, lds=1000, workgroup=128)
    assert (found.waves, found.limited_by) == (8, "workgroups")


# processor, wave size, what is counted; the most registers with which so many waves fit
REGISTERS = [
    ("gfx700", 64, "SGPRs", {10: 48, 9: 56, 8: 64, 7: 72, 6: 80, 5: 104}),
    ("gfx803", 64, "SGPRs", {10: 80, 9: 88, 8: 100, 7: 104}),
    ("gfx906", 64, "SGPRs", {10: 80, 9: 88, 8: 100, 7: 104}),
    ("gfx1030", 32, "SGPRs", {16: 104}),
    ("gfx803", 64, "VGPRs", {10: 24, 9: 28, 8: 32, 7: 36, 6: 40, 5: 48, 4: 64, 3: 84, 2: 128, 1: 256}),
    ("gfx90a", 64, "VGPRs", {8: 64, 7: 72, 6: 80, 5: 96, 4: 128, 3: 168, 2: 256, 1: 512}),
    ("gfx1030", 32, "VGPRs", {16: 64, 12: 80, 10: 96, 9: 112, 8: 128, 7: 144, 6: 160, 5: 192, 4: 256}),
    ("gfx1030", 64, "VGPRs", {16: 32, 12: 40, 10: 48, 9: 56, 8: 64, 7: 72, 6: 80, 5: 96, 4: 128, 3: 168, 2: 256}),
    ("gfx1100", 32, "VGPRs", {16: 96, 12: 120, 10: 144, 9: 168, 8: 192, 7: 216, 6: 240, 5: 256}),
]


@pytest.mark.parametrize(("processor", "wave_size", "what", "most"), REGISTERS)
def test_registers_of_so_many_waves(processor: str, wave_size: int, what: str, most: dict[int, int]) -> None:
    found: dict[int, int] = {}
    for count in range(1, max(most.values()) + 1):
        given = {"vgprs": 1, "sgprs": 1, what.lower(): count}
        limits = occupancy(target_by_name(processor), wave_size, lds=0, workgroup=64, **given).limits
        found[limits[what]] = count
    assert found == most
