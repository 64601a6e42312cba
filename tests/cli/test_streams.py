"""Closed, full and broken standard streams: each front end reports them in its exit status, without a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rocdbg.cli.main import TOOLS
from tests.breadth import in_turn

SAXPY = Path(__file__).resolve().parents[2] / "demo_kernels" / "saxpy" / "saxpy.O2.gfx90a.co"
LOST = {">&-": "Bad file descriptor", ">/dev/full": "No space left on device"}
SAID = {"debug": "warning: cannot write output: {}; further output is not shown.\n", "help": "rocdbg: output: {}.\n"}


def shell(command: str) -> subprocess.CompletedProcess[str]:
    text = f"set -o pipefail; '{sys.executable}' -m rocdbg {command}"
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("redirection", LOST)
@pytest.mark.parametrize(
    ("command", "kind"),
    [("-nx -batch -ex 'print 1'", "debug"), ("run --help", "help"), ("--version", "help"), ("annotate --help", "help")],
)
def test_output_that_is_lost(command: str, kind: str, redirection: str) -> None:
    done = shell(f"{command} {redirection}")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", SAID[kind].format(LOST[redirection]))


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&-", "<&- 2>&-"])
def test_errors_that_nobody_sees_keep_their_status(redirection: str) -> None:
    done = shell(f"-nx -batch -ex 'print 1' {redirection}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "$1 = 1\n", "")
    assert shell(f"run ./not-there {redirection}").returncode == 127


@pytest.mark.truth
@pytest.mark.parametrize(
    ("tool", "redirection"), in_turn(list(TOOLS), ("2>&-", "2>/dev/full", ">&- 2>&-", "2>&1 >/dev/null | false"))
)
def test_tools_whose_input_is_not_there(tool: str, redirection: str, tmp_path: Path) -> None:
    words = f"-o {tmp_path}/out ./not-there" if tool == "annotate" else "check ./not-there"
    done = shell(f"{tool} {words} {redirection}")
    opened = 2 if tool == "dwarf" and "|" not in redirection else 1  # behind a pipe, the status of `false`
    assert (done.returncode, done.stderr) == (opened, "")


def test_a_program_finds_its_streams_as_they_were() -> None:
    """This includes closed streams: the program itself decides how to handle them."""
    done = shell("run /bin/echo hi >&-")
    assert (done.returncode, done.stdout) == (1, "")
    assert "write error" in done.stderr
    assert shell("run /bin/true <&- >&- 2>&-").returncode == 0


def test_a_reader_that_left_is_said_nothing() -> None:
    done = shell("-nx -batch -ex 'help all' | true")
    assert (done.returncode, done.stderr) == (1, "")
