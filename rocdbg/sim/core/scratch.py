"""Scratch: the amount per wave, and the buffer descriptor that the runtime passes to kernels that use one."""

from __future__ import annotations

from rocdbg.arch.targets import Generation, Target

WAVE_GRANULE = 1024
"""A wave's scratch area is a multiple of this many bytes."""

DYNAMIC_STACK_SIZE = 16 << 10
"""Bytes per lane that are added if a kernel's stack size is not known at compile time (recursion, calls through
pointers).
"""

_SELECT_XYZW = 4 | 5 << 3 | 6 << 6 | 7 << 9
_NUM_FORMAT_UINT = 4
_DATA_FORMAT_32 = 4
_FORMAT_32_UINT = 20
_SWIZZLE_ENABLE = 1 << 31
_ADD_TID_ENABLE = 1 << 23
_OOB_NEVER = 2


def area_size(lane_size: int, wave_size: int) -> int:
    """Bytes of a wave's scratch area when each lane has ``lane_size``."""
    total = lane_size * wave_size
    return -(-total // WAVE_GRANULE) * WAVE_GRANULE


def buffer_descriptor(target: Target, wave_size: int, address: int, size: int) -> tuple[int, int, int, int]:
    """The V# of the private segment buffer over all scratch of a dispatch (``size`` bytes at ``address``).

    Set as the ROCm runtime does: raw buffer, swizzled in dwords, the lane id added as the index, index stride the wave
    size, so that offset ``o`` of lane ``l`` is the byte ``(o / 4) * 4 * wave_size + l * 4 + o % 4``.
    """
    word1 = (address >> 32) & 0xFFFF | _SWIZZLE_ENABLE
    index_stride = 3 if wave_size == 64 else 2  # these codes mean 64 and 32 elements
    word3 = _SELECT_XYZW | index_stride << 21 | _ADD_TID_ENABLE
    if target.generation >= Generation.GFX10:
        # FORMAT in bits 18:12, RESOURCE_LEVEL (gfx10 only) 24, OOB_SELECT 29:28.
        word3 |= _FORMAT_32_UINT << 12 | _OOB_NEVER << 28
        if target.generation is Generation.GFX10:
            word3 |= 1 << 24
    else:
        # ELEMENT_SIZE 20:19 is 1, four bytes; the runtime sets it on gfx9 too, where no other size exists. DATA_FORMAT,
        # bits 18:15, is stride[17:14] from gfx8 on if the lane id is added: left 0.
        word3 |= _NUM_FORMAT_UINT << 12 | 1 << 19
        if target.generation < Generation.GFX8:
            word3 |= _DATA_FORMAT_32 << 15
    return address & 0xFFFF_FFFF, word1, size & 0xFFFF_FFFF, word3
