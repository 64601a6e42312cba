"""Arrays and tensors as arguments of Triton's kernels: copies their memory to the simulator and back.

A kernel gets a pointer to an array's first element and reaches the other elements by strides, so all memory of which
the array is a view is copied. Views of the same memory remain views of the same memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.launch.argument_binding import Buffer
from rocdbg.triton.errors import TritonError

Bytes = NDArray[np.uint8]


class Array:
    """A NumPy array in the form that Triton expects of tensors, with a type and an address."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.dtype = array.dtype
        self.shape = array.shape

    def data_ptr(self) -> int:
        """Address of the first element on the host, whose alignment Triton examines."""
        return int(self.array.ctypes.data)

    def stride(self, dim: int) -> int:
        """The distance in elements from one element to the next along a dimension, as in torch."""
        return self.array.strides[dim] // self.array.itemsize


def wrapped(value: Any) -> Any:
    """Convert an argument to a form that Triton accepts: NumPy arrays to `Array`, NumPy scalars to Python numbers."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject or value.dtype.names:
            raise TritonError(f"an array of {value.dtype} cannot be an argument of a Triton kernel")
        return Array(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        parts = [wrapped(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


class HostMemory(Struct, frozen=True):
    """Host memory of which arguments are views. ``data`` is all of it; ``writable`` says whether the kernel's stores
    are copied back.
    """

    address: int
    data: Bytes
    writable: bool
    owner: Any
    """The object that keeps the memory alive."""


class Memories:
    """The memory of the arguments of one launch, with each piece of memory once."""

    def __init__(self, *, copies: bool = False) -> None:
        """``copies`` says that buffers begin with the current contents of arrays, even if these change before the
        launch.
        """
        self._copies = copies
        self._memories: dict[int, HostMemory] = {}
        self._storages: dict[int, Bytes] = {}

    def buffer(self, argument: Any, name: str) -> Buffer:
        """The buffer for a pointer argument. Raises TritonError for an argument without memory on the host."""
        memory, pointer = self._memory_of(argument, name)
        known = self._memories.get(memory.address)
        if known is None or known.data.size < memory.data.size:
            self._memories[memory.address] = known = memory
            self._storages[memory.address] = memory.data.copy() if self._copies else memory.data
        return Buffer(name, self._storages[memory.address], offset=pointer - memory.address)

    def copy_back(self, name_and_contents: Sequence[tuple[Buffer, Bytes]]) -> None:
        """Copy the contents of the buffers of a finished launch into the arrays."""
        of = {id(storage): self._memories[address] for address, storage in self._storages.items()}
        for buffer, contents in name_and_contents:
            memory = of.get(id(buffer.storage))
            if memory is not None and memory.writable:
                memory.data[:] = contents

    @staticmethod
    def _memory_of(argument: Any, name: str) -> tuple[HostMemory, int]:
        """The whole memory of which an argument is a view, and the argument's address."""
        if isinstance(argument, Array):
            return _of_array(argument.array)
        if hasattr(argument, "untyped_storage"):
            return _of_tensor(argument, name)
        raise TritonError(
            f"argument {name}: a {type(argument).__name__} has no memory that could be copied to the simulator; "
            "pass NumPy arrays or CPU tensors"
        )


def _of_array(array: NDArray[Any]) -> tuple[HostMemory, int]:
    pointer = int(array.ctypes.data)
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    low, high = np.lib.array_utils.byte_bounds(root)
    if root.size == 0:
        low = high = pointer
    return HostMemory(low, _bytes_at(low, high - low), root.flags.writeable and array.flags.writeable, root), pointer


def _of_tensor(tensor: Any, name: str) -> tuple[HostMemory, int]:
    if tensor.device.type != "cpu":
        raise TritonError(f"argument {name} is on {tensor.device.type}; the simulator accepts only CPU tensors")
    storage = tensor.untyped_storage()
    low, size = int(storage.data_ptr()), int(storage.nbytes())
    return HostMemory(low, _bytes_at(low, size), True, storage), int(tensor.data_ptr())


def _bytes_at(address: int, size: int) -> Bytes:
    """A view of the host's memory."""
    if size == 0:
        return np.empty(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


__all__ = ["Array", "HostMemory", "Memories", "wrapped"]
