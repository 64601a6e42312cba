"""Lanes of a subprogram that was entered through an entry point: the entry's own attributes (A.3.3.5 (4) to (7))."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocdbg.debugger import Session

pytestmark = pytest.mark.llvm
SOURCE = Path(__file__).parent / "sources" / "entries.s"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("entries") / "entries.co"
    command = ["clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", str(SOURCE), "-o", str(output)]
    subprocess.run(command, check=True)
    return output


@pytest.mark.parametrize(
    ("kernel", "place", "lanes", "active", "arguments", "frames"),
    [
        ("whole", "inside", 64, 0xFFF, ["of_whole"], ["whole"]),
        ("second", "inside", 32, 0xF, ["of_second"], ["whole"]),
        ("caller", "within", 32, 0xF, ["of_middle"], ["called", "caller"]),
    ],
)
def test_lanes_are_those_of_the_entry(
    program: Path, kernel: str, place: str, lanes: int, active: int, arguments: list[str], frames: list[str]
) -> None:
    session = Session()
    session.load(program)
    session.launch.set_kernel(kernel)
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.spec.kernarg = b""
    session.break_at(f"*&{place}")
    session.run()
    frame = session.focus.frame()
    assert [each.name for each in session.focus.frames()] == frames
    assert frame.context.lanes == lanes
    assert session.inferior.active_lanes(1) == active
    assert [name for name, _ in session.data.arguments(frame)] == arguments
    session.running.kill()
