"""Pools, allocations, copies and pinned memory."""

from __future__ import annotations

import ctypes
import mmap
import struct
import time
from ctypes import byref, c_bool, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

from hsa import Gpu, call, each, info, loaded, out, read, refused, signal, wait, words


def check_pools() -> None:
    gpu = Gpu()
    flags = [info("hsa_amd_memory_pool_get_info", pool, 1) for pool in (gpu.fine, gpu.kernarg, gpu.coarse, gpu.device)]
    assert flags == [2, 3, 4, 4]
    assert info("hsa_amd_memory_pool_get_info", gpu.group, 0) == 3
    assert info("hsa_amd_memory_pool_get_info", gpu.group, 2, c_size_t) == 65536
    assert info("hsa_amd_memory_pool_get_info", gpu.device, 6, c_size_t) == 4096
    access = c_uint32()
    for agent, pool, expected in ((gpu.agent, gpu.device, 1), (gpu.agent, gpu.fine, 2), (gpu.cpu, gpu.device, 0)):
        call("hsa_amd_agent_memory_pool_get_info", agent, pool, 0, byref(access))
        assert access.value == expected
    regions = each("hsa_agent_iterate_regions", gpu.agent)
    assert regions == [gpu.fine, gpu.kernarg, gpu.coarse, gpu.device, gpu.group]
    assert info("hsa_region_get_info", gpu.group, 0) == 3
    assert info("hsa_region_get_info", gpu.device, 0xA000, c_bool) is False


class PointerInfo(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("type", c_uint32), ("agent_base", c_uint64), ("host_base", c_uint64),
                ("bytes", c_size_t), ("user", c_uint64), ("owner", c_uint64), ("flags", c_uint32)]  # fmt: skip


def pointer_info(address: int) -> PointerInfo:
    found = PointerInfo(size=ctypes.sizeof(PointerInfo))
    call("hsa_amd_pointer_info", c_void_p(address), byref(found), None, None, None)
    return found


def check_allocations() -> None:
    gpu = Gpu()
    small, large = gpu.allocate(4000), gpu.allocate(5 << 20, gpu.coarse)
    assert large % (2 << 20) == 0
    assert read(small, 4000) == bytes(4000)
    found = pointer_info(small + 100)
    assert (found.type, found.agent_base, found.host_base, found.bytes) == (1, small, small, 4000)
    assert found.owner == gpu.agent
    call("hsa_amd_pointer_info_set_userdata", c_void_p(small), c_void_p(0x1234))
    assert pointer_info(small).user == 0x1234
    assert pointer_info(id(gpu)).type == 0
    call("hsa_amd_agents_allow_access", 1, byref(c_uint64(gpu.agent)), None, c_void_p(small))
    freed: list[int] = []
    callback = ctypes.CFUNCTYPE(None, c_uint64, c_uint64)(lambda address, data: freed.append(address + data))
    call("hsa_amd_register_deallocation_callback", c_void_p(small), callback, c_void_p(1))
    call("hsa_amd_memory_pool_free", c_void_p(small))
    assert freed == [small + 1]
    refused(0x1003, "hsa_amd_memory_pool_free", c_void_p(small))
    refused(0x1003, "hsa_amd_memory_pool_free", c_void_p(large + 4096))
    call("hsa_memory_free", c_void_p(large))
    call("hsa_amd_memory_pool_free", None)
    address = c_void_p()
    refused(0x1001, "hsa_amd_memory_pool_allocate", gpu.device, 0, 0, byref(address))
    refused(0x1003, "hsa_amd_memory_pool_allocate", gpu.group, 16, 0, byref(address))
    refused(40, "hsa_amd_memory_pool_allocate", 1, 16, 0, byref(address))
    refused(0x1008, "hsa_amd_memory_pool_allocate", gpu.device, 1 << 45, 0, byref(address))
    call("hsa_memory_allocate", gpu.coarse, 10, byref(address))
    call("hsa_memory_assign_agent", address, gpu.agent, 3)
    call("hsa_memory_free", address)


def check_callbacks_of_freed_memory() -> None:
    """One that was taken back is not called, whichever it is; those of other memory stay."""
    gpu = Gpu()
    freed: list[tuple[str, int, int]] = []
    kind = ctypes.CFUNCTYPE(None, c_uint64, c_uint64)
    callbacks = {name: kind(lambda address, data, name=name: freed.append((name, address, data))) for name in "abc"}
    for gone in "abc":
        buffers = gpu.allocate(4000), gpu.allocate(4000)
        for buffer in buffers:
            for data, callback in enumerate(callbacks.values()):
                call("hsa_amd_register_deallocation_callback", c_void_p(buffer), callback, c_void_p(data))
        call("hsa_amd_deregister_deallocation_callback", c_void_p(buffers[0]), callbacks[gone])
        refused(0x1001, "hsa_amd_deregister_deallocation_callback", c_void_p(buffers[0]), callbacks[gone])
        for buffer, left in zip(buffers, ([name for name in "abc" if name != gone], ["a", "b", "c"]), strict=True):
            freed.clear()
            call("hsa_amd_memory_pool_free", c_void_p(buffer))
            assert sorted(freed) == [(name, buffer, "abc".index(name)) for name in left]


def check_copies_at_once() -> None:
    gpu = Gpu()
    there = gpu.allocate(64)
    source = ctypes.create_string_buffer(bytes(range(64)), 64)
    call("hsa_memory_copy", c_void_p(there), source, 64)
    assert read(there, 64) == bytes(range(64))
    call("hsa_amd_memory_fill", c_void_p(there + 4), 0x01020304, 3)
    assert words(there, 5) == [0x03020100, 0x01020304, 0x01020304, 0x01020304, 0x13121110]


def check_asynchronous_copies() -> None:
    gpu = Gpu()
    first, second = gpu.allocate(1 << 16), gpu.allocate(1 << 16)
    ctypes.memset(first, 0x5A, 1 << 16)
    # The copy waits for one that is requested after it.
    early, late = signal(), signal()
    call("hsa_amd_profiling_async_copy_enable", c_bool(True))
    third = gpu.allocate(1 << 16)
    size = 1 << 16
    waited = byref(c_uint64(early))
    call("hsa_amd_memory_async_copy", c_void_p(third), gpu.agent, c_void_p(second), gpu.agent, size, 1, waited, late)
    time.sleep(0.02)
    assert wait(late, timeout=1000) == 1
    call("hsa_amd_memory_async_copy", c_void_p(second), gpu.agent, c_void_p(first), gpu.cpu, 1 << 16, 0, None, early)
    assert wait(late) == 0
    assert read(third, 1 << 16) == b"\x5a" * (1 << 16)
    times = (c_uint64 * 2)()
    call("hsa_amd_profiling_get_async_copy_time", late, times)
    assert 0 < times[0] <= times[1]
    assert out("hsa_amd_memory_copy_engine_status", gpu.agent, gpu.cpu, kind=c_uint32) == 1
    done = signal()
    call(
        "hsa_amd_memory_async_copy_on_engine", c_void_p(first), gpu.agent, c_void_p(third + 1), gpu.agent, 10, 0, None,
        done, 1, c_bool(False),
    )  # fmt: skip
    assert wait(done) == 0


def check_rectangles() -> None:
    gpu = Gpu()
    source, target = gpu.allocate(8 * 4 * 2), gpu.allocate(16 * 4 * 2)
    ctypes.memmove(source, bytes(range(64)), 64)
    pitched = struct.Struct("<QQQ")
    done = signal()
    call(
        "hsa_amd_memory_async_copy_rect", pitched.pack(target, 16, 64), struct.pack("<III", 1, 1, 0),
        pitched.pack(source, 8, 32), struct.pack("<III", 2, 1, 0), struct.pack("<III", 3, 2, 2), gpu.agent, 3, 0, None,
        done,
    )  # fmt: skip
    assert wait(done) == 0
    expected = bytearray(128)
    for z in range(2):
        for y in range(2):
            start = z * 32 + (y + 1) * 8 + 2
            expected[z * 64 + (y + 1) * 16 + 1 : z * 64 + (y + 1) * 16 + 4] = bytes(range(start, start + 3))
    assert read(target, 128) == bytes(expected)


def check_batches_of_copies() -> None:
    gpu = Gpu()
    a, b, c = (gpu.allocate(64) for _ in range(3))
    ctypes.memset(a, 1, 64)
    ctypes.memset(b, 2, 64)
    op = struct.Struct("<4HQQQQQQQ64x")
    exchanged, spread, indirect = signal(), signal(), signal()
    ops = op.pack(1, 2, 0, 0, exchanged, a, gpu.agent, gpu.agent, b, 64, 64)
    call("hsa_amd_memory_async_batch_copy", ops, 1, 0, None)
    assert wait(exchanged) == 0
    assert read(a, 64) == b"\x02" * 64 and read(b, 64) == b"\x01" * 64
    targets = (c_uint64 * 2)(b, c)
    agents = (c_uint64 * 2)(gpu.agent, gpu.agent)
    ops = op.pack(1, 1, 2, 0, spread, a, gpu.agent, ctypes.addressof(agents), ctypes.addressof(targets), 32, 0)
    call("hsa_amd_memory_async_batch_copy", ops, 1, 0, None)
    assert wait(spread) == 0
    assert read(c, 64) == b"\x02" * 32 + bytes(32) and read(b, 64) == b"\x02" * 32 + b"\x01" * 32
    place = gpu.allocate(8)
    ctypes.memmove(place, struct.pack("<Q", b + 32), 8)
    ops = op.pack(1, 3, 0, 0, indirect, place, gpu.agent, gpu.agent, c, 16, 0)
    call("hsa_amd_memory_async_batch_copy", ops, 1, 0, None)
    assert wait(indirect) == 0
    assert read(c, 16) == b"\x01" * 16


def check_pinned_memory() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    area = mmap.mmap(-1, 3 * 4096)
    start = ctypes.addressof(c_uint8.from_buffer(area))
    host = start + 4096 + 64
    values = struct.pack("<16f", *range(16))
    ctypes.memmove(host, values, 64)
    address = c_void_p()
    call("hsa_amd_memory_lock", c_void_p(host), 64, byref(c_uint64(gpu.agent)), 1, byref(address))
    pinned = int(address.value or 0)
    found = pointer_info(pinned)
    assert (found.type, found.host_base, found.agent_base) == (2, host & ~4095, pinned & ~4095)
    assert pointer_info(host).agent_base == found.agent_base
    # A copy takes the bytes from where they are, although no kernel has seen them.
    there = gpu.allocate(64)
    call("hsa_memory_copy", c_void_p(there), c_void_p(pinned), 64)
    assert read(there, 64) == values
    # A kernel gets the pages themselves.
    queue, done = gpu.queue(), signal()
    arguments = struct.pack("<fxxxxQQi", 2.0, there, pinned, 16)
    queue.launch(code.kernel("saxpy"), arguments, (64,), (64,), done)
    assert wait(done) == 0
    assert struct.unpack("<16f", read(host, 64)) == tuple(3.0 * i for i in range(16))
    ctypes.memset(host, 0, 4)
    assert read(pinned, 4) == bytes(4)
    call("hsa_amd_memory_unlock", c_void_p(host))
    assert pointer_info(host).type == 0
    assert struct.unpack("<2f", read(host, 8)) == (0.0, 3.0)
    call("hsa_amd_memory_unlock", c_void_p(host))
