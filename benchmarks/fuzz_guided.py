#!/usr/bin/env python3
"""Fuzz the DWARF library guided by coverage: atheris (libFuzzer) searches for inputs that reach new code.

    benchmarks/fuzz_guided.py [--seconds 60] [--corpus FOLDER] TARGET        targets: those of fuzz_dwarf.py

fuzz_dwarf.py describes the requirements, and how to replay an input that breaks one. Needs the package atheris, which
is not a dependency of the project. The corpus starts with the inputs of fuzz_dwarf.py, and is kept if a folder is
given.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found]

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

with atheris.instrument_imports(include=["rocdbg"]):
    from fuzz_dwarf import TARGETS, problem

    from rocdbg import dwarf

    for name in dwarf.__all__:  # modules are read when first needed, which must be here
        getattr(dwarf, name)

SEEDS = 3000


class Wrong(Exception):
    """An input ends in a way that is not allowed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("target", choices=TARGETS)
    options = parser.parse_args()
    make, check = TARGETS[options.target]

    def one(data: bytes) -> None:
        wrong = problem(check, data)
        # Time is measured again: something else may have held the processor.
        if wrong is not None and problem(check, data) is not None:
            again = f"benchmarks/fuzz_dwarf.py --replay {options.target} {data.hex() or '00'}"
            raise Wrong(f"{wrong}\n  replay: {again}")

    with tempfile.TemporaryDirectory() as temporary:
        corpus = options.corpus or Path(temporary)
        corpus.mkdir(parents=True, exist_ok=True)
        rng = random.Random(options.seed)
        for number in range(SEEDS):
            (corpus / f"seed{number}").write_bytes(make(rng))
        arguments = [
            f"-max_total_time={options.seconds}", f"-seed={options.seed}", "-max_len=4096", "-print_final_stats=1",
            "-rss_limit_mb=1024", f"-artifact_prefix={temporary}/", str(corpus),
        ]
        atheris.Setup([sys.argv[0], *arguments], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
