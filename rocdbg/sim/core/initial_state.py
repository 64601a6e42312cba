"""The state in which a wave starts, exactly as the kernel descriptor requests it.

AMDGPU ABI, "Initial Kernel Execution State": user SGPRs set by the packet processor (the same for all waves
of a dispatch), then system SGPRs and work-item ids set per wave. What the ABI leaves undefined (other
registers, LDS, scratch) is 0 here, so that every run of a launch is the same.
"""

from __future__ import annotations

import struct

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.arch.lane_sets import all_lanes
from rocdbg.arch.targets import Generation, ScratchKind, Target
from rocdbg.codeobject.kernel_descriptor import KernelDescriptor, UserSgpr
from rocdbg.sim.core import layout
from rocdbg.sim.core.hardware_registers import gpr_alloc
from rocdbg.sim.core.register_bounds import bounds
from rocdbg.sim.core.wave import Dim3, StateBlock, Wave, state_block
from rocdbg.sim.device.schedule import Varying

# The STATUS bits that are set in a running wave of a compute dispatch: TRAP_EN, IN_TG (for groups of several waves),
# VALID.
_STATUS_TRAP_EN = 1 << 6
_STATUS_IN_GROUP = 1 << 11
_STATUS_VALID = 1 << 16

_MAX_USER_SGPRS = 16

_PLACE = struct.Struct("<QQQQIIII")
"""The consecutive engine words that differ between waves: from scratch_base to wave_in_group."""
_PLACE_OFFSET = layout.ENGINE["scratch_base"].offset - layout.ENGINE_OFFSET
assert layout.ENGINE["wave_in_group"].offset + 4 - layout.ENGINE_OFFSET == _PLACE_OFFSET + _PLACE.size


class DispatchState(Struct, frozen=True):
    """What all waves of a dispatch share. Addresses are simulated ones; sizes in bytes."""

    target: Target
    wave_size: int
    descriptor: KernelDescriptor
    entry: int
    groups: Dim3
    """Workgroups in each dimension, partial ones included."""
    packet_address: int
    queue_address: int
    kernarg_address: int
    kernarg: bytes
    dispatch_id: int
    scratch_address: int
    """Start of the dispatch's scratch; wave slot n has its area at ``n * wave_scratch_size`` from there."""
    scratch_descriptor: tuple[int, int, int, int]
    lane_scratch_size: int
    wave_scratch_size: int
    lds_size: int
    user_data: tuple[int, ...] | None = None
    """For a shader: the user data, which replaces the ABI's items."""

    def user_sgprs(self) -> list[int]:
        """The user SGPRs, in the ABI's order, as many as the descriptor counts."""
        limit = self.user_sgpr_count
        if self.user_data is not None:
            return [*self.user_data, *[0] * limit][:limit]
        values = [0] * max(limit, _MAX_USER_SGPRS)
        for item, (first, count) in self.descriptor.user_sgprs().items():
            # Requests beyond the hardware's user data have no effect: the ABI leaves those registers undefined.
            words = self._user_data(item, count)
            values[first : first + count] = words
        return values[:limit]

    @property
    def user_sgpr_count(self) -> int:
        """How many user SGPRs there are; the system SGPRs follow them."""
        return min(self.descriptor.user_sgpr_count, 32 if self.target.is_gfx125 else _MAX_USER_SGPRS)

    def _user_data(self, item: UserSgpr, count: int) -> list[int]:
        """The dwords of one item of the user data."""
        match item:
            case UserSgpr.PRIVATE_SEGMENT_BUFFER:
                return list(self.scratch_descriptor)
            case UserSgpr.DISPATCH_PTR:
                return _halves(self.packet_address)
            case UserSgpr.QUEUE_PTR:
                return _halves(self.queue_address)
            case UserSgpr.KERNARG_SEGMENT_PTR:
                return _halves(self.kernarg_address)
            case UserSgpr.DISPATCH_ID:
                return _halves(self.dispatch_id)
            case UserSgpr.FLAT_SCRATCH_INIT if self.target.flat_scratch_is_offset:
                # gfx7, gfx8: offset from the queue's hidden base (which is this scratch), and size per lane.
                return [0, self.lane_scratch_size]
            case UserSgpr.FLAT_SCRATCH_INIT:
                return _halves(self.scratch_address)
            case UserSgpr.PRIVATE_SEGMENT_SIZE:
                return [self.lane_scratch_size]
            case UserSgpr.GRID_WORKGROUP_COUNT_X:
                return [self.groups[0]]
            case UserSgpr.GRID_WORKGROUP_COUNT_Y:
                return [self.groups[1]]
            case UserSgpr.GRID_WORKGROUP_COUNT_Z:
                return [self.groups[2]]
            case UserSgpr.KERNARG_PRELOAD:
                start = self.descriptor.kernarg_preload_spec_offset * 4
                data = self.kernarg[start : start + count * 4].ljust(count * 4, b"\0")
                return list(struct.unpack(f"<{count}I", data))

    @property
    def first_pc(self) -> int:
        """Where a wave starts."""
        return self.entry + self.descriptor.start_offset

    @property
    def mode(self) -> int:
        """The initial MODE: FP_ROUND in bits 3:0, FP_DENORM in 7:4, DX10_CLAMP in 8, IEEE in 9, exception enables from
        12 on, FP16_OVFL in 23.
        """
        d = self.descriptor
        mode = d.float_round_mode_32 | d.float_round_mode_16_64 << 2
        mode |= d.float_denorm_mode_32 << 4 | d.float_denorm_mode_16_64 << 6
        if self.target.generation < Generation.GFX12:
            mode |= d.enable_dx10_clamp << 8 | d.enable_ieee_mode << 9
        if self.target.generation >= Generation.GFX9:
            mode |= d.fp16_ovfl << 23
        return mode if self.target.generation >= Generation.GFX12 else mode | enabled_exceptions(d) << 12


def enabled_exceptions(descriptor: KernelDescriptor) -> int:
    """The arithmetic exceptions that trap, as bits: `rocdbg.sim.core.arithmetic_exceptions.Cause`."""
    exceptions = (
        descriptor.enable_exception_ieee_754_fp_invalid_operation,
        descriptor.enable_exception_fp_denormal_source,
        descriptor.enable_exception_ieee_754_fp_division_by_zero,
        descriptor.enable_exception_ieee_754_fp_overflow,
        descriptor.enable_exception_ieee_754_fp_underflow,
        descriptor.enable_exception_ieee_754_fp_inexact,
        descriptor.enable_exception_int_divide_by_zero,
    )
    return sum(enabled << bit for bit, enabled in enumerate(exceptions))


def prototype(dispatch: DispatchState) -> StateBlock:
    """The part of a wave's state before the vector registers, and the engine words, filled with everything that all
    waves of a dispatch share.
    """
    wave = Wave(
        state_block(dispatch.target, dispatch.wave_size),
        dispatch.target,
        dispatch.wave_size,
        0,
        (0, 0, 0),
        0,
        (1, 1, 1),
        np.empty(0, np.uint8),
    )
    user = dispatch.user_sgprs()
    wave.sgprs[: len(user)] = user
    wave.pc = dispatch.first_pc
    wave.mode = dispatch.mode
    wave.status = _STATUS_VALID | _STATUS_TRAP_EN
    wave.set_word("lds_size", dispatch.lds_size)
    # LDS_ALLOC: size in units of 128 dwords from bit 12.
    wave.set_field("lds_alloc", -(-dispatch.lds_size // 512) << 12)
    sgprs, vgprs, agprs = register_counts(dispatch)
    wave.set_field("gpr_alloc", gpr_alloc(dispatch.target, dispatch.wave_size, vgprs, agprs, sgprs))
    wave.set_word("register_bounds", bounds(dispatch.target, dispatch.wave_size, vgprs, agprs, sgprs))
    wave.set_field("trap_ctrl", enabled_exceptions(dispatch.descriptor))
    return StateBlock(wave.state[: layout.VGPRS].copy(), wave.engine.copy())


def apply(
    wave: Wave, dispatch: DispatchState, shared: StateBlock, ids: GroupIds, scratch_slot: int
) -> None:
    """Put a wave (number, workgroup and index set) into its initial state, regardless of the block's previous contents.

    ``shared`` is the dispatch's `prototype`. The vector registers that the kernel has are cleared.
    """
    wave.state[: layout.VGPRS], wave.engine[:] = shared
    wave.sgpr_count, wave.vgpr_count, wave.agpr_count = register_counts(dispatch)
    wave.set_word("vgpr_limit", wave.vgpr_count)
    wave.clear_vectors()
    _set_system_sgprs(wave, dispatch, len(ids.used), scratch_slot)
    group, index = wave.workgroup, wave.index
    for register, values in enumerate(ids.vgprs(index)):
        wave.vgpr(register)[:] = values
    used = ids.used[index]
    wave.exec = used
    if len(ids.used) > 1:
        wave.set_field("status", wave.field("status") | _STATUS_IN_GROUP)
    wave.set_word("lds_pointer", int(wave.lds.ctypes.data))
    base = dispatch.scratch_address + scratch_slot * dispatch.wave_scratch_size
    scratch_size = dispatch.lane_scratch_size * dispatch.wave_size
    is_architected = dispatch.target.scratch is ScratchKind.ARCHITECTED
    wave.set_field("flat_scratch", base if is_architected else hidden_base(dispatch))
    # Setting the fields one by one would take most of the time of short waves.
    _PLACE.pack_into(
        wave.engine.data,
        _PLACE_OFFSET,
        base,
        scratch_size,
        used,
        wave.number,
        *(g & 0xFFFF_FFFF for g in group),
        index,
    )


def hidden_base(dispatch: DispatchState) -> int:
    """The base of FLAT_SCRATCH on GFX7 and GFX8 (SH_HIDDEN_PRIVATE_BASE_VMID), which is the address of the dispatch's
    scratch; 0 on other targets.
    """
    return dispatch.scratch_address if dispatch.target.flat_scratch_is_offset else 0


def register_counts(dispatch: DispatchState) -> tuple[int, int, int]:
    """SGPRs, VGPRs and AGPRs of each wave of a dispatch."""
    descriptor = dispatch.descriptor
    vgprs = min(descriptor.accum_offset or descriptor.vgpr_count, dispatch.target.vgpr_file)
    agprs = 0
    if dispatch.target.has_agprs:
        rest = descriptor.vgpr_count - (vgprs if descriptor.accum_offset is not None else 0)
        agprs = max(0, min(rest, layout.VGPR_COUNT))
    return descriptor.sgpr_count, vgprs, agprs


def varying_sgprs(dispatch: DispatchState) -> list[tuple[int, Varying]]:
    """Scalar registers (by operand code) that hold workgroup ids or a scratch offset: they differ by wave."""
    descriptor, target = dispatch.descriptor, dispatch.target
    if target.architected_sgprs:
        return [(layout.TTMP0 + 9, Varying.GROUP_X), (layout.TTMP0 + 7, Varying.GROUP_YZ)]
    values = [
        varying
        for enabled, varying in (
            (descriptor.enable_sgpr_workgroup_id_x, Varying.GROUP_X),
            (descriptor.enable_sgpr_workgroup_id_y, Varying.GROUP_Y),
            (descriptor.enable_sgpr_workgroup_id_z, Varying.GROUP_Z),
            (descriptor.enable_sgpr_workgroup_info, None),
        )
        if enabled
    ]
    if descriptor.enable_private_segment and target.scratch is not ScratchKind.ARCHITECTED:
        values.append(Varying.SCRATCH_OFFSET)
    first = dispatch.user_sgpr_count
    return [(first + n, varying) for n, varying in enumerate(values) if varying is not None]


def varying_values(group: Dim3, scratch_offset: int) -> list[int]:
    """The values by `Varying`, for a wave of the workgroup at ``group``."""
    x, y, z = (position & 0xFFFF_FFFF for position in group)
    return [x, y, z, y & 0xFFFF | (z & 0xFFFF) << 16, scratch_offset & 0xFFFF_FFFF]


def _set_system_sgprs(wave: Wave, dispatch: DispatchState, group_waves: int, scratch_slot: int) -> None:
    """Set the workgroup ids, group info and scratch offset after the user SGPRs, or the ids in TTMPs."""
    descriptor, sgprs, index = dispatch.descriptor, wave.sgprs, wave.index
    if dispatch.target.architected_sgprs:
        sgprs[layout.TTMP0 + 8] = (index & 31) << 25
    elif descriptor.enable_sgpr_workgroup_info:
        enabled = (
            descriptor.enable_sgpr_workgroup_id_x,
            descriptor.enable_sgpr_workgroup_id_y,
            descriptor.enable_sgpr_workgroup_id_z,
        )
        sgprs[dispatch.user_sgpr_count + sum(map(bool, enabled))] = (index == 0) << 31 | group_waves & 0x3F
    values = varying_values(wave.workgroup, scratch_slot * dispatch.wave_scratch_size)
    for code, varying in varying_sgprs(dispatch):
        sgprs[code] = values[varying]


class GroupIds:
    """Work-item ids and used lanes of the waves of a group, for groups of one size (partial groups have other sizes).
    """

    def __init__(self, size: Dim3, wave_size: int, registers: int, packed: bool) -> None:
        """``registers`` is how many of x, y and z have a VGPR of their own; ``packed`` means that all are in v0, 10
        bits each.
        """
        items = size[0] * size[1] * size[2]
        waves = -(-items // wave_size)
        flat = np.arange(waves * wave_size, dtype=np.uint32)
        x, y, z = flat % size[0], flat // size[0] % size[1], flat // (size[0] * size[1])
        rows = [x | y << 10 | z << 20] if packed else [x, y, z][:registers]
        unused = flat >= items
        for row in rows:
            row[unused] = 0
        self._rows = [row.astype(np.uint32).reshape(waves, wave_size) for row in rows]
        full = all_lanes(wave_size)
        self.used = [full] * waves
        if items % wave_size:
            self.used[-1] = (1 << items % wave_size) - 1
        self.size = size

    def vgprs(self, index: int) -> list[NDArray[np.uint32]]:
        """Initial v0, v1, ... of the wave with this index in its group, uint32[wave_size] each."""
        return [row[index] for row in self._rows]


def _halves(value: int) -> list[int]:
    return [value & 0xFFFF_FFFF, value >> 32 & 0xFFFF_FFFF]
