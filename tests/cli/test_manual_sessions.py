"""The sessions of docs/manual.md are real: the program prints what the manual shows."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MANUAL = ROOT / "docs" / "manual.md"
SCENE = re.compile(r"^    \$ \./demo(?: (\S+))?\n((?:    .*\n)+)", re.MULTILINE)
"""A scene of the README: the lines typed after ``./demo NAME``, and some lines of the answers."""
SESSION = re.compile(r"^    \$ rocdbg demo_kernels/(\S+)\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)


def indented(text: str) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())


def test_sessions(run_golden: Callable[[str], str]) -> None:
    text = MANUAL.read_text(encoding="utf-8")
    found = list(SESSION.finditer(text))
    assert len(found) >= 5
    now = text
    for session in found:
        file, body = session[1], re.sub(r"^    ", "", session[2], flags=re.MULTILINE)
        shown = run_golden(f"%file {file}\n{body}").removeprefix(f"%file {file}\n")
        now = now.replace(session[0], f"    $ rocdbg demo_kernels/{file}\n{indented(shown)}")
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        MANUAL.write_text(now, encoding="utf-8")
    assert now == text


def test_scenes_of_the_readme(run_golden: Callable[[str], str]) -> None:
    """Typed as printed, each scene gives its lines in that order; ``...`` represents the rest of a line."""
    scenes = list(SCENE.finditer((ROOT / "README.md").read_text(encoding="utf-8")))
    assert [scene[1] for scene in scenes] == [None, "extensions/nested", None]
    for scene in scenes:
        name = scene[1] or "divergence"
        shown = [line[4:] for line in scene[2].splitlines()]
        typed = [line for line in shown if line.startswith("(rocdbg) ")]
        file = f"{name}/{name.rpartition('/')[2]}.toml"
        there = iter(run_golden("\n".join([f"%file {file}", *typed, ""])).splitlines())
        for line in shown:
            begins = line.removesuffix("...").rstrip()
            assert any(got == line or (line.endswith("...") and got.startswith(begins)) for got in there), line
