"""Insert the faults of `mutants.toml`, one at a time, and check whether the tests that they name catch them.

    python -m tests.mutants.run [--usual] [--find] [-j N] [WORD...]

A WORD selects the mutants with that word in their name or file. ``--find`` runs whole files or folders that are named
in place of a test, and writes the first failing test into the table. Nothing else on disk is changed: each mutant is a
process in which the import of one module finds other text. The exit status is 1 if a mutant is not caught.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import resource
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy  # noqa: F401  what all mutants need is imported once, rocdbg is not
import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("mutants.toml")
PROCESSOR_SECONDS = 180
SHAPING = ("rocdbg/sim/", "rocdbg/isa/", "rocdbg/arch/")
"""Files whose text is part of the key of translations, which the translation cache cannot see here."""


class Mutant(msgspec.Struct):
    """A fault: ``old`` of ``file`` becomes ``new``, and ``test`` fails. ``usual``: ./test tries it too."""

    name: str
    file: str
    old: str
    new: str
    test: str
    usual: bool = False

    @property
    def module(self) -> str:
        return self.file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")

    def text(self) -> str:
        """The module with the fault. Raises ValueError unless it has exactly one place for it."""
        text = (ROOT / self.file).read_text(encoding="utf-8")
        if (count := text.count(self.old)) != 1:
            raise ValueError(f"mutant {self.name!r}: {self.file} has the old text {count} times")
        return text.replace(self.old, self.new)


def read() -> list[Mutant]:
    """All mutants."""
    return msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8"))["mutant"], list[Mutant])


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module, and loads it with a text other than that of its file."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant, self._text = mutant, mutant.text()

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != self._mutant.module:
            return None
        file = str(ROOT / self._mutant.file)
        spec = importlib.machinery.ModuleSpec(name, self, origin=file, is_package=file.endswith("__init__.py"))
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._text, str(ROOT / self._mutant.file), "exec"), module.__dict__)


class FirstFailure:
    """Records the first test that fails."""

    def __init__(self) -> None:
        self.name = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid


class Outcome(msgspec.Struct):
    """The outcome of a mutant: the test that failed, or the reason why none did."""

    caught_by: str = ""
    why: str = ""
    seconds: float = 0.0


def _child(mutant: Mutant, said: Path) -> Outcome:
    """Run a mutant's test in this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    with open(said, "w") as file:  # noqa: PTH123
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    if mutant.file.startswith(SHAPING):
        os.environ["ROCDBG_CACHE_SIZE"] = "0"
    for name in [name for name in os.environ if name.startswith(("PYTEST_XDIST", "PYTEST_CURRENT"))]:
        del os.environ[name]
    finder, first = Finder(mutant), FirstFailure()
    os.chdir(ROOT)
    sys.meta_path.insert(0, finder)
    importlib.import_module(mutant.module)  # before pytest, which has an importer of its own
    status = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *mutant.test.split(" && ")], [first])
    used = os.times().user + os.times().system
    if status == pytest.ExitCode.TESTS_FAILED and first.name:
        return Outcome(first.name, "", used)
    return Outcome("", f"pytest: {pytest.ExitCode(status).name}", used)


def outcomes(mutants: Sequence[Mutant], at_once: int) -> Iterator[tuple[Mutant, Outcome]]:
    """Try mutants, some at once, each in a child of this process."""
    waiting, running = list(reversed(mutants)), dict[int, tuple[Mutant, Path]]()
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < at_once:
                mutant = waiting.pop()
                at = Path(folder) / str(len(waiting))
                sys.stdout.flush()
                process = os.fork()
                if process == 0:
                    try:
                        outcome = _child(mutant, at.with_suffix(".said"))
                        at.write_bytes(msgspec.json.encode(outcome))
                    finally:
                        os._exit(0)
                running[process] = mutant, at
            process, _ = os.wait()
            if process in running:
                mutant, at = running.pop(process)
                found = msgspec.json.decode(at.read_bytes(), type=Outcome) if at.exists() else Outcome(why="it died")
                if not found.caught_by and at.with_suffix(".said").exists():
                    found.why += "\n" + at.with_suffix(".said").read_text(errors="replace")[-2000:]
                yield mutant, found


def main(words: Sequence[str] | None = None) -> int:
    """Print the outcome of each mutant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--usual", action="store_true", help="those that ./test tries")
    parser.add_argument("--find", action="store_true", help="write the first test that fails into the table")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="N", help="processes at once")
    parser.add_argument("-v", action="store_true", help="show what pytest says of mutants that are not caught")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args(words)
    every = read()
    chosen = [
        one for one in every
        if (one.usual or not given.usual) and all(word in f"{one.name} {one.file}" for word in given.words)
    ]
    for one in chosen:
        one.text()
    missed, start = 0, time.monotonic()
    for mutant, outcome in outcomes(chosen, given.j):
        missed += not outcome.caught_by
        what = outcome.caught_by or "NOT CAUGHT: " + (outcome.why if given.v else outcome.why.partition("\n")[0])
        sys.stdout.write(f"{mutant.name} ({mutant.file}): {what} ({outcome.seconds:.1f} s)\n")
        if given.find and outcome.caught_by:
            _name_test(mutant, outcome.caught_by)
    sys.stdout.write(f"{len(chosen) - missed} of {len(chosen)} caught, {time.monotonic() - start:.0f} s\n")
    return missed > 0


def _name_test(mutant: Mutant, test: str) -> None:
    """Write a test into the table."""
    head, name, rest = FILE.read_text(encoding="utf-8").partition(f"name = {json.dumps(mutant.name)}\n")
    rest = rest.replace(f"test = {json.dumps(mutant.test)}", f"test = {json.dumps(test)}", 1)
    FILE.write_text(head + name + rest, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
