"""Virtual memory, memory and signals of several processes, and queues made from descriptions."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
from ctypes import byref, c_uint32, c_uint64, c_void_p
from pathlib import Path

from hsa import Gpu, call, loaded, out, read, refused, signal, wait, words

PIECE = 2 << 20
READ, BOTH = 1, 3
OTHER = Path(__file__).parents[1] / "sources" / "attached.py"


def reserve(size: int, alignment: int = 0) -> int:
    address = c_void_p()
    call("hsa_amd_vmem_address_reserve_align", byref(address), size, 0, alignment, 0)
    return int(address.value or 0)


def allow(address: int, size: int, agent: int, access: int) -> None:
    call("hsa_amd_vmem_set_access", c_void_p(address), size, struct.pack("<IIQ", access, 0, agent), 1)


def triple(gpu: Gpu, x: int, y: int, count: int) -> None:
    """saxpy: y += 2 * x."""
    code, _ = loaded(gpu)
    queue, done = gpu.queue(), signal()
    queue.launch(code.kernel("saxpy"), struct.pack("<fxxxxQQi", 2.0, x, y, count), (64,), (64,), done)
    assert wait(done) == 0
    queue.destroy()


def check_virtual_memory() -> None:
    gpu = Gpu()
    there = ctypes.c_bool()
    call("hsa_system_get_info", 0x205, byref(there))
    assert there.value
    area = reserve(4 * PIECE, 4 * PIECE)
    assert area % (4 * PIECE) == 0
    first, second = (out("hsa_amd_vmem_handle_create", gpu.device, PIECE, 1, 0) for _ in range(2))
    # Two pieces side by side are one range; the first is there a second time.
    for place, memory in ((0, first), (1, second), (3, first)):
        call("hsa_amd_vmem_map", c_void_p(area + place * PIECE), PIECE, 0, memory, 0)
    refused(0x1001, "hsa_amd_vmem_map", c_void_p(area), PIECE, 0, second, 0)
    allow(area, 2 * PIECE, gpu.agent, BOTH)
    allow(area + 3 * PIECE, PIECE, gpu.agent, READ)
    assert [access_at(area + at, gpu) for at in (0, PIECE, 3 * PIECE)] == [BOTH, BOTH, READ]
    values = struct.pack("<64f", *range(64))
    ctypes.memmove(area + PIECE - 128, values, 256)
    assert read(area + 4 * PIECE - 128, 128) == values[:128]
    # y is across both pieces, x is read through the second place of the first.
    triple(gpu, area + 4 * PIECE - 128, area + PIECE - 64, 32)
    across = struct.unpack("<32f", read(area + PIECE - 64, 128))
    assert across == tuple(16.0 + 3 * i for i in range(32))
    # Memory lives on where it is mapped, and what was unmapped can be mapped again.
    call("hsa_amd_vmem_handle_release", second)
    refused(0x1003, "hsa_amd_vmem_handle_release", second)
    refused(0x100A, "hsa_amd_vmem_address_free", c_void_p(area), 4 * PIECE)
    kept = c_uint64()
    call("hsa_amd_vmem_retain_alloc_handle", byref(kept), c_void_p(area + PIECE + 5))
    assert kept.value == second
    before = read(area + PIECE, 128)
    call("hsa_amd_vmem_unmap", c_void_p(area + PIECE), PIECE)
    assert read(area + PIECE, 128) == bytes(128)
    call("hsa_amd_vmem_map", c_void_p(area + 2 * PIECE), PIECE, 0, second, 0)
    assert read(area + 2 * PIECE, 128) == before
    pool, kind = c_uint64(), c_uint32()
    call("hsa_amd_vmem_get_alloc_properties_from_handle", second, byref(pool), byref(kind))
    assert (pool.value, kind.value) == (gpu.device, 1)
    for place in (0, 2, 3):
        call("hsa_amd_vmem_unmap", c_void_p(area + place * PIECE), PIECE)
    call("hsa_amd_vmem_handle_release", first)
    call("hsa_amd_vmem_handle_release", second)
    call("hsa_amd_vmem_address_free", c_void_p(area), 4 * PIECE)
    refused(0x1003, "hsa_amd_vmem_address_free", c_void_p(area), 4 * PIECE)


def check_a_part_of_memory() -> None:
    gpu = Gpu()
    area = reserve(3 * PIECE)
    memory = out("hsa_amd_vmem_handle_create", gpu.device, 2 * PIECE, 1, 0)
    call("hsa_amd_vmem_map", c_void_p(area), 2 * PIECE, 0, memory, 0)
    call("hsa_amd_vmem_map", c_void_p(area + 2 * PIECE), PIECE, PIECE, memory, 0)
    allow(area, 3 * PIECE, gpu.agent, BOTH)
    ctypes.memmove(area, struct.pack("<16f", *[0.0] * 16), 64)
    ctypes.memmove(area + PIECE, struct.pack("<16f", *range(16)), 64)
    assert read(area + 2 * PIECE, 64) == struct.pack("<16f", *range(16))
    triple(gpu, area + 2 * PIECE, area + PIECE, 16)  # both are the same memory
    assert struct.unpack("<16f", read(area + 2 * PIECE, 64)) == tuple(3.0 * i for i in range(16))


def access_at(address: int, gpu: Gpu) -> int:
    access = c_uint32()
    call("hsa_amd_vmem_get_access", c_void_p(address), byref(access), gpu.agent)
    return access.value


def check_queues_from_descriptions() -> None:
    gpu = Gpu()
    description = bytearray(96)
    struct.pack_into("<HHBxxxII", description, 0, 1, 0, 0, 64 * 64, 0)
    mask = (c_uint32 * 1)(3)
    struct.pack_into("<QIII", description, 40, ctypes.addressof(mask), 0, 0xFFFFFFFF, 32)
    both = (ctypes.c_char * 192).from_buffer_copy(bytes(description) * 2)
    call("hsa_amd_queue_create", gpu.agent, both, 2)
    addresses = [struct.unpack_from("<Q", both, 96 * i + 32)[0] for i in range(2)]
    assert len(set(addresses)) == 2 and all(addresses)
    for address in addresses:
        got = (c_uint32 * 1)()
        call("hsa_amd_queue_cu_get_mask", address, 32, got)
        assert got[0] == 3
        assert words(address + 24, 1) == [64]
        call("hsa_queue_destroy", address)
    struct.pack_into("<I", both, 96 + 8, 100)  # the second is not possible: neither is made
    refused(0x1001, "hsa_amd_queue_create", gpu.agent, both, 2)
    assert [struct.unpack_from("<Q", both, 96 * i + 32)[0] for i in range(2)] == [0, 0]


def other_process(*arguments: str, files: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(OTHER), sys.argv[1], *arguments]
    environment = {**os.environ, "PYTHONPATH": str(OTHER.parents[1])}
    return subprocess.Popen(command, env=environment, pass_fds=files, stdout=subprocess.PIPE)


def check_memory_of_several_processes() -> None:
    gpu = Gpu()
    buffer, done = gpu.allocate(4000), signal(2)
    ctypes.memmove(buffer, struct.pack("<16f", *range(16)), 64)
    memory, there = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    refused(0x1001, "hsa_amd_ipc_memory_create", c_void_p(buffer + 64), 4000, memory)
    call("hsa_amd_ipc_memory_create", c_void_p(buffer), 4000, memory)
    call("hsa_amd_ipc_signal_create", done, there)
    with other_process("attach", memory.raw.hex(), there.raw.hex()) as child:
        assert wait(done) == 0, "the other process's kernel and program each take one off"
        said = child.communicate(timeout=60)[0].decode()
    assert (child.returncode, said) == (0, "attached and detached\n")
    assert struct.unpack("<16f", read(buffer, 64)) == tuple(3.0 * i for i in range(16))
    bad = struct.pack("<4Q", 1, buffer, 4000, 0)
    refused(0x1001, "hsa_amd_ipc_memory_attach", bad, 4000, 0, None, byref(c_void_p()))


def check_files_for_memory() -> None:
    gpu = Gpu()
    area = reserve(PIECE)
    memory = out("hsa_amd_vmem_handle_create", gpu.device, PIECE, 1, 0)
    call("hsa_amd_vmem_map", c_void_p(area), PIECE, 0, memory, 0)
    ctypes.memmove(area, struct.pack("<16f", *range(16)), 64)
    file = ctypes.c_int()
    call("hsa_amd_vmem_export_shareable_handle", byref(file), memory, 0)
    with other_process("import", str(file.value), files=(file.value,)) as child:
        said = child.communicate(timeout=60)[0].decode()
    assert (child.returncode, said) == (0, "imported\n")
    assert struct.unpack("<16f", read(area, 64)) == tuple(3.0 * i for i in range(16))
    os.close(file.value)
