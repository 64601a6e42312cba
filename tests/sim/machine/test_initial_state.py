"""Initial registers of a wave: from hand-made descriptors for each kind of target, and from compiled kernels."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rocdbg
from rocdbg.arch.targets import target_by_name
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.kernel_descriptor import KernelDescriptor, decode_descriptor
from rocdbg.sim.core import layout, scratch
from rocdbg.sim.core.initial_state import DispatchState, GroupIds, apply, prototype
from rocdbg.sim.core.wave import Wave, state_block

BUFFER, DISPATCH, QUEUE, KERNARG, ID, FLAT, SIZE, WAVE32 = (1 << bit for bit in (0, 1, 2, 3, 4, 5, 6, 10))


def descriptor(
    target: str, properties: int, rsrc1: int = 0, rsrc2: int = 0, preload: int = 0
) -> KernelDescriptor:
    data = struct.pack("<III4xq20xIIIHH4x", 0, 0, 0, 0, 0, rsrc1, rsrc2, properties, preload)
    return decode_descriptor(Source("made", data), 0, target_by_name(target))


def start(
    target: str,
    made: KernelDescriptor,
    group: tuple[int, int, int] = (3, 4, 5),
    index: int = 1,
    slot: int = 2,
) -> Wave:
    """Wave ``index`` of a group of (100, 2, 1) work-items."""
    row = target_by_name(target)
    state = DispatchState(
        row, made.wave_size, made, 0x5000, (7, 8, 9), 0x1_0000_0001, 0x2_0000_0002, 0x3_0000_0003,
        struct.pack("<4I", 10, 11, 12, 13), 4, 0x7F00_0030_0000, (0xA, 0xB, 0xC, 0xD), 64, 64 * made.wave_size, 512,
    )
    size = (100, 2, 1)
    ids = GroupIds(size, made.wave_size, made.enable_vgpr_workitem_id + 1, row.packed_work_item_ids)
    wave = Wave(
        state_block(row, made.wave_size), row, made.wave_size, 9, group, index, size, np.zeros(0, np.uint8)
    )
    apply(wave, state, prototype(state), ids, slot)
    return wave


def user_count(count: int) -> int:
    return count << 1


WORKGROUP_IDS, INFO, PRIVATE = 7 << 7, 1 << 10, 1

ALL_USER = [0xA, 0xB, 0xC, 0xD, 1, 1, 2, 2, 3, 3, 4, 0, 0x300000, 0x7F00, 64]


@pytest.mark.parametrize(
    ("target", "properties", "count", "sgprs"),
    [
        ("gfx90a", BUFFER | DISPATCH | QUEUE | KERNARG | ID | FLAT | SIZE, 15, ALL_USER),
        ("gfx1030", BUFFER | DISPATCH | QUEUE | KERNARG | ID | FLAT | SIZE, 15, ALL_USER),
        # The hardware has the scratch base: no buffer, no flat scratch init.
        ("gfx942", BUFFER | DISPATCH | QUEUE | KERNARG | ID | FLAT | SIZE, 9, [*ALL_USER[4:12], 64]),
        ("gfx90a", KERNARG, 2, [3, 3]),
        # More registers than items, as compilers request on gfx11: the rest is unused.
        ("gfx1100", KERNARG, 13, [3, 3] + [0] * 11),
        # Fewer: what is beyond is not set up.
        ("gfx90a", DISPATCH | KERNARG, 3, [1, 1, 3]),
    ],
)
def test_user_sgprs_then_workgroup_ids(target: str, properties: int, count: int, sgprs: list[int]) -> None:
    wave = start(target, descriptor(target, properties, rsrc2=user_count(count) | WORKGROUP_IDS))
    assert wave.sgprs[: count + 3].tolist() == [*sgprs, 3, 4, 5]


def test_system_sgprs_are_dense_and_end_with_the_scratch_offset() -> None:
    rsrc2 = user_count(2) | 1 << 8 | INFO | PRIVATE  # y only
    wave = start("gfx90a", descriptor("gfx90a", KERNARG, rsrc2=rsrc2), index=0)
    # Group info: first wave of four; the area of slot 2 is two areas of 64 * 64 bytes in.
    assert wave.sgprs[:6].tolist() == [3, 3, 4, 1 << 31 | 4, 2 * 4096, 0]
    assert (wave.scratch_base, wave.scratch_size) == (0x7F00_0030_0000 + 2 * 4096, 4096)
    assert start("gfx90a", descriptor("gfx90a", KERNARG, rsrc2=rsrc2)).sgpr(3) == 4


def test_architected_scratch_has_no_offset_register() -> None:
    wave = start("gfx942", descriptor("gfx942", KERNARG, rsrc2=user_count(2) | WORKGROUP_IDS | PRIVATE))
    assert wave.sgprs[:6].tolist() == [3, 3, 3, 4, 5, 0]
    assert wave.flat_scratch == wave.scratch_base == 0x7F00_0030_0000 + 2 * 4096


def test_architected_workgroup_ids() -> None:
    wave = start("gfx1200", descriptor("gfx1200", KERNARG | WAVE32, rsrc2=user_count(2) | WORKGROUP_IDS))
    assert wave.sgprs[:5].tolist() == [3, 3, 0, 0, 0]
    assert (wave.ttmp(9), wave.ttmp(7), wave.ttmp(8) >> 25) == (3, 4 | 5 << 16, 1)


def test_kernarg_preload_moves_the_entry() -> None:
    made = descriptor("gfx942", KERNARG, rsrc2=user_count(5) | 1 << 7, preload=3 | 1 << 7)
    wave = start("gfx942", made)
    assert wave.sgprs[:6].tolist() == [3, 3, 11, 12, 13, 3]
    assert wave.pc == 0x5000 + 256
    assert start("gfx942", descriptor("gfx942", KERNARG)).pc == 0x5000


@pytest.mark.parametrize(
    ("target", "flags", "ids", "lane", "wanted"),
    [
        ("gfx90a", 0, 0, 2, [66 | 0 << 10, 0, 0]),
        ("gfx90a", 0, 2, 50, [(114 - 100) | 1 << 10, 0, 0]),
        ("gfx942", 0, 2, 50, [14 | 1 << 10, 0, 0]),
        ("gfx1100", WAVE32, 1, 3, [35, 0, 0]),
        ("gfx1030", WAVE32, 0, 3, [35, 0, 0]),
        ("gfx1030", 0, 1, 50, [14, 1, 0]),
        ("gfx908", 0, 2, 50, [14, 1, 0]),
        ("gfx908", 0, 0, 50, [14, 0, 0]),
    ],
)
def test_work_item_ids(target: str, flags: int, ids: int, lane: int, wanted: list[int]) -> None:
    wave = start(target, descriptor(target, KERNARG | flags, rsrc2=user_count(2) | ids << 11))
    assert [int(wave.vgpr(number)[lane]) for number in range(3)] == wanted
    x, y, _ = wave.work_item(lane)
    assert (x, y) == ((wave.wave_size + lane) % 100, (wave.wave_size + lane) // 100)


def test_partial_last_wave() -> None:
    wave = start("gfx90a", descriptor("gfx90a", KERNARG), index=3)
    assert wave.exec == wave.used_lanes == 0xFF
    assert wave.vgpr(0)[7:10].tolist() == [99 | 1 << 10, 0, 0]
    assert wave.active_lanes() == tuple(range(8))
    narrow = start("gfx1100", descriptor("gfx1100", KERNARG | WAVE32), index=6)
    assert (narrow.exec, narrow.sgpr(127)) == (0xFF, 0)


@pytest.mark.parametrize(
    ("target", "rsrc1", "rsrc2", "mode"),
    [
        ("gfx90a", 0, 0, 0),
        ("gfx90a", 1 << 12 | 2 << 14, 0, 0b1001),
        ("gfx90a", 3 << 16 | 2 << 18, 0, 0b10110000),
        ("gfx90a", 1 << 21 | 1 << 23, 0, 0x300),
        ("gfx1200", 1 << 21 | 1 << 23, 0, 0),
        ("gfx90a", 1 << 26, 0, 1 << 23),
        ("gfx90a", 0, 0x41 << 24, 0x41 << 12),
    ],
)
def test_mode(target: str, rsrc1: int, rsrc2: int, mode: int) -> None:
    assert start(target, descriptor(target, KERNARG, rsrc1, rsrc2)).mode == mode


def test_status_has_what_the_masks_say() -> None:
    wave = start("gfx90a", descriptor("gfx90a", KERNARG))
    assert wave.status == 1 << 16 | 1 << 11 | 1 << 10 | 1 << 6  # VALID, IN_TG, VCCZ, TRAP_EN
    wave.exec, wave.vcc, wave.scc = 0, 1, 1
    assert wave.status == 1 << 16 | 1 << 11 | 1 << 9 | 1 << 6 | 1
    wave.status = 0
    assert (wave.scc, wave.status) == (0, 1 << 9)


@pytest.mark.parametrize(
    ("target", "wave_size", "word1", "word3"),
    [
        # swizzle enable | base high; add tid | index stride 64 | element size 4 | format | selects
        ("gfx90a", 64, 0x8000_7F00, 0x00E8_4FAC),
        # add tid | resource level | index stride | out of bounds never | 32_UINT | selects
        ("gfx1030", 64, 0x8000_7F00, 0x21E1_4FAC),
        ("gfx1030", 32, 0x8000_7F00, 0x21C1_4FAC),
    ],
)
def test_scratch_descriptor(target: str, wave_size: int, word1: int, word3: int) -> None:
    words = scratch.buffer_descriptor(target_by_name(target), wave_size, 0x7F00_0030_0000, 8192)
    assert [hex(word) for word in words] == [hex(word) for word in (0x30_0000, word1, 8192, word3)]


def test_scratch_is_interleaved_by_dwords() -> None:
    wave = start("gfx90a", descriptor("gfx90a", KERNARG), slot=0)
    offsets = [
        wave.scratch_address(lane, offset) - wave.scratch_base
        for lane, offset in ((0, 0), (0, 5), (3, 0), (63, 9))
    ]
    assert offsets == [0, 257, 12, 2 * 256 + 63 * 4 + 1]


def test_registers_are_views_of_the_state() -> None:
    wave = start("gfx90a", descriptor("gfx90a", KERNARG))
    saved = wave.state.copy()
    wave.vgpr(5)[7] = 0x1234
    wave.agpr(0)[1] = 0x5678
    wave.set_sgpr64(20, 0x1122334455667788)
    wave.m0 = 99
    assert struct.unpack_from("<I", wave.state, layout.VGPRS + (5 * 64 + 7) * 4) == (0x1234,)
    assert struct.unpack_from("<I", wave.state, layout.VGPRS + (256 * 64 + 1) * 4) == (0x5678,)
    assert (wave.sgpr(20), wave.sgpr(21), wave.sgpr(124)) == (0x55667788, 0x11223344, 99)
    wave.state[:] = saved  # all that a wave is
    assert (int(wave.vgpr(5)[7]), wave.sgpr(20), wave.m0) == (0, 0, 0)
    assert start("gfx1100", descriptor("gfx1100", KERNARG)).m0 == 0


@pytest.mark.llvm
def test_register_counts_of_a_compiled_kernel(build: Callable[..., Path]) -> None:
    program = rocdbg.load(build("gfx90a", 0))
    kernel = program.kernels["recurse"].kernel
    bound = program.kernels["recurse"].launch(64, 64, [np.zeros(64, np.int32)]).launch
    wave = bound.dispatch.waves[0]
    assert kernel.metadata is not None
    assert kernel.metadata.vgpr_count - kernel.metadata.agpr_count <= wave.vgpr_count <= 256
    assert wave.agpr_count >= kernel.metadata.agpr_count
    # The stack's size is not known at compile time: 16 KiB more per lane than the descriptor says.
    assert kernel.descriptor.uses_dynamic_stack
    assert wave.lane_scratch_size == kernel.descriptor.private_segment_fixed_size + 16384
    bound.release()
