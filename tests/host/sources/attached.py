"""A second process, which uses memory of the first: attached.py CODE_OBJECT attach MEMORY SIGNAL, or import FILE."""

from __future__ import annotations

import ctypes
import struct
import sys
from ctypes import byref, c_uint64, c_void_p

from hsa import Gpu, call, lib, loaded, out, signal, wait


def triple(gpu: Gpu, address: int, done: int) -> None:
    """Launch a kernel that multiplies 16 numbers by three."""
    code, _ = loaded(gpu)
    arguments = struct.pack("<fxxxxQQi", 2.0, address, address, 16)
    gpu.queue().launch(code.kernel("saxpy"), arguments, (64,), (64,), done)


def main() -> None:
    call("hsa_init")
    gpu = Gpu()
    if sys.argv[2] == "attach":
        memory, there = (bytes.fromhex(word) for word in sys.argv[3:])
        address, done = c_void_p(), c_uint64()
        call("hsa_amd_ipc_memory_attach", memory, 4000, 1, byref(c_uint64(gpu.agent)), byref(address))
        call("hsa_amd_ipc_signal_attach", there, byref(done))
        triple(gpu, int(address.value or 0), done.value)
        assert wait(done.value, 1) == 1
        call("hsa_amd_ipc_memory_detach", address)
        lib.hsa_signal_subtract_screlease(done, ctypes.c_int64(1))
        call("hsa_signal_destroy", done)
        print("attached and detached")
        return
    memory = out("hsa_amd_vmem_import_shareable_handle", int(sys.argv[3]))
    area = c_void_p()
    call("hsa_amd_vmem_address_reserve", byref(area), 2 << 20, 0, 0)
    call("hsa_amd_vmem_map", area, 2 << 20, 0, memory, 0)
    call("hsa_amd_vmem_set_access", area, 2 << 20, struct.pack("<IIQ", 3, 0, gpu.agent), 1)
    call("hsa_amd_vmem_handle_release", memory)
    done = signal()
    triple(gpu, int(area.value or 0), done)
    assert wait(done) == 0
    call("hsa_amd_vmem_unmap", area, 2 << 20)
    call("hsa_amd_vmem_address_free", area, 2 << 20)
    print("imported")


if __name__ == "__main__":
    main()
