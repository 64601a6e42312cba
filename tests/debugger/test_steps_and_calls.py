"""`step` at lines on which only some lanes make a call, and past functions that are skipped."""

from __future__ import annotations

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.running.skip_list import Skip
from tests.debugger.conftest import SOURCES, Compile

pytestmark = pytest.mark.llvm
TARGETS = ["gfx90a", "gfx1100"]
# lane 0 calls g through the pointer and below; lane 5 calls f in the condition, through the pointer and below
STEPS = {
    0: ["kern:14", "kern:16", "kern:17", "kern:18", "g:9", "kern:19", "kern:20", "kern:23", "g:9", "kern:24"],
    5: ["kern:14", "f:4", "f:5", "kern:16", "kern:17", "kern:18", "f:4", "f:5", "kern:19", "kern:20", "kern:21"],
}


def session_at_start(compiled: Compile, target: str, lane: int) -> Session:
    session = Session()
    session.load(compiled("calls_of_some.hip", target, "-O0"))
    session.sources.program_directory = SOURCES
    session.launch.set_kernel("kern")
    session.launch.set_grid("32")
    session.launch.set_workgroup("32")
    session.launch.set_argument(0, "i32[32]:zeros")
    session.launch.set_argument(1, "7")
    session.break_at("13", temporary=True)
    session.run()
    session.focus.select_lane(lane)
    return session


def step(session: Session) -> str:
    session.running.step()
    frame = session.focus.frame()
    return f"{frame.name}:{frame.line}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("lane", STEPS)
def test_a_lane_steps_where_it_is_active(compiled: Compile, target: str, lane: int) -> None:
    session = session_at_start(compiled, target, lane)
    assert [step(session) for _ in STEPS[lane]] == STEPS[lane]


SKIPS = [
    (Skip(0, function="f"), "kern:16"),
    (Skip(0, function="f(int)"), "kern:16"),
    (Skip(0, file="calls_of_some.hip"), "kern:16"),
    (Skip(0, file="*.hip", is_glob=True, function="f"), "kern:16"),
    (Skip(0, function="g"), "f:4"),
    (Skip(0, file="other.hip", function="f"), "f:4"),
    (Skip(0, function="f", enabled=False), "f:4"),
]


@pytest.mark.parametrize(("skip", "place"), SKIPS)
def test_a_skipped_function_is_stepped_over(compiled: Compile, skip: Skip, place: str) -> None:
    session = session_at_start(compiled, "gfx90a", 5)
    session.skips.add(skip)
    assert step(session) == "kern:14"
    assert step(session) == place


@pytest.mark.parametrize(
    ("wanted", "skipped"),
    [
        ("f", ["f(int)", "f()", "f"]), ("f(int)", ["f(int)"]), ("f( int )", ["f(int)"]), ("g", ["g(long)"]),
        ("fg", ["fg(int)"]), ("n::f", ["n::f(int)"]), ("(", []),
    ],
)
def test_functions_are_named_in_whole(wanted: str, skipped: list[str]) -> None:
    titles = ["f(int)", "f()", "f", "fg(int)", "g(long)", "n::f(int)"]
    assert [title for title in titles if Skip(0, function=wanted)._covers_function(title)] == skipped
