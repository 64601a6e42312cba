"""The simulated device: memory, loaded code objects, and the dispatches that run on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import reduce
from math import prod
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.arch.targets import Target, target_by_name
from rocdbg.codeobject.code_object import CodeObject
from rocdbg.codeobject.image import LoadedImage
from rocdbg.codeobject.kernels import Kernel
from rocdbg.errors import Error
from rocdbg.sim import layout, scratch
from rocdbg.sim.arithmetic_exceptions import could_notice
from rocdbg.sim.device.aql import (
    GRID_SYNC_REFUSED,
    GRID_SYNC_SIZE,
    PACKET_SIZE,
    QUEUE_SIZE,
    DispatchPacket,
    Queue,
    grid_sync,
)
from rocdbg.sim.device.dispatch import RESIDENT_WAVES, Dispatch, DispatchPlan
from rocdbg.sim.device.kernarg import HiddenValues, build_segment
from rocdbg.sim.global_share import GlobalShare
from rocdbg.sim.initial_state import DispatchState
from rocdbg.sim.memory import Allocation, AllocationKind, GlobalMemory
from rocdbg.sim.uninitialized import UninitializedReads
from rocdbg.sim.wave import Dim3

if TYPE_CHECKING:
    from rocdbg.sim.native import Engine

MAX_WORKGROUP = 1024
"""Work-items of the largest workgroup the hardware runs."""

_MAX_GROUP_DIMENSION = 0xFFFF
_MAX_GRID_DIMENSION = 0xFFFF_FFFF
_MAX_SCRATCH_SIZE = 0xFFFF_FFFF
_QUEUE_PACKETS = 4096


class LaunchLimitError(Error):
    """A launch beyond what kernel or device permit. ``kernel``, and ``what`` (grid, workgroup, ...)."""

    def __init__(self, kernel: str, what: str, reason: str) -> None:
        self.kernel = kernel
        self.what = what
        super().__init__(f"cannot launch {kernel}: {what}: {reason}")


class LoadError(Error):
    """A code object that cannot be loaded on a machine. ``file`` is its name."""

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        super().__init__(f"cannot load {file}: {reason}")


class LdsOutOfRange(Enum):
    """What accesses beyond a workgroup's LDS do; the value is the word for it.

    Hardware gives zeros and drops writes, and reports a violation only where LDS_CONFIG.ADDR_OUT_OF_RANGE_REPORTING is
    set. To a debugger the violation is worth more.
    """

    FAULT = "fault"
    ZERO = "zero"


class MachineOptions(Struct, frozen=True):
    """What can be chosen about a machine."""

    memory_limit: int = 16 << 30
    """Bytes of global memory."""
    dynamic_stack_size: int = scratch.DYNAMIC_STACK_SIZE
    """Bytes of scratch per lane added for kernels whose stack size is not known at compile time."""
    resident_waves: int = RESIDENT_WAVES
    """Waves that exist at once."""
    lds_out_of_range: LdsOutOfRange = LdsOutOfRange.FAULT
    """What accesses beyond a workgroup's LDS do."""
    count_uninitialized: bool = False
    """Count reads of buffer bytes that nothing has written (``Machine.uninitialized``); slows execution down."""
    cache_dir: Path | None = None
    """Where translations are kept; None: the user's cache directory."""


class _Sizes(Struct, frozen=True):
    """What a dispatch needs: bytes of LDS per group, of scratch per lane, per wave, and in all."""

    groups: Dim3
    resident_groups: int
    lds: int
    lane_scratch: int
    wave_scratch: int
    scratch: int


@dataclass(frozen=True)
class LoadedCodeObject:
    """A code object in simulated memory. An address of the ELF file plus ``base`` is a simulated address."""

    machine: Machine = field(repr=False)
    code_object: CodeObject
    allocation: Allocation
    image: LoadedImage = field(repr=False)

    @property
    def base(self) -> int:
        """Simulated address the object was loaded at: what is added to addresses of the ELF file."""
        return self.allocation.address

    @property
    def lds_size(self) -> int:
        """Bytes of LDS its symbols claim beside what kernel descriptors count (unlinked objects only)."""
        return self.image.lds_size

    def address(self, elf_address: int) -> int:
        """The simulated address of an address in the ELF file."""
        return self.base + elf_address

    def elf_address(self, address: int) -> int:
        """The ELF file's address of a simulated address within the object."""
        return address - self.base

    def symbol_address(self, name: str) -> int:
        """Simulated address of a symbol (LDS symbols: the offset in LDS). Raises CodeObjectError."""
        return self.image.address_of(name)


class Machine:
    """A device of one target. Deterministic: the same calls give the same addresses and results."""

    def __init__(self, target: Target | str, options: MachineOptions | None = None) -> None:
        self.target = target_by_name(target) if isinstance(target, str) else target
        self.options = options or MachineOptions()
        self.memory = GlobalMemory(self.options.memory_limit, self.options.count_uninitialized)
        self.share = GlobalShare(self.target)
        """Global data share and global wave sync."""
        self.uninitialized = UninitializedReads() if self.options.count_uninitialized else None
        """Reads of never-written buffer bytes, if the options ask for them to be counted."""
        self.loaded: list[LoadedCodeObject] = []
        self._engines: dict[int, Engine] = {}
        self._exceptions = False
        self._queue: Allocation | None = None
        self._dispatches = 0
        self.memory.on_code_write(self._code_written)

    # -- code ------------------------------------------------------------------------------------------------

    def load(self, code_object: CodeObject, name: str = "") -> LoadedCodeObject:
        """Copy a code object into memory and relocate it; its code can be read and executed, its data
        written too.

        Pages hold code and data together, so the whole object is readable, writable and executable; stores
        of a kernel into code take effect when the instruction cache is invalidated (`instruction_cache`).
        """
        if not code_object.target.covers(self.target):
            raise LoadError(
                code_object.name, f"it is for {code_object.target}, the device is a {self.target}"
            )
        if code_object.alignment > layout.PAGE_SIZE:
            raise LoadError(code_object.name, f"an alignment of {code_object.alignment} cannot be met")
        allocation = self.memory.allocate(
            code_object.memory_size,
            name=name or code_object.name,
            kind=AllocationKind.CODE,
            protection=layout.PageFlags.READ | layout.PageFlags.WRITE | layout.PageFlags.EXECUTE,
        )
        try:
            image = code_object.load(allocation.address)
        except Error:
            self.memory.free(allocation)
            raise
        for segment in image.segments:
            self.memory.write(segment.address, segment.data)
        loaded = LoadedCodeObject(self, code_object, allocation, image)
        self.loaded.append(loaded)
        if not self._exceptions and any(could_notice(s.data, self.target) for s in image.segments if s.executable):
            self._exceptions = True
            for engine in self._engines.values():
                engine.watch_exceptions()
        return loaded

    def unload(self, loaded: LoadedCodeObject) -> None:
        """Remove a loaded code object from memory."""
        self.loaded.remove(loaded)
        self._code_written(loaded.base, loaded.allocation.end)
        self.memory.free(loaded.allocation)

    def _code_written(self, low: int, high: int) -> None:
        for engine in self._engines.values():
            engine.invalidate(low, high)

    def engine(self, wave_size: int) -> Engine:
        """The execution engine for waves of this size."""
        engine = self._engines.get(wave_size)
        if engine is None:
            # Imported late: it brings LLVM, which looking at code and symbols does not need.
            from rocdbg.sim.native import Engine

            engine = Engine(
                self.target,
                wave_size,
                self.memory.page_table_address,
                self._fetch,
                cache_dir=self.options.cache_dir,
                share=self.share,
                reads_table=self.uninitialized.address if self.uninitialized is not None else 0,
            )
            if self._exceptions:
                engine.watch_exceptions()
            engine.set_lds_drops(self.options.lds_out_of_range is LdsOutOfRange.ZERO)
            self._engines[wave_size] = engine
        return engine

    def _fetch(self, address: int, size: int) -> bytes:
        """Code bytes for the translator: as many of ``size`` as are mapped executable."""
        allocation = self.memory.find(address)
        if allocation is None or not allocation.protection & layout.PageFlags.EXECUTE:
            return b""
        return self.memory.read(address, min(size, allocation.end - address))

    # -- dispatches ------------------------------------------------------------------------------------------

    def dispatch(
        self,
        kernel: Kernel,
        grid: Dim3,
        workgroup: Dim3,
        kernarg: bytes | Sequence[bytes] = (),
        dynamic_lds: int = 0,
    ) -> Dispatch:
        """Start a kernel of a loaded code object; nothing runs before ``Dispatch.run``.

        ``grid`` counts work-items, as in an AQL packet. ``kernarg`` is one byte string per explicit
        argument, or the raw beginning of the segment; hidden arguments are filled in. Raises
        LaunchLimitError and KernargError.
        """
        loaded = self._loaded_object(kernel)
        self._check_limits(kernel, loaded, grid, workgroup, dynamic_lds)
        queue = self._queue_allocation()
        sizes = self._sizes(loaded, kernel, grid, workgroup, dynamic_lds)
        all_resident = sizes.resident_groups == prod(sizes.groups)
        hidden = HiddenValues(
            grid,
            workgroup,
            dynamic_lds,
            layout.PRIVATE_APERTURE >> 32,
            layout.SHARED_APERTURE >> 32,
            queue.address,
            queue.address + QUEUE_SIZE if all_resident else GRID_SYNC_REFUSED,
        )
        segment = build_segment(kernel.name, kernel.metadata, kernel.descriptor.kernarg_size, kernarg, hidden)
        kernarg_area, packet_area, scratch_area = self._allocate(
            kernel.name,
            (len(segment) or 4, AllocationKind.KERNARG),  # a kernel without arguments has an address too
            (PACKET_SIZE, AllocationKind.PACKET),
            (sizes.scratch, AllocationKind.SCRATCH),
        )
        assert kernarg_area is not None and packet_area is not None
        self._dispatches += 1
        descriptor_address = loaded.address(kernel.descriptor_address)
        scratch_address = scratch_area.address if scratch_area is not None else 0
        buffer = scratch.buffer_descriptor(self.target, kernel.wave_size, scratch_address, sizes.scratch)
        packet = DispatchPacket(
            grid, workgroup, sizes.lane_scratch, sizes.lds, descriptor_address, kernarg_area.address
        )
        queue_structure = Queue(
            packet_area.address,
            _QUEUE_PACKETS,
            layout.SHARED_APERTURE >> 32,
            layout.PRIVATE_APERTURE >> 32,
            buffer,
            scratch_address,
            sizes.scratch,
            sizes.lane_scratch,
            write_index=self._dispatches,
            read_index=self._dispatches - 1,
        )
        self.memory.write(kernarg_area.address, segment)
        self.memory.write(packet_area.address, packet.to_bytes())
        self.memory.write(queue.address, queue_structure.to_bytes() + grid_sync(prod(sizes.groups)))
        self.share.start_dispatch()
        state = DispatchState(
            target=self.target,
            wave_size=kernel.wave_size,
            descriptor=kernel.descriptor,
            entry=loaded.address(kernel.entry_address),
            groups=sizes.groups,
            packet_address=packet_area.address,
            queue_address=queue.address,
            kernarg_address=kernarg_area.address,
            kernarg=segment,
            dispatch_id=self._dispatches - 1,
            scratch_address=scratch_address,
            scratch_descriptor=buffer,
            lane_scratch_size=sizes.lane_scratch,
            wave_scratch_size=sizes.wave_scratch,
            lds_size=sizes.lds,
        )
        plan = DispatchPlan(
            kernel,
            self._dispatches,
            state,
            grid,
            workgroup,
            dynamic_lds,
            sizes.resident_groups,
            kernarg_area,
            packet_area,
            scratch_area,
            descriptor_address,
        )
        engine = self.engine(kernel.wave_size)
        engine.refresh()
        if state.enabled_exceptions:
            engine.watch_exceptions()
        return Dispatch(plan, engine, self.memory)

    def _sizes(
        self, loaded: LoadedCodeObject, kernel: Kernel, grid: Dim3, workgroup: Dim3, dynamic_lds: int
    ) -> _Sizes:
        """LDS, scratch and residency of a dispatch. Raises LaunchLimitError if one workgroup's scratch is too big."""
        lane = self._lane_scratch(kernel)
        wave = scratch.area_size(lane, kernel.wave_size)
        waves_per_group = -(-reduce(mul, workgroup) // kernel.wave_size)
        x, y, z = (-(-total // size) for total, size in zip(grid, workgroup, strict=True))
        resident = max(1, min(x * y * z, self.options.resident_waves // waves_per_group))
        if wave:
            resident = max(1, min(resident, _MAX_SCRATCH_SIZE // (wave * waves_per_group)))
        total = wave * waves_per_group * resident
        if total > _MAX_SCRATCH_SIZE:
            reason = f"one workgroup needs {total} bytes; 32-bit offsets reach {_MAX_SCRATCH_SIZE}"
            raise LaunchLimitError(kernel.name, "scratch", reason)
        lds = _lds_size(kernel, loaded, dynamic_lds)
        return _Sizes((x, y, z), resident, lds, lane, wave, total)

    def _allocate(self, name: str, *requests: tuple[int, AllocationKind]) -> list[Allocation | None]:
        """One allocation for each (size, kind), None for a size of 0; all or, if one fails, none."""
        made: list[Allocation | None] = []
        try:
            for size, kind in requests:
                made.append(self.memory.allocate(size, name=name, kind=kind) if size else None)
        except Error:
            for allocation in made:
                if allocation is not None:
                    self.memory.free(allocation)
            raise
        return made

    def _loaded_object(self, kernel: Kernel) -> LoadedCodeObject:
        for loaded in self.loaded:
            if loaded.code_object is kernel.code_object:
                return loaded
        raise Error(f"kernel {kernel.name} belongs to no code object loaded on this machine")

    def _lane_scratch(self, kernel: Kernel) -> int:
        """Bytes of private memory per lane, a multiple of 4."""
        size = kernel.descriptor.private_segment_fixed_size
        dynamic = kernel.descriptor.uses_dynamic_stack or (
            kernel.metadata is not None and kernel.metadata.uses_dynamic_stack
        )
        if dynamic:
            size += self.options.dynamic_stack_size
        return -(-size // 4) * 4

    def _queue_allocation(self) -> Allocation:
        if self._queue is None:
            self._queue = self.memory.allocate(QUEUE_SIZE + GRID_SYNC_SIZE, kind=AllocationKind.QUEUE)
        return self._queue

    def _check_limits(
        self, kernel: Kernel, loaded: LoadedCodeObject, grid: Dim3, workgroup: Dim3, dynamic_lds: int
    ) -> None:
        name, metadata, target = kernel.name, kernel.metadata, self.target
        if target.is_r600:
            raise LaunchLimitError(name, "target", f"{target.name} is too old to be simulated")
        for what, sizes, most in (
            ("workgroup", workgroup, _MAX_GROUP_DIMENSION),
            ("grid", grid, _MAX_GRID_DIMENSION),
        ):
            if not all(1 <= size <= most for size in sizes):
                raise LaunchLimitError(
                    name, what, f"{list(sizes)} must be from 1 to {most} in each dimension"
                )
        items = reduce(mul, workgroup)
        if items > MAX_WORKGROUP:
            raise LaunchLimitError(
                name, "workgroup", f"{items} work-items exceed the device's {MAX_WORKGROUP}"
            )
        if metadata is not None:
            if 0 < metadata.max_flat_workgroup_size < items:
                most = metadata.max_flat_workgroup_size
                reason = f"{items} work-items exceed the {most} the kernel was compiled for"
                raise LaunchLimitError(name, "workgroup", reason)
            required = metadata.reqd_workgroup_size
            if required is not None and tuple(workgroup) != tuple(required):
                raise LaunchLimitError(
                    name, "workgroup", f"the kernel requires {list(required)}, not {list(workgroup)}"
                )
        lds = _lds_size(kernel, loaded, dynamic_lds)
        if dynamic_lds < 0 or lds > target.lds_size:
            raise LaunchLimitError(
                name,
                "LDS",
                f"{lds} bytes ({dynamic_lds} of them dynamic) exceed the {target.lds_size} of {target.name}",
            )


def _lds_size(kernel: Kernel, loaded: LoadedCodeObject, dynamic_lds: int) -> int:
    """Bytes of LDS of a workgroup: what the descriptor asks for or the object's symbols take, and the dynamic part."""
    return max(kernel.descriptor.group_segment_fixed_size, loaded.lds_size) + dynamic_lds
