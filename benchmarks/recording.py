"""The cost of recording, and the speed of going back.

    python benchmarks/recording.py [--runs N]
    python benchmarks/recording.py --seconds S [NAME...]

First, for kernels of `engine_speed.py`: seconds of CPU time of a run without and with recording, in turns, and the
ratio of the medians. Then, in a loop of 300 M wave-instructions: the time to step back one instruction from random
positions, the
median and the longest.

With ``--seconds``: the size of the recording, in addition to one copy of the written memory, after this much processor
time in kernels that write a lot: a product of matrices, repeated sums by workgroups, a stencil that writes two whole
buffers in turns. The maximum size at any time is printed too, and the growth of the process.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import engine_speed
import numpy as np

import rocdbg
from rocdbg.launch.argument_binding import BoundLaunch
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.device.checkpoint_recorder import Recorder

TARGET = "gfx1100"
LOOP = 11
"""The number of instructions of one iteration of the loop."""

MUCH = """
#define KERNEL extern "C" __attribute__((global)) void
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define THREAD __builtin_amdgcn_workitem_id_x()

KERNEL sums(float *sums, const float *in, int n, int times)
{
    __attribute__((shared)) static float part[256];
    int groups = n / 256;
    for (int time = 0; time < times; ++time)
        for (int group = GROUP; group < groups; group += 256) {
            part[THREAD] = in[group * 256 + THREAD] + time;
            __builtin_amdgcn_s_barrier();
            for (int half = 128; half; half /= 2) {
                if (THREAD < half)
                    part[THREAD] += part[THREAD + half];
                __builtin_amdgcn_s_barrier();
            }
            if (!THREAD)
                sums[group] = part[0];
        }
}

KERNEL stencil(float *a, float *b, int n, int times)
{
    for (int time = 0; time < times; ++time) {
        for (int i = GROUP * 256 + THREAD; i < n; i += 4096)
            b[i] = 0.3f * a[i ? i - 1 : 0] + 0.4f * a[i] + 0.3f * a[i + 1 < n ? i + 1 : i] + time;
        float *other = a;
        a = b, b = other;
    }
}
"""


def record(bound: BoundLaunch) -> Recorder:
    """A recorder of a launch."""
    return Recorder(
        bound.machine, bound.dispatch, {b.allocation.address: b.buffer.storage for b in bound.buffers}
    )


def launches(program: rocdbg.Program) -> dict[str, Callable[[], BoundLaunch]]:
    """A function for each name that makes a launch."""
    rng = np.random.default_rng(0)
    count, n = 1 << 20, 512
    x, y = (rng.random(count, np.float32) for _ in range(2))
    a, b, c = (rng.random(n * n, np.float32) for _ in range(3))

    def make(name: str, grid: object, workgroup: object, *args: object) -> Callable[[], BoundLaunch]:
        return lambda: program.kernels[name].launch(grid=grid, workgroup=workgroup, args=list(args)).launch

    return {
        "saxpy": make("saxpy", count, 256, y, x, np.float32(2), np.int32(count)),
        "matmul16": make("matmul16", (n, n), (16, 16), c, a, b, np.int32(n)),
        "reduce": make("reduce", count, 256, np.zeros(count // 256, np.float32), x, np.int32(count)),
        "loop": make("loop", 32, 32, np.zeros(32, np.uint32), np.uint32(300_000_000 // LOOP)),
    }


def overhead(rows: dict[str, Callable[[], BoundLaunch]], runs: int) -> None:
    for name, make in rows.items():
        plain, recorded, kept, size = [], [], 0, 0
        for run in range(runs + 1):
            bound = make()
            began = time.process_time()
            bound.dispatch.run()
            without = time.process_time() - began
            bound.release()
            bound = make()
            began = time.process_time()
            recorder = record(bound)
            recorder.run(RunOptions())
            with_it = time.process_time() - began
            kept, size = len(recorder.checkpoints), recorder.size
            instructions = recorder.position
            recorder.close()
            bound.release()
            if run:  # the first one translates
                plain.append(without)
                recorded.append(with_it)
        ratio = statistics.median(recorded) / statistics.median(plain)
        print(
            f"{name:10} {instructions:12,} instructions  {statistics.median(plain):7.3f} s plain "
            f"{statistics.median(recorded):7.3f} s recorded  ratio {ratio:5.2f}  "
            f"{kept} checkpoints, {size / 1e6:.1f} MB"
        )


def steps_back(make: Callable[[], BoundLaunch], samples: int) -> None:
    bound = make()
    recorder = record(bound)
    recorder.run(RunOptions())
    rng = random.Random(1)
    times = []
    for _ in range(samples):
        position = rng.randrange(recorder.end)
        recorder.go(position)
        for _ in range(2):
            (wave,) = bound.dispatch.waves
            began = time.process_time()
            recorder.go_before(wave.number, wave.instructions - 1, recorder.position)
            times.append(time.process_time() - began)
    first, again = times[::2], times[1::2]
    for what, values in (("step back", first), ("the next step back", again)):
        print(f"{what}: median {statistics.median(values) * 1e3:.1f} ms, longest {max(values) * 1e3:.1f} ms")
    print(f"memory {recorder.size / 1e6:.1f} MB, {len(recorder.checkpoints)} checkpoints")


def written_much(folder: Path) -> dict[str, Callable[[], BoundLaunch]]:
    """Launches that write a lot for longer than a minute."""
    source, output = folder / "much.hip", folder / "much.co"
    source.write_text(MUCH)
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", f"--offload-arch={TARGET}", "-O2",
         "--no-gpu-bundle-output", source.name, "-o", str(output)], cwd=folder, check=True,
    )
    engine, much = rocdbg.load(engine_speed.build(folder, TARGET)), rocdbg.load(output)
    rng = np.random.default_rng(0)
    n, count = 2048, 1 << 22
    a, b, c = (rng.random(n * n, np.float32) for _ in range(3))
    x, y = (rng.random(count, np.float32) for _ in range(2))
    sums = np.zeros(count // 256, np.float32)

    def make(program: rocdbg.Program, name: str, grid: object, group: object, *args: object) -> BoundLaunch:
        return program.kernels[name].launch(grid=grid, workgroup=group, args=list(args)).launch

    return {
        "matmul16": lambda: make(engine, "matmul16", (n, n), (16, 16), c, a, b, np.int32(n)),
        "reduce": lambda: make(much, "sums", 1 << 16, 256, sums, x, np.int32(count), np.int32(1 << 20)),
        "stencil": lambda: make(much, "stencil", 1 << 12, 256, x, y, np.int32(count), np.int32(1 << 20)),
    }


def memory(name: str, bound: BoundLaunch, seconds: float) -> None:
    """Run for this long, and report the size of the recording."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    recorder = record(bound)
    most, stop = 0, None
    while time.process_time() - began < seconds and (stop is None or stop.kind is StopKind.BUDGET):
        stop = recorder.run(RunOptions(budget=1_000_000))
        most = max(most, recorder.kept)
    took = time.process_time() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(
        f"{name:10} {recorder.position:14,} instructions in {took:5.1f} s: {len(recorder.checkpoints)} checkpoints, "
        f"{recorder.kept / 1e6:.0f} MB (at most {most / 1e6:.0f} MB) beside one copy of "
        f"{(recorder.size - recorder.kept) / 1e6:.0f} MB; the process has grown by {grown / 1e3:.0f} MB", flush=True,
    )
    recorder.close()
    bound.release()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.seconds is not None:
            for name, make in written_much(Path(folder)).items():
                if name in options.names or not options.names:
                    memory(name, make(), options.seconds)
            return
        program = rocdbg.load(engine_speed.build(Path(folder), TARGET))
        rows = launches(program)
        overhead(rows, options.runs)
        steps_back(rows["loop"], 12)


if __name__ == "__main__":
    main()
