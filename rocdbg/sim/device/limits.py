"""The limits and needs of a launch: LDS, private memory, workgroups that can be resident."""

from __future__ import annotations

from functools import reduce
from operator import mod, mul
from typing import Final

from msgspec import Struct

from rocdbg.arch.targets import Target
from rocdbg.codeobject.kernels import Kernel
from rocdbg.errors import Error
from rocdbg.sim.core import scratch
from rocdbg.sim.core.wave import Dim3

MAX_WORKGROUP = 1024
"""Work-items of the largest workgroup that the hardware runs."""

_MAX_GROUP_DIMENSION: Final = 0xFFFF
_MAX_GRID_DIMENSION: Final = 0xFFFF_FFFF
_MAX_GROUPS: Final = (1 << 64) - 1
"""The most workgroups of a grid: the schedule counts them in 64 bits. No device could finish as many."""
_MAX_SCRATCH_SIZE: Final = 0xFFFF_FFFF


class LaunchLimitError(Error):
    """A launch beyond what the kernel or device permits. ``kernel``, and ``what`` (grid, workgroup, ...)."""

    def __init__(self, kernel: str, what: str, reason: str) -> None:
        self.kernel = kernel
        self.what = what
        super().__init__(f"cannot launch {kernel}: {what}: {reason}")


class Sizes(Struct, frozen=True):
    """What a dispatch needs: bytes of LDS per group, and bytes of scratch per lane, per wave and in all."""

    groups: Dim3
    resident_groups: int
    lds: int
    lane_scratch: int
    wave_scratch: int
    scratch: int


def sizes(kernel: Kernel, grid: Dim3, workgroup: Dim3, lds: int, lane_scratch: int, resident_waves: int) -> Sizes:
    """The needs of a dispatch with ``lds`` bytes per group and ``lane_scratch`` bytes per lane, of which
    ``resident_waves`` exist at once. Raises LaunchLimitError if one workgroup's scratch is too big.
    """
    lane = -(-lane_scratch // 4) * 4
    wave = scratch.area_size(lane, kernel.wave_size)
    waves_per_group = -(-reduce(mul, workgroup) // kernel.wave_size)
    x, y, z = (-(-total // size) for total, size in zip(grid, workgroup, strict=True))
    resident = max(1, min(x * y * z, resident_waves // waves_per_group))
    if wave:
        resident = max(1, min(resident, _MAX_SCRATCH_SIZE // (wave * waves_per_group)))
    total = wave * waves_per_group * resident
    if total > _MAX_SCRATCH_SIZE:
        reason = f"one workgroup needs {total} bytes; the limit is {_MAX_SCRATCH_SIZE}, because offsets have 32 bits"
        raise LaunchLimitError(kernel.name, "scratch", reason)
    return Sizes((x, y, z), resident, lds, lane, wave, total)


def lane_scratch(kernel: Kernel, dynamic_stack_size: int) -> int:
    """Bytes of private memory per lane that a kernel requests, plus ``dynamic_stack_size`` if the compiler could not
    determine its stack size.

    Before code object version 5, a kernel cannot indicate that its stack size is not known: compilers then request 16
    KiB, so if ``dynamic_stack_size`` is larger than that, the excess is added for every kernel.
    """
    size = kernel.descriptor.private_segment_fixed_size
    if uses_dynamic_stack(kernel):
        return size + dynamic_stack_size
    if size and (kernel.code_object.version or 5) < 5:
        return size + max(0, dynamic_stack_size - scratch.DYNAMIC_STACK_SIZE)
    return size


def uses_dynamic_stack(kernel: Kernel) -> bool:
    """Whether the compiler could not determine how much private memory the kernel needs (recursion, calls by pointer).
    """
    metadata = kernel.metadata
    return bool(kernel.descriptor.uses_dynamic_stack) or (metadata is not None and metadata.uses_dynamic_stack)


def check_hardware(name: str, target: Target, grid: Dim3, workgroup: Dim3, lds: int, dynamic_lds: int = 0) -> None:
    """Reject launches that no device would run. Raises LaunchLimitError."""
    if target.is_r600:
        raise LaunchLimitError(name, "target", f"{target.name} is an r600 processor, which is not simulated")
    for what, extent, most in (
        ("workgroup", workgroup, _MAX_GROUP_DIMENSION),
        ("grid", grid, _MAX_GRID_DIMENSION),
    ):
        if not all(1 <= size <= most for size in extent):
            raise LaunchLimitError(name, what, f"each dimension must be from 1 to {most}, not {list(extent)}")
    items = reduce(mul, workgroup)
    if items > MAX_WORKGROUP:
        raise LaunchLimitError(name, "workgroup", f"{items} work-items exceed the limit of the device, {MAX_WORKGROUP}")
    groups = reduce(mul, (-(-total // size) for total, size in zip(grid, workgroup, strict=True)))
    if groups > _MAX_GROUPS:
        raise LaunchLimitError(name, "grid", f"{list(grid)} has {groups} workgroups; the limit is {_MAX_GROUPS}")
    if dynamic_lds < 0 or lds > target.lds_size:
        raise LaunchLimitError(
            name,
            "LDS",
            f"{lds} bytes ({dynamic_lds} of them dynamic) exceed the {target.lds_size} bytes of {target.name}",
        )


def check_metadata(kernel: Kernel, grid: Dim3, workgroup: Dim3) -> None:
    """Reject a workgroup for which a kernel was not compiled, and a grid with partial workgroups if the kernel
    requires uniform ones. Raises LaunchLimitError.

    clang sets this requirement for every HIP kernel, because a HIP launch gives the number of workgroups. Since
    compiled HIP code treats a partial workgroup as a whole one, such launches of HIP kernels are permitted.
    """
    metadata, items = kernel.metadata, reduce(mul, workgroup)
    if metadata is None:
        return
    if 0 < metadata.max_flat_workgroup_size < items:
        most = metadata.max_flat_workgroup_size
        reason = f"{items} work-items exceed the {most} for which the kernel was compiled"
        raise LaunchLimitError(kernel.name, "workgroup", reason)
    required = metadata.reqd_workgroup_size
    if required is not None and tuple(workgroup) != tuple(required):
        raise LaunchLimitError(
            kernel.name, "workgroup", f"the kernel requires {list(required)}, not {list(workgroup)}"
        )

    if metadata.uniform_work_group_size and any(map(mod, grid, workgroup)) and not kernel.code_object.is_hip:
        reason = f"the kernel asks for uniform work-groups; {list(grid)} is not a multiple of {list(workgroup)}"
        raise LaunchLimitError(kernel.name, "grid", reason)


__all__ = [
    "MAX_WORKGROUP", "LaunchLimitError", "Sizes", "check_hardware", "check_metadata", "lane_scratch", "sizes",
    "uses_dynamic_stack",
]
