"""Values in registers that only the lanes of one branch have written, as clang describes them: at every instruction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg import isa
from rocdbg.analysis.lane_coverage import LaneCoverage
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames import described_lanes
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.debugger.values.value_storage import AbsentError
from rocdbg.errors import Error

pytestmark = pytest.mark.llvm
Compile = Callable[..., Path]
LANES = (1, 3, 6)


def history(lane: int) -> dict[str, set[int]]:
    """All values that the variables of branches.hip ever have in a lane whose input is its number."""
    found = {"x": {lane}, "y": {4 * lane}, "s": {0}, "t": {28 * lane}}
    y = 4 * lane
    if lane & 1:
        found["y"] |= {28 * lane + lane}
        y = 28 * lane + lane
        if lane & 2:
            y ^= 0x55
    else:
        y -= 2 * lane
    found["y"].add(y)
    s = 0
    for j in range(lane & 7):
        s += (j + lane) * j
        found["s"].add(s)
        if s & 4:
            s += 3
            found["s"].add(s)
        if s & 0x30 == 0x30:
            break
    return found


@pytest.mark.parametrize(("target", "level", "least"), (
    ("gfx90a", "-O2", 250), ("gfx1100", "-O3", 250),
))
def test_no_lane_shows_the_value_of_another_branch(compiled: Compile, target: str, level: str, least: int) -> None:
    session = Session()
    session.load(compiled("branches.hip", target, level))
    session.settings.print = session.settings.print.with_changes(recovered=False)
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[128]:zeros")
    session.launch.set_argument(1, "i32[128]:arange")
    code = session.inferior.need_program().code_object
    text = code.sections[".text"]
    for instruction in isa.disassemble(text.data, code.target.name, address=text.address):
        if instruction.name not in ("s_nop", "s_code_end"):
            session.break_at(f"*{instruction.address:#x}")
    event, visits, wrong, right = session.run(), dict[int, int](), list[str](), 0
    while event.reason is StopReason.BREAKPOINT:
        thread = event.scope.thread
        assert thread is not None
        pc = session.inferior.wave(thread).pc
        visits[pc] = visits.get(pc, 0) + 1
        for lane in LANES if thread == 1 and visits[pc] <= 2 else ():
            for name, values in history(lane).items():
                try:
                    value = session.data.evaluate(name, Focus(thread, lane)).as_int()
                except (AbsentError, Error):
                    continue  # unavailable, or not yet in scope
                right += value in values
                if value not in values:
                    wrong.append(f"{pc:#x}, lane {lane}: {name} = {value}")
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED
    assert (wrong, right >= least) == ([], True), right


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_each_function_is_analysed_once_for_all_lanes(
    compiled: Compile, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`lane apply`, dprintf and `printf` in scripts examine one lane after the other."""
    analysed: list[int] = []

    class Counted(LaneCoverage):
        def __init__(self, analysis: Analysis) -> None:
            analysed.append(analysis.function.start)
            super().__init__(analysis)

    monkeypatch.setattr("rocdbg.debugger.frames.described_lanes.LaneCoverage", Counted)
    session = Session()
    session.load(compiled("recursive.hip", target, "-O2"))
    session.launch.set_kernel("recursive")
    session.launch.set_grid("32")
    session.launch.set_workgroup("32")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.launch.set_argument(1, "i32[64]:arange")
    session.break_at("mixed")
    session.break_at("pairs")
    session.run()
    for _ in range(2):
        for lane in range(8):
            for name in ("m", "n", "depth"):
                try:
                    session.at(Focus(1, lane)).data.evaluate(name)
                except Error:
                    continue
        session.running.proceed()
    assert len(analysed) == len(set(analysed)) >= 2


def test_variables_in_memory_need_no_masks(compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(analysis: object) -> LaneCoverage:
        raise AssertionError("masks were followed for a variable in memory")

    monkeypatch.setattr(described_lanes, "LaneCoverage", unwanted)
    session = Session()
    session.load(compiled("fields.hip", "gfx90a", "-O0"))
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[256]:zeros")
    session.launch.set_argument(1, "i32[128]:zeros")
    session.break_at("fields.hip:32")
    assert session.run().reason is StopReason.BREAKPOINT
    assert session.data.evaluate("own.low", Focus(1, 9)).as_int() == 3
