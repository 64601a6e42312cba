"""Kernel descriptors of GFX6 to GFX12: 64 bytes in a code object V3 and after, `amd_kernel_code_t` in V2.

`FIELDS` is the only table of bit fields; names are those of the ABI.  A field that a generation does not have keeps its
default.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from enum import Enum
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.arch.targets import Generation, ScratchKind, Target
from rocdbg.codeobject.bounded_reader import Source

DESCRIPTOR_SIZE = 64
V2_DESCRIPTOR_SIZE = 256
_PRELOAD_OFFSET = 256

_LAYOUT = struct.Struct("<III4xq20xIIIHH4x")
# amd_kernel_code_t up to wavefront_size; reserved words and the debugger's registers are skipped.
_V2_LAYOUT = struct.Struct("<II4Hq24xIIIIIIQ4xHH12xBxxB")


class Field(Struct, frozen=True):
    """A bit field of one of the descriptor's words."""

    name: str
    word: str
    shift: int
    width: int
    first: Generation = Generation.GFX6
    last: Generation = Generation.GFX13
    gfx125: bool | None = None
    """True: only gfx125x has it; False: only other targets have it; None: all have it."""
    unified_vgprs: bool | None = None
    """As `gfx125`, for targets with a unified register file (gfx90a and its successors)."""

    def applies_to(self, target: Target) -> bool:
        return (
            self.first <= target.generation <= self.last
            and self.gfx125 in (None, target.is_gfx125)
            and self.unified_vgprs in (None, target.unified_vgprs)
        )

    def get(self, value: int) -> int:
        return value >> self.shift & ((1 << self.width) - 1)


_G9, _G10, _G11, _G12 = Generation.GFX9, Generation.GFX10, Generation.GFX11, Generation.GFX12
_R1, _R2, _R3, _P, _K = (
    "compute_pgm_rsrc1",
    "compute_pgm_rsrc2",
    "compute_pgm_rsrc3",
    "kernel_code_properties",
    "kernarg_preload",
)

FIELDS: tuple[Field, ...] = (
    Field("granulated_workitem_vgpr_count", _R1, 0, 6),
    Field("granulated_wavefront_sgpr_count", _R1, 6, 4),
    Field("priority", _R1, 10, 2),
    Field("float_round_mode_32", _R1, 12, 2),
    Field("float_round_mode_16_64", _R1, 14, 2),
    Field("float_denorm_mode_32", _R1, 16, 2),
    Field("float_denorm_mode_16_64", _R1, 18, 2),
    Field("priv", _R1, 20, 1),
    Field("enable_dx10_clamp", _R1, 21, 1, last=_G11),
    Field("enable_wg_rr_en", _R1, 21, 1, first=_G12),
    Field("debug_mode", _R1, 22, 1),
    Field("enable_ieee_mode", _R1, 23, 1, last=_G11),
    Field("disable_perf", _R1, 23, 1, first=_G12),
    Field("bulky", _R1, 24, 1),
    Field("cdbg_user", _R1, 25, 1),
    Field("fp16_ovfl", _R1, 26, 1, first=_G9),
    Field("flat_scratch_is_nv", _R1, 27, 1, gfx125=True),
    Field("wgp_mode", _R1, 29, 1, first=_G10),
    Field("mem_ordered", _R1, 30, 1, first=_G10),
    Field("fwd_progress", _R1, 31, 1, first=_G10),
    Field("enable_private_segment", _R2, 0, 1),
    Field("user_sgpr_count", _R2, 1, 5, gfx125=False),
    Field("user_sgpr_count", _R2, 1, 6, gfx125=True),
    Field("enable_trap_handler", _R2, 6, 1, last=_G11),
    Field("enable_dynamic_vgpr", _R2, 6, 1, first=_G12, gfx125=False),
    Field("enable_sgpr_workgroup_id_x", _R2, 7, 1),
    Field("enable_sgpr_workgroup_id_y", _R2, 8, 1),
    Field("enable_sgpr_workgroup_id_z", _R2, 9, 1),
    Field("enable_sgpr_workgroup_info", _R2, 10, 1),
    Field("enable_vgpr_workitem_id", _R2, 11, 2),
    Field("enable_exception_address_watch", _R2, 13, 1),
    Field("enable_exception_memory", _R2, 14, 1),
    Field("granulated_lds_size", _R2, 15, 9),
    Field("enable_exception_ieee_754_fp_invalid_operation", _R2, 24, 1),
    Field("enable_exception_fp_denormal_source", _R2, 25, 1),
    Field("enable_exception_ieee_754_fp_division_by_zero", _R2, 26, 1),
    Field("enable_exception_ieee_754_fp_overflow", _R2, 27, 1),
    Field("enable_exception_ieee_754_fp_underflow", _R2, 28, 1),
    Field("enable_exception_ieee_754_fp_inexact", _R2, 29, 1),
    Field("enable_exception_int_divide_by_zero", _R2, 30, 1),
    Field("granulated_accum_offset", _R3, 0, 6, last=_G9, unified_vgprs=True),
    Field("tg_split", _R3, 16, 1, last=_G9, unified_vgprs=True),
    Field("shared_vgpr_count", _R3, 0, 4, first=_G10, last=_G11),
    Field("inst_pref_size", _R3, 4, 6, first=_G11, last=_G11),
    Field("trap_on_start", _R3, 10, 1, first=_G11, last=_G11),
    Field("trap_on_end", _R3, 11, 1, first=_G11, last=_G11),
    Field("inst_pref_size", _R3, 4, 8, first=_G12),
    Field("glg_en", _R3, 13, 1, first=_G12),
    Field("named_bar_cnt", _R3, 14, 3, gfx125=True),
    Field("enable_dynamic_vgpr", _R3, 17, 1, gfx125=True),
    Field("tcp_split", _R3, 18, 3, gfx125=True),
    Field("enable_didt_throttle", _R3, 21, 1, gfx125=True),
    Field("image_op", _R3, 31, 1, first=_G11),
    Field("enable_sgpr_private_segment_buffer", _P, 0, 1),
    Field("enable_sgpr_dispatch_ptr", _P, 1, 1),
    Field("enable_sgpr_queue_ptr", _P, 2, 1),
    Field("enable_sgpr_kernarg_segment_ptr", _P, 3, 1),
    Field("enable_sgpr_dispatch_id", _P, 4, 1),
    Field("enable_sgpr_flat_scratch_init", _P, 5, 1),
    Field("enable_sgpr_private_segment_size", _P, 6, 1),
    Field("enable_wavefront_size32", _P, 10, 1, first=_G10),
    Field("uses_dynamic_stack", _P, 11, 1),
    Field("kernarg_preload_spec_length", _K, 0, 7),
    Field("kernarg_preload_spec_offset", _K, 7, 9),
)
"""Every bit field of the descriptor, by generation."""


class UserSgpr(Enum):
    """What user SGPRs can contain, in register order: the enabling field and the register count."""

    PRIVATE_SEGMENT_BUFFER = ("enable_sgpr_private_segment_buffer", 4)
    DISPATCH_PTR = ("enable_sgpr_dispatch_ptr", 2)
    QUEUE_PTR = ("enable_sgpr_queue_ptr", 2)
    KERNARG_SEGMENT_PTR = ("enable_sgpr_kernarg_segment_ptr", 2)
    DISPATCH_ID = ("enable_sgpr_dispatch_id", 2)
    FLAT_SCRATCH_INIT = ("enable_sgpr_flat_scratch_init", 2)
    PRIVATE_SEGMENT_SIZE = ("enable_sgpr_private_segment_size", 1)
    GRID_WORKGROUP_COUNT_X = ("enable_sgpr_grid_workgroup_count_x", 1)
    GRID_WORKGROUP_COUNT_Y = ("enable_sgpr_grid_workgroup_count_y", 1)
    GRID_WORKGROUP_COUNT_Z = ("enable_sgpr_grid_workgroup_count_z", 1)
    KERNARG_PRELOAD = ("kernarg_preload_spec_length", 0)
    """The field gives the number of registers."""


class KernelDescriptor(Struct, frozen=True, dict=True):
    """One kernel descriptor, decoded for its target."""

    target: Target
    group_segment_fixed_size: int
    """Bytes of LDS per workgroup, without dynamic LDS."""
    private_segment_fixed_size: int
    """Bytes of scratch per work-item."""
    kernarg_size: int
    """Bytes of the kernarg segment; 0 in objects that are older than the field."""
    kernel_code_entry_byte_offset: int
    """From the descriptor to the first instruction; may be negative."""
    compute_pgm_rsrc1: int
    compute_pgm_rsrc2: int
    compute_pgm_rsrc3: int
    kernel_code_properties: int
    kernarg_preload: int

    wave_size: int
    vgpr_count: int
    """Vector registers allocated to a lane, including AGPRs of a unified file."""
    accum_offset: int | None
    """First AGPR in a unified register file, which is also the number of plain VGPRs; None elsewhere."""
    sgpr_count: int
    """SGPRs allocated to a wave, including VCC and the other special ones at the end."""

    granulated_workitem_vgpr_count: int = 0
    granulated_wavefront_sgpr_count: int = 0
    priority: int = 0
    float_round_mode_32: int = 0
    """0 nearest even, 1 towards +inf, 2 towards -inf, 3 towards zero."""
    float_round_mode_16_64: int = 0
    float_denorm_mode_32: int = 0
    """0 flush source and destination, 1 flush destination, 2 flush source, 3 keep."""
    float_denorm_mode_16_64: int = 0
    priv: int = 0
    enable_dx10_clamp: int = 0
    enable_wg_rr_en: int = 0
    debug_mode: int = 0
    enable_ieee_mode: int = 0
    disable_perf: int = 0
    bulky: int = 0
    cdbg_user: int = 0
    fp16_ovfl: int = 0
    flat_scratch_is_nv: int = 0
    wgp_mode: int = 0
    mem_ordered: int = 0
    fwd_progress: int = 0
    enable_private_segment: int = 0
    user_sgpr_count: int = 0
    enable_trap_handler: int = 0
    enable_dynamic_vgpr: int = 0
    enable_sgpr_workgroup_id_x: int = 0
    enable_sgpr_workgroup_id_y: int = 0
    enable_sgpr_workgroup_id_z: int = 0
    enable_sgpr_workgroup_info: int = 0
    enable_vgpr_workitem_id: int = 0
    """0: x, 1: x and y, 2: x, y and z."""
    enable_exception_address_watch: int = 0
    enable_exception_memory: int = 0
    granulated_lds_size: int = 0
    enable_exception_ieee_754_fp_invalid_operation: int = 0
    enable_exception_fp_denormal_source: int = 0
    enable_exception_ieee_754_fp_division_by_zero: int = 0
    enable_exception_ieee_754_fp_overflow: int = 0
    enable_exception_ieee_754_fp_underflow: int = 0
    enable_exception_ieee_754_fp_inexact: int = 0
    enable_exception_int_divide_by_zero: int = 0
    granulated_accum_offset: int = 0
    tg_split: int = 0
    shared_vgpr_count: int = 0
    inst_pref_size: int = 0
    trap_on_start: int = 0
    trap_on_end: int = 0
    glg_en: int = 0
    named_bar_cnt: int = 0
    tcp_split: int = 0
    enable_didt_throttle: int = 0
    image_op: int = 0
    enable_sgpr_private_segment_buffer: int = 0
    enable_sgpr_dispatch_ptr: int = 0
    enable_sgpr_queue_ptr: int = 0
    enable_sgpr_kernarg_segment_ptr: int = 0
    enable_sgpr_dispatch_id: int = 0
    enable_sgpr_flat_scratch_init: int = 0
    enable_sgpr_private_segment_size: int = 0
    enable_sgpr_grid_workgroup_count_x: int = 0
    """This and the next two exist in code object V2 only."""
    enable_sgpr_grid_workgroup_count_y: int = 0
    enable_sgpr_grid_workgroup_count_z: int = 0
    enable_wavefront_size32: int = 0
    uses_dynamic_stack: int = 0
    kernarg_preload_spec_length: int = 0
    """Dwords of the kernarg segment that are loaded into user SGPRs before the wave starts."""
    kernarg_preload_spec_offset: int = 0
    """In dwords, from the start of the kernarg segment."""

    @property
    def start_offset(self) -> int:
        """Bytes from the entry to the address where waves begin. Firmware that preloads arguments enters a kernel after
        the code that would load them (gfx90a, gfx94x, gfx950; AMDGPU usage, "Preloaded Kernel Arguments").
        """
        return _PRELOAD_OFFSET if self.kernarg_preload_spec_length and not self.target.is_gfx125 else 0

    def user_sgprs(self) -> Mapping[UserSgpr, tuple[int, int]]:
        """First register and register count of each enabled user SGPR item, in register order.

        System SGPRs start at ``user_sgpr_count``, which may exceed their sum (gfx11 code is padded to a total of 16).
        """
        return self._user_sgprs

    @cached_property
    def _user_sgprs(self) -> Mapping[UserSgpr, tuple[int, int]]:
        found: dict[UserSgpr, tuple[int, int]] = {}
        first = 0
        for item in UserSgpr:
            field, count = item.value
            enabled = getattr(self, field)
            if not enabled:
                continue
            count = count or enabled
            found[item] = (first, count)
            first += count
        return found

    def fields(self) -> dict[str, int]:
        """The raw bit fields of this target, by name, in the order of the words; for display."""
        return {field.name: getattr(self, field.name) for field in FIELDS if field.applies_to(self.target)}


def decode_descriptor(source: Source, offset: int, target: Target) -> KernelDescriptor:
    """Decode the 64-byte kernel descriptor at file ``offset``; raises `CodeObjectError` if it is truncated."""
    words = source.unpack(_LAYOUT, offset, "kernel descriptor")
    group, private, kernarg, entry, rsrc3, rsrc1, rsrc2, properties, preload = words
    return _decode(target, group, private, kernarg, entry, rsrc1, rsrc2, rsrc3, properties, preload, {})


def decode_v2_descriptor(source: Source, offset: int, target: Target) -> KernelDescriptor:
    """Decode the ``amd_kernel_code_t`` (256 bytes before the code) of a kernel of code object V2."""
    what = "amd_kernel_code_t"
    source.bytes_at(offset, V2_DESCRIPTOR_SIZE, what)
    words = source.unpack(_V2_LAYOUT, offset, what)
    entry, rsrc1, rsrc2, properties, private, group, _, kernarg = words[6:14]
    # In V2 bits 7..9 request the grid's workgroup counts; later versions reserve them.
    counts = {
        f"enable_sgpr_grid_workgroup_count_{axis}": properties >> 7 + i & 1 for i, axis in enumerate("xyz")
    }
    dynamic = {"uses_dynamic_stack": properties >> 20 & 1}
    return _decode(
        target,
        group,
        private,
        kernarg,
        entry,
        rsrc1,
        rsrc2,
        0,
        properties & 0xFFFF & ~(1 << 11),
        0,
        counts | dynamic,
    )


def shader_descriptor(
    target: Target, words: tuple[int, int, int], scratch: int, lds: int, wave32: bool
) -> KernelDescriptor:
    """A descriptor made from a shader's registers PGM_RSRC1 to 3, which are the registers that a kernel descriptor's
    words set.

    ``scratch`` is in bytes per lane, ``lds`` in bytes per workgroup; the size of LDS in the registers is used if it is
    larger.
    """
    rsrc1, rsrc2, rsrc3 = words
    properties = wave32 << 10
    found = _decode(target, 0, scratch, 0, 0, rsrc1, rsrc2, rsrc3, properties, 0, {})
    return replace(found, group_segment_fixed_size=max(lds, found.granulated_lds_size * target.lds_granule))


def _decode(
    target: Target,
    group: int,
    private: int,
    kernarg: int,
    entry: int,
    rsrc1: int,
    rsrc2: int,
    rsrc3: int,
    properties: int,
    preload: int,
    extra: dict[str, int],
) -> KernelDescriptor:
    words = {_R1: rsrc1, _R2: rsrc2, _R3: rsrc3, _P: properties, _K: preload}
    values = {field.name: field.get(words[field.word]) for field in FIELDS if field.applies_to(target)}
    if target.scratch is ScratchKind.ARCHITECTED:
        # The hardware itself has the scratch base, so the command processor ignores these two.
        values["enable_sgpr_private_segment_buffer"] = values["enable_sgpr_flat_scratch_init"] = 0
    if not target.supports_kernarg_preload:
        values["kernarg_preload_spec_length"] = values["kernarg_preload_spec_offset"] = 0
    values |= extra
    if target.generation >= Generation.GFX10:
        wave_size = 32 if values["enable_wavefront_size32"] or target.wave_sizes == (32,) else 64
    else:
        wave_size = 64
    vgprs = (values["granulated_workitem_vgpr_count"] + 1) * target.vgpr_granule(wave_size)
    accum_offset = (values["granulated_accum_offset"] + 1) * 4 if target.unified_vgprs else None
    return KernelDescriptor(
        target,
        group,
        private,
        kernarg,
        entry,
        rsrc1,
        rsrc2,
        rsrc3,
        properties,
        preload,
        wave_size=wave_size,
        vgpr_count=vgprs,
        accum_offset=accum_offset,
        sgpr_count=_sgpr_count(target, values["granulated_wavefront_sgpr_count"]),
        **values,
    )


def _sgpr_count(target: Target, granulated: int) -> int:
    """The number of SGPRs allocated: a multiple of 8 up to GFX8, of 16 (counted as two blocks) on GFX9, and always 128
    from GFX10 on.
    """
    if target.generation >= Generation.GFX10:
        return 128
    if target.generation is Generation.GFX9:
        return (granulated // 2 + 1) * 16
    return (granulated + 1) * 8
