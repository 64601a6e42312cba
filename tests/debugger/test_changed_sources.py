"""Source text that differs from the compiled text: it is shown with a warning, and no facts are derived from it.

clang's DWARF 5 has checksums; its DWARF 4 has none, and neither do HIP programs with headers of GCC's C++ library.
"""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest

from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger import Session

pytestmark = pytest.mark.llvm
SOURCE = (Path(__file__).parent / "sources" / "twice.hip").read_text()
OTHER = SOURCE.replace("i * n", "n * i")
MOVED = "\n" + SOURCE
NEWER = "Source file is more recent than executable."
DIFFERS = "twice.hip is not the text that was compiled: its checksum differs."


@pytest.mark.parametrize(
    ("version", "text", "hours", "warning", "recovers"),
    [
        (5, SOURCE, -1, None, True),
        (5, SOURCE, 1, None, True),  # only touched: the checksum is the better witness
        (5, OTHER, 1, NEWER, False),
        (5, OTHER, -1, DIFFERS, False),
        (4, SOURCE, -1, None, True),
        (4, SOURCE, 1, NEWER, False),
        (4, MOVED, -1, None, False),  # n is not in its line
    ],
)
def test_text_is_the_one_that_was_compiled(
    version: int, text: str, hours: int, warning: str | None, recovers: bool, tmp_path: Path
) -> None:
    source, program = tmp_path / "twice.hip", tmp_path / "twice.co"
    source.write_text(SOURCE)
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
               f"-gdwarf-{version}", "-O1", "--no-gpu-bundle-output", "twice.hip", "-o", "twice.co"]  # fmt: skip
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    source.write_text(text)
    then = program.stat().st_mtime + 3600 * hours
    os.utime(source, (then, then))
    session = Session()
    session.load(program)
    session.sources.text(session.inferior.program.info.files_named("twice.hip")[0])
    assert session.sources.warnings.take() == ([] if warning is None else [warning])
    out = io.StringIO()
    Shell(session, Writer(out), Writer(out)).execute("maint dwarf coverage twice")
    share = next(line for line in out.getvalue().splitlines() if line.split()[:2] == ["n", "compiler"])
    assert ("recovered 100.0 %" in share) is recovers, share
