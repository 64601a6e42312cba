"""Debug information in other files equals that in the code object: split objects, packages, separate files."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg import Debugger

pytestmark = pytest.mark.llvm

SOURCE = Path(__file__).parent / "sources" / "lanes.hip"
LAUNCH = """
[launch]
file = "{file}"
kernel = "kern"
grid = [64, 1, 1]
workgroup = [64, 1, 1]
[[arg]]
buffer = "f32[64]"
init = "arange"
[[arg]]
buffer = "f32[64]"
init = "zeros"
[[arg]]
value = 50
[[arg]]
value = 1
"""
COMMANDS = (
    "info scope scale", "info scope kern", "info line kern", "info functions scale", "info types .", "ptype kern",
    "break scale", "run", "bt", "info locals", "up", "info locals", "print tile[3]", "info source", "down", "finish",
)
MOVED = re.compile(r"0x[0-9a-f]+|<\w+[^<>]*\+\d+>")


def built(folder: Path, name: str, *options: str) -> Path:
    """A code object of lanes.hip; the compiler's other outputs are in the same folder."""
    output = folder / name
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-g",
         "--no-gpu-bundle-output", *options, str(SOURCE), "-o", str(output)],
        cwd=folder, check=True, timeout=120,
    )
    return output


def session_of(path: Path, debugger: Debugger | None = None) -> list[str]:
    """The output of the commands, without addresses and the names of files."""
    launch = path.with_suffix(".toml")
    launch.write_text(LAUNCH.format(file=path.name))
    debugger = debugger or Debugger()
    debugger.execute(f"file {launch}")
    text = "\n".join(debugger.execute(command, to_string=True) for command in COMMANDS)
    text = re.sub(r"Compilation directory is .*\n", "", text)
    return MOVED.sub("_", text).splitlines()


OPTIONS = [
    ("-O0", "-gdwarf-5"), ("-O2", "-gdwarf-5"), ("-O2", "-gdwarf-4"), ("-O0", "-gdwarf-5", "-fdebug-types-section"),
    ("-O0", "-gdwarf-4", "-fdebug-types-section"),
]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_split_objects_and_packages(
    options: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wanted = session_of(built(tmp_path, "whole.co", *options))
    assert any("scale (" in line for line in wanted)
    split = built(tmp_path, "split.co", *options, "-gsplit-dwarf")
    part, = tmp_path.glob("*.dwo")
    assert session_of(split) == wanted

    subprocess.run(["llvm-dwp-22", "-e", str(split), "-o", f"{split}.dwp"], cwd=tmp_path, check=True, timeout=60)
    part.rename(tmp_path / "elsewhere")
    assert session_of(split) == wanted

    (tmp_path / "split.co.dwp").unlink()
    Debugger(split).execute("list scale")  # by the symbol and the line table, which the skeleton has
    assert f"Could not find DWO CU {part}(0x" in capfd.readouterr().err


@pytest.mark.parametrize("spoil", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: bytes(999)])
def test_a_split_object_that_cannot_be_read(
    spoil: Callable[[bytes], bytes], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    split = built(tmp_path, "split.co", "-O0", "-gsplit-dwarf")
    part, = tmp_path.glob("*.dwo")
    part.write_bytes(spoil(part.read_bytes()))
    Debugger(split).execute("info functions")
    assert f"Could not find DWO CU {part}(0x" in capfd.readouterr().err


def test_a_split_object_of_another_build(tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    split = built(tmp_path, "split.co", "-O0", "-gsplit-dwarf")
    built(tmp_path, "other.co", "-O2", "-gsplit-dwarf")
    mine, = tmp_path.glob("split*.dwo")
    other, = tmp_path.glob("other*.dwo")
    other.replace(mine)
    Debugger(split).execute("info functions")
    told = capfd.readouterr().err
    assert "the split object has no unit" in told and f"Could not find DWO CU {mine}(0x" in told


def stripped(folder: Path, whole: Path) -> tuple[Path, Path]:
    """The code object without debug information and symbols, and the file that has both."""
    code, debug = folder / "stripped.co", folder / "lanes.debug"
    tool = "llvm-objcopy-22"
    subprocess.run([tool, "--only-keep-debug", whole, debug], check=True, timeout=60)
    subprocess.run([tool, "--strip-all", f"--add-gnu-debuglink={debug}", whole, code], check=True, timeout=60)
    return code, debug


def test_a_debug_link(tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = built(tmp_path, "whole.co", "-O0")
    wanted = session_of(whole)
    code, debug = stripped(tmp_path, whole)
    assert session_of(code) == wanted
    (tmp_path / ".debug").mkdir()
    debug.rename(tmp_path / ".debug" / "lanes.debug")
    assert session_of(code) == wanted
    assert capfd.readouterr().err == ""

    shutil.copy(whole, debug)
    assert session_of(code) == wanted
    assert f'the debug information found in "{debug}" does not match "{code}" (CRC mismatch).' in capfd.readouterr().err


def test_a_build_id(tmp_path: Path) -> None:
    whole = built(tmp_path, "whole.co", "-O0", "-Xoffload-linker", "--build-id=0xabcdef0123")
    wanted = session_of(whole)
    code, debug = stripped(tmp_path, whole)
    (tmp_path / "symbols" / ".build-id" / "ab").mkdir(parents=True)
    debug.rename(tmp_path / "symbols" / ".build-id" / "ab" / "cdef0123.debug")
    debugger = Debugger()
    debugger.execute(f"file {code}")
    assert "scale" not in debugger.execute("info functions scale", to_string=True).split("\n", 1)[1]
    debugger.execute(f"set debug-file-directory /nowhere:{tmp_path}/symbols")
    text = debugger.execute(f"file {code}", to_string=True)
    assert text.splitlines()[1] == f"Reading symbols from {tmp_path}/symbols/.build-id/ab/cdef0123.debug..."
    assert session_of(code, debugger) == wanted
