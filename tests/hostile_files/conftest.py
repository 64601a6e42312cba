"""Runs hostile files in a child process with limited time and memory, as benchmarks/fuzz_files.py does."""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
if str(ROOT / "benchmarks") not in sys.path:
    sys.path.insert(0, str(ROOT / "benchmarks"))

import fuzz_files  # noqa: E402
from file_attacks import kinds  # noqa: E402


@dataclass(frozen=True)
class Outcome:
    """The end of a child ("" for success), the errors that occurred, and its output."""

    ending: str
    errors: tuple[str, ...]
    text: str


Run = Callable[[kinds.Attack], Outcome]


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import everything that a session imports before children are created."""
    kinds.warm_up(tmp_path_factory.mktemp("warm"))


@pytest.fixture
def run(tmp_path: Path, warm: None) -> Run:
    """``run(attack)``: the outcome of a session with the attack."""
    kinds.fifo(tmp_path)

    def outcome(attack: kinds.Attack) -> Outcome:
        report = tmp_path / "report.json"
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.chdir(tmp_path)
                gc.freeze()  # garbage of other tests may hold memory that no child has: the windows that programs share
                fuzz_files.limit()
                before = fuzz_files.resident()  # what other tests have left in the process
                for number in (signal.SIGPROF, signal.SIGALRM):
                    signal.signal(number, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_PROF, fuzz_files.SECONDS)
                signal.setitimer(signal.ITIMER_REAL, fuzz_files.PATIENCE)
                log = kinds.Log()
                try:
                    kinds.survive(attack, tmp_path, log)
                    ending = ""
                except BaseException:
                    ending = traceback.format_exc()
                if (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - before > fuzz_files.MEMORY:
                    ending += "too much memory"
                warnings = [line for line in log.text.splitlines() if line.startswith("warning: ")]
                report.write_text(json.dumps([ending, log.errors + warnings, log.text[-100_000:]]))
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status != 0:
            return Outcome(fuzz_files.reason(status), (), "")
        ending, errors, text = json.loads(report.read_text())
        return Outcome(ending, tuple(errors), text)

    return outcome
