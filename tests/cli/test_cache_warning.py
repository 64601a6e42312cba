"""The message of a session about a translation cache that is not used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAXPY = Path(__file__).resolve().parents[2] / "demo_kernels" / "saxpy" / "saxpy.toml"
PREFIX = "warning: not using the translation cache"


@pytest.mark.parametrize(
    ("directory", "mode", "size", "said"),
    [
        ("cache", 0o700, "", ""),
        ("cache", 0o777, "", "{}: it is writable by others"),
        ("cache", 0o700, "0", ""),
        ("cache", 0o700, "much", "{}: ROCDBG_CACHE_SIZE must be a size such as 500M or 2G, or 0"),
        ("relative", 0o700, "", "relative: ROCDBG_CACHE_DIR must be an absolute path"),
    ],
)
def test_warning(directory: str, mode: int, size: str, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    named = str(folder) if directory == "cache" else directory
    environment = {**os.environ, "ROCDBG_CACHE_DIR": named, "ROCDBG_CACHE_SIZE": size, "XDG_STATE_HOME": str(tmp_path)}
    # no further than the first instruction: only the code that starts waves is translated again for each row
    command = [sys.executable, "-m", "rocdbg", "-nx", "-batch", "-ex", "starti", "-ex", "starti", str(SAXPY)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    warnings = [line for line in done.stderr.splitlines() if line.startswith(PREFIX)]
    assert warnings == ([f"{PREFIX} {said.format(folder)}"] if said else [])
    assert done.stdout.count("Program stopped.") == 2
    assert not (tmp_path / "relative").exists()
    assert any(folder.iterdir()) == (not said and size != "0")
