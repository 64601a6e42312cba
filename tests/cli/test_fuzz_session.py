"""A short run of `make fuzz-session`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FUZZER = Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz_session.py"


def test_some_sessions() -> None:
    """Three of each state."""
    done = subprocess.run(
        [sys.executable, str(FUZZER), "--seconds", "60", "--count", "45", "--stride", "3"],
        capture_output=True, text=True, timeout=150, check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " 0 bad" in done.stdout
