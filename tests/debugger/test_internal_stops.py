"""Generated code that crashes, in a session: there is a stop and a report in a file, and the session continues.

A wrong pointer in the wave's header simulates a wrong check.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rocdbg

DEMO = Path(__file__).parents[2] / "demo_kernels" / "reduce" / "reduce.toml"


def test_a_crash_is_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    debugger = rocdbg.Debugger(str(DEMO))

    def execute(line: str) -> list[str]:
        return debugger.execute(line, to_string=True).splitlines()

    execute("start")
    debugger.session.inferior.target.dispatch.waves[0].set_word("lds_pointer", 0x1000)
    _, _, received, internal, report, *_ = execute("continue")
    assert received == 'Thread 1 "reduce" received signal SIGILL, Illegal instruction.'
    assert re.fullmatch(
        r"Internal error of the simulator: generated code of the block at 0x\w+ crashed: SIGSEGV at host address "
        r"0x1000\. How much of the block the wave has executed is not known.", internal,
    )
    path = Path(re.fullmatch(r"A report is in (.*)\.", report)[1])
    assert path.parent == tmp_path / "rocdbg" and path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert "SIGSEGV at host address 0x1000; state at 0x" in text and "s_cbranch_execz" in text
    assert execute("print 1 + 1") == ["$1 = 2"]
    assert execute("continue")[-1] == "The program no longer exists."
    assert execute("run")[-1] == "[Inferior 1 (dispatch 1, kernel reduce) exited normally]"
