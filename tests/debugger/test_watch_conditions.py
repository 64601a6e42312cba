"""The lanes and the frame of a watchpoint's condition: every lane that changed, in the frame of the watchpoint."""

from __future__ import annotations

import itertools

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from tests.debugger.conftest import SOURCES, Compile

pytestmark = pytest.mark.llvm

LINE = "accumulate.hip:12"
"""The line before the sums, at which each is 0."""
TARGETS = ("gfx90a", "gfx1100")
COUNT = 6


def accumulating(compiled: Compile, target: str, level: str) -> Session:
    """A session in which lanes are about to add ``1 + k``, ``COUNT`` times."""
    session = started(compiled, target, level, "accumulate")
    for index, text in enumerate((f"f32[{COUNT * 32}]:arange", "f32[32]:zeros", str(COUNT))):
        session.launch.set_argument(index, text)
    session.break_at(LINE, temporary=True)
    session.run()
    return session


def started(compiled: Compile, target: str, level: str, kernel: str) -> Session:
    session = Session()
    session.load(compiled("accumulate.hip", target, level))
    session.sources.program_directory = SOURCES
    session.launch.set_kernel(kernel)
    session.launch.set_grid("32")
    session.launch.set_workgroup("32")
    return session


def sums(lane: int) -> list[float]:
    """The successive values of a lane's sum."""
    found = [0.0]
    for k in range(COUNT):
        found.append(found[-1] + 32 * k + lane)
    return found


def numbers(event: StopEvent) -> tuple[float, ...]:
    (trigger,) = event.hits.triggers
    return tuple(value.as_float() if value is not None else -1.0 for value in (trigger.old, trigger.new))


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("target", TARGETS)
def test_any_lane_may_hold(compiled: Compile, target: str, level: str) -> None:
    """One instruction changes the sums of all lanes; the condition holds for two lanes, neither of them the first."""
    session = accumulating(compiled, target, level)
    made = session.watch("sum", condition="sum > 45 && ($_lane == 5 || $_lane == 9)", every_lane=True)
    event = session.running.proceed()
    assert event.reason is StopReason.WATCHPOINT
    (trigger,) = event.hits.triggers
    assert (trigger.lane, event.scope.lane, event.lanes) == (9, 9, 1 << 9)
    assert numbers(event) == (9, 9 + 41) and sums(5)[2] == 5 + 37
    event = session.running.proceed()
    assert (event.hits.triggers[0].lane, event.lanes, made.hit_count) == (5, 1 << 5 | 1 << 9, 2)


@pytest.mark.parametrize("target", TARGETS)
def test_a_constant_that_moves_into_a_register(compiled: Compile, target: str) -> None:
    """At -O2, the sum is a constant before the loop, in a register inside the loop, and nowhere after it."""
    session = accumulating(compiled, target, "-O2")
    session.focus.move(session.focus.current.with_lane(5))
    session.watch("sum")
    found = []
    while (event := session.running.proceed()).reason is StopReason.WATCHPOINT:
        assert (event.scope.lane, event.lanes) == (5, 1 << 5)
        found.append(numbers(event))
    expected = sums(5)
    assert found == list(itertools.pairwise(expected))
    assert event.reason in (StopReason.WATCHPOINT_SCOPE, StopReason.EXITED)


def test_the_past_has_it_too(compiled: Compile) -> None:
    session = accumulating(compiled, "gfx90a", "-O2")
    session.focus.move(session.focus.current.with_lane(5))
    session.watch("sum")
    for _ in range(COUNT):
        session.running.proceed()
    found = []
    while (event := session.time.proceed()).reason is StopReason.WATCHPOINT:
        found.append(numbers(event)[::-1])
    expected = sums(5)
    assert found == list(itertools.pairwise(expected))[::-1]


@pytest.mark.parametrize("target", TARGETS)
def test_the_frame_is_the_watchpoints(compiled: Compile, target: str) -> None:
    """A called function that has no ``x`` writes it; GDB has the same stops on a host."""
    session = started(compiled, target, "-O0", "host")
    session.launch.set_argument(0, "i32[32]:zeros")
    session.break_at("accumulate.hip:21", temporary=True)
    session.run()
    session.focus.move(session.focus.current.with_lane(3))
    session.watch("x", condition="x > 5")
    found = []
    while (event := session.running.proceed()).reason is StopReason.WATCHPOINT:
        assert not event.problems
        found.append((*numbers(event), event.scope.lane))
    assert found == [(4, 10, 3), (10, 11, 3)]
    assert event.reason is StopReason.WATCHPOINT_SCOPE


@pytest.mark.parametrize("level, target", [("-O0", "gfx90a"), ("-O2", "gfx1100")])
def test_memory_is_read_as_the_expression_is(compiled: Compile, level: str, target: str) -> None:
    """Reading memory directly gives the same result as evaluating the expression."""
    found = []
    for direct in (True, False):
        session = accumulating(compiled, target, level)
        made = session.watch("sum", condition="$_lane > 20", every_lane=True)
        made.is_direct &= direct
        each = []
        while (event := session.running.proceed()).reason is StopReason.WATCHPOINT:
            each.append((*numbers(event), event.lanes, session.time.position))
        found.append(each)
    assert found[0] == found[1] and len(found[0]) == COUNT
