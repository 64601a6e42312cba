"""The table of targets, compared with the behaviour of LLVM's assembler."""

from __future__ import annotations

import pytest

from rocdbg.arch import TARGETS, Generation, ScratchKind, Target, UnknownTargetError
from rocdbg.arch.targets import target_by_mach, target_by_name, target_by_version
from tests.arch.processors import AMDGCN, assemble, flags_of, llvm_processors, llvms_words, our_words, recorded


@pytest.mark.llvm
@pytest.mark.parametrize("triple", ["amdgcn-amd-amdhsa", "r600"])
def test_every_processor_of_llvm_has_its_machine_value(triple: str) -> None:
    wanted = {}
    for name in llvm_processors(triple):
        if name.startswith("generic"):
            continue
        data = assemble("", name, triple)
        assert data is not None
        wanted[name] = flags_of(data)
    assert len(wanted) > 10
    found = {name: target_by_name(name) for name in wanted}
    assert {
        name: (t.mach, t.supports_xnack, t.supports_sramecc, t.is_generic) for name, t in found.items()
    } == wanted


@pytest.mark.parametrize("target", AMDGCN, ids=str)
def test_properties(target: Target) -> None:
    """The text that LLVM's assembler wrote and accepted determines the properties of a processor."""
    words = recorded()[target.name]
    others = {word for word in words if word.startswith("vgprs") and int(word[5:7]) not in target.wave_sizes}
    assert our_words(target) == words - others


@pytest.mark.llvm
@pytest.mark.parametrize("target", AMDGCN, ids=str)
def test_recorded_answers_are_llvms(target: Target) -> None:
    assert recorded()[target.name] == llvms_words(target.name)


def test_names_and_machine_values_are_unique() -> None:
    assert len({t.mach for t in TARGETS.values()}) == len(TARGETS)
    for target in TARGETS.values():
        assert target_by_mach(target.mach) is target
        assert all(target_by_name(alias) is target for alias in target.aliases)
        assert all(member in TARGETS for member in target.members)


@pytest.mark.parametrize(
    ("name", "generation", "version", "waves", "scratch", "packed", "lds", "unit", "sgprs", "vgprs"),
    [
        ("gfx600", Generation.GFX6, (6, 0, 0), (64,), ScratchKind.BUFFER, False, 32768, 256, 104, 256),
        ("gfx802", Generation.GFX8, (8, 0, 2), (64,), ScratchKind.BUFFER, False, 65536, 512, 96, 256),
        ("gfx803", Generation.GFX8, (8, 0, 3), (64,), ScratchKind.BUFFER, False, 65536, 512, 102, 256),
        ("gfx90a", Generation.GFX9, (9, 0, 10), (64,), ScratchKind.BUFFER, True, 65536, 512, 102, 512),
        ("gfx942", Generation.GFX9, (9, 4, 2), (64,), ScratchKind.ARCHITECTED, True, 65536, 512, 102, 512),
        ("gfx950", Generation.GFX9, (9, 5, 0), (64,), ScratchKind.ARCHITECTED, True, 163840, 1280, 102, 512),
        ("gfx1030", Generation.GFX10, (10, 3, 0), (32, 64), ScratchKind.BUFFER, False, 65536, 512, 106, 256),
        ("gfx1100", Generation.GFX11, (11, 0, 0), (32, 64), ScratchKind.ARCHITECTED, True, 65536, 512, 106, 256),
        ("gfx1201", Generation.GFX12, (12, 0, 1), (32, 64), ScratchKind.ARCHITECTED, True, 65536, 512, 106, 256),
        ("gfx1250", Generation.GFX12, (12, 5, 0), (32,), ScratchKind.ARCHITECTED, True, 327680, 2048, 106, 1024),
        ("gfx11-generic", Generation.GFX11, None, (32, 64), ScratchKind.ARCHITECTED, True, 65536, 512, 106, 256),
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
    unit: int,
    sgprs: int,
    vgprs: int,
) -> None:
    t = target_by_name(name)
    assert (t.generation, t.version, t.wave_sizes) == (generation, version, waves)
    # The unit of LDS is that of GRANULATED_LDS_SIZE (AMDGPU usage, "compute_pgm_rsrc2").
    assert (t.scratch, t.packed_work_item_ids, t.lds_size, t.lds_granule) == (scratch, packed, lds, unit)
    assert (t.max_sgprs, t.max_vgprs) == (sgprs, vgprs)


def test_unknown() -> None:
    with pytest.raises(UnknownTargetError, match="EF_AMDGPU_MACH value 0x27"):
        target_by_mach(0x27)
    with pytest.raises(UnknownTargetError, match=r"ISA version 9\.9\.9"):
        target_by_version(9, 9, 9)
    assert target_by_version(9, 0, 10).name == "gfx90a"
