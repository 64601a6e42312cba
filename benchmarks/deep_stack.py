"""How the time of a backtrace grows with the depth of the stack.

    python benchmarks/deep_stack.py [--level -O0]

One line per depth: frames, milliseconds of processor time to find them all, and per frame. The kernel recurses; it is
in tests/debugger/sources/deep.hip, compiled by clang-22.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rocdbg

SOURCE = Path(__file__).resolve().parent.parent / "tests" / "debugger" / "sources" / "deep.hip"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--level", default="-O1")
    parser.add_argument("--target", default="gfx90a")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deep.co"
        command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-g", options.level]
        command += [f"--offload-arch={options.target}", "--no-gpu-bundle-output", str(SOURCE), "-o", str(path)]
        subprocess.run(command, check=True)
        for depth in (10, 100, 200, 400):
            debugger = rocdbg.Debugger(str(path))
            for line in ("set grid 64", "set workgroup 64", "set arg 0 i32[16]", f"set arg 1 {depth}", "run"):
                debugger.execute(line, to_string=True)
            began = time.process_time()
            count = len(list(debugger.session.focus.frames()))
            seconds = time.process_time() - began
            each = seconds / count * 1e6
            sys.stdout.write(f"depth {depth:4}: {count:4} frames, {seconds * 1e3:7.1f} ms, {each:6.0f} us each\n")


if __name__ == "__main__":
    main()
