"""Launches of a script that rocdbg itself has started. They go to that rocdbg's GPU, so that they can be debugged
there.

This module uses, through ctypes, the HSA runtime library that rocdbg gives to every program (docs/programs.md).
"""

from __future__ import annotations

import ctypes
import struct
from ctypes import byref, c_int64, c_uint32, c_uint64, c_void_p
from typing import Any, Final

import numpy as np

from rocdbg.codeobject import CodeObject, KernelArg
from rocdbg.launch.argument_binding import Buffer
from rocdbg.triton.device import Launch, SimulatedDevice
from rocdbg.triton.errors import TritonError

SOCKET_VARIABLE: Final = "ROCDBG_SOCKET"
"""A variable in the environment of programs that rocdbg starts."""
_RUNTIME: Final = "libhsa-runtime64.so.1"
_NAME, _DEVICE, _POOL_FLAGS, _KERNEL_OBJECT = 0, 17, 1, 22
_GPU, _KERNARG, _PACKETS, _EQUAL = 1, 1, 64, 0
_SLICE: Final = 100_000_000
"""The longest wait in nanoseconds: between waits, Python handles signals."""
_HEADER: Final = 2 | 1 << 8 | 2 << 9 | 2 << 11
"""The header of a kernel dispatch packet: it waits for earlier packets, and has system-scope fences."""
_AXES: Final = "xyz"
_SERVED: Final = ("hidden_hostcall_buffer", "hidden_printf_buffer", "hidden_heap_v1")
"""Hidden arguments that a language's runtime implements."""


class HostedDevice(SimulatedDevice):
    """A GPU of the rocdbg that runs this script. Raises TritonError if that rocdbg has no GPU of this target."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        try:
            self._hsa = ctypes.CDLL(_RUNTIME)
        except OSError as error:
            raise TritonError(f"rocdbg's runtime library cannot be loaded: {error}") from None
        self._hsa.hsa_signal_wait_scacquire.restype = c_int64
        self._hsa.hsa_queue_add_write_index_screlease.restype = c_uint64
        self._call("hsa_init")
        self._agent = self._agent_of(self.target_id.target.name)
        self._pool = self._handles("hsa_amd_agent_iterate_memory_pools", self._agent)[0]
        host = self._handles("hsa_iterate_agents")[0]
        pools = self._handles("hsa_amd_agent_iterate_memory_pools", host)
        flags = {pool: self._number("hsa_amd_memory_pool_get_info", pool, _POOL_FLAGS) for pool in pools}
        self._kernarg_pool = next(pool for pool in pools if flags[pool] & _KERNARG)
        queue, packets, kind, limit = c_void_p(), c_uint32(_PACKETS), c_uint32(0), c_uint32(0xFFFF_FFFF)
        self._call("hsa_queue_create", self._agent, packets, kind, None, None, limit, limit, byref(queue))
        self._queue = int(queue.value or 0)
        self._ring, self._doorbell = struct.unpack("<QQ", ctypes.string_at(self._queue + 8, 16))
        self._loaded: dict[int, tuple[CodeObject, int, Any]] = {}

    # -- the runtime's functions -----------------------------------------------------------------------------

    def _call(self, name: str, *arguments: Any) -> None:
        words = [c_uint64(each) if isinstance(each, int) else each for each in arguments]
        status = int(getattr(self._hsa, name)(*words))
        if status:
            raise TritonError(f"{name} failed with status {status & 0xFFFF_FFFF:#x}")

    def _handles(self, name: str, *arguments: int) -> list[int]:
        found: list[int] = []

        def visit(handle: int, data: int | None) -> int:
            found.append(handle)
            return 0

        self._call(name, *arguments, ctypes.CFUNCTYPE(c_uint32, c_uint64, c_void_p)(visit), None)
        return found

    def _number(self, name: str, handle: int, attribute: int) -> int:
        value = c_uint32()
        self._call(name, handle, c_uint32(attribute), byref(value))
        return value.value

    def _agent_of(self, wanted: str) -> int:
        names = []
        for agent in self._handles("hsa_iterate_agents"):
            if self._number("hsa_agent_get_info", agent, _DEVICE) != _GPU:
                continue
            room = ctypes.create_string_buffer(64)
            self._call("hsa_agent_get_info", agent, c_uint32(_NAME), room)
            names.append(room.value.decode())
            if names[-1] == wanted:
                return agent
        there = ", ".join(names)
        raise TritonError(f"rocdbg runs this script with {there}, not with {wanted}: start it with --gpu {wanted}")

    def _allocate(self, size: int, pool: int) -> int:
        address = c_void_p()
        self._call("hsa_amd_memory_pool_allocate", pool, max(size, 1), c_uint32(0), byref(address))
        return int(address.value or 0)

    # -- code and launches -----------------------------------------------------------------------------------

    def _executable(self, code: CodeObject) -> int:
        known = self._loaded.get(id(code))
        if known is not None:
            return known[1]
        size = len(code.source.data)
        data = ctypes.create_string_buffer(bytes(code.source.data), size)
        reader, executable = c_uint64(), c_uint64()
        self._call("hsa_code_object_reader_create_from_memory", data, size, byref(reader))
        self._call("hsa_executable_create_alt", c_uint32(1), c_uint32(2), None, byref(executable))
        self._call("hsa_executable_load_agent_code_object", executable, self._agent, reader, None, None)
        self._call("hsa_executable_freeze", executable, None)
        self._loaded[id(code)] = code, executable.value, data
        return executable.value

    def _kernel_object(self, code: CodeObject, kernel: str) -> int:
        symbol, address = c_uint64(), c_uint64()
        agent = byref(c_uint64(self._agent))
        executable = self._executable(code)
        self._call("hsa_executable_get_symbol_by_name", executable, f"{kernel}.kd".encode(), agent, byref(symbol))
        self._call("hsa_executable_symbol_get_info", symbol, c_uint32(_KERNEL_OBJECT), byref(address))
        return address.value

    def launch(self, launch: Launch) -> None:
        """Run a launch to its end. A fault ends this process, as it does on a GPU."""
        if self.intercept is not None:
            self.intercept(launch)
            return
        found = launch.code_object.kernels[launch.kernel]
        metadata, descriptor = found.metadata, found.descriptor
        if metadata is None:
            raise TritonError(f"kernel {launch.kernel} has no metadata")
        if any(parameter.value_kind.value in _SERVED for parameter in metadata.hidden_args):
            super().launch(launch)  # the kernel prints, which needs HIP's runtime; here, the simulator prints instead
            return
        placed: dict[int, tuple[Buffer, int]] = {}
        segment = bytearray(max(metadata.kernarg_segment_size, 1))
        allocated = []
        try:
            for argument, parameter in zip(launch.arguments, metadata.explicit_args, strict=False):
                data = self._argument(argument, placed)
                data = data.ljust(parameter.size, b"\0")[: parameter.size]
                segment[parameter.offset : parameter.offset + parameter.size] = data
            for parameter in metadata.hidden_args:
                value = _hidden(parameter, launch)
                segment[parameter.offset : parameter.offset + parameter.size] = value.to_bytes(parameter.size, "little")
            kernarg = self._allocate(len(segment), self._kernarg_pool)
            allocated.append(kernarg)
            ctypes.memmove(kernarg, bytes(segment), len(segment))
            group = descriptor.group_segment_fixed_size + launch.dynamic_lds
            sizes = (*launch.workgroup, 0, *launch.grid, descriptor.private_segment_fixed_size, group)
            self._submit(sizes, self._kernel_object(launch.code_object, launch.kernel), kernarg)
            contents = []
            for buffer, address in placed.values():
                view = (ctypes.c_uint8 * buffer.storage.size).from_address(address)
                contents.append((buffer, np.ctypeslib.as_array(view)))
            launch.memories.copy_back(contents)
        finally:
            for address in (*allocated, *(address for _, address in placed.values())):
                self._call("hsa_amd_memory_pool_free", c_void_p(address))

    def _argument(self, argument: Any, placed: dict[int, tuple[Buffer, int]]) -> bytes:
        if argument is None:
            return bytes(8)
        if isinstance(argument, bytes):
            return argument
        if isinstance(argument, Buffer):
            key = id(argument.storage)
            if key not in placed:
                address = self._allocate(argument.storage.size, self._pool)
                placed[key] = argument, address
                ctypes.memmove(address, argument.storage.tobytes(), argument.storage.size)
            return struct.pack("<Q", placed[key][1] + argument.offset)
        return struct.pack("<Q", int(argument) & (1 << 64) - 1)

    def _submit(self, sizes: tuple[int, ...], kernel: int, kernarg: int) -> None:
        done = c_uint64()
        self._call("hsa_signal_create", 1, c_uint32(0), None, byref(done))
        packet = struct.pack("<HH3HH3IIIQQQQ", _HEADER, 3, *sizes, kernel, kernarg, 0, done.value)
        index = self._hsa.hsa_queue_add_write_index_screlease(c_void_p(self._queue), c_uint64(1))
        slot = self._ring + index % _PACKETS * 64
        ctypes.memmove(slot + 4, packet[4:], 60)
        ctypes.cast(slot, ctypes.POINTER(c_uint32))[0] = int.from_bytes(packet[:4], "little")
        self._hsa.hsa_signal_store_screlease(c_uint64(self._doorbell), c_int64(index))
        while self._hsa.hsa_signal_wait_scacquire(done, c_uint32(_EQUAL), c_int64(0), c_uint64(_SLICE), c_uint32(0)):
            pass
        self._call("hsa_signal_destroy", done)


def _hidden(parameter: KernelArg, launch: Launch) -> int:
    """The value of a hidden argument: a size of the launch, or 0 if it would need a language's runtime."""
    kind = parameter.value_kind.value
    for axis, letter in enumerate(_AXES):
        count, rest = divmod(launch.grid[axis], launch.workgroup[axis])
        sizes = {"block_count": count, "group_size": launch.workgroup[axis], "remainder": rest}
        for what, value in sizes.items():
            if kind == f"hidden_{what}_{letter}":
                return value
    return 3 if kind == "hidden_grid_dims" else 0


__all__ = ["SOCKET_VARIABLE", "HostedDevice"]
