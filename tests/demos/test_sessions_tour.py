"""The guided tour, compared word for word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = Path(__file__).parent / "tour.txt"


def test_the_tour() -> None:
    """The output of `./demo` without a terminal. ``ROCDBG_UPDATE_GOLDEN=1`` writes the expected text again."""
    done = subprocess.run(
        [sys.executable, "-m", "rocdbg", "-q", "-nx", "-batch", "-x", "demo_kernels/tour.rocdbg",
         "demo_kernels/divergence/divergence.toml"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        EXPECTED.write_text(done.stdout)
    assert done.stdout == EXPECTED.read_text()
