#!/usr/bin/env python3
"""Hostile input, by number, for readers other than those of code objects: split debug information, placements, memory
files, and the requests of programs.

    benchmarks/fuzz_readers.py [--seconds 60 | --count N] [--first N] [--kind NAME]
    benchmarks/fuzz_readers.py --replay NUMBER [--keep FOLDER]

Each input must give a result or a `rocdbg.Error`, within the limits of `fuzz_files.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import fuzz_files  # noqa: E402
from file_attacks import readers  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(fuzz_files.main(readers, "fuzz_readers", __doc__))
