"""Steps follow the focused lane: line sequences compared with a model of the source, and returned values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session, StopReason
from tests.breadth import some_of

pytestmark = pytest.mark.llvm
Launch = Callable[..., Session]
SOURCE = "stepping.hip"


@pytest.fixture
def launch(compiled: Callable[..., Path]) -> Launch:
    """``launch("walk", "gfx90a", "-O0")``: 80 items in one workgroup; nothing has run."""

    def make(kernel: str, target: str = "gfx90a", *options: str) -> Session:
        session = Session()
        path = compiled(SOURCE, target, *options)
        session.load(path)
        session.launch.set_kernel(kernel)
        session.launch.set_grid("80")
        session.launch.set_workgroup("80")
        session.launch.set_argument(0, "i32[160]:arange")
        if kernel == "walk":
            session.launch.set_argument(1, "5")
        return session

    return make


def first_value(i: int) -> int:
    if i % 2:
        return 20
    return 11 if i % 4 == 0 else 12


def depth_lines(n: int) -> list[int]:
    """The lines of ``depth(n)``, as ``step`` shows them."""
    if n <= 0:
        return [45, 46, 49]
    return [45, 47, *depth_lines(n - 1), 48, 49]  # what is left of line 47 is part of the step out


def walk_lines(i: int, into: bool) -> list[int]:
    """The lines of ``walk`` that item ``i`` executes, from line 55 on."""
    acc = first_value(i)
    lines = [55, 56]
    lines += [63] if i % 2 else [57, 58, 59 if i % 4 == 0 else 61, 62]
    lines += [65, 66]
    for k in range(i % 3):
        lines += [67, 68, 69]
        acc += first_value(k)
        if acc > 40:
            lines.append(70)
            break
        lines.append(71)
    else:
        lines.append(67)
    lines.append(72)
    arms = {0: ([74, 75], 100), 3: ([77, 79, 80], 700), 4: ([79, 80], 400)}
    passed, added = arms.get(i % 5, ([82], 1000))  # the brace after it is no code on a host
    lines += [*passed, 84, 85]
    acc += added
    if i % 6 < 3:
        lines.append(86)
        if into:
            lines += depth_lines(i % 3)
        lines.append(87)
        acc += sum(range(i % 3 + 1))
    lines += [89, *[90, 89] * (-acc % 7), 91]
    return [*lines, 92 if i % 8 == 7 else 93, 94]


TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100")
LANES = [(1, 0, False), (1, 7, True), (1, 2, True), (2, 3, False)]
MORE_LANES = [("gfx90a", 1, lane, True) for lane in (1, 5, 8, 11, 63)]
WALKS = [(target, *lane) for target in TARGETS for lane in LANES]


@pytest.mark.truth
@pytest.mark.parametrize(
    ("target", "thread", "lane", "into"),
    some_of([*WALKS, *MORE_LANES], [*WALKS[:: len(LANES) + 1], *MORE_LANES]),
)
def test_lines_of_a_lane(launch: Launch, target: str, thread: int, lane: int, into: bool) -> None:
    session = launch("walk", target)
    session.break_at(f"{SOURCE}:55", temporary=True, thread=thread)
    session.run()
    session.focus.select_lane(lane)
    is_last = (thread - 1) * session.inferior.wave(thread).lane_count >= 64  # the others have ended: they stop nowhere
    item = (thread - 1) * session.inferior.wave(thread).lane_count + lane
    seen = []
    event = None
    while event is None or event.reason is StopReason.STEP:
        seen.append(session.focus.frame().line)
        assert (session.focus.current.thread, session.focus.current.lane) == (thread, lane)
        assert session.inferior.active_lanes(thread) >> lane & 1
        event = session.running.step() if into else session.running.next()
    assert seen == walk_lines(item, into)
    assert event.reason is (StopReason.EXITED if is_last else StopReason.THREAD_EXITED)


@pytest.mark.parametrize("level", ["-O1", "-O3"])
@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_stepping_through_optimised_code_stays_with_the_lane(launch: Launch, target: str, level: str) -> None:
    session = launch("walk", target, level)
    session.break_at("walk", temporary=True)
    session.run()
    session.focus.select_lane(8)
    last = session.focus.frame().line
    for _ in range(200):
        event = session.running.next()
        if event.reason is not StopReason.STEP:
            break
        frame = session.focus.frame()
        assert session.inferior.active_lanes(1) >> 8 & 1
        assert frame.line != last or frame.name != "walk"
        last = frame.line
    assert event.reason is StopReason.THREAD_EXITED  # other waves are left


def test_another_wave_breaks_into_a_step(launch: Launch) -> None:
    session = launch("walk")
    session.break_at(f"{SOURCE}:65", temporary=True, thread=1)
    session.break_at(f"{SOURCE}:65", thread=2, lane=3)
    session.run()
    session.focus.select_lane(6)
    assert session.running.next().reason is StopReason.STEP
    event = session.running.next()  # a barrier: the other wave has to come, over its breakpoint
    assert (event.reason, event.scope.thread, event.scope.lane) == (StopReason.BREAKPOINT, 2, 3)
    session.focus.select_thread(1, 6)
    session.running.next()
    assert (session.focus.current.thread, session.focus.current.lane, session.focus.frame().line) == (1, 6, 67)


def test_condition_of_one_lane_in_a_divergent_loop(launch: Launch) -> None:
    session = launch("walk")
    session.break_at(f"{SOURCE}:90", condition="i == 10 && acc % 7 == 6")
    event = session.run()
    assert (event.scope.thread, event.scope.lane, event.lanes) == (1, 10, 1 << 10)
    assert session.data.integer("acc % 7") == 6
    assert session.running.proceed().reason is StopReason.EXITED


def test_until_and_advance_leave_loops_with_the_lane(launch: Launch) -> None:
    session = launch("walk")
    session.break_at(f"{SOURCE}:89", temporary=True)
    session.run()
    session.focus.select_lane(2)
    session.running.next()
    assert session.focus.frame().line == 90
    session.running.next()
    assert session.focus.frame().line == 89
    while session.focus.frame().line != 91:
        before = session.focus.frame().line
        session.running.until()
        assert session.focus.frame().line > before or before == 90
    assert (session.focus.current.lane, session.data.integer("acc % 7")) == (2, 0)
    session.running.advance(f"{SOURCE}:93")
    assert (session.focus.current.lane, session.focus.frame().line) == (2, 93)


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_recursion_is_as_deep_as_the_lane_asks(launch: Launch, target: str) -> None:
    """All lanes are in the innermost call together; the lanes that recursed less deeply are not active there."""
    session = launch("walk", target)
    session.break_at("depth", temporary=True, condition="n == 0 && $_lane == 2 && $_thread == 1")
    event = session.run()
    assert event.scope.lane == 2
    shown = [frame.name for frame in session.focus.frames()]
    assert shown == ["depth", "depth", "depth", "walk"]
    values = []
    for level in range(3):
        session.focus.select_frame(level)
        values.append(session.data.integer("n"))
    assert values == [0, 1, 2]
    session.focus.select_frame(3)
    assert session.data.integer("i") == 2
    session.focus.select_frame(1)
    event = session.running.finish()
    assert event.returned is not None and event.returned.value.as_int() == 1
    assert session.data.integer("n") == 2


RETURNS: list[tuple[str, Callable[[int], str]]] = [
    ("int", lambda i: str(-3 * i)),
    ("byte", lambda i: str((i + 200) % 256)),
    ("short", lambda i: str(-i)),
    ("bool", lambda i: "true" if i % 3 == 1 else "false"),
    ("long", lambda i: str(i << 40)),
    ("float", lambda i: f"{i / 2:g}"),
    ("double", lambda i: f"{i / 4:g}"),
    ("half", lambda i: f"{i / 4:g}"),
    ("half2", lambda i: f"{{{i}, 1}}"),
    ("float4", lambda i: f"{{{i}, 1, 2, {-i}}}"),
    ("vec", lambda i: f"{{x = {i}, y = 1.5, z = {2 * i}}}"),
    ("mixed", lambda i: f"{{c = {65 + i % 26} '{chr(65 + i % 26)}', s = {-i}, d = {2 * i}}}"),
]
CHANGED = {"vec", "mixed"}
"""Only one member of these results is used: from -O1 on, the compiler drops the others."""


LEVELS = ("-O0", "-O2")


@pytest.mark.truth
@pytest.mark.parametrize(
    ("target", "level"),
    some_of(
        [(target, level) for target in TARGETS for level in LEVELS],
        [("gfx90a", "-O2"), ("gfx942", "-O0"), ("gfx1030", "-O2"), ("gfx1100", "-O0")],
    ),
)
def test_returned_values(launch: Launch, target: str, level: str) -> None:
    session = launch("returns", target, level)
    for name, _ in RETURNS:
        session.break_at(f"give_{name}", temporary=True, thread=2)
    event = session.run()
    item = session.inferior.wave(2).lane_count + 5
    seen = {}
    while event.reason is StopReason.BREAKPOINT:
        name = str(session.focus.frame().name).removeprefix("give_").split("(")[0]
        session.focus.select_lane(5)
        event = session.running.finish()
        assert (event.reason, session.focus.frame().name) == (StopReason.FINISHED, "returns")
        value = event.returned.value if event.returned is not None else None
        seen[name] = session.data.format(value).split(" '")[0] if value is not None else None
        if name == "mixed" and value is not None:
            seen[name] = session.data.format(value)
        event = session.running.proceed()
    assert seen == {
        name: None if level != "-O0" and name in CHANGED else text(item) for name, text in RETURNS
    }
