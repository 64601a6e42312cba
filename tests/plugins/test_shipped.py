"""The plug-ins that come with rocdbg: lanemap's drawings and vectors' output."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.cli.shell import Shell

HERE = Path(__file__).parent
FILES = sorted((HERE / "golden").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_session(path: Path, run_golden: Callable[[str], str]) -> None:
    expected = path.read_text(encoding="utf-8")
    got = run_golden(expected)
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        path.write_text(got, encoding="utf-8")
    assert got == expected


def test_lanemap_is_coloured_by_place_on_a_terminal(
    make_shell: Callable[..., tuple[Shell, io.StringIO]],
) -> None:
    shell, text = make_shell("divergence/divergence.toml")
    shell.session.plugins.load("lanemap")
    shell.execute("tbreak 12\nrun")
    text.truncate(0)
    shell.out.colour = True
    shell.execute("lanemap")
    assert "\x1b[33mA\x1b[m" in text.getvalue()


HIP = [
    ("f", "(2.5, 2, 3, -4)"),
    ("c", "(1, 65, 255, 0)"),
    ("i", "(-1, 2)"),
    ("h", "1.5"),
    ("h2", "(0.5, -2)"),
    ("b", "1.5"),
    ("other", "{a = 1, b = 2}"),
]


@pytest.mark.llvm
def test_hip_types(
    tmp_path: Path, make_shell: Callable[..., tuple[Shell, io.StringIO]]
) -> None:
    code = tmp_path / "hip_vectors.co"
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-g",
         "-O0", "--no-gpu-bundle-output", str(HERE / "sources" / "hip_vectors.hip"), "-o", str(code)],
        check=True,
    )
    shell, text = make_shell()
    shell.session.load(code)
    shell.session.plugins.load("vectors")
    lines = (HERE / "sources" / "hip_vectors.hip").read_text().splitlines()
    last = next(number for number, line in enumerate(lines, 1) if "out[lane] =" in line)
    shell.execute(f"set grid 64\nset workgroup 64\nset arg 0 f32[64]\ntbreak {last}\nrun\nlane 2")
    for name, value in HIP:
        text.seek(0)
        text.truncate()
        shell.execute(f"output {name}")
        assert (name, text.getvalue()) == (name, value)
