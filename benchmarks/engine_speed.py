"""Speed of the engine: wave-instructions per second of kernels compiled by clang, medians of several runs.

    python benchmarks/engine_speed.py [--runs N] [--cold]

Prints one line per kernel: instructions of a run, millions of wave-instructions per second, and, where tinygrad's
emulator can be imported, the ratio to it. ``--cold`` adds the time to translate a kernel of 500 instructions without a
cache. The last line is the memory that a dispatch of 1,000,000 work-items takes beyond its buffers.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rocdbg

TARGET = "gfx1100"
SOURCE = """
#define KERNEL extern "C" __attribute__((global)) void
#define LANE __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define BARRIER __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \\
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")

KERNEL loop(unsigned *out, unsigned n) {
  unsigned a = LANE, b = 1, c = 2, d = 3;
  asm volatile(
      "s_mov_b32 s20, 0\\n"
      "1:\\n"
      "v_add_nc_u32 %0, %0, %1\\nv_xor_b32 %1, %1, %2\\nv_add_nc_u32 %2, %2, %3\\nv_lshlrev_b32 %3, 1, %3\\n"
      "v_or_b32 %3, %3, %0\\nv_sub_nc_u32 %1, %1, %3\\nv_and_b32 %2, %2, %0\\nv_max_u32 %0, %0, %2\\n"
      "s_add_u32 s20, s20, 1\\ns_cmp_lt_u32 s20, %4\\ns_cbranch_scc1 1b\\n"
      : "+v"(a), "+v"(b), "+v"(c), "+v"(d) : "s"(n) : "s20", "scc");
  out[LANE] = a + b + c + d;
}

KERNEL saxpy(float *y, const float *x, float a, unsigned n) {
  unsigned i = GROUP * 256 + LANE;
  if (i < n) y[i] = a * x[i] + y[i];
}

#define TILE 16
__attribute__((shared)) float ta[TILE][TILE], tb[TILE][TILE];
KERNEL matmul(float *c, const float *a, const float *b, unsigned n) {
  unsigned x = LANE % TILE, y = LANE / TILE, tiles = n / TILE;
  unsigned row = GROUP / tiles * TILE + y, col = GROUP % tiles * TILE + x;
  float sum = 0;
  for (unsigned t = 0; t < n; t += TILE) {
    ta[y][x] = a[row * n + t + x];
    tb[y][x] = b[(t + y) * n + col];
    BARRIER;
    for (unsigned k = 0; k < TILE; k++) sum += ta[y][k] * tb[k][x];
    BARRIER;
  }
  c[row * n + col] = sum;
}

__attribute__((shared)) float part[256];
KERNEL reduce(float *out, const float *x, unsigned n) {
  float sum = 0;
  for (unsigned i = GROUP * 256 + LANE; i < n; i += 64 * 256) sum += x[i];
  part[LANE] = sum;
  for (unsigned s = 128; s; s >>= 1) {
    BARRIER;
    if (LANE < s) part[LANE] += part[LANE + s];
  }
  if (LANE == 0) out[GROUP] = part[0];
}

KERNEL items(unsigned *out) { if (LANE == 0 && GROUP % 1024 == 0) out[GROUP / 1024] = GROUP; }

KERNEL big(float *out, const float *x) {
  float s = x[LANE], t = 1;
#pragma clang loop unroll(full)
  for (int k = 0; k < 120; k++) { s = s * x[k] + t; t = __builtin_fabsf(s - k) * 0.5f; }
  out[LANE] = s + t;
}
"""


def build(folder: Path) -> Path:
    source, output = folder / "speed.hip", folder / "speed.co"
    source.write_text(SOURCE)
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O2", "-w"]
    subprocess.run(
        [*command, f"--offload-arch={TARGET}", "--no-gpu-bundle-output", str(source), "-o", str(output)],
        check=True,
    )
    return output


def launches(program: rocdbg.Program) -> dict[str, Callable[[], int]]:
    """Kernel name to a function that runs it once and gives the instructions executed."""
    rng = np.random.default_rng(0)
    x, y = (rng.random(1 << 20, np.float32) for _ in range(2))
    n = 256
    a, b, c = (rng.random(n * n, np.float32) for _ in range(3))

    def run(name: str, grid: int, workgroup: int, *args: object) -> Callable[[], int]:
        def once() -> int:
            dispatch = program.kernels[name].launch(grid=grid, workgroup=workgroup, args=list(args))
            dispatch.run()
            return int(dispatch.instructions)

        return once

    return {
        "loop": run("loop", 32, 32, np.zeros(32, np.uint32), np.uint32(2_000_000)),
        "saxpy": run("saxpy", 1 << 20, 256, y, x, np.float32(2), np.uint32(1 << 20)),
        "matmul": run("matmul", n * n, 256, c, a, b, np.uint32(n)),
        "reduce": run("reduce", 64 * 256, 256, np.zeros(64, np.float32), x, np.uint32(1 << 20)),
    }


def tinygrad_rate() -> float | None:
    """Millions of wave-instructions per second of tinygrad's emulator on the loop, or None without it."""
    try:
        from test.mockgpu.amd.emu import run_asm  # type: ignore[import-not-found]  # only in its source tree
    except ImportError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = rocdbg.load(build(Path(folder)))
        section = program.code_object.elf.get_section_by_name(".text")
        kernel = program.code_object.kernels["loop"]
        code = section.data()[kernel.entry_address - section["sh_addr"] :][: kernel.code_size]
    out, count = np.zeros(32, np.uint32), 20_000
    arguments = np.array([out.ctypes.data, count], np.uint64)
    buffer = ctypes.create_string_buffer(code, len(code))
    began = time.perf_counter()
    run_asm(ctypes.addressof(buffer), len(code), 1, 1, 1, 32, 1, 1, int(arguments.ctypes.data))
    return count * 11 / (time.perf_counter() - began) / 1e6


def translation_time(path: Path) -> tuple[int, float]:
    """Instructions of the kernel ``big`` and seconds to run it first, without a cache."""
    with tempfile.TemporaryDirectory() as cache:
        code = (
            "import numpy as np, rocdbg, sys, time\n"
            f"k = rocdbg.load({str(path)!r}).kernels['big']\n"
            "l = k.launch(grid=32, workgroup=32, args=[np.zeros(32, 'f4'), np.zeros(120, 'f4')])\n"
            "t = time.perf_counter(); l.run(); sys.stdout.write(f'{l.instructions} {time.perf_counter() - t}')\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "ROCDBG_CACHE_DIR": cache}, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
    count, seconds = done.stdout.split()
    return int(count), float(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description="speed of the engine")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cold", action="store_true", help="time the translation without a cache too")
    options = parser.parse_args()
    write = sys.stdout.write
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder))
        program = rocdbg.load(path)
        other = tinygrad_rate()
        for name, once in launches(program).items():
            once(), once()  # translate, and again for the hot tier
            rates, count = [], 0
            for _ in range(options.runs):
                began = time.perf_counter()
                count = once()
                rates.append(count / (time.perf_counter() - began) / 1e6)
            rate = statistics.median(rates)
            ratio = f"  {rate / other:.0f} times tinygrad's" if other and name == "loop" else ""
            write(f"{name:8} {count:>12,} instructions  {rate:8.1f} M/s{ratio}\n")
        if options.cold:
            count, seconds = translation_time(path)
            write(f"translation of {count} instructions, no cache: {seconds:.2f} s\n")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        out = np.zeros(16, np.uint32)
        program.kernels["items"].launch(grid=1_000_000, workgroup=64, args=[out]).run()
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        write(f"1,000,000 work-items: {grown:.0f} MB more\n")


if __name__ == "__main__":
    main()
