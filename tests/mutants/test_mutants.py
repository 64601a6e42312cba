"""Faults that tests have to catch: those that are tried in every run, and a check of the whole table."""

from __future__ import annotations

import subprocess
import sys

from tests.mutants.run import ROOT, read


def test_every_mutant_has_its_place() -> None:
    mutants = read()
    assert len(mutants) >= 60
    assert len({one.name for one in mutants}) == len(mutants)
    for one in mutants:
        assert one.text() != (ROOT / one.file).read_text(encoding="utf-8")
        for test in one.test.split(" && "):
            assert (ROOT / test.partition("::")[0]).exists(), one.name
        assert "::" in one.test or not one.usual, f"{one.name}: run `python -m tests.mutants.run --find`"


def test_usual_mutants_are_caught() -> None:
    """The tests named in the table catch them, in one process that forks for each."""
    assert sum(one.usual for one in read()) >= 12
    command = [sys.executable, "-m", "tests.mutants.run", "--usual", "-j", "1", "-v"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
