"""A program to be debugged: debugged.py CODE_OBJECT TASK. Its exit code is what the GPU has computed, modulo 256."""

from __future__ import annotations

import ctypes
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from hsa import Gpu, call, signal, wait, words

ITEMS = 128

call("hsa_init")
gpu = Gpu()
code = gpu.load(Path(sys.argv[1]).read_bytes())
queue = gpu.queue()
data = gpu.allocate(4 * ITEMS)
ctypes.memmove(data, struct.pack(f"<{ITEMS}i", *range(ITEMS)), 4 * ITEMS)


def launch(name: str, arguments: bytes, items: int = ITEMS) -> None:
    done = signal()
    queue.launch(code.kernel(name), arguments, [items], [64], done)
    wait(done, timeout=(1 << 64) - 1)


task = sys.argv[2]
if task == "loop":
    for factor in (2, 3, 4):
        print(f"launch {factor}", flush=True)
        launch("scale", struct.pack("<Qi", data, factor))
    print(words(data, ITEMS)[5], flush=True)
    sys.exit(words(data, ITEMS)[5] % 256)
if task == "grids":
    for size in (64, 128):
        launch("scale", struct.pack("<Qi", data, 2), size)
if task == "wild":
    launch("wild", struct.pack("<Q", data))
if task == "forever":
    print("launching", flush=True)
    launch("forever", struct.pack("<Q", data))
    print("done", flush=True)
