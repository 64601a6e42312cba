"""Arrays whose first index is not 0, as in Fortran: the debugger's evaluator and conditions that the target evaluates.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.running.stop_events import StopReason

pytestmark = pytest.mark.llvm
SOURCE = Path(__file__).parent / "sources" / "bounds.hip"
STOP = next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if "out[t] =" in line)
FIRST = {4: 1, 5: -2, 6: 0}

# what is evaluated, its value on lane t
VALUES = [
    ("from_1[1]", lambda t: t),
    ("from_1[4]", lambda t: 30 + t),
    ("from_minus_2[-2]", lambda t: t),
    ("from_minus_2[2]", lambda t: 40 + t),
    ("from_0[5]", lambda t: 50 + t),
    ("table[1][-2]", lambda t: t),
    ("table[3][1]", lambda t: 13 + t),
    ("*from_1", lambda t: t),
    ("from_1[t % 4 + 1]", lambda t: 10 * (t % 4) + t),
    ("shared_by_all[2] + t", lambda t: 20 + t),
    ("(&from_1[2])[1]", lambda t: 20 + t),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bounds")

    def run(*command: str) -> None:
        subprocess.run(command, cwd=folder, check=True, timeout=120)

    run("clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-g",
        "-O0", "-S", "-emit-llvm", str(SOURCE), "-o", "a.ll")
    text = (folder / "a.ll").read_text()
    text, count = re.subn(
        r"(?<=!DISubrange\()count: (\d)", lambda found: f"lowerBound: {FIRST[int(found[1])]}, {found[0]}", text
    )
    assert count == 3
    (folder / "a.ll").write_text(text)
    run("llc-22", "-O0", "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "a.ll", "-o", "a.o")
    run("ld.lld-22", "-shared", "a.o", "-o", "a.co")
    return folder / "a.co"


def stopped(path: Path, condition: str | None = None, way: str = "host") -> tuple[Session, list[int], str]:
    """The session at the stop, which lanes of each wave have stopped, and what has evaluated the condition."""
    session = Session()
    session.settings.condition_evaluation = way
    session.load(path)
    session.launch.set_grid("128")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[128]:zeros")
    made = session.break_at(f"{SOURCE}:{STOP}", condition=condition)
    event, lanes = session.run(), list[int]()
    while condition is not None and event.reason is StopReason.BREAKPOINT:
        lanes.append(event.lanes)
        event = session.running.proceed()
    return session, lanes, session.running.native.evaluated_by(made)


def test_values(path: Path) -> None:
    session, _, _ = stopped(path)
    session.focus.select_lane(7)
    found = {text: session.data.format(session.data.evaluate(text)) for text, _ in VALUES}
    assert found == {text: str(value(7)) for text, value in VALUES}
    session.running.kill()


@pytest.mark.parametrize("way", ["host", "target"])
def test_conditions(path: Path, way: str) -> None:
    """All at once, each true on three lanes. At the first wave the target cannot know them yet."""
    condition = " && ".join(
        f"({text} == {value(3)} || {text} == {value(9)} || {text} == {value(62)})" for text, value in VALUES
    )
    _, lanes, answered = stopped(path, condition, "host" if way == "host" else "auto")
    assert (lanes, answered) == ([1 << 3 | 1 << 9 | 1 << 62] * 2, way)
