"""Time to allocate and free simulated memory with many live buffers: memory that a program shares, and rocdbg's own.

    python benchmarks/allocations.py [--size BYTES]

Prints, for each number of live buffers, microseconds of processor time for each initial allocation, for each free of
some buffers among them, and for each allocation into the freed places; and the process's number of mappings then.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.core.shared_window import SharedWindow

LIVE = (10, 100, 10_000, 100_000)
MOST_FREED = 5_000


def measure(memory: GlobalMemory, live: int, size: int) -> tuple[float, float, float]:
    """Microseconds per allocation, per free, and per allocation again."""
    start = time.process_time()
    buffers = [memory.allocate(size) for _ in range(live)]
    made = time.process_time()
    some = buffers[live // 2 :: 2][:MOST_FREED]
    begun = time.process_time()
    for buffer in some:
        memory.free(buffer)
    freed = time.process_time()
    for _ in some:
        memory.allocate(size)
    again = time.process_time()
    return (made - start) / live * 1e6, (freed - begun) / len(some) * 1e6, (again - freed) / len(some) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=4000)
    size = parser.parse_args().size
    print(f"{'memory':8}{'live':>8}{'allocate':>10}{'free':>8}{'again':>8}{'mappings':>10}   (us)")
    for live in LIVE:
        for name, memory in ("shared", GlobalMemory(1 << 60, window=SharedWindow())), ("own", GlobalMemory(1 << 60)):
            times = measure(memory, live, size)
            mappings = len(Path("/proc/self/maps").read_text().splitlines())
            print(f"{name:8}{live:8}" + "{:10.1f}{:8.1f}{:8.1f}".format(*times) + f"{mappings:10}")
            del memory


if __name__ == "__main__":
    main()
