"""Builds the kernarg segment: explicit arguments are placed as the metadata says, and hidden ones are filled in as a
runtime does.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rocdbg.codeobject.metadata import KernelArg, KernelMetadata, ValueKind
from rocdbg.errors import Error
from rocdbg.sim.core.wave import Dim3
from rocdbg.text import count_given

SEGMENT_ALIGN = 64
"""The segment is padded to a multiple of this many bytes, because compilers round scalar loads up to at most 16 dwords.
"""

MAX_SEGMENT_SIZE = 1 << 20
"""Larger segments are considered damaged."""

_AXES = {"x": 0, "y": 1, "z": 2}


class KernargError(Error):
    """Arguments that do not fit a kernel. ``kernel`` is its name, ``index`` the argument's index among the explicit
    ones.
    """

    def __init__(self, kernel: str, reason: str, index: int | None = None) -> None:
        self.kernel = kernel
        self.index = index
        what = f"kernel {kernel}" if index is None else f"kernel {kernel}, argument {index}"
        super().__init__(f"{what}: {reason}")


class HiddenValues(Struct, frozen=True):
    """The values from which hidden arguments are computed. Sizes in work-items and bytes."""

    grid: Dim3
    workgroup: Dim3
    dynamic_lds: int
    private_base_hi: int
    shared_base_hi: int
    queue_address: int
    grid_sync_address: int = 0
    served: dict[ValueKind, int] = {}
    """The hidden arguments that `rocdbg.sim.services` provides."""

    def value(self, kind: ValueKind) -> int:
        """The value of a hidden argument; 0 for kinds that rocdbg does not provide."""
        name, _, axis = kind.value.rpartition("_")
        if axis in _AXES:
            grid, group = self.grid[_AXES[axis]], self.workgroup[_AXES[axis]]
            # Only complete groups are counted; the work-items beyond them are the remainder.
            by_axis = {
                "hidden_block_count": grid // group,
                "hidden_group_size": group,
                "hidden_remainder": grid % group,
            }
            return by_axis.get(name, 0)
        match kind:
            case ValueKind.HIDDEN_GRID_DIMS:
                return 3 if self.grid[2] > 1 else 2 if self.grid[1] > 1 else 1
            case ValueKind.HIDDEN_DYNAMIC_LDS_SIZE:
                return self.dynamic_lds
            case ValueKind.HIDDEN_PRIVATE_BASE:
                return self.private_base_hi
            case ValueKind.HIDDEN_SHARED_BASE:
                return self.shared_base_hi
            case ValueKind.HIDDEN_QUEUE_PTR:
                return self.queue_address
            case ValueKind.HIDDEN_MULTIGRID_SYNC_ARG:
                return self.grid_sync_address
            case _:
                return self.served.get(kind, 0)


_IMPLICIT_SIZE = 256
_IMPLICIT = {
    ValueKind.HIDDEN_BLOCK_COUNT_X: (0, 4), ValueKind.HIDDEN_BLOCK_COUNT_Y: (4, 4),
    ValueKind.HIDDEN_BLOCK_COUNT_Z: (8, 4), ValueKind.HIDDEN_GROUP_SIZE_X: (12, 2),
    ValueKind.HIDDEN_GROUP_SIZE_Y: (14, 2), ValueKind.HIDDEN_GROUP_SIZE_Z: (16, 2),
    ValueKind.HIDDEN_REMAINDER_X: (18, 2), ValueKind.HIDDEN_REMAINDER_Y: (20, 2),
    ValueKind.HIDDEN_REMAINDER_Z: (22, 2), ValueKind.HIDDEN_GRID_DIMS: (64, 2),
    ValueKind.HIDDEN_PRINTF_BUFFER: (72, 8), ValueKind.HIDDEN_HOSTCALL_BUFFER: (80, 8),
    ValueKind.HIDDEN_HEAP_V1: (96, 8), ValueKind.HIDDEN_DEFAULT_QUEUE: (104, 8),
    ValueKind.HIDDEN_COMPLETION_ACTION: (112, 8),
    ValueKind.HIDDEN_DYNAMIC_LDS_SIZE: (120, 4), ValueKind.HIDDEN_PRIVATE_BASE: (192, 4),
    ValueKind.HIDDEN_SHARED_BASE: (196, 4), ValueKind.HIDDEN_QUEUE_PTR: (200, 8),
}
"""Offset and size of implicit arguments, as code object version 5 places them after the explicit ones."""


def implicit_arguments(hidden: HiddenValues) -> bytes:
    """The implicit arguments for functions, used if the kernel has neither implicit arguments nor space for them."""
    block = bytearray(_IMPLICIT_SIZE)
    for kind, (offset, size) in _IMPLICIT.items():
        block[offset : offset + size] = hidden.value(kind).to_bytes(8, "little")[:size]
    return bytes(block)


def build_segment(
    name: str,
    metadata: KernelMetadata | None,
    size: int,
    explicit: bytes | Sequence[bytes],
    hidden: HiddenValues,
) -> bytes:
    """The bytes of the kernarg segment.

    ``size`` is the kernel descriptor's size of the segment. ``explicit`` is one byte string per explicit
    argument, each of exactly the metadata's size; or the raw bytes of the segment's beginning, the only form
    for a kernel without metadata. Raises KernargError.
    """
    size = max(size, metadata.kernarg_segment_size if metadata else 0)
    if size > MAX_SEGMENT_SIZE:
        raise KernargError(
            name, f"the kernarg segment would have {size} bytes; the limit is {MAX_SEGMENT_SIZE}"
        )
    if isinstance(explicit, (bytes, bytearray)):
        segment = bytearray(max(size, len(explicit)))
        segment[: len(explicit)] = explicit
    else:
        if metadata is None:
            raise KernargError(name, "it has no metadata, so its arguments must be given as raw bytes")
        segment = bytearray(size)
        _place_explicit(name, segment, metadata.explicit_args, explicit)
    if metadata is not None:
        for argument in metadata.hidden_args:
            _check_place(name, segment, argument)
            data = (
                hidden.value(argument.value_kind)
                .to_bytes(8, "little")[: argument.size]
                .ljust(argument.size, b"\0")
            )
            segment[argument.offset : argument.offset + argument.size] = data
    return bytes(segment) + bytes(-len(segment) % SEGMENT_ALIGN)


def _place_explicit(
    name: str, segment: bytearray, arguments: Sequence[KernelArg], values: Sequence[bytes]
) -> None:
    if len(values) != len(arguments):
        listed = ", ".join(argument.name or f"#{index}" for index, argument in enumerate(arguments)) or "none"
        raise KernargError(name, f"it takes {len(arguments)} arguments ({listed}), {count_given(len(values))}")
    for index, (argument, data) in enumerate(zip(arguments, values, strict=True)):
        if len(data) != argument.size:
            what = f" ({argument.name})" if argument.name else ""
            reason = f"{len(data)} bytes are given, but the kernel expects {argument.size}{what}"
            raise KernargError(name, reason, index)
        _check_place(name, segment, argument)
        segment[argument.offset : argument.offset + argument.size] = data


def _check_place(name: str, segment: bytearray, argument: KernelArg) -> None:
    end = argument.offset + argument.size
    if argument.offset < 0 or argument.size < 0 or end > len(segment):
        raise KernargError(
            name,
            f"the metadata puts argument {argument.name or argument.index} at bytes {argument.offset} to {end}, "
            f"but the kernarg segment has {len(segment)} bytes",
        )
