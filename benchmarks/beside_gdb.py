"""`break f`, `run`, `bt` in a batch: rocdbg on a demo kernel compared with GDB on a native program.

    python benchmarks/beside_gdb.py [--rounds 9]

Each round runs both. Prints processor time and wall time (minimum and median), and the ratio of the minima. Needs gdb,
a C compiler, and byte code (`python -m compileall -q rocdbg`).
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NATIVE = """
#include <stdio.h>
__attribute__((noinline)) void saxpy(float a, const float *x, float *y, int i) { y[i] = a * x[i] + y[i]; }
int main(void)
{
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {0};
    for (int i = 0; i < 8; ++i)
        saxpy(2, x, y, i);
    printf("%f\\n", y[7]);
}
"""
COMMANDS = ["-q", "-nx", "-batch", "-ex", "break saxpy", "-ex", "run", "-ex", "bt"]


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds of processor and of the clock that a command takes; it has to stop in saxpy."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    elapsed, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if "#0  saxpy (" not in done.stdout:
        raise SystemExit(f"{command[0]} did not stop in saxpy:\n{done.stdout}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    gdb, compiler = shutil.which("gdb"), shutil.which("cc")
    if gdb is None or compiler is None:
        raise SystemExit("gdb and cc are needed")
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "saxpy.c", Path(folder) / "saxpy"
        source.write_text(NATIVE)
        subprocess.run([compiler, "-g", "-O0", str(source), "-o", str(program)], check=True)
        sessions = {
            "gdb": [gdb, *COMMANDS, str(program)],
            "rocdbg": [sys.executable, "-m", "rocdbg", *COMMANDS, str(ROOT / "demo_kernels/saxpy/saxpy.toml")],
        }
        for command in sessions.values():
            timed(command)  # warm
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in sessions}
        for _ in range(rounds):
            for name, command in sessions.items():
                found[name].append(timed(command))
    for name, rows in found.items():
        processor, clock = ([row[index] for row in rows] for index in (0, 1))
        print(
            f"{name:7} processor {min(processor):.3f} s (median {statistics.median(processor):.3f}),"
            f" clock {min(clock):.3f} s (median {statistics.median(clock):.3f})"
        )
    ratios = [min(row[index] for row in found["rocdbg"]) / min(row[index] for row in found["gdb"]) for index in (0, 1)]
    print(f"rocdbg takes {ratios[0]:.2f} times the processor time, {ratios[1]:.2f} times the time")


if __name__ == "__main__":
    main()
