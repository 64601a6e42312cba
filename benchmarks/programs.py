"""The cost of a simulated GPU for a whole program: launches, allocations, copies.

    python benchmarks/programs.py [LAUNCHES] python benchmarks/programs.py [LAUNCHES] --against FOLDER [--runs N]
    medians, next to those of another checkout

This file is also the program, which uses the tests' client. CPU times are those of both processes.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from ctypes import c_int64, c_uint64, c_void_p
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = 'extern "C" __attribute__((global)) void empty() {}\n'


def timed(what: str, count: int, begin: float) -> None:
    print(f"{what:24} {(time.perf_counter() - begin) / count * 1e6:10.1f} us", flush=True)


def resident() -> int:
    """Bytes of memory used by the rocdbg that has started this process."""
    pages = int(Path(f"/proc/{os.getppid()}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def client(path: str, count: int) -> None:
    """Run the client program."""
    sys.path.insert(0, str(ROOT / "tests" / "host"))
    from hsa import Gpu, call, lib, signal, wait

    call("hsa_init")
    gpu = Gpu()
    code = gpu.load(Path(path).read_bytes())
    queue, done, kernel = gpu.queue(16384), signal(), code.kernel("empty")

    def launch() -> None:
        queue.submit(packet)

    packet = bytes.fromhex("0215010040000100010000004000000001000000010000000000000000000000")
    packet += kernel.to_bytes(8, "little") + bytes(16) + done.to_bytes(8, "little")
    launch()
    wait(done)
    begin = time.perf_counter()
    for _ in range(count):
        lib.hsa_signal_store_relaxed(c_uint64(done), c_int64(1))
        launch()
        wait(done)
    timed("launch and wait", count, begin)
    before = resident()
    lib.hsa_signal_store_relaxed(c_uint64(done), c_int64(count))
    begin = time.perf_counter()
    for _ in range(count):
        launch()
    wait(done, timeout=10**12)
    timed("launch", count, begin)
    print(f"{'growth of rocdbg':24} {(resident() - before) / 1024:10.1f} KiB", flush=True)
    begin = time.perf_counter()
    for _ in range(count):
        call("hsa_amd_memory_pool_free", c_void_p(gpu.allocate(4000)))
    timed("allocate and free", count, begin)
    first, second = gpu.allocate(64 << 20), gpu.allocate(64 << 20)
    for what in ("first copy of 64 MiB", "copy of 64 MiB"):
        lib.hsa_signal_store_relaxed(c_uint64(done), c_int64(1))
        begin = time.perf_counter()
        agent, none = gpu.agent, c_void_p(0)
        call("hsa_amd_memory_async_copy", c_void_p(first), agent, c_void_p(second), agent, 64 << 20, 0, none, done)
        wait(done)
        timed(what, 1, begin)


def main() -> None:
    if sys.argv[1:2] == ["--client"]:
        client(sys.argv[2], int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("launches", nargs="?", default="1000")
    parser.add_argument("--against", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    if options.against is not None:
        compare(options.launches, options.against.resolve(), options.runs)
    else:
        measure(options.launches)


def compare(count: str, other: Path, runs: int) -> None:
    """Run both checkouts in turn, so that the machine's other load affects both."""
    found: dict[Path, dict[str, list[float]]] = {ROOT: {}, other: {}}
    for _ in range(runs):
        for root, rows in found.items():
            command = [sys.executable, str(Path(__file__).resolve()), count]
            environment = {**os.environ, "PYTHONPATH": str(root)}
            text = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
            for line in text.splitlines():
                *what, figure, unit = line.split()
                rows.setdefault(f"{' '.join(what)} ({unit})", []).append(float(figure))
    print(f"{'median of ' + str(runs):32} {'here':>12} {'there':>12} {'ratio':>8}")
    for what, figures in found[ROOT].items():
        here, there = statistics.median(figures), statistics.median(found[other][what])
        print(f"{what:32} {here:12.1f} {there:12.1f} {here / there if there else 0:8.2f}")


def measure(count: str) -> None:
    """Measure one run of this checkout."""
    from rocdbg.host.program_api import Program

    with tempfile.TemporaryDirectory() as folder:
        source, path = Path(folder, "empty.hip"), Path(folder, "empty.co")
        source.write_text(SOURCE)
        flags = ["-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-O1"]
        subprocess.run(["clang-22", *flags, "--no-gpu-bundle-output", str(source), "-o", str(path)], check=True)
        with Program([sys.executable, __file__, "--client", str(path), count], "gfx90a") as program:
            program.run()
    for name, who in (("rocdbg", resource.RUSAGE_SELF), ("the program", resource.RUSAGE_CHILDREN)):
        used = resource.getrusage(who)
        print(f"CPU time of {name:12} {used.ru_utime + used.ru_stime:10.2f} s")


if __name__ == "__main__":
    main()
