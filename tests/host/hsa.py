"""The part of the HSA runtime's interface that the tests' client uses, through ctypes; it needs only Python."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence
from ctypes import POINTER, byref, c_int64, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

lib = ctypes.CDLL("libhsa-runtime64.so.1")
FOREVER = (1 << 64) - 1
EQ, NE, LT, GTE = range(4)

_ORDERS = ("relaxed", "scacquire", "screlease", "scacq_screl", "acquire")
_INDEXES = ("load_read_index", "load_write_index", "add_write_index", "cas_write_index")
_RESULTS = {
    **{f"hsa_signal_{name}_{order}": c_int64 for name in ("load", "wait", "exchange", "cas") for order in _ORDERS},
    **{f"hsa_queue_{name}_{order}": c_uint64 for name in _INDEXES for order in _ORDERS},
}


class HsaError(Exception):
    """A function has failed. ``status``."""

    def __init__(self, name: str, status: int) -> None:
        self.status = status
        super().__init__(f"{name}: {status:#x}")


def raw(name: str, *arguments: Any) -> int:
    """Call a function; whole numbers are passed as 64 bits. Returns its result."""
    function = getattr(lib, name)
    function.restype = _RESULTS.get(name, c_uint32)
    return function(*(c_uint64(a & FOREVER) if isinstance(a, int) else a for a in arguments))


def call(name: str, *arguments: Any) -> None:
    """Call a function that returns a status. Raises HsaError for any status other than success."""
    status = raw(name, *arguments)
    if status:
        raise HsaError(name, status)


def status_of(name: str, *arguments: Any) -> int:
    """The status that a function returns."""
    return raw(name, *arguments)


def refused(status: int, name: str, *arguments: Any) -> None:
    """Check that a call fails with a status."""
    got = status_of(name, *arguments)
    assert got == status, f"{name}: {got:#x}, not {status:#x}"


def out(name: str, *arguments: Any, kind: Any = c_uint64) -> Any:
    """Call a function whose last argument receives its result."""
    value = kind()
    call(name, *arguments, byref(value))
    return value.value


def info(name: str, handle: int, attribute: int, kind: Any = c_uint32) -> Any:
    """An attribute: a number; text if ``kind`` is bytes; a tuple if it is an array."""
    if kind is bytes:
        room = ctypes.create_string_buffer(256)
        call(name, handle, attribute, room)
        return room.value.decode()
    value = kind()
    call(name, handle, attribute, byref(value))
    return tuple(value) if isinstance(value, ctypes.Array) else value.value


def each(name: str, *arguments: int) -> list[int]:
    """The handles that an iterating function reports."""
    found: list[int] = []

    @ctypes.CFUNCTYPE(c_uint32, c_uint64, c_void_p)
    def visit(handle: int, data: None) -> int:
        found.append(handle)
        return 0

    call(name, *arguments, visit, None)
    return found


class Gpu:
    """An agent, its pools, and common operations of the clients."""

    def __init__(self, index: int = 0) -> None:
        agents = each("hsa_iterate_agents")
        self.cpu = agents[0]
        self.agent = agents[1 + index]
        self.fine, self.kernarg, self.coarse = each("hsa_amd_agent_iterate_memory_pools", self.cpu)
        self.device, self.group = each("hsa_amd_agent_iterate_memory_pools", self.agent)

    def allocate(self, size: int, pool: int | None = None) -> int:
        """Address of memory of a pool, the GPU's own by default."""
        value = c_void_p()
        call("hsa_amd_memory_pool_allocate", self.device if pool is None else pool, size, 0, byref(value))
        return int(value.value or 0)

    def queue(self, size: int = 64, callback: Any = None, kind: int = 0) -> Queue:
        """A queue of the agent: for several threads (0), for one (1), for cooperative launches (2)."""
        return Queue(self, size, callback, kind)

    def load(self, code: bytes, defined: dict[str, int] | None = None) -> Executable:
        """An executable of one code object, frozen."""
        return Executable(self, code, defined or {})


def signal(value: int = 1) -> int:
    """A new signal."""
    return int(out("hsa_signal_create", value, 0, None))


def wait(handle: int, value: int = 0, condition: int = EQ, timeout: int = 20_000_000_000) -> int:
    """Wait for a signal; return its value."""
    return raw("hsa_signal_wait_scacquire", handle, condition, value, timeout, 0)


class Executable:
    """Code on a GPU."""

    def __init__(self, gpu: Gpu, code: bytes, defined: dict[str, int]) -> None:
        self.gpu = gpu
        self._code = ctypes.create_string_buffer(code, len(code))
        self.reader = int(out("hsa_code_object_reader_create_from_memory", self._code, len(code)))
        self.handle = int(out("hsa_executable_create_alt", 1, 2, None))
        define = "hsa_executable_agent_global_variable_define"
        for name, address in defined.items():
            call(define, self.handle, gpu.agent, name.encode(), c_void_p(address))
        self.object = int(out("hsa_executable_load_agent_code_object", self.handle, gpu.agent, self.reader, None))
        call("hsa_executable_freeze", self.handle, None)

    def symbol(self, name: str) -> int:
        """The handle of a symbol. Raises HsaError."""
        agent = byref(c_uint64(self.gpu.agent))
        return int(out("hsa_executable_get_symbol_by_name", self.handle, name.encode(), agent))

    def symbol_info(self, name: str, attribute: int, kind: Any = c_uint32) -> Any:
        """An attribute of a symbol."""
        return info("hsa_executable_symbol_get_info", self.symbol(name), attribute, kind)

    def kernel(self, name: str) -> int:
        """The address for packets."""
        return int(self.symbol_info(f"{name}.kd", 22, c_uint64))

    def variable(self, name: str) -> int:
        """The address of a variable."""
        return int(self.symbol_info(name, 21, c_uint64))

    def destroy(self) -> None:
        """Unload the code."""
        call("hsa_executable_destroy", self.handle)
        call("hsa_code_object_reader_destroy", self.reader)


class Queue:
    """A queue, and packets for it."""

    def __init__(self, gpu: Gpu, size: int, callback: Any, kind: int = 0) -> None:
        self.gpu = gpu
        pointer = c_void_p()
        call("hsa_queue_create", gpu.agent, size, kind, callback, None, FOREVER >> 32, FOREVER >> 32, byref(pointer))
        self.address = int(pointer.value or 0)
        self.base, self.doorbell, self.size = struct.unpack("<QQI", ctypes.string_at(self.address + 8, 20))

    def submit(self, packet: bytes) -> None:
        """Put 64 bytes into the queue, the header last, and ring the doorbell."""
        index = raw("hsa_queue_add_write_index_screlease", self.address, 1)
        while index - raw("hsa_queue_load_read_index_scacquire", self.address) >= self.size:
            pass
        slot = self.base + index % self.size * 64
        ctypes.memmove(slot + 4, packet[4:], 60)
        ctypes.cast(slot, POINTER(c_uint32))[0] = int.from_bytes(packet[:4], "little")
        lib.hsa_signal_store_screlease(c_uint64(self.doorbell), c_int64(index))

    def launch(
        self, kernel: int, arguments: bytes, grid: Sequence[int], workgroup: Sequence[int], done: int = 0, *,
        private: int = 0, group: int = 0,
    ) -> bytes:  # fmt: skip
        """Launch a kernel with explicit arguments; the hidden ones of code object version 5 follow them.

        Returns the packet.
        """
        dimensions = len(grid)
        full = [*workgroup, *(1,) * (3 - dimensions), *grid, *(1,) * (3 - dimensions)]
        w, g = full[:3], full[3:]
        parts = [divmod(total, size) for total, size in zip(g, w, strict=True)]
        hidden = struct.pack("<3I3H3H", *(whole for whole, _ in parts), *w, *(rest for _, rest in parts))
        segment = arguments.ljust(-(-len(arguments) // 8) * 8, b"\0") + hidden.ljust(256, b"\0")
        kernarg = self.gpu.allocate(len(segment), self.gpu.kernarg)
        ctypes.memmove(kernarg, segment, len(segment))
        header = 2 | 1 << 8 | 2 << 9 | 2 << 11
        sizes = (*w, 0, *g, private, group)
        packet = struct.pack("<HH3HH3IIIQQQQ", header, dimensions, *sizes, kernel, kernarg, 0, done)
        self.submit(packet)
        return packet

    def barrier(self, kind: int, signals: Sequence[int], done: int = 0) -> None:
        """A barrier packet: kind 3 waits for all signals to be 0, 5 for any."""
        padded = [*signals, *(0,) * (5 - len(signals))]
        self.submit(struct.pack("<HHI5QQQ", kind | 1 << 8, 0, 0, *padded, 0, done))

    def barrier_value(self, signal: int, value: int, mask: int, condition: int, done: int = 0) -> None:
        """A vendor packet that waits for a masked value."""
        self.submit(struct.pack("<HBBIQqqII16xQ", 1 << 8, 2, 0, 0, signal, value, mask, condition, 0, done))

    def destroy(self) -> None:
        """Remove the queue."""
        call("hsa_queue_destroy", self.address)


def read(address: int, size: int) -> bytes:
    """Bytes of memory, including the GPU's, which the program has at the same addresses."""
    return ctypes.string_at(address, size)


def words(address: int, count: int) -> list[int]:
    """32-bit numbers at an address."""
    return list(struct.unpack(f"<{count}I", read(address, 4 * count)))


def code_object() -> bytes:
    """The kernels that the program was given."""
    return Path(sys.argv[1]).read_bytes()


def loaded(gpu: Gpu) -> tuple[Executable, int]:
    """The kernels, and the address of the variable that they do not define."""
    outside = gpu.allocate(4)
    ctypes.memmove(outside, struct.pack("<I", 1000), 4)
    return gpu.load(code_object(), {"outside": outside}), outside
