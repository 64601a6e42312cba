"""Host instructions that generated code executes per wave-instruction: the cost of the engine without a clock's noise.

    python benchmarks/engine_instructions.py [--target gfx90a] TREE TREE ...

Each TREE is a checkout of the project. Its engine runs the kernels of `engine_speed` under valgrind, each with a small
and a large grid after a run that translates and optimises all code; the difference between the two is the cost of the
waves. Only code that is in no file is counted, which means translated kernels and the engine's own routines: Python's
part depends on how often a slow machine returns to it. Prints a line per kernel and, from the second tree on, the ratio
to the first. Caches and branch prediction have no effect: `engine_speed` measures time. Needs valgrind and clang-22;
minutes per tree.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from engine_speed import TARGETS, build

HERE = Path(__file__).resolve().parent
SIZES = {
    "loop": (20_000, 220_000), "saxpy": (25_600, 76_800), "matmul16": (64, 128), "matmul32": (64, 128),
    "reduce": (25_600, 76_800),
}
"""Two sizes for each kernel, as in `engine_speed.launch`."""

RUN = """
import sys
sys.path[:0] = sys.argv[1:3]
import rocdbg
from engine_speed import launch
program = rocdbg.load(sys.argv[3])
for size in sys.argv[5:]:
    dispatch = launch(program, sys.argv[4], int(size))
    dispatch.run()
sys.stdout.write(str(dispatch.instructions))
"""


def generated(profile: Path) -> int:
    """The instructions in a callgrind profile that belong to no file."""
    names: dict[str, str] = {}
    inside = follows_call = False
    total = 0
    for line in profile.read_text().splitlines():
        if found := re.match(r"c?ob=(\(\d+\))(?: (.*))?", line):
            if found[2]:
                names[found[1]] = found[2]
            if line.startswith("ob="):
                inside = names[found[1]] == "???"
        elif line.startswith("calls="):
            follows_call = True
        elif re.match(r"[+\-*\d]\S* \d+$", line):
            if inside and not follows_call:
                total += int(line.split()[1])
            follows_call = False
    return total


def executed(tree: Path, code: Path, kernel: str, size: int, folder: Path) -> tuple[int, int]:
    """Wave-instructions of a run and host instructions of generated code."""
    profile = folder / "profile"
    cache = folder / f"cache{tree.name}"
    warm = str(SIZES[kernel][-1])  # then the optimised translations are in use
    command = [sys.executable, "-P", "-c", RUN, str(tree), str(HERE), str(code), kernel, warm, str(size)]
    under = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
    environment = {**os.environ, "ROCDBG_CACHE_DIR": str(cache)}
    done = subprocess.run([*under, *command], env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout), generated(profile)


def main() -> None:
    parser = argparse.ArgumentParser(description="host instructions per wave-instruction")
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    parser.add_argument("--target", choices=TARGETS, default=TARGETS[0])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code = build(folder, options.target)
        for kernel, (small, large) in SIZES.items():
            if kernel == "loop" and options.target != TARGETS[0]:
                continue
            first = None
            for tree in options.trees:
                began, ended = (executed(tree.resolve(), code, kernel, size, folder) for size in (small, large))
                cost = (ended[1] - began[1]) / (ended[0] - began[0])
                first = first or cost
                sys.stdout.write(f"{options.target:8} {kernel:9} {cost:8.2f} for each, {cost / first:.4f}  {tree}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
