#!/usr/bin/env python3
"""Hostile recordings, by number: sound ones with changes in the decoded form or in the bytes, restored and replayed.

    benchmarks/fuzz_recordings.py [--seconds 60 | --count N] [--first N] [--kind NAME]
    benchmarks/fuzz_recordings.py --replay NUMBER [--keep FOLDER]

Each must be refused or repeated within the limits of `fuzz_files.py`, and the process must survive.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import fuzz_files  # noqa: E402
from file_attacks import recordings  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(fuzz_files.main(recordings, "fuzz_recordings", __doc__))
