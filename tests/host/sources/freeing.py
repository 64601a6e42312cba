"""A program to be debugged: freeing.py CODE_OBJECT. It frees the memory of its first launch before the second one."""

from __future__ import annotations

import ctypes
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from hsa import Gpu, call, signal, wait

call("hsa_init")
gpu = Gpu()
code = gpu.load(Path(sys.argv[1]).read_bytes())
queue = gpu.queue()


def launch(data: int) -> None:
    done = signal()
    queue.launch(code.kernel("scale"), struct.pack("<Qi", data, 2), [64], [64], done)
    wait(done, timeout=(1 << 64) - 1)


first, second = gpu.allocate(512), gpu.allocate(512)
launch(first)
call("hsa_amd_memory_pool_free", ctypes.c_void_p(first))
launch(second)
print("over", flush=True)
