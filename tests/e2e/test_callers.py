"""Variables of outer and inline frames whose registers called functions have saved."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocdbg import isa
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger import Session, StopReason
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.values.value_storage import AbsentError

pytestmark = pytest.mark.llvm
Start = Callable[..., Session]
N = 4
"""The kernel's argument."""
W64 = "-mwavefrontsize64"


def expected(item: int) -> dict[tuple[str, str], float]:
    """The expected values by (function, variable), from the source."""
    mine = item * 3
    base = mine + N * 5
    return {
        ("callers", "gid"): item, ("callers", "item"): item % 80, ("callers", "n"): N,
        ("callers", "mine"): mine, ("callers", "other"): mine / 4, ("callers", "uniform"): N * 5,
        ("callers", "p.a"): mine + 1, ("callers", "p.b"): mine / 4 + 2,
        ("middle", "gid"): item, ("middle", "x"): mine, ("middle", "y"): mine / 4, ("middle", "p.a"): mine + 1,
        ("middle", "rounds"): 2, ("middle", "kept"): mine * 7 + item, ("middle", "scaled"): mine / 8,
        ("inlined", "gid"): item, ("inlined", "base"): base, ("inlined", "local"): base * 11,
        ("leaf", "gid"): item,
    }


ALWAYS_THERE = {
    "-O0": set(expected(0)),
    "-O1": {("callers", "mine"), ("callers", "other"), ("inlined", "local"), ("middle", "rounds"),
            ("middle", "scaled")},
    "-O2": {("callers", "mine"), ("callers", "other"), ("inlined", "local"), ("middle", "rounds"),
            ("middle", "scaled"), ("middle", "kept"), ("middle", "gid")},
}
COMPILER_IS_WRONG = {("-O2", "middle", "x")}
"""The variable's location begins after the instruction that gives its register to another value."""

CASES = [
    ("gfx90a", ["-O0"]), ("gfx90a", ["-O1"]), ("gfx90a", ["-O2"]), ("gfx942", ["-O2"]),
    ("gfx1030", ["-O0"]), ("gfx1030", ["-O2"]), ("gfx1100", ["-O1"]), ("gfx1100", ["-O2", W64]),
]


@pytest.mark.parametrize(("target", "options"), CASES)
def test_values_in_all_frames(start: Start, target: str, options: list[str]) -> None:
    session = start("callers.hip", "callers", ["i32[160]:arange", str(N)], target, *options)
    text = session.inferior.need_program().code_object.sections[".text"]
    for instruction in isa.disassemble(text.data, target, address=text.address):
        if instruction.text == "s_nop 6":
            session.break_at(f"*{instruction.address:#x}")
    level = options[0]
    stacks, there, absent = set(), set(), set()
    event = session.run()
    while event.reason is StopReason.BREAKPOINT:
        thread = event.scope.thread
        assert thread is not None
        wave = session.inferior.wave(thread)
        for lane in lane_list(event.lanes)[::9]:
            item = wave.workgroup[0] * 80 + wave.index * wave.lane_count + lane
            frames = list(session.focus.frames(Focus(thread, lane)))
            stacks.add(tuple(frame.name for frame in frames))
            for (function, name), wanted in expected(item).items():
                frame = next((frame for frame in frames if frame.name == function), None)
                if frame is None or (level, function, name) in COMPILER_IS_WRONG:
                    continue
                try:
                    shown = session.data.evaluate(name, frame.scope).as_float()
                except AbsentError:
                    absent.add((function, name))
                    continue
                assert shown == wanted, (function, name, thread, lane)
                there.add((function, name))
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED
    assert stacks == {("leaf", "middle", "callers"), ("leaf", "inlined", "callers")}
    assert there >= ALWAYS_THERE[level]
    assert not absent & ALWAYS_THERE[level]
