"""Machine, features and version of a code object: e_flags of V3 to V6, notes of V2."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocdbg.codeobject import CodeObject, CodeObjectError
from rocdbg.codeobject.elf_notes import NT_AMD_HSA_HSAIL, NT_AMD_HSA_ISA_VERSION


@pytest.mark.parametrize(
    ("os_abi", "abi_version", "flags", "version", "target_id", "generic_version"),
    [
        (64, 1, 0x02C, 3, "gfx900:xnack-", 0),
        (64, 1, 0x12C, 3, "gfx900:xnack+", 0),
        (64, 1, 0x330, 3, "gfx908:sramecc+:xnack+", 0),
        (64, 1, 0x036, 3, "gfx1030", 0),
        (64, 2, 0x53F, 4, "gfx90a", 0),
        (64, 2, 0xB3F, 4, "gfx90a:sramecc-:xnack+", 0),
        (64, 3, 0xE3F, 5, "gfx90a:sramecc+:xnack-", 0),
        (64, 3, 0x041, 5, "gfx1100", 0),
        (64, 4, 0x01000054, 6, "gfx11-generic", 1),
        (64, 4, 0x0200075F, 6, "gfx9-4-generic:xnack+", 2),
        (64, 3, 0x040, 5, "gfx940", 0),
        (65, 0, 0x041, None, "gfx1100", 0),  # PAL: features as in V3
        (65, 0, 0x133, None, "gfx1010:xnack+", 0),
    ],
)
def test_flags(
    os_abi: int, abi_version: int, flags: int, version: int | None, target_id: str, generic_version: int,
    elf_builder: Any,
) -> None:
    found = CodeObject(elf_builder(os_abi=os_abi, abi_version=abi_version, flags=flags).build())
    assert (found.version, str(found.target_id), found.generic_version) == (
        version,
        target_id,
        generic_version,
    )


@pytest.mark.parametrize(
    ("isa", "e_flags", "hsail", "target_id"),
    [
        ((7, 0, 1), 0, False, "gfx701"),
        ((8, 0, 0), 0, False, "gfx802"),
        ((8, 0, 1), 0, False, "gfx801:xnack+"),
        ((8, 0, 4), 0, False, "gfx803"),
        ((9, 0, 0), 0, False, "gfx900:xnack-"),
        ((9, 0, 1), 0, False, "gfx900:xnack+"),
        ((9, 0, 6), 0, False, "gfx906:sramecc-:xnack-"),
        ((9, 0, 7), 0, False, "gfx906:sramecc-:xnack+"),
        ((9, 0, 12), 0, False, "gfx90c:xnack-"),
        ((8, 0, 1), 0, True, "gfx801:xnack-"),  # the finalizer says xnack in e_flags
        ((8, 0, 1), 1, True, "gfx801:xnack+"),
    ],
)
def test_v2(isa: tuple[int, int, int], e_flags: int, hsail: bool, target_id: str, elf_builder: Any) -> None:
    builder = elf_builder(abi_version=0, flags=e_flags)
    notes = [(b"AMD", NT_AMD_HSA_ISA_VERSION, struct.pack("<HHIII", 4, 7, *isa) + b"AMD\0AMDGPU\0")]
    if hsail:
        notes.append((b"AMD", NT_AMD_HSA_HSAIL, bytes(12)))
    builder.note(*notes)
    found = CodeObject(builder.build())
    assert (found.version, str(found.target_id)) == (2, target_id)


def test_v2_without_isa_note_uses_flags(elf_builder: Any) -> None:
    assert str(CodeObject(elf_builder(abi_version=0, flags=0x12C).build()).target_id) == "gfx900:xnack+"


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("source", "processor", "version", "target_id"),
    [
        ("kernels.hip", "gfx90a", 4, "gfx90a"),
        ("kernels.hip", "gfx90a:xnack+", 5, "gfx90a:xnack+"),
        ("kernels.hip", "gfx942:sramecc+:xnack-", 6, "gfx942:sramecc+:xnack-"),
        ("kernels.hip", "gfx11-generic", 6, "gfx11-generic"),
        ("kernels.cl", "gfx1100", 5, "gfx1100"),
    ],
)
def test_compiled(
    source: str, processor: str, version: int, target_id: str, compiled: Callable[..., Path]
) -> None:
    found = CodeObject(compiled(source, processor, version).read_bytes())
    assert (found.version, str(found.target_id)) == (version, target_id)
    assert found.metadata is not None
    expected = "amdgcn-amd-amdhsa--" + target_id
    assert found.metadata.target == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"flags": 0x27},
            "x.co: ELF header at offset 0x30: unknown AMDGPU target with EF_AMDGPU_MACH value 0x27",
        ),
        (
            {"machine": 62},
            "x.co: ELF header at offset 0x12: not an AMDGPU code object: the machine is 62, not 224",
        ),
        (
            {"type": 2},
            "x.co: ELF header at offset 0x10: ELF type 2 is neither relocatable (1) nor shared object (3)",
        ),
    ],
)
def test_not_a_code_object(change: dict[str, int], message: str, elf_builder: Any) -> None:
    with pytest.raises(CodeObjectError) as caught:
        CodeObject(elf_builder(**change).build(), name="x.co")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("os_abi", "abi_version", "message"),
    [
        (64, 5, "ELF header at offset 0x8: unknown EI_ABIVERSION 5; known values for amdhsa are 0 to 4 "
                "(code object versions 2 to 6)"),
        (65, 1, "ELF header at offset 0x8: unknown EI_ABIVERSION 1; known values for amdpal are 0"),
        (0, 9, "ELF header at offset 0x8: unknown EI_ABIVERSION 9; known values for none are 0"),
        (3, 0, "ELF header at offset 0x7: unknown EI_OSABI 3; known values are 0 (none), 64 (amdhsa), 65 (amdpal), "
               "66 (mesa3d)"),
    ],
)
def test_unknown_abi(os_abi: int, abi_version: int, message: str, elf_builder: Any) -> None:
    """An unknown ABI gives its flags an unknown meaning, so the file is refused."""
    with pytest.raises(CodeObjectError) as caught:
        CodeObject(elf_builder(os_abi=os_abi, abi_version=abi_version, flags=0x53F).build())
    assert str(caught.value) == f"<memory>: {message}"
