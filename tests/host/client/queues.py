"""Queues, launches, barriers and errors."""

from __future__ import annotations

import ctypes
import struct
import threading
import time
from ctypes import POINTER, byref, c_uint32, c_uint64, c_void_p

from hsa import EQ, Gpu, call, info, loaded, raw, read, refused, signal, wait, words


def check_saxpy() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    n = 1000
    x, y = gpu.allocate(4 * n), gpu.allocate(4 * n)
    ctypes.memmove(x, struct.pack(f"<{n}f", *range(n)), 4 * n)
    ctypes.memmove(y, struct.pack(f"<{n}f", *[0.5] * n), 4 * n)
    queue, done = gpu.queue(), signal()
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    queue.launch(code.kernel("saxpy"), struct.pack("<fxxxxQQi", 3.0, x, y, n), (1024,), (256,), done)
    assert wait(done) == 0
    assert struct.unpack(f"<{n}f", read(y, 4 * n)) == tuple(3.0 * i + 0.5 for i in range(n))
    times = (c_uint64 * 2)()
    call("hsa_amd_profiling_get_dispatch_time", gpu.agent, done, times)
    assert before <= times[0] <= times[1] <= time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    queue.destroy()


def check_cooperative_launch() -> None:
    """As many workgroups as the agent allows to wait for each other; the queue is for such launches."""
    gpu = Gpu()
    assert info("hsa_agent_get_info", gpu.agent, 0xA010, ctypes.c_bool)
    waves = info("hsa_agent_get_info", gpu.agent, 0xA002) * info("hsa_agent_get_info", gpu.agent, 0xA00A)
    items = 256
    groups = waves * info("hsa_agent_get_info", gpu.agent, 6) // items
    code, _ = loaded(gpu)
    data = gpu.allocate(4 * (1 + 2 * groups))
    queue, done = gpu.queue(kind=2), signal()
    assert int.from_bytes(read(queue.address, 4), "little") == 2
    arguments = struct.pack("<QQQI", data, data + 4, data + 4 + 4 * groups, groups)
    queue.launch(code.kernel("rendezvous"), arguments, (items * groups,), (items,), done)
    assert wait(done) == 0
    found = words(data, 1 + 2 * groups)
    assert (found[0], groups) == (groups, 32)
    assert found[1 + groups :] == [(group + 1) % groups * ((group + 1) % groups) for group in range(groups)]
    queue.destroy()


def check_grids() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    width, height, depth = 10, 6, 5
    data = gpu.allocate(4 * width * height * depth)
    queue, done = gpu.queue(), signal(2)
    arguments = struct.pack("<QII", data, width, height)
    queue.launch(code.kernel("positions"), arguments, (width, height, depth), (4, 3, 2), done)
    row = gpu.allocate(4 * width)
    queue.launch(code.kernel("positions"), struct.pack("<QII", row, width, 1), (width,), (4,), done)
    assert wait(done) == 0
    expected = [z << 16 | y << 8 | x for z in range(depth) for y in range(height) for x in range(width)]
    assert words(data, len(expected)) == expected
    assert words(row, width) == list(range(width))


def check_dynamic_lds() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    data = gpu.allocate(4 * 128)
    ctypes.memmove(data, struct.pack("<128I", *range(128)), 512)
    queue, done = gpu.queue(), signal()
    queue.launch(code.kernel("reversed"), struct.pack("<Q", data), (128,), (128,), done, group=512)
    assert wait(done) == 0
    assert words(data, 128) == list(reversed(range(128)))


def check_variables() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    result = gpu.allocate(4)
    queue, done = gpu.queue(), signal(2)
    queue.launch(code.kernel("count"), struct.pack("<Q", result), (64,), (64,), done)
    assert wait(done, 1) == 1
    assert words(result, 1) == [6 + 20 + 1000]
    value = ctypes.c_uint32(100)
    call("hsa_memory_copy", c_void_p(code.variable("counter")), byref(value), 4)
    queue.launch(code.kernel("count"), struct.pack("<Q", result), (64,), (64,), done)
    assert wait(done) == 0
    assert words(result, 1) == [101 + 20 + 1000] and words(code.variable("counter"), 1) == [101]


def check_changed_code() -> None:
    """Code that is copied over other code runs afterwards."""
    gpu = Gpu()
    code, _ = loaded(gpu)
    flag = gpu.allocate(8)
    queue, done = gpu.queue(), signal(2)
    arguments = struct.pack("<QI", flag, 7)
    queue.launch(code.kernel("set_flag"), arguments, (64,), (64,), done)
    assert wait(done, 1) == 1 and words(flag, 1) == [7]
    descriptor = code.kernel("set_flag")
    entry = descriptor + struct.unpack("<q", read(descriptor + 16, 8))[0]
    end = ctypes.create_string_buffer(struct.pack("<I", 0xBF810000), 4)  # s_endpgm
    copied = signal()
    call("hsa_amd_memory_async_copy", c_void_p(entry), gpu.agent, end, gpu.cpu, 4, 0, None, copied)
    assert wait(copied) == 0
    ctypes.memset(flag, 0, 4)
    queue.launch(code.kernel("set_flag"), arguments, (64,), (64,), done)
    assert wait(done) == 0 and words(flag, 1) == [0]


def check_barriers() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    first, second = gpu.queue(), gpu.queue()
    a, b, done = signal(), signal(), signal()
    result = gpu.allocate(4)
    second.barrier(3, [a, b])
    second.launch(code.kernel("set_flag"), struct.pack("<QI", result, 1), (1,), (1,), done)
    first.launch(code.kernel("empty"), b"", (64,), (64,), a)
    assert wait(a) == 0
    time.sleep(0.03)
    assert wait(done, timeout=1000) == 1 and words(result, 1) == [0]
    raw("hsa_signal_store_screlease", b, 0)
    assert wait(done) == 0 and words(result, 1) == [1]
    # Any of them is enough for the other kind.
    c, d, over = signal(), signal(), signal()
    second.barrier(5, [c, d], over)
    time.sleep(0.02)
    assert wait(over, timeout=1000) == 1
    raw("hsa_signal_subtract_relaxed", d, 1)
    assert wait(over) == 0
    # A masked value, changed through its pointer, which tells nobody.
    e, passed = signal(0x10), signal()
    second.barrier_value(e, 3, 0xF, EQ, passed)
    pointer = POINTER(ctypes.c_int64)()
    call("hsa_amd_signal_value_pointer", e, byref(pointer))
    pointer[0] = 0x23
    assert wait(passed) == 0
    none = signal()
    second.barrier(3, [], none)
    assert wait(none) == 0


def check_kernels_that_wait_for_each_other() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    flag, seen = gpu.allocate(4), gpu.allocate(4)
    first, second = gpu.queue(), gpu.queue()
    spins, sets = signal(), signal()
    first.launch(code.kernel("wait_for"), struct.pack("<QQ", flag, seen), (64,), (64,), spins)
    second.launch(code.kernel("set_flag"), struct.pack("<QI", flag, 42), (1,), (1,), sets)
    assert wait(sets) == 0 and wait(spins) == 0
    assert words(seen, 1) == [42]


def check_kernel_that_waits_for_the_host() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    flag, seen = gpu.allocate(4, gpu.fine), gpu.allocate(4, gpu.fine)
    queue, done = gpu.queue(), signal()
    queue.launch(code.kernel("wait_for"), struct.pack("<QQ", flag, seen), (64,), (64,), done)
    time.sleep(0.02)
    assert wait(done, timeout=1000) == 1
    other = gpu.allocate(1 << 20)  # requests are answered while it spins
    call("hsa_amd_memory_pool_free", c_void_p(other))
    ctypes.memmove(flag, struct.pack("<I", 9), 4)
    assert wait(done) == 0 and words(seen, 1) == [9]


def check_kernel_that_changes_a_signal() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    mine, done = signal(1), signal()
    pointer = POINTER(ctypes.c_int64)()
    call("hsa_amd_signal_value_pointer", mine, byref(pointer))
    queue = gpu.queue()
    queue.launch(code.kernel("ring"), struct.pack("<Q", ctypes.addressof(pointer.contents)), (64,), (64,), done)
    assert wait(mine) == 0 and wait(done) == 0


def check_queue_of_two_packets() -> None:
    """The slots of the ring are used repeatedly."""
    gpu = Gpu()
    code, _ = loaded(gpu)
    queue, done = gpu.queue(2), signal(20)
    kernel = code.kernel("empty")
    for _ in range(20):
        queue.launch(kernel, b"", (1,), (1,), done)
    assert wait(done) == 0
    assert raw("hsa_queue_load_write_index_relaxed", queue.address) == 20
    assert raw("hsa_queue_load_read_index_relaxed", queue.address) == 20
    assert raw("hsa_queue_cas_write_index_relaxed", queue.address, 5, 9) == 20


def check_queue_attributes() -> None:
    gpu = Gpu()
    queue = gpu.queue(128)
    assert info("hsa_amd_queue_get_info", queue.address, 0, c_uint64) == gpu.agent
    assert info("hsa_amd_queue_get_info", queue.address, 1, c_uint64) == queue.doorbell
    call("hsa_amd_queue_set_priority", queue.address, 2)
    mask = (c_uint32 * 2)(5, 0)
    call("hsa_amd_queue_cu_set_mask", queue.address, 64, mask)
    call("hsa_amd_queue_cu_get_mask", queue.address, 64, mask)
    assert list(mask) == [5, 0]
    call("hsa_amd_profiling_set_profiler_enabled", queue.address, 1)
    refused(0x1007, "hsa_amd_queue_set_priority", gpu.agent, 1)
    pointer = c_void_p()
    refused(0x1001, "hsa_queue_create", gpu.agent, 100, 0, None, None, 0, 0, byref(pointer))
    refused(0x1002, "hsa_queue_create", gpu.cpu, 64, 0, None, None, 0, 0, byref(pointer))
    queue.destroy()
    refused(0x1007, "hsa_queue_destroy", queue.address)


def check_inactive_queue() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    queue, done = gpu.queue(), signal()
    call("hsa_queue_inactivate", queue.address)
    queue.launch(code.kernel("empty"), b"", (1,), (1,), done)
    assert wait(done, timeout=30_000_000) == 1
    queue.destroy()


def check_soft_queue() -> None:
    gpu = Gpu()
    bell = signal(0)
    pointer = c_void_p()
    call("hsa_soft_queue_create", gpu.fine, 4, 0, 2, bell, byref(pointer))
    address = int(pointer.value or 0)
    assert struct.unpack("<IIQQI", read(address, 28)) == (0, 2, address + 256, bell, 4)
    call("hsa_queue_destroy", address)


def check_debug_trap() -> None:
    """The trap has no effect if there is no debugger."""
    gpu = Gpu()
    code, _ = loaded(gpu)
    result, done = gpu.allocate(4), signal()
    gpu.queue().launch(code.kernel("debug_trap"), struct.pack("<Q", result), (1,), (1,), done)
    assert wait(done) == 0 and words(result, 1) == [3]


def failing(name: str, packet: bytes | None = None) -> tuple[int, bool]:
    """The status that a queue's callback receives when a kernel of this name runs, and whether it receives its own
    queue.
    """
    gpu = Gpu()
    code, _ = loaded(gpu)
    heard: list[tuple[int, int]] = []
    over = threading.Event()

    @ctypes.CFUNCTYPE(None, c_uint32, c_uint64, c_void_p)
    def callback(status: int, queue: int, data: None) -> None:
        heard.append((status, queue))
        over.set()

    queue = gpu.queue(64, callback)
    if packet is None:
        queue.launch(code.kernel(name), b"", (64,), (64,), signal())
    else:
        queue.submit(packet)
    assert over.wait(20)
    ((status, address),) = heard
    return status, address == queue.address


def check_queue_errors() -> None:
    assert failing("trap") == (0x1016, True)
    assert failing("", struct.pack("<HH60x", 4 | 1 << 8, 0)) == (0x1009, True)
    assert failing("", struct.pack("<HH3HH3IIIQQQQ", 2, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0)) == (0x1009, True)
    assert failing("", struct.pack("<HH3HH3IIIQQQQ", 2, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 4096, 0, 0, 0)) == (0x1016, True)
    assert failing("", struct.pack("<HHI5QQQ", 3, 0, 0, 64, 0, 0, 0, 0, 0, 0)) == (0x1016, True)


def check_memory_fault() -> None:
    """An access by one work-item too many: the handler of system events receives the address."""
    gpu = Gpu()
    code, _ = loaded(gpu)
    heard: list[tuple[int, int, int]] = []
    over = threading.Event()

    @ctypes.CFUNCTYPE(c_uint32, c_void_p, c_void_p)
    def handler(event: int, data: None) -> int:
        kind, agent, address, reason = struct.unpack("<IxxxxQQI", read(event, 28))
        assert kind == 0
        heard.append((agent, address, reason))
        over.set()
        return 0

    call("hsa_amd_register_system_event_handler", handler, None)
    x, y = gpu.allocate(400), gpu.allocate(4 * 101)
    queue = gpu.queue()
    queue.launch(code.kernel("saxpy"), struct.pack("<fxxxxQQi", 1.0, y, x, 101), (128,), (64,), signal())
    assert over.wait(20)
    assert heard == [(gpu.agent, x + 400, 1)]


def check_steady_memory() -> None:
    """Many launches use no more of the GPU's memory than a few."""
    gpu = Gpu()
    code, _ = loaded(gpu)
    queue, done = gpu.queue(), signal(200)
    packet = queue.launch(code.kernel("empty"), b"", (64,), (64,), done)
    assert wait(done, 199) == 199
    first, second = gpu.allocate(64), gpu.allocate(64)
    for _ in range(199):
        queue.submit(packet)
    assert wait(done) == 0
    assert gpu.allocate(64) - second == second - first
