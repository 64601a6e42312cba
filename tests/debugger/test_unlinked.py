"""Objects that are not linked: their debug information equals that of the linked code object."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rocdbg import Debugger

pytestmark = pytest.mark.llvm

SOURCE = Path(__file__).resolve().parents[1] / "producers" / "add.cl"
LAUNCH = """
[launch]
file = "{file}"
kernel = "add"
grid = [64, 1, 1]
workgroup = [64, 1, 1]
[[arg]]
buffer = "i32[64]"
init = "arange"
[[arg]]
buffer = "i32[1]"
init = "ones"
[[arg]]
buffer = "i32[64]"
init = "zeros"
[[arg]]
local = 256
"""
COMMANDS = (
    "break add.cl:17", "run", "info locals", "bt", "break twice", "continue", "bt", "print *l", "info scope twice",
    "finish", "info line 17", "info symbol $pc", "ptype twice", "info source", "delete", "continue",
)
ADDRESS = re.compile(r"0x[0-9a-f]+")


def session_of(path: Path, folder: Path) -> list[str]:
    """The output of the commands, without addresses and the names of files."""
    launch = folder / f"{path.name}.toml"
    launch.write_text(LAUNCH.format(file=path.name))
    debugger = Debugger(launch)
    text = "\n".join(debugger.execute(command, to_string=True) for command in COMMANDS)
    text = re.sub(r"in section \.text\S*", "in section .text", text.replace(path.name, "FILE"))
    return ADDRESS.sub("ADDRESS", text).splitlines()


@pytest.mark.parametrize("processor", ["gfx90a", "gfx1100"])
@pytest.mark.parametrize("options", ["", "-gdwarf-4", "-gdwarf64", "-gz=zlib", "-ffunction-sections -fdata-sections"])
def test_session(processor: str, options: str, tmp_path: Path) -> None:
    found = []
    for kind, more in (("o", ["-c"]), ("co", [])):
        output = tmp_path / f"add.{kind}"
        command = [
            "clang-22", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-nogpulib", f"-mcpu={processor}",
            "-g", "-O0", *options.split(), *more, str(SOURCE), "-o", str(output),
        ]
        subprocess.run(command, check=True, capture_output=True)
        found.append(session_of(output, tmp_path))
    unlinked, linked = found
    assert unlinked == linked
    assert any("hit Breakpoint 1" in line for line in unlinked)
    assert any(line.startswith("#1  ADDRESS in add (a=") for line in unlinked)
    assert any(line.startswith("Value returned is $2 = 2") for line in unlinked)
