"""The guided tour, word for word, and the scenes of the README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rocdbg

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = Path(__file__).parent / "tour.txt"


def test_the_tour() -> None:
    """What `./demo` shows without a terminal. ``ROCDBG_UPDATE_GOLDEN=1`` writes the expected text anew."""
    done = subprocess.run(
        [sys.executable, "-m", "rocdbg", "-q", "-nx", "-batch", "-x", "demo_kernels/tour.rocdbg",
         "demo_kernels/divergence/divergence.toml"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        EXPECTED.write_text(done.stdout)
    assert done.stdout == EXPECTED.read_text()


SCENES = ("divergence/divergence.toml", "extensions/nested/nested.toml", "divergence/divergence.toml")
BEFORE = ("", "break nested.hip:10\nrun", "tbreak divergence.hip:12\nrun")
"""What each scene of the README leaves out."""


def scenes() -> list[list[str]]:
    """The lines of the README's scenes that stand in a session."""
    text = (ROOT / "README.md").read_text().partition("## Three scenes")[2].partition("[docs/manual.md]")[0]
    return [re.findall(r"(?m)^    (.+)$", scene) for scene in text.split("\n**")[1:]]


@pytest.mark.parametrize("number", range(len(SCENES)))
def test_the_scenes_of_the_readme(number: int) -> None:
    """What is shown is what comes, but for what ends in an ellipsis or is left out."""
    debugger = rocdbg.Debugger(ROOT / "demo_kernels" / SCENES[number])
    debugger.execute(BEFORE[number], to_string=True)
    shown = ""
    for line in scenes()[number]:
        if line.startswith("(rocdbg) "):
            shown = debugger.execute(line.removeprefix("(rocdbg) "), to_string=True)
        else:
            pieces = [" ".join(piece.split()) for piece in line.split("...")]
            lines = [" ".join(part.split()) for part in shown.splitlines()]
            assert any(part.startswith(pieces[0]) and part.endswith(pieces[-1]) for part in lines), (line, shown)
