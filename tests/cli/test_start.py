"""The behaviour of the command before and after it imports its modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

START = "from rocdbg.__main__ import run; run()"

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


@pytest.mark.parametrize("command", [["-m", "rocdbg"], ["-c", "import sys; sys.argv[0] = 'rocdbg'; " + START]])
def test_a_session_looks_for_garbage(command: list[str], tmp_path: Path) -> None:
    """Regardless of how it was started: sys.argv[0] becomes a path if a module runs as the main module."""
    (tmp_path / "plug.py").write_text("import gc\n\ndef register(api): print(gc.isenabled())\n")
    arguments = ["-nx", "-batch", "-ex", f"plugin load {tmp_path}/plug.py"]
    done = subprocess.run([sys.executable, *command, *arguments], capture_output=True, text=True, timeout=60)
    assert (done.stdout.split(), done.stderr) == (["True"], "")
