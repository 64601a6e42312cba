"""Writes ``amd_kernel_code_t``, the kernel descriptor of code object V2, as the assembler directive of the same name.
"""

from __future__ import annotations

import struct

from msgspec import Struct

from rocdbg.codeobject.kernel_descriptor import V2_DESCRIPTOR_SIZE


class _Word(Struct, frozen=True):
    """A separate number: its offset and its `struct` format."""

    name: str
    at: int
    kind: str


class _Bits(Struct, frozen=True):
    """A bit field of the 64-bit word of resource registers, or of the 32 bits of code properties."""

    name: str
    at: int
    low: int
    width: int = 1


_REGISTERS, _PROPERTIES = 48, 56

ROWS: tuple[_Word | _Bits, ...] = (
    _Word("amd_code_version_major", 0, "I"),
    _Word("amd_code_version_minor", 4, "I"),
    _Word("amd_machine_kind", 8, "H"),
    _Word("amd_machine_version_major", 10, "H"),
    _Word("amd_machine_version_minor", 12, "H"),
    _Word("amd_machine_version_stepping", 14, "H"),
    _Word("kernel_code_entry_byte_offset", 16, "q"),
    _Word("kernel_code_prefetch_byte_size", 32, "Q"),
    _Bits("granulated_workitem_vgpr_count", _REGISTERS, 0, 6),
    _Bits("granulated_wavefront_sgpr_count", _REGISTERS, 6, 4),
    _Bits("priority", _REGISTERS, 10, 2),
    _Bits("float_mode", _REGISTERS, 12, 8),
    _Bits("priv", _REGISTERS, 20),
    _Bits("enable_dx10_clamp", _REGISTERS, 21),
    _Bits("debug_mode", _REGISTERS, 22),
    _Bits("enable_ieee_mode", _REGISTERS, 23),
    _Bits("enable_wgp_mode", _REGISTERS, 29),
    _Bits("enable_mem_ordered", _REGISTERS, 30),
    _Bits("enable_fwd_progress", _REGISTERS, 31),
    _Bits("enable_sgpr_private_segment_wave_byte_offset", _REGISTERS, 32),
    _Bits("user_sgpr_count", _REGISTERS, 33, 5),
    _Bits("enable_trap_handler", _REGISTERS, 38),
    _Bits("enable_sgpr_workgroup_id_x", _REGISTERS, 39),
    _Bits("enable_sgpr_workgroup_id_y", _REGISTERS, 40),
    _Bits("enable_sgpr_workgroup_id_z", _REGISTERS, 41),
    _Bits("enable_sgpr_workgroup_info", _REGISTERS, 42),
    _Bits("enable_vgpr_workitem_id", _REGISTERS, 43, 2),
    _Bits("enable_exception_msb", _REGISTERS, 45, 2),
    _Bits("granulated_lds_size", _REGISTERS, 47, 9),
    _Bits("enable_exception", _REGISTERS, 56, 7),
    _Bits("enable_sgpr_private_segment_buffer", _PROPERTIES, 0),
    _Bits("enable_sgpr_dispatch_ptr", _PROPERTIES, 1),
    _Bits("enable_sgpr_queue_ptr", _PROPERTIES, 2),
    _Bits("enable_sgpr_kernarg_segment_ptr", _PROPERTIES, 3),
    _Bits("enable_sgpr_dispatch_id", _PROPERTIES, 4),
    _Bits("enable_sgpr_flat_scratch_init", _PROPERTIES, 5),
    _Bits("enable_sgpr_private_segment_size", _PROPERTIES, 6),
    _Bits("enable_sgpr_grid_workgroup_count_x", _PROPERTIES, 7),
    _Bits("enable_sgpr_grid_workgroup_count_y", _PROPERTIES, 8),
    _Bits("enable_sgpr_grid_workgroup_count_z", _PROPERTIES, 9),
    _Bits("enable_wavefront_size32", _PROPERTIES, 10),
    _Bits("enable_ordered_append_gds", _PROPERTIES, 16),
    _Bits("private_element_size", _PROPERTIES, 17, 2),
    _Bits("is_ptr64", _PROPERTIES, 19),
    _Bits("is_dynamic_callstack", _PROPERTIES, 20),
    _Bits("is_debug_enabled", _PROPERTIES, 21),
    _Bits("is_xnack_enabled", _PROPERTIES, 22),
    _Word("workitem_private_segment_byte_size", 60, "I"),
    _Word("workgroup_group_segment_byte_size", 64, "I"),
    _Word("gds_segment_byte_size", 68, "I"),
    _Word("kernarg_segment_byte_size", 72, "Q"),
    _Word("workgroup_fbarrier_count", 80, "I"),
    _Word("wavefront_sgpr_count", 84, "H"),
    _Word("workitem_vgpr_count", 86, "H"),
    _Word("reserved_vgpr_first", 88, "H"),
    _Word("reserved_vgpr_count", 90, "H"),
    _Word("reserved_sgpr_first", 92, "H"),
    _Word("reserved_sgpr_count", 94, "H"),
    _Word("debug_wavefront_private_segment_offset_sgpr", 96, "H"),
    _Word("debug_private_segment_buffer_sgpr", 98, "H"),
    _Word("kernarg_segment_alignment", 100, "B"),
    _Word("group_segment_alignment", 101, "B"),
    _Word("private_segment_alignment", 102, "B"),
    _Word("wavefront_size", 103, "B"),
    _Word("call_convention", 104, "i"),
    _Word("runtime_loader_kernel_symbol", 120, "Q"),
)
"""The fields in the order in which compilers wrote them at that time; alignments and the wave size are stored as
logarithms.
"""


def kernel_code_directives(data: bytes) -> list[str]:
    """The lines of the 256 bytes of an ``amd_kernel_code_t``."""
    if len(data) < V2_DESCRIPTOR_SIZE:
        raise ValueError(f"an amd_kernel_code_t has {V2_DESCRIPTOR_SIZE} bytes, not {len(data)}")
    return [".amd_kernel_code_t", *(f"\t{row.name} = {_value(data, row)}" for row in ROWS), ".end_amd_kernel_code_t"]


def _value(data: bytes, row: _Word | _Bits) -> int:
    if isinstance(row, _Word):
        [value] = struct.unpack_from("<" + row.kind, data, row.at)
        return int(value)
    [word] = struct.unpack_from("<Q" if row.at == _REGISTERS else "<I", data, row.at)
    return int(word >> row.low & (1 << row.width) - 1)
