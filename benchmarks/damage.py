#!/usr/bin/env python3
"""Soak: damaged copies of every demo object, each in a separate process with limited time and memory.

    benchmarks/damage.py [--copies 200] [--seed 0] [NAME ...]

Fails if a copy ends in a traceback, takes more than 5 s, or more than 1 GiB of memory.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 5
MEMORY = 1 << 30  # bytes

sys.path.insert(0, str(ROOT))


def load_cases() -> object:
    """The module with functions that damage a file and use it: the test of the same name."""
    spec = importlib.util.spec_from_file_location("cases", ROOT / "tests" / "demos" / "test_damaged.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_one(cases: object, path: Path, target: str | None) -> tuple[str, float, int]:
    """Run a session on one file in a child: (verdict, seconds, peak bytes)."""
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        status = 0
        signal.alarm(SECONDS * 4)
        try:
            cases.survive(path, target)  # type: ignore[attr-defined]
        except BaseException:
            traceback.print_exc()
            status = 1
        os._exit(status)
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - started
    verdict = "" if status == 0 else f"status {status:#x}"
    if seconds > SECONDS:
        verdict += f" took {seconds:.1f} s"
    if usage.ru_maxrss * 1024 > MEMORY:
        verdict += f" used {usage.ru_maxrss >> 10} MiB"
    return verdict.strip(), seconds, usage.ru_maxrss * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of file names (default: all objects)")
    parser.add_argument("--copies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    cases = load_cases()
    bad = count = 0
    slowest, largest = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        for source in cases.OBJECTS:  # type: ignore[attr-defined]
            if options.names and not any(name in source.name for name in options.names):
                continue
            data = source.read_bytes()
            for number in range(options.copies):
                seed = cases.hash_of(source.name) + options.seed + number  # type: ignore[attr-defined]
                path = Path(folder) / f"damaged{source.suffix}"
                path.write_bytes(cases.damaged(data, seed))  # type: ignore[attr-defined]
                verdict, seconds, memory = run_one(cases, path, "gfx90a" if source.suffix == ".hipfb" else None)
                slowest, largest, count = max(slowest, seconds), max(largest, memory), count + 1
                if verdict:
                    bad += 1
                    print(f"{source.name} seed {seed}: {verdict}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{count} copies, {bad} bad; slowest {slowest:.2f} s, largest {largest >> 20} MiB (parent {peak} MiB)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
