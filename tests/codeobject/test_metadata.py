"""Metadata of all versions, read into one model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest

from rocdbg.codeobject import CodeObject, CodeObjectError, KernelMetadata
from rocdbg.codeobject.elf_notes import NT_AMD_HSA_METADATA, NT_AMDGPU_METADATA
from rocdbg.codeobject.metadata import ArgAddressSpace, KernelKind
from rocdbg.launch.parameters import parameter_types

V2_TEXT = """---
Version:         [ 1, 0 ]
Printf:
  - '1:1:4:index\\72%d\\n'
Kernels:
  - Name:            scale
    SymbolName:      'scale@kd'
    Language:        OpenCL C
    LanguageVersion: [ 1, 2 ]
    Attrs:
      ReqdWorkGroupSize: [ 64, 1, 1 ]
      VecTypeHint:     float4
    Args:
      - Name:            out
        TypeName:        'float*'
        Size:            8
        Align:           8
        ValueKind:       GlobalBuffer
        ValueType:       F32
        AddrSpaceQual:   Global
        AccQual:         Default
        IsConst:         true
      - TypeName:        char
        Size:            1
        Align:           1
        ValueKind:       ByValue
        ValueType:       I8
      - Size:            16
        Align:           16
        ValueKind:       ByValue
        ValueType:       F64
      - Name:            tmp
        Size:            4
        Align:           4
        ValueKind:       DynamicSharedPointer
        PointeeAlign:    4
        AddrSpaceQual:   Local
      - Size:            8
        Align:           8
        ValueKind:       Image
        AccQual:         ReadOnly
        ActualAccQual:   ReadOnly
      - Size:            8
        Align:           8
        ValueKind:       HiddenGlobalOffsetX
      - Size:            8
        Align:           8
        ValueKind:       HiddenMultiGridSyncArg
    CodeProps:
      KernargSegmentSize: 64
      GroupSegmentFixedSize: 256
      PrivateSegmentFixedSize: 32
      KernargSegmentAlign: 16
      WavefrontSize:   64
      NumSGPRs:        20
      NumVGPRs:        7
      NumSpilledSGPRs: 2
      NumSpilledVGPRs: 1
      MaxFlatWorkGroupSize: 256
      IsDynamicCallStack: true
...
"""


def test_registers_of_pal_are_keys(elf_builder: Any) -> None:
    registers = {0x2E12: 0x2C0000, 0x2E13: 8}
    root = {"amdpal.version": [2, 1], "amdpal.pipelines": [{".registers": registers, ".user_data_limit": 3}]}
    builder = elf_builder()
    builder.note((b"AMDGPU", NT_AMDGPU_METADATA, msgpack.packb(root)))
    code_object = CodeObject(builder.build())
    assert code_object.metadata is not None
    assert (code_object.metadata.kernel_names, list(code_object.kernels)) == ((), [])


@pytest.mark.parametrize("key", [b"\x81\x01\x02", b"\x91\x01"])
def test_a_map_or_a_list_is_no_key(elf_builder: Any, key: bytes) -> None:
    builder = elf_builder()
    builder.note((b"AMDGPU", NT_AMDGPU_METADATA, b"\x81" + key + b"\x01"))
    with pytest.raises(CodeObjectError, match="the metadata is not MsgPack"):
        _ = CodeObject(builder.build()).metadata


def test_v2(elf_builder: Any) -> None:
    builder = elf_builder(abi_version=0, flags=0x12C)
    builder.note((b"AMD", NT_AMD_HSA_METADATA, V2_TEXT.encode() + b"\0"))
    metadata = CodeObject(builder.build()).metadata
    assert metadata is not None
    assert metadata.version == (1, 0)
    assert metadata.printf == ("1:1:4:index\\72%d\\n",)
    kernel = metadata.kernel("scale")
    assert kernel is not None
    assert arguments(kernel) == [
        "out float* global_buffer 8@0 global const",
        "- char by_value 1@8",
        "- - by_value 16@16",
        "tmp - dynamic_shared_pointer 4@32 local",
        "- - image 8@40 read_only",
        "- - hidden_global_offset_x 8@48",
        "- - hidden_multigrid_sync_arg 8@56",
    ]
    assert (kernel.symbol, kernel.language, kernel.language_version) == ("scale", "OpenCL C", (1, 2))
    assert (kernel.reqd_workgroup_size, kernel.vec_type_hint) == ((64, 1, 1), "float4")
    assert (kernel.kernarg_segment_size, kernel.kernarg_segment_align) == (64, 16)
    assert (kernel.group_segment_fixed_size, kernel.private_segment_fixed_size) == (256, 32)
    assert (kernel.sgpr_count, kernel.vgpr_count, kernel.agpr_count) == (20, 7, 0)
    assert (kernel.sgpr_spill_count, kernel.vgpr_spill_count) == (2, 1)
    assert (kernel.wavefront_size, kernel.max_flat_workgroup_size) == (64, 256)
    assert kernel.uses_dynamic_stack is True
    assert [arg.name for arg in kernel.explicit_args] == ["out", None, None, "tmp", None]
    assert kernel.args[3].pointee_align == 4
    assert [arg.value_type for arg in kernel.args[:4]] == ["f32", "i8", "f64", None]


def test_value_types_tell_what_names_do_not(elf_builder: Any) -> None:
    """For scalars: the value type of a pointer or vector is that of its target or elements."""
    text = V2_TEXT.replace("TypeName:        char", "TypeName:        small_t").replace("I8", "U8")
    builder = elf_builder(abi_version=0, flags=0x12C)
    builder.note((b"AMD", NT_AMD_HSA_METADATA, text.encode() + b"\0"))
    kernel = CodeObject(builder.build()).kernels["scale"]
    assert parameter_types(kernel, None) == [None, "u8", None, None, None]


@pytest.mark.llvm
@pytest.mark.parametrize("version", [4, 5, 6])
def test_opencl(version: int, compiled: Callable[..., Path]) -> None:
    found = CodeObject(compiled("kernels.cl", "gfx1100", version).read_bytes())
    assert found.metadata is not None
    assert found.metadata.version == {4: (1, 1), 5: (1, 2), 6: (1, 2)}[version]
    assert found.metadata.kernel_names == ("scale", "fixed")
    scale, fixed = (found.kernels[name].metadata for name in ("scale", "fixed"))
    assert scale is not None and fixed is not None
    assert arguments(scale)[:6] == [
        "- float* global_buffer 8@0 global",
        "- float* global_buffer 8@8 global const restrict reads",
        "- float by_value 4@16",
        "- float* dynamic_shared_pointer 4@20 local",
        "- image2d_t image 8@24 read_only",
        "- sampler_t sampler 8@32",
    ]
    assert all(arg.is_hidden for arg in scale.args[6:])
    assert fixed.reqd_workgroup_size == (64, 1, 1)
    assert (fixed.kind, fixed.wavefront_size, fixed.language_version) == (KernelKind.NORMAL, 32, (2, 0))
    assert fixed.workgroup_processor_mode is (True if version > 4 else None)
    assert scale.args[3].address_space is ArgAddressSpace.LOCAL


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ({".symbol": "k.kd"}, "metadata amdhsa.kernels[0].name is missing"),
        ({".name": 5}, "metadata amdhsa.kernels[0].name is a number, not text"),
        (
            {".name": "k", ".sgpr_count": "many"},
            "metadata amdhsa.kernels[0].sgpr_count is text, not a number",
        ),
        ({".name": "k", ".vgpr_count": -1}, "metadata amdhsa.kernels[0].vgpr_count is out of range (-1)"),
        ({".name": "k", ".args": [3]}, "metadata amdhsa.kernels[0].args [0] is a number, not a map"),
        (
            {".name": "k", ".args": [{".size": 4, ".access": "fly"}]},
            'metadata amdhsa.kernels[0].args[0].access has the unknown value "fly"',
        ),
        (
            {".name": "k", ".reqd_workgroup_size": [1, 2]},
            "metadata amdhsa.kernels[0].reqd_workgroup_size has 2 numbers, but 3 are expected",
        ),
    ],
)
def test_wrong_types(kernel: dict[str, Any], message: str, elf_builder: Any) -> None:
    code_object = with_metadata(elf_builder, {"amdhsa.version": [1, 2], "amdhsa.kernels": [kernel]})
    with pytest.raises(CodeObjectError) as caught:
        assert code_object.metadata is not None
        code_object.metadata.kernel("k")
    assert caught.value.reason == message
    assert (caught.value.file, caught.value.section) == ("<memory>", "section .note")


def test_kernels_of_every_note(elf_builder: Any) -> None:
    """The linker keeps the notes of all objects; an entry that applies to all of them comes from the first note."""
    builder = elf_builder()
    kernels = [{".name": name, ".symbol": f"{name}.kd", ".vgpr_count": count} for name, count in (("a", 3), ("b", 4))]
    builder.note(*(
        (b"AMDGPU", NT_AMDGPU_METADATA, msgpack.packb({"amdhsa.version": [1, version], "amdhsa.kernels": [kernel]}))
        for version, kernel in enumerate(kernels, 1)
    ))
    metadata = CodeObject(builder.build()).metadata
    assert metadata is not None and metadata.version == (1, 1)
    counts = [(kernel.name, kernel.vgpr_count) for kernel in map(metadata.kernel, ("a", "b")) if kernel is not None]
    assert counts == [("a", 3), ("b", 4)]


def test_unknown_value_kind_is_kept(elf_builder: Any) -> None:
    arg = {".size": 8, ".offset": 0, ".value_kind": "hidden_of_tomorrow"}
    code_object = with_metadata(elf_builder, {"amdhsa.kernels": [{".name": "k", ".args": [arg]}]})
    kernel = code_object.kernels["k"].metadata
    assert kernel is not None
    assert (kernel.args[0].value_kind_text, kernel.args[0].is_hidden) == ("hidden_of_tomorrow", True)


def test_kernel_without_descriptor(elf_builder: Any) -> None:
    code_object = with_metadata(elf_builder, {"amdhsa.kernels": [{".name": "k", ".symbol": "k.kd"}]})
    assert list(code_object.kernels) == ["k"]
    with pytest.raises(CodeObjectError) as caught:
        code_object.kernels["k"].descriptor  # noqa: B018
    assert str(caught.value) == (
        "<memory>: symbol table: kernel k is in the metadata but has no descriptor symbol"
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x93\x01",
        b"\x01",
        b"\x81\x91\x01\x02",
        b"\xdd\xff\xff\xff\xff",
        b"\x91" * 3000 + b"\x00",
    ],
)
def test_not_msgpack(data: bytes, elf_builder: Any) -> None:
    builder = elf_builder()
    builder.note((b"AMDGPU", NT_AMDGPU_METADATA, data))
    with pytest.raises(CodeObjectError, match=r"section \.note at offset 0x[0-9a-f]+: the metadata is not"):
        CodeObject(builder.build()).metadata  # noqa: B018


@pytest.mark.parametrize(
    "text", ["[", "a: [b", "- 1", "plain", "&a [*a, *a", "[" * 5000, "a: !!python/name:os.x b: c"]
)
def test_not_yaml(text: str, elf_builder: Any) -> None:
    builder = elf_builder(abi_version=0, flags=0x2C)
    builder.note((b"AMD", NT_AMD_HSA_METADATA, text.encode()))
    with pytest.raises(CodeObjectError, match=r"section \.note at offset 0x[0-9a-f]+: the metadata is not"):
        CodeObject(builder.build()).metadata  # noqa: B018


def with_metadata(elf_builder: Any, root: dict[str, Any]) -> CodeObject:
    builder = elf_builder()
    builder.note((b"AMDGPU", NT_AMDGPU_METADATA, msgpack.packb(root)))
    return CodeObject(builder.build())


def arguments(kernel: KernelMetadata) -> list[str]:
    """One line per argument: name, type, kind, size@offset, qualifiers."""
    lines = []
    for arg in kernel.args:
        words = [arg.name or "-", arg.type_name or "-", arg.value_kind.value, f"{arg.size}@{arg.offset}"]
        words += [arg.address_space.value] if arg.address_space else []
        words += [arg.access.value] if arg.access else []
        words += ["const"] if arg.is_const else []
        words += ["restrict"] if arg.is_restrict else []
        words += ["reads"] if arg.actual_access is not None and not arg.access else []
        lines.append(" ".join(words))
    return lines
