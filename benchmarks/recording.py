"""What recording costs, and how fast the way back is.

    python benchmarks/recording.py [--runs N]

First, for kernels of `engine_speed.py`: seconds of CPU time of a run without and with recording, in turns, and the
ratio of the medians. Then, in a loop of 300 M wave-instructions: the time to step back one instruction from random
positions, the
median and the longest.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import engine_speed
import numpy as np

import rocdbg
from rocdbg.launch.binding import BoundLaunch
from rocdbg.sim.device.recorder import Recorder
from rocdbg.sim.options import RunOptions

TARGET = "gfx1100"
LOOP = 11
"""Instructions of one pass of the loop."""


def record(bound: BoundLaunch) -> Recorder:
    """A recorder of a launch."""
    return Recorder(
        bound.machine, bound.dispatch, {b.allocation.address: b.buffer.storage for b in bound.buffers}
    )


def launches(program: rocdbg.Program) -> dict[str, Callable[[], BoundLaunch]]:
    """By name, a function that makes a launch."""
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = rocdbg.load(engine_speed.build(Path(folder), TARGET))
        rows = launches(program)
        overhead(rows, options.runs)
        steps_back(rows["loop"], 12)


if __name__ == "__main__":
    main()
