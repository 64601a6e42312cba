"""The instruction budget applies to one command, regardless of the number of steps in the command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import rocdbg

pytestmark = pytest.mark.llvm
STOPPED = 'Thread 1 "endless" stopped after 1000 wave-instructions (set instruction-budget).'


@pytest.mark.parametrize("command", ["next", "step", "next 5", "until", "finish", "stepi 1000000", "continue"])
def test_a_lane_that_never_becomes_active(compiled: Callable[..., Path], command: str) -> None:
    debugger = rocdbg.Debugger(compiled("endless.hip", "gfx90a"))
    setup = ("set grid 64", "set workgroup 64", "set arg 0 i32[64]", "set arg 1 7", "set confirm off",
             "break endless.hip:8", "run", "delete", "lane 5", "set instruction-budget 1000")
    for line in setup:
        debugger.execute(line, to_string=True)
    before = debugger.session.running.progress().instructions
    try:
        text = debugger.execute(command, to_string=True)
    except rocdbg.Error as error:  # finish: not meaningful in the outermost frame
        assert command == "finish" and "outermost" in str(error)
        return
    assert STOPPED in text.splitlines()
    assert 1_000 <= debugger.session.running.progress().instructions - before <= 1_100
