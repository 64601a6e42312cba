"""The table of targets, against what LLVM's assembler does."""

from __future__ import annotations

import re
import subprocess

import pytest

from rocdbg.arch import TARGETS, Generation, ScratchKind, Target, UnknownTargetError
from rocdbg.arch.targets import target_by_mach, target_by_name, target_by_version

# Still found in older code objects, dropped by LLVM 21.
GONE_FROM_LLVM = {"gfx940", "gfx941"}
AMDGCN = [t for t in TARGETS.values() if not t.is_r600 and t.name not in GONE_FROM_LLVM]


def assemble(text: str, cpu: str, triple: str = "amdgcn-amd-amdhsa") -> bytes | None:
    """The object file, None if the assembler refuses."""
    command = ["llvm-mc-22", "-triple", triple, f"-mcpu={cpu}", "-filetype=obj", "-o", "-"]
    result = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    return None if result.returncode or b"not a recognized processor" in result.stderr else result.stdout


def llvm_processors(triple: str) -> list[str]:
    command = ["llvm-mc-22", "-triple", triple, "-mcpu=help"]
    text = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    ).stderr
    return re.findall(r"^  (\S+) +- Select the \1 processor", text, re.MULTILINE)


@pytest.mark.llvm
@pytest.mark.parametrize("triple", ["amdgcn-amd-amdhsa", "r600"])
def test_every_processor_of_llvm_has_its_machine_value(triple: str) -> None:
    wanted = {}
    for name in llvm_processors(triple):
        if name.startswith("generic"):
            continue
        data = assemble("", name, triple)
        assert data is not None
        at = 0x30 if data[4] == 2 else 0x24
        flags = int.from_bytes(data[at : at + 4], "little")
        wanted[name] = (flags & 0xFF, bool(flags & 0x300), bool(flags & 0xC00), bool(flags >> 24))
    assert len(wanted) > 10
    found = {name: target_by_name(name) for name in wanted}
    assert {
        name: (t.mach, t.supports_xnack, t.supports_sramecc, t.is_generic) for name, t in found.items()
    } == wanted


@pytest.mark.llvm
@pytest.mark.parametrize("target", AMDGCN, ids=str)
def test_properties(target: Target) -> None:
    """What the assembler's kernel descriptor directives accept tells what a processor has."""

    def accepts(directive: str) -> bool:
        offset = ".amdhsa_accum_offset 8" if target.unified_vgprs else ""
        text = (
            ".text\nk: s_endpgm\n.rodata\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n"
            f".amdhsa_next_free_sgpr 8\n.amdhsa_reserve_vcc 0\n{offset}\n{directive}\n.end_amdhsa_kernel\n"
        )
        return assemble(text, target.name) is not None

    assert accepts("") is True
    buffer_scratch = accepts(".amdhsa_user_sgpr_private_segment_buffer 1")
    assert buffer_scratch is (target.scratch is ScratchKind.BUFFER)
    assert accepts(".amdhsa_user_sgpr_kernarg_preload_length 1") is target.supports_kernarg_preload
    assert accepts(".amdhsa_workgroup_processor_mode 1") is target.supports_wgp_mode
    assert accepts(".amdhsa_wavefront_size32 1") is (32 in target.wave_sizes)
    assert accepts(".amdhsa_tg_split 1") is target.unified_vgprs


def test_names_and_machine_values_are_unique() -> None:
    assert len({t.mach for t in TARGETS.values()}) == len(TARGETS)
    for target in TARGETS.values():
        assert target_by_mach(target.mach) is target
        assert all(target_by_name(alias) is target for alias in target.aliases)
        assert all(member in TARGETS for member in target.members)


@pytest.mark.parametrize(
    ("name", "generation", "version", "waves", "scratch", "packed", "lds", "sgprs", "vgprs"),
    [
        ("gfx600", Generation.GFX6, (6, 0, 0), (64,), ScratchKind.BUFFER, False, 32768, 104, 256),
        ("gfx803", Generation.GFX8, (8, 0, 3), (64,), ScratchKind.BUFFER, False, 65536, 102, 256),
        ("gfx90a", Generation.GFX9, (9, 0, 10), (64,), ScratchKind.BUFFER, True, 65536, 102, 512),
        ("gfx942", Generation.GFX9, (9, 4, 2), (64,), ScratchKind.ARCHITECTED, True, 65536, 102, 512),
        ("gfx950", Generation.GFX9, (9, 5, 0), (64,), ScratchKind.ARCHITECTED, True, 163840, 102, 512),
        ("gfx1030", Generation.GFX10, (10, 3, 0), (32, 64), ScratchKind.BUFFER, False, 65536, 106, 256),
        ("gfx1100", Generation.GFX11, (11, 0, 0), (32, 64), ScratchKind.ARCHITECTED, True, 65536, 106, 256),
        ("gfx1201", Generation.GFX12, (12, 0, 1), (32, 64), ScratchKind.ARCHITECTED, True, 65536, 106, 256),
        ("gfx1250", Generation.GFX12, (12, 5, 0), (32,), ScratchKind.ARCHITECTED, True, 327680, 106, 1024),
        ("gfx11-generic", Generation.GFX11, None, (32, 64), ScratchKind.ARCHITECTED, True, 65536, 106, 256),
    ],
)
def test_rows(
    name: str,
    generation: Generation,
    version: tuple[int, int, int] | None,
    waves: tuple[int, ...],
    scratch: ScratchKind,
    packed: bool,
    lds: int,
    sgprs: int,
    vgprs: int,
) -> None:
    t = target_by_name(name)
    assert (t.generation, t.version, t.wave_sizes) == (generation, version, waves)
    assert (t.scratch, t.packed_work_item_ids, t.lds_size) == (scratch, packed, lds)
    assert (t.max_sgprs, t.max_vgprs) == (sgprs, vgprs)


def test_unknown() -> None:
    with pytest.raises(UnknownTargetError, match="EF_AMDGPU_MACH value 0x27"):
        target_by_mach(0x27)
    with pytest.raises(UnknownTargetError, match=r"ISA version 9\.9\.9"):
        target_by_version(9, 9, 9)
    assert target_by_version(9, 0, 10).name == "gfx90a"
