"""The kernarg segment as bytes, for kernels whose arguments are not described by metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from rocdbg.codeobject import KernelArg, ValueKind
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.spec import ArgumentSpec
from rocdbg.sim.device.kernarg import MAX_SEGMENT_SIZE

_POINTER_SIZE = 8


class RawKernarg(Struct, frozen=True):
    """The beginning of the segment, and where each argument is placed in it. All other bytes are 0."""

    data: bytes
    offsets: tuple[int, ...] = ()
    """The offset in bytes of each argument."""

    @classmethod
    def of(cls, data: bytes | None, arguments: Sequence[ArgumentSpec], key: str = "kernarg") -> RawKernarg | None:
        """Make it from the bytes that a launch gives under a ``key`` and from arguments with offsets; ``None`` if
        metadata determines the places.

        Raises `LaunchError` if only some of the arguments have offsets.
        """
        offsets = []
        for argument in arguments:
            if (argument.offset is None) != (data is None):
                reason = (
                    f"`offset` can be given only with `{key}`" if data is None else "give an `offset`, because "
                    f"`{key}` is given"
                )
                raise LaunchError(argument.where, reason)
            if argument.offset is not None:
                if argument.type is None and isinstance(argument.value, int | float):
                    raise LaunchError(
                        argument.where, 'the size of the value is not known; add a `type`, for example "u32"'
                    )
                offsets.append(argument.offset)
        return None if data is None else cls(data, tuple(offsets))

    @classmethod
    def in_order(cls, arguments: Sequence[Any], is_local: Sequence[bool]) -> RawKernarg:
        """Place arguments one after the other, each aligned to its size as in C, because nothing describes their
        places.

        Raises `LaunchError` for a number whose size is not known.
        """
        offsets, end = [], 0
        for index, (argument, local) in enumerate(zip(arguments, is_local, strict=True)):
            if isinstance(argument, int | float):
                reason = (
                    "the kernel has no description of its arguments; give the type of this one, for example "
                    f"u32:{argument}"
                )
                raise LaunchError(f"arg {index}", reason)
            size = _size_of(argument, local)
            alignment = next((power for power in (8, 4, 2) if size % power == 0), 1)
            end = -(-end // alignment) * alignment
            offsets.append(end)
            end += size
        return cls(b"", tuple(offsets))

    def parameters(self, arguments: Sequence[Any], is_local: Sequence[bool]) -> tuple[KernelArg, ...]:
        """The parameters that metadata would name for these arguments: pointers, LDS offsets, or bytes by value."""
        found = []
        for index, (argument, offset, local) in enumerate(zip(arguments, self.offsets, is_local, strict=True)):
            size = _size_of(argument, local)
            kind = ValueKind.DYNAMIC_SHARED_POINTER if local else ValueKind.BY_VALUE
            found.append(KernelArg(index, None, None, kind, kind.value, size, offset))
        return tuple(found)

    def segment(self, values: Sequence[bytes]) -> bytes:
        """The bytes of the segment, with each argument's value in its place. Raises `LaunchError` if the segment is too
        large.
        """
        end = max([len(self.data), *(offset + len(value) for offset, value in zip(self.offsets, values, strict=True))])
        if end > MAX_SEGMENT_SIZE:
            raise LaunchError("kernarg", f"the kernarg segment would have {end} bytes; the limit is {MAX_SEGMENT_SIZE}")
        made = bytearray(self.data.ljust(end, b"\0"))
        for offset, value in zip(self.offsets, values, strict=True):
            made[offset : offset + len(value)] = value
        return bytes(made)


def _size_of(argument: Any, local: bool) -> int:
    """The size of an argument in bytes: that of a value, or of a 32-bit offset for LDS, or of a pointer for everything
    else.
    """
    if isinstance(argument, bytes | bytearray):
        return len(argument)
    if isinstance(argument, np.generic | np.ndarray):
        return argument.nbytes
    return 4 if local else _POINTER_SIZE
