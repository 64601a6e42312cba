"""Other schedules reveal a race in code that clang compiled, and reveal nothing else."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger import Session
from rocdbg.debugger.running.differing_runs import DifferingRuns
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.errors import Error

pytestmark = pytest.mark.llvm


def racy(path: Path, fenced: int, sums: str = "i32[4]:zeros") -> Session:
    session = Session()
    session.load(path)
    session.launch.set_grid("512")
    session.launch.set_workgroup("512")
    for index, text in enumerate((sums, "i32[512]:zeros", str(fenced))):
        session.launch.set_argument(index, text)
    return session


def sums_of(session: Session) -> list[int]:
    assert session.launch.bound is not None
    return [int(n) for n in session.launch.bound.buffers[0].contents.view("i4")]


@pytest.mark.parametrize(("target", "level"), (("gfx90a", "-O2"), ("gfx1100", "-O0")))
def test_a_race_is_found_and_can_be_repeated(compiled: Callable[..., Path], target: str, level: str) -> None:
    path = compiled("racy.hip", target, level)
    session = racy(path, 0)
    session.break_at("racy")
    found = DifferingRuns(session.running.runner, session.launch).find(20)
    assert found is not None and not found.stop
    assert (found.buffer, found.index, found.differing, found.count) == ("sums", 3, 1, 4)
    assert found.got != found.first and sums_of(session)[3] == found.got
    assert session.launch.schedule == found.schedule == f"random {found.run}" and session.launch.record
    again = racy(path, 0)
    again.launch.schedule = found.schedule
    assert again.run().reason is StopReason.EXITED and sums_of(again)[3] == found.got
    plain = racy(path, 0)
    plain.run()
    assert sums_of(plain)[3] == found.first
    for run in range(1, found.run):  # it is the first that differs
        other = racy(path, 0)
        other.launch.schedule = f"random {run}"
        other.run()
        assert sums_of(other)[3] == found.first
    assert session.run().reason is StopReason.BREAKPOINT


def test_no_race_is_none(compiled: Callable[..., Path]) -> None:
    session = racy(compiled("racy.hip", "gfx90a", "-O2"), 1)
    session.launch.schedule = "lockstep 3"
    assert DifferingRuns(session.running.runner, session.launch).find(4) is None
    assert session.launch.schedule == "lockstep 3" and session.inferior.target is None


def test_what_is_said(compiled: Callable[..., Path]) -> None:
    session, out = racy(compiled("racy.hip", "gfx90a", "-O2"), 0), io.StringIO()
    shell = Shell(session, Writer(out), Writer(out))
    with pytest.raises(Error, match="The number of runs must be at least 1"):
        shell.run_line("run -until-different 0")
    for line in ("run -until-different 9", "set schedule round-robin", "set arg 2 1", "run -until-different 1"):
        shell.run_line(line)
    found = out.getvalue().splitlines()
    assert found[1].startswith("Run ") and ", under random " in found[1] and ": sums[3] is " in found[1]
    assert found[2].startswith("Under round-robin it was ") and found[2].endswith("; 1 of 4 elements differ.")
    assert found[3].startswith("The schedule is random ") and found[3].endswith(' now: "run" repeats this run.')
    assert found[5] == "All buffers are the same under 1 other schedule as under round-robin."
