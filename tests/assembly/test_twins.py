"""Sessions on hand-written kernels equal GDB 13's sessions on the same assembly for the host (`tests.assembly.twins`).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import rocdbg
from tests.assembly.twins import Twin, asked, assembled, normal, sessions

CASES = [(twin, target) for twin in sessions() for target in twin.options if target != "g"]


@pytest.mark.llvm
@pytest.mark.parametrize(("twin", "target"), CASES, ids=[f"{twin.name}-{target}" for twin, target in CASES])
def test_as_gdb(twin: Twin, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    debugger = rocdbg.Debugger(assembled(twin, target, tmp_path))
    differs = []
    for command, expected in twin.steps:
        try:
            said = debugger.execute(asked(command, "gpu"), to_string=True)
        except rocdbg.Error as error:
            said = str(error)
        found = normal(said, "gpu")
        if found != expected:
            differs.append(f"{command}\n  GDB: {expected}\n  here: {found}")
    assert not differs, os.linesep.join(differs)
