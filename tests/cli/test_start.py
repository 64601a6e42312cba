"""What the command does before and after its modules are imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("name", "states"),
    [
        # while importing, in the session, modules are out of the collector's sight
        ("rocdbg", ["False", "True", "True"]),
        ("script.py", ["True", "True", "False"]),
    ],
)
def test_garbage_is_looked_for_once_the_modules_are_there(name: str, states: list[str], tmp_path: Path) -> None:
    program = (
        f"import gc, sys; sys.argv = [{name!r}, '-nx', '-batch']\n"
        "import rocdbg; print(gc.isenabled())\n"
        "from rocdbg.__main__ import run\n"
        "run(); print(gc.isenabled(), gc.get_freeze_count() > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.stdout.split(), done.stderr) == (states, "")


@pytest.mark.parametrize("wanted", ["", "2"])
def test_threads_of_numpy_are_left_out_without_a_trace(wanted: str, tmp_path: Path) -> None:
    """Those of OpenBLAS are made when it is loaded, one for each processor, unless the environment says otherwise."""
    program = (
        "import os, sys\n"
        "sys.argv = ['rocdbg', '-nx', '-batch', '-ex', 'shell echo \"[$OPENBLAS_NUM_THREADS]\"']\n"
        "from rocdbg.__main__ import run; run()\n"
        "print('numpy' in sys.modules, len(os.listdir('/proc/self/task')))\n"
    )
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    if wanted:
        environment["OPENBLAS_NUM_THREADS"] = wanted
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    shown, loaded, threads = done.stdout.split()
    assert (shown, loaded, done.stderr) == (f"[{wanted}]", "True", "")
    assert int(threads) == 1 or wanted
