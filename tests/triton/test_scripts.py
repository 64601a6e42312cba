"""`rocdbg --args python script.py`: a script's kernels at its lines, on the GPU of the rocdbg that runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="needs Triton (pip install 'rocdbg[triton]')")

SCRIPT = Path(__file__).parent / "script.py"
LINE = next(n for n, text in enumerate(SCRIPT.read_text().splitlines(), 1) if "# the result" in text)


def session(folder: Path, gpu: str, target: str, *commands: str) -> subprocess.CompletedProcess[str]:
    options = [word for each in commands for word in ("-ex", each)]
    words = [sys.executable, "-m", "rocdbg", "-q", "-nx", "-batch", "--gpu", gpu, *options]
    words += ["--args", sys.executable, str(SCRIPT), target]
    environment = {"TRITON_CACHE_DIR": str(folder)}
    return subprocess.run(
        ["env", *(f"{name}={value}" for name, value in environment.items()), *words],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("triton")


def test_a_line_of_the_script_at_the_third_launch(cache: Path) -> None:
    done = session(
        cache, "gfx942", "gfx942", "set breakpoint pending on", f"break script.py:{LINE}", "catch dispatch begin add",
        "ignore 2 2", "disable 1", "run", "enable 1", "continue", "info dispatches", "delete", "continue",
    )  # fmt: skip
    hit = rf"hit Breakpoint 1, with lanes \[0-63\], add \(\) at .*script\.py:{LINE}\n{LINE}\t"
    assert re.search(hit, done.stdout), done.stdout
    assert re.search(r"\n\* 3 +AMDGPU Dispatch 1:1:3 \(PKID 2\) \[\d+,1,1\] .* add\n", done.stdout), done.stdout
    assert re.findall(r"^scale .*", done.stdout, re.MULTILINE) == [f"scale {s}: 0 wrong []" for s in (1.0, 2.0, 0.5)]
    assert "exited normally" in done.stdout


def test_a_register_that_is_changed_changes_the_result(cache: Path) -> None:
    """A lane that is removed from EXEC stores nothing."""
    done = session(
        cache, "gfx942", "gfx942", "set breakpoint pending on", f"break script.py:{LINE}", "run",
        "set var $exec = $exec & ~8", "delete", "continue",
    )  # fmt: skip
    wrong = re.findall(r"^scale .*: (\d+) wrong", done.stdout, re.MULTILINE)
    assert len(wrong) == 3 and wrong[1:] == ["0", "0"] and int(wrong[0]) > 0, done.stdout


def test_a_gpu_that_rocdbg_does_not_have(cache: Path) -> None:
    done = session(cache, "gfx1100", "gfx942", "run")
    said = "rocdbg runs this script with gfx1100, not with gfx942: start it with --gpu gfx942"
    assert said in done.stdout + done.stderr
