"""Host instructions that generated code executes per wave-instruction: the cost of the engine without a clock's noise.

    python benchmarks/engine_instructions.py [--target gfx90a] TREE TREE ...

Each TREE is a checkout of the project. Its engine runs the kernels of `engine_speed` under valgrind, each with a small
and a large grid; what the large one executes beyond the small one is the cost of the waves. Only code that lies in
no file is counted, which is the translated kernels and the engine's own routines: Python's part depends on how often a
slow machine returns to it. Prints a line per kernel and, from the second tree on, the ratio to the first. Caches and
branch prediction are not seen: `engine_speed` is the judge of time. Needs valgrind and clang-22; minutes per tree.
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

SIZES = {"loop": (20, 220), "saxpy": (100, 300), "matmul16": (4, 8), "matmul32": (2, 4), "reduce": (100, 300)}
"""Kernel to what its grid grows with: thousands of rounds, workgroups, or tiles in each dimension."""

RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, rocdbg
path, kernel, k = sys.argv[2], sys.argv[3], int(sys.argv[4])
floats = np.random.default_rng(0).random
if kernel == "loop":
    grid, group, args = 32, 32, [np.zeros(32, "u4"), np.uint32(k * 1000)]
elif kernel == "saxpy":
    grid, group = 256 * k, 256
    args = [floats(grid, np.float32), floats(grid, np.float32), np.float32(2), np.int32(grid)]
elif kernel == "reduce":
    grid, group, args = 256 * k, 256, [np.zeros(k, "f4"), floats(256 * k, np.float32), np.int32(256 * k)]
else:
    tile = int(kernel[6:])
    n = tile * k
    grid, group = (n, n), (tile, tile)
    args = [np.zeros(n * n, "f4"), floats(n * n, np.float32), floats(n * n, np.float32), np.int32(n)]
dispatch = rocdbg.load(path).kernels[kernel].launch(grid=grid, workgroup=group, args=args)
dispatch.run()
sys.stdout.write(str(dispatch.instructions))
"""


def generated(profile: Path) -> int:
    """Instructions of code in no file, of a callgrind profile."""
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
    cache = folder / f"cache{abs(hash(tree))}"
    command = [sys.executable, "-P", "-c", RUN, str(tree), str(code), kernel, str(size)]
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
