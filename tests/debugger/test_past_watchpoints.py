"""Watchpoints in the recorded past: the same changes as in the run, forwards and (undone) backwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from tests.breadth import in_turn

pytestmark = pytest.mark.llvm

Change = tuple[int, int | None, int, int | None, int | None]
"""Position before the instruction, wave, lanes, value before and after it."""


def changes(watched: Session, go: Callable[[], StopEvent], back: bool = False) -> tuple[list[Change], StopEvent]:
    """The changes that watchpoints report until something else stops the program."""
    found: list[Change] = []
    while (event := go()).reason is StopReason.WATCHPOINT:
        (trigger,) = event.hits.triggers
        assert trigger.old is not None and trigger.new is not None
        values = trigger.old.as_int(), trigger.new.as_int()
        before, after = reversed(values) if back else values
        position = watched.time.position if back else watched.time.position - 1
        found.append((position, event.scope.thread, event.lanes, before, after))
    return found, event


TARGETS = ("gfx90a", "gfx1100")
PLACES = ("g", "tile[40]", "r", "out[17]", "out[17] + g")


@pytest.mark.truth
@pytest.mark.parametrize(("watched", "text"), in_turn(TARGETS, PLACES), indirect=["watched"])
def test_the_past_has_the_changes_of_the_run(watched: Session, text: str) -> None:
    watched.watch(text, location="+" not in text)
    run, event = changes(watched, watched.running.proceed)
    assert run
    if event.reason is StopReason.EXITED:  # else it went with its wave
        assert changes(watched, watched.time.proceed, back=True)[0] == run[::-1]
        assert changes(watched, watched.running.proceed)[0] == run


def test_variables_of_one_lane_back_and_forth(watched: Session) -> None:
    watched.focus.move(watched.focus.current.with_lane(5))
    watched.watch("r")
    run = [changes_of(watched, watched.running.proceed()) for _ in range(2)]
    assert [change[3:] for change in run] == [(0, 3), (3, 64)]
    past, event = changes(watched, watched.time.proceed, back=True)
    assert past == run[::-1]
    assert (event.reason, watched.time.position) == (StopReason.HISTORY, 0)
    assert [changes_of(watched, watched.running.proceed()) for _ in range(2)] == run


def changes_of(watched: Session, event: StopEvent) -> Change:
    """The report of one change, going forwards."""
    (trigger,) = event.hits.triggers
    assert trigger.old is not None and trigger.new is not None
    return watched.time.position - 1, event.scope.thread, event.lanes, trigger.old.as_int(), trigger.new.as_int()


def test_back_at_the_call_the_frame_is_gone(watched: Session) -> None:
    """As in GDB: the stop is before the call of the function, in its caller."""
    watched.break_at("acc_of")
    watched.running.proceed()
    made = watched.watch("acc")
    run = [changes_of(watched, watched.running.proceed()) for _ in range(2)]
    assert [change[3:] for change in run] == [(0, 1), (1, 3)]
    past = changes(watched, watched.time.proceed, back=True)[0]
    assert [change[1:] for change in past] == [change[1:] for change in run[::-1]]
    # forwards the program continues to the next statement where only the compiler's own code is left of this one
    assert all(back[0] < forth[0] for back, forth in zip(past, run[::-1], strict=True))
    event = watched.time.proceed()
    assert (event.reason, event.breakpoints) == (StopReason.WATCHPOINT_SCOPE, (made.number,))
    frame = watched.inferior.frame(watched.focus.current)
    assert frame.function is not None and frame.function.name == "kern"


def test_the_latest_of_breakpoints_and_changes_wins(watched: Session) -> None:
    watched.watch("g", location=True)
    watched.break_at("acc_of")
    line = watched.running.proceed()
    found = []
    while line.reason is not StopReason.EXITED:
        found.append((line.reason, watched.time.position - (line.reason is StopReason.WATCHPOINT)))
        line = watched.running.proceed()
    assert {reason for reason, _ in found} == {StopReason.WATCHPOINT, StopReason.BREAKPOINT}
    back = []
    while (line := watched.time.proceed()).reason is not StopReason.HISTORY:
        back.append((line.reason, watched.time.position))
    assert back == sorted(found, key=lambda one: one[1], reverse=True)


def test_conditions_hold_for_the_value_before_the_write(watched: Session) -> None:
    made = watched.watch("r", condition="r == 3", location=True)
    changes(watched, watched.running.proceed)
    assert made.hit_count == 1
    past, _ = changes(watched, watched.time.proceed, back=True)
    assert [change[3:] for change in past] == [(3, 69)]


def test_what_the_user_wrote_is_no_change(watched: Session) -> None:
    watched.watch("g", location=True)
    watched.data.evaluate("g = 40")
    run, event = changes(watched, watched.running.proceed)
    assert event.reason is StopReason.EXITED and [change[3:] for change in run] == [(40, 3)]
    assert changes(watched, watched.time.proceed, back=True)[0] == run


@pytest.mark.parametrize("access", ["read", "access"])
def test_reads_count_in_the_past(watched: Session, access: str) -> None:
    watched.watch("tile[40]", location=True, access=access)
    run = []
    while watched.running.proceed().reason is StopReason.WATCHPOINT:
        run.append((watched.time.position - 1, watched.focus.current.thread))
    assert run
    back = []
    while watched.time.proceed().reason is StopReason.WATCHPOINT:
        back.append((watched.time.position, watched.focus.current.thread))
    assert back == run[::-1]


def test_steps_back_stop_at_changes(watched: Session) -> None:
    """As in GDB: the stop is before the instruction that wrote, and the later value is reported as the old one."""
    session = watched
    session.break_at("watched.hip:22")
    session.running.proceed()
    session.watch("r")
    seen = []
    while (event := session.time.next()).reason in (StopReason.STEP, StopReason.WATCHPOINT) and len(seen) < 12:
        line = session.focus.frame().line
        if event.reason is StopReason.WATCHPOINT:
            (trigger,) = event.hits.triggers
            assert trigger.old is not None and trigger.new is not None
            seen.append((line, trigger.old.as_int(), trigger.new.as_int()))
        else:
            seen.append((line,))
    changes = [row for row in seen if len(row) == 3]
    assert [row[1:] for row in changes] == [(69, 3), (3, 0)] and [row[0] for row in changes] == [21, 16]
    assert len(seen) > len(changes)


def test_a_step_back_over_what_another_wave_wrote(watched: Session) -> None:
    """Going back takes all waves back: it undoes their writes, and reports this."""
    session = watched
    session.break_at("watched.hip:22")
    session.running.proceed()
    session.watch("g")
    thread, events = session.focus.current.thread, []
    for _ in range(12):
        event = session.time.next()
        if event.reason is StopReason.WATCHPOINT:
            events.append(event.scope.thread)
        elif event.reason is not StopReason.STEP:
            break
    assert events and thread in events


def test_finish_backwards_stops_at_a_change(watched: Session) -> None:
    session = watched
    session.break_at("acc_of", temporary=True)
    session.break_at("watched.hip:9", temporary=True)
    session.running.proceed()
    session.running.proceed()
    assert session.focus.frame().line == 9
    session.watch("acc", location=True)
    event = session.time.finish()
    assert event.reason is StopReason.WATCHPOINT and session.focus.frame().line == 8
    while (event := session.time.finish()).reason is StopReason.WATCHPOINT:
        assert session.focus.frame().line in (6, 8)
    assert event.reason is StopReason.STEP and session.focus.frame().line == 16


@pytest.mark.truth
@pytest.mark.parametrize(
    ("watched", "condition"), in_turn(TARGETS, ("r == 3", "out[n] > 4 || $_lane == 7")), indirect=["watched"]
)
def test_conditions_hold_backwards_by_whomever_they_are_evaluated(watched: Session, condition: str) -> None:
    """The target's answers equal the evaluator's, and requesting them changes no counts."""
    watched.focus.move(watched.focus.current.with_lane(0))
    made = [watched.break_at(f"watched.hip:{line}", condition=condition) for line in (11, 16, 17, 21, 22)]
    while watched.running.proceed().reason is StopReason.BREAKPOINT:
        pass
    counted = [one.hit_count for one in made]
    found = []
    for by in ("host", "auto"):
        watched.settings.condition_evaluation = by
        watched.time.go_to(watched.time.need().bounds[1])
        stops: list[tuple[object, ...]] = []
        while (event := watched.time.proceed()).reason is StopReason.BREAKPOINT:
            stops.append((watched.time.position, event.scope.thread, event.lanes, event.breakpoints))
        found.append(stops)
    assert found[0] == found[1]
    assert len(found[0]) >= sum(counted[1:]) > 0  # that at the kernel's beginning was there before the breakpoint
    assert [one.hit_count for one in made[1:]] == [3 * once for once in counted[1:]]
