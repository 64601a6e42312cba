"""The code object's metadata: one model for versions V2 (YAML) to V6 (MsgPack).

`rocdbg.codeobject.metadata_reader` fills it.  Names and values are those of V3 and after.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class ValueKind(Enum):
    """How a kernel argument's bytes in the kernarg segment are provided."""

    BY_VALUE = "by_value"
    GLOBAL_BUFFER = "global_buffer"
    DYNAMIC_SHARED_POINTER = "dynamic_shared_pointer"
    SAMPLER = "sampler"
    IMAGE = "image"
    PIPE = "pipe"
    QUEUE = "queue"
    HIDDEN_GLOBAL_OFFSET_X = "hidden_global_offset_x"
    HIDDEN_GLOBAL_OFFSET_Y = "hidden_global_offset_y"
    HIDDEN_GLOBAL_OFFSET_Z = "hidden_global_offset_z"
    HIDDEN_NONE = "hidden_none"
    HIDDEN_PRINTF_BUFFER = "hidden_printf_buffer"
    HIDDEN_HOSTCALL_BUFFER = "hidden_hostcall_buffer"
    HIDDEN_DEFAULT_QUEUE = "hidden_default_queue"
    HIDDEN_COMPLETION_ACTION = "hidden_completion_action"
    HIDDEN_MULTIGRID_SYNC_ARG = "hidden_multigrid_sync_arg"
    HIDDEN_BLOCK_COUNT_X = "hidden_block_count_x"
    HIDDEN_BLOCK_COUNT_Y = "hidden_block_count_y"
    HIDDEN_BLOCK_COUNT_Z = "hidden_block_count_z"
    HIDDEN_GROUP_SIZE_X = "hidden_group_size_x"
    HIDDEN_GROUP_SIZE_Y = "hidden_group_size_y"
    HIDDEN_GROUP_SIZE_Z = "hidden_group_size_z"
    HIDDEN_REMAINDER_X = "hidden_remainder_x"
    HIDDEN_REMAINDER_Y = "hidden_remainder_y"
    HIDDEN_REMAINDER_Z = "hidden_remainder_z"
    HIDDEN_GRID_DIMS = "hidden_grid_dims"
    HIDDEN_HEAP_V1 = "hidden_heap_v1"
    HIDDEN_DYNAMIC_LDS_SIZE = "hidden_dynamic_lds_size"
    HIDDEN_PRIVATE_BASE = "hidden_private_base"
    HIDDEN_SHARED_BASE = "hidden_shared_base"
    HIDDEN_QUEUE_PTR = "hidden_queue_ptr"
    UNKNOWN = "unknown"
    """A kind that rocdbg does not know; `KernelArg.value_kind_text` has its name."""

    @property
    def is_hidden(self) -> bool:
        """Whether the runtime, not the caller, provides the argument."""
        return self.value.startswith("hidden_")


class Access(Enum):
    """How a kernel may access, or does access, what an argument points to."""

    READ_ONLY = "read_only"
    WRITE_ONLY = "write_only"
    READ_WRITE = "read_write"


class KernelKind(Enum):
    """When a kernel is run."""

    NORMAL = "normal"
    INIT = "init"
    FINI = "fini"


class ArgAddressSpace(Enum):
    """The address space qualifier of a pointer argument."""

    PRIVATE = "private"
    GLOBAL = "global"
    CONSTANT = "constant"
    LOCAL = "local"
    GENERIC = "generic"
    REGION = "region"


class KernelArg(Struct, frozen=True):
    """One argument in the kernarg segment, explicit or hidden."""

    index: int
    """Position among all arguments of the kernel, from 0."""
    name: str | None
    type_name: str | None
    value_kind: ValueKind
    value_kind_text: str
    size: int
    """In bytes."""
    offset: int
    """Bytes from the start of the kernarg segment; for V2 computed from sizes and alignments."""
    value_type: str | None = None
    """For V2 and V3: ``f32``, ``u8``, ...; for a pointer or vector the type of its elements, for others ``struct``."""
    address_space: ArgAddressSpace | None = None
    access: Access | None = None
    actual_access: Access | None = None
    pointee_align: int | None = None
    is_const: bool = False
    is_restrict: bool = False
    is_volatile: bool = False
    is_pipe: bool = False

    @property
    def is_hidden(self) -> bool:
        return self.value_kind.is_hidden or (
            self.value_kind is ValueKind.UNKNOWN and self.value_kind_text.startswith("hidden_")
        )


class KernelMetadata(Struct, frozen=True):
    """The metadata of one kernel."""

    name: str
    """The source name for OpenCL; the mangled name for HIP."""
    symbol: str
    """The ELF symbol of its descriptor (``NAME.kd``; in V2 the kernel's own)."""
    kind: KernelKind
    language: str | None
    language_version: tuple[int, ...] | None
    args: tuple[KernelArg, ...]
    kernarg_segment_size: int
    kernarg_segment_align: int
    group_segment_fixed_size: int
    private_segment_fixed_size: int
    wavefront_size: int
    sgpr_count: int
    vgpr_count: int
    agpr_count: int
    sgpr_spill_count: int
    vgpr_spill_count: int
    max_flat_workgroup_size: int
    reqd_workgroup_size: tuple[int, ...] | None
    workgroup_size_hint: tuple[int, ...] | None
    vec_type_hint: str | None
    device_enqueue_symbol: str | None
    uses_dynamic_stack: bool
    workgroup_processor_mode: bool | None
    """GFX10 and later; None if not given."""
    uniform_work_group_size: bool

    @property
    def explicit_args(self) -> tuple[KernelArg, ...]:
        """The arguments that the caller passes, in order."""
        return tuple(arg for arg in self.args if not arg.is_hidden)

    @property
    def hidden_args(self) -> tuple[KernelArg, ...]:
        return tuple(arg for arg in self.args if arg.is_hidden)
