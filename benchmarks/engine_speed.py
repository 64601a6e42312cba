"""Speed of the engine: wave-instructions per second of kernels compiled by clang -O3 from HIP, medians of several runs.

    python benchmarks/engine_speed.py [--runs N] [--cold]

Prints one line per target and kernel: instructions of a run, millions of wave-instructions per second of CPU time (the
first run, which translates, and the median of the others), and, where tinygrad's emulator can be imported, the ratio to
the median of as many of its runs, also after a first run, by the same clock. ``--cold`` adds the time to translate a
kernel of 500 instructions without a cache. The last line is the memory, beyond its buffers, of a dispatch of 1,000,000
work-items with LDS and private memory.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rocdbg

TARGETS = ("gfx1100", "gfx90a")
"""wave32 and wave64."""
SOURCE = """
#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
#define X __builtin_amdgcn_workitem_id_x()
#define Y __builtin_amdgcn_workitem_id_y()
#define GROUP_X __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y __builtin_amdgcn_workgroup_id_y()
#define SIZE_X __builtin_amdgcn_workgroup_size_x()
#define BARRIER __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \\
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")

#ifdef __gfx1100__
KERNEL loop(unsigned *out, unsigned n) {
  unsigned a = X, b = 1, c = 2, d = 3;
  asm volatile(
      "s_mov_b32 s20, 0\\n"
      "1:\\n"
      "v_add_nc_u32 %0, %0, %1\\nv_xor_b32 %1, %1, %2\\nv_add_nc_u32 %2, %2, %3\\nv_lshlrev_b32 %3, 1, %3\\n"
      "v_or_b32 %3, %3, %0\\nv_sub_nc_u32 %1, %1, %3\\nv_and_b32 %2, %2, %0\\nv_max_u32 %0, %0, %2\\n"
      "s_add_u32 s20, s20, 1\\ns_cmp_lt_u32 s20, %4\\ns_cbranch_scc1 1b\\n"
      : "+v"(a), "+v"(b), "+v"(c), "+v"(d) : "s"(n) : "s20", "scc");
  out[X] = a + b + c + d;
}
#endif

KERNEL saxpy(float *y, const float *x, float a, int n) {
  int i = GROUP_X * SIZE_X + X;
  if (i < n) y[i] = a * x[i] + y[i];
}

template <int TILE> __attribute__((device)) void matmul(float *c, const float *a, const float *b, int n) {
  SHARED float ta[TILE][TILE], tb[TILE][TILE];
  int row = GROUP_Y * TILE + Y, col = GROUP_X * TILE + X;
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    ta[Y][X] = a[row * n + t + X];
    tb[Y][X] = b[(t + Y) * n + col];
    BARRIER;
    for (int k = 0; k < TILE; k++) sum += ta[Y][k] * tb[k][X];
    BARRIER;
  }
  c[row * n + col] = sum;
}
KERNEL matmul16(float *c, const float *a, const float *b, int n) { matmul<16>(c, a, b, n); }
KERNEL matmul32(float *c, const float *a, const float *b, int n) { matmul<32>(c, a, b, n); }

KERNEL reduce(float *out, const float *x, int n) {
  SHARED float part[256];
  int i = GROUP_X * 256 + X;
  part[X] = i < n ? x[i] : 0;
  BARRIER;
  for (int s = 128; s; s >>= 1) {
    if (X < s) part[X] += part[X + s];
    BARRIER;
  }
  if (X == 0) out[GROUP_X] = part[0];
}

KERNEL items(unsigned *out) {
  SHARED volatile unsigned part[64];
  volatile unsigned own[16];
  for (int i = 0; i < 16; ++i) own[i] = X;
  part[X] = own[X % 16];
  if (X == 0 && GROUP_X % 1024 == 0) out[GROUP_X / 1024] = part[0];
}

KERNEL big(float *out, const float *x) {
  float s = x[X], t = 1;
#pragma clang loop unroll(full)
  for (int k = 0; k < 120; k++) { s = s * x[k] + t; t = __builtin_fabsf(s - k) * 0.5f; }
  out[X] = s + t;
}
"""


def build(folder: Path, target: str) -> Path:
    source, output = folder / "speed.hip", folder / f"{target}.co"
    source.write_text(SOURCE)
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O3", "-w"]
    subprocess.run(
        [*command, f"--offload-arch={target}", "--no-gpu-bundle-output", str(source), "-o", str(output)],
        check=True,
    )
    return output


SIZES = {"loop": 2_000_000, "saxpy": 1 << 20, "matmul16": 256, "matmul32": 256, "reduce": 1 << 20}
"""The size of each kernel: rounds, elements (a multiple of 256), or rows of the matrices (a multiple of the tile)."""


def launch(program: rocdbg.Program, name: str, size: int) -> rocdbg.Dispatch:
    """A launch of one of the kernels, which has not run yet."""
    rng = np.random.default_rng(0)
    grid: object = size
    workgroup: object = 256
    if name == "loop":
        grid = workgroup = 32
        args: list[object] = [np.zeros(32, np.uint32), np.uint32(size)]
    elif name == "saxpy":
        args = [rng.random(size, np.float32), rng.random(size, np.float32), np.float32(2), np.int32(size)]
    elif name == "reduce":
        args = [np.zeros(size // 256, np.float32), rng.random(size, np.float32), np.int32(size)]
    else:
        tile = int(name.removeprefix("matmul"))
        grid, workgroup = (size, size), (tile, tile)
        args = [*(rng.random(size * size, np.float32) for _ in range(3)), np.int32(size)]
    return program.kernels[name].launch(grid=grid, workgroup=workgroup, args=args)


def launches(program: rocdbg.Program) -> dict[str, Callable[[], tuple[int, float]]]:
    """For each kernel name, a function that runs it once and returns the instructions executed and the seconds of CPU
    time.
    """

    def run(name: str) -> Callable[[], tuple[int, float]]:
        def once() -> tuple[int, float]:
            dispatch = launch(program, name, SIZES[name])
            began = time.process_time()
            dispatch.run()
            return int(dispatch.instructions), time.process_time() - began

        return once

    return {name: run(name) for name in SIZES if name in program.kernels}


def tinygrad_rate(runs: int) -> float | None:
    """Millions of wave-instructions per second of tinygrad's emulator on the loop, or None without it.

    The median of some runs after a first one, which compiles.
    """
    try:
        from test.mockgpu.amd.emu import run_asm  # type: ignore[import-not-found]  # only in its source tree
    except ImportError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = rocdbg.load(build(Path(folder), TARGETS[0]))
        section = program.code_object.elf.get_section_by_name(".text")
        assert section is not None
        kernel = program.code_object.kernels["loop"]
        code = section.data()[kernel.entry_address - section["sh_addr"] :][: kernel.code_size]
    out, count = np.zeros(32, np.uint32), 20_000
    arguments = np.array([out.ctypes.data, count], np.uint64)
    buffer = ctypes.create_string_buffer(code, len(code))

    def once() -> float:
        began = time.process_time()
        run_asm(ctypes.addressof(buffer), len(code), 1, 1, 1, 32, 1, 1, int(arguments.ctypes.data))
        return time.process_time() - began

    once()
    return count * 11 / statistics.median(once() for _ in range(runs)) / 1e6


def translation_time(path: Path) -> tuple[int, float]:
    """Instructions of the kernel ``big`` and seconds to run it first, without a cache."""
    with tempfile.TemporaryDirectory() as cache:
        code = (
            "import numpy as np, rocdbg, sys, time\n"
            f"k = rocdbg.load({str(path)!r}).kernels['big']\n"
            "l = k.launch(grid=32, workgroup=32, args=[np.zeros(32, 'f4'), np.zeros(120, 'f4')])\n"
            "t = time.process_time(); l.run(); sys.stdout.write(f'{l.instructions} {time.process_time() - t}')\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "ROCDBG_CACHE_DIR": cache}, capture_output=True, text=True,
            check=True,
        )
    count, seconds = done.stdout.split()
    return int(count), float(seconds)


def memory_of_a_million(path: Path) -> float:
    """Megabytes that 1,000,000 work-items with LDS and private memory take, in a process of their own.

    Its peak is VmHWM: ru_maxrss of a new program begins with the peak of the process that started it.
    """
    code = (
        "import numpy as np, re, rocdbg, sys\n"
        "peak = lambda: int(re.search(r'VmHWM:\\s*(\\d+) kB', open('/proc/self/status').read())[1])\n"
        f"k = rocdbg.load({str(path)!r}).kernels['items']\n"
        "k.launch(grid=64, workgroup=64, args=[np.zeros(16, 'u4')]).run(); before = peak()\n"
        "k.launch(grid=1_000_000, workgroup=64, args=[np.zeros(16, 'u4')]).run()\n"
        "sys.stdout.write(str((peak() - before) / 1024))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description="speed of the engine")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cold", action="store_true", help="time the translation without a cache too")
    options = parser.parse_args()
    write = sys.stdout.write
    other = tinygrad_rate(options.runs)
    with tempfile.TemporaryDirectory() as folder:
        for target in TARGETS:
            path = build(Path(folder), target)
            for name, once in launches(rocdbg.load(path)).items():
                count, first = once()
                times = [once()[1] for _ in range(options.runs)]
                rate = count / statistics.median(times) / 1e6
                ratio = f"  {rate / other:.0f} times tinygrad's" if other and name == "loop" else ""
                write(
                    f"{target:8} {name:9} {count:>12,} instructions  first {count / first / 1e6:7.1f} M/s  "
                    f"then {rate:7.1f} M/s{ratio}\n"
                )
        if options.cold:
            count, seconds = translation_time(path)
            write(f"translation of {count} instructions, no cache: {seconds:.2f} s of CPU time\n")
        write(f"1,000,000 work-items: {memory_of_a_million(path):.0f} MB more\n")


if __name__ == "__main__":
    main()
