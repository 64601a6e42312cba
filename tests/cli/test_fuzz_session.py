"""A short run of `make fuzz-session`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.breadth import EVERYTHING

FUZZER = Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz_session.py"


@pytest.mark.truth
def test_some_sessions() -> None:
    """One session from each state; in `make truth`, three."""
    each = 3 if EVERYTHING else 1
    done = subprocess.run(
        [sys.executable, str(FUZZER), "--seconds", "60", "--count", str(15 * each), "--stride", str(each)],
        capture_output=True, text=True, timeout=150, check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " 0 bad" in done.stdout
