"""Every demo kernel: `start` stops in the kernel's own source, the frame prints, and the run ends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rocdbg

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
LAUNCHES = sorted(DEMOS.glob("[a-z]*/*.toml"))
WITHOUT_SOURCE_LINES = {"ramp"}  # assembly without line information
END_IN_A_SIGNAL = {"trap", "wildaccess"}


@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda path: path.stem)
def test_start(launch: Path) -> None:
    debugger = rocdbg.Debugger(launch)
    kernel = debugger.session.launch.kernel.name
    started = debugger.execute("start", to_string=True)
    last = debugger.session.inferior.wave(1).lane_count - 1
    assert re.search(rf"hit Temporary breakpoint 1(\.\d)?, with lanes \[0-{last}\]", started)
    frames = debugger.execute("backtrace", to_string=True).splitlines()
    assert len(frames) == 1, frames
    if launch.parent.name not in WITHOUT_SOURCE_LINES:
        source = next(path.name for path in launch.parent.iterdir() if path.suffix in (".hip", ".cl", ".S"))
        assert frames[0].startswith(f"#0  {kernel.removeprefix('__clang_ocl_kern_imp_')} (")
        assert f" at {source}:" in frames[0]
        assert "No such file" not in started
    ended = debugger.execute("info locals\ninfo frame\ndelete\ncontinue", to_string=True)
    if launch.parent.name in END_IN_A_SIGNAL:
        assert "received signal SIG" in ended
    else:
        assert ended.endswith("exited normally]\n")
