"""The simulated device: memory, loaded code objects, and the dispatches that run on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.arch.targets import Target, target_by_name
from rocdbg.codeobject.code_object import CodeObject
from rocdbg.codeobject.errors import UnresolvedSymbolError
from rocdbg.codeobject.kernels import Kernel, Shader
from rocdbg.codeobject.load_image import LoadedImage
from rocdbg.codeobject.metadata import ValueKind
from rocdbg.codeobject.relocation import Resolver
from rocdbg.errors import Error
from rocdbg.sim.core import layout, scratch
from rocdbg.sim.core.arithmetic_exceptions import could_notice
from rocdbg.sim.core.global_share import GlobalShare
from rocdbg.sim.core.initial_state import DispatchState, enabled_exceptions
from rocdbg.sim.core.memory import Allocation, AllocationKind, GlobalMemory
from rocdbg.sim.core.uninitialized_reads import UninitializedReads
from rocdbg.sim.core.wave import Dim3
from rocdbg.sim.device.aql_packets import PACKET_SIZE, KernelPacket, PacketError, PacketPlace
from rocdbg.sim.device.dispatch import RESIDENT_WAVES, Dispatch
from rocdbg.sim.device.dispatch_plan import DispatchPlan
from rocdbg.sim.device.kernarg import HiddenValues, build_segment
from rocdbg.sim.device.launch_facts import Launch, Launches
from rocdbg.sim.device.limits import (
    MAX_WORKGROUP,
    LaunchLimitError,
    check_hardware,
    check_metadata,
    lane_scratch,
    sizes,
)
from rocdbg.sim.device.queue_structures import GRID_SYNC_REFUSED, GRID_SYNC_SIZE, QUEUE_SIZE, Queue, grid_sync
from rocdbg.sim.device.schedule import Schedule
from rocdbg.sim.device.user_data import UserDataBlock
from rocdbg.sim.services.host_services import HostServices

if TYPE_CHECKING:
    from rocdbg.sim.engine.native import Engine

_QUEUE_PACKETS = 4096
_ADVICE = (
    "load the code object that defines what is missing, too: `load FILE` at the prompt, `load = [\"FILE\"]` in a "
    "launch file, Program.add(FILE) in Python"
)


class LoadError(Error):
    """A code object cannot be loaded on a machine. ``file`` is the code object's name."""

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        super().__init__(f"cannot load {file}: {reason}")


class LdsOutOfRange(Enum):
    """What accesses beyond a workgroup's LDS do; the value is its name in settings.

    Hardware returns zeros and drops writes, and reports a violation only if LDS_CONFIG.ADDR_OUT_OF_RANGE_REPORTING is
    set. For a debugger, the violation is more useful.
    """

    FAULT = "fault"
    ZERO = "zero"


class MachineOptions(Struct, frozen=True):
    """The options of a machine."""

    memory_limit: int = 16 << 30
    """Bytes of global memory."""
    dynamic_stack_size: int = scratch.DYNAMIC_STACK_SIZE
    """Bytes of scratch per lane added for kernels whose stack size is not known at compile time."""
    resident_waves: int = RESIDENT_WAVES
    """Maximum number of waves that exist at once."""
    lds_out_of_range: LdsOutOfRange = LdsOutOfRange.FAULT
    """What accesses beyond a workgroup's LDS do."""
    schedule: Schedule = Schedule()
    """How long the turns of waves are."""
    count_uninitialized: bool = False
    """Whether to count reads of buffer bytes that were never written (``Machine.uninitialized``), which slows down
    execution.
    """
    cache_dir: Path | None = None
    """The directory in which translations are cached; None: the user's cache directory."""


@dataclass(frozen=True)
class LoadedCodeObject:
    """A code object in simulated memory. An address in the ELF file plus ``base`` is a simulated address."""

    machine: Machine = field(repr=False)
    code_object: CodeObject
    allocation: Allocation
    image: LoadedImage = field(repr=False)
    _kernels: dict[int, Kernel] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Kernels that were requested by the address of their descriptor."""

    @property
    def base(self) -> int:
        """Simulated address at which the object was loaded: what is added to addresses of the ELF file."""
        return self.allocation.address

    @property
    def lds_size(self) -> int:
        """Bytes of LDS that its symbols need in addition to what kernel descriptors count (unlinked objects only)."""
        return self.image.lds_size

    def address(self, elf_address: int) -> int:
        """The simulated address of an address in the ELF file."""
        return self.base + elf_address

    def elf_address(self, address: int) -> int:
        """The ELF file's address for a simulated address within the object."""
        return address - self.base

    def kernel_at(self, descriptor_address: int) -> Kernel | None:
        """The kernel whose descriptor is at a simulated address."""
        place = self.elf_address(descriptor_address)
        if place not in self._kernels:
            symbol = self.code_object.symbols.at(place)
            kernel = self.code_object.kernels.find(symbol.name) if symbol is not None else None
            if kernel is None or kernel.descriptor_address != place:
                return None
            self._kernels[place] = kernel
        return self._kernels[place]

    def symbol_address(self, name: str) -> int:
        """Simulated address of a symbol (for LDS symbols, the offset in LDS). Raises CodeObjectError."""
        return self.image.address_of(name)


class Machine:
    """A device of one target. It is deterministic: the same calls give the same addresses and results. ``memory``:
    global memory that the device shares with others; by default it has its own."""

    def __init__(
        self, target: Target | str, options: MachineOptions | None = None, memory: GlobalMemory | None = None
    ) -> None:
        self.target = target_by_name(target) if isinstance(target, str) else target
        self.options = options or MachineOptions()
        self.memory = memory or GlobalMemory(self.options.memory_limit, self.options.count_uninitialized)
        self.share = GlobalShare(self.target)
        """Global data share and global wave sync."""
        self.uninitialized = UninitializedReads() if self.options.count_uninitialized else None
        """Counts of uninitialized reads of buffer bytes, if the options request them."""
        self.services = HostServices(self.memory, max(self.options.resident_waves, MAX_WORKGROUP // 32))
        """The services behind the hidden arguments that the host provides."""
        self.loaded: list[LoadedCodeObject] = []
        self._engines: dict[int, Engine] = {}
        self._exceptions = False
        self._queue: Allocation | None = None
        self._dispatches = 0
        self._under_way: list[Dispatch] = []
        self._launches = Launches()
        self.memory.on_code_write(self._code_written)

    # -- code ------------------------------------------------------------------------------------------------

    def load(
        self, code_object: CodeObject, name: str = "", resolve: Resolver | None = None
    ) -> LoadedCodeObject:
        """Copy a code object into memory and relocate it; its code can be read and executed, its data written too.
        ``resolve`` gives the addresses of symbols that the object does not define.

        Pages hold code and data together, so the whole object is readable, writable and executable; stores
        of a kernel into code take effect when the instruction cache is invalidated (`instruction_cache`).
        """
        allocation = self._place(code_object, name)
        try:
            image = code_object.load(allocation.address, resolve)
        except Error:
            self.memory.free(allocation)
            raise
        return self._loaded(code_object, allocation, image)

    def load_all(self, code_objects: Sequence[CodeObject]) -> list[LoadedCodeObject]:
        """Load several code objects that define symbols for each other. The first definition of a symbol is used;
        objects that were loaded before come first. If one object cannot be loaded, none is.
        """
        places: list[tuple[CodeObject, Allocation]] = []
        try:
            for code_object in code_objects:
                places.append((code_object, self._place(code_object)))
            known = [(loaded.code_object, loaded.allocation) for loaded in self.loaded] + places
            resolve = partial(_defined, known)
            images = [each.load(allocation.address, resolve) for each, allocation in places]
        except UnresolvedSymbolError as error:
            for _, allocation in places:
                self.memory.free(allocation)
            raise UnresolvedSymbolError(error.file, error.names, _ADVICE) from None
        except Error:
            for _, allocation in places:
                self.memory.free(allocation)
            raise
        return [self._loaded(each, place, image) for (each, place), image in zip(places, images, strict=True)]

    def _place(self, code_object: CodeObject, name: str = "") -> Allocation:
        """Allocate memory for a code object. Raises LoadError if it is for another target."""
        if not code_object.target.covers(self.target):
            raise LoadError(
                code_object.name, f"it is for {code_object.target}, but the device is a {self.target}"
            )
        if code_object.alignment > layout.PAGE_SIZE:
            raise LoadError(
                code_object.name, f"it needs an alignment of {code_object.alignment} bytes; the limit is "
                f"{layout.PAGE_SIZE}"
            )
        return self.memory.allocate(
            code_object.memory_size,
            name=name or code_object.name,
            kind=AllocationKind.CODE,
            protection=layout.PageFlags.READ | layout.PageFlags.WRITE | layout.PageFlags.EXECUTE,
        )

    def _loaded(self, code_object: CodeObject, allocation: Allocation, image: LoadedImage) -> LoadedCodeObject:
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
        self._launches.clear()
        self._code_written(loaded.base, loaded.allocation.end)
        self.memory.free(loaded.allocation)

    def _code_written(self, low: int, high: int) -> None:
        for engine in self._engines.values():
            engine.invalidate(low, high)

    def engine(self, wave_size: int) -> Engine:
        """The execution engine for waves of this size."""
        engine = self._engines.get(wave_size)
        if engine is None:
            # Imported late: it loads LLVM, which is not needed to examine code and symbols.
            from rocdbg.sim.engine.native import Engine

            engine = Engine(
                self.target,
                wave_size,
                self.memory.page_table_address,
                self._fetch,
                cache_dir=self.options.cache_dir,
                share=self.share,
                reads_table=self.uninitialized.address if self.uninitialized is not None else 0,
                window_base=self.memory.base,
            )
            if self._exceptions:
                engine.watch_exceptions()
            engine.set_lds_drops(self.options.lds_out_of_range is LdsOutOfRange.ZERO)
            self._engines[wave_size] = engine
        return engine

    def _fetch(self, address: int, size: int) -> bytes:
        """Code bytes for the translator: those of the ``size`` bytes that are in executable memory."""
        allocation = self.memory.find(address)
        if allocation is None or not allocation.protection & layout.PageFlags.EXECUTE:
            return b""
        return self.memory.read(address, min(size, allocation.end - address))

    # -- dispatches ------------------------------------------------------------------------------------------

    def _check_encodings(self, kernel: Kernel) -> None:
        """Reject a target whose instructions are not known."""
        if self.target.is_r600:
            reason = f"{self.target.name} is not simulated; rocdbg simulates gfx600 and later"
            raise LaunchLimitError(kernel.name, "target", reason)

    def dispatch(
        self,
        kernel: Kernel,
        grid: Dim3,
        workgroup: Dim3,
        kernarg: bytes | Sequence[bytes] = (),
        dynamic_lds: int = 0,
    ) -> Dispatch:
        """Start a kernel of a loaded code object. It does not run until ``Dispatch.run`` is called.

        ``grid`` counts work-items, as in an AQL packet. ``kernarg`` is one byte string per explicit
        argument, or the raw beginning of the segment; hidden arguments are filled in. Raises
        LaunchLimitError and KernargError.
        """
        loaded = self._loaded_object(kernel)
        asked = kernel, loaded.base, grid, workgroup, dynamic_lds
        launch = self._launches.get(asked) or self._launches.add(
            asked, self._prepare(kernel, loaded, grid, workgroup, dynamic_lds)
        )
        needs, queue = launch.needs, self._queue_allocation()
        all_resident = needs.resident_groups == prod(needs.groups)
        hidden = HiddenValues(
            grid,
            workgroup,
            dynamic_lds,
            layout.PRIVATE_APERTURE >> 32,
            layout.SHARED_APERTURE >> 32,
            queue.address,
            queue.address + QUEUE_SIZE if all_resident else GRID_SYNC_REFUSED,
            self._served(kernel),
        )
        block, segment = None, b""
        if isinstance(kernel, Shader):
            block = UserDataBlock(kernel, kernarg if isinstance(kernarg, bytes) else b"".join(kernarg))
        else:
            segment = build_segment(kernel.name, kernel.metadata, kernel.descriptor.kernarg_size, kernarg, hidden)
        kernarg_area, packet_area, scratch_area = self._allocate(
            kernel.name,
            # a kernel without arguments also has a kernarg address
            (block.size if block is not None else len(segment) or 4, AllocationKind.KERNARG),
            (PACKET_SIZE, AllocationKind.PACKET),
            (needs.scratch, AllocationKind.SCRATCH),
        )
        assert kernarg_area is not None and packet_area is not None
        scratch_address = scratch_area.address if scratch_area is not None else 0
        packet = KernelPacket(
            grid, workgroup, needs.lane_scratch, needs.lds, launch.descriptor_address, kernarg_area.address
        )
        scratch_words = scratch.buffer_descriptor(self.target, kernel.wave_size, scratch_address, needs.scratch)
        registers = None
        if block is not None:
            segment = block.memory(needs.groups, scratch_words)
            registers = block.registers(kernarg_area.address, launch.entry, scratch_words)
        queue_structure = Queue(
            packet_area.address,
            _QUEUE_PACKETS,
            layout.SHARED_APERTURE >> 32,
            layout.PRIVATE_APERTURE >> 32,
            scratch_words,
            scratch_address,
            needs.scratch,
            needs.lane_scratch,
            write_index=self._dispatches + 1,
            read_index=self._dispatches,
        )
        self.memory.write(kernarg_area.address, segment)
        self.memory.write(packet_area.address, packet.to_bytes())
        self.memory.write(queue.address, queue_structure.to_bytes() + grid_sync(prod(needs.groups)))
        place = PacketPlace(packet_area.address, queue.address, self._dispatches)
        owned = kernarg_area, packet_area
        return self._begin(launch, place, kernarg_area.address, segment, scratch_area, owned, user_data=registers)

    def _prepare(
        self, kernel: Kernel, loaded: LoadedCodeObject, grid: Dim3, workgroup: Dim3, dynamic_lds: int
    ) -> Launch:
        """Facts shared by launches through `dispatch`. Raises LaunchLimitError."""
        self._check_encodings(kernel)
        lds = max(kernel.descriptor.group_segment_fixed_size, loaded.lds_size) + dynamic_lds
        check_hardware(kernel.name, self.target, grid, workgroup, lds, dynamic_lds)
        check_metadata(kernel, grid, workgroup)
        private = lane_scratch(kernel, self.options.dynamic_stack_size)
        return self._launch(kernel, loaded, grid, workgroup, lds, private, dynamic_lds)

    def dispatch_packet(self, packet: KernelPacket, place: PacketPlace, first_wave: int = 1) -> Dispatch:
        """Start the kernel that a dispatch packet requests. It does not run until ``Dispatch.run`` is called.

        The packet determines everything: it has the address of the arguments, including hidden ones, and the sizes of
        private memory and LDS (which are increased to those in the kernel's descriptor). The caller must handle the
        completion signal. ``first_wave``: the number of the first wave. Raises `PacketError` and LaunchLimitError.
        """
        asked = (
            packet.kernel_object, packet.grid, packet.workgroup, packet.group_segment_size, packet.private_segment_size
        )  # fmt: skip
        launch = self._launches.get(asked) or self._launches.add(asked, self._prepare_packet(packet))
        (scratch_area,) = self._allocate(launch.kernel.name, (launch.needs.scratch, AllocationKind.SCRATCH))
        kernarg = self._arguments(packet, launch.kernel) if launch.preloads else b""
        return self._begin(
            launch, place, packet.kernarg_address, kernarg, scratch_area, first_wave=first_wave, packet=packet
        )

    def _prepare_packet(self, packet: KernelPacket) -> Launch:
        """Facts shared by launches through such packets. Raises `PacketError` and LaunchLimitError."""
        loaded, kernel = self._packet_kernel(packet)
        self._check_encodings(kernel)
        static = max(kernel.descriptor.group_segment_fixed_size, loaded.lds_size)
        lds = max(packet.group_segment_size, static)
        check_hardware(kernel.name, self.target, packet.grid, packet.workgroup, lds, lds - static)
        private = packet.private_segment_size
        if private <= kernel.descriptor.private_segment_fixed_size:
            private = lane_scratch(kernel, self.options.dynamic_stack_size)
        return self._launch(kernel, loaded, packet.grid, packet.workgroup, lds, private, lds - static)

    def _launch(
        self, kernel: Kernel, loaded: LoadedCodeObject, grid: Dim3, workgroup: Dim3, lds: int, private: int,
        dynamic_lds: int,
    ) -> Launch:
        needs = sizes(kernel, grid, workgroup, lds, private, self.options.resident_waves)
        return Launch(
            kernel, grid, workgroup, needs, dynamic_lds, loaded.address(kernel.entry_address),
            loaded.address(kernel.descriptor_address), bool(enabled_exceptions(kernel.descriptor)),
            kernel.descriptor.kernarg_preload_spec_length > 0,
            partial(_printf_formats, loaded.code_object),
        )

    def _packet_kernel(self, packet: KernelPacket) -> tuple[LoadedCodeObject, Kernel]:
        """The kernel whose descriptor a packet points to. Raises PacketError."""
        for loaded in self.loaded:
            if loaded.base <= packet.kernel_object < loaded.allocation.end:
                kernel = loaded.kernel_at(packet.kernel_object)
                if kernel is not None:
                    return loaded, kernel
        raise PacketError(f"there is no kernel descriptor at {packet.kernel_object:#x}")

    def _arguments(self, packet: KernelPacket, kernel: Kernel) -> bytes:
        """The current contents of the kernarg segment, from which the hardware preloads registers before a wave begins.
        Empty if the segment is not in memory, which is valid if the kernel does not use its arguments.
        """
        size = kernel.descriptor.kernarg_size
        area = self.memory.find(packet.kernarg_address)
        if area is None:
            return b""
        return self.memory.read(packet.kernarg_address, min(size, area.end - packet.kernarg_address))

    def _begin(
        self, launch: Launch, place: PacketPlace, kernarg_address: int, kernarg: bytes, scratch_area: Allocation | None,
        owned: tuple[Allocation, ...] = (), first_wave: int = 1, packet: KernelPacket | None = None,
        user_data: tuple[int, ...] | None = None,
    ) -> Dispatch:  # fmt: skip
        self._under_way = [other for other in self._under_way if not other.finished]
        if not self._under_way:
            self.share.start_dispatch()
        self._dispatches += 1
        kernel, needs = launch.kernel, launch.needs
        scratch_address = scratch_area.address if scratch_area is not None else 0
        state = DispatchState(
            target=self.target,
            wave_size=kernel.wave_size,
            descriptor=kernel.descriptor,
            entry=launch.entry,
            groups=needs.groups,
            packet_address=place.address,
            queue_address=place.queue_address,
            kernarg_address=kernarg_address,
            kernarg=kernarg,
            dispatch_id=place.packet_id,
            scratch_address=scratch_address,
            scratch_descriptor=scratch.buffer_descriptor(
                self.target, kernel.wave_size, scratch_address, needs.scratch
            ),
            lane_scratch_size=needs.lane_scratch,
            wave_scratch_size=needs.wave_scratch,
            lds_size=needs.lds,
            user_data=user_data,
        )
        plan = DispatchPlan(
            kernel,
            self._dispatches,
            state,
            launch.grid,
            launch.workgroup,
            launch.dynamic_lds,
            needs.resident_groups,
            scratch_area,
            launch.descriptor_address,
            owned,
            first_wave,
            packet,
        )
        engine = self.engine(kernel.wave_size)
        engine.refresh()
        if launch.exceptions:
            engine.watch_exceptions()
        self.services.begin(launch.printf_formats)
        dispatch = Dispatch(
            plan, engine, self.memory, self.options.schedule, self.services, self._launches.spare, launch
        )
        self._under_way.append(dispatch)
        return dispatch

    def _served(self, kernel: Kernel) -> dict[ValueKind, int]:
        """The values of a kernel's hidden arguments that the host provides."""
        arguments = kernel.metadata.hidden_args if kernel.metadata is not None else ()
        return self.services.arguments([argument.value_kind for argument in arguments])

    def _allocate(self, name: str, *requests: tuple[int, AllocationKind]) -> list[Allocation | None]:
        """Make one allocation for each (size, kind); None for a size of 0. If one fails, the others are freed."""
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

    def _queue_allocation(self) -> Allocation:
        if self._queue is None:
            self._queue = self.memory.allocate(QUEUE_SIZE + GRID_SYNC_SIZE, kind=AllocationKind.QUEUE)
        return self._queue



def _defined(known: Sequence[tuple[CodeObject, Allocation]], name: str) -> int | None:
    """The address of a symbol that one of the placed code objects exports; None if no object does."""
    for code_object, allocation in known:
        symbol = code_object.exported(name)
        if symbol is not None:
            return code_object.layout.place(allocation.address, symbol)
    return None


def _printf_formats(code_object: CodeObject) -> tuple[str, ...]:
    """The ``amdhsa.printf`` entries of its metadata."""
    metadata = code_object.metadata
    return metadata.printf if metadata is not None else ()


__all__ = [
    "MAX_WORKGROUP",
    "LaunchLimitError",
    "LdsOutOfRange",
    "LoadError",
    "LoadedCodeObject",
    "Machine",
    "MachineOptions",
]
