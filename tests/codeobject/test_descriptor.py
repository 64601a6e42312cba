"""Kernel descriptors: decoding gives the values of the assembler's directives."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import fields

from rocdbg.arch import target_by_name
from rocdbg.codeobject import CodeObject, KernelDescriptor, UserSgpr
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.kernel_descriptor import FIELDS, decode_v2_descriptor

TEXT = """
.text
.globl k
.p2align 8
.type k,@function
k: s_endpgm
.size k, 4
.rodata
.p2align 6
.amdhsa_kernel k
{directives}
.end_amdhsa_kernel
"""


def test_table_and_dataclass_agree() -> None:
    names = {field.name for field in fields(KernelDescriptor)}
    assert {field.name for field in FIELDS} <= names
    for target in ("gfx600", "gfx803", "gfx90a", "gfx1030", "gfx1100", "gfx1201", "gfx1250"):
        taken: dict[str, int] = {}
        for field in FIELDS:
            if field.applies_to(target_by_name(target)):
                bits = ((1 << field.width) - 1) << field.shift
                assert not taken.get(field.word, 0) & bits, f"{target}: {field.name} overlaps another field"
                taken[field.word] = taken.get(field.word, 0) | bits


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("processor", "vgprs", "sgprs", "more", "vgpr_count", "sgpr_count", "wave_size", "accum_offset"),
    [
        # the SGPR counts include VCC and, to GFX9, FLAT_SCRATCH and XNACK_MASK
        ("gfx600", 5, 10, "", 8, 16, 64, None),
        ("gfx700", 5, 10, "", 8, 16, 64, None),
        ("gfx803", 33, 17, "", 36, 24, 64, None),
        ("gfx900", 1, 10, "", 4, 16, 64, None),
        ("gfx900", 256, 90, "", 256, 96, 64, None),
        ("gfx908", 64, 27, "", 64, 48, 64, None),
        ("gfx90a", 100, 50, ".amdhsa_accum_offset 52", 104, 64, 64, 52),
        ("gfx942", 512, 10, ".amdhsa_accum_offset 256", 512, 16, 64, 256),
        ("gfx1030", 9, 10, ".amdhsa_wavefront_size32 1", 16, 128, 32, None),
        ("gfx1030", 9, 10, ".amdhsa_wavefront_size32 0", 12, 128, 64, None),
        ("gfx1100", 256, 106, ".amdhsa_wavefront_size32 1", 256, 128, 32, None),
        ("gfx1201", 30, 10, ".amdhsa_wavefront_size32 0", 32, 128, 64, None),
        ("gfx1250", 1000, 10, "", 1008, 128, 32, None),
    ],
)
def test_register_counts(
    processor: str,
    vgprs: int,
    sgprs: int,
    more: str,
    vgpr_count: int,
    sgpr_count: int,
    wave_size: int,
    accum_offset: int | None,
    assemble: Callable[..., Path],
) -> None:
    directives = f".amdhsa_next_free_vgpr {vgprs}\n.amdhsa_next_free_sgpr {sgprs}\n{more}"
    found = descriptor(assemble(TEXT.format(directives=directives), processor))
    assert (found.vgpr_count, found.sgpr_count, found.wave_size, found.accum_offset) == (
        vgpr_count,
        sgpr_count,
        wave_size,
        accum_offset,
    )


COMMON = ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8\n"


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("processor", "directive", "field", "value"),
    [
        ("gfx900", "group_segment_fixed_size 4096", "group_segment_fixed_size", 4096),
        ("gfx900", "private_segment_fixed_size 48", "private_segment_fixed_size", 48),
        ("gfx900", "kernarg_size 280", "kernarg_size", 280),
        ("gfx900", "uses_dynamic_stack 1", "uses_dynamic_stack", 1),
        ("gfx900", "system_sgpr_private_segment_wavefront_offset 1", "enable_private_segment", 1),
        ("gfx1100", "enable_private_segment 1", "enable_private_segment", 1),
        ("gfx900", "system_sgpr_workgroup_id_y 1", "enable_sgpr_workgroup_id_y", 1),
        ("gfx900", "system_sgpr_workgroup_id_z 1", "enable_sgpr_workgroup_id_z", 1),
        ("gfx900", "system_sgpr_workgroup_info 1", "enable_sgpr_workgroup_info", 1),
        ("gfx900", "system_vgpr_workitem_id 2", "enable_vgpr_workitem_id", 2),
        ("gfx900", "float_round_mode_32 3", "float_round_mode_32", 3),
        ("gfx900", "float_round_mode_16_64 2", "float_round_mode_16_64", 2),
        ("gfx900", "float_denorm_mode_32 1", "float_denorm_mode_32", 1),
        ("gfx900", "float_denorm_mode_16_64 0", "float_denorm_mode_16_64", 0),
        ("gfx900", "dx10_clamp 0", "enable_dx10_clamp", 0),
        ("gfx900", "ieee_mode 0", "enable_ieee_mode", 0),
        ("gfx900", "fp16_overflow 1", "fp16_ovfl", 1),
        ("gfx90a", "tg_split 1", "tg_split", 1),
        ("gfx1030", "workgroup_processor_mode 0", "wgp_mode", 0),
        ("gfx1030", "memory_ordered 0", "mem_ordered", 0),
        ("gfx1030", "forward_progress 0", "fwd_progress", 0),
        ("gfx1030", "shared_vgpr_count 2", "shared_vgpr_count", 2),
        ("gfx1100", "inst_pref_size 5", "inst_pref_size", 5),
        ("gfx1201", "inst_pref_size 200", "inst_pref_size", 200),
        ("gfx1201", "round_robin_scheduling 1", "enable_wg_rr_en", 1),
        ("gfx1250", "named_barrier_count 3", "named_bar_cnt", 3),
        ("gfx900", "exception_fp_ieee_invalid_op 1", "enable_exception_ieee_754_fp_invalid_operation", 1),
        ("gfx900", "exception_fp_denorm_src 1", "enable_exception_fp_denormal_source", 1),
        ("gfx900", "exception_fp_ieee_div_zero 1", "enable_exception_ieee_754_fp_division_by_zero", 1),
        ("gfx900", "exception_fp_ieee_overflow 1", "enable_exception_ieee_754_fp_overflow", 1),
        ("gfx900", "exception_fp_ieee_underflow 1", "enable_exception_ieee_754_fp_underflow", 1),
        ("gfx900", "exception_fp_ieee_inexact 1", "enable_exception_ieee_754_fp_inexact", 1),
        ("gfx900", "exception_int_div_zero 1", "enable_exception_int_divide_by_zero", 1),
        ("gfx90a", "user_sgpr_kernarg_preload_length 3", "kernarg_preload_spec_length", 3),
        ("gfx90a", "user_sgpr_kernarg_preload_offset 2", "kernarg_preload_spec_offset", 2),
    ],
)
def test_fields(
    processor: str, directive: str, field: str, value: int, assemble: Callable[..., Path]
) -> None:
    more = ".amdhsa_accum_offset 8\n" if target_by_name(processor).unified_vgprs else ""
    if "preload" in directive:
        more += ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
    text = TEXT.format(directives=f"{COMMON}{more}.amdhsa_{directive}")
    found = descriptor(assemble(text, processor))
    assert getattr(found, field) == value
    plain = descriptor(assemble(TEXT.format(directives=COMMON + more), processor))
    changed = {
        item.name for item in fields(found)
        if getattr(found, item.name) != getattr(plain, item.name) and not item.name.startswith("compute_pgm")
    }
    assert changed - {"kernel_code_properties", "user_sgpr_count", "kernarg_preload"} == {field}


@pytest.mark.llvm
def test_user_sgprs(assemble: Callable[..., Path]) -> None:
    on = ("private_segment_buffer", "dispatch_ptr", "kernarg_segment_ptr", "private_segment_size")
    directives = COMMON + "\n".join(f".amdhsa_user_sgpr_{name} 1" for name in on)
    found = descriptor(assemble(TEXT.format(directives=directives), "gfx900"))
    assert found.user_sgprs() == {
        UserSgpr.PRIVATE_SEGMENT_BUFFER: (0, 4),
        UserSgpr.DISPATCH_PTR: (4, 2),
        UserSgpr.KERNARG_SEGMENT_PTR: (6, 2),
        UserSgpr.PRIVATE_SEGMENT_SIZE: (8, 1),
    }
    assert found.user_sgpr_count == 9


@pytest.mark.llvm
def test_preloaded_kernargs_follow_the_pointers(assemble: Callable[..., Path]) -> None:
    directives = (
        COMMON + ".amdhsa_accum_offset 8\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
        ".amdhsa_user_sgpr_kernarg_preload_length 5"
    )
    found = descriptor(assemble(TEXT.format(directives=directives), "gfx942"))
    assert found.user_sgprs() == {
        UserSgpr.KERNARG_SEGMENT_PTR: (0, 2),
        UserSgpr.KERNARG_PRELOAD: (2, 5),
    }


def test_code_object_v2() -> None:
    """Each field of an ``amd_kernel_code_t`` is read."""
    rsrc1 = 2 | 3 << 6 | 3 << 18 | 1 << 21
    rsrc2 = 1 | 8 << 1 | 1 << 7 | 1 << 11
    properties = 1 | 1 << 3 | 1 << 7 | 1 << 9 | 1 << 20
    head = struct.pack("<II4Hq24xIIIIIIQ", 1, 1, 1, 8, 0, 3, 256, rsrc1, rsrc2, properties, 40, 1024, 0, 56)
    data = head.ljust(256, b"\0")
    found = decode_v2_descriptor(Source("v2", data), 0, target_by_name("gfx803"))
    assert (found.kernel_code_entry_byte_offset, found.private_segment_fixed_size) == (256, 40)
    assert (found.group_segment_fixed_size, found.kernarg_size) == (1024, 56)
    assert (found.vgpr_count, found.sgpr_count, found.wave_size) == (12, 32, 64)
    assert (found.float_denorm_mode_16_64, found.enable_dx10_clamp, found.user_sgpr_count) == (3, 1, 8)
    assert (found.enable_vgpr_workitem_id, found.uses_dynamic_stack) == (1, 1)
    assert found.user_sgprs() == {
        UserSgpr.PRIVATE_SEGMENT_BUFFER: (0, 4),
        UserSgpr.KERNARG_SEGMENT_PTR: (4, 2),
        UserSgpr.GRID_WORKGROUP_COUNT_X: (6, 1),
        UserSgpr.GRID_WORKGROUP_COUNT_Z: (7, 1),
    }


def descriptor(path: Path) -> KernelDescriptor:
    return CodeObject(path.read_bytes(), name=str(path)).kernels["k"].descriptor
