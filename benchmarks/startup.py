#!/usr/bin/env python3
"""Time from the shell's prompt to rocdbg's: a demo kernel cold and warm, a big object, and objects of many kernels.

    benchmarks/startup.py [--runs 5] [--big FILE] [--kernels 10 100 1000 11000]

Cold means an empty translation cache (Python's own byte code is compiled already, as after an installation). ``--big``
names an object made by big_object.py; without it, one is made first (a minute). ``--kernels`` gives the sizes of
similar objects, which show how a command's time grows (11,000 kernels take clang some minutes; 70 MB). Prints medians;
ratios are relative to the processor time of `python -c pass` on the same machine.
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
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def seconds(arguments: list[str], cache: str) -> tuple[float, float]:
    """Wall time and processor time of one run of a command; other load changes the latter less."""
    environment = {**os.environ, "ROCDBG_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)
    elapsed = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def session(file: Path | str, *commands: str) -> list[str]:
    """The arguments for a batch session."""
    return ["-m", "rocdbg", "-nx", "-batch", *(word for text in commands for word in ("-ex", text)), str(file)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--big", type=Path)
    parser.add_argument("--kernels", type=int, nargs="*", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        big = options.big
        if big is None:
            big = Path(folder) / "big.co"
            subprocess.run([sys.executable, str(ROOT / "benchmarks" / "big_object.py"), str(big)], check=True)
        demo = ROOT / "demo_kernels" / "saxpy" / "saxpy.toml"
        stop = session(demo, "break saxpy", "run", "bt")
        warm_cache = str(Path(folder) / "warm")
        cases: dict[str, Callable[[int], tuple[list[str], str]]] = {
            "python -c pass": lambda n: (["-c", "pass"], warm_cache),
            "break, run, bt: cold": lambda n: (stop, str(Path(folder) / f"cold{n}")),
            "break, run, bt: warm": lambda n: (stop, warm_cache),
            "big object: prompt": lambda n: (session(big, "echo"), warm_cache),
            "big object: break on the last kernel": lambda n: (session(big, "break kern2999"), warm_cache),
            "big object: info functions kern29": lambda n: (session(big, "info functions kern29"), warm_cache),
        }
        for count in options.kernels:
            many = Path(folder) / f"{count}.co"
            make = [sys.executable, str(ROOT / "benchmarks" / "big_object.py"), str(many), "--kernels", str(count)]
            subprocess.run(make, check=True)
            last = f"kern{count - 1}"
            for command in ("echo", "info line 1", f"kernel {last}", f"break {last}", f"info functions {last}"):
                arguments = session(many, command)
                cases[f"{count} kernels: {command}"] = lambda n, arguments=arguments: (arguments, warm_cache)
            typed = session(many, f"complete break {last[:-1]}")
            cases[f"{count} kernels: completion"] = lambda n, arguments=typed: (arguments, warm_cache)
        seconds(stop, warm_cache)  # compiles byte code and fills the warm cache
        medians: dict[str, tuple[float, ...]] = {}
        for name, case in cases.items():
            taken = [seconds(*case(n)) for n in range(options.runs)]
            medians[name] = tuple(statistics.median(column) for column in zip(*taken, strict=True))
        unit = medians["python -c pass"][1]
        for name, (wall, used) in medians.items():
            print(f"{name:<40} {wall:6.2f} s  {used:6.2f} s of the processor  {used / unit:6.1f}x")


if __name__ == "__main__":
    main()
